//! What runs where, since when and what comes next: from Workflows, their run lists, and the jobs and pods of their runs.
//!
//! Pure: what was read of a namespace comes in. Where something is unknown, that is said.

mod by_run;
mod nodes;
mod show;

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::observe::workflow::{lacked, waits_for};
use crate::observe::{self, Event, Observed, Places, Pod, Progress, Replica, State};
use by_run::ByRun;
use kubebench_compiler::workload::kind_of;
use kubebench_contract::RunList;
use kubebench_contract::{Run, instance, labels, text_at};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason};
use nodes::{Nodes, Step};
pub use show::show;

/// Why a run is not made.
const SKIPPED: &str = "skipped: the run has already succeeded, or a benchmark that it needs has not; the log of the \
                       step `prepare` of its benchmark shows which";

/// What was read of a namespace.
#[derive(Clone, Debug, Default)]
pub struct Namespace {
    /// The Workflows of benchmarks.
    pub workflows: Vec<Json>,
    /// The CronWorkflows of benchmarks.
    pub schedules: Vec<Json>,
    /// The run lists, by the name of their ConfigMap.
    pub lists: BTreeMap<String, RunList>,
    /// The jobs of runs, of all kinds.
    pub jobs: Vec<Json>,
    /// The pods of runs.
    pub pods: Vec<Pod>,
    /// The events of the namespace.
    pub events: Vec<Event>,
    /// The uids of what is gone.
    pub gone: BTreeSet<String>,
    /// What could not be read, and why.
    pub unread: Vec<String>,
}

/// One Workflow of a benchmark or a suite: one execution of its run list, or of those of its benchmarks.
#[derive(Clone, Debug, PartialEq)]
pub struct WorkflowStatus {
    /// The benchmark, or the suite.
    pub benchmark: String,
    pub workflow: String,
    pub uid: String,
    /// Argo's word: `Pending`, `Running`, `Succeeded`, `Failed`, `Error`.
    pub phase: String,
    /// What Argo says about that.
    pub message: String,
    /// The Workflows, as `NAMESPACE/NAME`, that must end before it starts, by the limit of the target.
    pub waits_for: Vec<String>,
    /// When it started, or was created.
    pub since: String,
    /// When it ended.
    pub finished: Option<String>,
    /// What each of its runs is, in order.
    pub runs: Vec<RunStatus>,
    /// The auxiliary step that is running: `prepare`, `summary`, `cleanup`, `record`.
    pub step: Option<String>,
    /// What prevents it from continuing, or why something is unknown.
    pub notes: Vec<String>,
    /// What comes next.
    pub next: String,
}

/// What a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// It has not begun.
    Left,
    /// It is not made: it has succeeded before, or what its benchmark needs has not.
    Skipped,
    /// Its step is at work, and its job is not there: before it, or after it.
    Step,
    /// Its job waits.
    Waiting,
    /// Its job runs.
    Running,
    /// Its job is over, and its step still gathers the result.
    Gathering,
    /// It succeeded.
    Done,
    /// It did not.
    Failed,
}

impl RunState {
    /// Returns its name for people.
    pub fn shown(self) -> &'static str {
        match self {
            Self::Left => "queued",
            Self::Step => "preparing",
            _ => self.name(),
        }
    }

    /// Returns its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Skipped => "skipped",
            Self::Step => "step",
            Self::Waiting => "waiting",
            Self::Running => "running",
            Self::Gathering => "gathering",
            Self::Done => "done",
            Self::Failed => "failed",
        }
    }

    /// Returns whether something of it is in the cluster.
    pub fn is_active(self) -> bool {
        matches!(self, Self::Step | Self::Waiting | Self::Running | Self::Gathering)
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunStatus {
    pub id: String,
    /// The benchmark, where the Workflow is that of a suite.
    pub member: Option<String>,
    /// The name of its case; the id where no run list says it.
    pub case: String,
    /// `r2`, or `w1` for a warm-up; empty where no run list says it.
    pub round: String,
    pub state: RunState,
    /// Since when it is that, as far as anything says it.
    pub since: Option<String>,
    /// What holds it up, or why it failed.
    pub reasons: Vec<StatusReason>,
    /// Its job and pods, while they are there.
    pub job: Option<JobStatus>,
}

/// The job of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct JobStatus {
    pub name: String,
    /// How many of its pods have started.
    pub started: usize,
    /// How many it wants.
    pub wanted: u32,
    /// Where they are.
    pub nodes: Vec<String>,
    /// The container that does the work, in each pod.
    pub container: &'static str,
    pub replicas: Vec<Replica>,
    /// The last line of the replica that decides, once it was read.
    pub last_line: Option<String>,
}

