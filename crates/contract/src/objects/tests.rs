use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::{Config, Fault, Naming, PodMetadata};
use crate::instance::{Owner, Session, benchmark_of};

const NAMING: Naming<'static> =
    Naming { session: Session::Once, owner: Owner { name: "disk-r1", uid: "0-1" }, pods: PodMetadata::NONE };

/// A run list with a Job before the runs, a server, and a case whose Job loads it and has another after it.
fn config() -> Config {
    let described = |more: Json| {
        let mut described = json!({"kind": "Job", "nameAt": ["/metadata/name"], "labelsAt": ["/metadata/labels"]});
        described.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        described
    };
    let plain = || described(json!({}));
    let served = json!({"endpoint": {"status": {"at": ["/status/url"]}}, "probe": "tcp", "readySeconds": 60});
    let load = described(json!({"endpointAt": ["/spec/endpoint"], "serverAt": ["/spec/server"]}));
    let case = json!({
        "name": "a", "values": {}, "inputs": null, "timeoutSeconds": 60, "manifest": "a.yaml", "objects": [load, plain()],
        "server": "s", "postprocess": {"manifest": "a.postprocess.yaml", "objects": [plain()]},
    });
    let list = json!({
        "schemaVersion": 1, "benchmark": "disk", "run": 1, "runDigest": "sha256:00ff", "order": "interleaved",
        "parallelism": 1, "queueTimeoutSeconds": 60, "cases": {"a": case},
        "prepare": {"manifest": "prepare.yaml", "objects": [plain()]},
        "servers": {"s": {"manifest": "s.yaml", "objects": [plain()], "warmups": 1, "served": served}},
        "runs": [
            {"id": "a-r2", "case": "a", "repeat": 2, "warmup": false, "job": "disk-00000000"},
            {"id": "a-w1", "case": "a", "repeat": 1, "warmup": true, "job": "disk-00000001"},
        ],
    });
    let job = "apiVersion: batch/v1\nkind: Job\nmetadata: {labels: {app: disk}}\nspec: {}\n";
    let files = ["prepare.yaml", "s.yaml", "a.postprocess.yaml"].map(|file| (file.to_owned(), job.to_owned()));
    let own = [("runs.json".to_owned(), list.to_string()), ("a.yaml".to_owned(), format!("{job}---\n{job}"))];
    Config::read(files.into_iter().chain(own).collect()).unwrap()
}

fn name(object: &Json) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// A name of a job is part of the contract: a change of it runs what has run already.
#[test]
fn names_follow_from_the_run_its_attempt_and_its_session() {
    let config = config();
    let of_uid = Session::Scheduled { uid: "0-1" };
    let run = |id: &str| config.run(id).unwrap().0;
    let names = [
        config.job_of(run("a-r2"), 1, Session::Once),
        config.job_of(run("a-r2"), 2, Session::Once),
        config.job_of(run("a-r2"), 1, of_uid),
        config.job_of(run("a-w1"), 1, Session::Once),
        config.server_name("s", Session::Once),
        config.server_name("s", of_uid),
        config.prepare_name(Session::Once),
        config.prepare_name(of_uid),
    ];
    assert_eq!(
        names.join(" "),
        "disk-97c32bb7 disk-fd8108e7 disk-da39e53f disk-ef4a3a33 disk-176b0dae disk-ab7809e3 disk-c6c33f26 disk-01f64c90"
    );
    assert!(names.iter().all(|name| benchmark_of(name) == Some("disk")));
}

#[test]
fn a_benchmark_is_what_is_before_eight_hex_digits() {
    assert_eq!(benchmark_of("disk-fast-0a1b2c3d"), Some("disk-fast"));
    for other in ["disk", "-0a1b2c3d", "disk-0a1b2c3", "disk-0a1b2c3dd", "disk-0A1B2C3D", "disk-0a1b2c3g", "0a1b2c3d"] {
        assert_eq!(benchmark_of(other), None, "{other}");
    }
}

