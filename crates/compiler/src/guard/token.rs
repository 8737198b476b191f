//! KB0373: tokens and certificates with which a pod can access the API server.

use super::{Bounds, Field};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// The common part of all names of the API server in its own cluster.
const API_SERVER: &str = "kubernetes.default";

/// Returns whether tokens for this audience are for the API server.
pub(crate) fn is_of_api_server(audience: &str) -> bool {
    audience.is_empty() || audience.contains(API_SERVER)
}

/// Reports a field that gives a pod such a token.
pub(super) fn check(field: Field<'_>, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let Field { entry: Entry { key, key_span, value }, in_workflow, .. } = field;
    match key.as_str() {
        "serviceAccountToken" if value.value != Value::Null => check_audience(value, *key_span, bounds, diagnostics),
        "kubernetesMaster" => diagnostics.push(
            Diagnostic::at(&code::KB0373, *key_span, "the driver would send its token to another API server")
                .note("the operator knows the API server of its cluster")
                .help("delete it"),
        ),
        "podCertificate" if value.value != Value::Null => {
            diagnostics.push(refused(*key_span).help("delete it"));
        }
        "automountServiceAccountToken" if value.value != Value::Bool(false) && !in_workflow => diagnostics.push(
            refused(*key_span)
                .help("delete it; cloud identities have their own token, and need only `serviceAccountName`"),
        ),
        _ => {}
    }
}

fn check_audience(token: &Node, span: Span, bounds: &Bounds<'_>, diagnostics: &mut Diagnostics) {
    let audience = token.get("audience");
    let said = audience.and_then(Node::as_text).unwrap_or_default();
    if is_of_api_server(said) {
        let help = "delete it, or name the `audience` that it is for; a cloud identity needs only `serviceAccountName`";
        diagnostics.push(refused(audience.map_or(span, |audience| audience.span)).help(help));
    } else if !bounds.audiences.contains(said) {
        let place = audience.map_or(span, |audience| audience.span);
        let message = format!("the target `{}` allows no token for `{said}`", bounds.target);
        let fault = Diagnostic::at(&code::KB0373, place, message).note(
            "a service that accepts the token treats the pod as its service account, so the owners of the \
             project decide which audiences are allowed",
        );
        diagnostics.push(fault.help(format!("add `tokenAudiences: [{said}]` to the target in kubebench.yaml")));
    }
}

fn refused(span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0373, span, "a measured program gets no token for the Kubernetes API")
        .note("with a token, the program could do everything that its account may do")
}
