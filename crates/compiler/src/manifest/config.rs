//! `config.yaml`: the immutable ConfigMap with the run list and every job manifest. Nothing in it stands outside the run digest.

use serde_json::{Map, Value as Json, json};

use super::identity::{Identity, order};
use super::meta;
use super::object::object;
use super::workload::{CaseObjects, RunObject, ServerObjects};
use crate::model::{Benchmark, OfServer};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::yaml;

/// Returns the name of the ConfigMap.
pub(super) fn name(benchmark: &Benchmark, identity: &Identity) -> String {
    format!("{}-{}", benchmark.name, identity.digest.short())
}

/// Returns the ConfigMap.
pub(super) fn config_map(
    benchmark: &Benchmark,
    identity: &Identity,
    cases: &[CaseObjects],
    prepare: Option<&RunObject>,
) -> Json {
    let mut data = Map::new();
    let (mut described, mut servers) = (Map::new(), Map::new());
    for (case, objects) in benchmark.cases.iter().zip(cases) {
        let file = format!("{}.yaml", case.id);
        let mut description = object([
            ("inputs", case.inputs.clone()),
            ("manifest", file.as_str().into()),
            ("name", case.name.as_str().into()),
            ("objects", objects.objects.iter().map(describe).collect()),
            ("timeoutSeconds", case.timeout.seconds().into()),
            ("values", json!(case.values)),
            ("workloadDigest", json!(identity.workloads.get(&case.id).map(Digest::to_string))),
        ]);
        data.insert(file, documents(&objects.objects).into());
        if let (Some(job), Some(description)) = (&objects.postprocess, description.as_object_mut()) {
            let file = format!("{}.postprocess.yaml", case.id);
            description.insert("postprocess".to_owned(), json!({ "manifest": file, "objects": [describe(job)] }));
            data.insert(file, documents(std::slice::from_ref(job)).into());
        }
        if let (Some(served), Some(description)) = (&objects.served, description.as_object_mut()) {
            description.insert("served".to_owned(), json!(served));
        }
        if let (Some(ServerObjects { id, objects, served }), Some(description)) =
            (&objects.server, description.as_object_mut())
        {
            description.insert("server".to_owned(), id.as_str().into());
            let file = format!("{id}.server.yaml");
            let of_server = json!({
                "manifest": file,
                "objects": objects.iter().map(describe).collect::<Json>(),
                "served": served,
                "warmups": benchmark.warmups,
            });
            servers.insert(id.clone(), of_server);
            data.insert(file, documents(objects).into());
        }
        described.insert(case.id.clone(), description);
    }
    let mut list = object([
        ("schemaVersion", 1.into()),
        ("benchmark", benchmark.name.as_str().into()),
        ("cases", Json::Object(described)),
        ("order", order(benchmark).into()),
        ("parallelism", benchmark.parallelism.into()),
        ("queueTimeoutSeconds", benchmark.queue_timeout.seconds().into()),
        ("run", benchmark.run.into()),
        ("runDigest", identity.digest.to_string().into()),
        ("runs", json!(identity.runs)),
    ]);
    if let (Some(job), Some(list)) = (prepare, list.as_object_mut()) {
        list.insert("prepare".to_owned(), json!({ "manifest": "prepare.yaml", "objects": [describe(job)] }));
        data.insert("prepare.yaml".to_owned(), documents(std::slice::from_ref(job)).into());
    }
    if let (false, Some(list)) = (servers.is_empty(), list.as_object_mut()) {
        list.insert("servers".to_owned(), Json::Object(servers));
    }
    data.insert("runs.json".to_owned(), pretty(&list).into());
    object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &name(benchmark, identity), Some(benchmark))),
        ("immutable", true.into()),
        ("data", Json::Object(data)),
    ])
}

fn describe(run: &RunObject) -> Json {
    let mut described = json!({ "kind": run.object.get("kind"), "labelsAt": run.labels_at, "nameAt": run.name_at });
    for (field, wanted) in [("endpointAt", OfServer::Endpoint), ("serverAt", OfServer::Name)] {
        let at: Vec<&str> =
            run.of_server.iter().filter(|(_, what)| *what == wanted).map(|(at, _)| at.as_str()).collect();
        if let (false, Some(described)) = (at.is_empty(), described.as_object_mut()) {
            described.insert(field.to_owned(), json!(at));
        }
    }
    described
}

fn documents(objects: &[RunObject]) -> String {
    objects.iter().map(|run| yaml::write(&run.object)).collect::<Vec<_>>().join("---\n")
}

/// Returns `value` as JSON that people can read and that diffs by the line.
pub(super) fn pretty(value: &Json) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
