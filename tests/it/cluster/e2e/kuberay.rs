//! RayJobs by KubeRay itself. Ray is played by a script in the image (`tests/cluster/data/ray`): it does what KubeRay asks of `ray` and
//! of the dashboard, and runs the entrypoint on the head.

use super::super::cluster;
use super::{Loop, Settings, image, outcome};
use crate::support::judges::{skip, tool};
use crate::support::project::repository;

const IMAGE: &str = "localhost/ray:2.53.0";
const GOOD: &str = "good";

fn benchmark(name: &str, entrypoint: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 4m\n  workload:\n    rayJob:\n      image: {IMAGE}\n      rayVersion: 2.53.0\n      entrypoint: {entrypoint}\n      resources: {{cpu: 20m, memory: 64Mi}}\n      submitter: {{resources: {{cpu: 20m, memory: 32Mi}}}}\n      workerGroups: [{{name: worker, replicas: 2}}]\n  metrics: [{{name: rate, unit: x/s, better: higher, primary: true, from: {{log: {{pattern: 'rate (?P<value>\\S+) x/s', role: submitter}}}}}}]\n"
    )
}

/// Brings the image to the node.
fn bring() {
    if image::has(IMAGE) {
        return;
    }
    let busybox = tool("busybox").expect("tests/cluster needs it");
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let archive = scratch.path().join("ray.tar");
    let bash = scratch.path().join("bash");
    std::fs::write(&bash, "#!/bin/sh\nexec sh \"$@\"\n").unwrap();
    std::fs::set_permissions(&bash, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let ray = repository().join("tests/cluster/data/ray");
    let place = |path: &std::path::Path, target: &str| format!("{}:{target}", path.display());
    let links = ["sh", "mkdir", "mv", "sleep", "cat", "echo"].map(|name| format!("@busybox:/bin/{name}"));
    let mut arguments = vec!["archive", "--name", IMAGE, "--output", archive.to_str().unwrap()];
    let files = [place(&busybox, "/bin/busybox"), place(&bash, "/bin/bash"), place(&ray, "/bin/ray")];
    arguments.extend(files.iter().chain(&links).map(String::as_str));
    image::pack(&arguments);
    image::bring(&archive);
}

#[test]
#[ignore = "a cluster with KubeRay: tests/cluster/up --with argo,git,kuberay && KUBEBENCH_CLUSTER=1 cargo test --test it kuberay -- --ignored"]
fn ray_jobs_run_to_their_end() {
    const NAME: &str = "ray_jobs_run_to_their_end";
    let Some(cluster) = cluster(NAME) else { return };
    let is_there = cluster.kubectl(["get", "customresourcedefinition", "rayjobs.ray.io"]).status.success();
    if !is_there || !image::is_own(cluster) {
        return skip(NAME, "KubeRay", "this is no cluster of tests/cluster with KubeRay");
    }
    bring();
    let project = Settings::of("ray").text();
    let specs = [
        ("specs/good.yaml", benchmark(GOOD, "[echo, rate, '2', x/s]")),
        ("specs/bad.yaml", benchmark("bad", "[sh, -c, 'echo rate 3 x/s; exit 3']")),
    ];
    let mut files = vec![("kubebench.yaml", project.as_str())];
    files.extend(specs.iter().map(|(path, text)| (*path, text.as_str())));
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    cycle.apply();
    cycle.ends("test", GOOD, "Succeeded");
    cycle.ends("test", "bad", "Failed");
    let results = cycle.results();
    let [good] = results.of(GOOD)[..] else { panic!("one result") };
    assert_eq!(outcome(good), ("succeeded", vec![Some(2.0)]), "{good:#}");
    assert_eq!(good["usage"]["pods"], 4, "a head, two workers and the submitter: {good:#}");
    let [bad] = results.of("bad")[..] else { panic!("one result") };
    assert_eq!(bad["run"]["status"], "failed", "{bad:#}");
    let left = cycle.cluster().json(["-n", cycle.namespace("test"), "get", "rayjobs,rayclusters", "-o", "json"]);
    assert_eq!(left["items"], serde_json::json!([]), "what was measured is taken down");
}
