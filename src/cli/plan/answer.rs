//! A plan as programs read it.

use crate::app::plan::{self, Action, Fault, Lock, Permission, Row, Since};
use kubebench_compiler::compile::Compiled;
use kubebench_format::plan::v1;
use kubebench_syntax::diag::Severity;

/// Returns the answer.
pub(super) fn of(plan: &plan::Plan<'_>) -> v1::Plan {
    let faults = plan.since.iter().flat_map(|since: &Since| &since.not_compared);
    v1::Plan {
        schema_version: v1::SCHEMA_VERSION,
        benchmarks: plan.rows.iter().map(benchmark).collect(),
        removed: plan
            .removed
            .iter()
            .map(|(target, name)| v1::Removed { name: name.clone(), target: target.clone() })
            .collect(),
        not_compared: faults.map(not_compared).collect(),
        concurrency: plan.locks.iter().map(concurrency).collect(),
        permissions: plan.permissions.iter().map(permission).collect(),
    }
}

fn benchmark(
    Row { compiled: Compiled { benchmark, identity, .. }, action, estimate, schedule }: &Row<'_>,
) -> v1::Benchmark {
    v1::Benchmark {
        name: benchmark.name.clone(),
        target: benchmark.target.name.clone(),
        spec: benchmark.path.clone(),
        suite: benchmark.suite.clone(),
        action: match action {
            Action::Runs => v1::Action::Runs,
            Action::RunsAgain => v1::Action::RunsAgain,
            Action::Scheduled => v1::Action::OnSchedule,
            Action::Unchanged => v1::Action::Unchanged,
        },
        schedule: schedule.clone(),
        run_digest: identity.digest.to_string(),
        cases: benchmark.cases.len() as u64,
        runs: estimate.runs,
        max_hours: estimate.hours,
        accelerators: estimate.accelerators.clone(),
        gpu_hours: estimate.gpu_hours,
        cost: estimate.cost,
        unpriced: estimate.unpriced.clone(),
        currency: benchmark.target.prices.as_ref().map(|prices| prices.currency.clone()),
    }
}

fn concurrency(Lock { targets, limit, workflows }: &Lock) -> v1::Concurrency {
    v1::Concurrency { targets: targets.clone(), limit: *limit, workflows: workflows.clone() }
}

fn not_compared(Fault { path, code, message }: &Fault) -> v1::NotCompared {
    v1::NotCompared { spec: path.clone(), code: (*code).to_owned(), message: message.clone() }
}

fn permission(of: &Permission) -> v1::Permission {
    v1::Permission {
        benchmark: of.benchmark.clone(),
        target: of.target.clone(),
        what: of.what(),
        value: of.value().to_owned(),
        place: of.place.clone(),
        since: of.since,
        level: match of.level() {
            Severity::Error => v1::Level::Error,
            Severity::Warning => v1::Level::Warning,
            Severity::Info => v1::Level::Info,
        },
        code: of.finding.code.id.to_owned(),
    }
}
