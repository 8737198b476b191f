//! A pod as it will be, each part with the places in patches that set it.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::Node;

static NOTHING: Json = Json::Null;

/// A part of a pod spec after all patches.
#[derive(Clone, Debug)]
pub(super) struct Traced<'a> {
    /// What it has become; `null` where there is nothing.
    pub(super) value: &'a Json,
    /// What patches say of it, in the order in which they apply.
    nodes: Vec<&'a Node>,
    /// The place of findings when no patch sets it.
    owner: Span,
}

impl<'a> Traced<'a> {
    /// Returns `value`, which `nodes` contributed to. Findings point at `owner` where no patch sets it.
    pub(super) fn new(value: &'a Json, nodes: Vec<&'a Node>, owner: Span) -> Self {
        Self { value, nodes, owner }
    }

    /// Returns the field `name`, which may hold nothing.
    pub(super) fn field(&self, name: &str) -> Self {
        Self {
            value: self.value.get(name).unwrap_or(&NOTHING),
            nodes: self.nodes.iter().filter_map(|node| node.get(name)).collect(),
            owner: self.span(),
        }
    }

    /// Returns the elements of the list `name`, which merges by `key`.
    pub(super) fn elements(&self, name: &str, key: &str) -> Vec<Self> {
        let list = self.field(name);
        let items = list.value.as_array().map(Vec::as_slice).unwrap_or_default();
        let mut said = BTreeMap::<_, Vec<&Node>>::new();
        for node in list.nodes.iter().flat_map(|node| node.items()) {
            let id = node.get(key).and_then(Node::as_text).filter(|text| !text.is_empty());
            said.entry(id).or_default().push(node);
        }
        let of = |item: &Json| said.get(&text(item, key)).cloned().unwrap_or_default();
        items.iter().map(|value| Self { value, nodes: of(value), owner: list.span() }).collect()
    }

    /// Returns the same part with what `more` patches say of it.
    pub(super) fn with(mut self, more: impl Iterator<Item = &'a Node>) -> Self {
        self.nodes.extend(more);
        self
    }

    /// Returns the last place that sets the part, or else the place of its owner.
    pub(super) fn span(&self) -> Span {
        self.nodes.last().map_or(self.owner, |node| node.span)
    }

    /// Returns true if a patch sets or removes the field `name`.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.nodes.iter().any(|node| node.entry(name).is_some())
    }

    /// Returns true where there is nothing.
    pub(super) fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    /// Returns the text of the field `name`; to the API server, an empty text is absent.
    pub(super) fn text(&self, name: &str) -> Option<&'a str> {
        text(self.value, name)
    }

    /// Returns true where the field `name` is the given flag.
    pub(super) fn is(&self, name: &str, flag: bool) -> bool {
        self.value.get(name).and_then(Json::as_bool) == Some(flag)
    }
}

fn text<'a>(value: &'a Json, name: &str) -> Option<&'a str> {
    value.get(name).and_then(Json::as_str).filter(|text| !text.is_empty())
}
