//! What `compare` prints, and what is known of a line.

use super::super::model::{Comparison, LeftOut, Line, Size, Verdict};
use super::super::words;
use super::{by_weight, cells, clean, counted, plain};
use kubebench_syntax::text::columns;

/// Returns what `compare` prints.
pub fn comparison(answer: &Comparison) -> String {
    let answer = &Comparison { lines: answer.lines.iter().map(clean).collect(), ..answer.clone() };
    let mut text = String::new();
    if answer.lines.is_empty() {
        text.push_str(&format!("no case has results on both sides: {} and {}\n", answer.baseline, answer.candidate));
    }
    let [before, after] = [&answer.baseline, &answer.candidate].map(|side| words::side(side));
    let header = ["BENCHMARK", "CASE", "METRIC", &before, &after, "CHANGE", "VERDICT"];
    text.push_str(&table(&header, &by_weight(&answer.lines)));
    for mean in &answer.geomeans {
        let excluded = match mean.excluded {
            0 => String::new(),
            excluded => format!(", {excluded} excluded"),
        };
        let change = words::change(mean.change, None);
        text.push_str(&format!("geomean of {}: {change} ({} cases{excluded})\n", mean.metric, mean.cases));
    }
    text.extend(words::of_differences(&answer.lines).map(|said| format!("{said}\n")));
    explain(&mut text, &answer.lines);
    for one in &answer.unmatched {
        text.push_str(&format!("only in {}: {} {}\n", one.only, one.benchmark, plain(&one.case_name)));
    }
    rest(&mut text, &answer.notes, &answer.left_out);
    if !answer.lines.is_empty() {
        text.push_str(&format!("{}\n", counted(&answer.lines)));
    }
    text
}

/// Writes notes, and the files that did not count.
pub fn rest(text: &mut String, notes: &[String], left_out: &[LeftOut]) {
    const SHOWN: usize = 10;
    for note in notes {
        text.push_str(&format!("note: {}\n", plain(note)));
    }
    for file in left_out.iter().take(SHOWN) {
        text.push_str(&format!("left out: {}: {}: {}\n", plain(&file.path), file.code, plain(&file.message)));
    }
    if left_out.len() > SHOWN {
        text.push_str(&format!("left out: {} more result files\n", left_out.len() - SHOWN));
    }
}

/// Says for each line that is not plainly all right what is known, and what to do.
fn explain(text: &mut String, lines: &[Line]) {
    let is_plain = |line: &&&Line| matches!(line.verdict, Verdict::Unchanged | Verdict::NoChangeSeen);
    for line in
        by_weight(lines).iter().filter(|line| !is_plain(line) || !line.notes.is_empty() || !line.acks.is_empty())
    {
        let (verdict, metric) = (words::verdict(line), words::metric(line));
        let case = if line.case_name.is_empty() { String::new() } else { format!(" [{}]", line.case_name) };
        let message = line.message.strip_prefix("accepted: ").unwrap_or(&line.message);
        text.push_str(&format!("\n{verdict}: {}{case}, {metric}: {}\n", words::benchmark(line), message));
        for detail in details(line) {
            text.push_str(&format!("  {detail}\n"));
        }
        for next in words::next(line, None) {
            text.push_str(&format!("  next: {next}\n"));
        }
    }
    if !lines.is_empty() {
        text.push('\n');
    }
}

/// Returns what is known of a line: values, how sure it is, on what hardware, since when, and what was accepted.
pub(super) fn details(line: &Line) -> Vec<String> {
    let mut details = Vec::new();
    let unit = line.unit.as_deref();
    if let (Some(before), Some(after)) = (line.baseline.median, line.candidate.median) {
        let change = newest(line).filter(|size| size.change.is_some());
        let change = change.map_or_else(String::new, |size| format!(", {}", words::size(size, unit)));
        let sessions = (line.baseline.sessions.len(), line.candidate.sessions.len());
        let runs = (line.baseline.runs, line.candidate.runs);
        let of = match sessions {
            // A fixed value has none.
            (0, own) => format!("{} of {}", words::counted(own, "session"), words::counted(runs.1, "run")),
            (first, second) => {
                let sized = |sessions, runs| {
                    format!("{} ({})", words::counted(sessions, "session"), words::counted(runs, "run"))
                };
                format!("baseline of {}, candidate of {}", sized(first, runs.0), sized(second, runs.1))
            }
        };
        let [before, after] = words::values([before, after], unit);
        let better = words::better(line.direction).map_or_else(String::new, |better| format!(" ({better})"));
        details.push(format!("{before} -> {after}{change}{better}; {of}"));
    }
    if let (Some(p), Some(sure), Some(method)) = (line.p, words::sureness(line), &line.method) {
        let own = words::probability(p);
        // Several metrics are adjusted together.
        let own = if sure == own { String::new() } else { format!(", unadjusted {own}") };
        // The interval of an open change is that of all its sessions.
        let of = if line.open.is_some() { "the newest session alone: " } else { "" };
        details.push(format!("{of}{sure}{own} ({})", words::method(method)));
    }
    let hardware = words::hardware(&line.environment);
    if !hardware.is_empty() {
        details.push(format!("on {hardware}"));
    }
    if line.synthetic {
        details.push(words::SYNTHETIC.to_owned());
    }
    details.extend(since(line));
    let unit = line.unit.as_deref();
    details.extend(words::steps(line).iter().map(|step| format!("step of {}", step.sentence(unit))));
    details.extend(line.acks.iter().map(words::accepted));
    details.extend(line.notes.iter().map(|note| format!("note: {note}")));
    details
}

/// Returns the change of the newest sessions alone, unless it says something else than the verdict.
fn newest(line: &Line) -> Option<Size> {
    words::shown(&Line { open: None, ..line.clone() })
}

/// Says where what a gate found began.
fn since(line: &Line) -> Option<String> {
    let began = words::began(line, "")?;
    let commit = began.commit.map_or_else(String::new, |commit| format!(", commit {}", words::short(commit)));
    Some(format!("{} {} (session {}{commit})", began.since, began.at, began.session))
}

/// Returns a table of lines; `~` means noise.
fn table(header: &[&str; 7], lines: &[&Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let header = header.map(str::to_owned);
    let rows: Vec<[String; 7]> = [header].into_iter().chain(lines.iter().map(|line| cells(line, "-"))).collect();
    columns(&rows).into_iter().map(|line| line + "\n").collect()
}
