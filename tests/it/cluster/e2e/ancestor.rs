//! The examples of kubeflow/kubebench that a machine without accelerators can run, from their own files to committed results. Their
//! images are gone, or need TensorFlow 1.13 and so a machine of its time: what they print is printed by a stand-in, and that is all
//! that is changed in the specs that `migrate` writes.

use std::fs;

use serde_json::json;

use super::super::cluster;
use super::{Loop, Settings, outcome};
use crate::support::project::{Folder, repository};

/// What tf_cnn_benchmarks says at its end, after its arguments.
const STAND_IN: &str = r#"[sh, -c, 'echo "$@"; printf "Step\tImg/sec\ttotal_loss\n1\timages/sec: 3.1 +/- 0.0 (jitter = 0.0)\t7.7\n"; echo "total images/sec: 42.50"', "#;

/// The spec that `migrate` writes for these of the ancestor's files, and its exit status.
fn migrated(files: &[(&str, &str)]) -> (String, Option<i32>) {
    let old = repository().join("tests/data/ancestor");
    let read = |(to, from): &(&str, &str)| ((*to).to_owned(), fs::read_to_string(old.join(from)).unwrap());
    let folder = Folder::with(files.iter().map(read));
    let output = folder.run(&["migrate", "old"]);
    (fs::read_to_string(folder.path().join("specs/kubebench-job.yaml")).unwrap(), output.status.code())
}

fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (before, now)| {
        assert!(text.contains(before), "{before}\n{text}");
        text.replace(before, now)
    })
}

#[test]
fn examples_of_kubeflow_kubebench_run_today() {
    const NAME: &str = "examples_of_kubeflow_kubebench_run_today";
    if cluster(NAME).is_none() {
        return;
    }
    let files =
        [("old/job.yaml", "job-example.yaml"), ("old/config/tf-cnn/tf-cnn-dummy.yaml", "tf-cnn/tf-cnn-dummy.yaml")];
    let (job, status) = migrated(&files);
    assert_eq!(status, Some(0), "nothing of it is lost");
    let image = "\"gcr.io/kubeflow-images-public/kubebench/kubebench-example-tf-cnn-runner-cpu:v0.4.0-13-g262c593\"";
    let job = edited(&job, &[(image, "busybox:1"), ("[python, ", STAND_IN)]);
    let (graph, status) = migrated(&[("old/graph.yaml", "graph-example.yaml")]);
    assert_eq!(status, Some(1), "it depends on tasks that it does not have");
    let step = |what: &str| format!("busybox:1\n            command: [sh, -c, '{what}']");
    let graph = edited(
        &graph,
        &[
            ("name: kubebench-job", "name: graph"),
            ("\"kirill-mlperf-download-image:latest\"", &step("echo images > /data/raw")),
            ("\"kirill-mlperf-preprocess-image:latest\"", &step("sed s/images/records/ /data/raw > /data/ready")),
            (
                "\"kirill-mlperf-training-image:latest\"",
                "busybox:1\n      command: [sh, -c, 'test \"$(cat /data/ready)\" = records && sleep 1']",
            ),
        ],
    );
    let project = Settings::of("ancestor").text();
    let files = [
        ("kubebench.yaml", project.as_str()),
        ("specs/kubebench-job.yaml", job.as_str()),
        ("specs/graph.yaml", graph.as_str()),
    ];
    let Some(cycle) = Loop::new(NAME, &files) else { return };
    // It was there before the ancestor's jobs, too.
    let claim = json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "kubebench-data-pvc", "namespace": cycle.namespace("test")},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "standard", "resources": {"requests": {"storage": "1Mi"}}},
    });
    cycle.project().folder.write("claim.json", claim.to_string());
    cycle.cluster().say(["create", "-f", &cycle.project().place("claim.json")]);
    cycle.apply();
    for name in ["kubebench-job", "graph"] {
        cycle.ends("test", name, "Succeeded");
    }
    let results = cycle.results();
    let [job] = results.of("kubebench-job")[..] else { panic!("one result") };
    assert_eq!(outcome(job), ("succeeded", vec![Some(42.5)]), "{job:#}");
    assert_eq!(job["metrics"][0]["name"], "images_per_sec_total");
    let [graph] = results.of("graph")[..] else { panic!("one result") };
    assert_eq!(graph["run"]["status"], "succeeded", "{graph:#}");
    assert!(graph["metrics"][0]["value"].as_f64().unwrap() >= 1.0, "{graph:#}");
}
