//! KB0401, KB0402: images that mean something else tomorrow.

use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::Benchmark;

/// Reports images without tag or digest, and the tag `latest`.
pub(super) fn pinned(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        if role.image.digest().is_some() {
            continue;
        }
        let image = &role.image;
        let (code, message) = match image.tag() {
            None => (&code::KB0401, format!("`{image}` has neither tag nor digest, so it is `latest`")),
            Some("latest") => (&code::KB0402, format!("`{image}` is whatever was pushed last")),
            Some(_) => continue,
        };
        let fault = Diagnostic::at(code, role.image_span, message).note(
            "two runs of one benchmark would measure two programs, and the difference would look like a regression",
        );
        let registry = image.registry().map_or_else(String::new, |registry| format!("{registry}/"));
        diagnostics.push(fault.help(format!(
            "pin it: `{registry}{}@sha256:…` (`docker buildx imagetools inspect {image}` prints the digest)",
            image.repository()
        )));
    }
}
