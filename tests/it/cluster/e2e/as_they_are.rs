//! One project on clusters as they are: plain, with users of the platform's choice, with a mesh that injects, and two targets on the
//! same nodes. No spec says anything of it.

use serde_json::Value;

use super::super::{cluster, eventually};
use super::{Loop, Results, image_of_steps, is_own, tag};
use crate::support::judges::skip;
use crate::support::project::repository;

/// Its namespaces differ in what the cluster does to their pods, and its targets in what the owners of the project say of that.
const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: platforms}
spec:
  image: IMAGE
  results: {mode: branch, branch: kubebench/results, remote: REMOTE}
  defaults: {repeats: 1, warmups: 0, queueTimeout: 5m, claimSize: 1Gi}
  # The operator's init container is one that `restricted` takes, as tests/cluster/lib/pytorch-init.yaml says.
  lints: {KB0414: "off"}
  targets:
    plain:
      cluster: test
      namespace: plain
      storageClass: standard
      podSecurity: restricted
      pods: {labels: {cost-center: ml}, annotations: {example.com/contact: platform}, env: {CHOSEN: plain}}
      concurrency: 2
    users:
      cluster: test
      namespace: users
      storageClass: standard
      podSecurity: restricted
      pods: {securityContext: {runAsUser: none, runAsGroup: none, fsGroup: none}, env: {CHOSEN: users}}
    mesh:
      cluster: test
      namespace: mesh
      storageClass: standard
      podSecurity: restricted
      pods: {env: {CHOSEN: mesh}}
      concurrencyGroup: one-node
    shared:
      cluster: test
      namespace: shared
      storageClass: standard
      podSecurity: restricted
      pods: {env: {CHOSEN: shared}}
      concurrencyGroup: one-node
"#;

const METRICS: &str = r"
  metrics: [{name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}}]
  checks: [{metric: rate, finite: true}, {restarts: 0}]
";

/// It has all that writes to the volume: what prepares, runs and comes after them.
const JOB: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: plain}
spec:
  timeout: 5m
  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}
  prepare: {image: 'busybox:1', command: [sh, -ec, 'echo 4 > $KUBEBENCH_DATA_ROOT/rate'], resources: {cpu: 10m, memory: 32Mi}}
  postprocess: {image: 'busybox:1', command: [sh, -ec, 'test -s $KUBEBENCH_EXP_OUTPUT_PATH/left'], resources: {cpu: 10m, memory: 32Mi}}
  workload:
    job:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      command: [sh, -ec, 'id; test -n \"$CHOSEN\"; echo $CHOSEN > $KUBEBENCH_EXP_OUTPUT_PATH/left; sleep 1; echo rate $(cat $KUBEBENCH_DATA_ROOT/rate) x/s']
";

const PAIR: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: pair}
spec:
  timeout: 5m
  workload:
    pytorchJob:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      master: {command: [sh, -ec, 'echo rate $WORLD_SIZE x/s; sleep 1']}
      worker: {replicas: 1, command: [sh, -ec, 'sleep 1']}
";

/// Its author asks for the proxy, which is there when all is done.
const MESHED: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: meshed}
spec:
  targets: [mesh]
  timeout: 30m
  repeats: 1
  workload:
    job: {image: 'busybox:1', resources: {cpu: 10m, memory: 32Mi}, command: [sh, -c, 'echo rate 1 x/s'], labels: {sidecar.istio.io/inject: \"true\"}}
";

const TARGETS: [&str; 4] = ["plain", "users", "mesh", "shared"];

/// Lets the cluster do to the pods of a project what platforms do.
fn prepare(cycle: &Loop) {
    let policies = repository().join("tests/cluster/data/platforms.yaml");
    cycle.cluster().say(["apply", "-f", policies.to_str().unwrap()]);
    for (target, label) in [("users", "kubebench-test/users=assigned"), ("mesh", "istio-injection=enabled")] {
        cycle.cluster().say(["label", "namespace", cycle.namespace(target), label]);
        // Policies hold a little after they are written.
        let pod = r#"{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "probe"}, "spec": {"containers": [{"name": "a", "image": "busybox:1", "securityContext": {"allowPrivilegeEscalation": false, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}, "capabilities": {"drop": ["ALL"]}}}]}}"#;
        cycle.project().folder.write("probe.json", pod);
        eventually(&format!("the policy of {target}"), || {
            let place = cycle.project().place("probe.json");
            let ask = ["-n", cycle.namespace(target), "create", "--dry-run=server", "-o", "json", "-f", &place];
            let made: Value = serde_json::from_slice(&cycle.cluster().kubectl(ask).stdout).ok()?;
            let has_user = made.pointer("/spec/securityContext/runAsUser").is_some();
            let is_changed = has_user || made["spec"]["containers"].as_array().unwrap().len() == 2;
            is_changed.then_some(())
        });
    }
}

fn of<'r>(results: &'r Results, target: &str, benchmark: &str) -> Vec<&'r Value> {
    results.of(benchmark).into_iter().filter(|result| result["metadata"]["target"] == target).collect()
}