impl JobStatus {
    /// Returns the replica whose log says most: one that decides, else the first that has started.
    pub fn speaker(&self) -> Option<&Replica> {
        let started = || self.replicas.iter().filter(|replica| replica.pod.has_started() && !replica.is_gone);
        started().find(|replica| replica.decides).or_else(|| started().next())
    }
}

/// Sums up a namespace: the Workflows of each benchmark, the newest first, no more than `most` of each.
pub fn sessions(seen: &Namespace, most: usize) -> Vec<WorkflowStatus> {
    let mut by_benchmark: BTreeMap<&str, Vec<&Json>> = BTreeMap::new();
    for workflow in &seen.workflows {
        let benchmark = label(workflow, labels::BENCHMARK);
        if !benchmark.is_empty() {
            by_benchmark.entry(benchmark).or_default().push(workflow);
        }
    }
    let by_run = ByRun::of(seen);
    let mut found = Vec::new();
    for (_, mut workflows) in by_benchmark {
        // Workflows that are running come before those that have ended, whenever they began.
        workflows.sort_by_key(|workflow| {
            (is_over(workflow), std::cmp::Reverse(text_at(workflow, "/metadata/creationTimestamp")))
        });
        let going = workflows.iter().filter(|workflow| !is_over(workflow)).count();
        found.extend(workflows.into_iter().take(most.max(going)).map(|workflow| session(seen, &by_run, workflow)));
    }
    found
}

fn is_over(workflow: &Json) -> bool {
    matches!(text_at(workflow, "/status/phase"), "Succeeded" | "Failed" | "Error")
}

