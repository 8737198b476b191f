//! What was seen of one job: itself, its pods and their events, each in its newest version.

use std::collections::{BTreeMap, BTreeSet};

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::follow::{self, Event, Observed, Places, Pod, Progress};
use kubebench_cluster::Seen;
use kubebench_contract::text_at;

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
        }
    }

    /// Takes in what a watch saw; returns what people should know of the watch itself.
    pub(super) fn take(&mut self, from: From, seen: Seen) -> Option<String> {
        match (from, seen) {
            (From::Job, Seen::Applied(object)) => {
                // Another object of the name is another run's, or somebody's.
                if text_at(&object, "/metadata/uid") == self.uid() {
                    self.job = object;
                } else if text_at(&object, "/metadata/name") == self.name {
                    self.gone.insert(self.uid().to_owned());
                }
            }
            (From::Pods, Seen::Applied(object)) => self.see_pod(&object),
            (From::Events, Seen::Applied(object)) => self.see_event(&object),
            (From::Queue, Seen::Applied(object)) => self.workload = Some(object),
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
                return self.trouble.remove(from.name()).map(|_| format!("{} are watched again", from.name()));
            }
        }
        None
    }

    /// Takes in all pods that there are now.
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
                follow::keep_first_deletion(&mut pod, earlier);
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

    /// Takes in which replicas the pods were taken for by a step before this one.
    pub(super) fn remember(&mut self, places: Places) {
        self.places.extend(places);
    }

    /// Sums up. What a pod was taken for it stays, though others go of which nobody knows how old they were.
    pub(super) fn sum(&mut self) -> Progress {
        let pods: Vec<Pod> = self.pods.values().cloned().collect();
        let events: Vec<Event> = self.events.values().cloned().collect();
        let (job, gone, places) = (&self.job, &self.gone, &self.places);
        let workload = self.workload.as_ref();
        let progress = follow::sum(&Observed { job, pods: &pods, events: &events, workload, gone, places });
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
        }
    }
}

fn typed<T: DeserializeOwned>(object: &Json) -> Option<T> {
    serde_json::from_value(object.clone()).ok()
}

#[cfg(test)]
mod tests;
