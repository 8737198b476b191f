//! The Workflows of the tree that are in the cluster already: what Argo ended permanently before it began.

use serde_json::Value as Json;

use super::{Fact, Facts, Needs, Report, quoted, text_at};
use crate::observe::workflow::lacked;

const CHECK: &str = "Workflows";

pub(super) fn check(needs: &Needs<'_>, facts: &dyn Facts, report: &mut Report) {
    let namespace = needs.target.namespace.as_str();
    let mut there = Vec::new();
    // Each by its name: all that ever ran there may be more than the API server gives at once.
    for name in needs.names("Workflow") {
        match facts.read(&format!("/apis/argoproj.io/v1alpha1/namespaces/{namespace}/workflows/{name}")) {
            Fact::There(workflow) => there.push(workflow),
            Fact::Absent => {}
            Fact::Forbidden(why) => return report.unknown(CHECK, &format!("the Workflows in `{namespace}`"), &why),
        }
    }
    let lacking: Vec<&Json> = there.iter().filter(|workflow| lacked(workflow).is_some()).collect();
    if lacking.is_empty() {
        if !there.is_empty() {
            report.ok(CHECK, format!("found {} of the tree, each with its WorkflowTemplate", there.len()));
        }
        return;
    }
    let names: Vec<&str> = lacking.iter().map(|workflow| text_at(workflow, "/metadata/name")).collect();
    report.error(
        CHECK,
        format!(
            "{} ended before the first run: Argo did not find the WorkflowTemplate or its entry point, and does not \
             look again",
            quoted(names.iter().copied())
        ),
        format!(
            "apply `{}/{}/pipeline` first, then run `kubectl -n {namespace} delete workflow {}`; GitOps creates it \
             again",
            needs.settings.output,
            needs.target.name,
            names.join(" ")
        ),
    );
}
