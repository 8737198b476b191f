//! KB0419: containers of a manifest that do not say what the Pod Security level `restricted` asks for.

use super::pods;
use crate::model::target::PodSecurity::Restricted;
use crate::model::{Benchmark, Target};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::yaml::{Node, Value};

/// Reports what the API server will refuse for it.
pub(super) fn kept(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    if benchmark.target.pod_security != Restricted {
        return;
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload).filter(|workload| workload.given.is_some()) {
        for role in workload.pods() {
            // What follows the pod itself are patches, which leave most unsaid.
            if let Some(pod) = pods::patches(workload, role).pod.first() {
                unsaid(pod, &benchmark.target, diagnostics);
            }
        }
    }
}

/// Reports containers that do not say what `restricted` asks for. Kubebench says it in the pods that it makes, and nothing in those
/// of a manifest.
fn unsaid(pod: &Node, target: &Target, diagnostics: &mut Diagnostics) {
    let of_pod = pod.get("securityContext");
    for container in ["containers", "initContainers"].iter().filter_map(|list| pod.get(list)).flat_map(Node::items) {
        let own = container.get("securityContext");
        let is = |context: Option<&Node>, field: &str, wanted: bool| {
            context.and_then(|context| context.get(field)).is_some_and(|node| node.value == Value::Bool(wanted))
        };
        let drops_all = own.and_then(|own| own.get("capabilities")?.get("drop")).map(Node::items).unwrap_or_default();
        let has_profile = [own, of_pod].into_iter().flatten().any(|context| context.get("seccompProfile").is_some());
        let asked = [
            ("`allowPrivilegeEscalation: false`", is(own, "allowPrivilegeEscalation", false)),
            ("`capabilities: {drop: [ALL]}`", drops_all.iter().any(|name| name.as_text() == Some("ALL"))),
            ("`runAsNonRoot: true`", is(own, "runAsNonRoot", true) || is(of_pod, "runAsNonRoot", true)),
            ("`seccompProfile: {type: RuntimeDefault}`", has_profile),
        ];
        let missing: Vec<&str> = asked.into_iter().filter(|(_, is_said)| !is_said).map(|(what, _)| what).collect();
        if missing.is_empty() {
            continue;
        }
        let span = container.get("name").map_or(container.span, |name| name.span);
        let message = "this container lacks settings that `restricted` requires".to_owned();
        let mut fault = Diagnostic::at(&code::KB0419, span, message);
        fault.severity = Severity::Error;
        diagnostics.push(
            fault
                .note(format!(
                    "the target `{}` has `podSecurity: restricted`: the API server will refuse the pod, and kubebench \
                     does not change the pods of a manifest",
                    target.name
                ))
                .help(format!("add to its `securityContext`: {}", missing.join(", "))),
        );
    }
}
