//! What lowering refuses of a kind's form, and what every kind promises.

use super::*;
use crate::workload::KINDS;
use kubebench_syntax::unit::plural;
/// Returns the benchmark that `kubebench new` would write for a kind.
fn example(kind: &workload::Kind) -> Compiled {
    let workload: String = kind.example.lines().map(|line| format!("    {line}\n")).collect();
    let text = document("workload: {}").replace("  workload: {}\n", &format!("  workload:\n{workload}"));
    // Spark's driver and Argo's executor need the API server, Seldon's models a mesh, and models are downloaded: the network policy of a
    // project is the user's.
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {networkPolicy: {enabled: false}}}}\n";
    let downloads = kind.example.contains("networkPolicy");
    let is_open = downloads || matches!(kind.key, "sparkApplication" | "workflow" | "seldonModel");
    compile(if is_open { project } else { "" }, &text)
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
fn a_kind_becomes_what_the_runner_may_create() {
    for kind in KINDS {
        let compiled = example(kind);
        let api = &compiled.benchmarks[0].cases[0].workload.api;
        assert_eq!((api.resource(), &api.kind), (kind.api.resource(), &kind.api.kind), "{}", kind.key);
        assert_eq!(plural(&api.kind), api.plural, "steps and doctor know no other plural");
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
    assert_findings(&lowered(&torch("5")), &[("KB0317", str! {"`minAvailable` waits for 5 pods, but the job has 4"})]);
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
    assert_findings(
        &lowered(&mpi_job(&whole)),
        &[("KB0317", str! {"`minAvailable` waits for 4 pods, but before the launcher there are 3"})],
    );
}

#[test]
fn elastic_jobs_have_workers_alone() {
    let torch = |roles: &str| workload("pytorchJob", &format!("elasticPolicy: {{}}, {roles}"));
    assert_eq!(lowered(&torch("worker: {replicas: 4}")), NONE);
    assert_findings(
        &lowered(&torch("master: {}, worker: {replicas: 3}")),
        &[("KB0317", str! {"`elasticPolicy` cannot be combined with a `master`"})],
    );
}

#[test]
fn roles_that_the_webhooks_demand() {
    let of = |kind: &str, roles: &str| lowered(&workload(kind, roles));
    assert_findings(&of("xgboostJob", "worker: {replicas: 2}"), &[("KB0317", str! {"`xgboostJob` has no `master`"})]);
    assert_findings(
        &of("xgboostJob", "master: {replicas: 2}"),
        &[("KB0317", str! {"`master` has 2 replicas, but rank 0 is one pod"})],
    );
    assert_eq!(of("xgboostJob", "master: {}"), NONE);
    assert_findings(
        &of("paddleJob", "labels: {}"),
        &[("KB0317", str! {"`paddleJob` has neither `worker` nor `master`"})],
    );
    assert_eq!(of("paddleJob", "master: {replicas: 2}"), NONE);
    assert_findings(&of("jaxJob", "labels: {}"), &[("KB0317", str! {"`jaxJob` has no `worker`"})]);
    assert_eq!(of("jaxJob", "worker: {replicas: 4}"), NONE);
}

#[test]
fn tasks_of_volcano() {
    let volcano = |fields: &str| workload("volcanoJob", &format!("resources: {{cpu: 1, memory: 1Gi}}, {fields}"));
    let of = |fields: &str| lowered(&volcano(fields));
    assert_eq!(of("tasks: [{name: a}, {name: b, replicas: 3, dependsOn: [a]}]"), NONE);
    assert_findings(&of("tasks: [{name: a}, {name: a}]"), &[("KB0317", str! {"two tasks are called `a`"})]);
    assert_findings(
        &of("tasks: [{name: a, dependsOn: [c]}]"),
        &[("KB0317", str! {"the task `a` depends on `c`, which is not a task of this job"})],
    );
    let circle = "tasks: [{name: c}, {name: a, dependsOn: [b]}, {name: b, dependsOn: [a, c]}]";
    assert_findings(&of(circle), &[("KB0317", str! {"the task `a` waits for itself"})]);
    let more = ("KB0317", str! {"`minAvailable` waits for 5 pods, but the job has 4"});
    assert_findings(&of("minAvailable: 5, tasks: [{name: a}, {name: b, replicas: 3}]"), &[more]);
    // The pods of a task that waits are not there yet, and a gang with them would never be complete.
    let early = ("KB0317", str! {"`minAvailable` waits for 4 pods, but only 1 wait for no other task"});
    assert_findings(&of("minAvailable: 4, tasks: [{name: a}, {name: b, replicas: 3, dependsOn: [a]}]"), &[early]);
}

fn ray(fields: &str) -> String {
    format!(
        "workload: {{rayJob: {{image: 'r.example/a:1', resources: {{cpu: 2, memory: 4Gi, nvidia.com/gpu: 1}}, {fields}}}}}"
    )
}

#[test]
fn roles_of_ray() {
    let of = |fields: &str| lowered(&ray(fields));
    assert_eq!(of("entrypoint: [python, 'a b'], workerGroups: [{name: a}, {name: b, replicas: 3}]"), NONE);
    assert_eq!(of("entrypoint: []").len(), 1);
    assert_findings(&of("entrypoint: [a], command: [b]"), &[("KB0317", str! {"the pods of a RayJob run Ray itself"})]);
    assert_findings(
        &of("entrypoint: [a], workerGroups: [{name: head}]"),
        &[("KB0317", str! {"two roles are called `head`"})],
    );
    assert_findings(
        &of("entrypoint: [a], submitter: {replicas: 2}"),
        &[("KB0317", str! {"`submitter` has 2 replicas, but a RayJob has one"})],
    );
    assert_findings(
        &of("entrypoint: ['$HOME']"),
        &[("KB0446", str! {"Ray before 2.56 changes this word before the program gets it"})],
    );
    assert_findings(
        &of("entrypoint: [a], runtimeEnv: {env_vars: {A: '`id`'}}"),
        &[("KB0447", str! {"a shell would change this text of `runtimeEnv`"})],
    );
}

#[test]
fn a_ray_job_runs_once_and_keeps_its_logs() {
    let fields = "entrypoint: [python, 'a b', '$(A)'], rayVersion: 2.52.0, runtimeEnv: {env_vars: {A: 'yes'}}, \
                  workerGroups: [{name: w, replicas: 3, rayStartParams: {num-cpus: 2}}]";
    let compiled = compile("", &document(&ray(fields)));
    let workload = &compiled.benchmarks[0].cases[0].workload;
    let spec = serde_json::Value::Object(workload.spec.clone());
    assert_eq!(spec["entrypoint"], "python 'a b' '$$(A)'");
    assert_eq!(spec["runtimeEnvYAML"], "env_vars:\n  A: \"yes\"\n");
    assert_eq!((&spec["backoffLimit"], &spec["submitterConfig"]["backoffLimit"]), (&0.into(), &0.into()));
    assert_eq!((&spec["shutdownAfterJobFinishes"], &spec["ttlSecondsAfterFinished"]), (&true.into(), &3600.into()));
    let workers = serde_json::json!([{"groupName": "w", "replicas": 3, "minReplicas": 3, "maxReplicas": 3, "rayStartParams": {"num-cpus": "2"}}]);
    assert_eq!(spec["rayClusterSpec"]["workerGroupSpecs"], workers);
    let roles: Vec<(&str, bool)> =
        workload.roles.iter().map(|role| (role.name.as_str(), role.accelerators() > 0.0)).collect();
    assert_eq!(roles, [("head", true), ("w", true), ("submitter", false)]);
}

#[test]
fn a_volcano_job_ends_with_its_first_failure() {
    let fields = "resources: {cpu: 1, memory: 1Gi}, plugins: {svc: [--disable-network-policy=true]}, \
                  tasks: [{name: ps-host}, {name: worker, replicas: 12, dependsOn: [ps-host]}]";
    let made = |project: &str, fields: &str| compile(project, &document(&workload("volcanoJob", fields)));
    let compiled = made("", fields);
    let workload = &compiled.benchmarks[0].cases[0].workload;
    let expected = serde_json::json!({
        "maxRetry": 1, "minAvailable": 1, "minSuccess": 13, "queue": "default", "schedulerName": "volcano",
        "plugins": {"svc": ["--disable-network-policy=true"]},
        "policies": [{"action": "AbortJob", "event": "PodFailed"}, {"action": "AbortJob", "event": "PodEvicted"}],
        "tasks": [
            {"name": "ps-host", "replicas": 1},
            {"name": "worker", "replicas": 12, "dependsOn": {"name": ["ps-host"]}}
        ],
    });
    assert_eq!(serde_json::Value::Object(workload.spec.clone()), expected);
    let ends: Vec<&str> = workload.roles.iter().map(|role| role.longest_name.suffix.as_str()).collect();
    assert_eq!(ends, ["-ps-host-0", "-worker-11"]);
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {queue: {volcano: ml}, priorityClass: high}}}\n";
    let queued = |fields: &str| {
        let spec = &made(project, fields).benchmarks[0].cases[0].workload.spec;
        (spec["queue"].clone(), spec["priorityClassName"].clone(), spec["minAvailable"].clone())
    };
    assert_eq!(queued("tasks: [{name: a, replicas: 3}]"), ("ml".into(), "high".into(), 3.into()));
    assert_eq!(
        queued("queue: own, minAvailable: 2, tasks: [{name: a, replicas: 3}]"),
        ("own".into(), "high".into(), 2.into())
    );
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
        assert_eq!(workload.roles.last().unwrap().longest_name.suffix, "-worker-1");
    }
}

