//! Turns a matrix into cases: a fixed order, and an identity for each that later edits of other cases do not change.

mod variants;

use std::collections::{BTreeMap, BTreeSet};

use kubebench_format::result::VARIANT;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::{Span, first_of};
use kubebench_syntax::yaml::scalar::{self, Plain};
use kubebench_syntax::yaml::{Node, Value};

use kubebench_syntax::invariant::Invariant as _;
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

/// Returns the cases of `matrix` in the order in which they run: axes by name, the last varying fastest, then the included ones.
pub(crate) fn expand(matrix: Option<&Node>, diagnostics: &mut Diagnostics) -> Vec<CasePoint> {
    let Some(matrix) = matrix else { return vec![CasePoint::new(None, BTreeMap::new())] };
    let axes = axes(matrix, diagnostics);
    let included = entries_of(matrix, "include", &axes, Naming::Every, diagnostics);
    let excluded = entries_of(matrix, "exclude", &axes, Naming::Some, diagnostics);
    let product = axes.values().map(Vec::len).fold(1_usize, usize::saturating_mul);
    let total = if axes.is_empty() { included.len() } else { product.saturating_add(included.len()) };
    if total > MAX_CASES {
        let sizes =
            axes.iter().map(|(name, values)| format!("{name}: {}", values.len())).collect::<Vec<_>>().join(", ");
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
    let product = Product::of(&axes);
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

fn axes<'m>(matrix: &'m Node, diagnostics: &mut Diagnostics) -> BTreeMap<&'m str, Vec<&'m Node>> {
    let mut axes = BTreeMap::new();
    for entry in matrix.entries_of("axes") {
        let mut seen: BTreeMap<String, Span> = BTreeMap::new();
        for value in entry.value.items() {
            if let Some(first) = seen.insert(text(value), value.span) {
                let message = format!("`{}` lists the value {} twice", entry.key, text(value));
                diagnostics.push(
                    malformed(value.span, message)
                        .related(Place::Span(first), "first")
                        .note("values are compared as text: arguments, results and reports show them without quotes")
                        .help("delete one of them"),
                );
            }
        }
        if entry.value.items().is_empty() {
            diagnostics.push(
                malformed(entry.key_span, format!("the axis `{}` has no values", entry.key))
                    .help("write at least one, or delete the axis"),
            );
        }
        axes.insert(entry.key.as_str(), entry.value.items().iter().collect());
    }
    axes
}

fn entries_of(
    matrix: &Node,
    list: &str,
    axes: &BTreeMap<&str, Vec<&Node>>,
    naming: Naming,
    diagnostics: &mut Diagnostics,
) -> Vec<(BTreeMap<String, Node>, Span)> {
    let mut kept = Vec::new();
    for item in matrix.items_of(list) {
        let values: BTreeMap<String, Node> =
            item.entries().iter().map(|entry| (entry.key.clone(), entry.value.clone())).collect();
        let unknown = item.entries().iter().filter(|entry| !axes.is_empty() && !axes.contains_key(entry.key.as_str()));
        let mut faulty = false;
        for entry in unknown {
            faulty = true;
            let message = format!("`{}` is not an axis", entry.key);
            let names: Vec<&str> = axes.keys().copied().collect();
            diagnostics.push(malformed(entry.key_span, message).help(format!("axes are: {}", first_of(&names, NAMED))));
        }
        let missing: Vec<&str> = axes.keys().copied().filter(|axis| !values.contains_key(*axis)).collect();
        if naming == Naming::Every && !missing.is_empty() {
            faulty = true;
            let message = format!("this case leaves out {}", first_of(&missing, NAMED));
            diagnostics.push(
                malformed(item.span, message)
                    .note("an included case names every axis, so that every expression has a value")
                    .help("add the missing axes"),
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

/// The combinations of the axes' values, each as one number per axis: many entries are compared with many of them.
struct Product<'m> {
    axes: Vec<(&'m str, &'m [&'m Node])>,
}

impl<'m> Product<'m> {
    fn of(axes: &'m BTreeMap<&'m str, Vec<&'m Node>>) -> Self {
        Self { axes: axes.iter().map(|(name, values)| (*name, values.as_slice())).collect() }
    }

    /// Returns every combination that no entry of `excluded` matches; the last axis varies fastest.
    fn without(&self, excluded: &[(BTreeMap<String, Node>, Span)], diagnostics: &mut Diagnostics) -> Vec<Vec<usize>> {
        let mut points = if self.axes.is_empty() { Vec::new() } else { vec![Vec::new()] };
        for (_, values) in &self.axes {
            let longer = |point: &Vec<usize>, value| point.iter().copied().chain([value]).collect::<Vec<usize>>();
            points = points.iter().flat_map(|point| (0..values.len()).map(|value| longer(point, value))).collect();
        }
        let numbers: Vec<BTreeMap<String, usize>> = self.axes.iter().map(|(_, values)| numbered(values)).collect();
        for (entry, span) in excluded {
            let before = points.len();
            // An entry with a value that no axis has matches nothing.
            if let Some(wanted) = self.wanted(entry, &numbers) {
                points.retain(|point| !wanted.iter().all(|(axis, value)| point.get(*axis) == Some(value)));
            }
            if points.len() == before {
                let fault = Diagnostic::at(&code::KB0306, *span, "this entry excludes no case");
                diagnostics.push(
                    fault
                        .note("no axis has one of its values, or an earlier entry excluded the same cases")
                        .help("correct the values, or delete the entry"),
                );
            }
        }
        points
    }

    /// Returns the numbers of the axes that `entry` names with those of its values, if all of them exist.
    fn wanted(
        &self,
        entry: &BTreeMap<String, Node>,
        numbers: &[BTreeMap<String, usize>],
    ) -> Option<Vec<(usize, usize)>> {
        let of = |(axis, value): (&String, &Node)| {
            let axis = self.axes.binary_search_by_key(&axis.as_str(), |(name, _)| *name).ok()?;
            Some((axis, *numbers.get(axis)?.get(&text(value))?))
        };
        entry.iter().map(of).collect()
    }

    fn values(&self, point: &[usize]) -> BTreeMap<String, Node> {
        let value = |((name, values), number): (&(&str, &[&Node]), &usize)| {
            Some(((*name).to_owned(), (*values.get(*number)?).clone()))
        };
        self.axes.iter().zip(point).filter_map(value).collect()
    }
}

fn numbered(values: &[&Node]) -> BTreeMap<String, usize> {
    values.iter().enumerate().map(|(number, value)| (text(value), number)).collect()
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

/// Returns the value as lookups, names of cases and results have it.
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

/// Returns the value as identities have it: what is text to every reader of YAML has a mark before it.
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
