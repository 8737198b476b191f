//! Messages for values that do not fit the field that looks them up: the error is the value's, not the lookup's.

use crate::lookup::{self, Scope};
use kubebench_syntax::diag::{Diagnostic, Place, code};
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::yaml::{Node, Value};

/// Returns `fault`, which a schema found in a document with lookups replaced, so that its advice does not undo the lookup;
/// about a boolean that is used as text it points at the boolean.
pub(super) fn at_value(mut fault: Diagnostic, sources: &SourceMap, spec: &Node, scope: &Scope) -> Diagnostic {
    let Place::Span(used) = fault.place else { return fault };
    let written = Node { span: used, value: Value::String(sources.slice(used).to_owned()) };
    let lookups = lookup::lookups(sources, &written);
    let Some(lookup) = lookups.first() else { return fault };
    let wants_text = fault.fix.take().is_some_and(|fix| fix.replacement.starts_with('"'));
    let value = scope.get(&lookup.path).filter(|value| matches!(value.value, Value::Bool(_)));
    match value {
        Some(value) if fault.code == &code::KB0203 && wants_text && value.span != Span::default() => {
            text_wanted(spec, value, &lookup.path, used)
        }
        _ => fault,
    }
}

fn text_wanted(spec: &Node, value: &Node, path: &str, used: Span) -> Diagnostic {
    let message = format!("`{path}` is a boolean, but is used as text");
    let axis = path.strip_prefix("matrix.");
    let list =
        axis.and_then(|axis| ["axes", "zip"].into_iter().find_map(|field| spec.get("matrix")?.get(field)?.get(axis)));
    let booleans = list.map(Node::items).unwrap_or_default();
    // All values of the axis are one mistake.
    let first = booleans.iter().find(|item| matches!(item.value, Value::Bool(_))).unwrap_or(value);
    let quoted = |node: &Node| format!("\"{}\"", node.to_json());
    let help = if let (Some(axis), true) = (axis, booleans.iter().all(|item| matches!(item.value, Value::Bool(_))))
        && !booleans.is_empty()
    {
        format!("write the axis as `{axis}: [{}]`", booleans.iter().map(quoted).collect::<Vec<_>>().join(", "))
    } else {
        format!("write `{}`", quoted(value))
    };
    Diagnostic::at(&code::KB0203, first.span, message)
        .related(Place::Span(used), "used as text here")
        .note("programs spell booleans differently as text")
        .help(help)
}
