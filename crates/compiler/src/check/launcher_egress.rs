//! KB0424: launchers of MPIJob v1, drivers of Spark and pods of Workflows that a network policy keeps from the API server.

use std::collections::BTreeSet;

use serde_json::Value as Json;

use crate::model::Benchmark;
use crate::model::target::{NetworkPolicy, PodSecurity};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports targets none of whose egress rules can reach the API server, once for each kind that needs it.
pub(super) fn open(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let NetworkPolicy::On(openings) = &target.network_policy else { return };
    let clients: BTreeSet<&str> = benchmark
        .cases
        .iter()
        .map(|case| &case.workload)
        .filter(|workload| workload.roles.iter().any(|role| role.needs_token))
        .map(|workload| if workload.api.kind == "Workflow" { "workflow" } else { workload.key })
        // Where the launcher is refused altogether, KB0413 says so.
        .filter(|key| *key != "mpiJob" || target.pod_security != PodSecurity::Restricted)
        .collect();
    if openings.egress.iter().any(may_reach_api_server) {
        return;
    }
    for client in clients {
        let (who, why) = match client {
            "sparkApplication" => (
                "drivers of Spark",
                "the driver creates its executors through the API server; without access the application fails after \
                 minutes",
            ),
            "workflow" => (
                "pods of Workflows",
                "Argo's executor in each pod reports the pod's result to the API server; without access the pod fails \
                 after minutes",
            ),
            _ => (
                "launchers of MPIJob v1",
                "the launcher starts processes by `kubectl exec`, which goes through the API server; without access \
                 the launcher fails or hangs",
            ),
        };
        let message = format!("the network policy of the target `{}` keeps {who} from the API server", target.name);
        diagnostics.push(Diagnostic::at(&code::KB0424, target.span, message).note(why).help(
            "add the API server's address, as `kubectl get endpoints kubernetes` shows it: \
             `networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.1/32}}], ports: [{protocol: TCP, port: 443}]}]}`",
        ));
    }
}

/// An API server is an address, not a pod; it listens on 443 or on a port with that ending.
fn may_reach_api_server(rule: &Json) -> bool {
    let items = |field: &str| rule.get(field).and_then(Json::as_array).filter(|items| !items.is_empty());
    items("to").is_none_or(|peers| peers.iter().any(|peer| peer.get("ipBlock").is_some()))
        && items("ports").is_none_or(|ports| ports.iter().any(may_be_https))
}

fn may_be_https(port: &Json) -> bool {
    if port.get("protocol").is_some_and(|protocol| protocol != "TCP") {
        return false;
    }
    let Some(first) = port.get("port") else { return true };
    let Some(first) = first.as_u64() else { return true };
    let last = port.get("endPort").and_then(Json::as_u64).unwrap_or(first);
    (first..=last).take(1000).any(|port| port % 1000 == 443)
}
