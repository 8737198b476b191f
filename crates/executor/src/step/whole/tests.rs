#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::super::Environment;
use super::super::attempt::{Attempt, Created, Moment, Workflow};
use super::super::inputs::Inputs;
use super::super::session::ClusterStep;
use super::super::tests::{cluster, session};
use crate::collect::Ended;
use kubebench_contract::{Config, Prometheus, Run, Settings, instance};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Status, StatusReason, Timings};
use kubebench_host::fault::caught;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_testing::server::{Act, Server, object, status};
use kubebench_testing::snapshot::{assert_line, str};

mod neighbors;

const CASE: &str = "size-256-0a1b2c3d";

/// Two runs of a case.
fn config() -> Config {
    let run = |number: u32| json!({"id": format!("{CASE}-r{number}"), "case": CASE, "repeat": number, "warmup": false, "job": "x"});
    let list = json!({
        "schemaVersion": 1, "benchmark": "matmul", "run": 1, "runDigest": format!("sha256:{}", "0a".repeat(32)),
        "order": "grouped", "parallelism": 1, "queueTimeoutSeconds": 60,
        "cases": {CASE: {"name": "size=256", "values": {"size": 256}, "inputs": null, "timeoutSeconds": 60, "manifest": "a.yaml",
            "objects": [{"kind": "Job", "nameAt": ["/metadata/name"], "labelsAt": []}]}},
        "runs": [run(1), run(2)],
    });
    let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: x\n".to_owned();
    let files = [("runs.json".to_owned(), list.to_string()), ("a.yaml".to_owned(), manifest)];
    Config::read(BTreeMap::from(files)).unwrap()
}

fn inputs() -> Inputs {
    let settings = json!({
        "schemaVersion": 1, "target": "default", "cluster": "lab",
        "results": {"mode": "local", "branch": "kubebench/results", "directory": "results", "inbox": "refs/kubebench/inbox"},
    });
    Inputs { config: config(), settings: Settings::read(&settings.to_string()).unwrap() }
}

/// A cluster in which every Job that is asked for is there, and complete, until it is deleted; `next` is created.
fn server(next: String) -> Server {
    let is_there = AtomicBool::new(true);
    Server::new(move |request, _| -> Vec<Act> {
        let (method, target) = request.split_once(' ').unwrap();
        let path = target.split('?').next().unwrap();
        let job = |name: &str| {
            let owner = json!([{"kind": "Workflow", "name": "x", "uid": "w"}]);
            json!({"apiVersion": "batch/v1", "kind": "Job", "spec": {}, "metadata":
                {"name": name, "namespace": "n", "uid": "u", "resourceVersion": "1", "ownerReferences": owner},
                "status": {"conditions": [{"type": "Complete", "status": "True"}]}})
        };
        let list = json!({"kind": "List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": []});
        match (method, path.rsplit_once("/jobs/")) {
            _ if target.contains("watch=true") => kubebench_testing::server::stall(),
            ("GET", Some((_, name))) if is_there.load(Ordering::SeqCst) => object(&job(name)),
            ("DELETE", Some((_, name))) => {
                is_there.store(false, Ordering::SeqCst);
                object(&job(name))
            }
            ("POST", None) if path.ends_with("/jobs") => {
                is_there.store(true, Ordering::SeqCst);
                object(&job(&next))
            }
            ("GET", None) if ["/jobs", "/pods", "/events"].iter().any(|end| path.ends_with(end)) => object(&list),
            _ => status(404, "NotFound", "not found"),
        }
    })
}

fn opened(server: &Server, volume: &Path) -> ClusterStep {
    let rules = json!({"schemaVersion": 1, "benchmark": "matmul", "metrics": [], "checks": []});
    std::fs::create_dir(volume.join("no-rules")).unwrap();
    std::fs::write(volume.join("no-rules/rules.json"), rules.to_string()).unwrap();
    session(cluster(server), volume)
}

fn attempt(config: &Config, run: &Run) -> Attempt {
    let job = config.job_of(run, 1, instance::Session::Once);
    let workflow = Workflow { name: "matmul-1a2b3c4d-r1".to_owned(), uid: "w".to_owned(), is_scheduled: false };
    Attempt::begin(config, run, &config.list.cases[&run.case], 1, &job, workflow).unwrap()
}