#[test]
fn one_project_runs_on_clusters_as_they_are() {
    let test = "one_project_runs_on_clusters_as_they_are";
    let Some(found) = cluster(test) else { return };
    if !found.kubectl(["get", "mutatingadmissionpolicies.v1beta1.admissionregistration.k8s.io"]).status.success() {
        return skip(test, "a cluster with MutatingAdmissionPolicy", "it is in Kubernetes 1.34 behind a feature gate");
    }
    let (job, pair, meshed) = (format!("{JOB}{METRICS}"), format!("{PAIR}{METRICS}"), format!("{MESHED}{METRICS}"));
    let files = [
        ("kubebench.yaml", PROJECT),
        ("specs/plain.yaml", job.as_str()),
        ("specs/pair.yaml", pair.as_str()),
        ("specs/meshed.yaml", meshed.as_str()),
    ];
    let Some(cycle) = Loop::new(test, &files) else { return };
    prepare(&cycle);
    cycle.apply();
    for target in TARGETS {
        cycle.ends(target, "plain", "Succeeded");
        cycle.ends(target, "pair", "Succeeded");
    }
    cycle.ends("mesh", "meshed", "Failed");
    let results = cycle.results();
    for target in TARGETS {
        for (benchmark, value) in [("plain", 4.0), ("pair", 2.0)] {
            let runs = of(&results, target, benchmark);
            assert_eq!(runs.len(), 1, "{target} {benchmark}");
            for run in runs {
                assert_eq!(
                    (&run["run"]["status"], &run["metrics"][0]["value"]),
                    (&"succeeded".into(), &value.into()),
                    "{run:#}"
                );
                assert_eq!(run["run"]["attempt"], 1, "{run:#}");
            }
        }
    }
    // What a program sees of its pod: the user is that of the namespace.
    let user = |target: &str| {
        let result = of(&results, target, "plain")[0].clone();
        result["artifacts"].as_array().unwrap().iter().map(|artifact| artifact["name"].clone()).collect::<Vec<_>>()
    };
    assert!(user("users").iter().any(|name| name == "left"), "{:?}", user("users"));

    let meshed = of(&results, "mesh", "meshed");
    assert_eq!(meshed.len(), 1);
    let reason = &meshed[0]["run"]["reasons"][0];
    assert_eq!(reason["code"], "keptRunning", "{:#}", meshed[0]);
    assert!(reason["message"].as_str().unwrap().contains("the container `istio-proxy`"), "{reason}");

    assert_apart(&results, &["mesh", "shared"], 1);
    assert_apart(&results, &["users"], 1);
    assert_apart(&results, &["plain"], 2);
}

/// Asserts that no more than `limit` Workflows of these targets ran at once, by the times of their runs.
fn assert_apart(results: &Results, targets: &[&str], limit: usize) {
    let time = |result: &Value, key: &str| result["run"][key].as_str().unwrap().to_owned();
    let of_targets: Vec<&Value> = results
        .all
        .iter()
        .filter(|result| targets.iter().any(|target| result["metadata"]["target"] == *target))
        .collect();
    let mut sessions = std::collections::BTreeMap::<String, (String, String)>::new();
    for result in of_targets {
        let (start, end) = (time(result, "startedAt"), time(result, "finishedAt"));
        let key = format!("{} {}", result["metadata"]["target"], result["metadata"]["benchmark"]);
        let known = sessions.entry(key).or_insert_with(|| (start.clone(), end.clone()));
        known.0 = known.0.clone().min(start);
        known.1 = known.1.clone().max(end);
    }
    for (name, (start, _)) in &sessions {
        let at_once = sessions.values().filter(|(other, end)| other <= start && start < end).count();
        assert!(at_once <= limit, "{name}: {sessions:#?}");
    }
}

