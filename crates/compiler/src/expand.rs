//! Turns a matrix into cases: a fixed order, and an identity for each that later edits of other cases do not change.

mod axis;
mod product;
mod variants;

use std::collections::{BTreeMap, BTreeSet};

use kubebench_format::result::VARIANT;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::{Span, first_of};
use kubebench_syntax::yaml::scalar::{self, Plain};
use kubebench_syntax::yaml::{Node, Value};

use kubebench_syntax::invariant::Invariant as _;
use product::Product;
pub(crate) use variants::expand_variants;

/// How many of many names a message has.
const NAMED: usize = 8;

/// The most cases of one benchmark, counted before any is made.
pub(crate) const MAX_CASES: usize = 10_000;

/// The most runs of one Workflow, and so the most cases that are looked at one by one.
pub(crate) const MAX_RUNS: usize = 1_000;

/// One point of the matrix, in one variant.
#[derive(Clone, Debug)]
pub(crate) struct CasePoint {
    /// `batchsize-64-workers-2-1a2b3c4d`: readable, at most 63 characters, unique within the benchmark.
    pub id: String,
    /// `batchSize=64, workers=2`, as shown to people; `default` without a matrix.
    pub name: String,
    /// The name of the variant, where there are several.
    pub variant: Option<Node>,
    /// The value of every axis.
    pub values: BTreeMap<String, Node>,
}

/// Returns the cases of `matrix` in the order in which they run: axes by name, those of
/// `zip` as one axis, the last varying fastest, then the included ones.
pub(crate) fn expand(matrix: Option<&Node>, diagnostics: &mut Diagnostics) -> Vec<CasePoint> {
    let Some(matrix) = matrix else { return vec![CasePoint::new(None, BTreeMap::new())] };
    let axes = axis::axes(matrix, diagnostics);
    let names: BTreeSet<&str> = axes.iter().flat_map(|axis| axis.names.iter().copied()).collect();
    let included = entries_of(matrix, "include", &names, Naming::Every, diagnostics);
    let excluded = entries_of(matrix, "exclude", &names, Naming::Some, diagnostics);
    let product = axes.iter().map(|axis| axis.rows.len()).fold(1_usize, usize::saturating_mul);
    let total = if axes.is_empty() { included.len() } else { product.saturating_add(included.len()) };
    if total > MAX_CASES {
        let sizes =
            axes.iter().map(|axis| format!("{}: {}", axis.name(), axis.rows.len())).collect::<Vec<_>>().join(", ");
        let fault = Diagnostic::at(
            &code::KB0304,
            matrix.span,
            format!(
                "the matrix has {} cases, more than {MAX_CASES}",
                if product == usize::MAX { "countless".to_owned() } else { total.to_string() }
            ),
        );
        diagnostics.push(fault.note(format!("axes: {sizes}")).help("leave values out, or split the benchmark"));
        return Vec::new();
    }
    let product = Product { axes: &axes };
    let kept = product.without(&excluded, diagnostics);
    let mut points: Vec<(BTreeMap<String, Node>, Span)> =
        kept.iter().map(|point| (product.values(point), matrix.span)).collect();
    points.extend(included);
    unique(points, matrix.span, diagnostics)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Every,
    Some,
}

fn malformed(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0305, span, message)
}

