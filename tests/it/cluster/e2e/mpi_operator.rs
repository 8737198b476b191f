//! MPIJob v2beta1 by the MPI operator: what it gives the launcher is enough to reach the workers.
//!
//! A cluster serves MPIJob in one of two versions, so this needs one of its own: `tests/cluster/up --with argo,git,mpi-operator`.

use super::super::cluster;
use super::{Loop, Settings, outcome};
use crate::support::judges::skip;

/// The launcher asks each host of the list, as `mpirun` would; there is no sshd in this image.
const BENCHMARK: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: launched}
spec:
  timeout: 5m
  workload:
    mpiJob:
      image: busybox:1
      slotsPerWorker: 3
      sshAuthMountPath: /tmp/.ssh
      launcher:
        command: [sh, -ec, 'n=0; for host in $(sed "s/[ :].*//" /etc/mpi/hostfile); do said=$(busybox nc -w 20 "$host" 2222 </dev/null); echo "$host says $said"; test "${host%%.*}" = "$said"; n=$((n + $(sed -n "s/^$host slots=//p" /etc/mpi/hostfile))); done; test -r /tmp/.ssh/id_rsa; echo "rate $n x/s"']
        resources: {cpu: 10m, memory: 32Mi}
      worker:
        replicas: 2
        command: [sh, -c, 'trap "exit 0" TERM; while true; do hostname | busybox nc -l -p 2222; done & wait']
        resources: {cpu: 10m, memory: 16Mi}
  metrics: [{name: rate, unit: x/s, better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: launcher}}}]
  checks: [{metric: rate, finite: true}, {restarts: 0}]
"#;

#[test]
#[ignore = "a cluster with another operator: tests/cluster/up --with argo,git,mpi-operator && KUBEBENCH_CLUSTER=1 cargo test --test it mpi_operator -- --ignored"]
fn a_launcher_reaches_its_workers() {
    const NAME: &str = "a_launcher_reaches_its_workers";
    let Some(cluster) = cluster(NAME) else { return };
    let versions =
        ["get", "customresourcedefinition", "mpijobs.kubeflow.org", "-o", "jsonpath={.spec.versions[*].name}"];
    let served = cluster.kubectl(versions);
    if !String::from_utf8_lossy(&served.stdout).contains("v2beta1") {
        return skip(NAME, "MPIJob v2beta1", "the cluster does not serve it");
    }
    let project = Settings::of("launched").text();
    let files = [("kubebench.yaml", project.as_str()), ("specs/launched.yaml", BENCHMARK)];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    cycle.apply();
    cycle.ends("test", "launched", "Succeeded");
    let results = cycle.results();
    let [result] = results.of("launched")[..] else { panic!("one result") };
    assert_eq!(outcome(result), ("succeeded", vec![Some(6.0)]), "two hosts of three slots: {result:#}");
    assert_eq!(result["usage"]["pods"], 3, "{result:#}");
    let left = cycle.cluster().json([
        "-n",
        cycle.namespace("test"),
        "get",
        "mpijobs,pods",
        "-l",
        "kubebench.dev/run",
        "-o",
        "json",
    ]);
    let names: Vec<&str> =
        left["items"].as_array().unwrap().iter().map(|item| item["metadata"]["name"].as_str().unwrap()).collect();
    assert!(names.iter().all(|name| !name.contains("-worker-")), "{names:?}");
}
