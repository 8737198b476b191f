//! `extends`: a spec over the fragments that it names, before anything of it is validated.
//!
//! What comes out has the form of a benchmark without `extends`, with the place of every value where it was written.

pub(crate) mod merge;
mod shared;

use std::collections::BTreeMap;

use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::text::{SourceId, SourceMap, Span, first_of};
use kubebench_syntax::yaml::{Node, Value, write_string_scalar};

pub(crate) use shared::Shared;

/// The field of `spec` that names fragments.
pub(crate) const EXTENDS: &str = "extends";
/// How many fragments may extend one another.
const MAX_DEPTH: usize = 5;
/// How many of many names a message has.
const NAMED: usize = 8;

/// A fragment that was read.
#[derive(Debug)]
struct Fragment {
    id: SourceId,
    path: String,
    name_span: Span,
    /// What is under `spec`; nothing if the fragment has errors.
    spec: Option<Node>,
}

/// The fragments of a project, by name.
#[derive(Debug, Default)]
pub struct Fragments {
    by_name: BTreeMap<String, Fragment>,
    /// Documents that could not be read, each of which may be any fragment.
    unread: Vec<SourceId>,
}

/// What became of a spec that extends fragments.
pub(crate) enum Extended {
    /// The document as one, and the fragments that are part of it, each after those that it extends.
    Whole(Node, Vec<SourceId>),
    /// One of these fragments has errors, which are reported there.
    HeldBack(Vec<SourceId>),
}

impl Fragments {
    /// Adds the document `root`, or the name of one that has errors.
    pub(crate) fn add(&mut self, id: SourceId, path: &str, root: &Node, sound: Soundness, found: &mut Diagnostics) {
        let Some(name) = root.get("metadata").and_then(|metadata| metadata.get("name")) else { return };
        let Some(text) = name.as_text() else { return };
        if let Some(first) = self.by_name.get(text) {
            found.push(
                Diagnostic::at(&code::KB0308, name.span, format!("the name `{text}` is taken"))
                    .related(Place::Span(first.name_span), "by this fragment")
                    .help("give one of them another name"),
            );
            return;
        }
        let spec = root.get("spec").filter(|_| sound == Soundness::Sound).cloned();
        self.by_name.insert(text.to_owned(), Fragment { id, path: path.to_owned(), name_span: name.span, spec });
    }

    /// Reports fragments that cannot be merged over what they extend; specs that extend these are held back.
    pub(crate) fn check(&mut self, sources: &SourceMap) -> Diagnostics {
        let mut found = Diagnostics::default();
        let mut faulty = Vec::new();
        for (name, fragment) in &self.by_name {
            let Some(spec) = &fragment.spec else { continue };
            let mut walk = Walk::new(self, sources);
            let mut own = Diagnostics::default();
            let whole = walk.whole(spec, &mut vec![name.clone()], &mut own);
            faulty.extend(whole.is_none().then(|| name.clone()));
            let is_known = |fault: &Diagnostic, known: &Diagnostics| {
                known.as_slice().iter().any(|known| known.code == fault.code && known.place == fault.place)
            };
            for fault in own {
                if !is_known(&fault, &found) {
                    found.push(fault);
                }
            }
        }
        for fragment in self.by_name.iter_mut().filter(|(name, _)| faulty.contains(name)).map(|(_, fragment)| fragment)
        {
            fragment.spec = None;
        }
        found
    }

    /// Returns the numbers of their texts.
    pub(crate) fn sources(&self) -> impl Iterator<Item = SourceId> {
        self.by_name.values().map(|fragment| fragment.id)
    }

    /// Returns the name of the fragment in the text numbered `id`.
    pub(crate) fn name_of(&self, id: SourceId) -> Option<&str> {
        self.by_name.iter().find(|(_, fragment)| fragment.id == id).map(|(name, _)| name.as_str())
    }

    /// Returns true where `name` is that of a fragment without errors in the text numbered `id`.
    pub(crate) fn is_usable(&self, name: &str, id: SourceId) -> bool {
        self.by_name.get(name).is_some_and(|fragment| fragment.id == id && fragment.spec.is_some())
    }

    /// Adds documents that could not be read, so that nothing is known to be missing.
    pub(crate) fn add_unread(&mut self, ids: impl IntoIterator<Item = SourceId>) {
        self.unread.extend(ids);
    }

    /// Iterates over the names of fragments and their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.by_name.iter().map(|(name, fragment)| (name.as_str(), fragment.path.as_str()))
    }

    /// Returns `root` merged over the fragments that it names; none if one of them cannot be used, which is reported.
    pub(crate) fn extend(&self, root: &Node, sources: &SourceMap, found: &mut Diagnostics) -> Option<Extended> {
        let spec = root.get("spec")?;
        let mut walk = Walk::new(self, sources);
        let whole = walk.whole(spec, &mut Vec::new(), found);
        if walk.held_back {
            return Some(Extended::HeldBack(walk.parts));
        }
        let whole = whole?;
        let mut root = root.clone();
        if let Value::Map(entries) = &mut root.value
            && let Some(entry) = entries.iter_mut().find(|entry| entry.key == "spec")
        {
            entry.value = whole;
        }
        Some(Extended::Whole(root, walk.parts))
    }
}

