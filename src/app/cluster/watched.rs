//! What Kubebench has in the namespace of a target, kept current by watches.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::Result;
use serde_json::Value as Json;

use super::namespace::{WORKFLOWS as OWN_WORKFLOWS, add_lists, cron_workflows, job_kinds, serves, typed};
use super::{TargetCluster, clean};
use kubebench_cluster::{Resource, Seen, Watch, Watching};
use kubebench_contract::Config;
use kubebench_contract::labels;
use kubebench_executor::status::Namespace;

/// How often ages and last lines are renewed.
const RENEW: Duration = Duration::from_secs(3);
/// What changes at once is shown at once.
const GATHER: Duration = Duration::from_millis(300);

const WORKFLOWS: &str = "Workflows";

/// What a watch saw, by what it watches.
enum Change {
    Workflow(Seen),
    Schedule(Seen),
    Job(Seen),
    Pod(Seen),
    Event(Seen),
}

/// The namespace as the watches know it, by uid.
#[derive(Default)]
struct Known {
    workflows: BTreeMap<String, Json>,
    schedules: BTreeMap<String, Json>,
    jobs: BTreeMap<String, Json>,
    pods: BTreeMap<String, Json>,
    events: BTreeMap<String, Json>,
    lists: BTreeMap<String, Config>,
    /// What is not seen at the moment, and why.
    trouble: BTreeMap<&'static str, String>,
    /// Whether the Workflows were listed once.
    is_listed: bool,
}

/// A namespace that is watched, until it is dropped.
pub struct Watched<'a> {
    changes: Receiver<Change>,
    watchers: Watchers<'a>,
    known: Known,
}

impl<'a> Watched<'a> {
    /// Begins to watch.
    pub fn begin(target: &'a TargetCluster) -> Self {
        let (sender, changes) = channel();
        Self { changes, watchers: Watchers::begin(target, sender), known: Known::default() }
    }

    /// Waits for the next change and a moment for more, but no longer than ages may stay the same; returns what there is now,
    /// none before the Workflows were listed once.
    pub fn await_change(&mut self) -> Result<Option<Namespace>> {
        self.known.gather(&self.changes)?;
        if !self.known.is_listed {
            return Ok(None);
        }
        let seen = self.known.namespace(self.watchers.target);
        self.watchers.add_jobs(&self.known.lists);
        Ok(Some(seen))
    }

    /// Returns what is not seen at the moment, and why.
    pub fn trouble(&self) -> &BTreeMap<&'static str, String> {
        &self.known.trouble
    }
}

/// The watches, until it is dropped.
struct Watchers<'a> {
    target: &'a TargetCluster,
    sender: Sender<Change>,
    running: Vec<Watching>,
    /// The kinds of jobs that were looked at.
    kinds: Vec<Resource>,
    /// How many run lists were looked at.
    lists: Option<usize>,
}

impl<'a> Watchers<'a> {
    fn begin(target: &'a TargetCluster, sender: Sender<Change>) -> Self {
        let mut watchers = Self { target, sender, running: Vec::new(), kinds: Vec::new(), lists: None };
        watchers.start(Resource::workflows(), OWN_WORKFLOWS, Change::Workflow);
        watchers.start(cron_workflows(), labels::BENCHMARK, Change::Schedule);
        watchers.start(Resource::pods(), labels::RUN, Change::Pod);
        watchers.start(Resource::events(), "", Change::Event);
        watchers
    }

    fn start(&mut self, resource: Resource, labels: &str, wrap: fn(Seen) -> Change) {
        let watch = Watch::all(&self.target.target.namespace, resource).labels(labels);
        self.running.push(self.target.cluster.watch(watch, self.sender.clone(), wrap));
    }

    /// Watches the kinds of jobs too that another commit brought.
    fn add_jobs(&mut self, lists: &BTreeMap<String, Config>) {
        if self.lists.replace(lists.len()) == Some(lists.len()) {
            return;
        }
        for kind in job_kinds(self.target, lists) {
            if !self.kinds.contains(&kind) {
                self.kinds.push(kind.clone());
                if serves(&self.target.cluster, &kind) {
                    self.start(kind, labels::RUN, Change::Job);
                }
            }
        }
    }
}

impl Known {
    /// Gathers what changed: waits for the first, and a moment for more.
    fn gather(&mut self, changes: &Receiver<Change>) -> Result<()> {
        let end = Instant::now() + RENEW;
        let mut until = end;
        loop {
            match changes.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(change) => {
                    // Events come in crowds, and alone they change little.
                    if !matches!(change, Change::Event(_)) {
                        until = until.min(Instant::now() + GATHER);
                    }
                    self.take(change);
                }
                Err(RecvTimeoutError::Timeout) => return Ok(()),
                Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the watches ended"),
            }
        }
    }

    fn take(&mut self, change: Change) {
        let (what, objects, seen) = match change {
            Change::Workflow(seen) => (WORKFLOWS, &mut self.workflows, seen),
            Change::Schedule(seen) => ("CronWorkflows", &mut self.schedules, seen),
            Change::Job(seen) => ("jobs", &mut self.jobs, seen),
            Change::Pod(seen) => ("pods", &mut self.pods, seen),
            Change::Event(seen) => ("events", &mut self.events, seen),
        };
        match seen {
            Seen::Applied(object) => {
                let uid = object.pointer("/metadata/uid").and_then(Json::as_str).unwrap_or_default().to_owned();
                objects.insert(uid, object);
            }
            Seen::Gone { uid } => drop(objects.remove(&uid)),
            Seen::Listed => {
                self.is_listed |= what == WORKFLOWS;
                self.trouble.remove(what);
            }
            Seen::Trouble(why) => drop(self.trouble.insert(what, clean(&why))),
            Seen::Fine => drop(self.trouble.remove(what)),
        }
    }

    fn namespace(&mut self, target: &TargetCluster) -> Namespace {
        let all = |objects: &BTreeMap<String, Json>| objects.values().cloned().collect::<Vec<_>>();
        let mut seen = Namespace {
            workflows: all(&self.workflows),
            schedules: all(&self.schedules),
            jobs: all(&self.jobs),
            pods: typed(all(&self.pods)),
            events: typed(all(&self.events)),
            ..Namespace::default()
        };
        // A user who may not see one thing may see the others; in an outage none can be seen.
        if self.trouble.contains_key(WORKFLOWS) {
            seen.lists = self.lists.iter().map(|(name, config)| (name.clone(), config.list.clone())).collect();
        } else {
            add_lists(&target.cluster, &target.target.namespace, &mut seen, &mut self.lists);
        }
        seen
    }
}
