//! `kubebench step`: what the pods of a Workflow call.

use anyhow::Result;

use super::ExitStatus;
use super::args::{StepArgs, StepCommand};
use kubebench_executor::step::{Answer, Environment, cleanup, prepare, record, run as one_run, suite, summary};
use kubebench_git::record::Kind;

/// Takes one step.
pub(super) fn run(args: &StepArgs) -> Result<ExitStatus> {
    let environment = Environment::of_process();
    let answer = match &args.command {
        StepCommand::Prepare => prepare::run(&environment)?,
        StepCommand::Run { run } => one_run::run(&environment, run)?,
        StepCommand::Summary => summary::run(&environment)?,
        StepCommand::SuiteSummary => suite::run(&environment)?,
        StepCommand::Cleanup => cleanup::run(&environment)?,
        StepCommand::Record => {
            return Ok(match record::run(&environment, record::DEADLINE)? {
                None => ExitStatus::Yes,
                Some(Kind::TryAgain) => ExitStatus::NotRecorded,
                Some(Kind::Refused) => ExitStatus::Refused,
            });
        }
    };
    Ok(match answer {
        Answer::Succeeded => ExitStatus::Yes,
        Answer::Failed => ExitStatus::No,
        Answer::Left => ExitStatus::Ended,
    })
}
