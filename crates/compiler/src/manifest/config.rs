//! `config.yaml`: the immutable ConfigMap with the run list and every job manifest. All of it is covered by the run digest.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::identity::Identity;
use super::meta;
use super::object::object;
use super::run_object::RunObject;
use super::workload::{CaseObjects, ServerObjects};
use crate::model::{Benchmark, OfServer};
use kubebench_contract::{Case, Described, RunList, Server, StepJob, text_at};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::yaml;

/// Returns the ConfigMap.
pub(super) fn config_map(
    benchmark: &Benchmark,
    identity: &Identity,
    cases: &[CaseObjects],
    prepare: Option<&RunObject>,
) -> Json {
    let mut data = Map::new();
    let mut put = |file: String, objects: &[RunObject]| {
        data.insert(file.clone(), documents(objects).into());
        (file, objects.iter().map(describe).collect::<Vec<_>>())
    };
    let prepare = prepare.map(|job| step_job(put("prepare.yaml".to_owned(), std::slice::from_ref(job))));
    let (mut described, mut servers) = (BTreeMap::new(), BTreeMap::new());
    for (case, CaseObjects { objects, postprocess, served, server }) in benchmark.cases.iter().zip(cases) {
        let (manifest, described_objects) = put(format!("{}.yaml", case.id), objects);
        let postprocess = postprocess
            .as_ref()
            .map(|job| step_job(put(format!("{}.postprocess.yaml", case.id), std::slice::from_ref(job))));
        if let Some(ServerObjects { id, objects, served }) = server {
            let (manifest, objects) = put(format!("{id}.server.yaml"), objects);
            let content = Server { manifest, objects, served: served.clone(), warmups: benchmark.warmups };
            servers.insert(id.clone(), content);
        }
        let content = Case {
            name: case.name.clone(),
            values: case.values.clone(),
            inputs: case.inputs.clone(),
            timeout_seconds: case.timeout.seconds(),
            manifest,
            objects: described_objects,
            served: served.clone(),
            server: server.as_ref().map(|server| server.id.clone()),
            postprocess,
            workload_digest: identity.workloads.get(&case.id).map(Digest::to_string),
        };
        described.insert(case.id.clone(), content);
    }
    let list = RunList {
        benchmark: benchmark.name.clone(),
        run: benchmark.run,
        run_digest: identity.digest.to_string(),
        order: benchmark.order,
        parallelism: benchmark.parallelism,
        queue_timeout_seconds: benchmark.queue_timeout.seconds(),
        cases: described,
        servers,
        prepare,
        runs: identity.runs.clone(),
    };
    data.insert(RunList::FILE.to_owned(), list.write().into());
    object([
        ("apiVersion", "v1".into()),
        ("kind", "ConfigMap".into()),
        ("metadata", meta::applied(&benchmark.target, &identity.config, Some(benchmark))),
        ("immutable", true.into()),
        ("data", Json::Object(data)),
    ])
}

fn step_job((manifest, objects): (String, Vec<Described>)) -> StepJob {
    StepJob { manifest, objects }
}

fn describe(run: &RunObject) -> Described {
    let of_server = |wanted: OfServer| {
        let found = run.of_server.iter().filter(|(_, what)| *what == wanted);
        found.map(|(at, _)| at.clone()).collect()
    };
    Described {
        kind: text_at(&run.object, "/kind").to_owned(),
        name_at: run.name_at.clone(),
        labels_at: run.labels_at.clone(),
        endpoint_at: of_server(OfServer::Endpoint),
        server_at: of_server(OfServer::Name),
    }
}

fn documents(objects: &[RunObject]) -> String {
    objects.iter().map(|run| yaml::write(&run.object)).collect::<Vec<_>>().join("---\n")
}
