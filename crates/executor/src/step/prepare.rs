//! `kubebench step prepare`: what must be there before the first run, and the `prepare` Job.

use std::time::Duration;

use anyhow::{Result, anyhow};

use super::auxiliary_job::Beside;
use super::run_list::KeptList;
use super::session::ClusterStep;
use super::{Answer, Environment, inputs, snapshot, suite};
use kubebench_syntax::words::counted;

/// Makes the session's folder and runs the `prepare` Job.
///
/// # Errors
/// When the step has no inputs, or the volume or the cluster cannot be used at all.
pub fn run(environment: &Environment) -> Result<Answer> {
    let inputs = inputs::read(environment)?;
    let mut session = ClusterStep::open(environment, inputs.settings.clone())?;
    let list = &inputs.config.list;
    let [runs, cases] =
        [(list.runs.len(), "run"), (list.cases.len(), "case")].map(|(count, noun)| counted(count, noun));
    session.tell(&format!("benchmark `{}`: {runs} of {cases}", list.benchmark));
    let name = inputs.config.prepare_name(session.workflow.session());
    let run = snapshot::make(&session.experiments, &name)?;
    let rules = inputs::rules(environment)?;
    snapshot::keep_session(&run, &inputs.config, &rules)?;
    KeptList::of(environment, &inputs, &rules)?.keep(&session.experiments)?;
    if environment.suite().is_some() {
        // The step of the benchmark before it may have been killed.
        session.stop_other_servers(None);
    }
    let has_room = session.makes_room(list.runs.len());
    let runs = match environment.suite() {
        Some(_) => session.runs_to_make(&inputs)?,
        None => list.runs.iter().map(|run| run.id.clone()).collect(),
    };
    suite::hand_over(environment, &runs)?;
    if runs.is_empty() {
        session.tell("there is no run to prepare for");
        return Ok(Answer::Succeeded);
    }
    let job = inputs.config.prepare(&session.naming()).map_err(|fault| anyhow!("{fault}"))?;
    if !has_room {
        // The runs continue, to say so in their results, which reach those who do not look at Argo.
        session.tell("error: the volume of results is full: nothing is prepared, and no run starts");
        return Ok(Answer::Succeeded);
    }
    let Some(job) = job else {
        session.tell("there is nothing to prepare");
        return Ok(Answer::Succeeded);
    };
    snapshot::make_data(&session.experiments, &list.benchmark)?;
    session.know_secrets(&job);
    let queue = Duration::from_secs(list.queue_timeout_seconds);
    Ok(match session.beside("prepare", &job, run.place(), queue)? {
        Beside::Succeeded => Answer::Succeeded,
        Beside::Failed(why) => {
            session.tell(&format!("error: {why}; no run starts"));
            Answer::Failed
        }
        Beside::Stopped if session.is_to_be_succeeded() => Answer::Left,
        Beside::Stopped => Answer::Failed,
    })
}