#[test]
fn elasticity_of_paddle() {
    let paddle = |fields: &str| workload("paddleJob", &format!("resources: {{cpu: 1, memory: 1Gi}}, {fields}"));
    assert_eq!(lowered(&paddle("worker: {replicas: 2}")), NONE);
    let idle = ("KB0437", str! {"the training operator ignores `elasticPolicy` of a PaddleJob"});
    assert_findings(&lowered(&paddle("elasticPolicy: {maxReplicas: 4}, master: {}, worker: {replicas: 2}")), &[idle]);
    let policy = |policy: &str| {
        let compiled = compile("", &document(&paddle(&format!("elasticPolicy: {policy}, worker: {{replicas: 2}}"))));
        compiled.benchmarks[0].cases[0].workload.spec["elasticPolicy"].clone()
    };
    // The operator would take the one bound that is given for both.
    assert_eq!(policy("{maxReplicas: 4}"), serde_json::json!({"minReplicas": 2, "maxReplicas": 4, "maxRestarts": 0}));
    assert_eq!(policy("{}"), serde_json::json!({"minReplicas": 2, "maxReplicas": 2, "maxRestarts": 0}));
    let found = lowered(&paddle("elasticPolicy: {minReplicas: 3}, worker: {replicas: 2}"));
    assert_findings(
        &found,
        &[
            ("KB0317", str! {"`worker` has 2 replicas, outside `elasticPolicy`'s 3 to 2"}),
            ("KB0437", str! {"the training operator ignores `elasticPolicy` of a PaddleJob"}),
        ],
    );
    let found = lowered(&paddle("elasticPolicy: {}, master: {}"));
    assert_findings(
        &found,
        &[
            ("KB0317", str! {"`elasticPolicy` needs a `worker`"}),
            ("KB0437", str! {"the training operator ignores `elasticPolicy` of a PaddleJob"}),
        ],
    );
}

