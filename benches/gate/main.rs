//! How often the gate fails without a change, and how often it sees one, against the rules of other tools on the same histories.
//!
//! `cargo bench --bench gate` makes histories of sessions with five runs each by a generator of its own with fixed seeds, so that the
//! tables are the same everywhere, and judges each as `crates/results/src/compare/gate.rs` does: the baseline of the history, the newest session against
//! it, and what is open. `-- 500` makes 500 histories a cell instead of 4000. Goals, for the noises that are judged: at most 5 % of false
//! alarms, 1.5 % where a second session must hit too, and a power of 90 % at the change that the judgement calls detectable.

#![expect(clippy::print_stdout, reason = "a benchmark prints")]
#![expect(clippy::expect_used, reason = "a benchmark that cannot run ends")]
#![expect(clippy::indexing_slicing, clippy::cast_precision_loss, reason = "counts and places of small arrays")]

mod beside;
mod lives;
mod noise;
mod rivals;
mod standing;

use std::thread;

use kubebench_format::result::v1::Direction;
use kubebench_results::verdict::{
    Baseline, DEFAULT_THRESHOLD, Judgement, Mark, Policy, Scale, Verdict, baseline, judge, measure,
};
use kubebench_stats::quantile;

use self::noise::{NOISES, Noise, Numbers, Session, median, medians, sessions, slower};

/// Histories of a cell.
const HISTORIES: usize = 4000;
/// Lengths of histories.
const LENGTHS: [usize; 3] = [10, 20, 30];
/// Sessions of a series in which every one is gated.
const SERIES: usize = 50;

/// The sessions of a change that stays at which the gate is looked at.
const STAYS: [usize; 6] = [1, 2, 3, 5, 8, 12];

const POLICY: Policy = Policy { direction: Direction::Higher, threshold: DEFAULT_THRESHOLD };

/// What the gate says of candidate sessions.
struct Gated {
    judgement: Judgement,
    is_open: bool,
    fails: bool,
    is_pending: bool,
}

/// As `crates/results/src/compare/gate.rs`: the newest of the candidate's sessions is judged.
fn gate(found: &Baseline, history: &[f64], candidate: &[f64]) -> Gated {
    gate_with(found, history, candidate, &[], POLICY)
}

fn gate_with(found: &Baseline, history: &[f64], candidate: &[f64], marks: &[Mark], policy: Policy) -> Gated {
    let of = |sessions: &[usize]| -> Vec<f64> { sessions.iter().map(|at| history[*at]).collect() };
    let (base, held) = (of(&found.sessions), of(&found.held));
    let newest = &candidate[candidate.len() - 1..];
    let scale = Scale::of(&base, candidate).expect("positive values");
    let effect = measure(scale, &base, &held, newest);
    let judgement = judge(effect, policy, effect.map(|effect| effect.p));
    let now = baseline(&[history, candidate].concat(), policy, marks);
    let is_open = now.open.is_some();
    let fails = is_open || judgement.verdict == Verdict::Regressed;
    Gated { judgement, is_open, fails, is_pending: !fails && now.pending.is_some() }
}

/// Returns whether the gate fails where a second session of the same revision must hit too.
fn confirmed(found: &Baseline, history: &[f64], candidate: &[f64]) -> bool {
    let first = gate(found, history, &candidate[..1]);
    if first.is_open || !first.fails {
        return first.fails;
    }
    let second = gate(found, history, candidate);
    second.fails
}

/// What happened to the histories of a cell.
#[derive(Default)]
struct Cell {
    alarms: usize,
    open: usize,
    confirmed_alarms: usize,
    seen: usize,
    confirmed_seen: usize,
    seen_five: usize,
    stated: Vec<f64>,
    rivals: [usize; rivals::RULES.len()],
    rivals_five: [usize; rivals::RULES.len()],
}

fn cell(noise: Noise, seed: u64, length: usize, histories: usize) -> Cell {
    let mut cell = Cell::default();
    for history in 0..histories as u64 {
        let mut numbers = Numbers(seed << 40 | (length as u64) << 32 | history);
        let all = sessions(noise, &mut numbers, length + 2);
        let (past, new) = all.split_at(length);
        let values = medians(past);
        let found = baseline(&values, POLICY, &[]);
        let unchanged = gate(&found, &values, &medians(&new[..1]));
        cell.alarms += usize::from(unchanged.fails);
        cell.open += usize::from(unchanged.is_open);
        cell.confirmed_alarms += usize::from(confirmed(&found, &values, &medians(new)));
        if let Some(change) = unchanged.judgement.detectable {
            let changed: Vec<Session> = new.iter().map(|session| slower(session, change)).collect();
            cell.stated.push(change);
            cell.seen += usize::from(gate(&found, &values, &medians(&changed[..1])).fails);
            cell.confirmed_seen += usize::from(confirmed(&found, &values, &medians(&changed)));
        }
        let five = slower(&new[0], 0.05);
        cell.seen_five += usize::from(gate(&found, &values, &[median(&five)]).fails);
        for (at, (_, rule)) in rivals::RULES.iter().enumerate() {
            cell.rivals[at] += usize::from(rule(past, &new[0]));
            cell.rivals_five[at] += usize::from(rule(past, &five));
        }
    }
    cell
}

