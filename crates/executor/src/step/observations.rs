//! What was seen of one job: itself, its pods and their events, each in its newest version.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::server::Loaded;
use crate::observe::neighbor::{Neighborhood, Neighbors};
use crate::observe::{self, Event, Observed, Places, Pod, Progress};
use kubebench_cluster::Seen;
use kubebench_contract::text_at;
use kubebench_format::result::v1::Neighbor;

/// More events of a job and its pods are not kept; the API server repeats itself.
const MAX_EVENTS: usize = 5000;

/// Which watch saw something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// That of the job.
    Job,
    /// That of its pods.
    Pods,
    /// That of events.
    Events,
    /// That of what its queue says.
    Queue,
    /// That of all pods of the namespace.
    Namespace,
}

/// All that was seen.
#[derive(Debug)]
pub(super) struct Sight {
    name: String,
    job: Json,
    pods: BTreeMap<String, Pod>,
    events: BTreeMap<String, Event>,
    gone: BTreeSet<String>,
    /// What its queue says of it.
    workload: Option<Json>,
    /// Which replicas its pods were taken for so far.
    places: Places,
    /// Whether all pods were seen that there are.
    is_listed: bool,
    /// What cannot be seen at the moment, by watch.
    trouble: BTreeMap<&'static str, String>,
    /// Who else is on its nodes, where that matters.
    around: Option<Around>,
}

/// What is seen of the pods of others.
#[derive(Debug)]
struct Around {
    neighborhood: Neighborhood,
    /// The pods of the server that the run loads, when it was ready.
    server: BTreeSet<String>,
    /// What the label of a run says on the run's own pods, and on those of its server.
    runs: Vec<String>,
}

impl Sight {
    /// Starts with the job as it was created or found.
    pub(super) fn of(job: Json) -> Self {
        let name = text_at(&job, "/metadata/name").to_owned();
        Self {
            name,
            job,
            pods: BTreeMap::new(),
            events: BTreeMap::new(),
            gone: BTreeSet::new(),
            workload: None,
            places: Places::new(),
            is_listed: false,
            trouble: BTreeMap::new(),
            around: None,
        }
    }

    /// Records what a watch saw; returns what people should know of the watch itself.
    pub(super) fn take(&mut self, from: From, seen: Seen) -> Option<String> {
        match (from, seen) {
            (From::Job, Seen::Applied(object)) => {
                // Another object of the name is another run's, or not Kubebench's.
                if text_at(&object, "/metadata/uid") == self.uid() {
                    self.job = object;
                } else if text_at(&object, "/metadata/name") == self.name {
                    self.gone.insert(self.uid().to_owned());
                }
            }
            (From::Pods, Seen::Applied(object)) => self.see_pod(&object),
            (From::Events, Seen::Applied(object)) => self.see_event(&object),
            (From::Queue, Seen::Applied(object)) => self.workload = Some(object),
            (From::Namespace, Seen::Applied(object)) => {
                if let (Some(around), Some(pod)) = (&mut self.around, typed::<Pod>(&object)) {
                    around.neighborhood.see(&pod);
                }
            }
            (From::Namespace, Seen::Gone { uid }) => {
                if let Some(around) = &mut self.around {
                    around.neighborhood.lose(&uid);
                }
            }
            (From::Pods, Seen::Listed) => self.is_listed = true,
            (From::Events | From::Queue, Seen::Gone { .. }) | (_, Seen::Listed) => {}
            (_, Seen::Gone { uid }) => {
                self.gone.insert(uid);
            }
            (from, Seen::Trouble(what)) => {
                let is_new = self.trouble.insert(from.name(), what.clone()).as_ref() != Some(&what);
                return is_new.then(|| format!("{} cannot be watched at the moment: {what}", from.name()));
            }
            (from, Seen::Fine) => {
                return self.trouble.remove(from.name()).map(|_| format!("watching {} again", from.name()));
            }
        }
        None
    }

    /// Records all pods that there are now.
    pub(super) fn relist(&mut self, pods: &[Json]) {
        let there: BTreeSet<&str> = pods.iter().map(|pod| text_at(pod, "/metadata/uid")).collect();
        self.is_listed = true;
        self.gone.extend(self.pods.keys().filter(|uid| !there.contains(uid.as_str())).cloned());
        for pod in pods {
            self.see_pod(pod);
        }
    }

