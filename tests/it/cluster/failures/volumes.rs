//! Volumes of results that are full, or fill up.

use std::path::PathBuf;
use std::process::Command;

use serde_json::json;

use super::{Failure, project};
use crate::cluster::e2e::{Loop, run_folder};
use crate::support::judges::skip;
use crate::support::project::assert_yes;

const MEGABYTE: u64 = 1 << 20;
const TIMES: &str = "timeout: 3m\n  queueTimeout: 3m";
const METRIC: &str =
    "metrics: [{name: rate, unit: '1', better: higher, primary: true, from: {log: {pattern: 'rate (?P<value>\\S+)'}}}]";

/// Of these a log fills the volume (and not a file of the node, which a kubelet would end at 10 MiB), a volume has little room left, and one has none.
const FILLED: [Failure; 3] = [
    Failure {
        benchmark: "fills",
        limits: "timeout: 3m\n  queueTimeout: 3m\n  METRIC",
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'line=$(printf %0999d 0); yes $line | head -n 9400; echo rate 7'], resources: {cpu: 100m, memory: 32Mi}}}",
        status: "succeeded",
        code: "logIncomplete",
        words: &["logs/job-0.log is incomplete"],
        last: &[],
    },
    Failure {
        benchmark: "little",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'echo never'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "volumeFull",
        words: &["the volume of results is full, so the run was not started", "`results.claim.size`"],
        last: &[],
    },
    Failure {
        benchmark: "nothing",
        limits: TIMES,
        workload: "{job: {image: 'busybox:1', command: [sh, -c, 'echo never'], resources: {cpu: 10m, memory: 32Mi}}}",
        status: "failed",
        code: "volumeFull",
        words: &[],
        last: &[],
    },
];

/// A volume in memory for the claim of a benchmark.
struct Volume<'l> {
    tree: &'l Loop,
    name: String,
    place: PathBuf,
    /// The process whose mounts the node sees.
    mounts: String,
}

impl<'l> Volume<'l> {
    fn new(tree: &'l Loop, benchmark: &str, bytes: u64, left: Option<u64>) -> Self {
        let run = run_folder(tree).unwrap();
        let recorded = std::fs::read_to_string(run.join("pids/namespace")).unwrap();
        let namespace = tree.namespace("cluster");
        let name = format!("{namespace}-{benchmark}");
        let place = PathBuf::from("/tmp/hostpath_pv").join(&name);
        let mounts = recorded.split_whitespace().next().unwrap().to_owned();
        let volume = Self { tree, name, place, mounts };
        let folder = volume.place.to_str().unwrap();
        volume.on_the_node(&["mkdir", "-p", folder]);
        volume.on_the_node(&["mount", "-t", "tmpfs", "-o", &format!("size={bytes},mode=1777"), "tmpfs", folder]);
        if let Some(left) = left {
            let junk = volume.place.join("junk");
            let taken = (bytes - left).to_string();
            volume.on_the_node(&["fallocate", "--length", &taken, junk.to_str().unwrap()]);
        }
        tree.create(
            &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume.name}, "spec": {
            "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "standard",
            "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": folder, "type": "Directory"},
            "claimRef": {"namespace": namespace, "name": format!("{benchmark}-results")}}}),
        );
        volume
    }

    fn on_the_node(&self, command: &[&str]) {
        let mut entered = Command::new("nsenter");
        entered.args(["--target", &self.mounts, "--mount", "--"]).args(command);
        assert_yes(&entered.output().unwrap());
    }
}

impl Drop for Volume<'_> {
    fn drop(&mut self) {
        self.tree.cluster().kubectl(["delete", "persistentvolume", &self.name, "--wait=false"]);
        let place = self.place.to_str().unwrap();
        let mut entered = Command::new("nsenter");
        entered.args(["--target", &self.mounts, "--mount", "--", "umount", "--lazy", place]);
        let _ = entered.output();
    }
}

#[test]
fn a_full_volume_is_reported() {
    let failures = FILLED.map(|failure| Failure { limits: failure.limits.replace("METRIC", METRIC).leak(), ..failure });
    let Some(tree) = project("a_full_volume_is_reported", "volumes", &failures) else { return };
    if run_folder(&tree).is_none() {
        return skip("a_full_volume_is_reported", "a cluster on this machine", "it needs the machine of the node");
    }
    let volumes = [
        Volume::new(&tree, "fills", 8 * MEGABYTE, None),
        Volume::new(&tree, "little", 4 * MEGABYTE, Some(MEGABYTE)),
        Volume::new(&tree, "nothing", MEGABYTE, Some(0)),
    ];
    tree.apply();
    tree.ends("cluster", "fills", "Succeeded");
    tree.ends("cluster", "little", "Failed");
    tree.ends("cluster", "nothing", "Failed");
    tree.assert_nothing_left();
    let results = tree.results();
    let [fills, little, nothing] = &failures;
    fills.judge(&results);
    // What was printed counts, whether it could be kept or not.
    let of = results.of("fills");
    assert_eq!(of[0]["metrics"][0]["value"].as_f64(), Some(7.0), "{:#}", of[0]);
    little.judge(&results);
    // Where not a byte can be written no result can be; the Workflow says why.
    assert_eq!(results.of(nothing.benchmark).len(), 0);
    let prepare = "workflows.argoproj.io/workflow,kubebench.dev/step=prepare";
    let said = tree.say_there(&["logs", "-l", prepare, "-c", "main", "--prefix", "--tail=20"]);
    assert!(said.contains("is full: "), "{said}");
    drop(volumes);
}
