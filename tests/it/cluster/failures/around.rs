//! What people and the cluster do to a run.

use serde_json::{Value, json};

use super::{Failure, eventually, project};
use crate::cluster::e2e::Loop;

const TIMES: &str = "timeout: 6m\n  queueTimeout: 4m";
/// For a job that waits until the test clears its way: the job controller then backs off for as long as it was refused.
const PATIENT: &str = "timeout: 16m\n  queueTimeout: 14m";
/// Obeys and ends well, as good programs do: it must not hide that it was asked to.
const OBEYS: &str = "{job: {image: 'busybox:1', command: [sh, -c, 'trap \"exit 0\" TERM; echo at work; while :; do sleep 1; done'], resources: {cpu: 10m, memory: 32Mi}}}";
const A_WHILE: &str = "{job: {image: 'busybox:1', command: [sh, -c, 'trap \"exit 0\" TERM; echo at work; for i in $(seq 30); do sleep 1; done'], resources: {cpu: 10m, memory: 32Mi}}}";
const STUBBORN: &str = "{job: {image: 'busybox:1', pod: {terminationGracePeriodSeconds: 3}, command: [sh, -c, 'echo at work; while :; do sleep 1; done'], resources: {cpu: 10m, memory: 32Mi}}}";

const fn befallen(
    benchmark: &'static str,
    workload: &'static str,
    code: &'static str,
    words: &'static [&'static str],
) -> Failure {
    Failure { benchmark, limits: TIMES, workload, status: "interrupted", code, words, last: &["at work"] }
}

const FAILURES: [Failure; 11] = [
    befallen(
        "job-deleted",
        STUBBORN,
        "deleted",
        &["the job was deleted while it ran, by something other than Kubebench"],
    ),
    befallen("pod-deleted", OBEYS, "deleted", &["job-0: the pod was deleted while the run needed it"]),
    befallen("pod-forced", STUBBORN, "deleted", &["job-0: the pod was deleted while the run needed it"]),
    Failure {
        status: "preempted",
        ..befallen(
            "pod-evicted",
            A_WHILE,
            "preempted",
            &["job-0: evicted through the Eviction API, as by a drain of node"],
        )
    },
    befallen("stopped", OBEYS, "interrupted", &["its Workflow was stopped before the run had ended"]),
    Failure {
        benchmark: "taken",
        limits: TIMES,
        workload: OBEYS,
        status: "failed",
        code: "foreignObject",
        words: &["a Job `taken-", "already exists", "find out who created it, and delete it"],
        last: &[],
    },
    Failure {
        benchmark: "job-denied",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', patch: {metadata: {labels: {deny: job}}}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "rejected",
        words: &["the API server refused to create Job", "the cost center is missing"],
        last: &[],
    },
    Failure {
        benchmark: "pod-denied",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', labels: {deny: pod}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "rejected",
        words: &["the cluster refuses the job's pods", "the cost center is missing"],
        last: &[],
    },
    Failure {
        benchmark: "no-quota",
        limits: "timeout: 3m\n  queueTimeout: 30s",
        workload: "{job: {image: 'busybox:1', pod: {priorityClassName: PREFIX-never}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "quota",
        words: &["the namespace's quota is used up", "gave up after 30 s (`queueTimeout`): its pod was not created"],
        last: &[],
    },
    Failure {
        benchmark: "quota-later",
        limits: PATIENT,
        workload: "{job: {image: 'busybox:1', pod: {priorityClassName: PREFIX-later}, command: [sh, -c, 'echo at last'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "succeeded",
        code: "",
        words: &[],
        last: &[],
    },
    Failure {
        benchmark: "webhook-away",
        limits: PATIENT,
        workload: "{job: {image: 'busybox:1', patch: {metadata: {labels: {ask: away}}}, command: [sh, -c, 'echo at last'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "succeeded",
        code: "",
        words: &[],
        last: &[],
    },
];

/// Objects of the whole cluster, which go with the test.
struct ClusterWide<'l>(&'l Loop, Vec<String>);