/// What happened to series in which each session was gated when it was new.
#[derive(Default)]
struct Row {
    gates: usize,
    failed: usize,
    pending: usize,
    opened: usize,
    open_at_end: usize,
    lengths: Vec<f64>,
}

fn row(noise: Noise, seed: u64, series: usize) -> Row {
    let mut row = Row::default();
    for at in 0..series as u64 {
        let mut numbers = Numbers(seed << 40 | 1 << 39 | at);
        let values = medians(&sessions(noise, &mut numbers, SERIES));
        let mut open_for = 0_usize;
        let mut has_opened = false;
        for new in 5..SERIES {
            let found = baseline(&values[..new], POLICY, &[]);
            let gated = gate(&found, &values[..new], &values[new..=new]);
            row.gates += 1;
            row.failed += usize::from(gated.fails);
            row.pending += usize::from(gated.is_pending);
            if gated.is_open {
                open_for += 1;
                has_opened = true;
            } else if open_for > 0 {
                row.lengths.push(open_for as f64);
                open_for = 0;
            }
        }
        row.opened += usize::from(has_opened);
        row.open_at_end += usize::from(baseline(&values, POLICY, &[]).open.is_some());
        if open_for > 0 {
            row.lengths.push(open_for as f64);
        }
    }
    row
}

/// How often the gate fails at the sessions of a change that stays, and how often it is open in the end.
#[derive(Default)]
struct Staying {
    histories: usize,
    fails: [usize; STAYS.len()],
    open: usize,
}

fn staying(noise: Noise, seed: u64, histories: usize) -> Staying {
    const BEFORE: usize = 20;
    let longest = STAYS[STAYS.len() - 1];
    let mut row = Staying::default();
    for at in 0..histories as u64 {
        let mut numbers = Numbers(seed << 40 | 3 << 38 | at);
        let all = sessions(noise, &mut numbers, BEFORE + longest);
        let mut values = medians(&all[..BEFORE]);
        let first = gate(&baseline(&values, POLICY, &[]), &values, &medians(&all[BEFORE..=BEFORE]));
        let Some(change) = first.judgement.detectable else { continue };
        row.histories += 1;
        for (count, session) in all[BEFORE..].iter().enumerate() {
            let new = median(&slower(session, change));
            if let Some(place) = STAYS.iter().position(|stays| *stays == count + 1) {
                row.fails[place] += usize::from(gate(&baseline(&values, POLICY, &[]), &values, &[new]).fails);
            }
            values.push(new);
        }
        row.open += usize::from(baseline(&values, POLICY, &[]).open.is_some());
    }
    row
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let histories = args.first().and_then(|count| count.parse().ok()).unwrap_or(HISTORIES);
    if args.iter().any(|arg| arg == "beside") {
        return beside::print(histories / 20);
    }
    if args.iter().any(|arg| arg == "standing") {
        return standing::print(histories / 8);
    }
    if args.iter().any(|arg| arg == "lives") {
        lives::print(histories / 8);
        return lives::print_creep(histories / 8);
    }
    let jobs: Vec<(usize, usize)> = (0..NOISES.len()).flat_map(|noise| LENGTHS.map(|length| (noise, length))).collect();
    let cells = in_parallel(&jobs, |(noise, length)| cell(NOISES[*noise], *noise as u64 + 1, *length, histories));
    print_ours(&jobs, &cells, histories);
    print_rivals("False alarms, % of sessions without a change", &jobs, &cells, histories, |cell| {
        (cell.alarms, cell.rivals)
    });
    print_rivals("Seen, % of sessions that are slower by 5 %", &jobs, &cells, histories, |cell| {
        (cell.seen_five, cell.rivals_five)
    });
    lives::print(histories / 8);
    lives::print_creep(histories / 8);
    standing::print(histories / 8);
    let places: Vec<usize> = (0..NOISES.len()).collect();
    let stay = in_parallel(&places, |noise| staying(NOISES[*noise], *noise as u64 + 1, histories / 2));
    print_staying(&stay);
    let series = (histories / 4).max(1);
    let rows = in_parallel(&places, |noise| row(NOISES[*noise], *noise as u64 + 1, series));
    print_rows(&rows, series);
}

