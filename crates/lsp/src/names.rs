//! What parts of specs are called, and where something names them.

use std::collections::BTreeSet;
use std::ops::Range;

use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_extract::tool::{self, TOOLS, Tool};
use kubebench_format::schema::{DocumentKind, fields};
use kubebench_syntax::yaml::Step;

use crate::cursor::{At, Cursor};
use crate::files::Files;
use crate::outline::{Outline, Way, begins_with, ends_with};
use crate::project::{Project, Text};

/// How many fragments may extend one another.
const DEEPEST: usize = 5;
/// What expressions may name without a declaration.
const GIVEN: [&str; 4] = ["benchmark.name", "target.name", "target.namespace", "target.cluster"];
/// What they may name where there are variants.
const OF_VARIANTS: &str = "variant.name";

/// What has names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    /// What `${{ }}` may name.
    Expression,
    Axis,
    Metric,
    Benchmark,
    Target,
    Fragment,
    Tool,
    /// A metric of the tool of a source.
    ToolMetric,
    /// A part of the workload that has pods of its own.
    Role,
    /// A file of the project.
    File,
}

/// Something that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) about: String,
    /// The file that declares it, and the bytes of its name there; none if no file does.
    pub(crate) place: Option<(String, Range<usize>)>,
}

/// Returns what the place of the cursor names in a document of `kind`.
pub(crate) fn sort_at(kind: DocumentKind, Cursor { way, at, .. }: &Cursor) -> Option<Sort> {
    let is = |keys: &[&str]| way.len() == keys.len() && begins_with(way, keys);
    match at {
        At::Expression => Some(Sort::Expression),
        At::Key if ends_with(way, &["matrix", "include", "*"]) || ends_with(way, &["matrix", "exclude", "*"]) => {
            Some(Sort::Axis)
        }
        At::Key if is(&["spec", "fixtures", "*", "expect"]) => Some(Sort::Metric),
        At::Key | At::Text => None,
        At::Value | At::Element => match kind {
            DocumentKind::Suite if is(&["spec", "benchmarks", "*"]) => Some(Sort::Benchmark),
            DocumentKind::Suite if is(&["spec", "benchmarks", "*", "benchmark"]) => Some(Sort::Benchmark),
            DocumentKind::Suite if is(&["spec", "benchmarks", "*", "needs", "*"]) => Some(Sort::Benchmark),
            DocumentKind::Project | DocumentKind::Ack => None,
            _ if is(&["spec", "targets", "*"]) => Some(Sort::Target),
            DocumentKind::Suite => None,
            _ if is(&["spec", "extends", "*"]) => Some(Sort::Fragment),
            _ if is(&["spec", "gates", "*", "metric"]) || is(&["spec", "checks", "*", "metric"]) => Some(Sort::Metric),
            _ if begins_with(way, &["spec", "metrics", "*", "from"]) && ends_with(way, &["role"]) => Some(Sort::Role),
            _ if ends_with(way, &["from", "tool", "name"]) => Some(Sort::Tool),
            _ if ends_with(way, &["from", "tool", "metrics", "*"]) => Some(Sort::ToolMetric),
            _ if ends_with(way, &["files", "*", "path"]) || is(&["spec", "fixtures", "*", "log"]) => Some(Sort::File),
            _ if ["manifest", "workflow", "notebook"].iter().any(|form| ends_with(way, &[form, "file"])) => {
                Some(Sort::File)
            }
            _ => None,
        },
    }
}

/// A document, and what it is in.
#[derive(Clone, Copy)]
pub(crate) struct Around<'p> {
    pub(crate) project: &'p Project,
    pub(crate) path: &'p str,
    pub(crate) text: &'p Text,
    pub(crate) files: &'p dyn Files,
}

impl<'p> Around<'p> {
    /// Returns all names of a sort that are valid at the cursor in the document, whose schema is `schema`.
    pub(crate) fn names(&self, sort: Sort, cursor: &Cursor, schema: &serde_json::Value) -> Vec<Named> {
        match sort {
            Sort::Expression => self.of_expressions(),
            Sort::Axis => self.axes(""),
            Sort::Metric => self.metrics(),
            Sort::Role => self.roles(schema),
            Sort::Benchmark => self.documents(DocumentKind::Benchmark),
            Sort::Fragment => self.documents(DocumentKind::Fragment),
            Sort::Target => self.targets(),
            Sort::Tool => TOOLS.iter().map(|tool| given(tool.name, tool.reads)).collect(),
            Sort::ToolMetric => self.tool_at(&cursor.way).map(metrics_of).unwrap_or_default(),
            Sort::File => self.project.carriable(self.files).iter().map(|path| given(path, "")).collect(),
        }
    }