fn session(seen: &Namespace, by_run: &ByRun<'_>, workflow: &Json) -> WorkflowStatus {
    let uid = text_at(workflow, "/metadata/uid");
    let phase = text_at(workflow, "/status/phase");
    let nodes = Nodes::read(workflow);
    let parts = parts(workflow);
    let mut notes: Vec<String> = nodes.note.iter().cloned().collect();
    for Part { config, .. } in parts.iter().filter(|part| !part.config.is_empty()) {
        if !seen.lists.contains_key(config) {
            notes.push(format!(
                "the ConfigMap `{config}` with the run list does not exist or may not be read: cases have no names"
            ));
        }
    }
    let is_over = is_over(workflow);
    let runs: Vec<RunStatus> = parts
        .iter()
        .flat_map(|part| runs_of(workflow, seen.lists.get(&part.config)).into_iter().map(move |run| (part, run)))
        .map(|(part, (run, case))| {
            let step = nodes.runs.get(&(part.member.clone().unwrap_or_default(), run.id.clone()));
            let benchmark = part.member.as_deref().unwrap_or_else(|| label(workflow, labels::BENCHMARK));
            let sum = |job: &'_ Json| {
                let (pods, events) = by_run.about(job);
                let (gone, places) = (&seen.gone, &Places::new());
                observe::sum(&Observed { job, pods, events, workload: None, gone, places })
            };
            let own = by_run.jobs(uid, benchmark, &run).last().map(|job| (*job, sum(job)));
            // Before its job a run waits for what that loads.
            let awaits = own.is_none() && step.is_some_and(Step::is_active);
            let list = seen.lists.get(&part.config).filter(|_| awaits);
            let name = list.and_then(|list| server_of(workflow, list, &run));
            let server = name.and_then(|name| by_run.server(uid, benchmark, &name));
            let server = server.map(|server| (server, sum(server)));
            let server = server.filter(|(_, progress)| progress.state != State::Ended(Status::Succeeded));
            let progress = own.or(server);
            let mut status = status(&run, case, step, progress, is_over);
            let to_make = part.member.as_ref().and_then(|member| nodes.to_make.get(member));
            if status.state == RunState::Left && to_make.is_some_and(|runs| !runs.contains(&run.id)) {
                status.state = RunState::Skipped;
                status.reasons.push(StatusReason { code: ReasonCode::Skipped, message: SKIPPED.to_owned() });
            }
            status.member.clone_from(&part.member);
            status
        })
        .collect();
    let named = |(benchmark, step): &(String, String)| {
        if benchmark.is_empty() { step.clone() } else { format!("{step} of {benchmark}") }
    };
    let step = nodes.steps.iter().find(|(_, step)| step.is_active()).map(|(name, _)| named(name));
    let started = text_at(workflow, "/status/startedAt");
    let since = if started.is_empty() { text_at(workflow, "/metadata/creationTimestamp") } else { started };
    let finished = text_at(workflow, "/status/finishedAt");
    if phase.is_empty() {
        notes.push(
            "Argo has not processed the Workflow yet: check that its controller is running and watches this \
                    namespace"
                .to_owned(),
        );
    }
    for (name, step) in nodes.steps.iter().filter(|(_, step)| step.is_over() && !step.has_succeeded()) {
        let why = if step.message.is_empty() { "Argo does not say why" } else { &step.message };
        notes.push(format!("step {} failed: {why}", named(name)));
    }
    let is_unrecorded =
        nodes.steps.iter().any(|((_, name), step)| name == "record" && step.is_over() && !step.has_succeeded());
    let lacked = lacked(workflow);
    if let Some(what) = lacked {
        notes.push(format!(
            "Argo did not find {what}, and does not look again: apply the folder `pipeline` of the target first, then \
             run `kubectl -n {} delete workflow {}`; GitOps creates it again",
            text_at(workflow, "/metadata/namespace"),
            text_at(workflow, "/metadata/name")
        ));
    }
    if workflow.pointer("/spec/suspend") == Some(&true.into()) {
        notes.push("the Workflow is suspended: resume it with `argo resume`".to_owned());
    }
    let waits_for: Vec<String> = waits_for(workflow).into_iter().map(str::to_owned).collect();
    let mut session = WorkflowStatus {
        benchmark: label(workflow, labels::BENCHMARK).to_owned(),
        workflow: text_at(workflow, "/metadata/name").to_owned(),
        uid: uid.to_owned(),
        phase: if phase.is_empty() { "Pending".to_owned() } else { phase.to_owned() },
        // That it waits for a lock is said in other words.
        message: if waits_for.is_empty() { text_at(workflow, "/status/message").to_owned() } else { String::new() },
        waits_for,
        since: since.to_owned(),
        finished: (!finished.is_empty()).then(|| finished.to_owned()),
        runs,
        step,
        notes,
        next: String::new(),
    };
    session.next = if lacked.is_some() {
        "the same runs, once the Workflow is deleted and created again".to_owned()
    } else if nodes.note.is_some() && !is_over {
        "unknown".to_owned()
    } else if !is_over {
        next(&session)
    } else if let Some(when) = next_session(seen, &session) {
        when
    } else if is_unrecorded {
        "its results are still on the volume: fix the cause that the log of the step `record` shows, then delete the \
         Workflow and apply it again; nothing is measured twice"
            .to_owned()
    } else {
        "nothing; raise `run:` in the spec to run it again".to_owned()
    };
    session
}

