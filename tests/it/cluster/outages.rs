//! Parts of the control plane that end while runs continue. Other tests need them: these run alone.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::e2e::{Loop, Settings, run_folder};
use crate::support::judges::skip;

const SPEC: &str = r"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: outlives}
spec:
  timeout: 10m
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo line $i 1; usleep 100000; done']
      resources: {cpu: 10m, memory: 32Mi}
  metrics:
    - {name: lines, unit: '1', better: higher, primary: true, from: {log: {pattern: 'line [0-9]+ (?P<value>1)'}}, reduce: sum}
";

/// Ends a program of the test cluster with a signal, by the id that `up` has recorded.
fn signal(run: &Path, program: &str, signal: nix::sys::signal::Signal) {
    let recorded = fs::read_to_string(run.join("pids").join(program)).unwrap();
    let pid: i32 = recorded.split_whitespace().next().unwrap().parse().unwrap();
    nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), signal).unwrap();
}

/// The API server is frozen for a minute and then killed, the workflow controller is killed, the runner loses its rights for
/// a while: there is one result for each run, with every line.
#[test]
#[ignore = "it stops what other tests need: KUBEBENCH_CLUSTER=1 cargo test --test it cluster::outages -- --ignored"]
fn the_loop_outlives_its_control_plane() {
    use nix::sys::signal::Signal::{SIGCONT, SIGKILL, SIGSTOP};

    const TEST: &str = "the_loop_outlives_its_control_plane";
    let project = Settings { repeats: 2, ..Settings::of("outages") }.text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/outlives.yaml", SPEC)];
    let Some(cycle) = Loop::new(TEST, &files) else { return };
    let Some(folder) = run_folder(&cycle) else {
        return skip(TEST, "a cluster on this machine", "the control plane of this cluster is that of another machine");
    };
    let namespace = cycle.namespace("test").to_owned();
    let cluster = cycle.cluster();
    let of_round = |round: &str| format!("kubebench.dev/run,kubebench.dev/repeat={round}");
    let runs = |round: &str| {
        let ready = "--for=jsonpath={.status.phase}=Running";
        cluster.say(["-n", &namespace, "wait", "--for=create", "pod", "-l", &of_round(round), "--timeout=240s"]);
        cluster.say(["-n", &namespace, "wait", ready, "pod", "-l", &of_round(round), "--timeout=120s"]);
    };
    cycle.apply();

    runs("1");
    signal(&folder, "kube-apiserver", SIGSTOP);
    std::thread::sleep(Duration::from_mins(1));
    signal(&folder, "kube-apiserver", SIGCONT);
    std::thread::sleep(Duration::from_secs(5));
    signal(&folder, "workflow-controller", SIGKILL);
    cluster.add("argo");

    runs("2");
    let bindings = cluster.json(["-n", &namespace, "get", "rolebinding", "kubebench-runner", "-o", "json"]);
    cluster.say(["-n", &namespace, "delete", "rolebinding", "kubebench-runner"]);
    // Watches end when the server does; without rights none begins again.
    signal(&folder, "kube-apiserver", SIGKILL);
    std::thread::sleep(Duration::from_secs(10));
    cluster.add("argo");
    std::thread::sleep(Duration::from_secs(15));
    let mut again = json!({"apiVersion": bindings["apiVersion"], "kind": "RoleBinding"});
    for key in ["roleRef", "subjects"] {
        again[key] = bindings[key].clone();
    }
    again["metadata"] = json!({"namespace": namespace, "name": "kubebench-runner"});
    cycle.project.folder.write("binding.json", again.to_string());
    cluster.say(["create", "-f", &cycle.project.place("binding.json")]);

    cycle.ends("test", "outlives", "Succeeded");
    let results = cycle.results();
    let found = results.of("outlives");
    assert_eq!(found.len(), 2);
    for result in found {
        assert_eq!(
            (&result["run"]["status"], &result["run"]["attempt"]),
            (&json!("succeeded"), &json!(1)),
            "{result:#}"
        );
        assert_eq!(result["metrics"][0]["value"].as_f64(), Some(600.0), "{result:#}");
    }
    let left = cluster.json(["-n", &namespace, "get", "jobs,pods", "-l", "kubebench.dev/run", "-o", "json"]);
    assert_eq!(left["items"], json!([]));
}
