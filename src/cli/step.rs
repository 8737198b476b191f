//! `kubebench step`: what the pods of a Workflow call.

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{StepArgs, StepCommand};
use crate::record::Kind;
use crate::step::{Environment, record};

/// Takes one step.
pub(super) fn run(args: &StepArgs) -> Result<ExitStatus> {
    let environment = Environment::of_process();
    match &args.command {
        StepCommand::Prepare => bail!("`step prepare` is not there yet"),
        StepCommand::Run { run } => bail!("`step run {run}` is not there yet"),
        StepCommand::Summary => bail!("`step summary` is not there yet"),
        StepCommand::Cleanup => bail!("`step cleanup` is not there yet"),
        StepCommand::Record => Ok(match record::run(&environment)? {
            None => ExitStatus::Yes,
            Some(Kind::TryAgain) => ExitStatus::NotRecorded,
            Some(Kind::Refused) => ExitStatus::Refused,
        }),
    }
}
