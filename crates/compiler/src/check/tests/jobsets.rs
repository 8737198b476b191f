//! JobSets: what they become, and what JobSet's webhook would refuse of them.

use serde_json::{Value as Json, json};

use super::*;

/// A JobSet with these jobs and these additional fields.
fn job_set(jobs: &str, fields: &str) -> String {
    format!(
        "workload: {{jobSet: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}, replicatedJobs: [{jobs}]{fields}}}}}"
    )
}

fn workload_of(fields: &str) -> crate::model::Workload {
    let mut compiled = compile("", &document(fields));
    assert_eq!(compiled.before, [], "{fields}");
    compiled.benchmarks.remove(0).cases.remove(0).workload
}

#[test]
fn every_job_is_a_role() {
    let workload = workload_of(&job_set(
        "{name: loader, command: [b], resources: {cpu: 2}}, {name: worker, replicas: 2, parallelism: 3, completions: 4, dependsOn: [{name: loader, status: Ready}]}",
        ", network: {enableDNSHostnames: true, publishNotReadyAddresses: false, subdomain: x}, successPolicy: {targetReplicatedJobs: [worker]}, coordinator: {replicatedJob: worker, podIndex: 3}",
    ));
    let sizes: Vec<(&str, u32, u32, u32)> = workload
        .roles
        .iter()
        .map(|role| (role.name.as_str(), role.replicas, role.max_replicas, role.completions))
        .collect();
    assert_eq!(sizes, [("loader", 1, 1, 1), ("worker", 6, 6, 8)]);
    assert_eq!(workload.roles[0].command, ["b"]);
    assert_eq!(workload.roles[1].longest_name.suffix, "-worker-1-3-00000");
    let spec = Json::Object(workload.spec);
    assert_eq!(spec["failurePolicy"], json!({"maxRestarts": 0}));
    assert_eq!(spec["successPolicy"], json!({"operator": "All", "targetReplicatedJobs": ["worker"]}));
    assert_eq!(spec["network"], json!({"publishNotReadyAddresses": false, "subdomain": "x"}));
    assert_eq!(spec["coordinator"], json!({"replicatedJob": "worker", "jobIndex": 0, "podIndex": 3}));
    let job = &spec["replicatedJobs"][1];
    assert_eq!((&job["name"], &job["replicas"]), (&json!("worker"), &json!(2)));
    assert_eq!(job["dependsOn"], json!([{"name": "loader", "status": "Ready"}]));
    let expected = json!({"activeDeadlineSeconds": 3600, "backoffLimit": 0, "completionMode": "Indexed", "completions": 4, "parallelism": 3});
    assert_eq!(job["template"]["spec"], expected);
    assert!(spec.get("suspend").is_none());
}

#[test]
fn what_the_webhook_refuses() {
    let two = "{name: a}, {name: b}";
    for (jobs, fields, expected) in [
        ("{name: a}, {name: a}", "", ("KB0317", str! {"two replicated jobs are called `a`"})),
        (
            "{name: a, dependsOn: [{name: b, status: Ready}]}, {name: b}",
            "",
            ("KB0317", str! {"`a` waits for `b`, which does not precede it"}),
        ),
        (
            "{name: a, parallelism: 3, completions: 2}",
            "",
            ("KB0317", str! {"`parallelism` 3 is more than `completions` 2"}),
        ),
        (
            two,
            ", successPolicy: {targetReplicatedJobs: [c]}",
            ("KB0317", str! {"`c` is not one of the `replicatedJobs`"}),
        ),
        (
            two,
            ", successPolicy: {operator: Any}",
            ("KB0317", str! {"with `Any` of 2 jobs, the run ends with the first one that finishes"}),
        ),
        (two, ", coordinator: {replicatedJob: c}", ("KB0317", str! {"`c` is not one of the `replicatedJobs`"})),
        (
            two,
            ", coordinator: {replicatedJob: b, jobIndex: 1}",
            ("KB0317", str! {"`jobIndex` is 1, but the last one of `b` is 0"}),
        ),
        (
            two,
            ", failurePolicy: {maxRestarts: 2}",
            ("KB0317", str! {"`maxRestarts` is 2, but a restarted JobSet is not one measurement"}),
        ),
    ] {
        assert_findings(&lowered(&job_set(jobs, fields)), &[expected]);
    }
    assert_findings(
        &lowered("workload: {jobSet: {image: 'r.example/a:1'}}"),
        &[("KB0317", str! {"`jobSet` has no `replicatedJobs`"})],
    );
    for fields in [
        ", failurePolicy: {maxRestarts: 0}",
        ", successPolicy: {operator: Any, targetReplicatedJobs: [a]}",
        ", coordinator: {replicatedJob: b}",
    ] {
        assert_eq!(lowered(&job_set(two, fields)), NONE, "{fields}");
    }
}

#[test]
fn names_of_pods_have_their_limit() {
    check(&job_set("{name: worker, parallelism: 2}", ""), &[]);
    let long = "w".repeat(40);
    let expected = str! {"the name of the last pod of `…` would be `disk-00000000-…-0-11-00000`: 65 characters, and the limit is 63"};
    check_about(&long, &job_set(&format!("{{name: {long}, parallelism: 12}}"), ""), ("KB0405", expected));
}

#[test]
fn pods_that_come_later_are_replicas() {
    let metric = |index: u32| {
        format!(
            "metrics: [{{name: seconds, better: lower, from: {{log: {{pattern: 'a (?P<value>\\S+)', role: worker, index: {index}}}}}}}]\n{}",
            job_set("{name: worker, replicas: 2, parallelism: 1, completions: 3}", "")
        )
    };
    check(&metric(5), &[]);
    check(&metric(6), &[("KB0354", str! {"there is no replica 6: the role `worker` has 6 replicas"})]);
}
