//! `placement`: read, and compared with the existing roles.

use crate::model::placement::{Placement, Wanted};
use crate::model::{Role, Workload};
use crate::workload;
use kubebench_format::spec::v1::placement as wire;
use kubebench_format::spec::v1::scalar::Text;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean};
use kubebench_syntax::yaml::Node;

/// Where pods are in domains of nodes, unless the spec names others.
const NODES: &str = "kubernetes.io/hostname";

/// Gives `workload` the demands of `list`.
pub(super) fn add(workload: &mut Workload, list: &Node, diagnostics: &mut Diagnostics) {
    for node in list.items() {
        let Some(wire::Placement { together, spread, over }) = workload::read(node, diagnostics) else { continue };
        let roles: Vec<String> = together.into_iter().map(|Text(role)| role).collect();
        let wanted = match spread {
            None if !roles.is_empty() => Wanted::Together(roles),
            Some(Text(role)) if roles.is_empty() => Wanted::Spread(role),
            _ => {
                let fault = Diagnostic::at(&code::KB0207, node.span, "a placement is either `together` or `spread`");
                diagnostics.push(
                    fault.help(
                        "write `{together: [launcher, worker]}` or `{spread: worker}`, each as a separate element",
                    ),
                );
                continue;
            }
        };
        let found = diagnostics.as_slice().len();
        check_roles(workload, node, &wanted, diagnostics);
        if diagnostics.as_slice().len() == found {
            workload.placement.push(Placement { wanted, over: over.unwrap_or_else(|| NODES.to_owned()) });
        }
    }
}

fn check_roles(workload: &Workload, node: &Node, wanted: &Wanted, diagnostics: &mut Diagnostics) {
    let field = if matches!(wanted, Wanted::Spread(_)) { "spread" } else { "together" };
    let span = |role: &str| {
        let value = node.get(field);
        let element = value.and_then(|value| value.items().iter().find(|item| item.as_text() == Some(role)));
        element.or(value).map_or(node.span, |value| value.span)
    };
    let known: Vec<&Role> = workload.roles.iter().filter(|role| workload.describes(role)).collect();
    let names = || known.iter().map(|role| role.name.as_str());
    let wanted: Vec<&String> = match wanted {
        Wanted::Together(roles) => roles.iter().collect(),
        Wanted::Spread(role) => vec![role],
    };
    let mut sides = Vec::new();
    for name in wanted {
        let Some(role) = known.iter().find(|role| role.name == *name) else {
            let fault = Diagnostic::at(
                &code::KB0393,
                span(name),
                format!("`{name}` is not a role whose pods the spec describes"),
            );
            diagnostics.push(match did_you_mean(name, names()) {
                Some(close) => fault.did_you_mean(span(name), close),
                None if known.is_empty() => fault.help("write the affinity into the manifest, or into the runtime"),
                None => fault.help(format!("roles are `{}`", names().collect::<Vec<_>>().join("`, `"))),
            });
            continue;
        };
        if workload.takes_pods_of_cluster() {
            let fault = Diagnostic::at(&code::KB0393, span(name), "a runtime of the cluster describes the pods");
            diagnostics.push(fault.help("write `runtime` instead of `runtimeRef`, or set it in the runtime"));
            return;
        }
        sides.push(workload.is_of_load(role));
    }
    if sides.iter().any(|side| Some(side) != sides.first()) {
        let fault = Diagnostic::at(&code::KB0393, node.span, "a server and what loads it cannot be placed together");
        diagnostics.push(
            fault
                .note("several runs may load one server, so its pods belong to no single run")
                .help("write a `nodeSelector` or `nodeAffinity` for both, or set it on the target"),
        );
    }
}
