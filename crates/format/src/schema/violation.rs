//! One violation of a schema, and its place in the document.

use std::collections::BTreeMap;

use jsonschema::error::ValidationErrorKind as Kind;
use jsonschema::paths::LocationSegment;
use serde_json::Value as Json;

use super::format::{self, Format};
use super::place::summary;
use super::ready::Ready;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{Node, Step};

/// A document that violates its schema.
pub(super) struct Subject<'a> {
    pub(super) ready: &'a Ready,
    pub(super) sources: &'a SourceMap,
    /// Every node by its JSON Pointer, with the place of the key that leads to it: a hostile document has many of both.
    nodes: BTreeMap<String, (&'a Node, Span)>,
    root: &'a Node,
}

impl<'a> Subject<'a> {
    pub(super) fn new(ready: &'a Ready, sources: &'a SourceMap, root: &'a Node) -> Self {
        let mut nodes = BTreeMap::new();
        let mut waiting = vec![(String::new(), root, root.span)];
        while let Some((pointer, node, key_span)) = waiting.pop() {
            for entry in node.entries() {
                waiting.push((below(&pointer, &entry.key), &entry.value, entry.key_span));
            }
            for (index, item) in node.items().iter().enumerate() {
                waiting.push((format!("{pointer}/{index}"), item, item.span));
            }
            nodes.insert(pointer, (node, key_span));
        }
        Self { ready, sources, nodes, root }
    }

    /// Returns the source of the document itself, some of whose values may be from other sources.
    pub(super) fn own(&self) -> Option<SourceId> {
        Some(self.root.entry("kind")?.key_span.source)
    }
}

/// Returns the JSON Pointer of the value of `key` in the mapping at `pointer`.
fn below(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

/// One violation, with everything that its words are made of.
pub(super) struct Violation<'a> {
    pub(super) subject: &'a Subject<'a>,
    pub(super) schema: &'a Json,
    pointer: &'a str,
    path: Vec<LocationSegment<'a>>,
    pub(super) node: &'a Node,
    /// The place of the key that leads to the node, or of the node itself.
    pub(super) key_span: Span,
    pub(super) kind: &'a Kind,
}

impl<'a> Violation<'a> {
    pub(super) fn new(subject: &'a Subject<'a>, error: &'a jsonschema::ValidationError<'_>) -> Option<Self> {
        let pointer = error.instance_path().as_str();
        let (node, key_span) = *subject.nodes.get(pointer)?;
        let keyword = error.schema_path().as_str();
        let parent = keyword.rfind('/').and_then(|at| keyword.get(..at)).unwrap_or_default();
        let schema = subject.ready.schema.pointer(parent).expected("the schema that was violated");
        let path = error.instance_path().iter().collect();
        Some(Self { subject, schema, pointer, path, node, key_span, kind: error.kind() })
    }

    /// Returns the place of a key of the node.
    pub(super) fn span_of_key(&self, key: &str) -> Span {
        self.subject.nodes.get(&below(self.pointer, key)).map_or(self.node.span, |(_, span)| *span)
    }

    /// Returns the example of the place, as its field or its type has it.
    pub(super) fn example(&self) -> Option<Json> {
        let step = |segment: &LocationSegment<'_>| match segment {
            LocationSegment::Property(key) => Step::Key(key.to_string()),
            LocationSegment::Index(index) => Step::Index(*index),
        };
        let way: Vec<Step> = self.path.iter().map(step).collect();
        summary(&self.subject.ready.schema, &way)?.example
    }

    /// Returns the key that leads to the node; nothing for elements.
    pub(super) fn field(&self) -> Option<&str> {
        match self.path.last()? {
            LocationSegment::Property(key) => Some(key),
            LocationSegment::Index(_) => None,
        }
    }

    /// Returns what the node is called: `worker`, or `an element of args`.
    pub(super) fn name(&self) -> String {
        match self.path.split_last() {
            Some((LocationSegment::Property(key), _)) => format!("`{key}`"),
            Some((LocationSegment::Index(_), parents)) => {
                let key = |step: &LocationSegment<'a>| match step {
                    LocationSegment::Property(key) => Some(key.to_string()),
                    LocationSegment::Index(_) => None,
                };
                match parents.iter().rev().find_map(key) {
                    Some(key) => format!("an element of `{key}`"),
                    None => "an element".to_owned(),
                }
            }
            None => "the document".to_owned(),
        }
    }

    pub(super) fn format(&self) -> Option<&'static Format> {
        self.schema.get("format").and_then(Json::as_str).and_then(format::find)
    }

    pub(super) fn properties(&self) -> Vec<&'a str> {
        self.schema
            .get("properties")
            .and_then(Json::as_object)
            .into_iter()
            .flatten()
            .map(|(name, _)| name.as_str())
            .collect()
    }
}
