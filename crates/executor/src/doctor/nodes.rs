//! Nodes that could take the pods: labels, taints, room, devices; and which images are on them already.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use kubebench_syntax::words::counted;

use super::limits::shown;
use super::needs::entries;
use super::{Fact, Facts, Needs, PodNeed, Report, elements, items, quoted, text_at};

const CHECK: &str = "nodes";
const IMAGES: &str = "images";
/// Taints that say no more than what a node says of itself: that it is not ready, or closed.
const STATES: [&str; 3] =
    ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable", "node.kubernetes.io/unschedulable"];

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let list = match facts.read("/api/v1/nodes") {
        Fact::There(list) => list,
        Fact::Absent => Json::Null,
        Fact::Forbidden(why) => {
            return report.unknown(CHECK, "nodes, which show where pods fit and which images they have", &why);
        }
    };
    let nodes: Vec<Node<'_>> = items(&list).map(Node::read).collect();
    let mut faults: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for pod in &needs.pods {
        if let Some((seen, advice)) = misfit(pod, &nodes) {
            faults.entry((seen, advice)).or_default().push(pod.name());
        }
    }
    if faults.is_empty() {
        report.ok(CHECK, format!("each pod fits on a node (nodes checked: {})", nodes.len()));
    }
    for ((seen, advice), pods) in faults {
        report.warning(CHECK, format!("{}: {seen}", quoted(pods.iter().map(String::as_str))), advice);
    }
    images(needs, &nodes, report);
}

struct Node<'a> {
    object: &'a Json,
    is_open: bool,
    allocatable: BTreeMap<String, f64>,
}

impl<'a> Node<'a> {
    fn read(object: &'a Json) -> Self {
        let is_ready = elements(object, "/status/conditions")
            .any(|condition| text_at(condition, "/type") == "Ready" && text_at(condition, "/status") == "True");
        let is_closed = object.pointer("/spec/unschedulable") == Some(&true.into());
        Self { object, is_open: is_ready && !is_closed, allocatable: entries(object, "/status/allocatable").collect() }
    }

    fn has_labels(&self, selector: Option<&Json>) -> bool {
        let labels = self.object.pointer("/metadata/labels");
        let wanted = selector.and_then(Json::as_object).into_iter().flatten();
        wanted.into_iter().all(|(name, value)| labels.and_then(|labels| labels.get(name)) == Some(value))
    }

    /// Returns a taint that keeps the pod away.
    fn taint(&self, pod: &PodNeed) -> Option<String> {
        let is_tolerated = |taint: &Json| {
            elements(&pod.spec, "/tolerations").any(|toleration| {
                let exists = text_at(toleration, "/operator") == "Exists";
                let key = text_at(toleration, "/key");
                let is_key = key == text_at(taint, "/key") || (key.is_empty() && exists);
                let effect = text_at(toleration, "/effect");
                let is_effect = effect.is_empty() || effect == text_at(taint, "/effect");
                is_key && is_effect && (exists || text_at(toleration, "/value") == text_at(taint, "/value"))
            })
        };
        let taints = elements(self.object, "/spec/taints").filter(|taint| {
            text_at(taint, "/effect") != "PreferNoSchedule" && !STATES.contains(&text_at(taint, "/key"))
        });
        taints.filter(|taint| !is_tolerated(taint)).map(|taint| text_at(taint, "/key").to_owned()).next()
    }
}

/// Returns why a pod fits nowhere as the nodes are now, and what to do.
fn misfit(pod: &PodNeed, nodes: &[Node<'_>]) -> Option<(String, &'static str)> {
    const GROWS: &str = "correct `nodeSelector` or `tolerations` of the target, unless an autoscaler adds such nodes";
    const ROOM: &str = "request less, or select other nodes, unless an autoscaler adds larger ones";
    if nodes.is_empty() {
        return Some(("the cluster has no nodes".to_owned(), GROWS));
    }
    let selector = pod.spec.get("nodeSelector");
    let labeled: Vec<&Node<'_>> = nodes.iter().filter(|node| node.has_labels(selector)).collect();
    if labeled.is_empty() {
        let labels = selector.and_then(Json::as_object).into_iter().flatten();
        let labels: Vec<String> =
            labels.map(|(name, value)| format!("{name}={}", value.as_str().unwrap_or_default())).collect();
        return Some((format!("no node has the labels {}", quoted(labels.iter().map(String::as_str))), GROWS));
    }
    let free: Vec<&&Node<'_>> = labeled.iter().filter(|node| node.taint(pod).is_none()).collect();
    if free.is_empty() {
        let taints: BTreeSet<String> = labeled.iter().filter_map(|node| node.taint(pod)).collect();
        let taints = quoted(taints.iter().map(String::as_str));
        return Some((format!("every node with its labels has a taint that it does not tolerate: {taints}"), GROWS));
    }
    let open: Vec<&&Node<'_>> = free.into_iter().filter(|node| node.is_open).collect();
    if open.is_empty() {
        return Some(("no node that it may run on is ready and schedulable".to_owned(), "kubectl get nodes"));
    }
    let requests = pod.requests();
    for (resource, amount) in &requests {
        let most = open.iter().filter_map(|node| node.allocatable.get(resource)).copied().fold(0.0, f64::max);
        if *amount > most {
            let has = if most == 0.0 { "none".to_owned() } else { format!("at most {}", shown(resource, most)) };
            return Some((
                format!("it requests {resource} {}, but its nodes have {has}", shown(resource, *amount)),
                ROOM,
            ));
        }
    }
    let room = |node: &&&Node<'_>| {
        let times = requests
            .iter()
            .filter(|(_, amount)| **amount > 0.0)
            .map(|(resource, amount)| (node.allocatable.get(resource).copied().unwrap_or(0.0) / amount).floor());
        times.fold(f64::from(u32::MAX), f64::min)
    };
    let total: f64 = open.iter().map(room).sum();
    (total < f64::from(pod.replicas)).then(|| {
        let seen = format!(
            "its {} do not fit: all its nodes together have room for {total}, even while nothing else runs",
            counted(pod.replicas, "replica")
        );
        (seen, ROOM)
    })
}

/// Whether a node could pull an image is not to be seen from outside.
fn images(needs: &Needs<'_>, nodes: &[Node<'_>], report: &mut Report) {
    let there: BTreeSet<&str> = nodes
        .iter()
        .flat_map(|node| elements(node.object, "/status/images"))
        .flat_map(|image| elements(image, "/names"))
        .filter_map(Json::as_str)
        .collect();
    let wanted: BTreeSet<&str> =
        needs.pods.iter().flat_map(PodNeed::containers).map(|container| text_at(container, "/image")).collect();
    let is_there = |image: &str| {
        // Nodes list whole names: `docker.io/library/busybox:1`.
        there.contains(image)
            || there.iter().any(|name| name.strip_suffix(image).is_some_and(|rest| rest.ends_with('/')))
    };
    let missing: Vec<&str> = wanted.iter().copied().filter(|image| !image.is_empty() && !is_there(image)).collect();
    if missing.is_empty() {
        return report.ok(IMAGES, "each image is already on a node");
    }
    let seen = format!("not in the image list of any node: {}", quoted(missing));
    report.note(
        IMAGES,
        seen,
        "only the first run shows whether they can be pulled; for a private registry, set \
                               `imagePullSecrets` in a `pod` patch",
    );
}
