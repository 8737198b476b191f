//! KB0422: SSH keys of an MPIJob in a home that the pods' user cannot read.

use super::pods::{self, Patches};
use crate::model::{Benchmark, Workload};
use kubebench_contract::users;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::{Node, Value};

/// Where the operator mounts the keys by default.
const DEFAULT: &str = "/root/.ssh";

/// Reports MPIJobs of v2beta1 whose keys are in root's home and whose pods are not root.
pub(super) fn readable(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        if workload.api.api_version != "kubeflow.org/v2beta1" || workload.given.is_some() {
            continue;
        }
        let path = mount_path(workload);
        let is_of_root = path == "/root" || path.starts_with("/root/");
        let mut roles = workload.roles.iter();
        let Some(role) = roles.find(|role| is_of_root && !may_be_root(&pods::patches(workload, role))) else {
            continue;
        };
        let message = format!("`{}` does not run as root, and its SSH keys are mounted at `{path}`", role.name);
        let fault = Diagnostic::at(&code::KB0422, workload.span, message).note(
            "only root can read that folder: `ssh` finds no key, the launcher reaches no worker, and the run fails or \
             hangs",
        );
        diagnostics.push(fault.help(
            "name a user that the image knows, and its home: `sshAuthMountPath: /home/mpiuser/.ssh` and \
             `pod: {securityContext: {runAsUser: 1000}}`; `kubebench new mpiJob NAME` writes a whole example",
        ));
    }
}

fn mount_path(workload: &Workload) -> &str {
    let patched = workload.patch.as_ref().and_then(|patch| patch.get("spec")?.get("sshAuthMountPath")?.as_text());
    patched.or_else(|| workload.spec.get("sshAuthMountPath")?.as_str()).unwrap_or(DEFAULT)
}

/// Pods run as a user other than root unless a patch says otherwise; one without a user takes that of the image.
fn may_be_root(patches: &Patches<'_>) -> bool {
    let (mut user, mut is_refused) = (Some(i64::from(users::JOBS)), true);
    for context in patches.pod.iter().filter_map(|patch| patch.get("securityContext")) {
        if context.value == Value::Null {
            (user, is_refused) = (None, false);
        }
        if let Some(said) = context.get("runAsUser") {
            user = number(said);
        }
        if let Some(said) = context.get("runAsNonRoot") {
            is_refused = said.value == Value::Bool(true);
        }
    }
    // The container's settings take precedence over the pod's, which apply where the container has none.
    for context in patches.main.iter().filter_map(|patch| patch.get("securityContext")) {
        user = context.get("runAsUser").and_then(number).or(user);
        is_refused = context.get("runAsNonRoot").map_or(is_refused, |said| said.value == Value::Bool(true));
    }
    user.map_or(!is_refused, |user| user == 0)
}

fn number(node: &Node) -> Option<i64> {
    node.as_text().and_then(|text| text.parse().ok())
}
