//! `placement`: roles together or spread, as demands on the scheduler that hold within one run.

use serde_json::{Value as Json, json};

use crate::compiled::{compile, compile_sound, created, errors_at};

const HEAD: &str = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: base}\nspec:\n  timeout: 1h\n  metrics: [{name: s, unit: s, better: lower, primary: true, from: {duration: run}}]\n";
const MPI: &str = "  workload: {mpiJob: {image: 'r.example/a:1', resources: {cpu: 1, memory: 1Gi}, launcher: {command: [mpirun, x]}, worker: {replicas: 2POD}}}\n";

/// The pod spec of a role of an MPIJob with these demands.
fn pod(placement: &str, of_worker: &str, role: &str) -> Json {
    let spec = format!("{HEAD}{placement}{}", MPI.replace("POD", of_worker));
    let mut objects = created(&compile_sound(&[("specs/a.yaml", &spec)]));
    objects.remove(0).object.pointer(&format!("/spec/mpiReplicaSpecs/{role}/template/spec")).unwrap().clone()
}

fn term(roles: &[&str], over: &str) -> Json {
    json!({
        "labelSelector": {
            "matchExpressions": [{"key": "kubebench.dev/role", "operator": "In", "values": roles}],
            "matchLabels": {"kubebench.dev/benchmark": "base"},
        },
        "matchLabelKeys": ["kubebench.dev/run"],
        "topologyKey": over,
    })
}

const TERMS: &str = "/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution";

#[test]
fn roles_run_together_in_a_domain() {
    let together = "  placement: [{together: [launcher, worker], over: topology.kubernetes.io/rack}]\n";
    for role in ["Launcher", "Worker"] {
        let terms = pod(together, "", role).pointer(TERMS).cloned();
        assert_eq!(terms, Some(json!([term(&["launcher", "worker"], "topology.kubernetes.io/rack")])), "{role}");
    }
    // What the spec says of the pods itself stays.
    let own =
        ", pod: {affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: zone}]}}}";
    let terms = pod(together, own, "Worker").pointer(TERMS).cloned().unwrap();
    assert_eq!((terms[0]["topologyKey"].as_str(), terms.as_array().unwrap().len()), (Some("zone"), 2));
}

#[test]
fn a_role_is_spread_over_nodes() {
    let spread = "  placement: [{spread: worker}]\n";
    let mut constraint = term(&["worker"], "kubernetes.io/hostname");
    constraint["maxSkew"] = 1.into();
    constraint["whenUnsatisfiable"] = "DoNotSchedule".into();
    assert_eq!(pod(spread, "", "Worker")["topologySpreadConstraints"], json!([constraint]));
    assert_eq!(pod(spread, "", "Launcher").get("topologySpreadConstraints"), None);
    assert_eq!(pod("", "", "Worker").get("topologySpreadConstraints"), None);
}

#[test]
fn demands_differ_between_cases() {
    let spec = format!(
        "{HEAD}  matrix: {{axes: {{over: [kubernetes.io/hostname, rack]}}}}\n  placement: [{{spread: worker, over: '${{{{ matrix.over }}}}'}}]\n{}",
        MPI.replace("POD", "")
    );
    let at = "/spec/mpiReplicaSpecs/Worker/template/spec/topologySpreadConstraints/0/topologyKey";
    let mut keys: Vec<String> = created(&compile_sound(&[("specs/a.yaml", &spec)]))
        .iter()
        .filter_map(|emitted| emitted.object.pointer(at)?.as_str().map(str::to_owned))
        .collect();
    keys.sort();
    assert_eq!(keys, ["kubernetes.io/hostname", "rack"]);
}

#[test]
fn what_cannot_be_asked_for_is_an_error() {
    let found = |placement: &str, workload: &str| {
        let spec = format!("{HEAD}  placement: {placement}\n{workload}");
        let manifest = "{apiVersion: batch/v1, kind: Job, metadata: {name: x}, spec: {template: {spec: {restartPolicy: Never, containers: [{name: main, image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}]}}}}\n";
        let found = errors_at(&compile(&[("specs/a.yaml", &spec), ("jobs/x.yaml", manifest)]));
        found.into_iter().map(|(place, _)| place).collect::<Vec<_>>()
    };
    let mpi = MPI.replace("POD", "");
    assert_eq!(found("[{spread: workers}]", &mpi), ["KB0393 at workers"]);
    assert_eq!(found("[{together: [launcher, master]}]", &mpi), ["KB0393 at master"]);
    assert_eq!(
        found("[{together: [worker], spread: worker}]", &mpi),
        ["KB0207 at {together: [worker], spread: worker}"]
    );
    assert_eq!(found("[{over: rack}]", &mpi), ["KB0207 at {over: rack}"]);
    assert_eq!(found("[{spread: job}]", "  workload: {manifest: {file: jobs/x.yaml}}\n"), ["KB0393 at job"]);
    let over_runtime = "  workload: {trainJob: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}, runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2}}}\n";
    assert_eq!(found("[{spread: trainer}]", over_runtime), ["KB0393 at trainer"]);
    let served = "  workload: {deployment: {image: 'r.example/s:1', port: 80, protocol: openai, model: m, resources: {cpu: 1, memory: 1Gi}, load: {image: 'r.example/l:1', resources: {cpu: 1, memory: 1Gi}}}}\n";
    assert!(
        found("[{together: [server, load]}]", served).iter().any(|place| place.starts_with("KB0393 at ")),
        "{:?}",
        found("[{together: [server, load]}]", served)
    );
}
