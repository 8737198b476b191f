//! One commit with a benchmark of each kind: every run leaves one result, which says what a local one says.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::{Loop, git, image, round};
use crate::support::judges::{skip, tool};
use crate::support::project::{Folder, assert_yes, walk};

const PROJECT: &str = r#"
apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: kinds}
spec:
  image: IMAGE
  results: {mode: branch, branch: kubebench/results, remote: REMOTE}
  defaults: {repeats: 2, warmups: 1, queueTimeout: 5m, claimSize: 1Gi}
  # The operator's init container is one that `restricted` takes, as tests/cluster/lib/pytorch-init.yaml says.
  lints: {KB0414: "off"}
  targets:
    strict:
      cluster: test
      namespace: strict
      storageClass: standard
      podSecurity: restricted
    # The launcher of an MPIJob v1 comes with a container that `restricted` refuses.
    loose:
      cluster: test
      namespace: loose
      storageClass: standard
      podSecurity: baseline
      apis: {mpiJob: v1}
      # It reaches the workers through the API server.
      networkPolicy: {egress: [{to: [{ipBlock: {cidr: 0.0.0.0/0}}]}]}
"#;

const METRICS: &str = r"
  metrics:
    - name: rate
      unit: x/s
      better: higher
      primary: true
      from: {log: {pattern: 'rate (?P<value>\S+) x/s'}}
  checks: [{metric: rate, finite: true}, {restarts: 0}]
";

/// Four runs at once, so that some of them end while others begin.
const JOB: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: plain, labels: {team: ml}}
spec:
  targets: [strict]
  matrix: {axes: {size: [1, 2]}}
  timeout: 5m
  parallelism: 4
  results: {claim: {accessModes: [ReadWriteOnce]}}
  inputs: {seed: 42}
  workload:
    job:
      image: busybox:1
      command: [sh, -c, 'for i in 1 2 3; do echo "step $i rate $((i * SIZE)) x/s"; done']
      env: {SIZE: "${{ matrix.size }}"}
      resources: {cpu: 10m, memory: 32Mi}
"#;

const TF_JOB: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: workers}
spec:
  targets: [strict]
  matrix: {axes: {size: [1, 2]}}
  timeout: 5m
  workload:
    tfJob:
      image: busybox:1
      worker:
        replicas: 2
        command: [sh, -ec, 'hosts=$(echo "$TF_CONFIG" | sed "s/.*\"worker\":\[\([^]]*\)].*/\1/" | tr , "\n" | wc -l); echo "rate $((hosts * SIZE)) x/s"']
        env: {SIZE: "${{ matrix.size }}"}
        resources: {cpu: 10m, memory: 32Mi}
"#;

/// The master waits a moment with what it says: a worker that has heard all goes, though it has not said a word.
/// The worker finds the master by the name in `MASTER_ADDR`, and both succeed only when they have met.
const PYTORCH_JOB: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: rendezvous}
spec:
  targets: [strict]
  matrix: {axes: {size: [1, 2]}}
  timeout: 5m
  workload:
    pytorchJob:
      image: busybox:1
      resources: {cpu: 10m, memory: 32Mi}
      env: {SIZE: "${{ matrix.size }}"}
      master:
        replicas: 1
        command: [sh, -ec, 'said=$({ sleep 0.5; echo "rank $RANK of $WORLD_SIZE"; } | busybox nc -l -p "$MASTER_PORT"); test "$said" = "rank 1"; echo "rate $((WORLD_SIZE * SIZE)) x/s"']
      worker:
        replicas: 1
        command: [sh, -c, 'until said=$(echo "rank $RANK" | busybox nc "$MASTER_ADDR" "$MASTER_PORT"); do sleep 0.2; done; echo "$said"']
  metrics:
    - name: rate
      unit: x/s
      better: higher
      primary: true
      from: {log: {pattern: 'rate (?P<value>\S+) x/s', role: master}}
"#;

/// The launcher does what `mpirun` would: it starts a process on each host of the list, by the operator's script.
const MPI_JOB: &str = r#"
apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: launched}
spec:
  targets: [loose]
  matrix: {axes: {size: [1, 2]}}
  timeout: 5m
  workload:
    mpiJob:
      image: busybox:1
      slotsPerWorker: 1
      launcher:
        command: [sh, -ec, 'n=0; for host in $(sed "s/[ :].*//" /etc/mpi/hostfile); do said=$(/etc/mpi/kubexec.sh "$host" hostname); test "$said" = "$host"; n=$((n + 1)); done; echo "rate $((n * SIZE)) x/s"']
        env: {SIZE: "${{ matrix.size }}"}
        resources: {cpu: 10m, memory: 64Mi}
      worker:
        replicas: 2
        command: [sh, -c, 'trap "exit 0" TERM; while true; do sleep 1; done']
        resources: {cpu: 10m, memory: 16Mi}
"#;

/// What one of both alone knows: a cluster how long its pods waited for a place, a checkout what it was.
const OWN: [&str; 5] =
    ["/run/timings/queueSeconds", "/source/commit", "/source/content", "/source/content/tree", "/source/dirty"];
/// What is there in both, and is the same.
const SAME: [&str; 14] = [
    "/metrics",
    "/metadata",
    "/inputs",
    "/validity",
    "/run/attempt",
    "/run/exits",
    "/run/repeat",
    "/run/restarts",
    "/run/status",
    "/source/rulesDigest",
    "/source/run",
    "/source/runDigest",
    "/source/specDigest",
    "/source/specPath",
];

/// What the training operator puts into the launcher of an MPIJob v1, and asks a registry for.
const DELIVERY: &str = "ghcr.io/kubeflow/training-v1/kubectl-delivery:latest";

