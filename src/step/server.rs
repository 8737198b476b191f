//! The server that a run loads: brought up by the first run that needs it, kept for those after it, and taken down with the last.
//!
//! What is known of it is kept on the volume in a folder of its name, so that the step of the next run finds it again.

mod address;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, anyhow};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::attempt::{Attempt, Created, Moment, Outcome};
use super::beside::Beside;
use super::follow::{Ending, Limits, is_absent};
use super::found::is_run;
use super::logs::Logs;
use super::result::Gathered;
use super::run::{Claim, NoJob, is_leaving};
use super::seen::Sight;
use super::session::Session;
use super::told::Told;
use crate::edge::cluster::{Fault, Resource};
use crate::edge::experiment::{self, RunFolder};
use crate::manifest::Run;
use crate::model::Served;
use crate::result::v1::{Image, Node, Server as InResult, Status, StatusReason, Timings, Usage};
use crate::steps::{Created as Objects, Server};
use crate::workload::{pod_sets, selector, text_at};

/// The file of a server, in its folder.
const FILE: &str = "server.json";
const MAX_BYTES: usize = 4 << 20;
const SCHEMA_VERSION: u32 = 1;
/// Between two requests to a server that is not ready.
const PAUSE: Duration = Duration::from_millis(200);
/// How long a server that was ready may leave a request without an answer.
const ANSWER: Duration = Duration::from_secs(30);

/// A server of this Workflow, as it is kept on the volume.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Kept {
    schema_version: u32,
    /// The uid of the Workflow; nothing once the server was taken down.
    workflow: String,
    /// When its objects were created.
    began: Moment,
    /// Its object, once it was created.
    created: Option<Created>,
    /// What it is, once it is ready.
    up: Option<Up>,
    /// How often it was loaded before it was measured.
    warmups: u32,
    /// How far its logs were read, by their names.
    #[serde(default)]
    marks: BTreeMap<String, String>,
}

/// A server that is ready.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Up {
    /// Its name.
    pub(super) name: String,
    /// The name of its folder, which is the same unless it keeps one of its own.
    folder: String,
    /// Its kind.
    pub(super) kind: String,
    /// Scheme, host and port; whatever path its controller gives.
    pub(super) endpoint: String,
    /// Where the time went until it was ready.
    pub(super) timings: Timings,
    /// How often each of its pods had been restarted, by uid.
    pods: BTreeMap<String, i64>,
    /// The images that serve.
    pub(super) images: Vec<Image>,
    /// The machines that serve.
    pub(super) nodes: Vec<Node>,
    /// The roles of its pods.
    roles: Vec<String>,
    /// What it holds of the cluster.
    usage: Usage,
}

/// The server of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Loaded {
    /// What it is.
    pub(super) up: Up,
    /// Whether this attempt brought it up.
    pub(super) is_new: bool,
    /// How often it was loaded before it was measured.
    pub(super) warmups: u32,
    /// Since when it could be loaded.
    pub(super) since: Moment,
}

impl Loaded {
    /// Adds to what the load held what the server held for it: all of its time was that of the run.
    pub(super) fn add_usage(&self, usage: &mut Usage, seconds: f64) {
        let Usage { pods, accelerators, resources, .. } = &self.up.usage;
        let is_known = !usage.resource_hours.is_empty() || usage.resources.is_empty();
        for (name, amount) in resources {
            *usage.resources.entry(name.clone()).or_default() += amount;
            if let Some(hours) = usage.resource_hours.get_mut(name) {
                *hours = to_six_digits(*hours + amount * seconds / 3600.0);
            } else if is_known {
                usage.resource_hours.insert(name.clone(), to_six_digits(amount * seconds / 3600.0));
            }
        }
        usage.pods = usage.pods.saturating_add(*pods);
        let mut held = 0;
        for (name, amount) in accelerators {
            *usage.accelerators.entry(name.clone()).or_default() += amount;
            held += amount;
        }
        usage.gpu_hours = usage.gpu_hours.map(|hours| to_six_digits(hours + hours_of(held, seconds)));
    }

