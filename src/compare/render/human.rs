//! Answers on a terminal.

use super::super::v1::{Comparison, Gated, LeftOut, Line, Outcome, Verdict};
use super::super::words;
use super::{by_weight, clean, plain, tally};

/// Returns what `compare` prints.
pub fn comparison(answer: &Comparison) -> String {
    let answer = &Comparison { lines: answer.lines.iter().map(clean).collect(), ..answer.clone() };
    let mut text = String::new();
    if answer.lines.is_empty() {
        text.push_str(&format!(
            "{} and {} have nothing in common that was measured\n",
            answer.baseline, answer.candidate
        ));
    }
    let header = ["BENCHMARK", "CASE", "METRIC", &answer.baseline, &answer.candidate, "CHANGE", "VERDICT"];
    text.push_str(&table(&header, &by_weight(&answer.lines)));
    for mean in &answer.geomeans {
        let excluded = match mean.excluded {
            0 => String::new(),
            excluded => format!(", {excluded} excluded"),
        };
        let change = words::change(mean.change, None);
        text.push_str(&format!("geomean of {}: {change} ({} cases{excluded})\n", mean.metric, mean.cases));
    }
    explain(&mut text, &answer.lines);
    for one in &answer.unmatched {
        text.push_str(&format!("only in {}: {} {}\n", one.only, one.benchmark, plain(&one.case_name)));
    }
    rest(&mut text, &answer.notes, &answer.left_out);
    if !answer.lines.is_empty() {
        text.push_str(&format!("{}\n", tally(&answer.lines)));
    }
    text
}

/// Returns what `gate` prints.
pub fn gated(answer: &Gated) -> String {
    let answer = &Gated { lines: answer.lines.iter().map(clean).collect(), ..answer.clone() };
    let mut text = String::new();
    let header = ["BENCHMARK", "CASE", "METRIC", "BASELINE", "CANDIDATE", "CHANGE", "VERDICT"];
    text.push_str(&table(&header, &by_weight(&answer.lines)));
    explain(&mut text, &answer.lines);
    rest(&mut text, &answer.notes, &answer.left_out);
    let says = match answer.outcome {
        Outcome::Passed => "passed",
        Outcome::Failed => "failed",
        Outcome::NoAnswer => "gives no answer, because files among what is judged cannot be trusted",
    };
    let of = match answer.lines.len() {
        0 => "no spec has a gate".to_owned(),
        _ => tally(&answer.lines),
    };
    text.push_str(&format!("gate {says}: {of}\n"));
    text
}

/// Tells notes, and the files that did not count.
pub fn rest(text: &mut String, notes: &[String], left_out: &[LeftOut]) {
    const SHOWN: usize = 10;
    for note in notes {
        text.push_str(&format!("note: {note}\n"));
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
        let (verdict, metric) = (line.verdict.words(), words::metric(line));
        let case = if line.case_name.is_empty() { String::new() } else { format!(" [{}]", line.case_name) };
        text.push_str(&format!("\n{verdict}: {}{case}, {metric}: {}\n", line.benchmark, line.message));
        for detail in details(line) {
            text.push_str(&format!("  {detail}\n"));
        }
    }
    if !lines.is_empty() {
        text.push('\n');
    }
}

fn details(line: &Line) -> Vec<String> {
    let mut details = Vec::new();
    let unit = line.unit.as_deref();
    if let (Some(before), Some(after)) = (line.baseline.median, line.candidate.median) {
        let change = line.change.map_or_else(String::new, |change| {
            let interval = line.interval.map_or_else(String::new, |interval| format!(" {}", words::interval(interval)));
            format!(", {}{interval}", words::change(change, line.interval))
        });
        let sessions = (line.baseline.sessions.len(), line.candidate.sessions.len());
        let runs = (line.baseline.runs, line.candidate.runs);
        details.push(format!(
            "{} -> {}{change}; {} and {} sessions of {} and {} runs",
            words::value(before, unit),
            words::value(after, unit),
            sessions.0,
            sessions.1,
            runs.0,
            runs.1
        ));
    }
    if let (Some(p), Some(method)) = (line.p, &line.method) {
        let adjusted =
            line.adjusted_p.map_or_else(String::new, |p| format!(", {} among all gates", words::probability(p)));
        details.push(format!("{}{adjusted} ({})", words::probability(p), words::method(method)));
    }
    let hardware = words::hardware(&line.environment);
    if !hardware.is_empty() {
        details.push(format!("on {hardware}"));
    }
    if line.synthetic {
        details.push("synthetic: made by `kubebench mock`, nothing ran".to_owned());
    }
    details.extend(since(line));
    for ack in &line.acks {
        let until = ack.expires.as_ref().map_or_else(String::new, |day| format!(" until {day}"));
        let state = if ack.expired { "was accepted" } else { "accepted" };
        details.push(format!("{state} by {}{until}: {} ({})", ack.by, ack.reason, ack.file));
    }
    details.extend(line.notes.iter().map(|note| format!("note: {note}")));
    details.extend(words::next(line).into_iter().map(|next| format!("next: {next}")));
    details
}

/// Says where an open change began.
fn since(line: &Line) -> Option<String> {
    let open = line.open.as_ref()?;
    let commit = open.commit.as_deref().map_or_else(String::new, |commit| format!(", commit {}", words::short(commit)));
    Some(format!("since {} (session {}{commit})", open.since, open.session))
}

/// Returns a table of lines; `~` stands for what is noise.
fn table(header: &[&str; 7], lines: &[&Line]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let mut rows: Vec<Vec<String>> = vec![header.iter().map(|cell| (*cell).to_owned()).collect()];
    rows.extend(lines.iter().map(|line| {
        let unit = line.unit.as_deref();
        let value = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| words::value(value, unit));
        vec![
            line.benchmark.clone(),
            line.case_name.clone(),
            words::metric(line),
            value(line.baseline.median),
            value(line.candidate.median),
            words::effect(line),
            line.verdict.words().to_owned(),
        ]
    }));
    let width = |column: usize| {
        rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..header.len()).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}