#[test]
fn every_kind_leaves_its_results_on_the_branch() {
    const NAME: &str = "every_kind_leaves_its_results_on_the_branch";
    let with = |spec: &str| format!("{}{METRICS}", spec.trim_end());
    let files = [
        ("kubebench.yaml", PROJECT.to_owned()),
        ("specs/plain.yaml", with(JOB)),
        ("specs/workers.yaml", with(TF_JOB)),
        ("specs/rendezvous.yaml", PYTORCH_JOB.to_owned()),
        ("specs/launched.yaml", with(MPI_JOB)),
    ];
    let files = files.each_ref().map(|(path, text)| (*path, text.as_str()));
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    deliver_kubectl(&cycle);
    cycle.apply();
    // While the cluster is at work.
    let local = local(NAME, &cycle);
    for (target, benchmark) in
        [("strict", "plain"), ("strict", "workers"), ("strict", "rendezvous"), ("loose", "launched")]
    {
        cycle.ends(target, benchmark, "Succeeded");
    }
    let results = cycle.results();
    assert_yes(&Folder::with([] as [(&str, &str); 0]).run(&["validate", results.path().to_str().unwrap()]));
    assert_eq!(results.all.len(), 24);
    // The only commit of the default branch brought all that ran.
    let pushed = git(cycle.project.folder.path(), &["rev-parse", "HEAD"]).output().unwrap();
    let pushed = String::from_utf8(pushed.stdout).unwrap().trim().to_owned();
    for (benchmark, factor) in [("plain", 3), ("workers", 2), ("rendezvous", 2), ("launched", 2)] {
        let of = results.of(benchmark);
        let rounds: Vec<_> = of.iter().map(|result| round(result)).collect();
        let cases: BTreeSet<&String> = rounds.iter().map(|(case, ..)| case).collect();
        let each = [(false, 1), (true, 1), (true, 2)];
        let expected: Vec<_> = cases
            .iter()
            .flat_map(|case| each.map(|(measured, repeat)| ((*case).clone(), measured, repeat, 1)))
            .collect();
        assert_eq!((cases.len(), &rounds), (2, &expected), "{benchmark}");
        for result in of {
            assert_eq!(result["run"]["status"], "succeeded", "{result:#}");
            assert_eq!(result["source"]["commit"], pushed, "{result:#}");
            let size = result["metadata"]["params"]["size"].as_u64().unwrap();
            assert_eq!(result["metrics"][0]["value"].as_f64(), Some((size * factor) as f64), "{result:#}");
            assert_eq!(result["environment"]["images"][0]["declared"], "busybox:1");
            if let Some(ours) =
                local.iter().find(|one| one["metadata"]["benchmark"] == benchmark && round(one) == round(result))
            {
                assert_eq!(places(result), places(ours), "{benchmark}");
                for part in SAME {
                    assert_eq!(result.pointer(part), ours.pointer(part), "{benchmark}: {part}");
                }
            }
        }
    }
}

/// The results of the same specs on this machine.
fn local(test: &str, cycle: &Loop) -> Vec<Value> {
    let mut results = Vec::new();
    for benchmark in ["plain", "workers", "rendezvous"] {
        if benchmark == "rendezvous" && tool("busybox").is_none() {
            skip(test, "busybox", "install it, to compare local results of a PyTorchJob with those of the cluster");
            continue;
        }
        let folder = &cycle.project.folder;
        let (spec, place) = (format!("specs/{benchmark}.yaml"), format!("local/{benchmark}"));
        assert_yes(&folder.run(&["run", &spec, "--results", &place]));
        results.extend(folder.tree(&place).iter().map(|(_, bytes)| serde_json::from_slice::<Value>(bytes).unwrap()));
    }
    results
}

/// The places in a result at which there is something, without the numbers in lists.
fn places(result: &Value) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    walk(result, "", &mut |pointer, _| {
        let place: Vec<&str> =
            pointer.split('/').map(|part| if part.parse::<u32>().is_ok() { "*" } else { part }).collect();
        let place = place.join("/");
        // What a run held of the cluster is not said of this machine.
        let is_of_cluster = place.starts_with("/environment/") || place.starts_with("/usage");
        if !is_of_cluster && !OWN.contains(&place.as_str()) {
            places.insert(place);
        }
    });
    places
}

/// Puts a stand-in for the operator's image on the node of `tests/cluster`, which asks no registry, and has it count the
/// 5 GiB of disk that the operator asks for: its kubelet counts none.
fn deliver_kubectl(cycle: &Loop) {
    if !image::is_own(cycle.cluster()) {
        return;
    }
    let disk = r#"{"status":{"capacity":{"ephemeral-storage":"100Gi"}}}"#;
    cycle.cluster().say(["patch", image::NODE, "--subresource=status", "--type=merge", "-p", disk]);
    let counted = "--for=jsonpath={.status.allocatable.ephemeral-storage}=100Gi";
    cycle.cluster().say(["wait", image::NODE, counted, "--timeout=60s"]);
    if image::has(DELIVERY) {
        return;
    }
    let busybox = tool("busybox").expect("tests/cluster needs it");
    let kubectl = cycle.cluster().kubectl.canonicalize().unwrap();
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let archive = scratch.path().join("delivery.tar");
    let place = |path: &Path, target: &str| format!("{}:{target}", path.display());
    image::pack(&[
        "archive",
        "--name",
        DELIVERY,
        "--output",
        archive.to_str().unwrap(),
        "--entrypoint",
        "/bin/cp",
        "--entrypoint",
        "/bin/kubectl",
        "--entrypoint",
        "/opt/kube/kubectl",
        &place(&kubectl, "/bin/kubectl"),
        &place(&busybox, "/bin/busybox"),
        "@busybox:/bin/cp",
    ]);
    image::bring(&archive);
}