    fn see_pod(&mut self, object: &Json) {
        let Some(mut pod) = typed::<Pod>(object) else { return };
        if let Some(uid) = pod.metadata.uid.clone() {
            if let Some(earlier) = self.pods.get(&uid) {
                observe::keep_first_deletion(&mut pod, earlier);
            }
            self.pods.insert(uid, pod);
        }
    }

    fn see_event(&mut self, object: &Json) {
        let about = text_at(object, "/involvedObject/name");
        let is_ours = about.strip_prefix(&self.name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        if !is_ours || self.events.len() >= MAX_EVENTS {
            return;
        }
        if let Some(event) = typed::<Event>(object)
            && let Some(uid) = event.metadata.uid.clone()
        {
            self.events.insert(uid, event);
        }
    }

    /// Returns the job's uid.
    pub(super) fn uid(&self) -> &str {
        text_at(&self.job, "/metadata/uid")
    }

    /// Returns the job.
    pub(super) fn job(&self) -> &Json {
        &self.job
    }

    /// Returns the pod with this uid.
    pub(super) fn pod(&self, uid: &str) -> Option<&Pod> {
        self.pods.get(uid)
    }

    /// Returns whether all pods were seen that there are.
    pub(super) fn is_listed(&self) -> bool {
        self.is_listed
    }

    /// Returns whether the end of the job could not be seen now. Events explain, and decide nothing.
    pub(super) fn is_blind(&self) -> bool {
        [From::Job, From::Pods].iter().any(|from| self.trouble.contains_key(from.name()))
    }

    /// Records pods of others from now on: those of `met` shared a node with the run before, and `server` is what it loads.
    pub(super) fn look_around(&mut self, met: Neighbors, server: Option<&Loaded>) {
        let own = text_at(&self.job, "/metadata/labels/kubebench.dev~1run").to_owned();
        let up = server.map(|loaded| &loaded.up);
        let nodes = up.iter().flat_map(|up| &up.nodes).filter_map(|node| node.name.clone()).collect();
        self.around = Some(Around {
            neighborhood: Neighborhood::beginning_with(met, nodes),
            server: up.iter().flat_map(|up| up.pods.keys()).cloned().collect(),
            runs: [own].into_iter().chain(up.map(|up| up.label().to_owned())).filter(|run| !run.is_empty()).collect(),
        });
    }

    /// Returns whether pods of others are to be seen.
    pub(super) fn looks_around(&self) -> bool {
        self.around.is_some()
    }

    /// Finds out which pods of others have shared a node with the run by now.
    pub(super) fn meet(&mut self, progress: &Progress) {
        let (pods, name) = (&self.pods, self.name.as_str());
        let Some(Around { neighborhood, server, runs }) = &mut self.around else { return };
        // The watch of its own pods may be behind that of all pods.
        let is_named_like_it =
            |pod: &str| pod.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'));
        let is_own = |uid: &str, of: &Neighbor| {
            let is_of_run = of.run.as_ref().is_some_and(|run| runs.contains(run));
            is_of_run || is_named_like_it(&of.pod) || pods.contains_key(uid) || server.contains(uid)
        };
        neighborhood.meet(progress, is_own);
    }

    /// Returns the pods of others that have shared a node with the run.
    pub(super) fn neighbors(&self) -> Option<&Neighbors> {
        self.around.as_ref().map(|around| around.neighborhood.met())
    }

    /// Records which replicas the pods were for an earlier step.
    pub(super) fn remember(&mut self, places: Places) {
        self.places.extend(places);
    }

    /// Sums up. A pod keeps its role and index, though others of unknown age disappear.
    pub(super) fn sum(&mut self) -> Progress {
        let pods: Vec<Pod> = self.pods.values().cloned().collect();
        let events: Vec<Event> = self.events.values().cloned().collect();
        let (job, gone, places) = (&self.job, &self.gone, &self.places);
        let workload = self.workload.as_ref();
        let progress = observe::sum(&Observed { job, pods: &pods, events: &events, workload, gone, places });
        for replica in progress.replaced.iter().chain(&progress.replicas) {
            self.places.insert(replica.pod.uid.clone(), (replica.role.clone(), replica.index));
        }
        progress
    }
}

impl From {
    fn name(self) -> &'static str {
        match self {
            Self::Job => "the job",
            Self::Pods => "pods",
            Self::Events => "events",
            Self::Queue => "the queue's workloads",
            Self::Namespace => "other pods",
        }
    }
}

fn typed<T: DeserializeOwned>(object: &Json) -> Option<T> {
    serde_json::from_value(object.clone()).ok()
}

#[cfg(test)]
mod tests;
