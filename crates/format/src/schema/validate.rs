//! Checks a document against its schema and turns every violation into a finding at the offending node.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use super::generate::WorkloadForm;
use super::ready::Ready;
use super::violation::{Subject, Violation};
use super::{DocumentKind, advise, fault};
use crate::spec::v1::API_VERSION;
use kubebench_syntax::diag::{Code, Diagnostic, code, did_you_mean};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceMap};
use kubebench_syntax::yaml::{Node, Value};

/// The three schemas, each made ready when the first document of its kind comes.
pub struct Schemas {
    workloads: Vec<WorkloadForm>,
    by_kind: BTreeMap<DocumentKind, OnceLock<Ready>>,
}

impl Schemas {
    /// Returns the schemas; `workloads` are the forms of `spec.workload`.
    pub fn new(workloads: &[WorkloadForm]) -> Self {
        let by_kind = DocumentKind::ALL.into_iter().map(|kind| (kind, OnceLock::new())).collect();
        Self { workloads: workloads.to_vec(), by_kind }
    }

    fn ready(&self, kind: DocumentKind) -> &Ready {
        let ready = self.by_kind.get(&kind).expected("a schema of each kind");
        ready.get_or_init(|| Ready::new(kind, &self.workloads))
    }

    /// Returns the kind of a document, or why it has none; `expected` are the kinds that are allowed in this file.
    pub fn kind_of(&self, source: &Source, root: &Node, expected: &[DocumentKind]) -> Result<DocumentKind, Diagnostic> {
        if !matches!(root.value, Value::Map(_)) {
            let message = format!("the document is {}, not a spec", root.type_name());
            return Err(Diagnostic::at(&code::KB0203, root.span, message)
                .help("write a mapping that starts with `apiVersion`, `kind`, `metadata` and `spec`"));
        }
        let names = expected.iter().map(|kind| format!("`{}`", kind.name())).collect::<Vec<_>>().join(" or ");
        let missing = |field: &str, value: &str| {
            let message = format!("`{field}` is missing, so nothing says what this file is");
            Diagnostic::in_file(&code::KB0208, &source.path, message)
                .help(format!("write `{field}: {value}` at the top"))
        };
        let version = root.get("apiVersion").ok_or_else(|| missing("apiVersion", API_VERSION))?;
        let kind = root
            .get("kind")
            .ok_or_else(|| missing("kind", expected.first().map_or("Benchmark", |kind| kind.name())))?;
        if version.as_text() != Some(API_VERSION) {
            let message = format!("`{}` is not an API version of kubebench", source.slice(version.span));
            let newer = version.as_text().is_some_and(|text| text.starts_with("kubebench.dev/"));
            let note = if newer {
                "the spec may be newer than this binary"
            } else {
                "Kubernetes manifests do not belong in a folder of specs"
            };
            return Err(Diagnostic::at(&code::KB0208, version.span, message)
                .note(note)
                .help(format!("write `apiVersion: {API_VERSION}`"))
                .likely_fix(version.span, API_VERSION));
        }
        let word = kind.as_text().ok_or_else(|| {
            let message = format!("`kind` is {}, not a name", kind.type_name());
            Diagnostic::at(&code::KB0208, kind.span, message).help(format!("write {names}"))
        })?;
        expected.iter().copied().find(|expected| expected.name() == word).ok_or_else(|| {
            let message = format!("`{word}` is not a kind that is allowed here");
            let close = did_you_mean(word, expected.iter().map(|kind| kind.name()));
            let fault = Diagnostic::at(&code::KB0208, kind.span, message);
            match close {
                Some(close) => fault.did_you_mean(kind.span, close),
                None => fault.help(format!("write {names}")),
            }
        })
    }

    /// Rewords findings about the text of a file so that they offer what its fields accept; `expected` are the kinds of
    /// document that are allowed there.
    pub fn advise(&self, expected: &[DocumentKind], source: &Source, root: Option<&Node>, found: &mut [Diagnostic]) {
        if expected == [DocumentKind::Project] {
            found.iter_mut().for_each(advise::empty_project);
        }
        let word = root.and_then(|root| root.get("kind")).and_then(Node::as_text);
        let kind = expected.iter().find(|kind| Some(kind.name()) == word);
        let mut ambiguous = found.iter_mut().filter(|fault| fault.code == &code::KB0110).peekable();
        if let (Some(root), Some(kind), Some(_)) = (root, kind, ambiguous.peek()) {
            let ready = self.ready(*kind);
            ambiguous.for_each(|fault| advise::ambiguous(&ready.schema, source, root, fault));
        }
    }

    /// Returns every violation of the schema of `kind` in `root`, one for each mistake.
    pub fn validate(&self, kind: DocumentKind, sources: &SourceMap, root: &Node) -> Vec<Diagnostic> {
        let ready = self.ready(kind);
        let json = root.to_json();
        if ready.validator.is_valid(&json) {
            return Vec::new();
        }
        let subject = Subject::new(ready, sources, root);
        let mut found: Vec<(u8, Diagnostic)> = ready
            .validator
            .iter_errors(&json)
            .flat_map(|error| {
                Violation::new(&subject, &error).map_or_else(Vec::new, |violation| fault::findings(&violation))
            })
            .map(|diagnostic| (rank(diagnostic.code), diagnostic))
            .collect();
        // One mistake, one message: at one place the most telling finding stays.
        found.sort_by(|(a_rank, a), (b_rank, b)| {
            place(a).cmp(&place(b)).then(a_rank.cmp(b_rank)).then(a.message.cmp(&b.message))
        });
        found.dedup_by(|(_, later), (_, first)| {
            place(later) == place(first) && (later.message == first.message || later.code != first.code)
        });
        found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }
}

fn place(diagnostic: &Diagnostic) -> (u32, u32) {
    match &diagnostic.place {
        kubebench_syntax::diag::Place::Span(span) => (span.start, span.end),
        kubebench_syntax::diag::Place::File(_) | kubebench_syntax::diag::Place::Line(..) => (0, 0),
    }
}

fn rank(code: &'static Code) -> u8 {
    match code.id {
        "KB0203" => 0,
        "KB0205" | "KB0314" => 1,
        "KB0204" => 2,
        "KB0201" | "KB0202" => 3,
        _ => 4,
    }
}
