//! What tests of the steps share: a session without a pod, on a volume and a cluster of their own.

use std::path::Path;

use serde_json::json;

use super::Environment;
use super::session::Session;
use crate::edge::cluster::Cluster;
use crate::steps::Settings;

/// A step of the benchmark `matmul` in the namespace `n`, whose Workflow has the uid `w`.
pub(super) fn session(cluster: Cluster, experiments: &Path) -> Session {
    let settings = json!({
        "schemaVersion": 1, "target": "default", "cluster": "lab",
        "results": {"mode": "local", "branch": "kubebench/results", "directory": "results", "inbox": "refs/kubebench/inbox"},
    });
    let variables = [
        ("BENCHMARK", "matmul"),
        ("WORKFLOW", "matmul-1a2b3c4d-r1"),
        ("WORKFLOW_UID", "w"),
        ("NAMESPACE", "n"),
        ("SESSION", "once"),
        ("EXP_ROOT", experiments.to_str().unwrap()),
    ];
    let named = |(name, value): (&str, &str)| (format!("KUBEBENCH_{name}"), value.to_owned());
    let environment = Environment::of(variables.map(named).into());
    Session::over(cluster, &environment, Settings::read(&settings.to_string()).unwrap()).unwrap()
}
