//! Old and new readers, old and new files: a step that was killed is resumed by another version of this program.
//!
//! `golden/v1/attempt.json` is a file in which every field of version 0.1.0 has a value; `before` is how that version reads
//! it. A change that breaks one of these tests needs another `SCHEMA_VERSION`.
#![expect(clippy::float_cmp, reason = "numbers are read as they are written")]

mod before;

use serde_json::Value as Json;

use super::Attempt;

const GOLDEN: &str = include_str!("../../../golden/v1/attempt.json");

/// What later versions added, and the first ones did not write.
const ADDED: [&str; 7] = [
    "/workloadDigest",
    "/createdAt",
    "/loaded",
    "/neighbors",
    "/awaitsPostprocess",
    "/outcome/usage",
    "/outcome/composition",
];

fn golden() -> Json {
    serde_json::from_str(GOLDEN).unwrap()
}

fn read(file: &Json) -> Attempt {
    serde_json::from_slice(&serde_json::to_vec(file).unwrap()).unwrap()
}

#[test]
fn a_file_of_the_golden_version_is_read_and_written_whole() {
    let written = serde_json::to_value(read(&golden())).unwrap();
    assert_eq!(written, golden());
}

#[test]
fn a_file_without_what_later_versions_added_is_read() {
    let mut file = golden();
    for pointer in ADDED {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        assert!(file.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key).is_some(), "{pointer}");
    }
    let attempt = read(&file);
    assert_eq!((attempt.job.as_str(), attempt.number), ("serving-1a2b3c4d-base-r2-a1", 1));
    assert!(
        attempt.loaded.is_none()
            && attempt.created_at.is_none()
            && !attempt.awaits_postprocess
            && attempt.neighbors.is_empty()
    );
    assert_eq!(attempt.outcome.unwrap().took_seconds, 80.0);
}

#[test]
fn version_0_1_0_reads_what_this_one_writes() {
    let written = serde_json::to_vec_pretty(&read(&golden())).unwrap();
    let before: before::Attempt = serde_json::from_slice(&written).unwrap();
    assert_eq!((before.schema_version, before.run.repeat, before.number), (1, 2, 1));
    assert_eq!((before.benchmark.as_str(), before.job.as_str()), ("serving", "serving-1a2b3c4d-base-r2-a1"));
    assert_eq!((before.id.len(), before.case_name.as_str(), before.values["batch"].as_u64()), (32, "batch=8", Some(8)));
    assert_eq!((before.run_digest.as_str(), before.spec_run), ("sha256:1a2b3c4d", 1));
    assert_eq!((before.queue_timeout_seconds, before.timeout_seconds), (3600, 600));
    assert_eq!(before.inputs["seed"], 42);
    assert_eq!(before.workload_digest.as_deref(), Some("sha256:2c"));
    assert_eq!((before.workflow.uid.as_str(), before.workflow.is_scheduled), ("0f0e0d0c", false));
    assert_eq!(before.workflow.name, "serving-1a2b3c4d-r1");
    let seconds = [Some(&before.began), before.created_at.as_ref(), before.running_since.as_ref()];
    let seconds = seconds.map(|moment| moment.unwrap().seconds - 1_772_366_400.0);
    assert_eq!(seconds, [0.0, 1.0, 9.0]);
    assert_eq!(before.began.text, "2026-03-01T12:00:00Z");
    let created = before.created.unwrap();
    assert_eq!((created.api_version.as_str(), created.kind.as_str()), ("batch/v1", "Job"));
    assert_eq!((created.name.as_str(), created.uid.as_str()), ("serving-1a2b3c4d-base-r2-a1", "a1"));
    let loaded = before.loaded.unwrap();
    assert_eq!((loaded.is_new, loaded.warmups, loaded.up.folder.as_str()), (true, 2, "serving-server"));
    assert_eq!((loaded.up.endpoint.as_str(), loaded.up.pods["b2"]), ("http://serving-server:8000", 1));
    assert!(before.awaits_postprocess);
    let outcome = before.outcome.unwrap();
    assert_eq!((outcome.took_seconds, outcome.finished.text.as_str()), (80.0, "2026-03-01T12:01:20Z"));
    assert_eq!((outcome.ended["status"].as_str(), outcome.ended["restarts"].as_u64()), (Some("failed"), Some(1)));
    assert_eq!(
        (outcome.images.len(), outcome.nodes.len(), outcome.cluster_version.as_deref()),
        (1, 1, Some("v1.33.2"))
    );
    assert!(outcome.usage.is_some() && outcome.composition.is_object());
    let log = outcome.logs.unwrap().remove(0);
    assert_eq!((log.role.as_str(), log.index, log.is_main, log.name.as_str()), ("load", 0, true, "load-0.log"));
    assert_eq!((log.dropped, log.fault.as_deref(), log.last_lines.len()), (7, Some("cut"), 1));
}
