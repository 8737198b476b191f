use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::{Containers, Engine, Folders, Given, Plan, Secrets, plan, refusals};
use kubebench_compiler::compile::{Compilation, Input, Workspace};
use kubebench_testing::snapshot::{assert_findings, str};

fn compiled(workload: &str) -> Compilation {
    let text = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata:\n  name: x\nspec:\n  workload:\n{workload}\n  metrics:\n    - {{name: t, unit: s, better: lower, primary: true, from: {{duration: run}}}}\n"
    );
    let workspace = Workspace::open(None, "0.1.0").carrying(|_| Ok(b"echo\n".to_vec()));
    workspace.compile(vec![Input { path: "specs/x.yaml".to_owned(), bytes: text.into_bytes() }])
}

fn planned(workload: &str) -> Plan {
    let compilation = compiled(workload);
    let benchmark =
        &compilation.benchmarks.first().unwrap_or_else(|| panic!("{:#?}", compilation.diagnostics)).benchmark;
    let mut port = 7000;
    let values = BTreeMap::from([("KUBEBENCH_SECRET_HF_TOKEN".to_owned(), "s3cret".to_owned())]);
    let mut given = Given {
        base: &BTreeMap::from([("PATH".to_owned(), "/bin".to_owned())]),
        secrets: &Secrets::new(values),
        containers: None,
        folders: &Folders::new("/r".to_owned(), "x-1".to_owned(), "/d".to_owned()),
        namespace: "bench",
        ports: &mut || {
            port += 1;
            port
        },
    };
    plan(&benchmark.cases[0], &mut given)
}

fn env<'a>(plan: &'a Plan, index: usize, name: &str) -> &'a str {
    plan.processes[index].env.get(name).map_or("", String::as_str)
}

fn deciding(plan: &Plan) -> Vec<String> {
    let deciders = plan.processes.iter().filter(|process| process.decides);
    deciders.map(|process| format!("{}-{}", process.role, process.index)).collect()
}

const IMAGE: &str = "docker.io/library/python@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

#[test]
fn an_indexed_job() {
    let plan = planned(&format!(
        "    job:\n      image: {IMAGE}\n      command: [run]\n      parallelism: 2\n      completions: 3\n      completionMode: Indexed"
    ));
    assert_eq!((plan.processes.len(), plan.at_once), (3, 2));
    assert_eq!(env(&plan, 2, "JOB_COMPLETION_INDEX"), "2");
    assert_eq!(env(&plan, 2, "KUBEBENCH_EXP_OUTPUT_PATH"), "/r/x-1/output");
    assert!(plan.processes.iter().all(|process| process.decides));
}

#[test]
fn variables_and_words() {
    let plan = planned(&format!(
        "    job:\n      image: {IMAGE}\n      files: {{a.sh: {{path: a.sh}}}}\n      command: [sh, /kubebench/files/a.sh, /kubebench/filesystem]\n      args: [$(A), $x]\n      env: {{A: '1', HF: {{secret: {{name: hf, key: token}}}}, NS: {{field: metadata.namespace}}, S: /kubebench/files}}"
    ));
    assert_eq!(plan.processes[0].argv, ["sh", "/r/x-1/files/a.sh", "/kubebench/filesystem", "$(A)", "$x"]);
    assert_eq!([env(&plan, 0, "HF"), env(&plan, 0, "NS"), env(&plan, 0, "S")], ["s3cret", "bench", "/r/x-1/files"]);
}

#[test]
fn a_master_and_workers_find_each_other() {
    let plan = planned(&format!(
        "    pytorchJob:\n      image: {IMAGE}\n      command: [torchrun, t.py]\n      nprocPerNode: '2'\n      master: {{}}\n      worker: {{replicas: 2}}"
    ));
    let ranks: Vec<&str> = (0..3).map(|index| env(&plan, index, "RANK")).collect();
    assert_eq!(ranks, ["0", "1", "2"]);
    // Nodes times processes, as the operator counts since 1.9.
    assert_eq!(env(&plan, 2, "WORLD_SIZE"), "6");
    assert_eq!(env(&plan, 2, "MASTER_PORT"), env(&plan, 0, "MASTER_PORT"));
    assert_eq!(
        [env(&plan, 1, "PET_NODE_RANK"), env(&plan, 1, "PET_NNODES"), env(&plan, 1, "PET_NPROC_PER_NODE")],
        ["1", "3", "2"]
    );
    let decides: Vec<bool> = plan.processes.iter().map(|process| process.decides).collect();
    assert_eq!(decides, [true, false, false]);
}

