//! Reads one strict YAML document into a spanned tree, collecting every fault on the way.
//!
//! Only a syntax error ends the reading early. Nothing here knows what a benchmark is.

use std::collections::BTreeMap;

use serde_yaml::granit_parser::{self, Event, Parser, ScalarStyle, ScanError};

use super::limits::{MAX_DEPTH, MAX_NODES};
use super::node::{Entry, Node, Value};
use super::scalar::{self, Plain};
use super::{expression, syntax, vetting};
use crate::diag::{Code, Diagnostic, Place, code};
use crate::invariant::Invariant as _;
use crate::text::{Source, SourceId, Span};

const PLAIN_DATA: &str = "people and tools read such YAML differently; a spec is plain data";

/// What reading one file gave: a tree unless the file is beyond reading, and every fault found.
#[derive(Debug, Default)]
pub struct Read {
    /// The document, with refused nodes as nulls.
    pub root: Option<Node>,
    /// The faults.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads `source`, numbered `id`.
pub fn read(id: SourceId, source: &Source) -> Read {
    let mut diagnostics = Vec::new();
    if vetting::refuse_bytes(id, source, &mut diagnostics) || vetting::refuse_merge(id, source, &mut diagnostics) {
        return Read { root: None, diagnostics };
    }
    vetting::check_characters(id, source, &mut diagnostics);
    let mut builder = Builder {
        id,
        source,
        stack: Vec::new(),
        root: None,
        nodes: 0,
        documents: 0,
        anchors: BTreeMap::new(),
        read_until: 0,
        diagnostics,
    };
    let options = granit_parser::options! {
        emit_comments: false,
        emit_anchor_events: true,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: 2 * MAX_DEPTH,
        block_nesting_limit: 2 * MAX_DEPTH,
    };
    for event in Parser::new_from_str_with_options(&source.text, options) {
        let step = match event {
            Ok((event, span)) => builder.event(event, span),
            Err(error) => {
                builder.syntax_error(&error);
                Flow::Stop
            }
        };
        if step == Flow::Stop {
            builder.root = None;
            break;
        }
    }
    let Builder { root, documents, mut diagnostics, .. } = builder;
    vetting::check_tabs(id, source, &mut diagnostics);
    let empty = root.as_ref().is_none_or(|root| root.value == Value::Null);
    if empty && documents <= 1 && diagnostics.is_empty() {
        let fault = Diagnostic::in_file(&code::KB0103, &source.path, "the file holds no document");
        diagnostics.push(fault.help("write a spec (`kubebench new job NAME` makes one) or delete the file"));
    }
    Read { root: root.filter(|_| !empty), diagnostics }
}

#[derive(PartialEq, Eq)]
enum Flow {
    Go,
    Stop,
}

struct Builder<'s> {
    id: SourceId,
    source: &'s Source,
    stack: Vec<Frame>,
    root: Option<Node>,
    nodes: usize,
    documents: usize,
    anchors: BTreeMap<usize, Span>,
    /// The end of the last scalar: what follows is outside of quotes.
    read_until: u32,
    diagnostics: Vec<Diagnostic>,
}

/// A collection that is still open.
enum Frame {
    Seq { start: u32, items: Vec<Node> },
    Map { start: u32, entries: Vec<Entry>, key: Option<PendingKey>, keys: BTreeMap<String, Span> },
}

