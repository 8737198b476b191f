//! Reads a user's own Kubernetes manifest as kubectl does (YAML 1.1 as `sigs.k8s.io/yaml` resolves it), in contrast to
//! specs, which [`read`](super::read()) reads strictly.
//!
//! What kubectl refuses is an error; what it reads in a way that few people expect is a warning. The first error ends the
//! reading, as it does in kubectl.

mod build;
mod flatten;
mod scalar;
mod stream;
mod template;

pub use flatten::items;

use super::limits::MAX_MANIFEST_BYTES;
use super::node::{Node, Value};
use super::vetting;
use crate::diag::{Diagnostic, Severity, code};
use crate::text::{Source, SourceId, Span};

/// What reading one manifest gave.
#[derive(Debug, Default)]
pub struct Manifest {
    /// The objects in the order of the file: lists are replaced by their items, empty documents left out, anchors and merge
    /// keys written out. A copied value keeps the place of its text. Numbers are spelled as JSON spells them.
    pub documents: Vec<Node>,
    /// The findings. After an error, `documents` holds only what precedes it.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads the manifest `source`, numbered `id`.
pub fn read_manifest(id: SourceId, source: &Source) -> Manifest {
    let mut diagnostics = Vec::new();
    if refuse_text(id, source, &mut diagnostics) {
        return Manifest { documents: Vec::new(), diagnostics };
    }
    let mut documents = Vec::new();
    let mut budget = build::Budget::default();
    let stream = stream::split(&source.text);
    for part in &stream.parts {
        let mut read = build::document(id, source, part, &mut budget);
        let failed = read.diagnostics.iter().any(|fault| fault.severity == Severity::Error);
        diagnostics.append(&mut read.diagnostics);
        if failed {
            return Manifest { documents, diagnostics };
        }
        match read.root {
            None | Some(Node { value: Value::Null, .. }) => {}
            Some(root @ Node { value: Value::Map(_), .. }) => items(root, &mut documents),
            Some(root) => {
                let message = format!("this document is {}, not a Kubernetes object", root.type_name());
                let fault = Diagnostic::at(&code::KB0120, first_line(source, root.span), message);
                diagnostics.push(fault.help("write a mapping with `apiVersion`, `kind` and `metadata`"));
                return Manifest { documents, diagnostics };
            }
        }
    }
    if let Some(separator) = stream.refused {
        diagnostics.push(
            Diagnostic::at(&code::KB0120, Span::new(id, separator), "text follows the `---` on its line")
                .note("kubectl takes only a comment there")
                .help("start the document on the next line"),
        );
    } else if documents.is_empty() {
        let fault = Diagnostic::in_file(&code::KB0103, &source.path, "the file holds no object");
        diagnostics.push(fault.help("write a Kubernetes object, or name another file"));
    }
    Manifest { documents, diagnostics }
}

/// Reports what makes the text no manifest at all, and returns true when reading on makes no sense.
fn refuse_text(id: SourceId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> bool {
    if source.text.len() > MAX_MANIFEST_BYTES {
        let message = format!("the file holds more than {MAX_MANIFEST_BYTES} bytes (4 MiB)");
        let fault = Diagnostic::in_file(&code::KB0112, &source.path, message);
        diagnostics.push(fault.help("split it, or move data into an image, a volume or a separate ConfigMap"));
        return true;
    }
    if vetting::refuse_encoding(id, source, "name a text file", diagnostics)
        || vetting::refuse_merge(id, source, diagnostics)
    {
        return true;
    }
    let Some((at, c)) = source.text.char_indices().find(|(_, c)| is_refused(*c)) else { return false };
    let span = Span::new(id, at..at + c.len_utf8());
    let fault = Diagnostic::at(&code::KB0111, span, format!("U+{:04X} is not allowed", u32::from(c)))
        .note("kubectl refuses control characters, and treats some line separators as the end of a line");
    diagnostics.push(fault.help(vetting::escape(c)));
    true
}

fn is_refused(c: char) -> bool {
    (c.is_control() && !matches!(c, '\t' | '\n' | '\r'))
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{fffe}' | '\u{ffff}')
}

/// Returns the part of `span` on its first line.
fn first_line(source: &Source, span: Span) -> Span {
    let length = source.slice(span).lines().next().map_or(0, str::len);
    Span::new(span.source, span.start as usize..span.start as usize + length)
}

#[cfg(test)]
mod tests;
