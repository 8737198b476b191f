//! Security contexts: the defaults of added containers, and the pairs that exclude each other.

use serde_json::{Value as Json, json};

use super::traced::Traced;
use super::{Part, refused};
use kubebench_syntax::diag::Diagnostics;

const ESCALATION: &str = "allowPrivilegeEscalation";

/// Returns the security context of `container` with the defaults that patches leave standing, where that is another.
///
/// An added container starts from that of the main one, and a default that contradicts a patch is dropped.
pub(super) fn context(container: &Part<'_>) -> Option<Json> {
    let Part { traced, is_main, .. } = container;
    let context = traced.field("securityContext");
    if context.is_absent() && (*is_main || traced.mentions("securityContext")) {
        return None;
    }
    let mut fields = context.value.as_object().cloned().unwrap_or_default();
    if !context.mentions(ESCALATION) {
        if escalates(&context).is_some() {
            fields.remove(ESCALATION);
        } else if !is_main {
            fields.insert(ESCALATION.to_owned(), false.into());
        }
    }
    let capabilities = context.field("capabilities");
    let is_removed = capabilities.is_absent() && context.mentions("capabilities");
    if !is_main && !is_removed && !capabilities.mentions("drop") {
        let mut kept = capabilities.value.as_object().cloned().unwrap_or_default();
        kept.insert("drop".to_owned(), json!(["ALL"]));
        fields.insert("capabilities".to_owned(), Json::Object(kept));
    }
    let fields = Json::Object(fields);
    (fields != *context.value).then_some(fields)
}

/// Returns the setting with which the API server does not accept `allowPrivilegeEscalation: false`.
fn escalates(context: &Traced<'_>) -> Option<&'static str> {
    if context.is("privileged", true) {
        return Some("privileged: true");
    }
    let added = context.value.pointer("/capabilities/add").and_then(Json::as_array).into_iter().flatten();
    added.into_iter().any(|name| name == "CAP_SYS_ADMIN").then_some("capabilities: {add: [CAP_SYS_ADMIN]}")
}

/// Reports settings that Kubernetes does not accept together.
pub(super) fn check(pod: &Traced<'_>, container: &Part<'_>, diagnostics: &mut Diagnostics) {
    let of_pod = pod.field("securityContext");
    let own = container.traced.field("securityContext");
    if let Some(setting) = escalates(&own)
        && own.is(ESCALATION, false)
    {
        let fault =
            refused(own.field(ESCALATION).span(), format!("`{ESCALATION}: false` cannot be combined with `{setting}`"));
        diagnostics.push(fault.help(format!("delete one of the two; `{setting}` always allows the other")));
    }
    let decides = |field: &str| if own.field(field).is_absent() { of_pod.field(field) } else { own.field(field) };
    let user = decides("runAsUser");
    if *user.value == 0 && *decides("runAsNonRoot").value == true {
        let fault = refused(user.span(), "user 0 is root, which `runAsNonRoot: true` forbids");
        diagnostics.push(fault.help(
            "write `securityContext: {runAsUser: 0, runAsNonRoot: false}` if the image needs root, or another user",
        ));
    }
}
