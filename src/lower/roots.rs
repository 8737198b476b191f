//! What the lookups of a benchmark may name.

use std::collections::BTreeMap;

use crate::expand::CasePoint;
use crate::model::Target;
use crate::text::Span;
use crate::yaml::{Entry, Node, Value};

/// Returns what every lookup of a benchmark called `name` on `target` may name.
pub(super) fn roots(
    spec: &Node,
    name: &str,
    labels: &BTreeMap<String, String>,
    target: &Target,
) -> Vec<(&'static str, Node)> {
    let labels = mapping(labels.iter().map(|(key, value)| (key.clone(), text(value))));
    let benchmark = mapping([("name".to_owned(), text(name)), ("labels".to_owned(), labels)]);
    let target = mapping([
        ("name".to_owned(), text(&target.name)),
        ("namespace".to_owned(), text(&target.namespace)),
        ("cluster".to_owned(), text(&target.cluster)),
        ("values".to_owned(), mapping(target.values.iter().cloned())),
    ]);
    let parameters = spec.get("parameters").cloned().unwrap_or_else(|| mapping([]));
    vec![("benchmark", benchmark), ("parameters", parameters), ("target", target)]
}

/// Returns the values of one case.
pub(super) fn of_matrix(point: &CasePoint) -> Node {
    mapping(point.values.iter().map(|(axis, value)| (axis.clone(), value.clone())))
}

fn text(value: &str) -> Node {
    Node { span: Span::default(), value: Value::String(value.to_owned()) }
}

fn mapping(entries: impl IntoIterator<Item = (String, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| Entry { key, key_span: Span::default(), value }).collect();
    Node { span: Span::default(), value: Value::Map(entries) }
}
