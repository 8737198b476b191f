//! The whole loop where the policies hold: what is compiled runs to its end, and what others make of its template does not.

use serde_json::{Value, json};

use super::super::e2e::signed::{exchange, signing};
use super::super::e2e::{Loop, Settings};
use super::super::eventually;
use super::{Guarded, Who};

const JOB: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: copy}
spec:
  timeout: 5m
  prepare: {image: busybox:1, command: [sh, -c, 'echo 5 >/kubebench/data/size'], resources: {cpu: 10m, memory: 32Mi}}
  workload:
    tfJob:
      image: busybox:1
      command: [sh, -c, 'echo \"rate $(cat /kubebench/data/size) x/s\" | tee $KUBEBENCH_EXP_OUTPUT_PATH/log']
      resources: {cpu: 10m, memory: 32Mi}
      worker: {}
  results: {mountInJob: true, claim: {accessModes: [ReadWriteMany]}}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\\S+) x/s'}}}
";

const MEASURED: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: chain}
spec:
  timeout: 5m
  workload: {workflow: {file: pipelines/chain.yaml}}
  metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]
";

const IN_SUITE: &str = "
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: member}
spec:
  timeout: 5m
  workload: {job: {image: busybox:1, command: [sh, -c, 'echo rate 3 x/s'], resources: {cpu: 10m, memory: 32Mi}}}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\\S+) x/s'}}}
";

const SUITE: &str =
    "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: nightly}\nspec: {benchmarks: [member]}\n";

