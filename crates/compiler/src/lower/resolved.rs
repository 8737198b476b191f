//! A spec as it is for each of its cases: values instead of expressions, the variant's fields, and explicit defaults.

use std::collections::BTreeMap;

use super::benchmark::points;
use super::roots::{of_case, roots};
use super::variants::{PER_CASE, variants};
use super::{Project, Suite};
use crate::lookup::{Scope, resolve};
use crate::model::Benchmark;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::yaml::{Entry, Node, Value};

/// What only makes cases and values, and so is in no case.
const MAKES_CASES: [&str; 4] = ["targets", "parameters", "matrix", "variants"];

/// A spec without expressions.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedSpec {
    /// The fields that all cases share.
    pub shared: Node,
    /// The others, by the id of the case.
    pub cases: BTreeMap<String, Node>,
}

/// Returns the resolved spec of `benchmark`, which was lowered from the document `root` and which `suite` runs.
pub(crate) fn resolved(
    root: &Node,
    sources: &SourceMap,
    project: &Project,
    benchmark: &Benchmark,
    suite: Option<&Suite>,
) -> Option<ResolvedSpec> {
    let spec = root.get("spec")?;
    // Errors of a spec were reported when it was compiled.
    let ignored = &mut Diagnostics::default();
    let names = || roots(spec, &benchmark.name, &benchmark.labels, (project, &benchmark.target), suite);
    let is_shared = |entry: &&Entry| ![&PER_CASE[..], &MAKES_CASES[..]].concat().contains(&entry.key.as_str());
    let scope = Scope::new(names(), &[]);
    let mut shared: Vec<Entry> = Vec::new();
    for entry in spec.entries().iter().filter(is_shared) {
        shared.push(Entry { value: resolve(sources, &entry.value, &scope, ignored), ..entry.clone() });
    }
    let counts = [("repeats", benchmark.repeats), ("warmups", benchmark.warmups)];
    let counts = counts.map(|(field, count)| (field, Value::Number(count.to_string())));
    let wait = ("queueTimeout", Value::String(benchmark.queue_timeout.to_string()));
    counts.into_iter().chain([wait]).for_each(|(field, value)| set(&mut shared, field, value));
    let variants = variants(sources, spec, ignored);
    let points = points(spec, &variants, ignored);
    let mut cases = BTreeMap::new();
    for (case, point) in
        benchmark.cases.iter().filter_map(|case| Some((case, points.iter().find(|point| point.id == case.id)?)))
    {
        let Some(variant) = variants.iter().find(|variant| variant.name == point.variant) else { continue };
        let scope = Scope::new(names().into_iter().chain(of_case(point)).collect(), &[]);
        let mut fields: Vec<Entry> = Vec::new();
        for entry in &variant.fields {
            fields.push(Entry { value: resolve(sources, &entry.value, &scope, ignored), ..entry.clone() });
        }
        set(&mut fields, "timeout", Value::String(case.timeout.to_string()));
        cases.insert(case.id.clone(), mapping(fields));
    }
    let metadata = root.entry("metadata").cloned();
    let spec = entry("spec", mapping(shared));
    Some(ResolvedSpec { shared: mapping(metadata.into_iter().chain([spec]).collect()), cases })
}

/// Writes the value that applies, however it is spelled.
fn set(fields: &mut Vec<Entry>, field: &str, value: Value) {
    fields.retain(|entry| entry.key != field);
    fields.push(entry(field, Node { span: Span::default(), value }));
}

fn entry(key: &str, value: Node) -> Entry {
    Entry { key: key.to_owned(), key_span: Span::default(), value }
}

fn mapping(entries: Vec<Entry>) -> Node {
    Node { span: Span::default(), value: Value::Map(entries) }
}