    /// Returns the document and the fragments that it extends, with their paths.
    fn parts(&self) -> Vec<(&'p str, &'p Text)> {
        let mut parts = vec![(self.path, self.text)];
        let mut level = vec![self.text];
        for _ in 0..DEEPEST {
            let names: BTreeSet<&str> = level
                .iter()
                .flat_map(|text| {
                    text.outline().below(&["spec", "extends"]).map(move |item| text.text.get(item.value.clone()))
                })
                .flatten()
                .collect();
            let named = self.project.specs().filter(|(path, text)| {
                text.kind() == Some(DocumentKind::Fragment)
                    && text.outline().text(&text.text, &["metadata", "name"]).is_some_and(|name| names.contains(name))
                    && !parts.iter().any(|(known, _)| known == path)
            });
            let named: Vec<(&str, &Text)> = if names.is_empty() { Vec::new() } else { named.collect() };
            level = named.iter().map(|(_, text)| *text).collect();
            parts.extend(named);
        }
        parts
    }

    fn of_expressions(&self) -> Vec<Named> {
        let mut names = self.axes("matrix.");
        let mut add = |prefix: &str, path: &str, text: &Text, keys: &[&str]| {
            names.extend(keys_below(path, text, keys, prefix));
        };
        for (path, text) in self.parts() {
            add("parameters.", path, text, &["spec", "parameters"]);
            add("benchmark.labels.", path, text, &["metadata", "labels"]);
        }
        let own = self.text.outline().text(&self.text.text, &["metadata", "name"]);
        for (path, text) in self.project.specs().filter(|(_, text)| text.kind() == Some(DocumentKind::Suite)) {
            let is_own = |name: &Named| own == Some(name.name.as_str());
            if members(path, text).iter().any(is_own) {
                add("parameters.", path, text, &["spec", "defaults", "parameters"]);
            }
        }
        if let Some(text) = self.project.text(PROJECT_FILE) {
            add("project.parameters.", PROJECT_FILE, text, &["spec", "parameters"]);
            add("target.values.", PROJECT_FILE, text, &["spec", "targets", "*", "values"]);
        }
        names.extend(GIVEN.iter().map(|name| given(name, "")));
        let has_variants =
            self.parts().iter().any(|(_, text)| text.outline().below(&["spec", "variants"]).next().is_some());
        names.extend(has_variants.then(|| given(OF_VARIANTS, "")));
        let mut seen = BTreeSet::new();
        names.retain(|name| seen.insert(name.name.clone()));
        names
    }

    fn axes(&self, prefix: &str) -> Vec<Named> {
        let mut names: Vec<Named> = Vec::new();
        for (path, text) in self.parts() {
            for keys in
                [&["spec", "matrix", "axes"][..], &["spec", "matrix", "zip"], &["spec", "matrix", "include", "*"]]
            {
                for name in keys_below(path, text, keys, prefix) {
                    if !names.iter().any(|known| known.name == name.name) {
                        names.push(name);
                    }
                }
            }
        }
        names
    }

    fn metrics(&self) -> Vec<Named> {
        let mut names = Vec::new();
        for (path, text) in self.parts() {
            let outline = text.outline();
            for item in &outline.items {
                let is = |keys: &[&str]| item.way.len() == keys.len() && begins_with(&item.way, keys);
                let is_named = is(&["spec", "metrics", "*", "name"])
                    || is(&["spec", "metrics", "*", "from", "tool", "metrics", "*"]);
                if let Some(name) = text.text.get(item.value.clone()).filter(|name| is_named && !name.is_empty()) {
                    let of_tool =
                        || Some(metrics_of(tool_in(text, &item.way)?).into_iter().find(|it| it.name == name)?.about);
                    let about = [of_tool().unwrap_or_default(), described(text, &item.way)];
                    let about = about.into_iter().filter(|about| !about.is_empty()).collect::<Vec<_>>().join(", ");
                    names.push(Named {
                        name: name.to_owned(),
                        about,
                        place: Some((path.to_owned(), item.value.clone())),
                    });
                } else if is(&["spec", "metrics", "*", "from", "tool", "name"]) {
                    let (_, source) = item.way.split_last().unwrap_or((&Step::Index(0), &[]));
                    let listed: Way = source.iter().cloned().chain([Step::from("metrics")]).collect();
                    let tool = text.text.get(item.value.clone()).and_then(tool::tool);
                    let all = tool.filter(|_| outline.at(&listed).is_none()).map(metrics_of).unwrap_or_default();
                    let place = || Some((path.to_owned(), item.value.clone()));
                    names.extend(all.into_iter().map(|name| Named { place: place(), ..name }));
                }
            }
        }
        names
    }

    fn documents(&self, kind: DocumentKind) -> Vec<Named> {
        let of_kind = self.project.specs().filter(|(_, text)| text.kind() == Some(kind));
        let name = |(path, text): (&str, &Text)| {
            let outline = text.outline();
            let item = outline.at(&["metadata".into(), "name".into()])?;
            let about = outline.text(&text.text, &["spec", "description"]).unwrap_or(path).to_owned();
            let name = text.text.get(item.value.clone()).filter(|name| !name.is_empty())?.to_owned();
            Some(Named { name, about, place: Some((path.to_owned(), item.value.clone())) })
        };
        of_kind.filter_map(name).collect()
    }

    fn targets(&self) -> Vec<Named> {
        match self.project.text(PROJECT_FILE) {
            Some(text) => keys_below(PROJECT_FILE, text, &["spec", "targets"], ""),
            None => vec![given("default", "")],
        }
    }

