//! What only a schema knows about an error in the text: which of two readings its field accepts, what an empty file may be.

use serde_json::Value as Json;

use super::shape::has_type;
use crate::spec::v1::API_VERSION;
use kubebench_syntax::diag::{Diagnostic, Place, code};
use kubebench_syntax::text::{Source, Span};
use kubebench_syntax::yaml::scalar::{Plain, classify};
use kubebench_syntax::yaml::{Node, Step};

/// Which values of a scalar a field takes.
struct Takes {
    text: bool,
    number: Option<Number>,
    boolean: bool,
}

/// Which numbers a field takes.
#[derive(Clone, Copy)]
enum Number {
    Whole,
    Any,
}

/// Rewords a finding about an ambiguous scalar so that it offers what the field of `schema` takes, and nothing else.
pub(super) fn ambiguous(schema: &Json, source: &Source, root: &Node, fault: &mut Diagnostic) {
    let Place::Span(span) = fault.place else { return };
    let Some(path) = path_to(root, span) else { return };
    let Some(takes) = takes(schema, &path) else { return };
    let text = source.slice(span);
    let Plain::Ambiguous(ambiguity) = classify(text) else { return };
    let is_boolean = |plain: &str| matches!(plain, "true" | "false");
    let fits = |plain: &String| if is_boolean(plain) { takes.boolean } else { takes.number.is_some() };
    let plain = ambiguity.plain.filter(fits);
    if takes.text && plain.is_some() {
        return;
    }
    if takes.text {
        let quoted = format!("\"{text}\"");
        fault.help = Some(format!("write `{quoted}`"));
        return;
    }
    fault.fix = None;
    fault.help = Some(match plain {
        // It is unknown whether `0777` was meant as octal.
        Some(plain) if is_octal(text) => {
            format!("write `{plain}` if it is decimal, or the decimal number that it means")
        }
        Some(plain) => {
            *fault = fault.clone().fix(span, plain.clone());
            format!("write `{plain}`")
        }
        None => match takes.number {
            Some(Number::Any) => "write a decimal number, such as `0.5`",
            Some(Number::Whole) => "write a whole number, such as `5`",
            None => "write `true` or `false`",
        }
        .to_owned(),
    });
}

fn is_octal(text: &str) -> bool {
    let digits = text.trim_start_matches(['+', '-']);
    digits.len() > 1 && digits.starts_with('0') && digits.bytes().all(|byte| matches!(byte, b'0'..=b'7' | b'_'))
}

/// Returns the steps to the scalar at `span`, unless it is a key.
fn path_to(root: &Node, span: Span) -> Option<Vec<Step>> {
    let mut path = Vec::new();
    let mut node = root;
    while node.span != span {
        let entries = node.entries().partition_point(|entry| entry.key_span.start <= span.start);
        let items = node.items().partition_point(|item| item.span.start <= span.start);
        if let Some(entry) = entries.checked_sub(1).and_then(|last| node.entries().get(last)) {
            path.push(Step::Key(entry.key.clone()));
            node = &entry.value;
        } else {
            let index = items.checked_sub(1)?;
            path.push(Step::Index(index));
            node = node.items().get(index)?;
        }
    }
    Some(path)
}

/// Returns what the field at `path` accepts; none if the schema has no such field, or accepts anything there.
fn takes(root: &Json, path: &[Step]) -> Option<Takes> {
    let schema = path.iter().try_fold(root, |schema, step| {
        find(root, schema, &|schema| match step {
            Step::Key(key) => schema
                .get("properties")
                .and_then(|properties| properties.get(key))
                .or_else(|| schema.get("additionalProperties").filter(|values| values.is_object())),
            Step::Index(_) => schema.get("items"),
        })
    })?;
    let typed = find(root, schema, &|schema| schema.get("type").map(|_| schema))?;
    // With a pattern, text is only a lookup.
    let text = has_type(typed, "string") && find(root, schema, &|schema| schema.get("pattern")).is_none();
    let whole = has_type(typed, "integer").then_some(Number::Whole);
    let number = if has_type(typed, "number") { Some(Number::Any) } else { whole };
    let boolean = has_type(typed, "boolean");
    (text || number.is_some() || boolean).then_some(Takes { text, number, boolean })
}

/// Returns what `read` finds in `schema` or in what it refers to, without copying any of it.
fn find<'s, T>(root: &'s Json, schema: &'s Json, read: &impl Fn(&'s Json) -> Option<T>) -> Option<T> {
    read(schema).or_else(|| {
        let inner = schema.get("$ref").and_then(Json::as_str).and_then(|reference| reference.strip_prefix('#'));
        let inner = inner.and_then(|pointer| root.pointer(pointer));
        let parts = schema.get("allOf").and_then(Json::as_array).into_iter().flatten();
        inner.into_iter().chain(parts).find_map(|part| find(root, part, read))
    })
}

/// Says what to write into an empty project file.
pub(super) fn empty_project(fault: &mut Diagnostic) {
    if fault.code == &code::KB0103 {
        fault.help = Some(format!(
            "write these lines, or delete the file (no project file means one target `default`):\napiVersion: {API_VERSION}\nkind: Project\nmetadata:\n  name: benchmarks"
        ));
    }
}
