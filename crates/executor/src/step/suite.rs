//! What the steps of a suite do in addition to those of a single benchmark: a benchmark whose needs are not met is not run, one that
//! has its results is not run again, and the last step says what became of all.

use std::path::Path;

use anyhow::Result;

use super::attempt::Workflow;
use super::inputs::{self, Inputs};
use super::session::ClusterStep;
use super::summary::{last_result, table};
use super::{Answer, Environment};
use kubebench_contract::Run;
use kubebench_contract::instance;
use kubebench_contract::{Member, SuiteList};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};
use kubebench_host::fs;
use kubebench_host::terminal;

/// Why runs were not made: what their benchmark needs did not succeed.
const NEEDS: ReasonCode = ReasonCode::Needs;

/// Prints what became of each benchmark; the answer is that of the worst.
///
/// # Errors
/// When the step has no inputs, or cannot read the volume.
pub fn run(environment: &Environment) -> Result<Answer> {
    let list = inputs::suite(environment)?;
    let experiments = environment.experiments()?;
    let workflow = Workflow::of(environment)?;
    let mut rows = vec![["BENCHMARK", "RUNS", "SUCCEEDED", "WHY"].map(str::to_owned)];
    let mut failed = 0;
    for member in &list.benchmarks {
        let tally = Tally::of(member, experiments, workflow.session())?;
        failed += usize::from(!tally.has_succeeded());
        rows.push([
            member.benchmark.clone(),
            tally.runs.to_string(),
            tally.succeeded.to_string(),
            tally.why.unwrap_or_default(),
        ]);
    }
    terminal::print(&table(&rows))?;
    let total = list.benchmarks.len();
    if failed == 0 {
        terminal::tell(&format!("all {total} benchmarks of `{}` succeeded", list.suite));
        return Ok(Answer::Succeeded);
    }
    terminal::tell(&format!(
        "{failed} of {total} benchmarks of `{}` did not succeed, so the Workflow fails; their results are recorded too",
        list.suite
    ));
    Ok(Answer::Failed)
}

/// What became of the runs of a benchmark.
struct Tally {
    runs: usize,
    succeeded: usize,
    /// Why one of the others did not succeed.
    why: Option<String>,
}

impl Tally {
    fn of(member: &Member, experiments: &Path, session: instance::Session<'_>) -> Result<Self> {
        let mut tally = Self { runs: member.runs.len(), succeeded: 0, why: None };
        for run in member.runs() {
            let job_of = |number| member.job_of(&run, number, session);
            let result = last_result(experiments, &member.benchmark, job_of)?;
            let reason = match &result {
                Some(result) if result.run.status == Status::Succeeded => {
                    tally.succeeded += 1;
                    continue;
                }
                Some(result) => result.run.reasons.first().map(|reason| reason.message.clone()),
                None => Some(format!("`{}` has no result", run.id)),
            };
            tally.why = tally.why.or(reason);
        }
        Ok(tally)
    }

    fn has_succeeded(&self) -> bool {
        self.succeeded == self.runs
    }
}

/// Returns why `benchmark` is not to be run, if what it needs did not succeed.
fn unmet(list: &SuiteList, benchmark: &str, experiments: &Path, workflow: &Workflow) -> Result<Option<StatusReason>> {
    let needs = list.member(benchmark).map(|member| member.needs.as_slice()).unwrap_or_default();
    for name in needs {
        let Some(needed) = list.member(name) else { continue };
        let tally = Tally::of(needed, experiments, workflow.session())?;
        if !tally.has_succeeded() {
            let Tally { runs, succeeded, .. } = tally;
            let message = format!(
                "not started, because `{benchmark}` needs `{name}`, of which {succeeded} of {runs} runs succeeded"
            );
            return Ok(Some(StatusReason { code: NEEDS, message }));
        }
    }
    Ok(None)
}

impl ClusterStep {
    /// Returns the runs of a benchmark of a suite that are still to be made, in order. Of one whose needs are not met there are
    /// none: its runs get results that say so.
    pub(super) fn runs_to_make(&mut self, inputs: &Inputs) -> Result<Vec<String>> {
        let list = inputs::suite(&self.environment)?;
        let runs = self.unsucceeded(inputs)?;
        let Some(reason) = unmet(&list, &self.benchmark, &self.experiments, &self.workflow)? else {
            let done = inputs.config.list.runs.len() - runs.len();
            if done > 0 {
                self.tell(&format!("{done} of its runs have already succeeded; raise `run` to measure them again"));
            }
            return Ok(runs.into_iter().map(|run| run.id).collect());
        };
        self.tell(&format!("error: {}", reason.message));
        for run in runs {
            self.refuse_run(inputs, &run, reason.clone())?;
        }
        Ok(Vec::new())
    }

    /// Returns the runs that have not succeeded, in order.
    pub(super) fn unsucceeded(&self, inputs: &Inputs) -> Result<Vec<Run>> {
        let mut left = Vec::new();
        for run in &inputs.config.list.runs {
            let job_of = |number| inputs.config.job_of(run, number, self.workflow.session());
            let last = last_result(&self.experiments, &self.benchmark, job_of)?;
            if last.is_none_or(|result| result.run.status != Status::Succeeded) {
                left.push(run.clone());
            }
        }
        Ok(left)
    }
}

/// Gives Argo the runs that are to be made.
///
/// # Errors
/// When the file cannot be written.
pub(super) fn hand_over(environment: &Environment, runs: &[String]) -> Result<()> {
    match environment.runs_path() {
        Some(path) => fs::write_text(path, &serde_json::to_string(runs)?),
        None => Ok(()),
    }
}
