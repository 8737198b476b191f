//! The manifests that specs name: read once each, however many specs and cases name one, and before any spec is lowered, so that
//! findings can point into them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::benchmark::points;
use super::files::{ReadFile, Unreadable, refusal, unreadable};
use super::roots::{of_case, roots};
use super::{Document, Project, Suites, variants};
use crate::expand;
use crate::lookup::{self, Scope};
use kubebench_syntax::diag::{Diagnostics, Severity};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{self, Entry, Node, Value};

/// Where a spec names a manifest.
const NAMED_AT: &[&[&str]] = &[&["manifest", "file"], &["workflow", "file"]];

/// The manifests of all specs, by path.
#[derive(Clone, Default)]
pub struct Manifests {
    files: BTreeMap<String, Result<Read, Unreadable>>,
}

/// A manifest that was read.
#[derive(Clone)]
struct Read {
    id: SourceId,
    manifest: Arc<yaml::Manifest>,
}

impl Manifests {
    /// Reads the files at `paths` and adds their texts to `sources`; those that are as they were in `self` are taken from there.
    pub(crate) fn read(
        &self,
        paths: &BTreeSet<String>,
        read: &ReadFile,
        output: &str,
        sources: &mut SourceMap,
    ) -> Self {
        let file = |path: &str, sources: &mut SourceMap| match refusal(path, output) {
            Some(reason) => Err(Unreadable::Refused(reason)),
            None => read(path).map(|bytes| self.parsed(Source::new(path, &bytes), sources)),
        };
        let files = paths.iter().map(|path| (path.clone(), file(path, sources)));
        Self { files: files.collect() }
    }

    fn parsed(&self, source: Source, sources: &mut SourceMap) -> Read {
        let known = self.files.get(&source.path).and_then(|file| file.as_ref().ok());
        let id = match known {
            Some(known) if sources.get(known.id).is_some_and(|old| *old == source) => return known.clone(),
            Some(known) => {
                sources.replace(known.id, source);
                known.id
            }
            None => sources.add(source),
        };
        let source = sources.get(id).expected("the source that was just added");
        Read { id, manifest: Arc::new(yaml::read_manifest(id, source)) }
    }

    /// Returns the manifests at `paths`; nothing where one of them cannot be read.
    pub(crate) fn at(&self, paths: &BTreeSet<String>) -> Option<Vec<Arc<yaml::Manifest>>> {
        paths.iter().map(|path| Some(Arc::clone(&self.files.get(path)?.as_ref().ok()?.manifest))).collect()
    }

    /// Returns the objects of the manifest that the resolved `workload` of a document contains or names. In a named manifest,
    /// lookups are replaced. Returns none where there is no manifest, or where it has errors, which are reported.
    pub(super) fn objects(
        &self,
        of: Document<'_>,
        workload: &Node,
        scope: &Scope,
        diagnostics: &mut Diagnostics,
    ) -> Option<Vec<Node>> {
        if let Some(object) = workload.get("manifest").and_then(|manifest| manifest.get("object")) {
            let mut documents = Vec::new();
            yaml::items(quoted_as_text(of.sources, object.clone()), &mut documents);
            return Some(documents);
        }
        let node = named(workload).next()?;
        let path = node.as_text()?;
        let file = match self.files.get(path)? {
            Ok(file) => &file.manifest,
            Err(reason) => {
                diagnostics.push(unreadable(path, node.span, reason.clone()));
                return None;
            }
        };
        diagnostics.extend(file.diagnostics.iter().cloned());
        if file.diagnostics.iter().any(|fault| fault.severity == Severity::Error) {
            return None;
        }
        let documents = file.documents.iter();
        let resolved = documents.map(|document| lookup::resolve(of.sources, document, scope, diagnostics));
        Some(resolved.map(|document| quoted_as_text(of.sources, document)).collect())
    }

    /// Returns the names that the manifests look up which `workload` names in any case.
    pub(super) fn lookups<'a>(
        &'a self,
        paths: &'a BTreeSet<String>,
        sources: &'a SourceMap,
    ) -> impl Iterator<Item = String> + 'a {
        let files = paths.iter().filter_map(|path| self.files.get(path)?.as_ref().ok());
        files
            .flat_map(|file| &file.manifest.documents)
            .flat_map(|document| lookup::lookups(sources, document))
            .map(|lookup| lookup.path)
    }
}

/// Makes text of every number or boolean that was looked up within quotes: in an object of the API nothing else says which of them
/// a field takes.
fn quoted_as_text(sources: &SourceMap, node: Node) -> Node {
    let span = node.span;
    let value = match node.value {
        Value::Number(text) if is_quoted(sources, span) => Value::String(text),
        Value::Bool(flag) if is_quoted(sources, span) => Value::String(flag.to_string()),
        Value::Seq(items) => Value::Seq(items.into_iter().map(|item| quoted_as_text(sources, item)).collect()),
        Value::Map(entries) => Value::Map(
            entries.into_iter().map(|entry| Entry { value: quoted_as_text(sources, entry.value), ..entry }).collect(),
        ),
        other => other,
    };
    Node { span, value }
}

fn is_quoted(sources: &SourceMap, span: Span) -> bool {
    sources.slice(span).starts_with(['"', '\''])
}

/// Returns where `workload` names manifests.
fn named(workload: &Node) -> impl Iterator<Item = &Node> {
    NAMED_AT.iter().filter_map(move |path| path.iter().try_fold(workload, |node, step| node.get(step)))
}

/// Returns the paths of the manifests that `document` names in any case, on any target, by itself or in one of `suites`.
pub(crate) fn manifest_paths(document: Document<'_>, project: &Project, suites: &Suites) -> BTreeSet<String> {
    let Some(spec) = document.root.get("spec") else { return BTreeSet::new() };
    // What is wrong here is found again when the document is lowered.
    let mut found = Diagnostics::default();
    let variants = variants::variants(document.sources, spec, &mut found);
    let workloads = variants.iter().filter_map(|variant| Some((variant.name.as_ref(), variant.get("workload")?)));
    let mut paths = BTreeSet::new();
    for (variant, node) in workloads.flat_map(|(name, workload)| named(workload).map(move |node| (name, node))) {
        if !lookup::mentions_any(node) {
            paths.extend(node.as_text().map(str::to_owned));
            continue;
        }
        let name = document.root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_text);
        let labels = BTreeMap::new();
        let points = points(spec, &variants, &mut found);
        let points: Vec<_> = points.iter().filter(|point| point.variant.as_ref() == variant).collect();
        for target in project.targets_of(spec, &mut found) {
            for point in points.iter().take(expand::MAX_RUNS) {
                let name = name.unwrap_or_default();
                let mut roots = roots(spec, name, &labels, (project, &target), suites.of(name, &target));
                roots.extend(of_case(point));
                let scope = Scope::new(roots, &[]);
                let resolved = lookup::resolve(document.sources, node, &scope, &mut found);
                paths.extend(resolved.as_text().map(str::to_owned));
            }
        }
    }
    paths
}
