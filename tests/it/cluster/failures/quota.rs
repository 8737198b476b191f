//! A namespace that may have no Job at all.

use serde_json::json;

use super::{Failure, project};

const NONE: [Failure; 1] = [Failure {
    benchmark: "no-job",
    limits: "timeout: 3m\n  queueTimeout: 20s",
    workload: "{job: {image: 'busybox:1', command: [sh, -c, 'echo never'], resources: {cpu: 10m, memory: 32Mi}}}",
    status: "failed",
    code: "quota",
    words: &["gave up after 20 s (`queueTimeout`) because the quota was used up", "count/jobs.batch"],
    last: &[],
}];

#[test]
fn a_run_without_quota_for_its_job_is_given_up() {
    let Some(tree) = project("a_run_without_quota_for_its_job_is_given_up", "quota", &NONE) else { return };
    let namespace = tree.namespace("cluster");
    tree.create(
        &json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "none", "namespace": namespace},
        "spec": {"hard": {"count/jobs.batch": "0"}}}),
    );
    tree.apply();
    tree.ends("cluster", "no-job", "Failed");
    NONE[0].judge(&tree.results());
}
