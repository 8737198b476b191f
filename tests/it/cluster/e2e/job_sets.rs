//! JobSets by the controller of that name: roles that wait for one another, replicas that are numbered through several
//! Jobs, and a success policy, which ends workers that would run forever.

use serde_json::Value;

use super::super::cluster_with;
use super::super::failures::Failure;
use super::{Loop, Settings, outcome};

/// The driver starts when all workers are ready, and asks each of them by its name. They answer for as long as they are let.
const DRIVEN: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: driven}
spec:
  timeout: 4m
  workload:
    jobSet:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      pod: {terminationGracePeriodSeconds: 2}
      replicatedJobs:
        - name: worker
          replicas: 2
          parallelism: 2
          env: {JOB_INDEX: {field: "metadata.labels['jobset.sigs.k8s.io/job-index']"}}
          command: [sh, -c, 'echo "place $JOB_INDEX$JOB_COMPLETION_INDEX"; while :; do echo "rank $JOB_INDEX$JOB_COMPLETION_INDEX" | busybox nc -l -p 7000; done']
        - name: driver
          dependsOn: [{name: worker, status: Ready}]
          command: [sh, -ec, 'n=0; for at in 0-0 0-1 1-0 1-1; do until said=$(busybox nc "$KUBEBENCH_EXP_ID-worker-$at.$KUBEBENCH_EXP_ID" 7000 </dev/null); do sleep 0.2; done; echo "$said"; n=$((n + 1)); done; echo "rate $n x/s"']
      successPolicy: {operator: All, targetReplicatedJobs: [driver]}
  metrics:
    - {name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: driver}}}
    - {name: last, unit: "1", better: higher, required: true, from: {log: {pattern: 'place (?P<value>\S+)', role: worker, index: 3}}}
  checks: [{metric: rate, finite: true}, {restarts: 0}]
"#;

const BREAKS: Failure = Failure {
    benchmark: "breaks",
    limits: "timeout: 4m",
    workload: "{jobSet: {image: 'busybox:1', resources: {cpu: 10m, memory: 32Mi}, pod: {terminationGracePeriodSeconds: 2}, replicatedJobs: [{name: driver, command: [sh, -c, 'echo waits; busybox nc -l -p 7000 </dev/null; sleep 300']}, {name: worker, replicas: 2, command: [sh, -c, 'case $HOSTNAME in *-worker-1-0*) until busybox nc $KUBEBENCH_EXP_ID-driver-0-0.$KUBEBENCH_EXP_ID 7000 </dev/null; do sleep 0.2; done; sleep 1; echo NCCL error; exit 7;; esac; sleep 300']}]}}",
    status: "failed",
    code: "exitCode",
    words: &["worker-1: exited with 7"],
    last: &["waits", "NCCL error"],
};

#[test]
fn a_job_set_ends_with_those_that_count() {
    const NAME: &str = "a_job_set_ends_with_those_that_count";
    if cluster_with(NAME, ("jobset", "jobsets.jobset.x-k8s.io")).is_none() {
        return;
    }
    let (project, (path, breaks)) = (Settings::of("jobsets").text(), BREAKS.file());
    let files = [("kubebench.yaml", project.as_str()), ("specs/driven.yaml", DRIVEN), (path.as_str(), breaks.as_str())];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    cycle.apply();
    cycle.ends("test", "driven", "Succeeded");
    cycle.ends("test", "breaks", "Failed");
    let results = cycle.results();
    BREAKS.judge(&results);
    let of = results.of("driven");
    assert_eq!(of.len(), 1);
    assert_eq!(outcome(of[0]), ("succeeded", vec![Some(4.0), Some(11.0)]), "{:#}", of[0]);
    let left = cycle.cluster().json([
        "-n",
        cycle.namespace("test"),
        "get",
        "jobsets,jobs,pods",
        "-l",
        "kubebench.dev/run",
        "-o",
        "json",
    ]);
    assert_eq!(left["items"], Value::Array(Vec::new()));
}
