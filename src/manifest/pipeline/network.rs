//! Network policies: nothing in, nothing out, but DNS, the pods of the benchmarks among each other, and declared openings.

use serde_json::{Value as Json, json};

use crate::manifest::meta;
use crate::model::Target;

/// Ports that steps need: the API server (443, 6443), and git over HTTPS and SSH.
const STEP_PORTS: [u16; 3] = [22, 443, 6443];

/// Returns the policies with their file names.
pub(super) fn policies(target: &Target, egress: &[Json], ingress: &[Json]) -> Vec<(String, Json)> {
    let of_benchmarks = json!({ "matchExpressions": [{ "key": meta::BENCHMARK, "operator": "Exists" }] });
    let of_steps = json!({ "matchExpressions": [{ "key": meta::STEP, "operator": "Exists" }] });
    let dns = json!({ "ports": [{ "port": 53, "protocol": "TCP" }, { "port": 53, "protocol": "UDP" }] });
    let among = json!({ "podSelector": of_benchmarks });
    let mut workload_egress = vec![dns.clone(), json!({ "to": [among] })];
    workload_egress.extend(egress.iter().cloned());
    let mut workload_ingress = vec![json!({ "from": [among] })];
    workload_ingress.extend(ingress.iter().cloned());
    let mut ports: Vec<u16> = STEP_PORTS.to_vec();
    ports.extend(target.prometheus.as_deref().map(port_of));
    ports.sort_unstable();
    ports.dedup();
    let ports: Vec<Json> = ports.into_iter().map(|port| json!({ "port": port, "protocol": "TCP" })).collect();
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
                json!({ "egress": [dns, { "ports": ports }], "ingress": [], "podSelector": of_steps, "policyTypes": ["Egress", "Ingress"] }),
            ),
        ),
    ]
}

fn port_of(url: &str) -> u16 {
    let (default, rest) = match url.strip_prefix("https://") {
        Some(rest) => (443, rest),
        None => (80, url.strip_prefix("http://").unwrap_or(url)),
    };
    let authority = rest.split('/').next().unwrap_or_default();
    authority.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or(default)
}
