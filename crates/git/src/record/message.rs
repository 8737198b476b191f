//! What a commit of results says: one line for people, trailers for programs.

use std::collections::BTreeSet;

use super::Addition;

/// The longest first line.
const SUMMARY: usize = 100;

/// Returns the message of the commit that adds `additions`.
pub(crate) fn message(additions: &[&Addition]) -> String {
    let mut text = summary(additions);
    text.push_str("\n\n");
    let mut trailer = |name: &str, value: fn(&Addition) -> &str| {
        // Several results of one benchmark say its name once; runs are named one by one.
        let values: BTreeSet<String> = additions.iter().map(|addition| line(value(addition))).collect();
        for value in values.iter().filter(|value| !value.is_empty()) {
            text.push_str(&format!("Kubebench-{name}: {value}\n"));
        }
    };
    trailer("Benchmark", |addition| &addition.benchmark);
    trailer("Case", |addition| &addition.case);
    trailer("Status", |addition| &addition.status);
    trailer("Run-Digest", |addition| &addition.run_digest);
    trailer("Run", |addition| &addition.run_id);
    text
}

fn summary(additions: &[&Addition]) -> String {
    let text = match additions {
        [] => "Record nothing".to_owned(),
        [Addition { benchmark, case, round, status, .. }] => {
            let case = if case == "default" { "" } else { case.as_str() };
            let what =
                [benchmark, case, round].into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            format!("Record {what}: {status}")
        }
        several => {
            let benchmarks: BTreeSet<&str> = several.iter().map(|addition| addition.benchmark.as_str()).collect();
            match benchmarks.first() {
                Some(one) if benchmarks.len() == 1 => format!("Record {} results of {one}", several.len()),
                _ => format!("Record {} results of {} benchmarks", several.len(), benchmarks.len()),
            }
        }
    };
    let text = line(&text);
    if text.chars().count() <= SUMMARY {
        return text;
    }
    text.chars().take(SUMMARY - 1).chain(['…']).collect()
}

/// Returns `text` as one line: a line break in a name would begin a trailer of its own.
fn line(text: &str) -> String {
    let flat: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    flat.split_whitespace().collect::<Vec<_>>().join(" ")
}
