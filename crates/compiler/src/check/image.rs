//! KB0401, KB0402: images that mean something else tomorrow.

use super::pods;
use crate::model::Benchmark;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::ImageRef;
use kubebench_syntax::yaml::Node;

/// Reports images without tag or digest, and the tag `latest`.
pub(super) fn pinned(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for role in benchmark.roles() {
        diagnostics.extend(role.image.as_ref().and_then(|image| finding(image, role.image_span)));
    }
    for workload in benchmark.cases.iter().map(|case| &case.workload) {
        for role in workload.pods() {
            for container in pods::patches(workload, role).added().values() {
                let Some(node) = container.iter().rev().find_map(|node| node.get("image")) else { continue };
                let image = node.as_text().and_then(|text| ImageRef::parse(text).ok());
                diagnostics.extend(image.and_then(|image| finding(&image, node.span)));
            }
        }
    }
}

/// Reports the same of the image of the steps, which the project file names: they hold the accounts and the credential of the pipeline.
pub(crate) fn of_steps(project: &Node, diagnostics: &mut Diagnostics) {
    let node = project.get("spec").and_then(|spec| spec.get("image"));
    let image = node.and_then(|node| Some((ImageRef::parse(node.as_text()?).ok()?, node.span)));
    let fault = image.and_then(|(image, span)| unpinned(&image, span));
    diagnostics.extend(fault.map(|fault| {
        fault.note(
            "the steps run with the accounts and the credential of the pipeline, and a tag may point to another image at any time",
        )
    }));
}

fn finding(image: &ImageRef, span: Span) -> Option<Diagnostic> {
    let fault = unpinned(image, span)?;
    Some(fault.note("two runs could measure different programs, and the difference would look like a regression"))
}

fn unpinned(image: &ImageRef, span: Span) -> Option<Diagnostic> {
    if image.digest().is_some() {
        return None;
    }
    let (code, message) = match image.tag() {
        None => (&code::KB0401, format!("`{image}` has neither tag nor digest, so it is `latest`")),
        Some("latest") => (&code::KB0402, format!("`{image}` has no digest, so it is whatever was pushed last")),
        Some(_) => return None,
    };
    let registry = image.registry().map_or_else(String::new, |registry| format!("{registry}/"));
    Some(Diagnostic::at(code, span, message).help(format!(
        "pin it: `{registry}{}@sha256:…` (`docker buildx imagetools inspect {image}` prints the digest)",
        image.repository()
    )))
}
