//! Each kind of workload gives its replicas what its operator would.

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::Value;

use super::environment::printed;
use super::{IMAGE, SECONDS, log, only_run, project, run, shell};

const RESOURCES: &str = "resources: {cpu: 1, memory: 1Gi}";

#[test]
fn an_indexed_job_runs_as_many_at_once_as_it_says() {
    let script = "echo $JOB_COMPLETION_INDEX; cd $KUBEBENCH_EXP_OUTPUT_PATH; mkdir at-$JOB_COMPLETION_INDEX; ls -d at-* | wc -l; sleep 0.3; rmdir at-$JOB_COMPLETION_INDEX";
    let workload = format!("job: {{completions: 5, parallelism: 2, completionMode: Indexed, {}}}", shell(script));
    let folder = project(&workload, &[SECONDS]);
    let ran = run(&folder, &[]);
    assert_eq!(ran.ended(Status::Succeeded, 0).run.exits.len(), 5);
    let mut most = 0;
    for index in 0..5 {
        let text = String::from_utf8(log(&folder, &format!("job-{index}.log"))).unwrap();
        let mut lines = text.lines();
        assert_eq!(lines.next(), Some(index.to_string().as_str()));
        most = most.max(lines.next().unwrap().trim().parse::<u32>().unwrap());
    }
    assert_eq!(most, 2);
}

pub(super) fn ranks_of_torchrun() {
    let fields = shell("env; trap 'exit 0' TERM; test $RANK = 0 || sleep 100 & wait");
    let folder = project(
        &format!("pytorchJob: {{nprocPerNode: '4', {fields}, master: {{}}, worker: {{replicas: 2}}}}"),
        &[SECONDS],
    );
    let ran = run(&folder, &[]);
    ran.ended(Status::Succeeded, 0);
    let all = ["master-0.log", "worker-0.log", "worker-1.log"].map(|name| printed(&folder, name));
    let of = |name: &str| all.each_ref().map(|env| env.get(name).cloned().unwrap_or_default());
    assert_eq!(of("RANK"), ["0", "1", "2"]);
    assert_eq!(of("PET_NODE_RANK"), ["0", "1", "2"]);
    for (name, value) in [
        ("WORLD_SIZE", "12"),
        ("LOCAL_RANK", "0"),
        ("MASTER_ADDR", "127.0.0.1"),
        ("PET_NNODES", "3"),
        ("PET_NPROC_PER_NODE", "4"),
    ] {
        assert_eq!(of(name), [value; 3], "{name}");
    }
    let ports = of("MASTER_PORT");
    assert!(ports[0].parse::<u16>().is_ok_and(|port| port > 1023) && ports.iter().all(|port| *port == ports[0]));
}

/// Workers die when the master has finished; neither that nor the timeout is of account then, also not while the
/// supervisor of the master still ends what it left.
pub(super) fn the_master_decides() {
    let stubborn = "sh -c 'trap \"\" TERM; touch $KUBEBENCH_EXP_OUTPUT_PATH/up; while :; do sleep 0.1; done' &";
    let wait = "until test -e $KUBEBENCH_EXP_OUTPUT_PATH/up; do sleep 0.02; done";
    let done = "$KUBEBENCH_EXP_OUTPUT_PATH/done";
    let of_worker = format!("until test -e {done}; do sleep 0.02; done; sleep 0.2; exit 3");
    let of_failing = "exit 3".to_owned();
    for (left, worker, timeout, status, code) in [
        ("", &of_worker, "1h", Status::Succeeded, 0),
        (stubborn, &of_worker, "1h", Status::Succeeded, 0),
        (stubborn, &"exec sleep 100".to_owned(), "3s", Status::Succeeded, 0),
        ("trap 'exit 0' TERM; sleep 100 & wait;", &of_failing, "1h", Status::Failed, 1),
    ] {
        let wait = if left == stubborn { wait } else { "" };
        let script = format!("if test $RANK = 0; then {left} {wait}\n touch {done}; else {worker}; fi");
        let workload = format!("pytorchJob: {{{}, master: {{}}, worker: {{replicas: 1}}}}", shell(&script));
        let ran = run(&project(&workload, &[SECONDS, &format!("timeout: {timeout}")]), &[]);
        let result = ran.ended(status, code);
        assert_eq!(super::exit(result, "worker", 0).code.is_some(), timeout == "1h", "{result:#?}");
        assert_eq!(result.run.reasons.len(), usize::try_from(code).unwrap(), "{:?}", result.run.reasons);
    }
}