/// A key whose value has not been read yet.
struct PendingKey {
    text: String,
    span: Span,
    kept: bool,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: granit_parser::Span) -> Flow {
        let tag = span.tag_span().map(|tag| self.span(&tag));
        let span = self.span(&span);
        if let Some(tag) = tag {
            self.refuse_tag(tag);
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    let fault = Diagnostic::at(&code::KB0109, span, "a second document starts here")
                        .note("one file holds one spec, so that its path says which")
                        .help("move it to a separate file");
                    self.diagnostics.push(fault);
                    return Flow::Stop;
                }
                Flow::Go
            }
            Event::Scalar(text, style, _, tag) => {
                self.read_until = span.end;
                let value =
                    if tag.is_some() { Value::String(text.into_owned()) } else { self.scalar(&text, style, span) };
                self.place(Node { span, value })
            }
            Event::SequenceStart(..) => self.open(span, Frame::Seq { start: span.start, items: Vec::new() }),
            Event::MappingStart(..) => {
                self.open(span, Frame::Map { start: span.start, entries: Vec::new(), key: None, keys: BTreeMap::new() })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Anchor(anchor, name) => {
                self.anchors.insert(anchor, span);
                self.refuse(
                    &code::KB0106,
                    span,
                    format!("`&{name}` is an anchor"),
                    "write the value out where it is needed; for variation use `parameters` or `matrix`",
                );
                Flow::Go
            }
            Event::Alias(anchor) => {
                let defined = self.anchors.get(&anchor).copied();
                self.alias(span, defined)
            }
            Event::UnresolvedAlias(_) => self.alias(span, None),
            _ => Flow::Go,
        }
    }

    /// Returns the digits that a comma without a space parts from the digits at `span`, as in the decimal `2,10`.
    fn before_comma(&self, span: Span) -> Option<&str> {
        let before = self.source.text.get(..span.start as usize)?.strip_suffix(',')?;
        let start = before.rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
        before.get(start..).filter(|digits| !digits.is_empty())
    }

    fn span(&self, span: &granit_parser::Span) -> Span {
        let range = span.byte_range().expected("byte offsets, which the parser has for texts");
        Span::new(self.id, range)
    }

    fn refuse(&mut self, code: &'static Code, span: Span, message: String, help: &str) {
        self.diagnostics.push(Diagnostic::at(code, span, message).note(PLAIN_DATA).help(help));
    }

    fn refuse_tag(&mut self, span: Span) {
        let text = self.source.slice(span).to_owned();
        self.refuse(
            &code::KB0107,
            span,
            format!("`{text}` is a YAML tag"),
            "leave the tag out; quote the value if it must be a string",
        );
    }

    fn alias(&mut self, span: Span, defined: Option<Span>) -> Flow {
        let of_merge = matches!(self.stack.last(), Some(Frame::Map { key: Some(key), .. }) if key.text == "<<");
        if !of_merge {
            let text = self.source.slice(span).to_owned();
            let mut fault = Diagnostic::at(&code::KB0106, span, format!("`{text}` is an alias"))
                .note(PLAIN_DATA)
                .help("write the value out; for variation use `parameters` or `matrix`");
            if let Some(defined) = defined {
                fault = fault.related(Place::Span(defined), "the anchor is here");
            }
            self.diagnostics.push(fault);
        }
        self.place(Node { span, value: Value::Null })
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, span: Span) -> Value {
        if style != ScalarStyle::Plain {
            return Value::String(text.to_owned());
        }
        match scalar::classify(text) {
            Plain::Null => Value::Null,
            Plain::Bool(flag) => Value::Bool(flag),
            Plain::Number => Value::Number(text.to_owned()),
            Plain::Text => Value::String(text.to_owned()),
            Plain::Ambiguous(ambiguity) => {
                let quoted = format!("\"{text}\"");
                let is_key = matches!(self.stack.last(), Some(Frame::Map { key: None, .. }));
                let help = match &ambiguity.plain {
                    Some(plain) if !is_key => format!("write `{quoted}` for the text or `{plain}` for the value"),
                    _ => format!("write `{quoted}`"),
                };
                let message = format!("`{text}` is {}", ambiguity.reason);
                self.diagnostics.push(Diagnostic::at(&code::KB0110, span, message).help(help).fix(span, quoted));
                Value::String(text.to_owned())
            }
        }
    }

    fn open(&mut self, span: Span, frame: Frame) -> Flow {
        if self.stack.len() >= MAX_DEPTH {
            self.diagnostics.push(syntax::too_deep(span));
            return Flow::Stop;
        }
        self.stack.push(frame);
        Flow::Go
    }

    fn close(&mut self, end: Span) -> Flow {
        let Some(frame) = self.stack.pop() else { return Flow::Go };
        let (start, value) = match frame {
            // All specs are read before the first is compiled, so that what is held for more entries adds up.
            Frame::Seq { start, mut items } => {
                items.shrink_to_fit();
                (start, Value::Seq(items))
            }
            Frame::Map { start, mut entries, .. } => {
                entries.shrink_to_fit();
                (start, Value::Map(entries))
            }
        };
        let end = self.trimmed_end(start, end.end);
        self.place(Node { span: Span { source: self.id, start, end }, value })
    }

    /// Block collections end where the next token starts; the white space between does not belong to them.
    fn trimmed_end(&self, start: u32, end: u32) -> u32 {
        let text = self.source.text.get(start as usize..end as usize).expected("a collection between characters");
        start + u32::try_from(text.trim_end().len()).expected("a source of less than 4 GiB")
    }

    fn place(&mut self, node: Node) -> Flow {
        self.nodes += 1;
        if self.nodes > MAX_NODES {
            let message = format!("the document holds more than {MAX_NODES} values");
            self.diagnostics
                .push(Diagnostic::at(&code::KB0112, node.span, message).help("split it into several specs"));
            return Flow::Stop;
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Frame::Seq { items, .. }) => items.push(node),
            Some(Frame::Map { entries, key, .. }) => match key.take() {
                Some(pending) if pending.kept => {
                    entries.push(Entry { key: pending.text, key_span: pending.span, value: node });
                }
                Some(_) => {}
                None => self.key(node),
            },
        }
        Flow::Go
    }

    /// Uses `node` as the key of the entry that follows.
    fn key(&mut self, node: Node) {
        let span = node.span;
        let source = self.source.slice(span).to_owned();
        let text = match node.value {
            Value::String(text) => text,
            Value::Number(_) | Value::Bool(_) => {
                let quoted = format!("\"{source}\"");
                let fault = Diagnostic::at(&code::KB0113, span, format!("the key `{source}` is not a string"));
                self.diagnostics.push(match self.before_comma(span) {
                    Some(whole) => fault
                        .note("the comma ends the value before it")
                        .help(format!("write `{whole}.{source}` for a decimal number, with a point")),
                    None => fault.help(format!("write `{quoted}`")).fix(span, quoted),
                });
                source.clone()
            }
            Value::Null | Value::Seq(_) | Value::Map(_) => {
                if !source.starts_with('*') {
                    let fault = Diagnostic::at(&code::KB0113, span, "a key must be a plain or quoted string");
                    let outer = span.range().start.checked_sub(1);
                    let expression = outer.and_then(|at| expression::quoted(&self.source.text, at));
                    self.diagnostics.push(match expression {
                        Some((word, quoted)) => fault
                            .note("YAML reads `{{` as a mapping whose key is a mapping")
                            .help(format!("write `{quoted}`"))
                            .likely_fix(Span::new(self.id, word), quoted),
                        None => fault.help("write `key: value`"),
                    });
                }
                self.pend(PendingKey { text: String::new(), span, kept: false });
                return;
            }
        };
        if text == "<<" && source == "<<" {
            self.refuse(
                &code::KB0106,
                span,
                "`<<` is a merge key".to_owned(),
                "write the fields out; for variation use `parameters` or `matrix`",
            );
            self.pend(PendingKey { text, span, kept: false });
            return;
        }
        let kept = self.first_of_its_name(&text, span);
        self.pend(PendingKey { text, span, kept });
    }

    fn pend(&mut self, pending: PendingKey) {
        if let Some(Frame::Map { key, .. }) = self.stack.last_mut() {
            *key = Some(pending);
        }
    }

    fn first_of_its_name(&mut self, text: &str, span: Span) -> bool {
        let Some(Frame::Map { keys, .. }) = self.stack.last_mut() else { return true };
        let Some(first) = keys.get(text).copied() else {
            keys.insert(text.to_owned(), span);
            return true;
        };
        let fault = Diagnostic::at(&code::KB0105, span, format!("the key `{text}` appears a second time"))
            .label("second")
            .related(Place::Span(first), "first")
            .note("YAML readers disagree on which of them counts")
            .help("delete one of them");
        self.diagnostics.push(fault);
        false
    }

    fn syntax_error(&mut self, error: &ScanError) {
        let offset = error
            .marker()
            .byte_offset()
            .expected("byte offsets, which the parser has for texts")
            .min(self.source.text.len());
        let starts = self.stack.iter().rev().map(|frame| match frame {
            Frame::Seq { start, .. } | Frame::Map { start, .. } => *start as usize,
        });
        let bracket = |start: usize| {
            self.source.text.as_bytes().get(start).filter(|byte| matches!(byte, b'[' | b'{')).map(|byte| (start, *byte))
        };
        let open = starts.take_while(|start| bracket(*start).is_some()).last().and_then(bracket);
        if let Some(fault) = syntax::explain(self.id, self.source, error.kind(), offset, open, self.read_until as usize)
        {
            self.diagnostics.push(fault);
        }
    }
}

#[cfg(test)]
mod tests;
