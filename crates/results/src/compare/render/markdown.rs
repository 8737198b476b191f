//! Answers as a comment of a pull request: short, the details folded away, the same place each time.

use super::super::model::{Acknowledged, Comparison, LeftOut, Line, NO_SESSION, Size, Verdict};
use super::super::words;
use super::alike::{Alike, alike};
use super::links::{Addresses, NoAddresses, is_on_site, linked};
use super::mark::Subject;
use super::parts::Places;
use super::summary::brief;
use super::{by_weight, cells, counted};
use kubebench_stats as stats;
use kubebench_syntax::text::reorders;

/// The maximum number of rows outside of the fold.
pub(super) const SHOWN: usize = 10;
/// The maximum number of rows in a comment; hosts refuse long ones.
const MOST: usize = 100;
/// The maximum number of ranges of commits, and of steps, that a line names.
const RANGES: usize = 3;
/// The maximum number of improvements that are named.
const IMPROVED: usize = 3;

/// What is above the sentences about what did not get worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beside {
    /// No regression.
    Nothing,
    Regressions,
}

/// Returns what `compare --markdown` writes.
pub fn comparison(answer: &Comparison, subject: &Subject) -> String {
    let mut text = format!("{}\n", subject.mark("compare"));
    let [before, after] = [&answer.baseline, &answer.candidate].map(|side| escape(&words::side(side)));
    text.push_str(&format!("### Kubebench: {before} → {after}\n\n{}", headline(answer)));
    table(&mut text, ["before", "after"], &answer.lines, None, &NoAddresses);
    if let Some(said) = words::of_differences(&answer.lines) {
        text.push_str(&format!("\n{}.\n", words::sentence_case(said)));
    }
    for mean in &answer.geomeans {
        let excluded = if mean.excluded > 0 { format!(", {} excluded", mean.excluded) } else { String::new() };
        let change = words::change(mean.change, None);
        text.push_str(&format!(
            "\nGeometric mean of {}: **{change}** over {} cases{excluded}.\n",
            escape(&mean.metric),
            mean.cases
        ));
    }
    if !answer.unmatched.is_empty() {
        let names: Vec<String> = answer
            .unmatched
            .iter()
            .map(|one| format!("{} {} ({} only)", escape(&one.benchmark), escape(&one.case_name), one.only))
            .collect();
        text.push_str(&format!("\nNot on both sides: {}.\n", names.join(", ")));
    }
    rest(&mut text, &answer.notes, &answer.left_out, &subject.folder);
    text
}

/// Says in sentences what matters in a comparison: each line that needs attention, or that nothing does.
fn headline(answer: &Comparison) -> String {
    let lines = &answer.lines;
    let is_urgent = |line: &&&Line| matches!(line.verdict, Verdict::Regressed | Verdict::Invalid | Verdict::Missing);
    let sorted = by_weight(lines);
    let urgent: Vec<&Line> = sorted.iter().filter(is_urgent).copied().collect();
    if lines.is_empty() {
        return "Nothing was measured on both sides.\n".to_owned();
    }
    if !urgent.is_empty() {
        return bullets(&urgent, &Places::of(lines), &answer.candidate, &NoAddresses);
    }
    let mut said = calm(&sorted, Beside::Nothing);
    let count = |verdict: Verdict| lines.iter().filter(|line| line.verdict == verdict).count();
    let series = |count: usize, what: &str| (count > 0).then(|| format!("**{count} series {what}**; see below why."));
    said.extend(series(count(Verdict::Inconclusive), "inconclusive"));
    said.extend(series(count(Verdict::Incomparable), "cannot be compared"));
    format!("{}\n", said.join(" "))
}

/// Returns a bullet for each line with its steps and commits below it; of similar lines one for all.
pub(super) fn bullets(lines: &[&Line], places: &Places, candidate: &str, addresses: &dyn Addresses) -> String {
    let mut text = String::new();
    let groups = alike(lines, candidate);
    for group in groups.iter().take(SHOWN) {
        let line = group.worst;
        text.push_str(&format!("- {}\n", sentence(line, candidate, addresses)));
        let also = group.also(places).map(|also| escape(&words::sentence_case(&also)));
        let below = also.into_iter().chain(steps(line, addresses)).chain(commits(line, addresses));
        text.extend(below.map(|said| format!("  - {said}\n")));
    }
    let more: usize = groups.iter().skip(SHOWN).map(Alike::count).sum();
    if more > 0 {
        text.push_str(&format!("- and {more} more, below\n"));
    }
    text
}

