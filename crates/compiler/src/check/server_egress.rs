//! KB0451: servers behind something that a network policy keeps from those who load them.

use crate::model::target::NetworkPolicy;
use crate::model::{Benchmark, Endpoint};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// Reports targets without any egress rule where a server is reached through pods that do not belong to the benchmark.
pub(super) fn open(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let target = &benchmark.target;
    let NetworkPolicy::On(openings) = &target.network_policy else { return };
    if !openings.egress.is_empty() {
        return;
    }
    let behind = benchmark.cases.iter().find_map(|case| match &case.workload.serving.as_ref()?.served.endpoint {
        // That of a Deployment in a manifest leads to its own pods.
        Endpoint::Shared { name, .. } if case.workload.api.kind == "Model" => Some(format!("the Service `{name}`")),
        Endpoint::Service { .. } | Endpoint::Shared { .. } => None,
        Endpoint::Status { .. } => Some("the gateway that its status names".to_owned()),
    });
    let Some(behind) = behind else { return };
    let message = format!("the network policy of the target `{}` keeps the load from its server", target.name);
    let fault = Diagnostic::at(&code::KB0451, target.span, message).note(format!(
        "the server answers behind {behind}, whose pods do not belong to the benchmark: no run would find the server \
         ready"
    ));
    diagnostics.push(fault.help(
        "allow traffic to it, for example `networkPolicy: {egress: [{to: [{namespaceSelector: {matchLabels: \
         {kubernetes.io/metadata.name: istio-system}}}]}]}`; if it sends requests to pods of the benchmark, allow them \
         in `ingress`",
    ));
}
