//! Which of the Workflows that would start wait for which: those that one lock holds.

use std::collections::BTreeMap;

use super::{Action, Row};
use kubebench_compiler::model::target::Concurrency;

/// Workflows that are counted together.
#[derive(Debug, PartialEq, Eq)]
pub struct Lock {
    pub targets: Vec<String>,
    /// How many of their Workflows run at once; none where there is no limit.
    pub limit: Option<u32>,
    /// The benchmarks and suites whose Workflows would start, in the order in which tools apply them: by target and name.
    pub workflows: Vec<String>,
}

/// Returns the locks for which more than one Workflow would start.
pub(super) fn locks(rows: &[Row<'_>]) -> Vec<Lock> {
    let mut found = BTreeMap::<String, Lock>::new();
    let starts = |row: &&Row<'_>| matches!(row.action, Action::Runs | Action::RunsAgain);
    for row in rows.iter().filter(starts) {
        let benchmark = &row.compiled.benchmark;
        let target = &benchmark.target;
        let Concurrency { limit, lock } = &target.concurrency;
        let key =
            lock.as_ref().map_or_else(|| format!("target {}", target.name), |lock| format!("group {}", lock.name));
        let lock =
            found.entry(key).or_insert_with(|| Lock { targets: Vec::new(), limit: *limit, workflows: Vec::new() });
        if !lock.targets.contains(&target.name) {
            lock.targets.push(target.name.clone());
        }
        let workflow = format!("{} on {}", benchmark.started_as(), target.name);
        if !lock.workflows.contains(&workflow) {
            lock.workflows.push(workflow);
        }
    }
    found.into_values().filter(|lock| lock.workflows.len() > 1).collect()
}