/// Names the steps of an open change: the first, and the newest ones.
fn steps(line: &Line, addresses: &dyn Addresses) -> Option<String> {
    let steps = words::steps(line);
    let first_shown = steps.len().saturating_sub(RANGES);
    let said = |step: &words::Step<'_>| {
        let known = step.commit.map_or_else(String::new, |known| format!(" ({})", commit(known, addresses)));
        let size = step.size.map_or_else(String::new, |size| format!(" {}", of_size(size, line.unit.as_deref())));
        format!("{}{known}{size}", words::day(step.at))
    };
    let shown = steps.iter().enumerate().filter(|(at, _)| *at == 0 || *at > first_shown);
    let shown: Vec<String> = shown.map(|(_, step)| said(step)).collect();
    let more = steps.len() - shown.len();
    let more = if more > 0 { format!("; {more} more between them") } else { String::new() };
    (!steps.is_empty()).then(|| format!("Steps: {}{more}", shown.join("; ")))
}

/// Says in how many of the lines that were decided nothing got worse, and how much that means.
pub(super) fn calm(lines: &[&Line], beside: Beside) -> Vec<String> {
    let is_decided =
        |line: &&&Line| matches!(line.verdict, Verdict::Unchanged | Verdict::NoChangeSeen | Verdict::Improved);
    let fine: Vec<&Line> = lines.iter().filter(is_decided).copied().collect();
    let (accepted, fine): (Vec<&Line>, Vec<&Line>) = fine.into_iter().partition(|line| line.reason == "accepted");
    let (limited, reported): (Vec<&Line>, Vec<&Line>) =
        fine.into_iter().partition(|line| words::verdict(line) == "within limits");
    let mut said: Vec<String> = accepted.iter().take(SHOWN).map(|line| accepted_sentence(line)).collect();
    if accepted.len() > SHOWN {
        said.push(format!("{} more are accepted.", accepted.len() - SHOWN));
    }
    if !reported.is_empty() {
        let (blind, clear): (Vec<&Line>, Vec<&Line>) = reported.iter().copied().partition(|line| words::is_blind(line));
        let others = if accepted.is_empty() { "" } else { "other " };
        let (count, better) = (reported.len(), improved(&reported));
        said.push(match beside {
            Beside::Nothing => format!("No regressions in {count} {others}series{better}."),
            Beside::Regressions => format!("No regression was found in {count} other series{better}."),
        });
        said.extend(detectable(&clear));
        if !blind.is_empty() {
            let is = if blind.len() == 1 { "is" } else { "are" };
            said.push(format!(
                "**{} of them {is} too noisy or too short to detect even a 50 % regression.**",
                blind.len()
            ));
        }
        let is_accepted = |line: &&&Line| line.acks.iter().any(|ack| !ack.expired && ack.session.is_some());
        match reported.iter().filter(is_accepted).count() {
            0 => {}
            count => {
                said.push(format!("{count} of them got worse before, which was accepted; see below by whom and why."));
            }
        }
    }
    if !limited.is_empty() {
        said.push(format!("{} series within limits.", limited.len()));
    }
    said
}

/// Counts what improved, and names what did most.
fn improved(lines: &[&Line]) -> String {
    let better: Vec<&Line> = lines.iter().copied().filter(|line| line.verdict == Verdict::Improved).collect();
    let named: Vec<String> = brief(&better).take(IMPROVED).map(|name| escape(&name)).collect();
    let most = if better.len() > named.len() { ", the largest changes:" } else { ":" };
    if named.is_empty() { String::new() } else { format!("; {} improved{most} {}", better.len(), named.join(", ")) }
}

/// Says which regression would have been detected: in half of the series, and in the noisiest one.
fn detectable(lines: &[&Line]) -> Option<String> {
    let all: Vec<f64> = lines.iter().filter_map(|line| line.detectable).filter(|least| *least > 0.0).collect();
    let worst = all.iter().copied().reduce(f64::max)?;
    let median = stats::quantile(all.into_iter(), 0.5);
    let [of_half, of_all] = [median, worst].map(words::about);
    Some(if of_half == of_all {
        format!("{}.", words::sentence_case(&words::would_have_been_detected(worst)))
    } else {
        format!(
            "The smallest regression that would have been detected with 90 % probability: {of_half} in the median \
             series, {of_all} in the noisiest one."
        )
    })
}

