//! The next starts of schedules, as a table for people.

use std::collections::{BTreeMap, BTreeSet};

use kubebench_compiler::model::Benchmark;
use kubebench_format::plan::v1::Schedule;
use kubebench_syntax::text::columns;

/// Returns a table of the next starts; benchmarks of a suite start with it. Nothing where no benchmark has a schedule.
pub(super) fn table<'a>(rows: impl Iterator<Item = (&'a Benchmark, Option<&'a Schedule>)>) -> String {
    let mut found = BTreeMap::<(String, String), (&Schedule, BTreeSet<&str>)>::new();
    for (benchmark, schedule) in rows {
        let Some(schedule) = schedule else { continue };
        let name = benchmark.started_as();
        let when = format!("{} ({})", schedule.cron, schedule.timezone);
        let (_, targets) = found.entry((name, when)).or_insert_with(|| (schedule, BTreeSet::new()));
        targets.insert(&benchmark.target.name);
    }
    if found.is_empty() {
        return String::new();
    }
    let mut lines = vec![["STARTS NEXT", "TARGETS", "SCHEDULE", "LOCAL", "UTC"].map(str::to_owned).to_vec()];
    for ((name, when), (Schedule { next, .. }, targets)) in found {
        let begin = [name, targets.into_iter().collect::<Vec<_>>().join(", "), when];
        if next.is_empty() {
            lines.push([begin.as_slice(), &["counted from its last start".to_owned()]].concat());
        }
        for (index, start) in next.iter().enumerate() {
            let begin = if index == 0 { begin.clone() } else { [const { String::new() }; 3] };
            lines.push([begin.as_slice(), &[start.local.clone(), start.utc.clone()]].concat());
        }
    }
    columns(&lines).join("\n") + "\n"
}

#[cfg(test)]
mod tests;