    /// Returns what a result says of it.
    pub(super) fn in_result(&self) -> InResult {
        let Up { name, kind, timings, .. } = &self.up;
        let (kind, name) = (kind.clone(), name.clone());
        InResult { kind, name, brought_up: self.is_new, warmups: self.warmups, timings: *timings }
    }

    /// Returns the roles of the pods that serve.
    pub(super) fn roles(&self) -> &[String] {
        &self.up.roles
    }
}

/// Why there is no server.
pub(super) enum NoServer {
    /// The run ends with this.
    Ends(Box<Outcome>),
    /// It ends with this reason.
    NoJob(NoJob),
    /// Another pod of this step goes on.
    Left,
}

/// The server of one run.
struct Wanted<'a> {
    name: String,
    server: &'a Server,
    objects: Objects,
}

impl Session {
    /// Sees that the server of the run is ready and warm; none where the run has none.
    pub(super) fn serve(
        &mut self,
        told: &Told,
        attempt: &mut Attempt,
        gathered: &mut Gathered,
    ) -> Result<Result<(), NoServer>> {
        let Some(id) = told.config.run(&attempt.run.id).ok().and_then(|(_, case)| case.server.clone()) else {
            return Ok(Ok(()));
        };
        if let (Some(loaded), Some(_)) = (&attempt.loaded, &attempt.created) {
            // An earlier pod of this step began to load it: whatever it is now is told at the end.
            if let Some(kept) = self.kept(&loaded.up.folder) {
                gathered.logs.go_on_from(kept.marks.clone());
                self.see_server(&kept, &mut gathered.logs);
            }
            return Ok(Ok(()));
        }
        self.take_down_others(told, &id);
        let objects = told.config.server(&id, &self.naming()).map_err(|fault| anyhow!("{fault}"))?;
        let Some(server) = told.config.list.servers.get(&id) else { return Ok(Ok(())) };
        self.know_secrets(&objects.workload);
        let name = told.config.server_name(&id, self.workflow.session());
        let wanted = Wanted { name, server, objects };
        let mut kept = self.kept(&wanted.name);
        if kept.as_ref().is_some_and(|kept| !self.is_as_it_was(kept, server)) {
            self.tell(&format!("the server `{}` is not what it was: it is brought up anew", wanted.name));
            self.take_down(&wanted)?;
            kept = None;
        }
        let was_up = kept.as_ref().is_some_and(|kept| kept.up.is_some());
        let mut kept = match kept {
            Some(kept) => kept,
            None => match self.create_server(attempt, &wanted)? {
                Ok(kept) => kept,
                Err(none) => return Ok(Err(none)),
            },
        };
        if !was_up {
            match self.bring_up(attempt, &wanted, &mut kept, gathered)? {
                Ok(up) => {
                    attempt.loaded = Some(Loaded { up: up.clone(), is_new: true, warmups: 0, since: Moment::now() });
                    self.keep(attempt);
                    kept.up = Some(up);
                }
                Err(none) => {
                    if !matches!(none, NoServer::Left) {
                        self.catch_up(&gathered.logs);
                        self.take_down(&wanted)?;
                    }
                    return Ok(Err(none));
                }
            }
            self.keep_server(&wanted.name, &kept)?;
        }
        let Some(up) = kept.up.clone() else { return Ok(Ok(())) };
        if was_up {
            gathered.logs.go_on_from(kept.marks.clone());
            self.see_server(&kept, &mut gathered.logs);
        }
        let is_new = !was_up || attempt.loaded.as_ref().is_some_and(|loaded| loaded.is_new);
        // What this run brought up is its own, also where another pod of this step warms it up.
        attempt.loaded = Some(Loaded { up: up.clone(), is_new, warmups: kept.warmups, since: Moment::now() });
        self.keep(attempt);
        while kept.warmups < server.warmups {
            if let Err(none) = self.warm_up(told, attempt, &mut kept, &up.endpoint)? {
                return Ok(Err(none));
            }
            self.keep_server(&wanted.name, &kept)?;
        }
        attempt.loaded = Some(Loaded { up, is_new, warmups: kept.warmups, since: Moment::now() });
        self.keep(attempt);
        Ok(Ok(()))
    }

