//! What all benchmarks of a target share: accounts, roles, network policies, settings and the WorkflowTemplate.

mod access;
mod lock;
mod network;
mod pods;
mod suite;
mod template;

pub(super) use access::WORKFLOW;
use serde_json::{Map, Value as Json, json};

use super::meta;
use crate::model::target::{self as model, NetworkPolicy, Settings};
use crate::model::{Benchmark, Target};
use kubebench_contract::{self as contract, Prometheus, ResultsSettings};

/// The name of the WorkflowTemplate.
pub(super) const TEMPLATE: &str = "kubebench";
/// The name of the WorkflowTemplate of suites, which exists where the target has any.
pub(super) const SUITE_TEMPLATE: &str = "kubebench-suite";
/// Its entry point.
pub(super) const SUITE_ENTRYPOINT: &str = "suite";
/// The name of the ConfigMap with the target's settings.
pub(super) const SETTINGS: &str = "kubebench-settings";
/// The key in it that configures where Argo stores artifacts of the steps: nowhere, since they have none.
const ARTIFACTS: &str = "artifact-repository";

/// Returns the entry point for `parallelism` runs at once; Argo does not accept a parameter there.
pub(super) fn entrypoint(parallelism: u32) -> String {
    if parallelism == 1 { "serial".to_owned() } else { format!("parallel-{parallelism}") }
}

/// Returns the objects with their file names.
pub fn pipeline(target: &Target, settings: &Settings, benchmarks: &[&Benchmark]) -> Vec<(String, Json)> {
    let mut objects = access::objects(target, benchmarks);
    objects.push(("settings.yaml".to_owned(), settings_map(target, settings)));
    if let NetworkPolicy::On(openings) = &target.network_policy {
        let workloads = || benchmarks.iter().flat_map(|benchmark| &benchmark.cases).map(|case| &case.workload);
        let is_there = |kind: &str| workloads().any(|workload| workload.api.kind == kind);
        let kinds = network::Kinds { of_ray: is_there("RayJob"), of_katib: is_there("Experiment") };
        objects.extend(network::policies(target, settings, openings, kinds));
    }
    let (in_suites, alone): (Vec<&Benchmark>, Vec<&Benchmark>) =
        benchmarks.iter().partition(|benchmark| benchmark.suite.is_some());
    let several: Vec<u32> = lanes(&alone).into_iter().filter(|lanes| *lanes > 1).collect();
    objects.push(("workflow-template.yaml".to_owned(), template::workflow_template(target, settings, &several)));
    if !in_suites.is_empty() {
        let template = suite::workflow_template(target, settings, &lanes(&in_suites));
        objects.push(("suite-template.yaml".to_owned(), template));
    }
    objects
}

/// Returns the numbers of runs at once that these benchmarks request, without duplicates.
fn lanes(benchmarks: &[&Benchmark]) -> Vec<u32> {
    let mut lanes: Vec<u32> = benchmarks.iter().map(|benchmark| benchmark.parallelism).collect();
    lanes.sort_unstable();
    lanes.dedup();
    lanes
}

/// Text of users goes into a ConfigMap, which Argo does not expand.
fn settings_map(target: &Target, settings: &Settings) -> Json {
    let model::ResultsSettings { branch, directory, inbox, mode, remote, ssh_host_keys, .. } = &settings.results;
    let content = contract::Settings {
        target: target.name.clone(),
        cluster: target.cluster.clone(),
        prometheus: target.prometheus.clone().map(|url| Prometheus { url }),
        prices: target.prices.clone(),
        pods: target.carried_by_runs(),
        results: ResultsSettings {
            mode: (*mode).to_owned(),
            remote: remote.clone(),
            branch: branch.clone(),
            directory: directory.clone(),
            inbox: inbox.clone(),
            ssh_host_keys: ssh_host_keys.map(str::to_owned),
            one_user: target.has_one_user(),
        },
    };
    let mut data = Map::from_iter(lock::limit(target));
    data.insert(contract::Settings::FILE.to_owned(), content.write().into());
    data.insert(ARTIFACTS.to_owned(), "archiveLogs: false\n".into());
    json!({
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": meta::applied(target, SETTINGS, None),
        "data": data,
    })
}