/// Says when its schedule starts the next one, where it has a schedule.
fn next_session(seen: &Namespace, session: &WorkflowStatus) -> Option<String> {
    let of_benchmark = |schedule: &&Json| label(schedule, labels::BENCHMARK) == session.benchmark;
    let schedule = seen.schedules.iter().find(of_benchmark)?;
    let cron = schedule.pointer("/spec/schedules/0").and_then(Json::as_str).unwrap_or_default();
    let when = format!("`{cron}` ({})", text_at(schedule, "/spec/timezone"));
    Some(if schedule.pointer("/spec/suspend") == Some(&true.into()) {
        format!("nothing: its schedule {when} is suspended")
    } else {
        format!("the next session, {when}")
    })
}

/// Says what comes after what is at work now.
fn next(session: &WorkflowStatus) -> String {
    match session.step.as_deref() {
        Some("summary" | "suite-summary" | "cleanup") => return "its results are recorded".to_owned(),
        Some(step) if step.starts_with("cleanup of ") => return "its results are recorded".to_owned(),
        Some("record") => return "nothing, this is the last step".to_owned(),
        _ => {}
    }
    let mut left = session.runs.iter().filter(|run| run.state == RunState::Left);
    let after = |count: usize| if count == 0 { String::new() } else { format!(", and {count} more after it") };
    match left.next() {
        Some(run) => format!("{}{}", run.name(), after(left.count())),
        None => "the summary; then its results are recorded".to_owned(),
    }
}

impl WorkflowStatus {
    /// Returns whether it runs the benchmark, or is that of the suite, called `name`.
    pub fn is_of(&self, name: &str) -> bool {
        self.benchmark == name || self.runs.iter().any(|run| run.member.as_deref() == Some(name))
    }

    /// Counts its runs in a state that `fits`.
    pub(crate) fn count(&self, fits: impl Fn(RunState) -> bool) -> usize {
        self.runs.iter().filter(|run| fits(run.state)).count()
    }
}

impl RunStatus {
    /// Returns what people call it.
    pub fn name(&self) -> String {
        let own = if self.round.is_empty() { self.id.clone() } else { format!("{} {}", self.case, self.round) };
        self.member.as_ref().map_or(own.clone(), |member| format!("{member}: {own}"))
    }
}

/// Returns the name of the server that a run loads, if it loads one.
fn server_of(workflow: &Json, list: &RunList, run: &Run) -> Option<String> {
    let id = list.cases.get(&run.case)?.server.as_ref()?;
    let uid = text_at(workflow, "/metadata/uid");
    let session = match parameter(workflow, "session") {
        "scheduled" => instance::Session::Scheduled { uid },
        _ => instance::Session::Once,
    };
    Some(instance::server_name(&list.benchmark, &list.run_digest, id, session))
}

/// Returns the runs with the names of their cases; without a run list, what the Workflow says.
fn runs_of(workflow: &Json, list: Option<&RunList>) -> Vec<(Run, Option<String>)> {
    if let Some(list) = list {
        let named = |run: &Run| list.cases.get(&run.case).map(|case| case.name.clone());
        return list.runs.iter().map(|run| (run.clone(), named(run))).collect();
    }
    let ids: Vec<String> = listed(workflow, "runs");
    let of_other = |id: &String| Run { id: id.clone(), case: id.clone(), repeat: 0, warmup: false, job: String::new() };
    ids.into_iter().map(|id| (Run::of_id(&id).unwrap_or_else(|| of_other(&id)), None)).collect()
}