#[test]
fn workers_alone_are_elastic() {
    let plan = planned(&format!(
        "    pytorchJob:\n      image: {IMAGE}\n      worker: {{replicas: 2, command: [torchrun, t.py]}}"
    ));
    assert_eq!([env(&plan, 0, "PET_NNODES"), env(&plan, 0, "PET_RDZV_BACKEND")], ["2:2", "c10d"]);
    assert_eq!(env(&plan, 1, "PET_RDZV_ENDPOINT"), "127.0.0.1:7001");
    assert!(plan.processes.iter().all(|process| process.decides));
    // As in a cluster: what runs without torchrun finds no rank.
    for name in ["MASTER_ADDR", "RANK", "LOCAL_RANK", "WORLD_SIZE", "PET_NODE_RANK", "PET_RDZV_CONF"] {
        assert_eq!(env(&plan, 0, name), "", "{name}");
    }
}

#[test]
fn elastic_workers_meet_here_without_a_server() {
    let plan = planned(&format!(
        "    pytorchJob:\n      image: {IMAGE}\n      nprocPerNode: gpu\n      elasticPolicy: {{minReplicas: 1, maxReplicas: 4, maxRestarts: 3, rdzvBackend: etcd, rdzvHost: etcd.example, rdzvConf: {{timeout: '900', close_timeout: '5'}}}}\n      worker: {{replicas: 2, command: [torchrun, t.py]}}"
    ));
    assert_eq!(plan.processes.len(), 2);
    for (name, value) in [
        ("PET_NNODES", "1:4"),
        ("PET_MAX_RESTARTS", "3"),
        ("PET_RDZV_BACKEND", "c10d"),
        ("PET_RDZV_ENDPOINT", "127.0.0.1:7001"),
        ("PET_RDZV_CONF", "close_timeout=5,timeout=900"),
        ("PET_NPROC_PER_NODE", "gpu"),
    ] {
        assert_eq!(env(&plan, 1, name), value, "{name}");
    }
}

/// The names and the values but for addresses are those of the operator's `SetPodEnv`.
#[test]
fn a_tracker_and_its_workers() {
    let plan = planned(&format!(
        "    xgboostJob:\n      image: {IMAGE}\n      command: [t]\n      master: {{}}\n      worker: {{replicas: 2}}"
    ));
    let ranks: Vec<&str> = (0..3).map(|index| env(&plan, index, "RANK")).collect();
    assert_eq!(ranks, ["0", "1", "2"]);
    for (name, value) in [
        ("MASTER_ADDR", "127.0.0.1"),
        ("MASTER_PORT", "7001"),
        ("WORLD_SIZE", "3"),
        ("WORKER_PORT", "7002"),
        ("WORKER_ADDRS", "127.0.0.1,127.0.0.1"),
        ("PYTHONUNBUFFERED", "1"),
    ] {
        assert!((0..3).all(|index| env(&plan, index, name) == value), "{name}");
    }
    assert_eq!(deciding(&plan), ["master-0"]);
    let alone = planned(&format!("    xgboostJob: {{image: {IMAGE}, command: [t], master: {{}}}}"));
    assert_eq!([env(&alone, 0, "WORLD_SIZE"), env(&alone, 0, "WORKER_PORT")], ["1", ""]);
}

