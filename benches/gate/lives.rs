//! Series to which something happened before, or that are young, and then a regression that stays.

#![expect(clippy::disallowed_methods, reason = "tables have shares of simulations, not their last digits")]

use kubebench_results::verdict::{Baseline, Mark, baseline};

use super::noise::{NOISES, Noise, Numbers, median, sessions, slower};
use super::{POLICY, STAYS, gate_with, in_parallel, percent};

/// What happened to a series before it got worse.
struct Life {
    name: &'static str,
    /// Sessions, and by how much they are slower than the first ones: a share, negative where they are faster.
    levels: &'static [(usize, f64)],
    /// How many levels there are when somebody accepts the newest, up to 30 %.
    acknowledged: Option<usize>,
}

const LIVES: [Life; 15] = [
    Life { name: "20 sessions", levels: &[(20, 0.0)], acknowledged: None },
    Life { name: "3 sessions", levels: &[(3, 0.0)], acknowledged: None },
    Life { name: "4 sessions", levels: &[(4, 0.0)], acknowledged: None },
    Life { name: "5 sessions", levels: &[(5, 0.0)], acknowledged: None },
    Life { name: "8 sessions", levels: &[(8, 0.0)], acknowledged: None },
    Life { name: "one outlier, slow", levels: &[(14, 0.0), (1, 0.5), (5, 0.0)], acknowledged: None },
    Life { name: "one outlier, fast", levels: &[(14, 0.0), (1, -0.6), (5, 0.0)], acknowledged: None },
    Life { name: "outlier first", levels: &[(1, 0.5), (4, 0.0)], acknowledged: None },
    Life { name: "1.5 % slower before", levels: &[(10, 0.0), (10, 0.015)], acknowledged: None },
    Life { name: "10 % faster before", levels: &[(10, 0.0), (10, -0.1)], acknowledged: None },
    Life { name: "slow for 5 sessions", levels: &[(10, 0.0), (5, 0.2), (6, 0.0)], acknowledged: None },
    Life { name: "slow for 2 sessions", levels: &[(10, 0.0), (2, 0.2), (6, 0.0)], acknowledged: None },
    Life { name: "accepted, 8 since", levels: &[(12, 0.0), (8, 0.2)], acknowledged: Some(2) },
    Life { name: "accepted, 3 since", levels: &[(12, 0.0), (3, 0.2)], acknowledged: Some(2) },
    Life { name: "accepted, 1 since", levels: &[(12, 0.0), (1, 0.2)], acknowledged: Some(2) },
];

/// The noises, by their places in [`NOISES`], and how much slower it gets with each.
const CHANGES: [(usize, f64); 4] = [(0, 0.08), (1, 0.2), (4, 0.08), (7, 0.3)];

/// What became of the series of a life.
#[derive(Default)]
struct Row {
    alarms: usize,
    fails: [usize; STAYS.len()],
    open: usize,
    begins_right: usize,
}

/// Prints what became of `series` series of each life.
pub(super) fn print(series: usize) {
    let jobs: Vec<(&Life, (usize, f64))> =
        CHANGES.into_iter().flat_map(|change| LIVES.iter().map(move |life| (life, change))).collect();
    let rows = in_parallel(&jobs, |(life, (noise, change))| row(life, NOISES[*noise], *change, series));
    println!("\nA change that stays after what happened before, {series} series a row: % of gates that fail\n");
    let stays = STAYS.map(|count| count.to_string()).join(" | ");
    println!("| noise | slower by | before | without it | {stays} | open after 12 | begins right |");
    println!("|---|--:|---|--:|{}--:|--:|", "--:|".repeat(STAYS.len()));
    for ((life, (noise, change)), row) in jobs.iter().zip(&rows) {
        let fails = row.fails.map(|count| format!("{:.1}", percent(count, series))).join(" | ");
        println!(
            "| {} | {:.0} | {} | {:.1} | {fails} | {:.1} | {:.1} |",
            NOISES[*noise].name,
            change * 100.0,
            life.name,
            percent(row.alarms, series),
            percent(row.open, series),
            percent(row.begins_right, series),
        );
    }
}