/// Says what got worse and was accepted, by whom and why.
fn accepted_sentence(line: &Line) -> String {
    let metric = format!("`{}` of **{}**{}", code(&words::metric(line)), escape(&words::benchmark(line)), case(line));
    let message = || escape(line.message.strip_prefix("accepted: ").unwrap_or(&line.message));
    let change = line.change.map(|change| bold(change, line.interval));
    // Others accepted what was there before.
    let is_own =
        |ack: &&Acknowledged| line.candidate.sessions.iter().any(|own| ack.session.as_ref() == Some(&own.session));
    let own: Vec<&Acknowledged> = line.acks.iter().filter(is_own).collect();
    let own = if own.is_empty() { line.acks.iter().collect() } else { own };
    let by: Vec<String> = own.iter().map(|ack| format!("{}: {}", escape(&ack.by), escape(&ack.reason))).collect();
    format!("{metric}: {}, accepted by {}.", change.unwrap_or_else(message), by.join("; "))
}

/// Names the commits among which a change is, and how to find the one; of each step of an open change.
fn commits(line: &Line, addresses: &dyn Addresses) -> Vec<String> {
    let ranges = words::ranges(line);
    // The newest steps, after the beginning.
    let left_out = ranges.len().saturating_sub(RANGES);
    let shown = ranges.iter().enumerate().filter(|(at, _)| *at == 0 || *at > left_out).map(|(_, range)| range);
    let mut said: Vec<String> = shown
        .map(|range| {
            let of = range.of().map_or_else(String::new, |of| format!("{}: ", escape(&words::sentence_case(&of))));
            let (log, bisect) = (code(&range.log()), code(&range.bisect()));
            let changes = addresses.range(range.after, range.commit);
            let changes = changes.map_or_else(String::new, |at| format!(" ({})", linked("changes", Some(at))));
            format!("{of}`{log}`{changes}, `{bisect}`")
        })
        .collect();
    if left_out > 0 {
        said.push(format!("{left_out} more steps: `kubebench gate -v` has all"));
    }
    said
}

/// Returns a commit in code, which leads to where it is shown.
fn commit(commit: &str, addresses: &dyn Addresses) -> String {
    linked(&format!("`{}`", code(words::short(commit))), addresses.commit(commit))
}

/// Names a series, with links to its pages.
fn name(line: &Line, addresses: &dyn Addresses) -> String {
    let page = |address: Option<String>| address.filter(|_| is_on_site(line));
    let benchmark = linked(&escape(&words::benchmark(line)), page(addresses.benchmark(&line.benchmark)));
    let case = match line.case_name.as_str() {
        "" => String::new(),
        case => format!(" ({})", linked(&escape(case), page(addresses.case(&line.benchmark, &line.case)))),
    };
    format!("`{}` of **{benchmark}**{case}", code(&words::metric(line)))
}

