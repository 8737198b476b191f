//! `kind: Suite`: names of benchmarks.

use std::collections::BTreeMap;

use super::Document;
use crate::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use crate::lookup;
use crate::spec::v1::suite as wire;
use crate::text::Span;
use crate::workload;
use crate::yaml::Node;

/// A suite: an ordered list of benchmarks.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The name.
    pub name: String,
    /// Where the name stands.
    pub name_span: Span,
    benchmarks: Vec<(String, Span)>,
}

/// Returns the suite of `document`.
pub fn suite(document: Document<'_>, diagnostics: &mut Diagnostics) -> Option<Suite> {
    let Document { source, root } = document;
    lookup::refuse(source, root, "a suite has no values to look up", diagnostics);
    let wire: wire::Suite = workload::read(root, diagnostics)?;
    let name_span = root.get("metadata").and_then(|metadata| metadata.get("name")).map_or(root.span, |node| node.span);
    let nodes = root.get("spec").and_then(|spec| spec.get("benchmarks")).map(Node::items).unwrap_or_default();
    let benchmarks = wire.spec.benchmarks.into_iter().zip(nodes.iter().map(|node| node.span)).collect();
    let fault = Diagnostic::at(
        &code::KB0322,
        name_span,
        format!("the suite `{}` is checked, but nothing is emitted for it", wire.metadata.name),
    );
    diagnostics.push(fault.note("this version compiles the benchmarks of a suite one by one, not as one Workflow"));
    Some(Suite { name: wire.metadata.name, name_span, benchmarks })
}

impl Suite {
    /// Reports names that are no benchmark's, and names that stand there twice.
    pub fn check_references(&self, benchmarks: &BTreeMap<String, Span>, diagnostics: &mut Diagnostics) {
        let mut seen = BTreeMap::new();
        for (name, span) in &self.benchmarks {
            if let Some(first) = seen.insert(name, *span) {
                let message = format!("`{name}` stands in `benchmarks` twice");
                let fault = Diagnostic::at(&code::KB0206, *span, message).label("second");
                diagnostics.push(fault.related(Place::Span(first), "first").help("delete one of them"));
            }
        }
        for (name, span) in self.benchmarks.iter().filter(|(name, _)| !benchmarks.contains_key(name)) {
            let fault = Diagnostic::at(&code::KB0321, *span, format!("there is no benchmark `{name}`"));
            diagnostics.push(match did_you_mean(name, benchmarks.keys().map(String::as_str)) {
                Some(close) => fault.help(format!("did you mean `{close}`?")),
                None => fault.help("write the `metadata.name` of a benchmark of this project"),
            });
        }
    }
}