/// What the owners of the project say of each platform, in the target that the example names; the last two share their nodes.
const OF_EXAMPLE: [(&str, &str, &str); 5] = [
    ("plain", "", ""),
    (
        "users",
        "kubebench-test/users=assigned",
        "      pods: {securityContext: {runAsUser: none, runAsGroup: none, fsGroup: none}}\n",
    ),
    ("mesh", "istio-injection=enabled", ""),
    ("shared", "", "      concurrency: 1\n"),
    ("second", "", "      concurrency: 1\n"),
];

/// The one of this repository's examples that needs no more than a shell, as it is: the image of the steps, which is Debian with `dd`
/// and `awk`, takes the place of its own.
#[test]
#[ignore = "90 runs: KUBEBENCH_CLUSTER=1 cargo test --test it an_example_runs_on_every_platform -- --ignored"]
fn an_example_runs_on_every_platform() {
    let test = "an_example_runs_on_every_platform";
    let Some(found) = cluster(test) else { return };
    if !is_own(found) {
        return skip(test, "the cluster of tests/cluster", "its node takes another image for that of the example");
    }
    let read = |path: &str| std::fs::read_to_string(repository().join(path)).unwrap();
    let (spec, script) = (read("specs/copy-bandwidth.yaml"), read("scripts/copy-bandwidth.sh"));
    let image = spec.lines().find_map(|line| line.trim().strip_prefix("image: ")).unwrap();
    let (name, digest) = image.split_once('@').unwrap();
    let (name, _) = name.rsplit_once(':').unwrap();
    tag(image_of_steps(found).expect("the cluster of this machine"), &format!("{name}@{digest}"));
    let policies = repository().join("tests/cluster/data/platforms.yaml");
    found.say(["apply", "-f", policies.to_str().unwrap()]);
    let cycles = OF_EXAMPLE.map(|(variant, label, fields)| {
        let project = format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: example}}\nspec:\n  image: IMAGE\n  \
             results: {{mode: branch, branch: kubebench/results, remote: REMOTE}}\n  defaults: {{queueTimeout: 1h, claimSize: 1Gi}}\n  \
             targets:\n    cpu:\n      cluster: test\n      namespace: {variant}\n      storageClass: standard\n      \
             podSecurity: restricted\n{fields}"
        );
        let files = [
            ("kubebench.yaml", project.as_str()),
            ("specs/copy-bandwidth.yaml", spec.as_str()),
            ("scripts/copy-bandwidth.sh", script.as_str()),
        ];
        let cycle = Loop::new(&format!("{test}_{variant}"), &files).expect("what the test above has too");
        if !label.is_empty() {
            cycle.cluster().say(["label", "namespace", cycle.namespace("cpu"), label]);
        }
        cycle
    });
    for cycle in &cycles {
        cycle.apply();
    }
    for (cycle, (variant, ..)) in cycles.iter().zip(OF_EXAMPLE) {
        let name = &cycle.workflows("cpu")["copy-bandwidth"];
        let ended = eventually_ended(cycle, name);
        assert_eq!(ended["status"]["phase"], "Succeeded", "{variant}: {}", ended["status"]["message"]);
        let results = cycle.results();
        assert_eq!(results.all.len(), 18, "{variant}");
        for result in &results.all {
            assert_eq!(
                (&result["run"]["status"], &result["run"]["attempt"]),
                (&"succeeded".into(), &1.into()),
                "{variant}: {result:#}"
            );
        }
    }
}

/// Waits for the end of a Workflow of many runs.
fn eventually_ended(cycle: &Loop, name: &str) -> Value {
    let namespace = cycle.namespace("cpu");
    let workflow = format!("workflow/{name}");
    cycle.cluster().say(["-n", namespace, "wait", "--for=condition=Completed", &workflow, "--timeout=3600s"]);
    cycle.cluster().json(["-n", namespace, "get", &workflow, "-o", "json"])
}
