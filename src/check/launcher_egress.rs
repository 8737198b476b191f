//! KB0424: launchers of MPIJob v1 that a network policy keeps from the API server.

use serde_json::Value as Json;

use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::Benchmark;
use crate::model::target::{NetworkPolicy, PodSecurity};

/// Reports targets without any egress rule that could lead to the API server, for each MPIJob of v1 the same.
pub(super) fn open(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let NetworkPolicy::On { egress, .. } = &target.network_policy else { return };
    // Where the launcher is refused altogether, KB0413 says so.
    let needs_it = target.pod_security != PodSecurity::Restricted
        && benchmark.cases.iter().flat_map(|case| &case.workload.roles).any(|role| role.needs_token);
    if !needs_it || egress.iter().any(may_reach_api_server) {
        return;
    }
    let message =
        format!("the network policy of the target `{}` keeps launchers of MPIJob v1 from the API server", target.name);
    let fault = Diagnostic::at(&code::KB0424, target.span, message).note(
        "the launcher starts processes by `kubectl exec`, which goes through the API server; it would fail or hang",
    );
    diagnostics.push(fault.help(
        "add the API server's address, as `kubectl get endpoints kubernetes` shows it: \
         `networkPolicy: {egress: [{to: [{ipBlock: {cidr: 10.0.0.1/32}}], ports: [{protocol: TCP, port: 443}]}]}`",
    ));
}

/// An API server is an address, not a pod; it listens on 443 or a port that ends so.
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