const CHAIN: &str = "
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata: {generateName: chain-}
spec:
  entrypoint: load
  securityContext: {runAsUser: 65532, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
  podSpecPatch: |
    containers: [{name: wait, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
    initContainers: [{name: init, securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}}]
  templates:
    - name: load
      container:
        image: busybox:1
        command: [sh, -c, sleep 1]
        resources: {limits: {cpu: 10m, memory: 32Mi}}
        securityContext: {allowPrivilegeEscalation: false, capabilities: {drop: [ALL]}}
";

#[test]
fn what_is_compiled_runs_and_what_others_make_of_it_does_not() {
    // The object is not there: over plain HTTP no step needs it.
    let results = format!("{}, ca: {{configMap: corporate-ca}}", signing());
    let project = Settings { results: &results, ..Settings::of("guarded") }.text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("pipelines/chain.yaml", CHAIN),
        ("specs/chain.yaml", MEASURED),
        ("specs/copy.yaml", JOB),
        ("specs/member.yaml", IN_SUITE),
        ("specs/nightly.yaml", SUITE),
    ];
    let Some(cycle) = Loop::new("what_is_compiled_runs_and_what_others_make_of_it_does_not", &files) else { return };
    let guarded = Guarded::new(cycle.project(), "test").with_people();
    exchange(&cycle, 0);
    // A credential, so that the step mounts it.
    cycle.cluster().say([
        "-n",
        guarded.namespace,
        "create",
        "secret",
        "generic",
        "kubebench-git",
        "--from-literal=password=x",
        "--from-literal=username=x",
    ]);
    cycle.apply();
    for benchmark in ["chain", "copy", "nightly"] {
        cycle.ends("test", benchmark, "Succeeded");
    }
    let results = cycle.results();
    for benchmark in ["chain", "copy", "member"] {
        let of = results.of(benchmark);
        assert_eq!(of.len(), 1, "{benchmark}");
        assert_eq!(of[0]["run"]["status"], "succeeded", "{:#}", of[0]["run"]);
    }
    assert_eq!(results.of("copy")[0]["metrics"][0]["value"], 5.0);
    assert_eq!(results.all.iter().filter(|file| file.get("payloadType").is_some()).count(), 3, "all are signed");

    let workflow = format!("workflow/{}", cycle.workflows("test")["copy"]);
    nobody_else_changes_what_runs(&guarded, &workflow);
    nobody_else_runs_the_template(&guarded);
}

/// Argo reads the template of a running Workflow from its status.
fn nobody_else_changes_what_runs(guarded: &Guarded<'_>, workflow: &str) {
    let patch = |object: &str, change: &Value| -> Vec<String> {
        ["patch", "--dry-run=server", "--type=merge", object, "-p", &change.to_string()].map(str::to_owned).into()
    };
    let evil = json!("containers: [{name: main, image: evil.example/x}]");
    let stop = patch(workflow, &json!({"spec": {"shutdown": "Stop"}}));
    let changes = [
        json!({"spec": {"podSpecPatch": evil}}),
        json!({"spec": {"arguments": {"parameters": []}}}),
        json!({"spec": {"workflowTemplateRef": {"name": "mine"}}}),
        json!({"spec": {"entrypoint": null}}),
        json!({"status": {"storedWorkflowTemplateSpec": {"podSpecPatch": evil}}}),
        json!({"status": {"phase": "Running"}}),
    ];
    let words = |words: &[String]| -> Vec<String> { words.to_vec() };
    for change in changes {
        let attack = words(&patch(workflow, &change));
        let [attack, twin] = [&attack, &stop].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        guarded.only(Who::Editor, "kubebench-pipeline", &attack, &twin);
        guarded.answer(Some(Who::Deployer), &attack).unwrap_or_else(|said| panic!("{said}"));
    }
    // The pods of the steps are there for a while.
    let pods = guarded.cluster().say([
        "-n",
        guarded.namespace,
        "get",
        "pods",
        "-l",
        "kubebench.dev/step=record",
        "-o",
        "name",
    ]);
    let pod = pods.lines().next().unwrap_or_else(|| panic!("there is no pod of a step"));
    let image = json!({"spec": {"containers": [{"name": "main", "image": "evil.example/x"}]}}).to_string();
    let change =
        |change: &str| -> Vec<String> { ["patch", "--dry-run=server", pod, "-p", change].map(str::to_owned).into() };
    let label = json!({"metadata": {"labels": {"a": "b"}}}).to_string();
    let moved = json!({"metadata": {"labels": {"kubebench.dev/step": null}}}).to_string();
    for attack in [image, moved] {
        let [attack, twin] = [change(&attack), change(&label)];
        let [attack, twin] = [&attack, &twin].map(|words| words.iter().map(String::as_str).collect::<Vec<_>>());
        guarded.only(Who::Editor, "kubebench-running-pods", &attack, &twin);
    }
}

/// A foreign Workflow that takes the template of Kubebench and puts its own program into the pod that has the
/// credential: no name of a Secret is in it.
fn nobody_else_runs_the_template(guarded: &Guarded<'_>) {
    let names = ["benchmark", "claim", "config", "prepare-deadline", "rules", "run-deadline", "runs", "session"];
    let parameters: Vec<Value> = names
        .iter()
        .map(|name| json!({"name": name, "value": if name.contains("deadline") { "60" } else { "copy-results" }}))
        .collect();
    let workflow = json!({
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Workflow",
        "metadata": {"name": "mine"},
        "spec": {
            "workflowTemplateRef": {"name": "kubebench"},
            "entrypoint": "record",
            "arguments": {"parameters": parameters},
        },
    });
    guarded.answer(Some(Who::Editor), &["create", "-f", &guarded.file(&workflow)]).unwrap();
    // It is tried again for a while, as a pod that was lost is.
    eventually("Argo's controller is refused the pod", || {
        let workflow = guarded.cluster().json(["-n", guarded.namespace, "get", "workflow/mine", "-o", "json"]);
        assert_ne!(workflow["status"]["phase"], "Succeeded", "{workflow:#}");
        workflow["status"].to_string().contains("ValidatingAdmissionPolicy 'kubebench-pods'").then_some(())
    });
    let pods = guarded.cluster().json([
        "-n",
        guarded.namespace,
        "get",
        "pods",
        "-l",
        "workflows.argoproj.io/workflow=mine",
        "-o",
        "json",
    ]);
    assert_eq!(pods["items"], json!([]));
}
