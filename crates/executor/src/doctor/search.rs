//! What Katib must be allowed to do in the namespace of a search: without it trials run, and their metrics are not read.

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report};

const CHECK: &str = "Katib";
/// By which Katib knows the namespaces in whose pods it may put its collector.
const INJECTION: &str = "katib.kubeflow.org/metrics-collector-injection";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    if !needs.created.iter().any(|(_, kind)| kind == "Experiment") {
        return;
    }
    let name = needs.target.namespace.as_str();
    let namespace = match facts.read(&format!("/api/v1/namespaces/{name}")) {
        Fact::There(namespace) => namespace,
        // That is said of the namespace itself.
        Fact::Absent | Fact::Forbidden(_) => return,
    };
    let labels = namespace.pointer("/metadata/labels");
    let label = |key: &str| labels.and_then(|labels| labels.get(key)).and_then(Json::as_str);
    if label(INJECTION) != Some("enabled") {
        report.error(
            CHECK,
            format!("`{name}` has no label `{INJECTION}: enabled`, so Katib reads no metrics of trials there"),
            format!("kubectl label namespace {name} {INJECTION}=enabled"),
        );
    } else if label("pod-security.kubernetes.io/enforce") == Some("restricted") {
        report.warning(
            CHECK,
            format!("`{name}` enforces Pod Security `restricted`, which Katib's collector may not pass"),
            "run searches in a namespace with `baseline`, and write `podSecurity: baseline` for its target",
        );
    } else {
        report.ok(CHECK, format!("Katib may read the metrics of trials in `{name}`"));
    }
}
