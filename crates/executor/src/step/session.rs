//! What the steps share that ask the API server: who they are, where results go, and what may happen to them.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::Environment;
use super::attempt::{Attempt, Created, Workflow};
use super::observations::From;
use crate::observe::node;
use kubebench_cluster::{Action, Cluster, Fault, Removed, Resource, Seen};
use kubebench_compiler::workload::add_to_pods;
use kubebench_contract::instance;
use kubebench_contract::{Created as Objects, Naming, Settings};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Node, StatusReason};
use kubebench_host::experiment;
use kubebench_host::experiment::{Reserve, Spare};
use kubebench_host::fault;
use kubebench_host::machine;
use kubebench_host::process::{self, Stop, Unstored};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::on_one_line;
use kubebench_syntax::redact::{self, Redactor};

/// How long a job that is deleted may take to be gone, with all its pods.
const REMOVAL: Duration = Duration::from_mins(3);
/// Between two looks at something that goes away.
const LOOK: Duration = Duration::from_millis(500);

/// What happens while a step waits.
#[derive(Debug)]
pub(super) enum Event {
    /// A watch saw something.
    Seen(From, Seen),
    /// The step is to end.
    Stop(Stop),
}

/// A step that talks to the cluster.
pub(super) struct ClusterStep {
    pub(super) cluster: Cluster,
    pub(super) namespace: String,
    /// The pod of this process, as far as it is known.
    pub(super) pod: Option<String>,
    pub(super) benchmark: String,
    pub(super) workflow: Workflow,
    pub(super) experiments: PathBuf,
    pub(super) settings: Settings,
    pub(super) environment: Environment,
    pub(super) events: (Sender<Event>, Receiver<Event>),
    pub(super) stop: Option<Stop>,
    /// Takes out of texts what may be a secret.
    pub(super) redactor: Arc<Redactor>,
    no_more_tries: Arc<AtomicBool>,
    reserve: Option<Reserve>,
    spare: Spare,
    /// Argo and the kubelet both ask a step to end. That must not cost it its result; its grace period ends it anyway.
    _unstored: Unstored,
}

impl ClusterStep {
    /// Opens the session of this process.
    pub(super) fn open(environment: &Environment, settings: Settings) -> Result<Self> {
        let session = Self::over(Cluster::inside, environment, settings)?;
        process::stops(session.events.0.clone(), Event::Stop)?;
        Ok(session)
    }

    /// Makes the session that asks the cluster which `reach` gives, once its volume proves to be writable.
    pub(super) fn over(
        reach: impl FnOnce() -> Result<Cluster>,
        environment: &Environment,
        settings: Settings,
    ) -> Result<Self> {
        let (workflow, experiments) = (Workflow::of(environment)?, environment.experiments()?.to_owned());
        let spare = Spare::of(&experiments, &workflow.uid);
        experiment::check_volume(&experiments)
            .or_else(|fault| if spare.give_up() { experiment::check_volume(&experiments) } else { Err(fault) })?;
        let (cluster, no_more_tries) = (reach()?, Arc::new(AtomicBool::new(false)));
        Ok(Self {
            cluster: cluster.stop_with(no_more_tries.clone()),
            namespace: environment.namespace()?.to_owned(),
            pod: machine::variables(|name| name == "HOSTNAME").into_values().next(),
            benchmark: environment.benchmark()?.to_owned(),
            workflow,
            experiments,
            settings,
            environment: environment.clone(),
            events: channel(),
            stop: None,
            redactor: Arc::default(),
            no_more_tries,
            reserve: None,
            spare,
            _unstored: Unstored::begin(),
        })
    }

    /// Handles a request to end: what is asked of the API server from now on is asked once.
    pub(super) fn hear(&mut self, stop: Stop) {
        if self.stop.is_none() {
            self.tell(&format!("{}: stopping, with a result of what there is", stop.name()));
        }
        self.stop = self.stop.or(Some(stop));
        self.no_more_tries.store(true, Ordering::Relaxed);
    }

    /// Handles what came since the last wait, and returns whether the step is to end.
    pub(super) fn is_to_end(&mut self) -> bool {
        while let Ok(event) = self.events.1.try_recv() {
            if let Event::Stop(stop) = event {
                self.hear(stop);
            }
        }
        self.stop.is_some()
    }

    /// Returns true when this pod is deleted while its Workflow continues: another pod will resume where this one ended.
    pub(super) fn is_to_be_succeeded(&self) -> bool {
        let Some(pod) = &self.pod else {
            self.tell("note: `HOSTNAME` does not name this pod, so no other pod resumes where this one ends");
            return false;
        };
        let pod = self.cluster.get(&Resource::pods(), &self.namespace, pod);
        if !matches!(pod, Ok(Some(pod)) if is_leaving(&pod)) {
            return false;
        }
        matches!(self.fate(), Fate::Continues)
    }

