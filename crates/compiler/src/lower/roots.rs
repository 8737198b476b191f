//! What the lookups of a benchmark may name.

use std::collections::BTreeMap;

use super::{Project, Suite};
use crate::expand::CasePoint;
use crate::model::Target;
use kubebench_format::result::VARIANT;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node, Value};

/// Returns what every lookup of a benchmark called `name` on a target, where `suite` runs it, may name.
pub(super) fn roots(
    spec: &Node,
    name: &str,
    labels: &BTreeMap<String, String>,
    (project, target): (&Project, &Target),
    suite: Option<&Suite>,
) -> Vec<(&'static str, Node)> {
    let labels = mapping(labels.iter().map(|(key, value)| (key.clone(), text(value))));
    let benchmark = mapping([("name".to_owned(), text(name)), ("labels".to_owned(), labels)]);
    let target = mapping([
        ("name".to_owned(), text(&target.name)),
        ("namespace".to_owned(), text(&target.namespace)),
        ("cluster".to_owned(), text(&target.cluster)),
        ("values".to_owned(), mapping(target.values.iter().cloned())),
    ]);
    let own = spec.entries_of("parameters");
    let of_suite = suite.and_then(Suite::parameters).map(Node::entries).unwrap_or_default();
    let unsaid = of_suite.iter().filter(|entry| !own.iter().any(|own| own.key == entry.key));
    let parameters = mapping(own.iter().chain(unsaid).map(|entry| (entry.key.clone(), entry.value.clone())));
    let project = mapping([("parameters".to_owned(), mapping(project.parameters.iter().cloned()))]);
    vec![("benchmark", benchmark), ("parameters", parameters), ("project", project), ("target", target)]
}

/// Returns what the lookups of one case may name besides.
pub(super) fn of_case(point: &CasePoint) -> Vec<(&'static str, Node)> {
    let matrix = mapping(point.values.iter().map(|(axis, value)| (axis.clone(), value.clone())));
    let variant = point.variant.iter().map(|name| (VARIANT, mapping([("name".to_owned(), name.clone())])));
    std::iter::once(("matrix", matrix)).chain(variant).collect()
}

fn text(value: &str) -> Node {
    Node { span: Span::default(), value: Value::String(value.to_owned()) }
}

fn mapping(entries: impl IntoIterator<Item = (String, Node)>) -> Node {
    let entries = entries.into_iter().map(|(key, value)| Entry { key, key_span: Span::default(), value }).collect();
    Node { span: Span::default(), value: Value::Map(entries) }
}