#[test]
fn what_the_training_operator_tells() {
    let pair = "master: {}, worker: {replicas: 1}";
    for (kind, roles, expected) in [
        ("xgboostJob", pair, ["MASTER_ADDR=127.0.0.1", "RANK=1", "WORLD_SIZE=2"]),
        ("paddleJob", pair, ["PADDLE_NNODES=2", "PADDLE_TRAINER_NUM=1", "PYTHONUNBUFFERED=1"]),
        ("jaxJob", "worker: {replicas: 1}", ["COORDINATOR_ADDRESS=127.0.0.1", "NUM_PROCESSES=1", "PROCESS_ID=0"]),
    ] {
        let folder = project(&format!("{kind}: {{{}, {roles}}}", shell("env")), &[SECONDS]);
        run(&folder, &[]).ended(Status::Succeeded, 0);
        let text = String::from_utf8(log(&folder, "worker-0.log")).unwrap();
        let missing: Vec<&&str> = expected.iter().filter(|line| !text.lines().any(|found| found == **line)).collect();
        assert!(missing.is_empty(), "{kind}: {missing:?} in {text}");
    }
}

pub(super) fn a_cluster_of_tensorflow() {
    let fields = shell("env; test $ROLE = chief || exec sleep 100");
    let role = |name: &str, replicas: u32| format!("{name}: {{replicas: {replicas}, env: {{ROLE: {name}}}}}");
    let roles = [role("chief", 1), role("ps", 1), role("worker", 2), role("evaluator", 1)].join(", ");
    let folder = project(&format!("tfJob: {{{fields}, {roles}}}"), &[SECONDS]);
    run(&folder, &[]).ended(Status::Succeeded, 0);
    let config = |name: &str| -> Value { serde_json::from_str(&printed(&folder, name)["TF_CONFIG"]).unwrap() };
    let (chief, worker) = (config("chief-0.log"), config("worker-1.log"));
    assert_eq!(worker["task"], serde_json::json!({"type": "worker", "index": 1}));
    assert_eq!(chief["cluster"], worker["cluster"]);
    let cluster = worker["cluster"].as_object().unwrap();
    let sizes: Vec<(&str, usize)> =
        cluster.iter().map(|(role, hosts)| (role.as_str(), hosts.as_array().unwrap().len())).collect();
    assert_eq!(sizes, [("chief", 1), ("ps", 1), ("worker", 2)]);
    let mut hosts: Vec<&str> =
        cluster.values().flat_map(|hosts| hosts.as_array().unwrap()).filter_map(Value::as_str).collect();
    hosts.sort_unstable();
    hosts.dedup();
    assert_eq!(hosts.len(), 4, "a port each: {hosts:?}");
}

#[test]
fn mpirun_of_this_machine_reads_the_host_file() {
    let launcher = format!("launcher: {{{RESOURCES}, command: [mpirun, -np, '4', hostname]}}");
    let worker = format!("worker: {{{RESOURCES}, replicas: 2, command: [/usr/sbin/sshd, -De]}}");
    let folder = project(&format!("mpiJob: {{image: {IMAGE}, slotsPerWorker: 2, {launcher}, {worker}}}"), &[SECONDS]);
    folder.write("bin/mpirun", "#!/bin/sh\necho \"$@\"\ncat $OMPI_MCA_orte_default_hostfile $HYDRA_HOST_FILE\n");
    let program = folder.path().join("bin/mpirun");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().join("bin").display(), std::env::var("PATH").unwrap());
    let output = folder.command(&["run", "specs"]).env("PATH", path).output().unwrap();
    crate::support::project::assert_yes(&output);
    let text = String::from_utf8(log(&folder, "launcher-0.log")).unwrap();
    assert_eq!(text, "-np 4 hostname\nlocalhost slots=4\nlocalhost slots=4\n");
    assert!(!only_run(&folder).join("output/logs/worker-0.log").exists());
}

#[test]
fn without_mpirun_it_says_so() {
    let launcher = format!("launcher: {{{RESOURCES}, command: [mpirun-of-nobody, hostname]}}");
    let worker = format!("worker: {{{RESOURCES}, replicas: 2, command: [/usr/sbin/sshd, -De]}}");
    let folder = project(&format!("mpiJob: {{image: {IMAGE}, {launcher}, {worker}}}"), &[SECONDS]);
    let ran = run(&folder, &[]);
    ran.ended(Status::Failed, 2);
    assert_line(&ran.stderr, str! {"    launcher-0 cannot be started: there is no program `mpirun-of-nobody` in PATH"});
}
