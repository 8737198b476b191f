//! TrainJobs: with a runtime that is carried and with one of the cluster, for every minor version of Trainer.

use serde_json::{Value as Json, json};

use super::*;
use crate::manifest::standalone;

fn on(version: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{t: {{apis: {{trainer: {version}}}}}}}}}\n"
    )
}

fn train_job(fields: &str) -> String {
    format!(
        "workload: {{trainJob: {{image: 'r.example/a:1', command: [torchrun, a.py], resources: {{cpu: 2, memory: 1Gi}}, {fields}}}}}"
    )
}

/// Returns what lowering says on a target with `version`.
fn lowered_on(version: &str, fields: &str) -> Vec<(&'static str, String)> {
    codes_and_messages(&compile(&on(version), &document(&train_job(fields))).before)
}

/// Returns the objects of a run called `x`.
fn objects(version: &str, fields: &str) -> Vec<Json> {
    let compiled = compile(&on(version), &document(&train_job(fields)));
    assert_eq!(compiled.before, [], "{fields}");
    standalone(
        &compiled.benchmarks[0],
        &compiled.benchmarks[0].cases[0],
        "x",
        &kubebench_syntax::digest::Digest::of(""),
    )
}

#[test]
fn a_runtime_is_carried() {
    let objects = objects("v2.3", "runtime: {torch: {}}, trainer: {numNodes: 3, numProcPerNode: 4, labels: {team: a}}");
    let [job, runtime] = objects.as_slice() else { panic!("{objects:#?}") };
    assert_eq!(
        job["spec"],
        json!({
            "activeDeadlineSeconds": 3600,
            "runtimeRef": {"apiGroup": "trainer.kubeflow.org", "kind": "TrainingRuntime", "name": "x"},
            "trainer": {"numNodes": 3, "numProcPerNode": 4},
        })
    );
    assert_eq!((&runtime["kind"], &runtime["metadata"]["name"]), (&json!("TrainingRuntime"), &json!("x")));
    assert_eq!(runtime["spec"]["mlPolicy"], json!({"numNodes": 3, "torch": {}}));
    let template = &runtime["spec"]["template"]["spec"];
    assert_eq!(template["failurePolicy"], json!({"maxRestarts": 0}));
    let node = &template["replicatedJobs"][0];
    assert_eq!(
        node["template"]["metadata"]["labels"],
        json!({"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"})
    );
    let pod = &node["template"]["spec"]["template"];
    assert_eq!(
        (&pod["metadata"]["labels"]["kubebench.dev/run"], &pod["metadata"]["labels"]["team"]),
        (&json!("x"), &json!("a"))
    );
    assert_eq!(
        (&pod["spec"]["containers"][0]["name"], &pod["spec"]["restartPolicy"], &pod["spec"]["containers"][0]["image"]),
        (&json!("node"), &json!("Never"), &json!("r.example/a:1"))
    );
}

/// Before v2.2 a TrainJob has no deadline, so its Jobs have it.
#[test]
fn the_timeout_is_where_the_version_has_it() {
    for (version, of_job, of_jobs) in
        [("v2.0", json!(null), json!(3600)), ("v2.1", json!(null), json!(3600)), ("v2.2", json!(3600), json!(null))]
    {
        let objects = objects(version, "runtime: {torch: {}}");
        let jobs = &objects[1]["spec"]["template"]["spec"]["replicatedJobs"];
        assert_eq!(objects[0]["spec"]["activeDeadlineSeconds"], of_job, "{version}");
        assert_eq!(jobs[0]["template"]["spec"]["activeDeadlineSeconds"], of_jobs, "{version}");
    }
}

