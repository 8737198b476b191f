//! From texts to documents: read, put over what they extend, and validated by their schema.

use std::collections::BTreeSet;

use rayon::prelude::*;

use crate::extend::{EXTENDS, Extended, Fragments, Soundness, merge};
use crate::lower;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::text::{SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{self, Node, Value};

/// The kinds of document in a folder of specs.
const IN_SPECS: [DocumentKind; 3] = [DocumentKind::Benchmark, DocumentKind::Suite, DocumentKind::Fragment];

/// A spec that was read.
#[derive(Default)]
pub(super) struct Loaded {
    pub(super) id: SourceId,
    pub(super) diagnostics: Diagnostics,
    /// What it is, unless something is wrong with it.
    pub(super) document: Option<(DocumentKind, Node)>,
    /// The fragments that are part of it.
    pub(super) fragments: Vec<SourceId>,
    /// Its name where fragments with errors keep it from being compiled.
    pub(super) held_back: Option<(String, Span)>,
    /// The name that it says, if something is wrong with it.
    pub(super) said: Option<String>,
    /// The paths of the manifests that it names.
    pub(super) manifests: BTreeSet<String>,
}

/// All documents of the folders of specs.
pub(super) struct Documents {
    /// Benchmarks, as one with what they extend, and suites.
    pub(super) specs: Vec<Loaded>,
    pub(super) fragments: Fragments,
    /// What is wrong with fragments.
    pub(super) found: Diagnostics,
}

/// Reads a document of one of the kinds `expected`; nothing when anything is wrong with it.
pub(super) fn document(
    id: SourceId,
    sources: &SourceMap,
    expected: &[DocumentKind],
    schemas: &Schemas,
    diagnostics: &mut Diagnostics,
) -> Option<(DocumentKind, Node)> {
    let Parsed { kind, root, sound, reported } = parse(id, sources, expected, schemas, diagnostics)?;
    let valid = is_valid(kind, &root, sources, schemas, &reported, diagnostics);
    (sound && valid).then_some((kind, root))
}

/// Reads all `ids`.
pub(super) fn documents(ids: &[SourceId], sources: &SourceMap, schemas: &Schemas) -> Documents {
    let mut read: Vec<(Loaded, Option<Parsed>)> = ids
        .par_iter()
        .map(|id| {
            let mut loaded = Loaded { id: *id, ..Loaded::default() };
            let parsed = parse(*id, sources, &IN_SPECS, schemas, &mut loaded.diagnostics);
            (loaded, parsed)
        })
        .collect();
    let mut fragments = Fragments::default();
    let mut found = Diagnostics::default();
    for (loaded, parsed) in &mut read {
        let Some(parsed) = parsed.as_ref().filter(|parsed| parsed.kind == DocumentKind::Fragment) else { continue };
        let without_null = merge::without_null(&parsed.root);
        let is_valid =
            is_valid(parsed.kind, &without_null, sources, schemas, &parsed.reported, &mut loaded.diagnostics);
        let soundness = if parsed.sound && is_valid { Soundness::Sound } else { Soundness::Faulty };
        found.extend(std::mem::take(&mut loaded.diagnostics));
        let path = sources.get(loaded.id).map_or("", |source| &source.path);
        fragments.add(loaded.id, path, &parsed.root, soundness, &mut found);
    }
    fragments.add_unread(read.iter().filter(|(_, parsed)| parsed.is_none()).map(|(loaded, _)| loaded.id));
    found.extend(fragments.check(sources));
    read.retain(|(_, parsed)| parsed.as_ref().is_none_or(|parsed| parsed.kind != DocumentKind::Fragment));
    let specs = read
        .into_par_iter()
        .map(|(mut loaded, parsed)| {
            if let Some(parsed) = parsed {
                loaded.validate(parsed, &fragments, sources, schemas);
            }
            if loaded.document.is_none() {
                loaded.said = sources.get(loaded.id).and_then(|source| lower::said_name(loaded.id, source));
            }
            loaded
        })
        .collect();
    Documents { specs, fragments, found }
}

/// A document whose kind is known.
struct Parsed {
    kind: DocumentKind,
    root: Node,
    /// True unless its text has errors.
    sound: bool,
    /// Where these are.
    reported: BTreeSet<u32>,
}

fn parse(
    id: SourceId,
    sources: &SourceMap,
    expected: &[DocumentKind],
    schemas: &Schemas,
    diagnostics: &mut Diagnostics,
) -> Option<Parsed> {
    let source = sources.get(id)?;
    let yaml::Read { root, diagnostics: mut found } = yaml::read(id, source);
    schemas.advise(expected, source, root.as_ref(), &mut found);
    let sound = found.is_empty();
    let start = |fault: &Diagnostic| if let Place::Span(span) = fault.place { Some(span.start) } else { None };
    let reported = found.iter().filter_map(start).collect();
    diagnostics.extend(found);
    let root = root?;
    match schemas.kind_of(source, &root, expected) {
        Ok(kind) => Some(Parsed { kind, root, sound, reported }),
        Err(fault) => {
            diagnostics.push(fault);
            None
        }
    }
}

/// Reports what the schema of `kind` finds wrong at places that are not among `reported`.
fn is_valid(
    kind: DocumentKind,
    root: &Node,
    sources: &SourceMap,
    schemas: &Schemas,
    reported: &BTreeSet<u32>,
    diagnostics: &mut Diagnostics,
) -> bool {
    let mut violations = schemas.validate(kind, sources, root);
    violations.retain(|fault| !matches!(fault.place, Place::Span(span) if reported.contains(&span.start)));
    let valid = violations.is_empty();
    diagnostics.extend(violations);
    valid
}

impl Loaded {
    fn validate(&mut self, parsed: Parsed, fragments: &Fragments, sources: &SourceMap, schemas: &Schemas) {
        let Parsed { kind, mut root, sound, reported } = parsed;
        let spec = root.get("spec").filter(|_| kind == DocumentKind::Benchmark);
        let extends = spec.and_then(|spec| spec.get(EXTENDS));
        if let Some(list) = extends.filter(|list| !matches!(list.value, Value::Seq(_))) {
            let mut found = schemas.validate(kind, sources, &root);
            found.retain(|fault| fault.place == Place::Span(list.span));
            self.diagnostics.extend(found);
            return;
        }
        let extends = extends.is_some();
        if extends {
            match fragments.extend(&root, sources, &mut self.diagnostics) {
                Some(Extended::Whole(whole, parts)) => (root, self.fragments) = (whole, parts),
                Some(Extended::HeldBack(parts)) => {
                    self.fragments = parts;
                    self.held_back = name(&root).map(|(name, span)| (name.to_owned(), span));
                    return;
                }
                None => return,
            }
        }
        let valid = is_valid(kind, &root, sources, schemas, &reported, &mut self.diagnostics);
        if sound && valid {
            let root = if extends { merge::without_extends(&root) } else { root };
            self.document = Some((kind, root));
        }
    }

    /// Returns the name of the benchmark or suite.
    pub(super) fn name(&self) -> Option<String> {
        self.document.as_ref().and_then(|(_, root)| Some(name(root)?.0.to_owned()))
    }
}

fn name(root: &Node) -> Option<(&str, Span)> {
    let node = root.get("metadata")?.get("name")?;
    Some((node.as_text()?, node.span))
}
