//! Steps that are killed with no chance to say anything.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Failure, eventually, project};
use crate::cluster::e2e::is_own;
use crate::support::judges::skip;

const RUNS: [Failure; 1] = [Failure {
    benchmark: "killed",
    limits: "matrix: {axes: {case: [1, 2, 3, 4, 5]}}\n  parallelism: 5\n  results: {claim: {accessModes: [ReadWriteOnce]}}\n  timeout: 8m\n  queueTimeout: 5m\n  \
        metrics: [{name: lines, unit: '1', better: higher, primary: true, from: {log: {pattern: 'line [0-9]+ (?P<value>1)'}}, reduce: sum}]",
    workload: "{job: {image: 'busybox:1', env: {CASE: '${{ matrix.case }}'}, command: [sh, -c, 'i=0; while [ $i -lt 600 ]; do i=$((i+1)); echo line $i 1; usleep 200000; done'], resources: {cpu: 10m, memory: 32Mi}}}",
    status: "succeeded",
    code: "",
    words: &[],
    last: &[],
}];

/// The processes of `kubebench step run` in a namespace, each with its run.
fn steps(namespace: &str) -> Vec<(i32, String)> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        let read = |file: &str| fs::read(Path::new("/proc").join(pid.to_string()).join(file)).unwrap_or_default();
        let command = String::from_utf8_lossy(&read("cmdline")).into_owned();
        let words: Vec<&str> = command.split('\0').collect();
        if let [program, "step", "run", run, ..] = words.as_slice()
            && program.ends_with("kubebench")
            && String::from_utf8_lossy(&read("environ"))
                .split('\0')
                .any(|set| set == format!("KUBEBENCH_NAMESPACE={namespace}"))
        {
            found.push((pid, (*run).to_owned()));
        }
    }
    found
}

/// How often Argo starts a step again.
const RETRIES: usize = 4;

/// Kills the step of the run whose id begins like `run` as often as Argo starts it again, at random moments.
fn kill_again_and_again(namespace: &str, run: &str, mut state: u64) {
    let mut last = 0;
    for _ in 0..RETRIES {
        let (pid, _) =
            eventually(run, || steps(namespace).into_iter().find(|(pid, of)| *pid != last && of.starts_with(run)));
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        std::thread::sleep(Duration::from_millis((state >> 33) % 6000));
        // It may have ended meanwhile.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid), nix::sys::signal::Signal::SIGKILL);
        last = pid;
    }
}

/// Before a step has its job, while it follows it, while it reads what it left: twenty times.
#[test]
fn a_step_that_is_killed_continues_where_it_was() {
    const NAME: &str = "a_step_that_is_killed_continues_where_it_was";
    let Some(tree) = project(NAME, "killed", &RUNS) else { return };
    if !is_own(tree.cluster()) {
        return skip(NAME, "a cluster on this machine", "the processes of this one are those of another machine");
    }
    let namespace = tree.namespace("cluster").to_owned();
    tree.apply();
    let seed = u64::from(std::process::id());
    std::thread::scope(|scope| {
        for case in 1..=5 {
            let namespace = &namespace;
            scope.spawn(move || kill_again_and_again(namespace, &format!("case-{case}-"), seed + case));
        }
    });
    tree.ends("cluster", "killed", "Succeeded");
    tree.assert_nothing_left();
    let results = tree.results();
    let found = results.of("killed");
    assert_eq!(found.len(), 5, "seed {seed}");
    for result in found {
        assert_eq!(
            (&result["run"]["status"], &result["run"]["attempt"]),
            (&json!("succeeded"), &json!(1)),
            "seed {seed}: {result:#}"
        );
        // Each line came once, whenever its reader was killed.
        assert_eq!(result["metrics"][0]["value"].as_f64(), Some(600.0), "seed {seed}: {result:#}");
    }
}