#[test]
fn a_launcher_is_one_of_the_nodes() {
    let fields = "runtime: {mpi: {sshAuthMountPath: /home/m/.ssh, node: {args: [-f, c]}}}, trainer: {numNodes: 3, numProcPerNode: 2, command: [mpirun, a]}";
    let objects = objects("v2.3", fields);
    let spec = &objects[1]["spec"];
    assert_eq!(
        spec["mlPolicy"],
        json!({"numNodes": 3, "mpi": {"mpiImplementation": "OpenMPI", "numProcPerNode": 2, "runLauncherAsNode": true, "sshAuthMountPath": "/home/m/.ssh"}})
    );
    let template = &spec["template"]["spec"];
    assert_eq!(template["successPolicy"], json!({"operator": "All", "targetReplicatedJobs": ["launcher"]}));
    let job = |index: usize| &template["replicatedJobs"][index];
    let container = |index: usize| &job(index)["template"]["spec"]["template"]["spec"]["containers"][0];
    assert_eq!((&job(0)["name"], &job(1)["name"]), (&json!("node"), &json!("launcher")));
    assert_eq!(job(1)["dependsOn"], json!([{"name": "node", "status": "Ready"}]));
    assert_eq!(
        (&container(0)["command"], &container(0)["args"]),
        (&json!(["/usr/sbin/sshd", "-De"]), &json!(["-f", "c"]))
    );
    assert_eq!(container(1)["command"], json!(["mpirun", "a"]));
    let compiled = compile(&on("v2.3"), &document(&train_job(fields)));
    let roles = &compiled.benchmarks[0].cases[0].workload.roles;
    let sizes: Vec<(&str, u32)> = roles.iter().map(|role| (role.name.as_str(), role.replicas)).collect();
    assert_eq!(sizes, [("node", 2), ("launcher", 1)]);
    let one = lowered_on("v2.3", "runtime: {mpi: {}}, trainer: {numNodes: 1}");
    assert_findings(&one, &[("KB0317", str! {"`mpi` needs two nodes, but `numNodes` is 1"})]);
}

