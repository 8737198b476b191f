//! Network policies: nothing in, nothing out, but DNS, the pods of the benchmarks among each other, and declared openings.

use serde_json::{Value as Json, json};

use crate::manifest::meta;
use crate::model::Target;
use crate::model::target::Settings;
use kubebench_contract::labels;

/// Ports that steps need whatever is set: the API server (443, 6443), and git over HTTPS and SSH.
const STEP_PORTS: [u16; 3] = [22, 443, 6443];

/// Returns the policies with their file names; `of_workloads` are openings for the pods of benchmarks alone.
pub(super) fn policies(
    target: &Target,
    settings: &Settings,
    (egress, of_workloads): (&[Json], &[Json]),
    ingress: &[Json],
) -> Vec<(String, Json)> {
    let of_benchmarks = json!({ "matchExpressions": [{ "key": labels::BENCHMARK, "operator": "Exists" }] });
    let of_steps = json!({ "matchExpressions": [{ "key": labels::STEP, "operator": "Exists" }] });
    let dns = json!({ "ports": [{ "port": 53, "protocol": "TCP" }, { "port": 53, "protocol": "UDP" }] });
    let among = json!({ "podSelector": of_benchmarks });
    let mut workload_egress = vec![dns.clone(), json!({ "to": [among] })];
    workload_egress.extend(of_workloads.iter().chain(egress).cloned());
    // The steps read what the workload serves, such as its metrics.
    let mut workload_ingress = vec![json!({ "from": [among, { "podSelector": of_steps }] })];
    workload_ingress.extend(ingress.iter().cloned());
    let mut ports: Vec<u16> = STEP_PORTS.to_vec();
    ports.extend(target.prometheus.as_deref().map(port_of));
    ports.extend(settings.results.remote.as_deref().and_then(git_port));
    ports.sort_unstable();
    ports.dedup();
    let ports: Vec<Json> = ports.into_iter().map(|port| json!({ "port": port, "protocol": "TCP" })).collect();
    let mut step_egress = vec![dns, json!({ "ports": ports }), json!({ "to": [among] })];
    step_egress.extend(egress.iter().cloned());
    let policy = |name: &str, spec: Json| json!({ "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": meta::applied(target, name, None), "spec": spec });
    vec![
        (
            "network-policy-workloads.yaml".to_owned(),
            policy(
                "kubebench-workloads",
                json!({ "egress": workload_egress, "ingress": workload_ingress, "podSelector": of_benchmarks, "policyTypes": ["Egress", "Ingress"] }),
            ),
        ),
        (
            "network-policy-steps.yaml".to_owned(),
            policy(
                "kubebench-steps",
                // Without rules nothing comes in. An empty list would say the same, but the API server drops it, and so
                // every apply would change the object.
                json!({ "egress": step_egress, "podSelector": of_steps, "policyTypes": ["Egress", "Ingress"] }),
            ),
        ),
    ]
}

/// Returns the opening by which KubeRay's operator asks a head how far its job is.
pub(super) fn from_ray_operator() -> Json {
    let operator = json!({ "matchLabels": { "app.kubernetes.io/component": "kuberay-operator" } });
    json!({
        "from": [{ "namespaceSelector": {}, "podSelector": operator }],
        "ports": [{ "port": 8265, "protocol": "TCP" }],
    })
}

/// Returns the openings by which what reads a trial's metrics tells Katib of them, and asks whether the trial is to end early.
pub(super) fn to_katib() -> [Json; 2] {
    let database = json!({ "matchLabels": { "katib.kubeflow.org/component": "db-manager" } });
    let suggestion = json!({ "matchExpressions": [{ "key": "katib.kubeflow.org/experiment", "operator": "Exists" }] });
    [
        json!({
            "to": [{ "namespaceSelector": {}, "podSelector": database }],
            "ports": [{ "port": 6789, "protocol": "TCP" }],
        }),
        json!({ "to": [{ "podSelector": suggestion }], "ports": [{ "port": 6788, "protocol": "TCP" }] }),
    ]
}

/// Returns the port of an HTTP address.
fn port_of(url: &str) -> u16 {
    named_port(url).unwrap_or(if url.starts_with("https://") { 443 } else { 80 })
}

/// Returns the port of a git remote unless it is one of [`STEP_PORTS`]; in `user@host:path` a path follows the colon.
fn git_port(remote: &str) -> Option<u16> {
    named_port(remote).or(remote.starts_with("http://").then_some(80))
}

/// Returns the port that an address names.
fn named_port(url: &str) -> Option<u16> {
    let (_, rest) = url.split_once("://")?;
    let (_, port) = rest.split('/').next()?.rsplit_once(':')?;
    port.parse().ok()
}