/// Names and amounts are those of the largest size that the job may grow to.
#[test]
fn elastic_jobs_have_the_names_of_their_largest() {
    for kind in ["pytorchJob", "paddleJob"] {
        let fields = "elasticPolicy: {maxReplicas: 101}, worker: {replicas: 2}";
        let compiled = compile("", &document(&workload(kind, fields)));
        let worker = &compiled.benchmarks[0].cases[0].workload.roles[0];
        assert_eq!((worker.replicas, worker.max_replicas), (2, 101), "{kind}");
        assert_eq!(worker.longest_name.suffix, "-worker-100", "{kind}");
    }
}

#[test]
fn rendezvous_servers() {
    let torch = |policy: &str| workload("pytorchJob", &format!("elasticPolicy: {{{policy}}}, worker: {{replicas: 2}}"));
    assert_eq!(lowered(&torch("rdzvBackend: c10d")), NONE);
    assert_findings(
        &lowered(&torch("rdzvBackend: etcd")),
        &[("KB0332", str! {"the backend `etcd` has no `rdzvHost`"})],
    );
    assert_findings(
        &lowered(&torch("rdzvBackend: etcd-v2, rdzvPort: 2379")),
        &[("KB0332", str! {"the backend `etcd-v2` has no `rdzvHost`"})],
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
    assert_findings(
        &lowered(&torch("minReplicas: 4, maxReplicas: 5")),
        &[("KB0317", str! {"`worker` has 3 replicas, outside `elasticPolicy`'s 4 to 5"})],
    );
    assert_findings(
        &lowered(&torch("minReplicas: 1, maxReplicas: 2")),
        &[("KB0317", str! {"`worker` has 3 replicas, outside `elasticPolicy`'s 1 to 2"})],
    );
}

#[test]
fn processes_per_node() {
    let torch = |count: &str| workload("pytorchJob", &format!("nprocPerNode: {count}, worker: {{}}"));
    for count in ["auto", "gpu", "cpu", "8", "'8'"] {
        assert_eq!(lowered(&torch(count)), NONE, "{count}");
    }
    for (count, shown) in [("gpus", "`gpus`"), ("'0'", "`0`"), ("'08'", "`08`")] {
        let found = about(shown, lowered(&torch(count)));
        assert_findings(&found, &[("KB0205", str! {"… is not a number of processes that torchrun accepts"})]);
    }
    assert!(lowered(&torch("0"))[0].0 == "KB0206");
    assert!(lowered(&torch("1.5"))[0].0 == "KB0203");
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
        let found = about(&format!("`{path}`"), lowered(&env(path)));
        assert_findings(&found, &[("KB0205", str! {"… is not a field of the pod that a variable can have"})]);
    }
    assert_findings(
        &lowered(&env("metadata.labels")),
        &[("KB0205", str! {"`metadata.labels` does not name one value of `metadata.labels`"})],
    );
    assert!(lowered(&env("metadata.labels['a b']"))[0].0 == "KB0205");
    let help = compile("", &document(&env("spec.nodename"))).before[0].help.clone();
    assert_text(help.as_deref().unwrap(), str! {"did you mean `spec.nodeName`?"});
}
