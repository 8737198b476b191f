//! From texts to documents: read, put over what they extend, and validated by their schema.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::memory::Memory;
use crate::extend::{EXTENDS, Extended, Fragments, Soundness, merge};
use crate::lower;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place};
use kubebench_syntax::invariant::broken;
use kubebench_syntax::text::{SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{self, Node, Value};

/// The kinds of document in a folder of specs.
const IN_SPECS: [DocumentKind; 3] = [DocumentKind::Benchmark, DocumentKind::Suite, DocumentKind::Fragment];

/// A spec that was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Loaded {
    pub(super) id: SourceId,
    pub(super) diagnostics: Diagnostics,
    /// What it is, unless something is wrong with it.
    pub(super) document: Option<(DocumentKind, Arc<Node>)>,
    /// Whether it names fragments.
    pub(super) extends: bool,
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
) -> Option<(DocumentKind, Arc<Node>)> {
    let Parsed { kind, root, sound, reported } = parse(id, sources, expected, schemas, diagnostics)?;
    let valid = is_valid(kind, &root, sources, schemas, &reported, diagnostics);
    (sound && valid).then_some((kind, root))
}

/// A text that was read by itself.
pub(super) type Text = (Loaded, Option<Parsed>);

/// Reads all `ids` that `memory` does not have as they are.
pub(super) fn documents(
    ids: &[SourceId],
    sources: &SourceMap,
    schemas: &Schemas,
    memory: Option<&mut Memory>,
) -> Documents {
    let known = memory.as_deref();
    let mut read: Vec<Text> = ids
        .par_iter()
        .map(|id| known.and_then(|memory| memory.text(*id, sources)).unwrap_or_else(|| text(*id, sources, schemas)))
        .collect();
    let memory = memory.map(|memory| {
        memory.keep_texts(&read, sources);
        &*memory
    });
    let mut fragments = Fragments::default();
    let mut found = Diagnostics::default();
    for (loaded, parsed) in &mut read {
        let Some(parsed) = parsed.as_ref().filter(|parsed| parsed.kind == DocumentKind::Fragment) else { continue };
        let soundness = if parsed.sound { Soundness::Sound } else { Soundness::Faulty };
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
            let said = parsed.as_ref().and_then(|parsed| Some(name(&parsed.root)?.0.to_owned()));
            let is_parsed = parsed.is_some();
            if let Some(parsed) = parsed {
                if let Some(known) = memory.and_then(|memory| memory.validated(loaded.id, &fragments, sources)) {
                    return known;
                }
                loaded.validate(parsed, &fragments, sources, schemas);
            }
            if loaded.document.is_none() {
                if loaded.held_back.is_none() && loaded.diagnostics.as_slice().is_empty() {
                    broken("a spec that is not compiled has a finding");
                }
                let unparsed = || lower::said_name(loaded.id, sources.get(loaded.id)?);
                loaded.said = if is_parsed { said } else { unparsed() };
            }
            loaded
        })
        .collect();
    Documents { specs, fragments, found }
}

fn text(id: SourceId, sources: &SourceMap, schemas: &Schemas) -> Text {
    let mut loaded = Loaded { id, ..Loaded::default() };
    let mut parsed = parse(id, sources, &IN_SPECS, schemas, &mut loaded.diagnostics);
    if let Some(parsed) = parsed.as_mut().filter(|parsed| parsed.kind == DocumentKind::Fragment) {
        let without_null = merge::without_null(&parsed.root);
        parsed.sound &=
            is_valid(parsed.kind, &without_null, sources, schemas, &parsed.reported, &mut loaded.diagnostics);
    }
    (loaded, parsed)
}

/// A document whose kind is known.
#[derive(Clone)]
pub(super) struct Parsed {
    kind: DocumentKind,
    root: Arc<Node>,
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
        Ok(kind) => Some(Parsed { kind, root: Arc::new(root), sound, reported }),
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
        let extends = spec.and_then(|spec| spec.entry(EXTENDS));
        self.extends = extends.is_some();
        if let Some(entry) = extends.filter(|entry| !is_list_of_names(&entry.value)) {
            // Fields that the fragments would add are not missing.
            let own = entry.key_span.start..=entry.value.span.end;
            let mut found = schemas.validate(kind, sources, &root);
            found.retain(|fault| matches!(fault.place, Place::Span(span) if own.contains(&span.start)));
            self.diagnostics.extend(found);
            return;
        }
        if self.extends {
            match fragments.extend(&root, sources, &mut self.diagnostics) {
                Some(Extended::Whole(whole, parts)) => (root, self.fragments) = (Arc::new(whole), parts),
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
            let root = if self.extends { Arc::new(merge::without_extends(&root)) } else { root };
            self.document = Some((kind, root));
        }
    }

    /// Returns the name of the benchmark or suite.
    pub(super) fn name(&self) -> Option<String> {
        self.document.as_ref().and_then(|(_, root)| Some(name(root)?.0.to_owned()))
    }
}

fn is_list_of_names(node: &Node) -> bool {
    matches!(node.value, Value::Seq(_)) && node.items().iter().all(|item| item.as_text().is_some())
}

fn name(root: &Node) -> Option<(&str, Span)> {
    let node = root.get("metadata")?.get("name")?;
    Some((node.as_text()?, node.span))
}