    /// Returns the tool of the source that a way is in.
    fn tool_at(&self, way: &[Step]) -> Option<&'static Tool> {
        tool_in(self.text, way)
    }

    /// Returns the parts of the workload that have replicas: fields of its kind, and named elements of lists.
    fn roles(&self, schema: &serde_json::Value) -> Vec<Named> {
        let is_role = |way: &[Step]| {
            let known = fields(schema, way);
            ["image", "replicas", "pod"].iter().filter(|name| known.iter().any(|field| field.name == **name)).count()
                > 1
        };
        let mut names: Vec<Named> = Vec::new();
        for (path, text) in self.parts() {
            for item in &text.outline().items {
                let is_field =
                    item.way.len() == 4 && begins_with(&item.way, &["spec", "workload"]) && is_role(&item.way);
                let is_named = item.way.len() == 6
                    && begins_with(&item.way, &["spec", "workload", "*", "*", "*", "name"])
                    && item.way.get(..5).is_some_and(is_role);
                let range = match (&item.key, is_field, is_named) {
                    (Some(key), true, _) => key.clone(),
                    (_, _, true) => item.value.clone(),
                    _ => continue,
                };
                let name = text.text.get(range.clone()).unwrap_or_default().to_owned();
                if !name.is_empty() && !names.iter().any(|known| known.name == name) {
                    names.push(Named { name, about: String::new(), place: Some((path.to_owned(), range)) });
                }
            }
        }
        names
    }
}

/// Returns the tool of the source that a way in a text is in.
fn tool_in(text: &Text, way: &[Step]) -> Option<&'static Tool> {
    let source = way.get(..way.len().checked_sub(2)?)?;
    let name: Way = source.iter().cloned().chain([Step::from("name")]).collect();
    tool::tool(text.text.get(text.outline().at(&name)?.value.clone())?)
}

/// Returns the benchmarks of the suite in a text.
fn members(path: &str, text: &Text) -> Vec<Named> {
    let is = |way: &[Step], keys: &[&str]| way.len() == keys.len() && begins_with(way, keys);
    let items = text.outline().items.iter().filter(|item| {
        is(&item.way, &["spec", "benchmarks", "*"]) || is(&item.way, &["spec", "benchmarks", "*", "benchmark"])
    });
    let name = |range: &Range<usize>| {
        let name = text.text.get(range.clone())?.to_owned();
        Some(Named { name, about: String::new(), place: Some((path.to_owned(), range.clone())) })
    };
    items.filter_map(|item| name(&item.value)).collect()
}

/// Returns the keys of the mapping at `keys`, each with what it is declared as.
fn keys_below(path: &str, text: &Text, keys: &[&str], prefix: &str) -> Vec<Named> {
    let below = text.outline().below(keys);
    let name = |item: &crate::outline::Item| {
        let Some(Step::Key(key)) = item.way.last() else { return None };
        let place = Some((path.to_owned(), item.key.clone()?));
        Some(Named { name: format!("{prefix}{key}"), about: value_of(text, item), place })
    };
    below.filter_map(name).collect()
}

/// Returns the line of a declaration after its key.
fn value_of(text: &Text, item: &crate::outline::Item) -> String {
    let after = item.key.as_ref().map_or(item.value.start, |key| key.end);
    let rest = text.text.get(after..).unwrap_or_default();
    let line = rest.lines().next().unwrap_or_default();
    line.trim_start_matches(['"', '\'']).trim_start_matches(':').trim().to_owned()
}

/// Returns unit and direction of the metric that a way is in.
fn described(text: &Text, way: &[Step]) -> String {
    let field = |name: &str| {
        let way: Way = way.iter().take(3).cloned().chain([Step::from(name)]).collect();
        let item = text.outline().at(&way)?;
        text.text.get(item.value.clone()).filter(|text| !text.is_empty()).map(str::to_owned)
    };
    [field("unit"), field("better").map(|better| format!("{better} is better"))]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ")
}

fn metrics_of(tool: &'static Tool) -> Vec<Named> {
    let metrics = (tool.metrics)();
    let of = |metric: &&'static tool::ToolMetric| {
        let about = match metric.unit {
            Some(unit) => format!("{} ({unit})", metric.meaning),
            None => metric.meaning.to_owned(),
        };
        metric.names().map(move |name| given(&name, &about)).collect::<Vec<_>>()
    };
    metrics.iter().filter(|metric| !metric.is_open()).flat_map(of).collect()
}

fn given(name: &str, about: &str) -> Named {
    Named { name: name.to_owned(), about: about.to_owned(), place: None }
}

/// Returns the outline's fields that are in the mapping at `way` already.
pub(crate) fn written<'o>(outline: &'o Outline, way: &'o [Step]) -> impl Iterator<Item = &'o str> {
    outline.items.iter().filter_map(move |item| match item.way.split_last() {
        Some((Step::Key(key), holder)) if holder == way && item.key.is_some() => Some(key.as_str()),
        _ => None,
    })
}