/// No clock shows when its pods ran, so for how long they did is more than a [`std::time::Duration`] holds: a panic of the code that
/// follows the job.
#[test]
fn a_run_that_breaks_the_step_has_its_result_and_the_next_one_continues() {
    let (inputs, volume) = (inputs(), tempfile::tempdir().unwrap());
    let [first, second] = inputs.config.list.runs.as_slice() else { panic!("two runs") };
    let mut whole = attempt(&inputs.config, second);
    let server = server(whole.job.clone());
    let mut session = opened(&server, volume.path());

    let mut broken = attempt(&inputs.config, first);
    let output = broken.folder(volume.path()).join("output");
    std::fs::create_dir_all(&output).unwrap();
    std::fs::write(output.join("checkpoint.bin"), "42").unwrap();
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": broken.job, "uid": "u"}});
    broken.created = Some(Created::of(&job));
    broken.running_since = Some(Moment { text: "2026-01-02T03:04:05Z".to_owned(), seconds: f64::NEG_INFINITY });
    let result = session.attempt(&inputs, &mut broken).unwrap().unwrap();
    assert_eq!(result.run.status, Status::Failed);
    let [reason] = result.run.reasons.as_slice() else { panic!("{:?}", result.run.reasons) };
    assert_eq!(reason.code, ReasonCode::InternalFault);
    assert!(reason.message.contains("bug") && reason.message.contains("float seconds"), "{}", reason.message);
    assert!(reason.message.contains(".rs:"), "the place: {}", reason.message);
    let kept: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(kept, ["checkpoint.bin"], "what it left");
    assert_eq!(session.result_of(&broken.job).unwrap(), Some(result), "it is on the volume");
    assert!(server.requests().iter().any(|request| request.starts_with("DELETE ")), "its job is gone");

    let result = session.attempt(&inputs, &mut whole).unwrap().unwrap();
    assert_eq!((result.run.status, result.run.repeat), (Status::Succeeded, 2), "{:?}", result.run.reasons);
}

/// The run has its result, and the metric says why it has no value.
#[test]
fn a_prometheus_whose_authorities_are_absent_costs_its_metrics_alone() {
    let (inputs, volume) = (inputs(), tempfile::tempdir().unwrap());
    let [run, ..] = inputs.config.list.runs.as_slice() else { panic!("two runs") };
    let mut attempt = attempt(&inputs.config, run);
    let server = server(attempt.job.clone());
    let mut session = opened(&server, volume.path());
    let metric = json!({"name": "up", "unit": "1", "better": "lower", "from": {"prometheus": {"query": "up"}}});
    let rules = json!({"schemaVersion": 1, "benchmark": "matmul", "metrics": [metric], "checks": [], "source": {"digest": "sha256:01", "path": "a"}});
    std::fs::write(volume.path().join("no-rules/rules.json"), rules.to_string()).unwrap();
    session.settings.prometheus = Some(Prometheus { url: "https://127.0.0.1:9".to_owned() });
    let place = |name: &str| volume.path().join(name).display().to_string();
    let variables = [("KUBEBENCH_RULES_DIR", place("no-rules")), ("KUBEBENCH_CA_FILE", place("ca.crt"))];
    session.environment = Environment::of(variables.map(|(name, value)| (name.to_owned(), value)).into());
    let result = session.attempt(&inputs, &mut attempt).unwrap().unwrap();
    assert_eq!(session.result_of(&attempt.job).unwrap(), Some(result.clone()), "it is on the volume");
    // There is no other metric.
    assert_eq!(result.run.status, Status::Invalid, "{:?}", result.run.reasons);
    assert_eq!(result.metrics[0].value, None);
    assert_line(
        result.metrics[0].reason.as_deref().unwrap(),
        str! {"the certificates that `results.ca` names cannot be used: the namespace does not have that object, or the object does not have that key"},
    );
}

#[test]
fn only_a_success_becomes_a_failure() {
    let fault = caught(|| None::<u8>.expected("a log of each replica")).unwrap_err();
    for (status, expected, codes) in [
        (Status::Succeeded, Status::Failed, ["internalFault", "logIncomplete"]),
        (Status::TimedOut, Status::TimedOut, ["logIncomplete", "internalFault"]),
        (Status::Preempted, Status::Preempted, ["logIncomplete", "internalFault"]),
    ] {
        let reasons = vec![StatusReason { code: ReasonCode::LogIncomplete, message: "x".to_owned() }];
        let mut ended = Ended { status, reasons, exits: Vec::new(), restarts: 0, timings: Timings::default() };
        assert_eq!(ended.unless_broken_off(Err::<u8, _>(fault.clone())), None);
        assert_eq!(ended.status, expected);
        assert_eq!(ended.reasons.iter().map(|reason| reason.code.to_string()).collect::<Vec<_>>(), codes);
        assert_eq!(ended.unless_broken_off(Ok(7)), Some(7));
    }
}