/// Does the jobs on as many threads as there are processors, in order.
fn in_parallel<J: Sync, R: Send>(jobs: &[J], work: impl Fn(&J) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let work = &work;
    let mut done: Vec<(usize, R)> = thread::scope(|scope| {
        let share = |thread: usize| {
            let own = jobs.iter().enumerate().skip(thread).step_by(threads);
            own.map(|(at, job)| (at, work(job))).collect::<Vec<_>>()
        };
        let handles: Vec<_> = (0..threads).map(|thread| scope.spawn(move || share(thread))).collect();
        handles.into_iter().flat_map(|handle| handle.join().expect("no panic")).collect()
    });
    done.sort_by_key(|(at, _)| *at);
    done.into_iter().map(|(_, result)| result).collect()
}

fn percent(count: usize, of: usize) -> f64 {
    100.0 * count as f64 / of.max(1) as f64
}

fn print_ours(jobs: &[(usize, usize)], cells: &[Cell], histories: usize) {
    println!(
        "The gate, {histories} histories a cell, % of them; `!` misses a goal, noises in brackets are not judged\n"
    );
    println!(
        "| noise | sessions | false alarms | of them open | confirmed | stated change | power | confirmed | power at 5 % |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|");
    for ((noise, length), cell) in jobs.iter().zip(cells) {
        let noise = NOISES[*noise];
        let mark = |missed: bool| if missed && noise.is_judged { " !" } else { "" };
        let name = if noise.is_judged { noise.name.to_owned() } else { format!("({})", noise.name) };
        let (alarms, twice) = (percent(cell.alarms, histories), percent(cell.confirmed_alarms, histories));
        let power = percent(cell.seen, cell.stated.len());
        println!(
            "| {name} | {length} | {alarms:.1}{} | {:.1} | {twice:.1}{} | {:.1} | {power:.1}{} | {:.1} | {:.1} |",
            mark(alarms > 5.0),
            percent(cell.open, histories),
            mark(twice > 1.5),
            100.0 * quantile(cell.stated.iter().copied(), 0.5),
            mark(power < 90.0),
            percent(cell.confirmed_seen, cell.stated.len()),
            percent(cell.seen_five, histories),
        );
    }
}

fn print_rivals(
    title: &str,
    jobs: &[(usize, usize)],
    cells: &[Cell],
    histories: usize,
    counts: impl Fn(&Cell) -> (usize, [usize; rivals::RULES.len()]),
) {
    println!("\n{title}\n");
    let names: Vec<&str> = rivals::RULES.iter().map(|(name, _)| *name).collect();
    println!("| noise | sessions | kubebench | {} |", names.join(" | "));
    println!("|---|--:|--:|{}", "--:|".repeat(names.len()));
    for ((noise, length), cell) in jobs.iter().zip(cells) {
        let (ours, theirs) = counts(cell);
        let theirs: Vec<String> = theirs.iter().map(|count| format!("{:.1}", percent(*count, histories))).collect();
        println!("| {} | {length} | {:.1} | {} |", NOISES[*noise].name, percent(ours, histories), theirs.join(" | "));
    }
}

fn print_staying(rows: &[Staying]) {
    println!("\nA change of the stated size that stays, after 20 sessions: % of gates that fail at its sessions\n");
    println!(
        "| noise | {} | open after {} |",
        STAYS.map(|count| count.to_string()).join(" | "),
        STAYS[STAYS.len() - 1]
    );
    println!("|---|{}--:|", "--:|".repeat(STAYS.len()));
    for (noise, row) in NOISES.iter().zip(rows) {
        let fails = row.fails.map(|count| format!("{:.1}", percent(count, row.histories))).join(" | ");
        println!("| {} | {fails} | {:.1} |", noise.name, percent(row.open, row.histories));
    }
}

fn print_rows(rows: &[Row], series: usize) {
    println!("\nA gate after each of {SERIES} sessions without a change, {series} series a row\n");
    println!(
        "| noise | gates that failed, % | pending, % | series that had an open change, % | open at the end, % | sessions that it stayed, median | 90 % |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|");
    for (noise, row) in NOISES.iter().zip(rows) {
        let length = |share: f64| {
            let found = quantile(row.lengths.iter().copied(), share);
            if row.lengths.is_empty() { "–".to_owned() } else { format!("{found:.0}") }
        };
        println!(
            "| {} | {:.1} | {:.1} | {:.1} | {:.1} | {} | {} |",
            noise.name,
            percent(row.failed, row.gates),
            percent(row.pending, row.gates),
            percent(row.opened, series),
            percent(row.open_at_end, series),
            length(0.5),
            length(0.9),
        );
    }
}