    /// Returns what became of the Workflow.
    fn fate(&self) -> Fate {
        let workflow = self.cluster.get(&Resource::workflows(), &self.namespace, &self.workflow.name);
        match workflow {
            Ok(Some(workflow)) if uid_of(&workflow) != self.workflow.uid || is_leaving(&workflow) => Fate::Deleted,
            Ok(Some(workflow)) if workflow.pointer("/spec/shutdown").is_some() => Fate::Stopped,
            Ok(Some(_)) => Fate::Continues,
            Ok(None) => Fate::Deleted,
            Err(_) => Fate::Unknown,
        }
    }

    /// Says something in the log of the step.
    pub(super) fn tell(&self, text: &str) {
        terminal::tell(&on_one_line(&self.redactor.text(text)));
    }

    /// Takes the values of variables whose names say that they hold secrets out of everything from now on.
    pub(super) fn know_secrets(&mut self, object: &Json) {
        let mut suspects = Vec::new();
        suspicious(object, &mut suspects);
        self.redactor = Arc::new(self.redactor.as_ref().clone().suspecting(suspects));
        fault::redact_by(&self.redactor);
    }

    /// Says why a run did not come to its end.
    pub(super) fn interruption(&self) -> StatusReason {
        let what = match self.fate() {
            Fate::Deleted => "its Workflow was deleted before the run had ended".to_owned(),
            Fate::Stopped => "its Workflow was stopped before the run had ended".to_owned(),
            Fate::Continues | Fate::Unknown => {
                let what = self.stop.map_or("the step that followed it", Stop::name);
                format!(
                    "{what} ended the run early: the deadline of its step passed, or its Workflow was stopped or \
                     deleted"
                )
            }
        };
        StatusReason { code: ReasonCode::Interrupted, message: what }
    }

    /// Returns why a deleted job is gone, where it was deleted with its Workflow.
    pub(super) fn deletion(&self) -> Option<StatusReason> {
        matches!(self.fate(), Fate::Deleted).then(|| self.interruption())
    }

    /// Waits, and returns true when the step is to end.
    pub(super) fn waits(&mut self, time: Duration) -> bool {
        let until = Instant::now() + time;
        while !self.is_to_end() && Instant::now() < until {
            std::thread::sleep(LOOK);
        }
        self.stop.is_some()
    }

    /// Returns the facts of the machines called `names`, as far as they may be read, and the version of Kubernetes.
    pub(super) fn machines(&self, names: &[String]) -> (Vec<Node>, Option<String>) {
        let reading = Action { namespace: None, verb: "get", group: "", resource: "nodes", subresource: "" };
        let may_read = !names.is_empty()
            && match self.cluster.may(reading) {
                Ok(true) => true,
                Ok(false) => {
                    self.tell(
                        "note: only the names of nodes are known, because the runner may not read nodes; apply \
                         `deploy/nodes` to allow it",
                    );
                    false
                }
                Err(fault) => {
                    self.tell(&format!("note: only the names of nodes are known: {fault}"));
                    false
                }
            };
        let facts = |name: &String| match self.cluster.read(&format!("/api/v1/nodes/{name}")) {
            Ok(Some(object)) => node::facts(&object),
            _ => node::unknown(name),
        };
        let nodes = names.iter().map(|name| if may_read { facts(name) } else { node::unknown(name) }).collect();
        let version = self.cluster.read("/version").ok().flatten();
        let version = version.and_then(|version| version.get("gitVersion")?.as_str().map(str::to_owned));
        (nodes, version)
    }

    /// Holds back space for the results of all `runs` of the Workflow, which one of them may fill. Returns false where the volume
    /// is full; then there is room for the results that say so.
    pub(super) fn makes_room(&mut self, runs: usize) -> bool {
        let held = self.spare.take(runs).and_then(|()| Reserve::hold(&self.experiments));
        if held.is_err() {
            self.spare.give_up();
        }
        self.holds(held)
    }

    /// Holds back space for one result.
    pub(super) fn makes_room_for_one(&mut self) {
        self.holds(Reserve::hold(&self.experiments));
    }

    /// Takes what is held back, or says why nothing is; returns false where the volume is full.
    fn holds(&mut self, held: io::Result<Reserve>) -> bool {
        match held {
            Ok(reserve) => {
                self.reserve = Some(reserve);
                true
            }
            Err(error) => {
                self.tell(&format!("note: cannot reserve space for results on the volume: {error}"));
                !experiment::is_full(&error)
            }
        }
    }

    /// Gives back what was held back for runs that do not come any more.
    pub(super) fn gives_back(&self) {
        self.spare.give_up();
    }

    /// Writes with `write` what must not be lost; on a volume that is full, where space was held back for it.
    ///
    /// # Errors
    /// That of `write`.
    pub(super) fn write<T, E>(&mut self, write: impl Fn() -> Result<T, E>) -> Result<T, E> {
        write()
            .or_else(|error| if self.reserve.take().is_some() { write() } else { Err(error) })
            .or_else(|error| if self.spare.give_up() { write() } else { Err(error) })
    }

