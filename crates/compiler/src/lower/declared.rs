//! What a spec declares and whether anything follows it: axes, parameters, numbers of pods.

use std::collections::BTreeSet;

use super::Document;
use super::variants::Variant;
use crate::lookup;
use crate::model::{Scaling, Unused};
use kubebench_syntax::yaml::Node;

/// Returns axes and parameters of the spec itself that no lookup names, in the spec or in its manifests. Returns none if a lookup
/// is misspelled, which must be fixed first.
pub(super) fn unused(document: Document<'_>, spec: &Node, manifests: &BTreeSet<String>) -> Vec<Unused> {
    let mut used: BTreeSet<String> =
        lookup::lookups(document.sources, spec).into_iter().map(|lookup| lookup.path).collect();
    used.extend(manifests.iter().cloned());
    let axes = spec.get("matrix").into_iter().flat_map(|matrix| ["axes", "zip"].map(|field| matrix.entries_of(field)));
    let parameters = spec.entries_of("parameters");
    let declared = axes
        .flatten()
        .map(|entry| ("axis", "matrix", entry))
        .chain(parameters.iter().map(|entry| ("parameter", "parameters", entry)));
    let declared: Vec<_> =
        declared.map(|(what, root, entry)| (what, root, format!("{root}.{}", entry.key), entry)).collect();
    let known: BTreeSet<&str> = declared.iter().map(|(_, _, path, _)| path.as_str()).collect();
    let misspelled = used.iter().filter(|path| !known.contains(path.as_str()));
    let roots_of_misspelled: BTreeSet<&str> = misspelled.filter_map(|path| path.split('.').next()).collect();
    declared
        .iter()
        .filter(|(_, root, path, _)| !used.contains(path) && !roots_of_misspelled.contains(root))
        .map(|(what, _, _, entry)| Unused { what, name: entry.key.clone(), span: entry.key_span })
        .collect()
}

/// Returns the axes that set a number of pods in some variant, and whether anything that the pods run follows them too.
pub(super) fn scalings(document: Document<'_>, variants: &[Variant]) -> Vec<Scaling> {
    let mut found: Vec<Scaling> = Vec::new();
    for scaling in variants.iter().flat_map(|variant| scalings_of(document, variant)) {
        match found.iter_mut().find(|known| known.span == scaling.span) {
            Some(known) => known.is_followed &= scaling.is_followed,
            None => found.push(scaling),
        }
    }
    found
}

fn scalings_of(document: Document<'_>, variant: &Variant) -> Vec<Scaling> {
    let Some(kind) = variant.form() else { return Vec::new() };
    let form = &kind.value;
    let blocks: Vec<&Node> = std::iter::once(form).chain(form.entries().iter().map(|entry| &entry.value)).collect();
    let paths = |fields: &[&str]| -> Vec<lookup::Lookup> {
        let nodes = blocks.iter().flat_map(|block| fields.iter().filter_map(|field| block.get(field)));
        nodes
            .flat_map(|node| lookup::lookups(document.sources, node))
            .filter(|lookup| lookup.path.starts_with("matrix."))
            .collect()
    };
    let followed: BTreeSet<String> = paths(&["command", "args", "env"]).into_iter().map(|lookup| lookup.path).collect();
    paths(&["replicas", "parallelism"])
        .into_iter()
        .map(|lookup| Scaling {
            is_followed: followed.contains(&lookup.path),
            axis: lookup.path.trim_start_matches("matrix.").to_owned(),
            span: lookup.span,
        })
        .collect()
}
