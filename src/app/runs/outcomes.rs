//! What became of benchmarks that were run one after another, and what that means for the next one.

use kubebench_compiler::model::Benchmark;
use kubebench_executor::collect::Stored;
use kubebench_executor::run::{AfterFailure, Outcome};
use kubebench_format::result::v1::Status;

/// Each benchmark with what became of it.
pub type Outcomes<'a> = Vec<(&'a Benchmark, Outcome)>;

/// Returns why a benchmark with these `needs` is not to be run, if one of them was and did not succeed.
pub fn unmet(outcomes: &Outcomes<'_>, needs: &[String]) -> Option<String> {
    let needed = outcomes.iter().filter(|(benchmark, _)| needs.contains(&benchmark.name));
    let mut failed = needed.filter_map(|(benchmark, outcome)| {
        let is_done = |stored: &&Stored| stored.sealed.result.run.status == Status::Succeeded;
        let (done, all) =
            (outcome.stored.iter().filter(is_done).count(), outcome.stored.len() + outcome.not_started.len());
        (done < all).then(|| format!("it needs `{}`, of which {done} of {all} runs succeeded", benchmark.name))
    });
    failed.next()
}

/// Returns true when nothing may be started after what became of a benchmark.
pub fn ends(outcome: &Outcome, after_failure: AfterFailure) -> bool {
    let succeeded = |stored: &Stored| stored.sealed.result.run.status == Status::Succeeded;
    let has_failed = !outcome.stored.iter().all(succeeded);
    outcome.stopped.is_some() || outcome.problem.is_some() || has_failed && after_failure == AfterFailure::Stop
}
