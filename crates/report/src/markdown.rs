//! The report as Markdown, for the front page of a repository: short, and the same place each time.

use super::page::finding_words;
use super::site::{Benchmark, Site};
use super::tally::Tally;
use kubebench_results::compare::render::escape;
use kubebench_results::compare::words;
use kubebench_syntax::invariant::Invariant as _;

/// The maximum number of findings.
const MOST: usize = 20;
/// The maximum number of benchmarks in the table.
const MOST_BENCHMARKS: usize = 200;
/// By this a program finds the place to update.
const MARKS: (&str, &str) = ("<!-- kubebench report -->", "<!-- kubebench report end -->");

/// Returns `text` with the report in place of the one that is there between the marks; nothing where there are no marks.
pub(super) fn in_place(text: &str, report: &str) -> Option<String> {
    let (before, rest) = text.split_once(MARKS.0)?;
    let (_, after) = rest.split_once(MARKS.1)?;
    Some(format!("{before}{}{after}", report.trim_end()))
}

/// Writes the report.
pub(super) fn draw(site: &Site<'_>) -> String {
    let mut text = format!("{}\n## {}\n\n", MARKS.0, escape(site.request.title));
    let findings = site.findings();
    if findings.is_empty() {
        text.push_str(&format!("{}\n", Tally::of(site.cases(), site.request.left_out.len()).sentence()));
    }
    for finding in findings.iter().take(MOST) {
        text.push_str(&format!("- **Worse:** {}\n", escape(&finding_words(finding))));
    }
    for finding in site.pending().iter().take(MOST) {
        text.push_str(&format!("- **Pending:** {}\n", escape(&finding_words(finding))));
    }
    if findings.len() > MOST {
        text.push_str(&format!("- and {} more\n", findings.len() - MOST));
    }
    text.push_str("\n| benchmark | verdict | metric | newest | sessions |\n|---|---|---|--:|--:|\n");
    for benchmark in site.benchmarks.iter().take(MOST_BENCHMARKS) {
        text.push_str(&row(benchmark));
    }
    if site.benchmarks.len() > MOST_BENCHMARKS {
        text.push_str(&format!("\n{} more benchmarks are in the report.\n", site.benchmarks.len() - MOST_BENCHMARKS));
    }
    let results = site.request.dataset.rows();
    match results.len() {
        0 => text.push_str("\nThere are no results yet."),
        count => {
            let newest = site.newest.expected("a newest result, where there are some");
            text.push_str(&format!("\n{}, the newest of {newest}.", words::counted(count, "result")));
        }
    }
    if !site.request.left_out.is_empty() {
        text.push_str(&format!(" {} did not count.", words::counted(site.request.left_out.len(), "file")));
    }
    if site.is_synthetic {
        text.push_str(" Some are synthetic: made by `kubebench mock`, nothing ran.");
    }
    text.push_str(&format!("\n{}\n", MARKS.1));
    text
}

fn row(benchmark: &Benchmark<'_>) -> String {
    let tally = Tally::of(benchmark.cases.iter(), 0);
    let counts = [(tally.failing + tally.missing, "failing or missing"), (tally.new, "new")];
    let counts = counts.into_iter().filter(|(count, _)| *count > 0);
    let failing: String = counts.map(|(count, what)| format!(", {} {what}", words::counted(count, "case"))).collect();
    let Some(chart) = benchmark.worst() else {
        return format!("| {} | no value{failing} | – | – | 0 |\n", benchmark.name);
    };
    let history = chart.history;
    let newest = history.sessions.last().map(|session| words::value(session.value, history.unit.as_deref()));
    format!(
        "| {} | {}{failing} | {} | {} | {} |\n",
        benchmark.name,
        chart.word().unwrap_or("–"),
        escape(&history.metric),
        escape(&newest.unwrap_or_default()),
        history.sessions.len()
    )
}