/// Whether a document has errors of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Soundness {
    Sound,
    Faulty,
}

struct Walk<'a> {
    fragments: &'a Fragments,
    sources: &'a SourceMap,
    /// The fragments on the way, each once, after those that it extends.
    specs: Vec<Node>,
    parts: Vec<SourceId>,
    held_back: bool,
}

impl<'a> Walk<'a> {
    fn new(fragments: &'a Fragments, sources: &'a SourceMap) -> Self {
        Self { fragments, sources, specs: Vec::new(), parts: Vec::new(), held_back: false }
    }

    /// Returns `spec` over what it extends; `chain` are the fragments on the way to it. A fragment that several others extend comes once,
    /// before all of them, so that it undoes nothing that one of them says.
    fn whole(&mut self, spec: &Node, chain: &mut Vec<String>, found: &mut Diagnostics) -> Option<Node> {
        let sound = self.visit(spec, chain, found);
        let own = if chain.is_empty() { spec.clone() } else { merge::without(spec, EXTENDS) };
        let base = std::mem::take(&mut self.specs).into_iter().reduce(|base, part| merge::spec(&base, &part));
        found.extend(base.iter().flat_map(|base| merge::without_effect(base, &own)));
        sound.then(|| base.map_or(own.clone(), |base| merge::spec(&base, &own)))
    }

    /// Visits what `spec` extends; returns false if something of it cannot be used.
    fn visit(&mut self, spec: &Node, chain: &mut Vec<String>, found: &mut Diagnostics) -> bool {
        let mut sound = true;
        for name in spec.items_of(EXTENDS) {
            sound &= self.part(name, chain, found);
        }
        sound
    }

    /// Visits the fragment that `name` names.
    fn part(&mut self, name: &Node, chain: &mut Vec<String>, found: &mut Diagnostics) -> bool {
        let Some(text) = name.as_text() else { return false };
        let Some(fragment) = self.fragments.by_name.get(text) else {
            if self.fragments.unread.is_empty() {
                found.push(self.unknown(text, name.span));
            } else {
                self.held_back = true;
                self.parts.extend(&self.fragments.unread);
            }
            return false;
        };
        if chain.iter().any(|known| known == text) {
            let way = chain.iter().map(String::as_str).chain([text]).collect::<Vec<_>>().join(" → ");
            let fault = Diagnostic::at(&code::KB0399, name.span, format!("the fragment `{text}` extends itself"));
            found.push(fault.note(way).help("delete one of these references"));
            return false;
        }
        if chain.len() == MAX_DEPTH {
            let message = format!("this chain of fragments is longer than {MAX_DEPTH}");
            let fault = Diagnostic::at(&code::KB0399, name.span, message);
            found.push(fault.note(chain.join(" → ")).help("merge some of them into one fragment"));
            return false;
        }
        let Some(spec) = &fragment.spec else {
            self.held_back = true;
            self.parts.push(fragment.id);
            return false;
        };
        if self.parts.contains(&fragment.id) {
            return true;
        }
        chain.push(text.to_owned());
        let sound = self.visit(spec, chain, found);
        chain.pop();
        self.parts.push(fragment.id);
        self.specs.push(merge::without(spec, EXTENDS));
        sound
    }

    fn unknown(&self, text: &str, span: Span) -> Diagnostic {
        let names: Vec<&str> = self.fragments.by_name.keys().map(String::as_str).collect();
        let fault = Diagnostic::at(&code::KB0399, span, format!("there is no fragment `{text}`"));
        let is_path = text.contains(['/', '.']);
        let of_path = self.fragments.iter().find(|(_, path)| path.ends_with(text.trim_start_matches(['.', '/'])));
        match (of_path.filter(|_| is_path), did_you_mean(text, names.iter().copied())) {
            (Some((name, path)), _) => fault
                .note(format!("`extends` takes names, not paths; {path} is the fragment `{name}`"))
                .help(format!("write `{name}`"))
                .likely_fix(span, write_string_scalar(name)),
            (None, Some(close)) => fault.did_you_mean(span, close),
            (None, None) if names.is_empty() => {
                let path = self.sources.get(span.source).map_or("", |source| &source.path);
                let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
                fault
                    .note("the folders of specs have no document of `kind: Fragment`")
                    .help(format!("write one, such as {folder}/fragments/{}.yaml", slug(text)))
            }
            (None, None) => fault.note(format!("fragments are: {}", first_of(&names, NAMED))),
        }
    }
}

/// Returns a name of a file for what a person called a fragment.
fn slug(text: &str) -> String {
    let stem = text.rsplit('/').next().unwrap_or(text);
    let stem = stem.trim_end_matches(".yaml").trim_end_matches(".yml");
    stem.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' }).collect()
}
