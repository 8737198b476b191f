//! `kubebench logs`: what the pods of a run print.

mod stream;

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, LogsArgs};
use super::outside;
use crate::app::cluster::{TargetCluster, read, tidy};
use kubebench_executor::status::{JobStatus, RunState, RunStatus, WorkflowStatus, sessions};
use kubebench_host::terminal;
use kubebench_syntax::diag::what_there_is;
use stream::Printed;

/// Workflows of a benchmark among which a run is looked for.
const LOOKED_AT: usize = 10;

/// Shows the logs of a run.
pub(super) fn run(global: &Global, args: &LogsArgs) -> Result<ExitStatus> {
    let outside = outside::open(global, &args.outside)?;
    outside.check_names([&args.benchmark])?;
    let seen = read(&outside)?;
    let mut found = sessions(&seen, LOOKED_AT);
    found.retain(|session| session.is_of(&args.benchmark));
    for session in found.iter_mut().filter(|session| session.benchmark != args.benchmark) {
        session.runs.retain(|run| run.member.as_deref() == Some(args.benchmark.as_str()));
    }
    tidy(&mut found);
    let Some((session, run)) = chosen(&found, args)? else {
        bail!(
            "no run of `{}` has begun in the namespace {}; `kubebench status {}` says what it waits for",
            args.benchmark,
            outside.target.namespace,
            args.benchmark
        )
    };
    let Some(job) = &run.job else { return Ok(say_where(&outside, session, run)) };
    let printed: Vec<Printed> = job
        .replicas
        .iter()
        .filter(|replica| args.role.as_ref().is_none_or(|role| *role == replica.role))
        .filter(|replica| args.index.is_none_or(|index| index == replica.index))
        .map(|replica| Printed::of(replica, job.container))
        .collect();
    if printed.is_empty() {
        if !args.follow {
            check_filters(args, job)?;
            terminal::tell(&format!("{}: its job `{}` has no pods", run.name(), job.name));
            for reason in &run.reasons {
                terminal::tell(&format!("  {}", reason.message));
            }
            return Ok(ExitStatus::No);
        }
    } else if !global.quiet {
        terminal::tell(&format!("{} ({}), job {}", run.name(), run.state.name(), job.name));
    }
    stream::print(&outside, args, job, printed)
}

/// Refuses roles and numbers that the job has no pod for.
fn check_filters(args: &LogsArgs, job: &JobStatus) -> Result<()> {
    let roles = || job.replicas.iter().map(|replica| replica.role.as_str());
    if let Some(role) =
        args.role.as_deref().filter(|role| !job.replicas.is_empty() && !roles().any(|known| known == *role))
    {
        let known: std::collections::BTreeSet<&str> = roles().collect();
        bail!("the run has no pod of the role `{role}`; {}", what_there_is(role, known, "roles are"));
    }
    if let Some(index) = args.index.filter(|_| !job.replicas.is_empty()) {
        bail!("the run has no replica {index}: it has {} pods, counted from 0", job.replicas.len());
    }
    Ok(())
}

/// Returns the run that is meant: the one named, else one that runs, else the last that began.
fn chosen<'s>(found: &'s [WorkflowStatus], args: &LogsArgs) -> Result<Option<(&'s WorkflowStatus, &'s RunStatus)>> {
    let all = || found.iter().flat_map(|session| session.runs.iter().map(move |run| (session, run)));
    let Some(wanted) = &args.run else {
        let speaks =
            |(_, run): &(&WorkflowStatus, &RunStatus)| run.job.as_ref().is_some_and(|job| job.speaker().is_some());
        let has_job = |(_, run): &(&WorkflowStatus, &RunStatus)| run.job.is_some();
        let running = all().find(|found| found.1.state == RunState::Running && speaks(found));
        let last = || {
            all()
                .filter(|(_, run)| !matches!(run.state, RunState::Left | RunState::Skipped))
                .max_by(|one, other| one.1.since.cmp(&other.1.since))
        };
        return Ok(running.or_else(|| all().find(speaks)).or_else(|| all().find(has_job)).or_else(last));
    };
    let is_meant = |(_, run): &(&WorkflowStatus, &RunStatus)| {
        let job = run.job.as_ref().map(|job| job.name.as_str());
        [Some(run.id.as_str()), Some(run.name().as_str()), job].contains(&Some(wanted.as_str()))
    };
    let Some(run) = all().find(is_meant) else {
        let ids: std::collections::BTreeSet<&str> = all().map(|(_, run)| run.id.as_str()).collect();
        let there = what_there_is(wanted, ids, "runs are");
        bail!("there is no run `{wanted}` of `{}` in the cluster; {there}", args.benchmark)
    };
    Ok(Some(run))
}

/// Says where the log of a run is whose pods are gone.
fn say_where(outside: &TargetCluster, session: &WorkflowStatus, run: &RunStatus) -> ExitStatus {
    if let (RunState::Skipped, Some(reason)) = (run.state, run.reasons.first()) {
        terminal::tell(&format!("{}: {}", run.name(), reason.message));
        return ExitStatus::No;
    }
    if matches!(run.state, RunState::Left | RunState::Step) {
        terminal::tell(&format!(
            "{}: its job does not exist yet; `kubebench status {}` says what comes next",
            run.name(),
            session.benchmark
        ));
        return ExitStatus::No;
    }
    let namespace = &outside.target.namespace;
    terminal::tell(&format!(
        "{} has ended ({}), and its pods are gone. Its logs are on the claim `{}-results` in the namespace \
         {namespace},\n\
         in the folder `output` of the experiment; its result, once recorded, lists them with their digests.\n\
         https://github.com/kubebench/kubebench/blob/main/docs/how-to/watch-a-run.md shows how to look into the claim.",
        run.name(),
        run.state.name(),
        session.benchmark,
    ));
    ExitStatus::No
}
