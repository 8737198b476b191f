//! The parts of a pod that belong to Kubebench: neither the spec's `env` nor a patch may add or remove them.

use serde_json::Value as Json;

use super::patch;
use crate::model::Role;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Node;

/// The variables that every main container has.
const OWN_VARIABLES: &[&str] = &[
    "KUBEBENCH_EXP_ROOT",
    "KUBEBENCH_EXP_ID",
    "KUBEBENCH_EXP_PATH",
    "KUBEBENCH_EXP_CONFIG_PATH",
    "KUBEBENCH_EXP_OUTPUT_PATH",
    "KUBEBENCH_EXP_RESULT_PATH",
    "KUBEBENCH_DATA_ROOT",
];
const OWNED_BY_POD: &[(&str, &str)] = &[
    ("restartPolicy", "a restart would spoil the measurement; a failed run is a result"),
    ("serviceAccount", "write `serviceAccountName`"),
    ("activeDeadlineSeconds", "write `timeout` in the spec"),
];
const OWNED_BY_CONTAINER: &[(&str, &str)] = &[
    ("name", "the operator finds the container by this name"),
    ("image", "write `image` next to `container`"),
    ("command", "write `command` next to `container`"),
    ("args", "write `args` next to `container`"),
];

/// Reports fields that a pod patch must not contain.
pub(super) fn refuse_in_pod(user: &Node, role: &Role, diagnostics: &mut Diagnostics) {
    patch::refuse_owned(user, OWNED_BY_POD, diagnostics);
    patch::refuse_resources(user, diagnostics);
    refuse_account(user, role, diagnostics);
    refuse_main_container(user, role, diagnostics);
}

/// Reports fields that a patch over the main container must not contain.
pub(super) fn refuse_in_container(user: &Node, diagnostics: &mut Diagnostics) {
    patch::refuse_owned(user, OWNED_BY_CONTAINER, diagnostics);
    patch::refuse_resources(user, diagnostics);
}

/// Reports patches that make the main container another than that of the spec, in whatever way.
pub(super) fn refuse_removals(role: &Role, spec: &Json, diagnostics: &mut Diagnostics) {
    let Some(user) = role.container_patches.last().or(role.pod_patches.last()) else { return };
    let containers = spec.get("containers").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
    let mut main =
        containers.iter().filter(|container| container.get("name").is_some_and(|name| name == &*role.container_name));
    let whole = main.next().is_some_and(|container| {
        let variables = container.get("env").and_then(Json::as_array).map(Vec::as_slice).unwrap_or_default();
        let has_variable =
            |name: &str| variables.iter().any(|variable| variable.get("name").is_some_and(|found| found == name));
        (container.get("image").is_some() || role.image.is_none())
            && OWN_VARIABLES.iter().all(|name| has_variable(name))
    });
    if !whole || main.next().is_some() {
        let message = format!("the patch removes what the container `{}` needs", role.container_name);
        let fault = Diagnostic::at(&code::KB0315, user.span, message)
            .note("every run needs its image and the variables KUBEBENCH_*");
        diagnostics.push(fault.help("leave the main container and its `env` list in place; add to them"));
    }
}

/// Reports accounts that the user must not set.
fn refuse_account(user: &Node, role: &Role, diagnostics: &mut Diagnostics) {
    let Some(name) = user.get("serviceAccountName") else { return };
    let fault = |message: String| Diagnostic::at(&code::KB0315, name.span, message);
    if role.service_account.is_some() {
        let fault = fault(format!("a patch cannot set the account of the `{}`", role.name));
        diagnostics.push(
            fault
                .note("Spark gives the pod the account that the application names, whatever its template says")
                .help(format!("write `serviceAccount` of the `{}`, and delete this", role.name)),
        );
    } else if role.needs_token {
        let fault = fault("the operator gives the launcher of an MPIJob v1 its account".to_owned());
        diagnostics.push(
            fault
                .note("with another account the launcher could not reach its workers")
                .help("delete it, or set it for the workers"),
        );
    }
}

fn refuse_main_container(user: &Node, role: &Role, diagnostics: &mut Diagnostics) {
    for container in user.items_of("containers") {
        if container.get("name").and_then(Node::as_text) != Some(&*role.container_name) {
            continue;
        }
        patch::refuse_resources(container, diagnostics);
        for field in ["image", "command", "args"] {
            if let Some(entry) = container.entry(field) {
                let message = format!("`{field}` of the main container is set by kubebench and cannot be patched");
                diagnostics.push(
                    Diagnostic::at(&code::KB0315, entry.key_span, message)
                        .help(format!("write `{field}` of the role instead")),
                );
            }
        }
    }
}