fn status(
    run: &Run,
    case: Option<String>,
    step: Option<&Step>,
    job: Option<(&Json, Progress)>,
    is_over: bool,
) -> RunStatus {
    let (job, progress) = job.unzip();
    let state = match (step, &progress) {
        (Some(step), _) if step.has_succeeded() => RunState::Done,
        (Some(step), _) if step.is_over() => RunState::Failed,
        (_, Some(progress)) if is_over => ended(progress.state),
        (_, Some(progress)) => match progress.state {
            State::Waiting => RunState::Waiting,
            State::Running => RunState::Running,
            State::Ended(_) => RunState::Gathering,
        },
        (Some(step), None) if step.is_active() => RunState::Step,
        (_, None) => RunState::Left,
    };
    let mut reasons = progress.as_ref().map(|progress| progress.reasons.clone()).unwrap_or_default();
    if let (RunState::Failed | RunState::Step, Some(step), true) = (state, step, reasons.is_empty())
        && !step.message.is_empty()
    {
        reasons.push(StatusReason { code: ReasonCode::Step, message: format!("its step says: {}", step.message) });
    }
    let of_job = job.map(|job| text_at(job, "/metadata/creationTimestamp").to_owned());
    let of_step = step.map(|step| if step.is_over() { step.finished.clone() } else { step.started.clone() });
    let since = if state.is_active() { of_job.or(of_step) } else { of_step };
    RunStatus {
        id: run.id.clone(),
        member: None,
        round: if case.is_some() { run.round() } else { String::new() },
        case: case.unwrap_or_else(|| run.id.clone()),
        state,
        since: since.filter(|since| !since.is_empty()),
        reasons,
        job: job.zip(progress).map(|(job, progress)| of(job, progress)),
    }
}

fn ended(state: State) -> RunState {
    match state {
        State::Ended(Status::Succeeded) => RunState::Done,
        _ => RunState::Failed,
    }
}

fn of(job: &Json, progress: Progress) -> JobStatus {
    JobStatus {
        name: text_at(job, "/metadata/name").to_owned(),
        started: progress.replicas.iter().filter(|replica| replica.pod.has_started() && !replica.is_gone).count(),
        wanted: progress.wanted,
        nodes: progress.nodes,
        container: kind_of(job).map_or("", |kind| kind.container),
        replicas: progress.replicas,
        last_line: None,
    }
}

fn parameter<'a>(workflow: &'a Json, name: &str) -> &'a str {
    let parameters = workflow.pointer("/spec/arguments/parameters").and_then(Json::as_array);
    let found = parameters.into_iter().flatten().find(|parameter| text_at(parameter, "/name") == name);
    found.map_or("", |parameter| text_at(parameter, "/value"))
}

/// A benchmark that a Workflow runs.
struct Part {
    /// Its name, where the Workflow is that of a suite.
    member: Option<String>,
    /// The ConfigMap with its run list.
    config: String,
}

/// Returns the benchmarks that a Workflow runs, in order.
fn parts(workflow: &Json) -> Vec<Part> {
    if label(workflow, labels::SUITE).is_empty() {
        return vec![Part { member: None, config: parameter(workflow, "config").to_owned() }];
    }
    let items: Vec<Json> = listed(workflow, "benchmarks");
    let part = |item: &Json| Part {
        member: Some(text_at(item, "/benchmark").to_owned()),
        config: text_at(item, "/config").to_owned(),
    };
    items.iter().map(part).collect()
}

/// Returns the list in a parameter of a Workflow; one that a compiler of Kubebench did not write has none.
fn listed<T: DeserializeOwned>(workflow: &Json, name: &str) -> Vec<T> {
    serde_json::from_str(parameter(workflow, name)).unwrap_or_else(|_not_ours| Vec::new())
}

/// Returns the names of the ConfigMaps that a Workflow reads run lists from.
pub fn configs_of(workflow: &Json) -> Vec<String> {
    parts(workflow).into_iter().map(|part| part.config).filter(|config| !config.is_empty()).collect()
}

fn label<'a>(object: &'a Json, name: &str) -> &'a str {
    object.pointer("/metadata/labels").and_then(|labels| labels.get(name)).and_then(Json::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