impl<'l> ClusterWide<'l> {
    fn create(tree: &'l Loop, objects: &[Value]) -> Self {
        let text = |object: &Value, at: &str| object.pointer(at).unwrap().as_str().unwrap().to_lowercase();
        let names =
            objects.iter().map(|object| format!("{}/{}", text(object, "/kind"), text(object, "/metadata/name")));
        let wide = Self(tree, names.collect());
        tree.create(&json!({"apiVersion": "v1", "kind": "List", "items": objects}));
        wide
    }
}

impl Drop for ClusterWide<'_> {
    fn drop(&mut self) {
        let arguments = ["delete", "--ignore-not-found", "--wait=false"].into_iter().map(str::to_owned);
        let _ = self.0.cluster().kubectl(arguments.chain(self.1.iter().cloned()));
    }
}

impl Loop {
    /// The name of the job of a benchmark with one run.
    fn job_of(&self, benchmark: &str) -> String {
        let mut configs = self.project().objects().into_iter().filter(|emitted| {
            emitted.object["kind"] == "ConfigMap"
                && emitted.object["metadata"]["labels"]["kubebench.dev/benchmark"] == benchmark
        });
        let runs = configs.find_map(|emitted| emitted.object["data"]["runs.json"].as_str().map(str::to_owned));
        let runs: Value = serde_json::from_str(&runs.unwrap()).unwrap();
        runs["runs"][0]["job"].as_str().unwrap().to_owned()
    }
}

/// Denies Jobs and pods with a label in one namespace.
fn policy(namespace: &str) -> [Value; 2] {
    let only = json!({"matchLabels": {"kubernetes.io/metadata.name": namespace}});
    let version = "admissionregistration.k8s.io/v1";
    let rule = |group: &str, resource: &str| json!({"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [resource]});
    let denied = "!has(object.metadata.labels) || !('deny' in object.metadata.labels) || \
        object.metadata.labels['deny'] != (request.kind.kind == 'Job' ? 'job' : 'pod')";
    [
        json!({"apiVersion": version, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": namespace}, "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": {"namespaceSelector": only, "resourceRules": [rule("", "pods"), rule("batch", "jobs")]},
            "validations": [{"expression": denied, "message": "the cost center is missing"}]}}),
        json!({"apiVersion": version, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": namespace}, "spec": {
            "policyName": namespace, "validationActions": ["Deny"], "matchResources": {"namespaceSelector": only}}}),
    ]
}

/// A webhook that must be asked about Jobs with a label, and that nobody serves.
fn webhook(namespace: &str) -> Value {
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": namespace}, "webhooks": [{"name": "away.kubebench.dev", "admissionReviewVersions": ["v1"],
            "sideEffects": "None", "failurePolicy": "Fail", "timeoutSeconds": 2, "clientConfig": {"url": "https://127.0.0.1:1/"},
            "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": namespace}},
            "objectSelector": {"matchLabels": {"ask": "away"}},
            "rules": [{"apiGroups": ["batch"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["jobs"]}]}]})
}

/// A quota without a single pod of the class `name`.
fn nothing_for(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name, "namespace": namespace}, "spec": {
        "hard": {"pods": "0"},
        "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": [name]}]}}})
}

/// Runs the `cleanup` step of a Workflow again, as Argo may.
fn clean_up_again(tree: &Loop, workflow: &str) {
    let pods = tree.json_there(&[
        "get",
        "pods",
        "-l",
        &format!("workflows.argoproj.io/workflow={workflow},kubebench.dev/step=cleanup"),
    ]);
    let mut pod = pods["items"][0].clone();
    let container =
        pod["spec"]["containers"].as_array().unwrap().iter().find(|container| container["name"] == "main").unwrap();
    let mut container = container.clone();
    // Without Argo's own program, which precedes the command.
    let command = container["command"].as_array().unwrap();
    let after = command.iter().position(|word| word == "--").map_or(0, |at| at + 1);
    container["command"] = Value::from(command[after..].to_vec());
    for key in [
        "ownerReferences",
        "resourceVersion",
        "uid",
        "annotations",
        "creationTimestamp",
        "finalizers",
        "labels",
        "generation",
    ] {
        pod["metadata"].as_object_mut().unwrap().remove(key);
    }
    pod["metadata"]["name"] = json!("cleanup-again");
    pod["spec"]["containers"] = json!([container]);
    pod["spec"].as_object_mut().unwrap().remove("initContainers");
    pod.as_object_mut().unwrap().remove("status");
    tree.create(&pod);
    tree.say_there(&["wait", "--for=jsonpath={.status.phase}=Succeeded", "pod/cleanup-again", "--timeout=120s"]);
    assert_eq!(tree.say_there(&["logs", "cleanup-again", "-c", "main"]), "");
}

