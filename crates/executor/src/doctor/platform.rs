//! What a platform does to pods by itself: proxies that it injects, users that it assigns.

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, quoted, text_at};
use kubebench_contract::{ISTIO_INJECT, LINKERD_INJECT};

const PROXIES: &str = "proxies";
const USERS: &str = "users";

/// A mesh, and how a namespace asks for its proxy.
struct Mesh {
    name: &'static str,
    /// The JSON Pointer to what says so, and the value; none where any value does.
    asked_at: (&'static str, Option<&'static str>),
    /// The label or annotation by which a pod is left out, and its value.
    refused_by: (&'static str, &'static str),
}

const MESHES: [Mesh; 3] = [
    Mesh {
        name: "Istio",
        asked_at: ("/metadata/labels/istio-injection", Some("enabled")),
        refused_by: (ISTIO_INJECT, "false"),
    },
    Mesh { name: "Istio", asked_at: ("/metadata/labels/istio.io~1rev", None), refused_by: (ISTIO_INJECT, "false") },
    Mesh {
        name: "Linkerd",
        asked_at: ("/metadata/annotations/linkerd.io~1inject", Some("enabled")),
        refused_by: (LINKERD_INJECT, "disabled"),
    },
];

/// Reports a namespace that puts proxies into pods. One that may not be read was reported before.
pub(super) fn proxies(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let Fact::There(namespace) = facts.read(&format!("/api/v1/namespaces/{}", needs.target.namespace)) else { return };
    let asks = |mesh: &&Mesh| {
        let (at, wanted) = mesh.asked_at;
        let said = text_at(&namespace, at);
        wanted.map_or(!said.is_empty(), |wanted| said == wanted)
    };
    let found: Vec<&Mesh> = MESHES.iter().filter(asks).collect();
    if found.is_empty() {
        return report.ok(PROXIES, "the namespace injects none");
    }
    let carried = needs.target.carried_by_runs();
    let keeps_out = |mesh: &&Mesh| {
        let (key, value) = mesh.refused_by;
        carried.labels.get(key).or_else(|| carried.annotations.get(key)).is_some_and(|said| said == value)
    };
    let (out, within): (Vec<&Mesh>, Vec<&Mesh>) = found.into_iter().partition(keeps_out);
    if !within.is_empty() {
        report.warning(
            PROXIES,
            format!("the namespace injects proxies into pods, and the target allows it: {}", names(&within)),
            "remove from `pods` of the target what allows the injection: a proxy that is not a native sidecar keeps \
             the pod of a Job running after its work is done, and is measured with it",
        );
    }
    if !out.is_empty() {
        report.ok(
            PROXIES,
            format!("the namespace injects proxies into pods, except those of runs and steps: {}", names(&out)),
        );
    }
}

fn names(meshes: &[&Mesh]) -> String {
    let mut names: Vec<&str> = meshes.iter().map(|mesh| mesh.name).collect();
    names.dedup();
    quoted(names)
}

/// Reports steps that name their users where OpenShift gives each namespace users of its own.
pub(super) fn users(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    if !matches!(facts.read("/apis/security.openshift.io/v1"), Fact::There(_)) {
        return;
    }
    let context = |template: &Json| template.pointer("/spec/securityContext/runAsUser").cloned();
    if needs.of_kind("WorkflowTemplate").find_map(context).is_none() {
        return report.ok(USERS, "OpenShift assigns users, and the target leaves the choice to it");
    }
    report.warning(
        USERS,
        "OpenShift assigns each namespace a range of user IDs, but pods of steps and runs set their own: the SCC \
         `restricted-v2` refuses them",
        format!(
            "write `pods: {{securityContext: {{runAsUser: none, runAsGroup: none, fsGroup: none}}}}` for the target `{}`, or have the accounts \
             of the namespace use the SCC `nonroot-v2`",
            needs.target.name
        ),
    );
}
