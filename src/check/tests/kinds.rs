//! What lowering refuses of a kind's form, and what every kind promises.

use super::*;
use crate::workload::KINDS;

const NONE: [&str; 0] = [];

/// Returns the benchmark that `kubebench new` would write for a kind.
fn example(kind: &workload::Kind) -> Compiled {
    let workload: String = kind.example.lines().map(|line| format!("    {line}\n")).collect();
    let text = document("workload: {}").replace("  workload: {}\n", &format!("  workload:\n{workload}"));
    compile("", &text)
}

#[test]
fn examples_are_sound() {
    for kind in KINDS {
        let compiled = example(kind);
        assert_eq!(compiled.before, [], "{}", kind.key);
        assert_eq!(compiled.findings(), [], "{}", kind.key);
    }
}

#[test]
fn the_runner_may_create_what_a_kind_becomes() {
    for kind in KINDS {
        let compiled = example(kind);
        let api = compiled.benchmarks[0].cases[0].workload.api;
        let group = api.api_version.split('/').next().unwrap();
        assert_eq!((group, api.plural), kind.resource, "{}", kind.key);
    }
}

#[test]
fn gangs_larger_than_the_job() {
    let torch = |pods: &str| {
        workload(
            "pytorchJob",
            &format!("schedulingPolicy: {{minAvailable: {pods}}}, master: {{}}, worker: {{replicas: 3}}"),
        )
    };
    assert_eq!(lowered(&torch("4")), NONE);
    assert_eq!(lowered(&torch("5")), ["KB0317 `minAvailable` waits for 5 pods, and the job has 4"]);
}

/// The MPI operator makes the launcher when all workers are ready: a gang with it would never be complete.
#[test]
fn the_gang_of_an_mpi_job_is_its_workers() {
    let volcano = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {queue: {volcano: q}}}}\n";
    let gang = |project: &str, fields: &str| {
        let compiled = compile(project, &document(&mpi_job(&format!("{KEYS}, {fields}, worker: {{replicas: 3}}"))));
        assert_eq!(compiled.before, [], "{fields}");
        compiled.benchmarks[0].cases[0].workload.spec["runPolicy"]["schedulingPolicy"]["minAvailable"].as_u64()
    };
    assert_eq!(gang(volcano, "launcher: {}"), Some(3));
    assert_eq!(gang("", "launcher: {}, schedulingPolicy: {queue: q}"), Some(3));
    assert_eq!(gang("", "launcher: {}, schedulingPolicy: {minAvailable: 2}"), Some(2));
    assert_eq!(gang(volcano, "launcher: {}, launcherCreationPolicy: AtStartup"), None);
    assert_eq!(gang("", "launcher: {}"), None);
    let whole = format!("{KEYS}, launcher: {{}}, worker: {{replicas: 3}}, schedulingPolicy: {{minAvailable: 4}}");
    assert_eq!(
        lowered(&mpi_job(&whole)),
        ["KB0317 `minAvailable` waits for 4 pods, and before the launcher there are 3"]
    );
}

#[test]
fn elastic_jobs_have_workers_alone() {
    let torch = |roles: &str| workload("pytorchJob", &format!("elasticPolicy: {{}}, {roles}"));
    assert_eq!(lowered(&torch("worker: {replicas: 4}")), NONE);
    assert_eq!(
        lowered(&torch("master: {}, worker: {replicas: 3}")),
        ["KB0317 `elasticPolicy` stands beside a `master`"]
    );
}

#[test]
fn rendezvous_servers() {
    let torch = |policy: &str| workload("pytorchJob", &format!("elasticPolicy: {{{policy}}}, worker: {{replicas: 2}}"));
    assert_eq!(lowered(&torch("rdzvBackend: c10d")), NONE);
    assert_eq!(lowered(&torch("rdzvBackend: etcd")), ["KB0332 the backend `etcd` has no `rdzvHost`"]);
    assert_eq!(
        lowered(&torch("rdzvBackend: etcd-v2, rdzvPort: 2379")),
        ["KB0332 the backend `etcd-v2` has no `rdzvHost`"]
    );
    assert_eq!(lowered(&torch("rdzvBackend: etcd-v2, rdzvHost: etcd.ml.svc")), NONE);
    let elastic = |policy: &str| {
        compile("", &document(&torch(policy))).benchmarks[0].cases[0].workload.spec["elasticPolicy"].clone()
    };
    let etcd = elastic("rdzvBackend: etcd-v2, rdzvHost: etcd.ml.svc");
    assert_eq!((&etcd["rdzvHost"], &etcd["rdzvPort"]), (&"etcd.ml.svc".into(), &2379.into()));
    assert_eq!(elastic("rdzvBackend: etcd, rdzvHost: e, rdzvPort: 4001")["rdzvPort"], 4001);
    assert!(elastic("maxRestarts: 1").get("rdzvPort").is_none());
}

#[test]
fn elastic_bounds() {
    let torch = |policy: &str| workload("pytorchJob", &format!("elasticPolicy: {{{policy}}}, worker: {{replicas: 3}}"));
    assert_eq!(lowered(&torch("minReplicas: 2, maxReplicas: 4")), NONE);
    let outside = |range: &str| [format!("KB0317 `worker` has 3 replicas, outside `elasticPolicy`'s {range}")];
    assert_eq!(lowered(&torch("minReplicas: 4, maxReplicas: 5")), outside("4 to 5"));
    assert_eq!(lowered(&torch("minReplicas: 1, maxReplicas: 2")), outside("1 to 2"));
}

#[test]
fn processes_per_node() {
    let torch = |count: &str| workload("pytorchJob", &format!("nprocPerNode: {count}, worker: {{}}"));
    for count in ["auto", "gpu", "cpu", "8", "'8'"] {
        assert_eq!(lowered(&torch(count)), NONE, "{count}");
    }
    let unknown = |count: &str| [format!("KB0205 `{count}` is no number of processes that torchrun knows")];
    assert_eq!(lowered(&torch("gpus")), unknown("gpus"));
    assert_eq!(lowered(&torch("'0'")), unknown("0"));
    assert_eq!(lowered(&torch("'08'")), unknown("08"));
    assert!(lowered(&torch("0"))[0].starts_with("KB0206"));
    assert!(lowered(&torch("1.5"))[0].starts_with("KB0203"));
}

#[test]
fn fields_of_the_pod() {
    let env = |path: &str| format!("workload: {{job: {{image: 'r.example/a:1', env: {{A: {{field: \"{path}\"}}}}}}}}");
    for path in [
        "metadata.uid",
        "spec.nodeName",
        "status.podIPs",
        "metadata.labels['a.example/b']",
        "metadata.annotations['x']",
    ] {
        assert_eq!(lowered(&env(path)), NONE, "{path}");
    }
    for path in ["spec.nodename", "status.phase", "spec.hostname", "limits.cpu", ""] {
        assert_eq!(lowered(&env(path)), [format!("KB0205 `{path}` is no field of the pod that a variable can have")]);
    }
    assert_eq!(
        lowered(&env("metadata.labels")),
        ["KB0205 `metadata.labels` does not name one value of `metadata.labels`"]
    );
    assert!(lowered(&env("metadata.labels['a b']"))[0].starts_with("KB0205"));
    let help = compile("", &document(&env("spec.nodename"))).before[0].help.clone();
    assert_eq!(help.as_deref(), Some("did you mean `spec.nodeName`?"));
}