    /// Reads what is kept of the server `name` of this Workflow.
    fn kept(&self, name: &str) -> Option<Kept> {
        let bytes = RunFolder::open(&self.experiments, name).ok()?.read(FILE, MAX_BYTES).ok()??;
        let kept: Kept = serde_json::from_slice(&bytes).ok()?;
        (kept.schema_version == SCHEMA_VERSION && kept.workflow == self.workflow.uid).then_some(kept)
    }

    fn keep_server(&mut self, name: &str, kept: &Kept) -> Result<()> {
        let bytes = serde_json::to_vec_pretty(kept).context("a server is no JSON")?;
        let experiments = self.experiments.clone();
        self.write(|| RunFolder::make(&experiments, name)?.put(FILE, &bytes))
            .with_context(|| format!("cannot write {}", experiments.join(name).join(FILE).display()))
    }

    /// Returns whether the server that is kept is there, and, once it was ready, with the same pods, none of them restarted, and
    /// answers.
    fn is_as_it_was(&mut self, kept: &Kept, server: &Server) -> bool {
        let Some(created) = &kept.created else { return false };
        let Some(resource) = created.resource() else { return false };
        let found = self.cluster.get(&resource, &self.namespace, &created.name);
        let Ok(Some(object)) = found else { return false };
        if text_at(&object, "/metadata/uid") != created.uid || is_leaving(&object) {
            return false;
        }
        let Some(up) = &kept.up else { return true };
        self.pods_of(&object).is_some_and(|pods| pods == up.pods) && self.answers(server, up, ANSWER).is_ok()
    }

    /// Returns how often each pod of a server was restarted.
    fn pods_of(&self, object: &Json) -> Option<BTreeMap<String, i64>> {
        if pod_sets(object).is_empty() {
            return Some(BTreeMap::new());
        }
        let pods = self.cluster.list(&Resource::pods(), &self.namespace, &selector(object)).ok()?;
        // One that leaves, or was evicted, serves nobody any more.
        let serves = |pod: &&Json| !is_leaving(pod) && !matches!(text_at(pod, "/status/phase"), "Failed" | "Succeeded");
        Some(pods.iter().filter(serves).map(|pod| (text_at(pod, "/metadata/uid").to_owned(), restarts(pod))).collect())
    }

    /// Creates the objects of a server.
    fn create_server(&mut self, attempt: &Attempt, wanted: &Wanted<'_>) -> Result<Result<Kept, NoServer>> {
        let mut kept = Kept {
            schema_version: SCHEMA_VERSION,
            workflow: self.workflow.uid.clone(),
            began: Moment::now(),
            created: None,
            up: None,
            warmups: 0,
            marks: BTreeMap::new(),
        };
        // A step that goes on after this one finds what may be there already.
        self.keep_server(&wanted.name, &kept)?;
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let claim = Claim { job: &wanted.name, waited: Duration::ZERO, queue };
        let mut made = None;
        for object in wanted.objects.before.iter().chain([&wanted.objects.workload]) {
            match self.create(&claim, object)? {
                Ok(object) => made = Some(object),
                Err(no_job) => {
                    self.take_down(wanted)?;
                    return Ok(Err(NoServer::NoJob(no_job)));
                }
            }
        }
        let Some(made) = made else { return Err(anyhow!("`{}` has no object", wanted.name)) };
        kept.began = Moment::now();
        let created = Created::of(&made);
        self.tell(&format!("created {} `{}`, which the run loads", created.kind, created.name));
        kept.created = Some(created);
        self.keep_server(&wanted.name, &kept)?;
        Ok(Ok(kept))
    }

