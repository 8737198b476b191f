//! Kueue in front of the jobs: a run waits until there is room, and what it waited is no time of its own.

use serde_json::{Value, json};

use super::super::failures::Failure;
use super::super::{Cluster, cluster_with, eventually};
use super::{Loop, Settings, outcome};
use crate::support::project::files_below;

/// Both want more than half of what the queue has.
const SECONDS: u32 = 8;
const QUEUE: &str = "team";

fn spec(name: &str, workload: &str) -> String {
    format!(
        r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {{name: {name}}}
spec:
  timeout: 60s
  queueTimeout: 4m
  workload:
    {workload}
  metrics:
    - {{name: rate, unit: x/s, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\S+) x/s'}}}}}}
    - {{name: took, unit: s, better: lower, required: true, from: {{duration: run}}}}
  checks: [{{metric: rate, finite: true}}, {{restarts: 0}}]
"
    )
}

const NEVER: Failure = Failure {
    benchmark: "never",
    limits: "timeout: 60s\n  queueTimeout: 20s",
    workload: "{job: {image: 'busybox:1', command: [sh, -c, 'true'], resources: {cpu: 900m, memory: 32Mi}}}",
    status: "failed",
    code: "queued",
    words: &["insufficient quota for cpu", "its queue had not admitted it"],
    last: &[],
};

/// A project whose target has the queue.
fn project(name: &str) -> String {
    Settings::of(name).text().replace("podSecurity:", &format!("queue: {{kueue: {QUEUE}}}\n      podSecurity:"))
}

/// What an administrator has set up, gone at the end.
struct Quota {
    cluster: &'static Cluster,
    name: String,
}

impl Quota {
    /// Room for the CPUs of one run; the names of what all namespaces share follow from the namespace.
    fn new(cycle: &Loop) -> Self {
        let (cluster, namespace) = (cycle.cluster(), cycle.namespace("test"));
        let named = |kind: &str, spec: Value| json!({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": namespace}, "spec": spec});
        let resources = json!([{"name": "cpu", "nominalQuota": "150m"}, {"name": "memory", "nominalQuota": "10Gi"}]);
        let group = json!({
            "coveredResources": ["cpu", "memory"],
            "flavors": [{"name": namespace, "resources": resources}],
        });
        let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
        let mut local = named("LocalQueue", json!({"clusterQueue": namespace}));
        local["metadata"] = json!({"name": QUEUE, "namespace": namespace});
        let queue = json!({"namespaceSelector": selector, "resourceGroups": [group]});
        let all = [named("ResourceFlavor", json!({})), named("ClusterQueue", queue), local];
        let list = json!({"apiVersion": "v1", "kind": "List", "items": all});
        cycle.project().folder.write("quota.json", list.to_string());
        cluster.say(["create", "-f", &cycle.project().place("quota.json")]);
        Self { cluster, name: namespace.to_owned() }
    }

    /// Lets jobs in or throws them out.
    fn set(&self, policy: &str) {
        let patch = json!({"spec": {"stopPolicy": policy}}).to_string();
        self.cluster.say(["patch", "clusterqueue", &self.name, "--type=merge", "-p", &patch]);
    }
}

impl Drop for Quota {
    fn drop(&mut self) {
        let kinds = ["clusterqueue", "resourceflavor"];
        for kind in kinds {
            let _ = self.cluster.kubectl(["delete", kind, &self.name, "--wait=false"]);
        }
    }
}

#[test]
fn what_a_run_waits_in_its_queue_is_no_time_of_its_own() {
    const NAME: &str = "what_a_run_waits_in_its_queue_is_no_time_of_its_own";
    if cluster_with(NAME, ("kueue", "clusterqueues.kueue.x-k8s.io")).is_none() {
        return;
    }
    let project = project("queued");
    let work =
        format!("command: [sh, -c, 'sleep {SECONDS}; echo \"rate 1 x/s\"'], resources: {{cpu: 100m, memory: 32Mi}}");
    let plain = spec("plain", &format!("job: {{image: 'busybox:1', {work}}}"));
    let torch = spec("torch", &format!("pytorchJob: {{image: 'busybox:1', master: {{{work}}}}}"));
    let (path, never) = NEVER.file();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/plain.yaml", &plain),
        ("specs/torch.yaml", &torch),
        (&path, &never),
    ];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    let _quota = Quota::new(&cycle);
    // The field is Kueue's, and what is applied again would take it back.
    for file in files_below(&cycle.project().folder.path().join("generated")) {
        assert!(!std::fs::read_to_string(&file).unwrap().contains("\"suspend\""), "{}", file.display());
    }
    cycle.apply();
    cycle.ends("test", "plain", "Succeeded");
    cycle.ends("test", "torch", "Succeeded");
    cycle.ends("test", "never", "Failed");
    let results = cycle.results();
    NEVER.judge(&results);
    let mut both = [results.of("plain"), results.of("torch")].map(|of| {
        assert_eq!(of.len(), 1);
        of[0]
    });
    for result in both {
        let (status, values) = outcome(result);
        assert_eq!((status, values[0]), ("succeeded", Some(1.0)), "{result:#}");
    }
    let waited = |result: &Value| result["run"]["timings"]["queueSeconds"].as_f64().unwrap();
    both.sort_by(|a, b| waited(a).total_cmp(&waited(b)));
    let (first, second) = (both[0], both[1]);
    let ran = |result: &Value| result["run"]["timings"]["runSeconds"].as_f64().unwrap();
    // To a second, as Kubernetes writes times.
    assert!(waited(second) >= f64::from(SECONDS) - 1.0, "{second:#}");
    for result in [first, second] {
        assert!((f64::from(SECONDS) - 1.0..f64::from(SECONDS) + 6.0).contains(&ran(result)), "{result:#}");
    }
}

#[test]
fn what_its_queue_takes_back_runs_again() {
    const NAME: &str = "what_its_queue_takes_back_runs_again";
    if cluster_with(NAME, ("kueue", "clusterqueues.kueue.x-k8s.io")).is_none() {
        return;
    }
    let work =
        "command: [sh, -c, 'trap \"exit 0\" TERM; for i in $(seq 100); do sleep 0.1; done; echo \"rate 1 x/s\"']";
    let resources = "resources: {cpu: 100m, memory: 32Mi}";
    let evicted = spec("evicted", &format!("job: {{image: 'busybox:1', {work}, {resources}}}"));
    let project = project("evicted");
    let Some(cycle) = Loop::new(NAME, &[("kubebench.yaml", &project), ("specs/evicted.yaml", &evicted)]) else {
        return;
    };
    let quota = Quota::new(&cycle);
    cycle.apply();
    let namespace = cycle.namespace("test");
    eventually("a pod that runs", || {
        let running =
            ["-n", namespace, "get", "pods", "-l", "kubebench.dev/run", "--field-selector=status.phase=Running"];
        (!cycle.cluster().say(running.into_iter().chain(["-o", "name"])).is_empty()).then_some(())
    });
    quota.set("HoldAndDrain");
    eventually("the next attempt", || {
        let jobs = cycle.cluster().json(["-n", namespace, "get", "jobs", "-l", "kubebench.dev/run", "-o", "json"]);
        let mut attempts =
            jobs["items"].as_array()?.iter().map(|job| &job["metadata"]["labels"]["kubebench.dev/attempt"]);
        attempts.any(|attempt| attempt == "2").then_some(())
    });
    quota.set("None");
    cycle.ends("test", "evicted", "Succeeded");
    let results = cycle.results();
    let of = results.of("evicted");
    assert_eq!(of.iter().map(|result| outcome(result).0).collect::<Vec<_>>(), ["preempted", "succeeded"], "{of:#?}");
    let reason = &of[0]["run"]["reasons"][0];
    assert_eq!(reason["code"], "preempted");
    assert!(
        reason["message"].as_str().unwrap().contains("reclaims its quota: The ClusterQueue is stopped"),
        "{reason:#}"
    );
    assert_eq!(outcome(of[1]).1[0], Some(1.0));
}
