//! What a merge would run.

mod since;

use std::collections::BTreeSet;

use anyhow::Result;

use crate::app::project::CompiledProject;
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::model::estimate::{Estimate, estimate};
use since::key;
pub use since::{Fault, Key, Since};

/// What a merge would do about a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It runs (compared with another commit: it is new).
    Runs,
    /// It runs again, because what it executes changed.
    RunsAgain,
    /// It runs on its schedule.
    Scheduled,
    /// Nothing that it executes changed.
    Unchanged,
}

/// A benchmark in a plan.
pub struct Row<'c> {
    /// The benchmark.
    pub compiled: &'c Compiled,
    /// What would be done about it.
    pub action: Action,
    /// What that takes at most.
    pub estimate: Estimate,
}

/// What a merge would run, compared with another commit where one is named.
pub struct Plan<'c> {
    /// The selected benchmarks.
    pub rows: Vec<Row<'c>>,
    /// Those of the other commit that are not there any more.
    pub removed: Vec<Key>,
    /// The other commit.
    pub since: Option<Since>,
}

impl<'c> Plan<'c> {
    /// Plans what was selected of a project; `revision` names the commit to compare with.
    pub fn of(project: &'c CompiledProject, revision: Option<&str>) -> Result<Self> {
        let since = revision.map(|revision| Since::read(project, revision)).transpose()?;
        let benchmarks = project.benchmarks();
        let now: BTreeSet<Key> = benchmarks.iter().map(|compiled| key(compiled)).collect();
        let rows = benchmarks.into_iter().map(|compiled| row(compiled, since.as_ref())).collect();
        let removed = since.iter().flat_map(Since::selected).filter(|old| !now.contains(*old)).cloned().collect();
        Ok(Self { rows, removed, since })
    }

    /// Returns the benchmarks that something would be done about.
    pub fn running(&self) -> Vec<&Row<'c>> {
        self.rows.iter().filter(|row| self.since.is_none() || row.action != Action::Unchanged).collect()
    }
}

fn row<'c>(compiled: &'c Compiled, since: Option<&Since>) -> Row<'c> {
    let action = match since.and_then(|since| since.is_unchanged(compiled)) {
        Some(true) => Action::Unchanged,
        _ if compiled.benchmark.schedule.is_some() => Action::Scheduled,
        Some(_) => Action::RunsAgain,
        None => Action::Runs,
    };
    Row { compiled, action, estimate: estimate(&compiled.benchmark) }
}
