//! The pod of a role after all patches: what its containers get where patches say nothing, and what Kubernetes refuses.
//!
//! An operator that cannot create its pods retries forever, so what is not found here ends with the run's timeout.

mod container;
mod files;
mod security;
mod traced;
mod volume;

use serde_json::Value as Json;

use self::traced::Traced;
use crate::check::REFUSED_POD;
use crate::model::{Benchmark, Role, Workload};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::Span;

/// Fills in what the containers of the pod `spec` leave open.
pub(super) fn complete(spec: &mut Json, workload: &Workload, role: &Role) {
    let pod = Traced::new(spec, workload.patches_of_pod(role), role.span);
    let contexts: Vec<_> = containers(&pod, role)
        .into_iter()
        .filter_map(|container| Some((container.list, container.index, security::context(&container)?)))
        .collect();
    for (list, index, context) in contexts {
        if let Some(Json::Object(container)) = spec.get_mut(list).and_then(|list| list.get_mut(index)) {
            container.insert("securityContext".to_owned(), context);
        }
    }
}

/// Reports for what Kubernetes refuses the pod `spec`, and what in it is not as `benchmark` needs it.
pub(super) fn check(
    spec: &Json,
    benchmark: &Benchmark,
    workload: &Workload,
    role: &Role,
    diagnostics: &mut Diagnostics,
) {
    let pod = Traced::new(spec, workload.patches_of_pod(role), role.span);
    let containers = containers(&pod, role);
    let volumes = volume::check(&pod, workload, diagnostics);
    container::check_names(&containers, diagnostics);
    for container in &containers {
        container::check(container, &volumes, diagnostics);
        security::check(&pod, container, diagnostics);
    }
    if let Some(main) = containers.iter().find(|container| container.is_main) {
        files::check(&pod, main, benchmark, diagnostics);
    }
}

/// A container of the pod.
struct Part<'a> {
    /// The list that contains it.
    list: &'static str,
    /// Where in the list.
    index: usize,
    /// Whether it is the one that the role describes.
    is_main: bool,
    /// The texts that it cannot be without.
    needs: &'static [&'static str],
    /// What it has become.
    traced: Traced<'a>,
}

fn containers<'a>(pod: &Traced<'a>, role: &'a Role) -> Vec<Part<'a>> {
    let lists = ["containers", "initContainers"];
    let parts = lists.into_iter().flat_map(|list| {
        pod.elements(list, "name").into_iter().enumerate().map(move |(index, traced)| {
            let is_main = list == "containers" && traced.text("name") == Some(&*role.container_name);
            let patches = role.container_patches.iter().filter(|_| is_main);
            // The image of a model's server may be a runtime's of the cluster.
            let has_runtime = is_main && role.image.is_none();
            let needs: &[&str] = if has_runtime { &["name"] } else { &["name", "image"] };
            Part { list, index, is_main, needs, traced: traced.with(patches) }
        })
    });
    parts.collect()
}

fn refused(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::at(&code::KB0326, span, message).note(REFUSED_POD)
}