fn entries_of(
    matrix: &Node,
    list: &str,
    axes: &BTreeSet<&str>,
    naming: Naming,
    diagnostics: &mut Diagnostics,
) -> Vec<(BTreeMap<String, Node>, Span)> {
    let mut kept = Vec::new();
    for item in matrix.items_of(list) {
        let values: BTreeMap<String, Node> =
            item.entries().iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
        let unknown = item.entries().iter().filter(|entry| !axes.is_empty() && !axes.contains(entry.key.as_str()));
        let mut faulty = false;
        for entry in unknown {
            faulty = true;
            let message = format!("`{}` is not an axis", entry.key);
            let names: Vec<&str> = axes.iter().copied().collect();
            diagnostics.push(malformed(entry.key_span, message).help(format!("axes are: {}", first_of(&names, NAMED))));
        }
        let missing: Vec<&str> = axes.iter().copied().filter(|axis| !values.contains_key(*axis)).collect();
        if naming == Naming::Every && !missing.is_empty() {
            faulty = true;
            let message = format!("this case leaves out {}", first_of(&missing, NAMED));
            diagnostics.push(
                malformed(item.span, message)
                    .note("an entry of `include` is a case of its own; unlike in GitHub Actions, it adds no values to other cases")
                    .help("add the missing axes, or link axes that change together by `zip`"),
            );
        }
        if values.is_empty() {
            faulty = true;
            diagnostics.push(malformed(item.span, format!("an entry of `{list}` names no axis")));
        }
        if !faulty {
            kept.push((values, item.span));
        }
    }
    kept
}

fn unique(points: Vec<(BTreeMap<String, Node>, Span)>, matrix: Span, diagnostics: &mut Diagnostics) -> Vec<CasePoint> {
    let mut seen = BTreeSet::new();
    let mut cases = Vec::with_capacity(points.len());
    for (values, span) in points {
        let spelled: Vec<(String, String)> = values.iter().map(|(axis, value)| (axis.clone(), text(value))).collect();
        let case = CasePoint::new(None, values);
        if seen.insert(spelled) {
            cases.push(case);
        } else {
            diagnostics.push(
                malformed(span, format!("the case {} exists already", case.name))
                    .help("delete this entry; for more runs raise `repeats`"),
            );
        }
    }
    if cases.is_empty() {
        diagnostics.push(
            malformed(matrix, "the matrix has no case left".to_owned()).help("keep at least one, or delete the matrix"),
        );
    }
    cases
}

impl CasePoint {
    fn new(variant: Option<Node>, values: BTreeMap<String, Node>) -> Self {
        let axes = values.iter().map(|(axis, value)| (axis.as_str(), value));
        let all: Vec<(&str, &Node)> = variant.iter().map(|name| (VARIANT, name)).chain(axes).collect();
        let name = if all.is_empty() {
            "default".to_owned()
        } else {
            all.iter().map(|(axis, value)| format!("{axis}={}", text(value))).collect::<Vec<_>>().join(", ")
        };
        // By source text: `2.10` and `2.1` are one number, but as an image tag they are two programs.
        let canonical: BTreeMap<&str, String> = all.iter().map(|(axis, value)| (*axis, spelling(value))).collect();
        let digest = Digest::of(serde_json::to_string(&canonical).expected("JSON of texts"));
        let id = format!("{}-{}", slug(&name), digest.short());
        Self { id, name, variant, values }
    }
}

/// Returns the value as it appears in lookups, names of cases and results.
fn text(value: &Node) -> String {
    match &value.value {
        Value::Bool(flag) => flag.to_string(),
        _ => value.as_text().unwrap_or_default().to_owned(),
    }
}

/// Returns the value as it is without quotes: by its text alone.
pub(crate) fn unquoted(value: &Node) -> Node {
    let text = text(value);
    let unquoted = match scalar::classify(&text) {
        Plain::Number => Value::Number(text),
        Plain::Bool(flag) if flag.to_string() == text => Value::Bool(flag),
        _ => Value::String(text),
    };
    Node { span: value.span, value: unquoted }
}

/// Returns the value as it appears in identities: what every YAML reader reads as text is marked with a prefix.
fn spelling(value: &Node) -> String {
    let mark = if matches!(unquoted(value).value, Value::String(_)) { "\"" } else { "" };
    format!("{mark}{}", text(value))
}

/// Returns `text` as lower-case letters, digits and single dashes, at most 40 characters, starting with a letter or digit.
fn slug(text: &str) -> String {
    let mut slug = String::new();
    for c in text.chars() {
        if c.is_ascii_alphanumeric() {
            slug.push(c.to_ascii_lowercase());
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == 40 {
            break;
        }
    }
    slug.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests;