    /// Follows a server until it is ready.
    fn bring_up(
        &mut self,
        attempt: &Attempt,
        wanted: &Wanted<'_>,
        kept: &mut Kept,
        gathered: &mut Gathered,
    ) -> Result<Result<Up, NoServer>> {
        let clock = Instant::now();
        let before = Duration::from_secs_f64(kept.began.age());
        let Some(object) = self.server_of(kept)? else {
            let what = "the server was gone before it was ready: it was deleted by somebody else";
            return Ok(Err(NoServer::NoJob(NoJob::new(Status::Interrupted, "jobLost", what.to_owned()))));
        };
        let mut sight = Sight::of(object);
        let ending = self.until_ready(attempt, &wanted.server.served, &mut sight, &mut gathered.logs, before);
        let (ending, progress, endpoint) = ending;
        let Some(endpoint) = endpoint else {
            if ending == Ending::Stopped && self.is_to_be_succeeded() {
                return Ok(Err(NoServer::Left));
            }
            return Ok(Err(NoServer::Ends(Box::new(self.outcome(attempt, ending, progress)))));
        };
        let took = before + clock.elapsed();
        let timings = Timings { ready_seconds: Some(to_the_millisecond(took)), run_seconds: None, ..progress.timings };
        let (nodes, _) = self.machines(&progress.nodes);
        self.tell(&format!("the server is ready after {:.1} s, at {endpoint}", took.as_secs_f64()));
        let object = sight.job();
        Ok(Ok(Up {
            name: text_at(object, "/metadata/name").to_owned(),
            folder: wanted.name.clone(),
            kind: text_at(object, "/kind").to_owned(),
            endpoint,
            timings,
            pods: self.pods_of(object).unwrap_or_default(),
            images: progress.images,
            nodes,
            roles: pod_sets(object).into_iter().map(|set| set.role).collect(),
            usage: progress.usage,
        }))
    }

    /// Follows the server `sight` until it is ready and has answered; returns its address then.
    pub(super) fn until_ready(
        &mut self,
        attempt: &Attempt,
        served: &Served,
        sight: &mut Sight,
        logs: &mut Logs,
        waited: Duration,
    ) -> (Ending, crate::follow::Progress, Option<String>) {
        let within = Duration::from_secs(served.ready_seconds);
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let limits = Limits { queue, run: within, waited, ran: None };
        let began = Instant::now();
        let (ending, progress) = self.follow(sight, logs, limits, &mut || Ok(()));
        let not_ready = |what: &str| {
            let message =
                format!("the server was not ready after {} s (`ready.timeout`): {what}", served.ready_seconds);
            StatusReason { code: "notReady".to_owned(), message }
        };
        match ending {
            Ending::Itself(Status::Succeeded) => {}
            Ending::TooLong(Status::TimedOut, _) => {
                let what = "its controller did not say that it is, or one of its pods did not";
                return (Ending::TooLong(Status::Failed, not_ready(what)), progress, None);
            }
            ending => return (ending, progress, None),
        }
        let left = within.saturating_sub(began.elapsed()).max(ANSWER);
        match self.address_that_answers(served, sight.job(), left) {
            Ok(endpoint) => (ending, progress, Some(endpoint)),
            Err(_) if self.stop.is_some() => (Ending::Stopped, progress, None),
            Err(why) => (Ending::TooLong(Status::Failed, not_ready(&why)), progress, None),
        }
    }