#[test]
fn the_objects_of_a_run_have_its_name_its_labels_and_their_owner() {
    let config = config();
    let mut created = config.objects("a-r2", 3, &NAMING).unwrap();
    let job = config.job_of(config.run("a-r2").unwrap().0, 3, Session::Once);
    let metadata = json!({
        "name": job,
        "labels": {
            "app": "disk",
            "kubebench.dev/run": job,
            "kubebench.dev/repeat": "2",
            "kubebench.dev/attempt": "3",
            "kubebench.dev/warmup": "false",
        },
        "ownerReferences": [{"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "name": "disk-r1", "uid": "0-1"}],
    });
    assert_eq!(created.before.len(), 1);
    for object in [&created.workload, &created.before[0]] {
        assert_eq!(object["metadata"], metadata);
    }
    assert_eq!(created.workload["spec"], json!({"server": config.server_name("s", Session::Once)}));
    created.load("10.0.0.1:80");
    assert_eq!(created.workload["spec"]["endpoint"], "10.0.0.1:80");
    assert!(matches!(config.objects("a-r1", 1, &NAMING), Err(Fault::UnknownRun { id }) if id == "a-r1"));
}

#[test]
fn jobs_next_to_a_run_have_names_of_their_own() {
    let config = config();
    let session = NAMING.session;
    let after = config.postprocess("a-r2", 1, &NAMING).unwrap().unwrap();
    let job = config.job_of(config.run("a-r2").unwrap().0, 1, session);
    assert_ne!(name(&after), job);
    assert_eq!(after["metadata"]["labels"]["kubebench.dev/run"], job);
    let before = config.prepare(&NAMING).unwrap().unwrap();
    assert_eq!(name(&before), config.prepare_name(session));
    let server = config.server("s", &NAMING).unwrap();
    assert_eq!(name(&server.workload), config.server_name("s", session));
    let loads = [1, 2].map(|number| config.warmup("a-r2", 1, number, &NAMING).unwrap().workload);
    assert_ne!(name(&loads[0]), name(&loads[1]));
    assert!(loads.iter().all(|load| load["metadata"]["labels"]["kubebench.dev/warmup"] == "true"));
    // Without such a Job there is no object.
    let mut bare = config;
    bare.list.prepare = None;
    bare.list.cases.get_mut("a").unwrap().postprocess = None;
    assert_eq!((bare.prepare(&NAMING), bare.postprocess("a-r2", 1, &NAMING)), (Ok(None), Ok(None)));
}

#[test]
fn a_manifest_has_the_objects_that_the_run_list_describes() {
    for described in [0, 1, 3] {
        let mut config = config();
        let objects = &mut config.list.cases.get_mut("a").unwrap().objects;
        let last = objects.last().unwrap().clone();
        objects.resize(described, last);
        let fault = config.objects("a-r2", 1, &NAMING).unwrap_err();
        assert!(
            matches!(&fault, Fault::Malformed { file, reason } if file == "a.yaml" && reason.starts_with("it holds 2 objects")),
            "{described}: {fault}"
        );
    }
}

#[test]
fn the_texts_of_a_run_list_are_those_of_its_config_map() {
    let config = config();
    let texts: Vec<_> = config.texts().map(|(file, text)| (file, text.lines().next().unwrap())).collect();
    assert_eq!(texts.len(), 5);
    assert!(texts.contains(&("s.yaml", "apiVersion: batch/v1")));
}

#[test]
fn the_kinds_of_a_run_list_are_those_of_its_workloads() {
    let case = |file: &str| json!({"name": file, "values": {}, "inputs": null, "timeoutSeconds": 60, "manifest": file, "objects": []});
    let list = json!({
        "schemaVersion": 1, "benchmark": "x", "run": 1, "runDigest": "sha256:00", "order": "interleaved",
        "parallelism": 1, "queueTimeoutSeconds": 60, "cases": {"a": case("a.yaml"), "b": case("gone.yaml")}, "runs": [],
    });
    let manifest = "apiVersion: kubeflow.org/v1\nkind: TFJob\n---\napiVersion: v1\nkind: Service\n";
    let files = [("runs.json", list.to_string()), ("a.yaml", manifest.to_owned())];
    let files: BTreeMap<String, String> = files.map(|(name, text)| (name.to_owned(), text)).into();
    let kinds = Config::read(files).unwrap().kinds();
    assert_eq!(kinds.into_iter().collect::<Vec<_>>(), [("kubeflow.org/v1".to_owned(), "TFJob".to_owned())]);
}

#[test]
fn a_load_without_the_manifest_of_its_server_is_refused_and_names_none() {
    let described = json!({"kind": "Job", "nameAt": [], "labelsAt": [], "serverAt": ["/spec/server"]});
    let case = json!({
        "name": "a", "values": {}, "inputs": null, "timeoutSeconds": 60, "manifest": "a.yaml", "objects": [described], "server": "s",
    });
    let server = json!({
        "manifest": "s.yaml", "objects": [described], "warmups": 0,
        "served": {"endpoint": {"shared": {"name": "s", "port": 80}}, "probe": "tcp", "readySeconds": 60},
    });
    let list = json!({
        "schemaVersion": 1, "benchmark": "x", "run": 1, "runDigest": "sha256:00", "order": "interleaved",
        "parallelism": 1, "queueTimeoutSeconds": 60, "cases": {"a": case}, "servers": {"s": server},
        "runs": [{"id": "a-r1", "case": "a", "repeat": 1, "warmup": false, "job": "x-a-r1"}],
    });
    let manifest = "apiVersion: batch/v1\nkind: Job\nmetadata: {name: j}\nspec: {server: \"\"}\n".to_owned();
    let created = |names: &[&str]| {
        let files = names.iter().map(|name| ((*name).to_owned(), manifest.clone()));
        let files = files.chain([("runs.json".to_owned(), list.to_string())]).collect();
        Config::read(files).unwrap().objects("a-r1", 1, &NAMING)
    };
    assert_eq!(created(&["a.yaml", "s.yaml"]).unwrap().workload["spec"]["server"], "j");
    assert!(matches!(created(&["a.yaml"]), Err(Fault::Missing { file }) if file == "s.yaml"));
}