#[test]
fn what_happens_to_a_run_is_reported() {
    let prefix = format!("kubebench-befalls-{}", std::process::id());
    let failures: Vec<Failure> = FAILURES
        .into_iter()
        .map(|failure| Failure { workload: failure.workload.replace("PREFIX", &prefix).leak(), ..failure })
        .collect();
    let Some(tree) = project("what_happens_to_a_run_is_reported", "around", &failures) else { return };
    let namespace = tree.namespace("cluster").to_owned();
    let mut wide = policy(&namespace).to_vec();
    let (never, later) = (format!("{prefix}-never"), format!("{prefix}-later"));
    wide.extend([&never, &later].map(|name| json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}, "value": 0})));
    wide.push(webhook(&namespace));
    let wide = ClusterWide::create(&tree, &wide);
    tree.create(&nothing_for(&namespace, &never));
    tree.create(&nothing_for(&namespace, &later));
    // Somebody has a Job of this name.
    let name = tree.job_of("taken");
    let container = json!({"name": "x", "image": "busybox:1", "imagePullPolicy": "IfNotPresent", "command": ["true"]});
    tree.create(
        &json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace}, "spec": {
        "suspend": true, "template": {"spec": {"restartPolicy": "Never", "containers": [container]}}}}),
    );
    tree.apply();

    let job = |benchmark: &str| tree.of_run("jobs", benchmark)[0]["metadata"]["name"].as_str().unwrap().to_owned();
    // The first, since it ends by itself.
    let evicted = tree.running_pod("pod-evicted");
    let metadata = json!({"name": evicted, "namespace": namespace});
    tree.project().folder.write(
        "eviction.json",
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}).to_string(),
    );
    let at = format!("/api/v1/namespaces/{namespace}/pods/{evicted}/eviction");
    tree.cluster().say(["create", "--raw", &at, "-f", &tree.project().place("eviction.json")]);
    eventually("a job that waits for quota", || tree.of_run("jobs", "quota-later").pop());
    tree.say_there(&["delete", "resourcequota", &later]);
    tree.running_pod("job-deleted");
    tree.say_there(&["delete", "job", &job("job-deleted"), "--wait=false"]);
    tree.say_there(&["delete", "pod", &tree.running_pod("pod-deleted"), "--wait=false"]);
    tree.say_there(&["delete", "pod", &tree.running_pod("pod-forced"), "--force", "--grace-period=0"]);
    tree.running_pod("stopped");
    let stopped = tree.workflows("cluster")["stopped"].clone();
    tree.say_there(&["patch", "workflow", &stopped, "--type=merge", "-p", r#"{"spec":{"shutdown":"Stop"}}"#]);
    let waits = ["logs", "-l", "kubebench.dev/step=run", "-c", "main", "--tail=-1", "--max-log-requests=50"];
    eventually("a step that waits for the webhook", || {
        // Of a pod that has not started yet there is no log, and kubectl then fails as a whole.
        let said = tree.cluster().kubectl(["-n", &namespace].iter().chain(&waits));
        String::from_utf8_lossy(&said.stdout).contains("waiting for an answer: ").then_some(())
    });
    tree.cluster().say(["delete", "validatingwebhookconfiguration", &namespace]);

    for failure in &failures {
        let phase = if matches!(failure.status, "succeeded" | "preempted") { "Succeeded" } else { "Failed" };
        tree.ends("cluster", failure.benchmark, phase);
    }
    tree.assert_nothing_left();
    tree.say_there(&["get", "job", &name]);
    clean_up_again(&tree, &stopped);
    drop(wide);
    let results = tree.results();
    for failure in failures.iter().filter(|failure| !failure.code.is_empty()) {
        failure.judge(&results);
    }
    for benchmark in ["quota-later", "webhook-away"] {
        let later = results.of(benchmark);
        assert_eq!((later.len(), &later[0]["run"]["status"]), (1, &json!("succeeded")));
    }
}