    /// Asks the server until it answers; returns its address.
    fn address_that_answers(&mut self, served: &Served, object: &Json, within: Duration) -> Result<String, String> {
        let since = Instant::now();
        let mut told = String::new();
        loop {
            let answer = address::of(&self.cluster, &self.namespace, served, object).and_then(|endpoint| {
                address::ask(&endpoint, served, text_at(object, "/metadata/name")).map(|()| endpoint)
            });
            match answer {
                Ok(endpoint) => return Ok(endpoint),
                Err(why) if since.elapsed() > within || self.is_to_end() => return Err(why),
                Err(why) if why != told => {
                    self.tell(&format!("the server does not answer yet: {why}"));
                    told = why;
                }
                Err(_) => {}
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn answers(&mut self, server: &Server, up: &Up, within: Duration) -> Result<(), String> {
        let since = Instant::now();
        loop {
            match address::ask(&up.endpoint, &server.served, &up.name) {
                Ok(()) => return Ok(()),
                Err(why) if since.elapsed() > within || self.is_to_end() => return Err(why),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn server_of(&self, kept: &Kept) -> Result<Option<Json>> {
        let Some(created) = &kept.created else { return Ok(None) };
        let Some(resource) = created.resource() else { return Ok(None) };
        let found = self.cluster.get(&resource, &self.namespace, &created.name);
        if is_absent(&found, &created.uid) { Ok(None) } else { Ok(found?) }
    }

    /// Takes the pods of a server that was up already into the logs of this run.
    fn see_server(&mut self, kept: &Kept, logs: &mut Logs) {
        if let Ok(Some(object)) = self.server_of(kept) {
            let mut sight = Sight::of(object);
            sight.remember(logs.places());
            self.look(&mut sight);
            let progress = sight.sum();
            logs.see(&progress, &sight);
        }
    }

    /// Loads the server once, so that what is measured is not its first load.
    fn warm_up(
        &mut self,
        told: &Told,
        attempt: &Attempt,
        kept: &mut Kept,
        endpoint: &str,
    ) -> Result<Result<(), NoServer>> {
        let number = kept.warmups + 1;
        let objects = told.config.warmup(&attempt.run.id, attempt.number, number, &self.naming());
        let mut objects = objects.map_err(|fault| anyhow!("{fault}"))?;
        objects.load(endpoint);
        self.know_secrets(&objects.workload);
        let output: PathBuf = attempt.folder(&self.experiments).join(format!("warmup-{number}"));
        let queue = Duration::from_secs(attempt.queue_timeout_seconds);
        let ends = |status, code: &str, message| Ok(Err(NoServer::NoJob(NoJob::new(status, code, message))));
        match self.beside(&format!("warmup-{number}"), &objects.workload, &output, queue)? {
            Beside::Succeeded => {
                kept.warmups = number;
                Ok(Ok(()))
            }
            Beside::Failed(why) => ends(Status::Failed, "warmupFailed", why),
            Beside::Stopped if self.is_to_be_succeeded() => Ok(Err(NoServer::Left)),
            Beside::Stopped => Ok(Err(NoServer::NoJob(NoJob::Stopped))),
        }
    }

    /// Returns why what was measured is not of the server that was brought up, after a run; looks for so long.
    pub(super) fn changed(&mut self, loaded: &Loaded, patience: Duration) -> Option<StatusReason> {
        let since = Instant::now();
        loop {
            let reason = self.change_of(loaded);
            if reason.is_some() || since.elapsed() >= patience || self.is_to_end() {
                return reason;
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn change_of(&self, loaded: &Loaded) -> Option<StatusReason> {
        let kept = self.kept(&loaded.up.folder)?;
        let reason = |message: String| Some(StatusReason { code: "serverRestarted".to_owned(), message });
        let object = match self.server_of(&kept) {
            Ok(Some(object)) if !is_leaving(&object) => object,
            Ok(_) => return reason("the server was deleted while it was loaded, by somebody else".to_owned()),
            Err(_) => return None,
        };
        let pods = self.pods_of(&object)?;
        if pods == loaded.up.pods {
            return None;
        }
        let restarted =
            pods.iter().filter(|(uid, count)| loaded.up.pods.get(*uid).is_some_and(|before| before < count));
        let replaced = loaded.up.pods.keys().filter(|uid| !pods.contains_key(*uid)).count();
        reason(format!(
            "the server was not the same all the time: {} of its pods were restarted and {replaced} replaced while it was \
             loaded, so what was measured counts the failure too",
            restarted.count()
        ))
    }

    /// Keeps how far the logs of the server were read, for the next run.
    pub(super) fn leave_server(&mut self, loaded: &Loaded, marks: BTreeMap<String, String>) -> Result<()> {
        let Some(kept) = self.kept(&loaded.up.folder) else { return Ok(()) };
        self.keep_server(&loaded.up.folder, &Kept { marks, ..kept })
    }

    /// Takes the server of the run down, unless the next one that is still to be made loads it too.
    pub(super) fn take_down_after(&mut self, told: &Told, attempt: &Attempt) -> Result<()> {
        let server = |run: &Run| told.config.list.cases.get(&run.case)?.server.clone();
        let Some(id) = server(&attempt.run) else { return Ok(()) };
        let to_make = self.unsucceeded(told)?;
        let later = told.config.list.runs.iter().skip_while(|run| run.id != attempt.run.id).skip(1);
        let next = later.into_iter().find(|run| to_make.contains(run));
        // A Workflow that is stopped makes no next run, and one that is terminated cleans nothing up.
        let is_over = self.is_to_end() && !self.is_to_be_succeeded();
        if is_over || next.and_then(server).as_ref() != Some(&id) {
            self.take_down_by_id(told, &id);
        }
        Ok(())
    }

    /// Takes down what other runs of this Workflow have left up.
    fn take_down_others(&mut self, told: &Told, id: &str) {
        for other in told.config.list.servers.keys().filter(|other| *other != id) {
            self.take_down_by_id(told, other);
        }
    }

    /// Takes all servers of this Workflow down.
    pub(super) fn take_down_all(&mut self, told: &Told) {
        self.take_down_others(told, "");
    }

    /// Takes down what the volume knows of this Workflow's servers, where nobody says any more what they are.
    pub(super) fn take_down_kept(&mut self) -> Result<()> {
        let benchmark = self.benchmark.clone();
        for folder in experiment::run_folders(&self.experiments, |name| is_run(&benchmark, name))? {
            let Some(Kept { created: Some(created), .. }) = self.kept(&folder) else { continue };
            self.remove(&created)?;
            self.tell(&format!("deleted {} `{}`", created.kind, created.name));
        }
        Ok(())
    }

    fn take_down_by_id(&mut self, told: &Told, id: &str) {
        let name = told.config.server_name(id, self.workflow.session());
        if self.kept(&name).is_none() {
            return;
        }
        let Ok(objects) = told.config.server(id, &self.naming()) else { return };
        let Some(server) = told.config.list.servers.get(id) else { return };
        if let Err(error) = self.take_down(&Wanted { name: name.clone(), server, objects }) {
            self.tell(&format!("note: the server `{name}` cannot be deleted now, so cleanup does it: {error:#}"));
        }
    }

    /// Deletes the objects of a server, and forgets it.
    fn take_down(&mut self, wanted: &Wanted<'_>) -> Result<()> {
        for object in [&wanted.objects.workload].into_iter().chain(&wanted.objects.before) {
            let name = text_at(object, "/metadata/name");
            let Some(resource) = Created::of(object).resource() else { continue };
            match self.cluster.get(&resource, &self.namespace, name) {
                Ok(Some(there)) if self.owns(&there, &wanted.name) => {
                    let created = Created::of(&there);
                    self.remove(&created)?;
                    self.tell(&format!("deleted {} `{name}`", created.kind));
                }
                Ok(_) => {}
                // The cluster has no such kind, and so no such object.
                Err(Fault::Refused(refusal)) if refusal.code == 404 => {}
                Err(fault) => return Err(fault.into()),
            }
        }
        match self.kept(&wanted.name) {
            Some(kept) => self.keep_server(&wanted.name, &Kept { workflow: String::new(), ..kept }),
            None => Ok(()),
        }
    }
}

fn restarts(pod: &Json) -> i64 {
    let statuses = pod.pointer("/status/containerStatuses").and_then(Json::as_array).into_iter().flatten();
    statuses.filter_map(|status| status.get("restartCount")?.as_i64()).sum()
}

/// Says for how long a server was held that is up still.
pub(super) fn hold(usage: &mut Usage, seconds: f64) {
    let held = usage.accelerators.values().sum();
    usage.gpu_hours = Some(to_six_digits(hours_of(held, seconds)));
    let hours = |(name, amount): (&String, &f64)| (name.clone(), to_six_digits(amount * seconds / 3600.0));
    usage.resource_hours = usage.resources.iter().map(hours).collect();
}

fn hours_of(accelerators: u64, seconds: f64) -> f64 {
    accelerators as f64 * seconds / 3600.0
}

fn to_six_digits(hours: f64) -> f64 {
    (hours * 1e6).round() / 1e6
}

fn to_the_millisecond(time: Duration) -> f64 {
    (time.as_secs_f64() * 1000.0).round() / 1000.0
}