/// Says of one line what a colleague would.
pub(super) fn sentence(line: &Line, candidate: &str, addresses: &dyn Addresses) -> String {
    let mark = if matches!(line.verdict, Verdict::Pending | Verdict::Inconclusive) { "⚪ " } else { "" };
    let name = format!("{mark}{}", name(line, addresses));
    let change = words::shown(line).map(|size| of_size(size, line.unit.as_deref()));
    let on = words::hardware(&line.environment);
    let on = if on.is_empty() { String::new() } else { format!(", on {}", escape(&on)) };
    let run = line.candidate.sessions.last().and_then(|session| session.results.first());
    let run = run.and_then(|path| addresses.result(path));
    let run = run.map_or_else(String::new, |at| format!(" ({})", linked("newest run", Some(at))));
    // The p value is that of the newest session.
    let sure = words::sureness(line).filter(|_| line.open.is_none());
    let known: Vec<String> = words::better(line.direction).map(str::to_owned).into_iter().chain(sure).collect();
    let known = if known.is_empty() { String::new() } else { format!(" ({})", known.join(", ")) };
    let since = words::began(line, candidate).map_or_else(String::new, |began| {
        let commit = began.commit.map_or_else(String::new, |known| format!(" ({})", commit(known, addresses)));
        format!(" {} {}{commit}, {}", began.since, words::day(began.at), began.seen)
    });
    let limit = words::limit(line).map_or_else(String::new, |_| format!("; {}", escape(&line.message)));
    match (line.verdict, change) {
        // What passed a limit is said by the limit, and by a change where one is open.
        (verdict, _) if !limit.is_empty() && line.open.is_none() => {
            format!("{name}: {}{since}{limit}{on}{run}.", verdict.words())
        }
        (Verdict::Regressed, Some(change)) => {
            format!("{name} got worse: {change}{known}{since}{on}{}{limit}{run}.", escape(&words::state(line)))
        }
        (Verdict::Pending, Some(change)) => format!(
            "{name} may have got worse: {change}{known}{since}{on}{limit}; a second session of the same revision decides{run}."
        ),
        (Verdict::Inconclusive, Some(change)) => {
            format!("{name}: {change} {}{on}{run}.", escape(&line.message))
        }
        (Verdict::Pending, None) => format!("{name}: pending, {}{run}.", escape(&line.message)),
        (verdict, _) => format!("{name}: {}, {}{run}.", verdict.words(), escape(&line.message)),
    }
}

fn of_size(size: Size, unit: Option<&str>) -> String {
    size.change.map_or_else(|| words::size(size, unit), |share| bold(share, size.interval))
}

fn bold(change: f64, interval: Option<(f64, f64)>) -> String {
    let bounds = interval.map_or_else(String::new, |interval| format!(" {}", words::interval(change, interval)));
    format!("**{}**{bounds}", words::change(change, interval))
}

fn case(line: &Line) -> String {
    if line.case_name.is_empty() { String::new() } else { format!(" ({})", escape(&line.case_name)) }
}

/// Writes all lines as a table that is folded away, and why the first ones are what they are.
pub(super) fn table(
    text: &mut String,
    [before, after]: [&str; 2],
    lines: &[Line],
    results: Option<&str>,
    addresses: &dyn Addresses,
) {
    // What never ran is said above, and has no value.
    let sorted: Vec<&Line> = by_weight(lines).into_iter().filter(|line| line.reason != NO_SESSION).collect();
    if sorted.is_empty() {
        return;
    }
    text.push_str(&format!("\n<details><summary>{} series: {}</summary>\n\n", lines.len(), counted(lines)));
    let places = Places::of(lines);
    let is_placed = places.are_needed(&sorted);
    let (on, rule) = if is_placed { (" on |", "---|") } else { ("", "") };
    let head = format!(
        "| benchmark | case |{on} metric | {before} | {after} | change | verdict |\n|---|---|{rule}---|--:|--:|--:|---|\n"
    );
    let rows = sorted.iter().take(MOST).map(|line| {
        let mut cells = cells(line, "–").to_vec();
        // The others are words of Kubebench, and `~`.
        cells.iter_mut().take(5).for_each(|cell| *cell = escape(cell));
        let page = addresses.case(&line.benchmark, &line.case).filter(|_| is_on_site(line));
        if let (Some(cell), Some(_)) = (cells.first_mut(), &page) {
            *cell = linked(cell, page);
        }
        if is_placed {
            cells.insert(2, places.place(line).map_or_else(|| "–".to_owned(), |place| escape(&place)));
        }
        cells
    });
    grid(text, &head, &rows.collect::<Vec<_>>(), MOST, "rows");
    if sorted.len() > MOST {
        text.push_str(&format!("\n{} more series are in the report.\n", sorted.len() - MOST));
    }
    text.push_str("\n`~`: not significant, or below the threshold.");
    if sorted.iter().any(|line| line.open.is_some()) {
        text.push_str(" The change of an open regression is that of all its sessions, and not of the candidate alone.");
    }
    text.push_str("\n\n");
    for line in sorted.iter().filter(|line| !line.message.is_empty()).take(SHOWN) {
        text.push_str(&format!(
            "- {}, {}{}: {}\n",
            escape(&words::benchmark(line)),
            escape(&words::metric(line)),
            case(line),
            prose(&line.message)
        ));
        for ack in &line.acks {
            text.push_str(&format!("  - accepted by {}: {}\n", escape(&ack.by), escape(&ack.reason)));
        }
        let notes = line.notes.iter().cloned().chain(words::decide(line, results));
        text.extend(notes.map(|note| format!("  - {}\n", with_command(&note))));
    }
    text.push_str("\n</details>\n");
}