/// By how much a series gets slower from one session to the next.
const CREEPS: [f64; 3] = [0.002, 0.005, 0.01];
/// After how many sessions it is looked at.
const LENGTHS: [usize; 4] = [15, 20, 40, 80];

/// Prints in how many of `series` series that get worse bit by bit a change is open.
pub(super) fn print_creep(series: usize) {
    let jobs: Vec<(usize, f64)> = CHANGES.iter().flat_map(|(noise, _)| CREEPS.map(|creep| (*noise, creep))).collect();
    let rows = in_parallel(&jobs, |(noise, creep)| LENGTHS.map(|length| open(NOISES[*noise], *creep, length, series)));
    println!("\nA series that gets slower bit by bit, {series} series a row: % that have an open change\n");
    println!("| noise | slower by, a session | {} |", LENGTHS.map(|length| format!("{length} sessions")).join(" | "));
    println!("|---|--:|{}", "--:|".repeat(LENGTHS.len()));
    for ((noise, creep), row) in jobs.iter().zip(&rows) {
        let open = row.map(|count| format!("{:.1}", percent(count, series))).join(" | ");
        println!("| {} | {:.1} | {open} |", NOISES[*noise].name, creep * 100.0);
    }
}

fn open(noise: Noise, creep: f64, length: usize, series: usize) -> usize {
    let is_open = |at: &u64| {
        let mut numbers = Numbers(0x00c4_ee50 << 32 | at);
        let all = sessions(noise, &mut numbers, length);
        let by = |at: usize| 1.0 - ((1.0 - creep).ln() * at as f64).exp();
        let values: Vec<f64> = all.iter().enumerate().map(|(at, session)| median(&slower(session, by(at)))).collect();
        baseline(&values, POLICY, &[]).open.is_some()
    };
    (0..series as u64).filter(is_open).count()
}

fn row(life: &Life, noise: Noise, change: f64, series: usize) -> Row {
    let before: usize = life.levels.iter().map(|(sessions, _)| sessions).sum();
    let last = life.levels.last().map_or(0.0, |(_, slower)| *slower);
    let longest = STAYS[STAYS.len() - 1];
    let mark = life.acknowledged.map(|levels| {
        let at = life.levels.iter().take(levels - 1).map(|(sessions, _)| sessions).sum();
        Mark { at, at_most: Some(0.3) }
    });
    let mut row = Row::default();
    for at in 0..series as u64 {
        let mut numbers = Numbers(0x11fe << 40 | at);
        let all = sessions(noise, &mut numbers, before + longest + 1);
        let levels = life.levels.iter().flat_map(|(sessions, by)| std::iter::repeat_n(*by, *sessions));
        let mut values: Vec<f64> = all.iter().zip(levels).map(|(session, by)| median(&slower(session, by))).collect();
        let found = |values: &[f64]| -> Baseline { baseline(values, POLICY, mark.as_slice()) };
        let unchanged = median(&slower(&all[before + longest], last));
        row.alarms += usize::from(gate_with(&found(&values), &values, &[unchanged], mark.as_slice(), POLICY).fails);
        for (count, session) in all[before..before + longest].iter().enumerate() {
            let new = median(&slower(&slower(session, last), change));
            if let Some(place) = STAYS.iter().position(|stays| *stays == count + 1) {
                row.fails[place] +=
                    usize::from(gate_with(&found(&values), &values, &[new], mark.as_slice(), POLICY).fails);
            }
            values.push(new);
        }
        let open = found(&values).open;
        row.open += usize::from(open.is_some());
        row.begins_right += usize::from(open.is_some_and(|open| open.from.abs_diff(before) <= 1));
    }
    row
}
