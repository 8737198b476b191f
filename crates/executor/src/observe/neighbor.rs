//! Pods of others that were on a node of a run while the run was.
//!
//! Only moments that one kubelet wrote are compared. On the node of a server that a run loads, the load has written none: there a
//! pod is a neighbor that is seen to be there while the run runs.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ContainerStatus;
use k8s_openapi::jiff::Timestamp;

use super::pod::{NodeTime, node_time};
use super::{Pod, Progress, State};
use kubebench_contract::labels;
use kubebench_format::result::v1::Neighbor;

/// The pods that were met, by uid.
pub(crate) type Neighbors = BTreeMap<String, Neighbor>;

/// More are not remembered.
const MOST: usize = 1000;
/// More are not in a result, which says how many of those that are remembered it leaves out.
const LISTED: usize = 50;
/// Whose pods are on every node, always: those of a DaemonSet, and the static ones of the node itself.
const ALWAYS_THERE: [&str; 2] = ["DaemonSet", "Node"];

/// The pods of a namespace, and which of them a run met.
#[derive(Debug, Default)]
pub(crate) struct Neighborhood {
    stays: BTreeMap<String, Stay>,
    met: Neighbors,
    /// The nodes of the server that the run loads.
    servers: Vec<String>,
}

/// The time of a pod on its node.
#[derive(Debug)]
struct Stay {
    neighbor: Neighbor,
    node: String,
    from: NodeTime,
    /// When its last container ended, once all have.
    until: Option<NodeTime>,
    /// Whether it was on the node when it was last seen.
    is_there: bool,
    is_deleted: bool,
}

/// The time of a run on one node; of a server's node, no moments are known.
#[derive(Clone, Copy, Default)]
struct Window {
    from: Option<NodeTime>,
    until: Option<NodeTime>,
}

impl Neighborhood {
    /// Begins with the pods that were met before.
    pub(crate) fn beginning_with(met: Neighbors, servers: Vec<String>) -> Self {
        Self { stays: BTreeMap::new(), met, servers }
    }

    /// Records a pod of the namespace as it is now.
    pub(crate) fn see(&mut self, pod: &Pod) {
        let Some(uid) = pod.metadata.uid.as_ref().filter(|uid| !self.met.contains_key(*uid)) else { return };
        if let Some(stay) = Stay::read(pod) {
            self.stays.insert(uid.clone(), stay);
        }
    }

    /// Records that a pod is not there any more.
    pub(crate) fn lose(&mut self, uid: &str) {
        if let Some(stay) = self.stays.get_mut(uid) {
            (stay.is_there, stay.is_deleted) = (false, true);
        }
    }

    /// Finds out which pods the run has met by now; `is_own` knows its own ones and those of its server.
    pub(crate) fn meet(&mut self, progress: &Progress, is_own: impl Fn(&str, &Neighbor) -> bool) {
        let mut windows = windows(progress);
        if progress.state == State::Running {
            for node in &self.servers {
                windows.entry(node).or_default();
            }
        }
        let is_met = |uid: &String, stay: &mut Stay| {
            windows.get(stay.node.as_str()).is_some_and(|window| stay.meets(*window)) && !is_own(uid, &stay.neighbor)
        };
        let room = MOST.saturating_sub(self.met.len());
        let met: Vec<(String, Stay)> = self.stays.extract_if(.., is_met).take(room).collect();
        self.met.extend(met.into_iter().map(|(uid, stay)| (uid, stay.neighbor)));
        // A namespace of many short pods does not fill the memory.
        self.stays.retain(|_, stay| !stay.is_deleted);
    }

    /// Returns the pods that were met.
    pub(crate) fn met(&self) -> &Neighbors {
        &self.met
    }
}

impl Stay {
    /// Reads the stay of a pod that a kubelet has taken, unless its kind is always there, or it is a step of Kubebench.
    fn read(pod: &Pod) -> Option<Self> {
        let owners = pod.metadata.owner_references.as_deref().unwrap_or_default();
        let label = |name: &str| pod.metadata.labels.as_ref()?.get(name).filter(|value| !value.is_empty()).cloned();
        if owners.iter().any(|owner| ALWAYS_THERE.contains(&owner.kind.as_str())) || label(labels::STEP).is_some() {
            return None;
        }
        let (status, spec) = (pod.status.as_ref()?, pod.spec.as_ref()?);
        let from = status.start_time.as_ref().and_then(node_time)?;
        let is_over = matches!(status.phase.as_deref(), Some("Succeeded" | "Failed"));
        let statuses =
            [&status.init_container_statuses, &status.container_statuses, &status.ephemeral_container_statuses];
        let statuses = statuses.into_iter().flatten().flatten();
        let since = Timestamp::from_second(from.0.div_euclid(1000)).ok();
        Some(Self {
            neighbor: Neighbor {
                pod: pod.metadata.name.clone()?,
                benchmark: label(labels::BENCHMARK),
                run: label(labels::RUN),
                since: since.map(|since| since.to_string()),
            },
            node: spec.node_name.clone()?,
            from,
            until: statuses.filter_map(ended).max().filter(|_| is_over),
            is_there: !is_over,
            is_deleted: false,
        })
    }

    /// Returns whether it was on the node in that time.
    fn meets(&self, window: Window) -> bool {
        let came_later = window.until.is_some_and(|until| self.from >= until);
        let was_there = match self.until {
            // One that never ran, since its node refused it, has no end, and is not there.
            None => self.is_there,
            Some(until) => window.from.is_some_and(|from| until > from),
        };
        was_there && !came_later
    }
}

fn ended(status: &ContainerStatus) -> Option<NodeTime> {
    node_time(status.state.as_ref()?.terminated.as_ref()?.finished_at.as_ref()?)
}

/// Returns when the pods of a run were on their nodes.
fn windows(progress: &Progress) -> BTreeMap<&str, Window> {
    let mut windows: BTreeMap<&str, Window> = BTreeMap::new();
    for replica in progress.replaced.iter().chain(&progress.replicas) {
        let pod = &replica.pod;
        // It is unknown how long a replica was there that disappeared silently; its neighbors while it was seen are known
        // already.
        if replica.is_gone && pod.ended.is_none() {
            continue;
        }
        let (Some(node), Some(from)) = (&pod.node, pod.started) else { continue };
        let window = windows.entry(node).or_insert(Window { from: Some(from), until: pod.ended });
        window.from = window.from.min(Some(from));
        window.until = window.until.zip(pod.ended).map(|(one, other)| one.max(other));
    }
    windows
}

/// Returns what a result says of the pods that were met, those of benchmarks first, and how many it leaves out.
pub(crate) fn listed(met: &Neighbors) -> (Vec<Neighbor>, u64) {
    let mut all: Vec<Neighbor> = met.values().cloned().collect();
    all.sort_by(|one, other| {
        let key = |of: &Neighbor| (of.benchmark.is_none(), of.since.clone(), of.pod.clone());
        key(one).cmp(&key(other))
    });
    let left_out = all.len().saturating_sub(LISTED);
    all.truncate(LISTED);
    (all, left_out as u64)
}

#[cfg(test)]
mod tests;
