//! Runs that do not go well by themselves.

use super::{Failure, project};

const TIMES: &str = "timeout: 3m\n  queueTimeout: 3m";
/// For what finds no node.
const IMPATIENT: &str = "timeout: 60s\n  queueTimeout: 30s";

const FAILURES: [Failure; 15] = [
    Failure {
        benchmark: "exits",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'echo first; echo last words >&2; exit 3'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "exitCode",
        words: &["job-0: exited with 3"],
        last: &["first", "last words"],
    },
    Failure {
        benchmark: "crashes",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'sh -c \"kill -SEGV \\$\\$\"; exit $?'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "signal",
        words: &["job-0: terminated by SIGSEGV"],
        last: &["Segmentation fault"],
    },
    Failure {
        benchmark: "eats",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'echo eating; exec tail /dev/zero'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "outOfMemory",
        words: &["job-0: killed because it used more memory than its limit; raise `resources.memory`"],
        last: &["eating"],
    },
    Failure {
        benchmark: "hangs",
        limits: "timeout: 60s\n  queueTimeout: 3m",
        workload: "{job: {image: 'busybox:1', pod: {terminationGracePeriodSeconds: 3}, command: [sh, -c, 'trap \"echo never\" TERM; echo here it hangs; while :; do sleep 1; done'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "timedOut",
        code: "timeout",
        words: &["its timeout of 60 s"],
        last: &["here it hangs"],
    },
    Failure {
        benchmark: "one-of-three",
        limits: TIMES,
        workload: "{pytorchJob: {image: 'busybox:1', resources: {cpu: 10m, memory: 32Mi}, pod: {terminationGracePeriodSeconds: 3}, master: {command: [sh, -c, 'echo waits; sleep 300']}, worker: {replicas: 2, command: [sh, -c, 'case $HOSTNAME in *-1) sleep 3; echo NCCL error; exit 7;; esac; sleep 300']}}}",
        status: "failed",
        code: "exitCode",
        words: &["worker-1: exited with 7"],
        last: &["waits", "NCCL error"],
    },
    Failure {
        benchmark: "no-program",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [/bin/nosuch], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "cannotStart",
        words: &["job-0: the container cannot be started", "/bin/nosuch"],
        last: &[],
    },
    Failure {
        benchmark: "no-image",
        limits: TIMES,
        workload: "{job: {image: 'localhost/nosuch:1', container: {imagePullPolicy: IfNotPresent}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "imagePull",
        words: &["job-0: the image `localhost/nosuch:1` cannot be pulled: ", "gave up after 90 s"],
        last: &[],
    },
    Failure {
        benchmark: "no-secret",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', env: {TOKEN: {secret: {name: nosuch, key: token}}}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "configMissing",
        words: &["job-0: a Secret or ConfigMap of its environment is missing", "nosuch", "gave up after 90 s"],
        last: &[],
    },
    Failure {
        benchmark: "no-volume",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', pod: {volumes: [{name: data, configMap: {name: nosuch}}]}, container: {volumeMounts: [{name: data, mountPath: /data}]}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "mountFailed",
        words: &["job-0: a volume cannot be mounted", "configmap \"nosuch\" not found", "gave up after 90 s"],
        last: &[],
    },
    Failure {
        benchmark: "no-node",
        limits: IMPATIENT,
        workload: "{job: {image: 'busybox:1', pod: {nodeSelector: {kubebench.dev/nowhere: 'yes'}}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "unschedulable",
        words: &["didn't match Pod's node affinity/selector", "gave up after 30 s (`queueTimeout`): job-0 had no node"],
        last: &[],
    },
    Failure {
        benchmark: "too-big",
        limits: IMPATIENT,
        workload: "{job: {image: 'busybox:1', command: [sh], resources: {cpu: 10k, memory: 32Mi}}}",
        status: "failed",
        code: "unschedulable",
        words: &["Insufficient cpu", "`queueTimeout`"],
        last: &[],
    },
    Failure {
        benchmark: "no-priority",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', pod: {priorityClassName: nosuch}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "rejected",
        words: &["the cluster refuses the job's pods", "no PriorityClass with name nosuch was found"],
        last: &[],
    },
    Failure {
        benchmark: "invalid",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', pod: {dnsConfig: {nameservers: [10.0.0.1, 10.0.0.2, 10.0.0.3, 10.0.0.4]}}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "rejected",
        words: &["the API server refused to create Job", "nameservers"],
        last: &[],
    },
    Failure {
        benchmark: "no-account",
        limits: IMPATIENT,
        workload: "{job: {image: 'busybox:1', pod: {serviceAccountName: nosuch}, command: [sh], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "rejected",
        words: &["serviceaccount \"nosuch\" not found", "gave up after 30 s"],
        last: &[],
    },
    Failure {
        benchmark: "next-one",
        limits: "matrix: {axes: {code: [1, 0]}}\n  timeout: 3m\n  queueTimeout: 3m",
        workload: "{job: {image: 'busybox:1', env: {CODE: '${{ matrix.code }}'}, command: [sh, -c, 'exit $CODE'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "exitCode",
        words: &["job-0: exited with 1"],
        last: &[],
    },
];

#[test]
fn a_run_that_does_not_go_well_says_why() {
    let Some(tree) = project("a_run_that_does_not_go_well_says_why", "by-itself", &FAILURES) else { return };
    tree.apply();
    for failure in &FAILURES {
        tree.ends("cluster", failure.benchmark, "Failed");
    }
    tree.assert_nothing_left();
    let results = tree.results();
    // All ran at once on one node: this one until its timeout, and so next to others.
    let hangs = &results.of("hangs")[0]["environment"]["neighbors"];
    let met = hangs.as_array().unwrap_or_else(|| panic!("a run of 60 s saw no neighbor: {hangs}"));
    for neighbor in met {
        let benchmark = neighbor["benchmark"].as_str().unwrap();
        let run = neighbor["run"].as_str().unwrap();
        assert!(benchmark != "hangs" && FAILURES.iter().any(|failure| failure.benchmark == benchmark), "{neighbor}");
        assert!(run.starts_with(benchmark) && neighbor["since"].is_string(), "{neighbor}");
    }
    let (next, others) = FAILURES.split_last().unwrap();
    for failure in others {
        failure.judge(&results);
    }
    let statuses: Vec<&str> =
        results.of(next.benchmark).iter().map(|result| result["run"]["status"].as_str().unwrap()).collect();
    assert_eq!(statuses.len(), 2);
    assert!(statuses.contains(&"failed") && statuses.contains(&"succeeded"), "{statuses:?}");
}