#[test]
fn nodes_of_paddle() {
    let of = |roles: &str| planned(&format!("    paddleJob: {{image: {IMAGE}, command: [t], {roles}}}"));
    let names = |plan: &Plan, index: usize| {
        let env = plan.processes[index].env.iter();
        env.filter(|(name, _)| name.starts_with("PADDLE") || name.starts_with("POD"))
            .map(|(name, value)| format!("{name}={value}"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    let collective = of("worker: {replicas: 2}");
    let shared = "PADDLE_JOB_ID=x-1 PADDLE_MASTER=127.0.0.1:7001 PADDLE_NNODES=2";
    assert_eq!(names(&collective, 0), format!("{shared} POD_IP_DUMMY=127.0.0.1"));
    assert_eq!(names(&collective, 1), shared);
    assert_eq!(deciding(&collective), ["worker-0", "worker-1"]);
    let servers = of("master: {replicas: 2}, worker: {replicas: 1}");
    let shared = shared.replace("NNODES=2", "NNODES=3");
    assert_eq!(names(&servers, 0), format!("{shared} PADDLE_SERVER_NUM=1 POD_IP_DUMMY=127.0.0.1"));
    assert_eq!(names(&servers, 1), format!("{shared} PADDLE_SERVER_NUM=1"));
    assert_eq!(names(&servers, 2), format!("{shared} PADDLE_TRAINER_NUM=1"));
    assert_eq!(deciding(&servers), ["master-0", "master-1"]);
}

#[test]
fn processes_of_jax() {
    let plan = planned(&format!("    jaxJob: {{image: {IMAGE}, command: [t], worker: {{replicas: 2}}}}"));
    for (name, values) in [
        ("COORDINATOR_ADDRESS", ["127.0.0.1"; 2]),
        ("COORDINATOR_PORT", ["7001"; 2]),
        ("NUM_PROCESSES", ["2"; 2]),
        ("PROCESS_ID", ["0", "1"]),
        ("PYTHONUNBUFFERED", ["1"; 2]),
    ] {
        assert_eq!([env(&plan, 0, name), env(&plan, 1, name)], values, "{name}");
    }
    assert_eq!(deciding(&plan), ["worker-0", "worker-1"]);
}

#[test]
fn tasks_of_volcano() {
    let of = |fields: &str| planned(&format!("    volcanoJob: {{image: {IMAGE}, command: [t], {fields}}}"));
    let tasks = "tasks: [{name: p-s}, {name: worker, replicas: 2}]";
    let plan = of(&format!("plugins: {{env: [], svc: []}}, {tasks}"));
    assert_eq!(env(&plan, 2, "VC_TASK_INDEX"), "1");
    assert_eq!(env(&plan, 2, "VK_TASK_INDEX"), "1");
    assert_eq!(env(&plan, 0, "VC_WORKER_HOSTS"), "127.0.0.1,127.0.0.1");
    assert_eq!([env(&plan, 1, "VC_P_S_HOSTS"), env(&plan, 1, "VC_WORKER_NUM")], ["127.0.0.1", "2"]);
    assert_eq!(deciding(&plan), ["p-s-0", "worker-0", "worker-1"]);
    let plain = of(tasks);
    assert_eq!([env(&plain, 2, "VC_TASK_INDEX"), env(&plain, 0, "VC_WORKER_HOSTS")], ["", ""]);
    let policies = "patch: {spec: {tasks: [{name: p-s, policies: [{events: [TaskCompleted], action: CompleteJob}]}]}}";
    assert_eq!(deciding(&of(&format!("{policies}, {tasks}"))), ["p-s-0"]);
}

#[test]
fn what_volcano_does_to_pods_is_refused() {
    let of = |fields: &str| {
        let compilation =
            compiled(&format!("    volcanoJob: {{image: {IMAGE}, command: [t], tasks: [{{name: a}}], {fields}}}"));
        let found = refusals(&compilation.benchmarks[0].benchmark, Engine::Process, &Secrets::default());
        found.as_slice().iter().map(|fault| (fault.code.id, fault.message.clone())).collect::<Vec<_>>()
    };
    assert_eq!(of("plugins: {env: [], svc: []}"), []);
    let ssh = ("KB0442", str! {"the Volcano plugin `ssh` sets up pods, but a local run has none"});
    assert_findings(&of("plugins: {ssh: []}"), &[ssh]);
    let hosts = ("KB0442", str! {"`/etc/volcano/` holds names of pods, which only a cluster resolves"});
    assert_findings(&of("args: [cat, /etc/volcano/a.host]"), &[hosts]);
}

#[test]
fn tensorflow_reads_its_cluster() {
    let plan = planned(&format!(
        "    tfJob:\n      image: {IMAGE}\n      command: [t]\n      chief: {{replicas: 1}}\n      ps: {{replicas: 1}}\n      worker: {{replicas: 2}}"
    ));
    let config: Json = serde_json::from_str(env(&plan, 3, "TF_CONFIG")).unwrap();
    assert_eq!(config["task"]["type"], "worker");
    assert_eq!(config["cluster"]["worker"].as_array().unwrap().len(), 2);
    let deciders: Vec<&str> =
        plan.processes.iter().filter(|process| process.decides).map(|process| process.role.as_str()).collect();
    assert_eq!(deciders, ["chief"]);
}

/// As the operator's `UpdateJobStatus`: where there is a chief, the policy for workers says nothing.
#[test]
fn who_decides_a_tensorflow_job() {
    let deciders =
        |lines: &str| deciding(&planned(&format!("    tfJob:\n      image: {IMAGE}\n      command: [t]\n{lines}")));
    let workers = "      worker: {replicas: 2}\n";
    let all = "      successPolicy: AllWorkers\n";
    let chief = "      chief: {replicas: 1}\n";
    assert_eq!(deciders(workers), ["worker-0"]);
    assert_eq!(deciders(&format!("{workers}{all}")), ["worker-0", "worker-1"]);
    assert_eq!(deciders(&format!("{chief}{workers}")), ["chief-0"]);
    assert_eq!(deciders(&format!("{chief}{workers}{all}")), ["chief-0"]);
}

#[test]
fn a_launcher_has_a_host_file() {
    let plan = planned(&format!(
        "    mpiJob:\n      image: {IMAGE}\n      slotsPerWorker: 2\n      launcher: {{command: [mpirun, hostname]}}\n      worker: {{replicas: 3, command: [/usr/sbin/sshd, -De]}}"
    ));
    assert_eq!(plan.processes.len(), 1);
    assert_eq!(plan.config["hostfile"], "localhost slots=6\n");
    assert_eq!(env(&plan, 0, "OMPI_MCA_orte_default_hostfile"), "/r/x-1/config/hostfile");
}

#[test]
fn a_container_of_a_role() {
    let compilation = compiled(&format!(
        "    job: {{image: {IMAGE}, command: [run], args: [a], env: {{A: '1', HOME: /h}}, resources: {{cpu: 1, memory: 1Gi, nvidia.com/gpu: 2}}}}"
    ));
    let benchmark = &compilation.benchmarks[0].benchmark;
    let argv = |engine, uid| {
        let host = Folders::new("/p,q/\"r".to_owned(), "x-1".to_owned(), "/d".to_owned());
        let client = BTreeMap::from([("HOME".to_owned(), "/root".to_owned())]);
        let containers = Containers { engine, client, user: (uid, 5), host };
        let mut given = Given {
            base: &BTreeMap::new(),
            secrets: &Secrets::default(),
            containers: Some(&containers),
            folders: &Folders::in_containers("x-1".to_owned()),
            namespace: "bench",
            ports: &mut || 1,
        };
        let process = plan(&benchmark.cases[0], &mut given).processes.remove(0);
        assert_eq!((process.env["HOME"].as_str(), process.env["A"].as_str()), ("/root", "1"));
        assert_eq!(process.container.as_deref(), Some("x-1-job-0"));
        process.argv.join(" ")
    };
    let docker = argv(Engine::Docker, 7);
    for words in [
        "docker run --rm --pull never --name x-1-job-0 --network host --user 7:5 --security-opt label=disable --mount ",
        r#" --mount type=bind,"source=/p,q/""r",target=/kubebench/experiments "#,
        r#" --mount type=bind,"source=/p,q/""r/x-1/files",target=/kubebench/files,readonly "#,
        " --gpus all --ipc host ",
        " --env A --env HOME=/h ",
    ] {
        assert!(docker.contains(words), "{words} in {docker}");
    }
    assert!(docker.ends_with(&format!(" --entrypoint run {IMAGE} a")), "{docker}");
    assert!(argv(Engine::Podman, 7).contains(" --userns keep-id --mount "));
    assert!(
        argv(Engine::Podman, 0).contains(" --device nvidia.com/gpu=all ")
            && !argv(Engine::Podman, 0).contains("userns")
    );
}

#[test]
fn what_a_machine_does_not_have_is_refused() {
    let compilation = compiled(&format!(
        "    job:\n      image: {IMAGE}\n      env: {{T: {{secret: {{name: hf, key: the.token}}}}, C: {{configMap: {{name: c, key: k}}}}, U: {{field: metadata.uid}}}}"
    ));
    let found = refusals(&compilation.benchmarks[0].benchmark, Engine::Process, &Secrets::default());
    let codes: Vec<&str> = found.as_slice().iter().map(|fault| fault.code.id).collect();
    assert_eq!(codes, ["KB0350", "KB0351", "KB0351", "KB0351"]);
    assert!(found.as_slice().iter().any(|fault| format!("{fault:?}").contains("KUBEBENCH_SECRET_HF_THE_TOKEN")));
}

#[test]
fn a_job_set_is_all_its_pods() {
    let plan = planned(&format!(
        "    jobSet:\n      image: {IMAGE}\n      command: [run]\n      env: {{RANK: {{field: \"metadata.annotations['batch.kubernetes.io/job-completion-index']\"}}}}\n      successPolicy: {{targetReplicatedJobs: [worker]}}\n      replicatedJobs:\n        - {{name: loader}}\n        - {{name: worker, replicas: 2, parallelism: 2}}"
    ));
    let places: Vec<(&str, u32, bool)> =
        plan.processes.iter().map(|process| (process.role.as_str(), process.index, process.decides)).collect();
    assert_eq!(
        places,
        [("loader", 0, false), ("worker", 0, true), ("worker", 1, true), ("worker", 2, true), ("worker", 3, true)]
    );
    let numbers: Vec<&str> = (0..5).map(|index| env(&plan, index, "JOB_COMPLETION_INDEX")).collect();
    assert_eq!((numbers, plan.at_once), (vec!["0", "0", "1", "0", "1"], 5));
    assert_eq!(env(&plan, 2, "RANK"), "1");
}

#[test]
fn the_nodes_of_a_train_job_find_each_other() {
    let plan = |runtime: &str, trainer: &str| {
        planned(&format!(
            "    trainJob:\n      image: {IMAGE}\n      command: [run]\n      resources: {{cpu: 1500m, memory: 1Gi}}\n      runtime: {runtime}\n      trainer: {trainer}"
        ))
    };
    let torch = plan("{torch: {}}", "{numNodes: 2}");
    let variables =
        ["PET_NNODES", "PET_NPROC_PER_NODE", "PET_NODE_RANK", "PET_MASTER_ADDR"].map(|name| env(&torch, 1, name));
    assert_eq!(variables, ["2", "2", "1", "127.0.0.1"]);
    assert_eq!(env(&torch, 1, "PET_MASTER_PORT"), env(&torch, 0, "PET_MASTER_PORT"));
    assert_eq!(env(&plan("{torch: {}}", "{numProcPerNode: 8}"), 0, "PET_NPROC_PER_NODE"), "8");
    let jax = plan("{jax: {}}", "{numNodes: 3}");
    let variables = ["JAX_NUM_PROCESSES", "JAX_PROCESS_ID", "JAX_COORDINATOR_ADDRESS"].map(|name| env(&jax, 2, name));
    assert_eq!(variables, ["3", "2", "127.0.0.1:7001"]);
    let boost = plan("{xgboost: {}}", "{numNodes: 2}");
    assert_eq!(["DMLC_TASK_ID", "DMLC_NUM_WORKER"].map(|name| env(&boost, 1, name)), ["1", "2"]);
    let mpi = plan("{mpi: {}}", "{numNodes: 3, numProcPerNode: 2}");
    assert_eq!((mpi.processes.len(), mpi.processes[0].role.as_str()), (1, "launcher"));
    assert_eq!(mpi.config["hostfile"], "localhost slots=6\n");
}

#[test]
fn what_only_a_cluster_does_is_refused() {
    let refused = |workload: &str| {
        let compilation = compiled(workload);
        let found = refusals(&compilation.benchmarks[0].benchmark, Engine::Process, &Secrets::default());
        found.as_slice().iter().map(|fault| (fault.code.id, fault.message.clone())).collect::<Vec<_>>()
    };
    let set = |jobs: &str, fields: &str| {
        refused(&format!(
            "    jobSet:\n      image: {IMAGE}\n      command: [run]\n      replicatedJobs: [{jobs}]\n{fields}"
        ))
    };
    assert_findings(
        &set("{name: a}, {name: b, dependsOn: [{name: a, status: Complete}]}", ""),
        &[("KB0442", str! {"`b` waits for the end of another role, but a local run starts all roles at once"})],
    );
    assert_eq!(set("{name: a}, {name: b, dependsOn: [{name: a, status: Ready}]}", ""), []);
    assert_findings(
        &set("{name: a}, {name: b, completions: 2}", ""),
        &[("KB0442", str! {"the pods of `b` run one after another, at the same time as other roles"})],
    );
    assert_eq!(set("{name: b, completions: 2}", ""), []);
    let named = |address: &str| set("{name: w-1}", &format!("      env: {{MASTER_ADDR: '{address}'}}"));
    assert_findings(
        &named("$(KUBEBENCH_EXP_ID)-w-1-0-10.$(KUBEBENCH_EXP_ID)"),
        &[("KB0442", str! {"`-w-1-0-10` is the name of a pod, which only a cluster resolves"})],
    );
    for address in ["127.0.0.1", "x-w-1-0-a.b", "x-w-1-0.b", "-w-1--.", "x-w-1-0-0"] {
        assert_eq!(named(address), [], "{address}");
    }
    let of_cluster = format!("    trainJob: {{image: {IMAGE}, command: [run], runtimeRef: {{name: r}}}}");
    assert_findings(
        &refused(&of_cluster),
        &[("KB0442", str! {"the runtime of `runtimeRef` exists only in its cluster"})],
    );
}
