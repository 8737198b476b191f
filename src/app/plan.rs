//! What a merge would run.

mod comment;
mod lock;
mod permissions;
mod since;

use std::collections::BTreeSet;

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use crate::app::schedule::schedule;
pub use comment::comment;
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::model::estimate::{Estimate, estimate};
use kubebench_format::plan::v1;
pub use lock::Lock;
use lock::locks;
pub use permissions::{Permission, permissions};
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
    /// When it runs, unless once.
    pub schedule: Option<v1::Schedule>,
}

/// What a merge would run, compared with another commit where one is named.
pub struct Plan<'c> {
    /// The selected benchmarks.
    pub rows: Vec<Row<'c>>,
    /// Those of the other commit that are not there any more.
    pub removed: Vec<Key>,
    /// The other commit.
    pub since: Option<Since>,
    /// Which Workflows wait for which.
    pub locks: Vec<Lock>,
    /// What the selected benchmarks may do that a plain one may not.
    pub permissions: Vec<Permission>,
}

impl<'c> Plan<'c> {
    /// Plans what was selected of a project at the time `now` (RFC 3339), as a change of its base where there is one.
    pub fn of(project: &'c CompiledProject, base: Option<&Base>, now: &str) -> Self {
        let permissions = permissions(project, base);
        let since = base.map(|base| Since::of(project, base));
        let benchmarks = project.benchmarks();
        let there: BTreeSet<Key> = benchmarks.iter().map(|compiled| key(compiled)).collect();
        let rows: Vec<Row<'_>> = benchmarks.into_iter().map(|compiled| row(compiled, since.as_ref(), now)).collect();
        let removed = since.iter().flat_map(Since::selected).filter(|old| !there.contains(*old)).cloned().collect();
        let locks = locks(&rows);
        Self { rows, removed, since, locks, permissions }
    }

    /// Returns the benchmarks that something would be done about.
    pub fn running(&self) -> Vec<&Row<'c>> {
        self.rows.iter().filter(|row| self.since.is_none() || row.action != Action::Unchanged).collect()
    }
}

fn row<'c>(compiled: &'c Compiled, since: Option<&Since>, now: &str) -> Row<'c> {
    let action = match since.and_then(|since| since.is_unchanged(compiled)) {
        Some(true) => Action::Unchanged,
        _ if compiled.benchmark.schedule.is_some() => Action::Scheduled,
        Some(_) => Action::RunsAgain,
        None => Action::Runs,
    };
    Row { compiled, action, estimate: estimate(&compiled.benchmark), schedule: schedule(&compiled.benchmark, now) }
}