/// Writes a table of at most `most` rows below its head; `what` names the others.
pub(crate) fn grid(text: &mut String, head: &str, rows: &[impl AsRef<[String]>], most: usize, what: &str) {
    text.push_str(head);
    text.extend(rows.iter().take(most).map(|cells| format!("| {} |\n", cells.as_ref().join(" | "))));
    if rows.len() > most {
        text.push_str(&format!("\n{} more {what} are in the report.\n", rows.len() - most));
    }
}

/// Returns a sentence of Kubebench that may end with a command, which is code.
fn with_command(text: &str) -> String {
    const COMMAND: &str = ": kubebench ";
    match text.split_once(COMMAND) {
        Some((before, command)) => format!("{}: {}", prose(before), code_span(&format!("kubebench {command}"))),
        None => prose(text),
    }
}

/// Writes notes, and the files that did not count, which are below `folder`.
pub(super) fn rest(text: &mut String, notes: &[String], left_out: &[LeftOut], folder: &str) {
    text.extend(notes.iter().map(|note| format!("\n{}\n", prose(&words::sentence_case(note)))));
    if !left_out.is_empty() {
        let files = if left_out.len() == 1 { "file was" } else { "files were" };
        text.push_str(&format!("\n{} result {files} left out:\n\n", left_out.len()));
        for LeftOut { path, code, message } in left_out.iter().take(SHOWN) {
            let path = escape(&format!("{folder}{path}"));
            text.push_str(&format!("- {path}: {}: {}\n", escape(code), prose(message)));
        }
        if left_out.len() > SHOWN {
            text.push_str(&format!("- and {} more\n", left_out.len() - SHOWN));
        }
    }
}

/// Returns text that no renderer of Markdown takes for more than text.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' | '\t' => escaped.push(' '),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            // A name in a result mentions no user.
            '@' => escaped.push_str("&#64;"),
            '#' => escaped.push_str("&#35;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' | '$' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            letter if letter.is_control() || reorders(letter) || is_invisible(letter) => escaped.push('\u{fffd}'),
            letter => escaped.push(letter),
        }
    }
    // Hosts make links of these.
    escaped.replace("://", ":&#47;/").replace("www.", "www&#46;").replace("GH-", "GH&#45;")
}

/// Returns a sentence of Kubebench, in which what is quoted is code, as text that no renderer of Markdown takes for more.
pub fn prose(text: &str) -> String {
    let mut pieces = text.split('`').enumerate().peekable();
    let mut made = String::with_capacity(text.len());
    while let Some((number, piece)) = pieces.next() {
        let is_code = number % 2 == 1;
        match (is_code, pieces.peek().is_some()) {
            (false, _) => made.push_str(&escape(piece)),
            (true, true) => made.push_str(&code_span(piece)),
            // A quote that does not end is not one.
            (true, false) => made.push_str(&escape(&format!("`{piece}"))),
        }
    }
    made
}

/// Returns text as a span of code, which nothing in it ends: no renderer makes links, mentions or elements of what is there.
pub fn code_span(text: &str) -> String {
    let shown = |letter: char| match letter {
        '\n' | '\r' | '\t' => ' ',
        letter if letter.is_control() || reorders(letter) || is_invisible(letter) => '\u{fffd}',
        letter => letter,
    };
    let text: String = text.chars().map(shown).collect();
    // A renderer ends at a fence of the same length, and takes one space from each side of what is no space alone.
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    if text.trim().is_empty() {
        return format!("{fence}\"{text}\"{fence}");
    }
    let is_open = |letter: Option<char>| matches!(letter, Some('`' | ' '));
    let space = if is_open(text.chars().next()) || is_open(text.chars().last()) { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Returns text as a span of code in a table, whose cells end at bars even there, also at those behind two backslashes.
pub fn code_cell(text: &str) -> String {
    code_span(text).replace("\\|", "\u{2216}|").replace('|', "\\|")
}

/// Returns whether nothing is seen of a letter.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Returns text for a span of code.
fn code(text: &str) -> String {
    text.chars().filter(|letter| *letter != '`' && !letter.is_control() && !reorders(*letter)).collect()
}
