//! `results.ca`: the certificate authorities by which the steps know servers.

use crate::model::target::{CertificateAuthorities, Holder, ResultsSettings};
use kubebench_format::spec::v1::project as wire;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::yaml::Node;

/// The key that cert-manager and the bundles of many clusters have.
const KEY: &str = "ca.crt";

/// Returns the authorities; `node` is where they are written.
pub(super) fn lower(
    wire: wire::CertificateAuthorities,
    node: &Node,
    diagnostics: &mut Diagnostics,
) -> Option<CertificateAuthorities> {
    let wire::CertificateAuthorities { config_map, secret, key } = wire;
    let holder = match (config_map, secret) {
        (Some(name), None) => Holder::ConfigMap(name),
        (None, Some(name)) => Holder::Secret(name),
        (both, _) => {
            let (span, message, help) = match node.entry("secret").filter(|_| both.is_some()) {
                Some(entry) => (
                    entry.key_span,
                    "`ca` holds `configMap` and `secret`, but takes exactly one",
                    "keep one of `configMap`, `secret`",
                ),
                None => (node.span, "`ca` names no object", "write exactly one of `configMap`, `secret`"),
            };
            diagnostics.push(Diagnostic::at(&code::KB0207, span, message).help(help));
            return None;
        }
    };
    Some(CertificateAuthorities { holder, key: key.unwrap_or_else(|| KEY.to_owned()) })
}

/// Reports authorities in a Secret that the recorder alone may have: other steps mount them too.
pub(super) fn check(results: &ResultsSettings, node: Option<&Node>, diagnostics: &mut Diagnostics) {
    let Some((CertificateAuthorities { holder: Holder::Secret(name), .. }, node)) = results.ca.as_ref().zip(node)
    else {
        return;
    };
    let Some((_, why)) = results.secrets().find(|(own, _)| own == name) else { return };
    let span = node.get("secret").map_or(node.span, |secret| secret.span);
    let message = format!("only the recorder may read the Secret `{name}`, but other steps read `ca`");
    diagnostics.push(
        Diagnostic::at(&code::KB0372, span, message)
            .note(why)
            .help("put the certificates, which are public, into a ConfigMap, and name it in `configMap`"),
    );
}
