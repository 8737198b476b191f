//! What tests of the steps share: a session without a pod, on a volume and a cluster of their own.

#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use serde_json::{Value as Json, json};

use super::attempt::{Attempt, Workflow};
use super::inputs::RulesText;
use super::logs::Logs;
use super::session::ClusterStep;
use super::{Environment, snapshot};
use kubebench_cluster::Cluster;
use kubebench_contract::instance;
use kubebench_contract::{Config, Created, Settings};
use kubebench_extract::rules::Rules;
use kubebench_testing::server::{Server, stall};
use kubebench_testing::watchdog::WATCHDOG;

/// A client of `server`.
pub(super) fn cluster(server: &Server) -> Cluster {
    Cluster::of_test(server.url(), WATCHDOG).patience(WATCHDOG)
}

/// A step of the benchmark `matmul` in the namespace `n`, whose Workflow has the uid `w`.
pub(super) fn session(cluster: Cluster, experiments: &Path) -> ClusterStep {
    let settings = json!({
        "schemaVersion": 1, "target": "default", "cluster": "lab",
        "results": {"mode": "local", "branch": "kubebench/results", "directory": "results", "inbox": "refs/kubebench/inbox"},
    });
    let rules = experiments.join("no-rules");
    let variables = [
        ("BENCHMARK", "matmul"),
        ("WORKFLOW", "matmul-1a2b3c4d-r1"),
        ("WORKFLOW_UID", "w"),
        ("WORKFLOW_CREATED", "2026-01-01T00:00:00Z"),
        ("NAMESPACE", "n"),
        ("SESSION", "once"),
        ("EXP_ROOT", experiments.to_str().unwrap()),
        ("RULES_DIR", rules.to_str().unwrap()),
    ];
    let named = |(name, value): (&str, &str)| (format!("KUBEBENCH_{name}"), value.to_owned());
    let environment = Environment::of(variables.map(named).into());
    ClusterStep::over(|| Ok(cluster), &environment, Settings::read(&settings.to_string()).unwrap()).unwrap()
}

/// The one run of a benchmark, after which there is a Job.
pub(super) fn config() -> Config {
    let list = json!({
        "schemaVersion": 1, "benchmark": "matmul", "run": 1, "runDigest": format!("sha256:{}", "0a".repeat(32)),
        "order": "grouped", "parallelism": 1, "queueTimeoutSeconds": 60,
        "cases": {"size-256-0a1b2c3d": {"name": "size=256", "values": {"size": 256}, "inputs": null, "timeoutSeconds": 60, "manifest": "x", "objects": [],
            "postprocess": {"manifest": "after.yaml", "objects": [{"kind": "Job", "nameAt": [], "labelsAt": []}]}}},
        "runs": [{"id": "size-256-0a1b2c3d-r1", "case": "size-256-0a1b2c3d", "repeat": 1, "warmup": false, "job": "x"}],
    });
    let after = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: x-1\n".to_owned();
    let files = [("runs.json".to_owned(), list.to_string()), ("after.yaml".to_owned(), after)];
    Config::read(BTreeMap::from(files)).unwrap()
}

/// Attempt `number` at that run.
pub(super) fn attempt(number: u32) -> Attempt {
    let config = config();
    let run = config.list.runs.first().unwrap();
    let job = config.job_of(run, number, instance::Session::Once);
    let workflow = Workflow { name: "matmul-1a2b3c4d-r1".to_owned(), uid: "w".to_owned(), is_scheduled: false };
    Attempt::begin(&config, run, &config.list.cases[&run.case], number, &job, workflow).unwrap()
}

#[test]
fn no_write_of_a_step_leaves_the_folder_of_its_run() {
    let attempt = attempt(1);
    for linked in ["", "config", "output", "output/logs", ".output.logs", "result"] {
        let (volume, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mode = || outside.path().metadata().unwrap().permissions().mode();
        let before = mode();
        let place = attempt.folder(volume.path()).join(linked);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        symlink(outside.path(), place.to_str().unwrap().trim_end_matches('/')).unwrap();
        let run = snapshot::make(volume.path(), &attempt.job).unwrap();
        let rules = RulesText { rules: Some("{}".to_owned()), spec: None };
        snapshot::keep(
            &run,
            &Created { before: Vec::new(), workload: Json::Null, endpoint_at: Vec::new() },
            None,
            &rules,
        )
        .unwrap();
        attempt.keep(volume.path()).unwrap();
        let session = session(cluster(&Server::new(|_, _| stall())), volume.path());
        Logs::new(&session, run.place().join("output"), &Rules::none(), 100);
        assert_eq!(std::fs::read_dir(outside.path()).unwrap().count(), 0, "{linked}");
        assert_eq!(mode(), before, "{linked}");
        for name in ["attempt.json", "config/rules.json", "output/logs", ".output.logs", "result"] {
            assert!(attempt.folder(volume.path()).join(name).exists(), "{linked}: {name}");
        }
    }
}
