//! Steps that are killed with no chance to say anything.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::{Failure, eventually, project};
use crate::cluster::e2e::is_own;
use crate::judges::skip;

const RUNS: [Failure; 1] = [Failure {
    benchmark: "killed",
    limits: "matrix: {axes: {case: [1, 2, 3]}}\n  parallelism: 3\n  results: {claim: {accessModes: [ReadWriteOnce]}}\n  timeout: 8m\n  queueTimeout: 5m\n  \
        metrics: [{name: lines, unit: '1', better: higher, primary: true, from: {log: {pattern: 'line [0-9]+ (?P<value>1)'}}, reduce: sum}]",
    workload: "{job: {image: 'busybox:1', env: {CASE: '${{ matrix.case }}'}, command: [sh, -c, 'i=0; while [ $i -lt 300 ]; do i=$((i+1)); echo line $i 1; usleep 100000; done'], resources: {cpu: 10m, memory: 32Mi}}}",
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

/// Each step is killed before it has its job, while it follows it, or both; Argo starts it again.
#[test]
fn a_step_that_is_killed_goes_on_where_it_was() {
    let Some(tree) = project("a_step_that_is_killed_goes_on_where_it_was", "killed", &RUNS) else { return };
    if !is_own(tree.cluster()) {
        return skip("a_step_that_is_killed", "the processes of this cluster are those of another machine");
    }
    let namespace = tree.namespace("cluster").to_owned();
    tree.apply();
    let kill = |run: &str| {
        let pid = eventually(run, || steps(&namespace).into_iter().find(|step| step.1.starts_with(run)));
        // It may have ended meanwhile.
        let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(pid.0), nix::sys::signal::Signal::SIGKILL);
    };
    kill("case-1-");
    tree.running_pod("killed");
    kill("case-2-");
    kill("case-1-");
    kill("case-3-");
    tree.ends("cluster", "killed", "Succeeded");
    tree.assert_nothing_left();
    let results = tree.results();
    let found = results.of("killed");
    assert_eq!(found.len(), 3);
    for result in found {
        assert_eq!(
            (&result["run"]["status"], &result["run"]["attempt"]),
            (&json!("succeeded"), &json!(1)),
            "{result:#}"
        );
        // Each line came once, whenever its reader was killed.
        assert_eq!(result["metrics"][0]["value"].as_f64(), Some(300.0), "{result:#}");
    }
}