    /// Keeps what is known of an attempt, for a step that resumes it. If the volume does not take it, that is no reason to give
    /// up a run that continues or has ended.
    pub(super) fn keep(&mut self, attempt: &Attempt) {
        let experiments = self.experiments.clone();
        if let Err(error) = self.write(|| attempt.keep(&experiments)) {
            self.tell(&format!("note: a step that resumes after this one will not know its progress: {error:#}"));
        }
    }

    /// Returns what names and owns the objects of this Workflow.
    pub(super) fn naming(&self) -> Naming<'_> {
        let Workflow { name, uid, .. } = &self.workflow;
        Naming { session: self.workflow.session(), owner: instance::Owner { name, uid }, pods: &self.settings.pods }
    }

    /// Gives all pods that `objects` describe what the target says that pods carry; the run list names those that Kubebench describes.
    pub(super) fn equip(&self, mut objects: Objects) -> Objects {
        let all = objects.before.iter_mut().chain([&mut objects.workload]);
        all.for_each(|object| add_to_pods(object, &self.settings.pods));
        objects
    }

    /// Returns whether this Workflow owns `object`.
    pub(super) fn is_owner(&self, object: &Json) -> bool {
        let owners = object.pointer("/metadata/ownerReferences").and_then(Json::as_array);
        let uid = |owner: &Json| owner.get("uid").and_then(Json::as_str) == Some(&self.workflow.uid);
        owners.is_some_and(|owners| owners.iter().any(uid))
    }

    /// Deletes an object and waits until it and its pods are gone; says so when they stay.
    pub(super) fn remove(&mut self, created: &Created) -> Result<(), Fault> {
        let name = created.name.as_str();
        let Some(resource) = created.resource() else { return Ok(()) };
        if self.cluster.delete(&resource, &self.namespace, name, &created.uid)? != Removed::Asked {
            return Ok(());
        }
        let since = Instant::now();
        loop {
            match self.cluster.get(&resource, &self.namespace, name) {
                Ok(Some(object)) if uid_of(&object) == created.uid => {}
                Ok(_) | Err(Fault::Stopped) => return Ok(()),
                Err(fault) => return Err(fault),
            }
            if since.elapsed() > REMOVAL {
                let seconds = REMOVAL.as_secs();
                self.tell(&format!(
                    "note: `{name}` still exists {seconds} s after it was deleted; a node that does not answer keeps \
                     its pods until it answers"
                ));
                return Ok(());
            }
            if self.is_to_end() {
                return Ok(());
            }
            std::thread::sleep(LOOK);
        }
    }
}

/// What became of a Workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    /// Nothing.
    Continues,
    /// It is asked to end.
    Stopped,
    /// It is gone, or about to be.
    Deleted,
    /// It is unknown.
    Unknown,
}

impl Workflow {
    /// Reads whose pod this is.
    pub(super) fn of(environment: &Environment) -> Result<Self> {
        Ok(Self {
            name: environment.workflow()?.to_owned(),
            uid: environment.workflow_uid()?.to_owned(),
            is_scheduled: environment.is_scheduled()?,
        })
    }

    /// Returns whose execution its jobs belong to.
    pub(super) fn session(&self) -> instance::Session<'_> {
        if self.is_scheduled { instance::Session::Scheduled { uid: &self.uid } } else { instance::Session::Once }
    }
}

impl Created {
    /// Returns what the API server knows `object` by.
    pub(super) fn of(object: &Json) -> Self {
        let text = |at: &str| object.pointer(at).and_then(Json::as_str).unwrap_or_default().to_owned();
        Self {
            api_version: text("/apiVersion"),
            kind: text("/kind"),
            name: text("/metadata/name"),
            uid: text("/metadata/uid"),
        }
    }

    /// Returns its resource.
    pub(super) fn resource(&self) -> Option<Resource> {
        Resource::of(&serde_json::json!({ "apiVersion": self.api_version, "kind": self.kind }))
    }
}

/// Returns the uid of an object.
pub(super) fn uid_of(object: &Json) -> &str {
    object.pointer("/metadata/uid").and_then(Json::as_str).unwrap_or_default()
}

/// Gathers the values of variables whose names say that they hold secrets.
fn suspicious<'a>(value: &'a Json, found: &mut Vec<&'a str>) {
    match value {
        Json::Object(map) => {
            if let (Some(Json::String(name)), Some(Json::String(text))) = (map.get("name"), map.get("value"))
                && redact::names_a_secret(name)
            {
                found.push(text);
            }
            map.values().for_each(|value| suspicious(value, found));
        }
        Json::Array(values) => values.iter().for_each(|value| suspicious(value, found)),
        _ => {}
    }
}

/// Returns whether an object is about to go.
pub(super) fn is_leaving(object: &Json) -> bool {
    object.pointer("/metadata/deletionTimestamp").is_some()
}
