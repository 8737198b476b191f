//! A node that is lost.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Failure, eventually, project};
use crate::cluster::e2e::Loop;

const LOST: [Failure; 1] = [Failure {
    benchmark: "node-lost",
    limits: "timeout: 6m\n  queueTimeout: 4m",
    workload: "{job: {image: 'busybox:1', pod: {nodeSelector: {PREFIX: here}, tolerations: [{key: PREFIX, operator: Exists}, {key: node.kubernetes.io/unreachable, operator: Exists, effect: NoExecute, tolerationSeconds: 0}]}, command: [sh, -c, 'echo on another node'], resources: {cpu: 10m, memory: 32Mi}}}",
    status: "preempted",
    code: "nodeLost",
    words: &["was lost or drained by a taint"],
    last: &[],
}];

/// How often the node is heard of until it has a pod.
const BEAT: Duration = Duration::from_secs(5);

/// A node without a machine: it is there, and from some moment on it is not heard of again.
struct Silent<'l> {
    tree: &'l Loop,
    name: String,
    label: String,
}

fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

impl<'l> Silent<'l> {
    fn new(tree: &'l Loop, name: &str, label: &str) -> Self {
        let now = now();
        let resources = json!({"cpu": "4", "memory": "8Gi", "pods": "10", "ephemeral-storage": "10Gi"});
        tree.create(&json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {label: "here"}},
            "spec": {"taints": [{"key": label, "effect": "NoSchedule"}]},
            "status": {"capacity": resources, "allocatable": resources, "conditions": [{"type": "Ready", "status": "True",
                "reason": "KubeletReady", "lastHeartbeatTime": now, "lastTransitionTime": now}]}}));
        Self { tree, name: name.to_owned(), label: label.to_owned() }
    }

    /// Says that it is well, as a kubelet does every few seconds.
    fn beats(&self) {
        let now = now();
        let ready = json!({"status": {"conditions": [{"type": "Ready", "status": "True", "lastHeartbeatTime": now}]}});
        self.tree.cluster().say(["patch", "node", &self.name, "--subresource=status", "-p", &ready.to_string()]);
    }

    /// Says of a pod what the kubelet of this node would say: it runs.
    fn runs(&self, pod: &str) {
        let found = self.tree.json_there(&["get", "pod", pod]);
        let container = &found["spec"]["containers"][0];
        let now = now();
        let status = json!({"status": {"phase": "Running", "startTime": now, "containerStatuses": [{
            "name": container["name"], "image": container["image"], "imageID": "", "ready": true, "restartCount": 0,
            "containerID": "none://1", "state": {"running": {"startedAt": now}}}]}});
        self.tree.say_there(&["patch", "pod", pod, "--subresource=status", "--type=merge", "-p", &status.to_string()]);
    }

    /// Lets the other nodes take what was meant for this one.
    fn gives_way(&self) {
        self.tree.cluster().say(["label", "nodes", "--all", "--overwrite", &format!("{}=here", self.label)]);
        self.tree.cluster().say(["delete", "node", &self.name]);
    }
}

impl Drop for Silent<'_> {
    fn drop(&mut self) {
        let cluster = self.tree.cluster();
        cluster.kubectl(["delete", "node", &self.name, "--ignore-not-found"]);
        cluster.kubectl(["label", "nodes", "--all", &format!("{}-", self.label)]);
    }
}

#[test]
fn a_run_whose_node_is_lost_is_tried_again() {
    let label = format!("kubebench.dev/test-{}", std::process::id());
    let lost = LOST.map(|failure| Failure { workload: failure.workload.replace("PREFIX", &label).leak(), ..failure });
    let Some(tree) = project("a_run_whose_node_is_lost_is_tried_again", "nodes", &lost) else { return };
    let node = Silent::new(&tree, &format!("{}-silent", tree.namespace("cluster")), &label);
    tree.apply();
    let mut beat = Instant::now();
    let pod = eventually("a pod on the silent node", || {
        if beat.elapsed() > BEAT {
            beat = Instant::now();
            node.beats();
        }
        let pods = tree.of_run("pods", "node-lost");
        let pod = pods.into_iter().find(|pod| pod["spec"]["nodeName"] == node.name.as_str())?;
        Some(pod["metadata"]["name"].as_str().unwrap().to_owned())
    });
    node.runs(&pod);
    eventually("a result of the lost attempt", || {
        let jobs = tree.of_run("pods", "node-lost");
        jobs.iter().find(|pod| !pod["metadata"]["deletionTimestamp"].is_null()).map(drop)
    });
    node.gives_way();
    tree.ends("cluster", "node-lost", "Succeeded");
    tree.assert_nothing_left();
    let results = tree.results();
    lost[0].judge(&results);
    let attempts: Vec<Value> = results.of("node-lost").iter().map(|result| result["run"]["attempt"].clone()).collect();
    assert_eq!(attempts, [json!(1), json!(2)]);
}