#[test]
fn a_runtime_of_the_cluster_is_changed_as_its_version_can() {
    let fields = "runtimeRef: {name: torch-distributed}, trainer: {numNodes: 2, env: {A: b}, pod: {tolerations: [{key: k, operator: Exists}]}}";
    for version in ["v2.0", "v2.1", "v2.2", "v2.3"] {
        let objects = objects(version, fields);
        let [job] = objects.as_slice() else { panic!("{objects:#?}") };
        let spec = &job["spec"];
        let reference =
            json!({"apiGroup": "trainer.kubeflow.org", "kind": "ClusterTrainingRuntime", "name": "torch-distributed"});
        assert_eq!(spec["runtimeRef"], reference, "{version}");
        assert!(spec.get("template").is_none(), "{version}");
        let trainer = &spec["trainer"];
        assert_eq!(trainer["command"], json!(["torchrun", "a.py"]));
        assert_eq!(trainer["resourcesPerNode"]["limits"], json!({"cpu": "2", "memory": "1Gi"}));
        let variables = trainer["env"].as_array().unwrap();
        assert!(variables.contains(&json!({"name": "KUBEBENCH_EXP_ID", "value": "x"})), "{variables:?}");
        assert!(variables.contains(&json!({"name": "A", "value": "b"})), "{variables:?}");
        let (entry, pod, labels) = match version {
            "v2.0" => (&spec["podSpecOverrides"][0], &spec["podSpecOverrides"][0], None),
            "v2.1" => {
                let entry = &spec["podTemplateOverrides"][0];
                (entry, &entry["spec"], Some(&entry["metadata"]["labels"]))
            }
            _ => {
                let entry = &spec["runtimePatches"][0];
                let job = &entry["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0];
                assert_eq!((&entry["manager"], &job["name"]), (&json!("kubebench.dev/benchmark"), &json!("node")));
                let template = &job["template"]["spec"]["template"];
                (entry, &template["spec"], Some(&template["metadata"]["labels"]))
            }
        };
        assert_eq!(pod["tolerations"], json!([{"key": "k", "operator": "Exists"}]), "{version}");
        assert_eq!(pod.get("securityContext").is_some(), version >= "v2.2", "{version}");
        for field in ["restartPolicy", "automountServiceAccountToken", "priorityClassName"] {
            assert!(pod.get(field).is_none(), "{version} {field}");
        }
        if version < "v2.2" {
            assert_eq!(entry["targetJobs"], json!([{"name": "node"}]), "{version}");
        }
        if let Some(labels) = labels {
            assert_eq!((&labels["kubebench.dev/run"], &labels["kubebench.dev/role"]), (&json!("x"), &json!("node")));
        }
    }
}

#[test]
fn what_a_version_cannot_say() {
    let of_cluster = |fields: &str| format!("runtimeRef: {{name: r}}, trainer: {{{fields}}}");
    for (version, fields, expected) in [
        (
            "v2.1",
            "runtime: {jax: {}}".to_owned(),
            ("KB0318", str! {"`jax` does not exist in Trainer v2.1, which the target `t` serves"}),
        ),
        (
            "v2.3",
            of_cluster("pod: {hostNetwork: true}"),
            (
                "KB0318",
                str! {"`hostNetwork` of a runtime's pods cannot be set in Trainer v2.3, which the target `t` serves"},
            ),
        ),
        (
            "v2.1",
            of_cluster("pod: {securityContext: {runAsUser: 0}}"),
            (
                "KB0318",
                str! {"`securityContext` of a runtime's pods cannot be set in Trainer v2.1, which the target `t` serves"},
            ),
        ),
        (
            "v2.3",
            of_cluster("container: {workingDir: /a}"),
            (
                "KB0318",
                str! {"`workingDir` of a runtime's pods cannot be set in Trainer v2.3, which the target `t` serves"},
            ),
        ),
        (
            "v2.0",
            of_cluster("labels: {a: b}"),
            ("KB0318", str! {"labels and annotations reach no pod in Trainer v2.0, which the target `t` serves"}),
        ),
    ] {
        assert_findings(&lowered_on(version, &fields), &[expected]);
    }
    assert_eq!(lowered_on("v2.2", "runtime: {xgboost: {}}"), NONE);
    assert_eq!(
        lowered_on("v2.2", &of_cluster("pod: {securityContext: {runAsUser: 1000}}, container: {volumeMounts: []}")),
        NONE
    );
    assert_eq!(lowered_on("v2.1", &of_cluster("labels: {a: b}")), NONE);
}

#[test]
fn which_runtime_it_is_must_be_clear() {
    for (fields, expected) in [
        ("trainer: {}", ("KB0317", str! {"`trainJob` has neither `runtime` nor `runtimeRef`"})),
        (
            "runtime: {torch: {}}, runtimeRef: {name: r}",
            ("KB0317", str! {"`runtime` and `runtimeRef` both name a runtime"}),
        ),
        (
            "runtime: {torch: {}}, initializer: {model: {storageUri: 'hf://a/b'}}",
            ("KB0317", str! {"`initializer` needs a runtime with Jobs that fetch, but `runtime` has none"}),
        ),
        (
            "runtime: {torch: {}}, env: {PET_NNODES: '2'}",
            ("KB0441", str! {"Trainer sets `PET_NNODES` itself under `torch`"}),
        ),
    ] {
        assert_findings(&lowered_on("v2.3", fields), &[expected]);
    }
    assert!(lowered_on("v2.3", "runtime: {torch: {}, jax: {}}")[0].0.starts_with("KB02"));
    assert!(lowered_on("v2.3", "runtime: {torch: {a: 1}}")[0].0.starts_with("KB02"));
    let wrong = lowered_on("v2.3", "runtimeRef: {name: r}, initializer: {model: {storageUri: 'a/b'}}");
    assert_findings(&wrong, &[("KB0205", str! {"`a/b` is not the address of a store"})]);
    let objects = objects("v2.3", "runtimeRef: {name: r}, initializer: {dataset: {storageUri: 'hf://a/b', secret: s}}");
    let dataset = json!({"storageUri": "hf://a/b", "secretRef": {"name": "s"}});
    assert_eq!(objects[0]["spec"]["initializer"], json!({ "dataset": dataset }));
}

#[test]
fn a_runtime_outside_git_is_said() {
    let found =
        ("KB0440", str! {"the runtime `torch-distributed` of the cluster is neither in git nor in the run digest"});
    let fields = |runtime: &str| train_job(runtime);
    check(&fields("runtimeRef: {name: torch-distributed}"), &[found]);
    check(&fields("runtime: {torch: {}}"), &[]);
}

#[test]
fn a_group_of_all_pods_is_in_the_queue() {
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {targets: {t: {queue: {volcano: q}}}}\n";
    let compiled = compile(project, &document(&train_job("runtime: {torch: {}}")));
    let runtime = &standalone(
        &compiled.benchmarks[0],
        &compiled.benchmarks[0].cases[0],
        "x",
        &kubebench_syntax::digest::Digest::of(""),
    )[1];
    assert_eq!(runtime["spec"]["podGroupPolicy"], json!({"volcano": {}}));
    let annotations = &runtime["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(annotations, &json!({"scheduling.volcano.sh/queue-name": "q"}));
}
