//! What a person needs to see when the loop did not close.

#![expect(clippy::print_stderr, reason = "it goes into the output of a test that fails")]

use super::super::Cluster;

/// Shows the nodes of the Workflows of a namespace, what its pods printed, and its events.
pub(super) fn show(cluster: &Cluster, namespace: &str) {
    let shown = |arguments: &[&str]| {
        let output = cluster.kubectl(["-n", namespace].iter().chain(arguments));
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
    };
    let nodes = "{range .items[*]}{.metadata.name}: {.status.phase} {.status.message}{\"\\n\"}\
                 {range .status.nodes.*}  {.displayName} {.phase} {.message}{\"\\n\"}{end}{end}";
    eprintln!("== Workflows of {namespace}\n{}", shown(&["get", "workflows", "-o", &format!("jsonpath={nodes}")]));
    eprintln!("== jobs and pods\n{}", shown(&["get", "jobs,pytorchjobs,tfjobs,mpijobs,pods", "-o", "wide"]));
    for pod in shown(&["get", "pods", "-o", "name"]).lines() {
        let logs = shown(&["logs", "--all-containers", "--prefix", "--tail=40", pod]);
        let logs: Vec<&str> = logs.lines().filter(|line| !line.contains(" level=info ")).collect();
        eprintln!("== {pod}\n{}", logs.join("\n"));
    }
    let sorted = [
        "get",
        "events",
        "--sort-by=.lastTimestamp",
        "-o",
        "custom-columns=A:.reason,B:.involvedObject.name,C:.message",
    ];
    let events = shown(&sorted);
    let events: Vec<&str> = events.lines().collect();
    eprintln!("== the last events\n{}", events[events.len().saturating_sub(60)..].join("\n"));
}
