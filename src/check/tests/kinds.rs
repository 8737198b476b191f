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
fn roles_that_the_webhooks_demand() {
    let of = |kind: &str, roles: &str| lowered(&workload(kind, roles));
    assert_eq!(of("xgboostJob", "worker: {replicas: 2}"), ["KB0317 `xgboostJob` has no `master`"]);
    assert_eq!(of("xgboostJob", "master: {replicas: 2}"), ["KB0317 `master` has 2 replicas, but rank 0 is one pod"]);
    assert_eq!(of("xgboostJob", "master: {}"), NONE);
    assert_eq!(of("paddleJob", "labels: {}"), ["KB0317 `paddleJob` has neither `worker` nor `master`"]);
    assert_eq!(of("paddleJob", "master: {replicas: 2}"), NONE);
    assert_eq!(of("jaxJob", "labels: {}"), ["KB0317 `jaxJob` has no `worker`"]);
    assert_eq!(of("jaxJob", "worker: {replicas: 4}"), NONE);
}

/// The operator's own defaults would restart a Paddle worker that failed, in silence.
#[test]
fn nothing_of_kubeflow_restarts_or_is_cleaned_up() {
    for (kind, specs) in
        [("xgboostJob", "xgbReplicaSpecs"), ("paddleJob", "paddleReplicaSpecs"), ("jaxJob", "jaxReplicaSpecs")]
    {
        let roles = if kind == "jaxJob" { "worker: {replicas: 2}" } else { "master: {}, worker: {replicas: 2}" };
        let compiled = compile("", &document(&workload(kind, &format!("schedulingPolicy: {{queue: q}}, {roles}"))));
        let workload = &compiled.benchmarks[0].cases[0].workload;
        let policy = &workload.spec["runPolicy"];
        assert_eq!((&policy["backoffLimit"], &policy["cleanPodPolicy"]), (&0.into(), &"None".into()), "{kind}");
        assert_eq!(policy["schedulingPolicy"]["queue"], "q");
        assert!(policy["activeDeadlineSeconds"].is_u64());
        let roles = workload.spec[specs].as_object().unwrap();
        assert!(roles.values().all(|role| role["restartPolicy"] == "Never"), "{kind}");
        assert_eq!(roles["Worker"]["replicas"], 2, "{kind}");
        assert_eq!(workload.roles.last().unwrap().last_pod_suffix, "-worker-1");
    }
}

#[test]
fn elasticity_of_paddle() {
    let paddle = |fields: &str| workload("paddleJob", &format!("resources: {{cpu: 1, memory: 1Gi}}, {fields}"));
    assert_eq!(lowered(&paddle("worker: {replicas: 2}")), NONE);
    let idle = "KB0437 the training operator does nothing with `elasticPolicy` of a PaddleJob";
    assert_eq!(lowered(&paddle("elasticPolicy: {maxReplicas: 4}, master: {}, worker: {replicas: 2}")), [idle]);
    let policy = |policy: &str| {
        let compiled = compile("", &document(&paddle(&format!("elasticPolicy: {policy}, worker: {{replicas: 2}}"))));
        compiled.benchmarks[0].cases[0].workload.spec["elasticPolicy"].clone()
    };
    // The operator would take the one bound that is given for both.
    assert_eq!(policy("{maxReplicas: 4}"), serde_json::json!({"minReplicas": 2, "maxReplicas": 4, "maxRestarts": 0}));
    assert_eq!(policy("{}"), serde_json::json!({"minReplicas": 2, "maxReplicas": 2, "maxRestarts": 0}));
    let found = lowered(&paddle("elasticPolicy: {minReplicas: 3}, worker: {replicas: 2}"));
    assert!(
        found.contains(&"KB0317 `worker` has 2 replicas, outside `elasticPolicy`'s 3 to 2".to_owned()),
        "{found:?}"
    );
    let found = lowered(&paddle("elasticPolicy: {}, master: {}"));
    assert!(found.contains(&"KB0317 `elasticPolicy` needs a `worker`".to_owned()), "{found:?}");
}

/// Names and amounts are those of the largest size that the job may grow to.
#[test]
fn elastic_jobs_have_the_names_of_their_largest() {
    for kind in ["pytorchJob", "paddleJob"] {
        let fields = "elasticPolicy: {maxReplicas: 101}, worker: {replicas: 2}";
        let compiled = compile("", &document(&workload(kind, fields)));
        let worker = &compiled.benchmarks[0].cases[0].workload.roles[0];
        assert_eq!((worker.replicas, worker.max_replicas), (2, 101), "{kind}");
        assert_eq!(worker.last_pod_suffix, "-worker-100", "{kind}");
    }
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
