//! What a merge would run.

mod amount;
mod comment;
mod group;
mod lock;
mod permissions;
mod shared;
mod since;
pub mod words;

use crate::app::base::Base;
use crate::app::project::CompiledProject;
use crate::app::schedule::schedule;
pub use amount::{Amount, hours};
pub use comment::{Mistake, comment};
use group::Shared;
pub use group::{Group, Why, groups, names, size};
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::difference::{OfBenchmark, Removed, State};
use kubebench_compiler::model::estimate::{Estimate, estimate};
use kubebench_format::plan::v1;
pub use lock::Lock;
use lock::locks;
pub use permissions::{Permission, Role, permissions};
pub use shared::{Shared as SharedPermission, allowed};
pub use since::{Fault, Since};
pub use words::Markup;

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
    /// What differs from the other commit.
    pub change: Option<OfBenchmark>,
    /// What keeps the other commit from saying what it was, where that is unknown.
    pub fault: Option<Fault>,
}

impl Row<'_> {
    /// Says what would be done about it.
    pub fn words(&self) -> &'static str {
        let state = self.change.as_ref().map(|change| &change.state);
        match (self.action, state) {
            (Action::Runs, _) => "runs",
            (Action::RunsAgain, _) => "runs again",
            (Action::Scheduled, Some(State::Changed)) => "changed, on schedule",
            (Action::Scheduled, Some(State::New { .. })) => "new, on schedule",
            (Action::Scheduled, _) => "on schedule",
            (Action::Unchanged, _) => "unchanged",
        }
    }
}

/// What a merge would run, compared with another commit where one is named.
pub struct Plan<'c> {
    /// The selected benchmarks.
    pub rows: Vec<Row<'c>>,
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
        let benchmarks = project.benchmarks().into_iter();
        let rows: Vec<Row<'_>> = benchmarks.map(|compiled| row(compiled, since.as_ref(), now)).collect();
        let locks = locks(&rows);
        Self { rows, since, locks, permissions }
    }

    /// Returns the benchmarks of the other commit that are not there any more.
    pub fn removed(&self) -> impl Iterator<Item = &Removed> {
        self.since.iter().flat_map(|since| &since.difference.removed)
    }

    /// Returns the benchmarks that something would be done about.
    pub fn running(&self) -> Vec<&Row<'c>> {
        self.rows.iter().filter(|row| self.since.is_none() || row.action != Action::Unchanged).collect()
    }
}

fn row<'c>(compiled: &'c Compiled, since: Option<&Since>, now: &str) -> Row<'c> {
    let benchmark = &compiled.benchmark;
    let change = since.and_then(|since| since.about(benchmark)).cloned();
    let action = match change.as_ref().map(|change| &change.state) {
        Some(State::Unchanged) => Action::Unchanged,
        _ if benchmark.schedule.is_some() => Action::Scheduled,
        Some(State::Changed) => Action::RunsAgain,
        Some(State::New { .. } | State::Unknown { .. }) | None => Action::Runs,
    };
    let fault = match change.as_ref().map(|change| &change.state) {
        Some(State::Unknown { files }) => since.and_then(|since| since.fault(benchmark, files)).cloned(),
        _ => None,
    };
    Row { compiled, action, estimate: estimate(benchmark), schedule: schedule(benchmark, now), change, fault }
}
