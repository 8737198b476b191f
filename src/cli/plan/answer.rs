//! A plan as programs read it.

use crate::app::plan::{self, Action, Fault, Lock, Permission, Row, Since};
use crate::cli::changes::answer;
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::difference::{Cause, Certainty, OfBenchmark, Removed, State};
use kubebench_format::plan::v1;
use kubebench_syntax::diag::Severity;

/// Returns the answer.
pub(super) fn of(plan: &plan::Plan<'_>) -> v1::Plan {
    let faults = plan.since.iter().flat_map(|since: &Since| &since.not_compared);
    v1::Plan {
        schema_version: v1::SCHEMA_VERSION,
        benchmarks: plan.rows.iter().map(benchmark).collect(),
        removed: plan.removed().map(removed).collect(),
        not_compared: faults.map(not_compared).collect(),
        concurrency: plan.locks.iter().map(concurrency).collect(),
        permissions: plan.permissions.iter().map(permission).collect(),
        without_run: plan.since.as_ref().map(|since| since.difference.idle.iter().map(answer).collect()),
    }
}

fn removed(Removed { key: (target, name), renamed }: &Removed) -> v1::Removed {
    v1::Removed { name: name.clone(), target: target.clone(), renamed: renamed.clone() }
}

fn change(OfBenchmark { state, causes, idle }: &OfBenchmark, fault: Option<&Fault>) -> v1::Change {
    let changed_files = if let State::Unknown { files } = state { Some(files.clone()) } else { None };
    let formerly = if let State::New { formerly } = state { formerly.clone() } else { None };
    let state = match state {
        State::New { .. } => v1::State::New,
        State::Changed => v1::State::Changed,
        State::Unchanged => v1::State::Unchanged,
        State::Unknown { .. } => v1::State::Unknown,
    };
    let without_run = idle.iter().map(answer).collect();
    v1::Change {
        state,
        formerly,
        causes: causes.iter().map(cause).collect(),
        without_run,
        changed_files,
        not_compared: fault.map(not_compared),
    }
}

fn cause(Cause { change, cases, certainty }: &Cause) -> v1::Cause {
    let cases = cases.map(|(count, of)| v1::Cases { count: count as u64, of: of as u64 });
    v1::Cause { change: answer(change), cases, certain: *certainty == Certainty::Tried }
}

fn benchmark(
    Row { compiled: Compiled { benchmark, identity, .. }, action, estimate, schedule, change: of, fault }: &Row<'_>,
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
        change: of.as_ref().map(|of| change(of, fault.as_ref())),
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
        place: of.place(),
        since: of.since,
        level: match of.level() {
            Severity::Error => v1::Level::Error,
            Severity::Warning => v1::Level::Warning,
            Severity::Info => v1::Level::Info,
        },
        code: of.finding.code.id.to_owned(),
    }
}
