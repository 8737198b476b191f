//! Builds the tree of one document from the parser's events: anchors copied, merge keys merged, the last of equal keys kept.

use std::collections::BTreeMap;
use std::ops::Range;

use serde_yaml::granit_parser::{self, ErrorKind, Event, Parser, ScalarStyle, ScanError};

use super::scalar::{self, Scalar, Tag};
use super::template;
use crate::diag::{Diagnostic, Place, code};
use crate::invariant::Invariant as _;
use crate::text::{Source, SourceId, Span};
use crate::yaml::limits::{MAX_MANIFEST_COPIES, MAX_MANIFEST_DEPTH, MAX_MANIFEST_NODES};
use crate::yaml::node::{Entry, Node, Value};
use crate::yaml::{quote, syntax};

/// One document, without a root when it is empty or an error was found.
#[derive(Debug, Default)]
pub(super) struct Document {
    pub(super) root: Option<Node>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// What the documents of a file have used of its limits.
#[derive(Debug, Default)]
pub(super) struct Budget {
    nodes: usize,
    copied: usize,
}

/// Reads the document `part` of `source`.
pub(super) fn document(id: SourceId, source: &Source, part: &Range<usize>, budget: &mut Budget) -> Document {
    let text = source.text.get(part.clone()).expected("documents between characters");
    let mut builder = Builder {
        id,
        source,
        part: part.clone(),
        budget,
        stack: Vec::new(),
        root: None,
        anchors: BTreeMap::new(),
        read_until: part.start,
        diagnostics: Vec::new(),
    };
    let options = granit_parser::options! {
        emit_comments: false,
        emit_unresolved_aliases: true,
        disallow_directives: true,
        flow_nesting_limit: 2 * MAX_MANIFEST_DEPTH,
        block_nesting_limit: 2 * MAX_MANIFEST_DEPTH,
    };
    let mut documents = 0;
    for event in Parser::new_from_str_with_options(text, options) {
        let done = match event {
            Ok((Event::DocumentStart(..), span)) if documents > 0 => {
                builder.ignored(&span);
                break;
            }
            Ok((Event::DocumentStart(..), _)) => {
                documents += 1;
                Ok(())
            }
            Ok((event, span)) => builder.event(event, &span),
            Err(error) => Err(Box::new(builder.syntax_error(&error))),
        };
        if let Err(fault) = done {
            // A text that does not parse has one finding: warnings about what precedes it would hide it.
            builder.diagnostics = vec![*fault];
            builder.root = None;
            break;
        }
    }
    Document { root: builder.root, diagnostics: builder.diagnostics }
}

/// Nothing, or the error that ends the reading.
type Step = Result<(), Box<Diagnostic>>;

struct Builder<'s> {
    id: SourceId,
    source: &'s Source,
    part: Range<usize>,
    budget: &'s mut Budget,
    stack: Vec<Frame>,
    root: Option<Node>,
    anchors: BTreeMap<usize, Anchor>,
    /// The end of the last scalar: what follows is outside of quotes.
    read_until: usize,
    diagnostics: Vec<Diagnostic>,
}

/// A collection that is still open.
struct Frame {
    start: u32,
    anchor: usize,
    open: Open,
}

enum Open {
    Seq(Vec<Node>),
    Map { map: Mapping, key: Option<Key> },
}

/// The entries so far, each key once.
#[derive(Default)]
struct Mapping {
    entries: Vec<Entry>,
    index: BTreeMap<String, (usize, Origin)>,
}

/// How an entry came into its mapping.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Written,
    Merged,
}

/// What a node is as a key.
#[derive(Clone)]
enum Key {
    Text(String, Span),
    Merge(Span),
    /// A list, a mapping, nothing, or a number over 2^63.
    Refused,
}

/// A node that has a name, for its aliases.
struct Anchor {
    node: Node,
    key: Key,
    size: Size,
}

/// What a copy of a node adds.
#[derive(Clone, Copy, Default)]
struct Size {
    nodes: usize,
    bytes: usize,
    depth: usize,
}

impl Size {
    fn of(node: &Node) -> Self {
        let mut size = Self { nodes: 1, bytes: 0, depth: 0 };
        let mut add = |inner: Self| {
            size.nodes += inner.nodes;
            size.bytes += inner.bytes;
            size.depth = size.depth.max(inner.depth + 1);
        };
        match &node.value {
            Value::Seq(items) => items.iter().for_each(|item| add(Self::of(item))),
            Value::Map(entries) => entries.iter().for_each(|entry| {
                let inner = Self::of(&entry.value);
                add(Self { bytes: inner.bytes + entry.key.len(), ..inner });
            }),
            Value::String(text) | Value::Number(text) => size.bytes = text.len(),
            Value::Null | Value::Bool(_) => {}
        }
        size
    }
}

impl Mapping {
    /// Sets `entry`; returns the place of the equal key that it replaces, and how that one came here.
    fn set(&mut self, entry: Entry, origin: Origin) -> Option<(Span, Origin)> {
        if let Some((at, before)) = self.index.get_mut(&entry.key) {
            let replaced = std::mem::replace(before, origin);
            let earlier = self.entries.get_mut(*at)?;
            return Some((std::mem::replace(earlier, entry).key_span, replaced));
        }
        self.index.insert(entry.key.clone(), (self.entries.len(), origin));
        self.entries.push(entry);
        None
    }
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, at: &granit_parser::Span) -> Step {
        let span = self.span(at);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.read_until = span.range().end;
                let tag = tag.map(|tag| named(tag.handle(), tag.suffix()));
                let (value, key) = self.scalar(&text, style, tag, span)?;
                let node = Node { span, value };
                self.anchor(anchor, &node, &key)?;
                self.place(node, key)
            }
            Event::SequenceStart(_, anchor, _) => {
                self.open(span, Frame { start: span.start, anchor, open: Open::Seq(Vec::new()) })
            }
            Event::MappingStart(_, anchor, _) => {
                let open = Open::Map { map: Mapping::default(), key: None };
                self.open(span, Frame { start: span.start, anchor, open })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(span),
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => {
                let fault = refusal(span, format!("no anchor `&{name}` precedes this alias"));
                Err(Box::new(fault.help("write the value out; anchors do not reach across `---`")))
            }
            _ => Ok(()),
        }
    }

    fn span(&self, span: &granit_parser::Span) -> Span {
        let range = span.byte_range().expected("byte offsets, which the parser has for texts");
        Span::new(self.id, self.part.start + range.start..self.part.start + range.end)
    }

    fn scalar(
        &mut self,
        text: &str,
        style: ScalarStyle,
        tag: Option<Named>,
        span: Span,
    ) -> Result<(Value, Key), Box<Diagnostic>> {
        if style == ScalarStyle::Plain && self.in_flow() {
            self.refuse_flow_mark(span)?;
        }
        let read = match tag {
            None if style == ScalarStyle::Plain => scalar::plain(text),
            Some(Named::Tag(tag)) => scalar::tagged(tag, text).map_err(|wanted| {
                let fault = refusal(span, format!("`{text}` is not {wanted}, as its tag says"));
                Box::new(fault.help("leave the tag out, or correct the value"))
            })?,
            None | Some(Named::Merge | Named::Any) => Scalar::Text(text.to_owned()),
        };
        let plain_merge = style == ScalarStyle::Plain && matches!(tag, None | Some(Named::Any));
        let key = if text == "<<" && (plain_merge || matches!(tag, Some(Named::Merge))) {
            Key::Merge(span)
        } else {
            read.key().map_or(Key::Refused, |text| Key::Text(text, span))
        };
        if let Some(value) = read.value() {
            return Ok((value, key));
        }
        if self.expects_key() {
            return Ok((Value::Null, key));
        }
        let fault = refusal(span, format!("`{text}` is a number that JSON cannot hold"));
        Err(Box::new(fault.help(format!("write `\"{text}\"` for the text"))))
    }

    fn in_flow(&self) -> bool {
        let start = self.stack.last().and_then(|frame| self.source.text.as_bytes().get(frame.start as usize));
        start.is_some_and(|byte| matches!(byte, b'[' | b'{'))
    }

    /// Refuses what YAML 1.1 and the parser part differently inside of brackets: `{?a: 1}` and `{a:}`.
    fn refuse_flow_mark(&self, span: Span) -> Step {
        let behind = self.source.text.get(span.range().end..).expected("a node between characters");
        let message = if self.source.slice(span).starts_with('?') {
            "kubectl reads this `?` as the mark of a key"
        } else if behind.strip_prefix(':').is_some_and(|behind| behind.starts_with([',', '}', ']'])) {
            "kubectl reads the `:` after this as a part of the text"
        } else {
            return Ok(());
        };
        Err(Box::new(Diagnostic::at(&code::KB0120, span, message).help("quote it, and write a space after its `:`")))
    }

    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Frame { open: Open::Map { key: None, .. }, .. }))
    }

    fn open(&mut self, span: Span, frame: Frame) -> Step {
        if self.stack.len() >= MAX_MANIFEST_DEPTH {
            return Err(Box::new(too_deep(span)));
        }
        self.stack.push(frame);
        Ok(())
    }

    fn close(&mut self, end: Span) -> Step {
        let Some(Frame { start, anchor, open }) = self.stack.pop() else { return Ok(()) };
        let value = match open {
            Open::Seq(items) => Value::Seq(items),
            Open::Map { map, .. } => Value::Map(map.entries),
        };
        // Block collections end where the next token starts; the white space between does not belong to them.
        let text = self.source.text.get(start as usize..end.end as usize).expected("a collection between characters");
        let node = Node { span: Span::new(self.id, start as usize..start as usize + text.trim_end().len()), value };
        self.anchor(anchor, &node, &Key::Refused)?;
        self.place(node, Key::Refused)
    }

    /// Keeps a copy of a node that has a name.
    fn anchor(&mut self, anchor: usize, node: &Node, key: &Key) -> Step {
        if anchor != 0 {
            let size = Size::of(node);
            self.spend(size, node.span)?;
            self.anchors.insert(anchor, Anchor { node: node.clone(), key: key.clone(), size });
        }
        Ok(())
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Step {
        let Some(Anchor { node, key, size }) = self.anchors.get(&anchor) else {
            let fault = refusal(span, "this alias is inside the value that it refers to".to_owned());
            return Err(Box::new(fault.help("write the value out")));
        };
        let size = *size;
        if self.stack.len() + size.depth > MAX_MANIFEST_DEPTH {
            return Err(Box::new(too_deep(span)));
        }
        // An alias of `<<` is text.
        let key = match key {
            Key::Text(text, _) => Key::Text(text.clone(), span),
            Key::Merge(_) => Key::Text("<<".to_owned(), span),
            Key::Refused => Key::Refused,
        };
        // Copies are made only within the budget, so that nothing too large is ever copied.
        let within = self.budget.nodes + size.nodes <= MAX_MANIFEST_NODES
            && self.budget.copied + size.bytes <= MAX_MANIFEST_COPIES;
        let copy = within.then(|| node.clone());
        self.spend(size, span)?;
        copy.map_or(Ok(()), |copy| self.place(copy, key))
    }

    fn spend(&mut self, size: Size, span: Span) -> Step {
        self.budget.nodes += size.nodes;
        self.budget.copied += size.bytes;
        if self.budget.nodes <= MAX_MANIFEST_NODES && self.budget.copied <= MAX_MANIFEST_COPIES {
            return Ok(());
        }
        let message = if self.budget.nodes > MAX_MANIFEST_NODES {
            format!("the file holds more than {MAX_MANIFEST_NODES} values, with anchors written out")
        } else {
            format!("the aliases of the file copy more than {MAX_MANIFEST_COPIES} bytes (16 MiB)")
        };
        Err(Box::new(Diagnostic::at(&code::KB0112, span, message).help("split the file, or use fewer aliases")))
    }

    fn place(&mut self, node: Node, as_key: Key) -> Step {
        self.spend(Size { nodes: 1, ..Size::default() }, node.span)?;
        match self.stack.last_mut().map(|frame| &mut frame.open) {
            None => self.root = Some(node),
            Some(Open::Seq(items)) => items.push(node),
            Some(Open::Map { key, .. }) => match key.take() {
                None => {
                    let (key, warning) = self.key(&node, as_key)?;
                    self.diagnostics.extend(warning);
                    if let Some(Open::Map { key: pending, .. }) = self.stack.last_mut().map(|frame| &mut frame.open) {
                        *pending = Some(key);
                    }
                }
                Some(Key::Text(text, span)) => {
                    self.set(Entry { key: text, key_span: span, value: node }, span, Origin::Written);
                }
                Some(Key::Merge(span)) => self.merge(node, span)?,
                Some(Key::Refused) => {}
            },
        }
        Ok(())
    }

    /// Validates `node` as a key, with a warning if kubectl changes its text.
    fn key(&self, node: &Node, as_key: Key) -> Result<(Key, Option<Diagnostic>), Box<Diagnostic>> {
        let written = self.source.slice(node.span);
        match &as_key {
            Key::Merge(_) => Ok((as_key, None)),
            Key::Text(text, span) => {
                let plain = !written.starts_with(['"', '\'', '|', '>', '*']);
                let same = !plain || matches!(node.value, Value::String(_)) || text == written;
                let warning = (!same).then(|| {
                    let fault = odd(*span, format!("kubectl reads the key `{written}` as `{text}`"));
                    fault.help(format!("write `\"{written}\"` for the text"))
                });
                Ok((as_key, warning))
            }
            Key::Refused => {
                let start = node.span.range().start;
                let templated =
                    written.starts_with('{').then(|| template::find(&self.source.text, self.part.clone(), start));
                Err(Box::new(templated.flatten().map_or_else(
                    || {
                        let kind = if matches!(node.value, Value::Null) { "null" } else { node.type_name() };
                        refusal(node.span, format!("{kind} cannot be a key of a Kubernetes object"))
                            .help("write `key: value`, and quote the key if it is text")
                    },
                    |found| self.placeholder(found),
                )))
            }
        }
    }

    fn set(&mut self, entry: Entry, at: Span, origin: Origin) {
        let Some(Frame { open: Open::Map { map, .. }, .. }) = self.stack.last_mut() else { return };
        let name = entry.key.clone();
        let fault = match (map.set(entry, origin), origin) {
            (Some((first, Origin::Written)), Origin::Written) => {
                Diagnostic::at(&code::KB0118, at, format!("the key `{name}` appears a second time"))
                    .label("kubectl takes this one")
                    .related(Place::Span(first), "and ignores this one")
                    .help("delete the wrong one")
            }
            (Some((first, Origin::Written)), Origin::Merged) => {
                odd(at, format!("this `<<` replaces the `{name}` before it"))
                    .related(Place::Span(first), "replaced")
                    .note("kubectl keeps the later one; other YAML readers keep the one that the mapping itself has")
                    .help("write `<<` first in its mapping")
            }
            _ => return,
        };
        self.diagnostics.push(fault);
    }

    /// Merges the entries of a mapping, or of a list of mappings of which the first takes precedence.
    fn merge(&mut self, node: Node, at: Span) -> Step {
        let maps = match node.value {
            Value::Map(_) => vec![node],
            Value::Seq(items) if items.iter().all(|item| matches!(item.value, Value::Map(_))) => items,
            _ => {
                let fault = refusal(at, "`<<` needs a mapping or a list of mappings".to_owned());
                return Err(Box::new(fault.help("write `<<: *name`, where `&name` marks a mapping")));
            }
        };
        for map in maps.into_iter().rev() {
            let Value::Map(entries) = map.value else { continue };
            for entry in entries {
                self.set(entry, at, Origin::Merged);
            }
        }
        Ok(())
    }

    /// Says that a further document, behind `...`, is not read.
    fn ignored(&mut self, at: &granit_parser::Span) {
        let span = self.span(at);
        let fault = odd(span, "kubectl does not read what follows `...`".to_owned());
        self.diagnostics.push(fault.help("write `---` on a separate line before each document"));
    }

    fn placeholder(&self, found: template::Placeholder) -> Diagnostic {
        let span = Span::new(self.id, found.range);
        let (note, help) = found.engine.advice();
        let message = format!("`{}` is a placeholder, so this is not YAML", self.source.slice(span));
        Diagnostic::at(&code::KB0117, span, message).note(note).help(help)
    }

    fn syntax_error(&self, error: &ScanError) -> Diagnostic {
        let text = &self.source.text;
        let read = text.get(self.part.start..self.part.end).expected("documents between characters").trim_end().len();
        let offset = (self.part.start
            + error.marker().byte_offset().expected("byte offsets, which the parser has for texts"))
        .min(self.part.start + read);
        if *error.kind() == ErrorKind::RecursionLimitExceeded {
            return too_deep(Span::new(self.id, offset..offset));
        }
        if *error.kind() == ErrorKind::InvalidQuotedScalarIndent
            && let Some(at) = quote::opening(text, self.read_until, offset)
        {
            let message = "this quote is not closed, or a further line of the text is not indented deeper than its key";
            let fault = Diagnostic::at(&code::KB0104, Span::new(self.id, at..at + 1), message);
            let line = Span::new(self.id, offset..offset);
            return fault.related(Place::Span(line), "this line").help("close the quote, or indent the line");
        }
        let bracket = |frame: &Frame| {
            let start = frame.start as usize;
            text.as_bytes().get(start).filter(|byte| matches!(byte, b'[' | b'{')).map(|byte| (start, *byte))
        };
        let open = self.stack.iter().rev().map(bracket).take_while(Option::is_some).last().flatten();
        let fault = syntax::explain(self.id, self.source, error.kind(), offset, open, self.read_until);
        let about_lookup = fault.as_ref().is_some_and(|fault| match fault.place {
            Place::Span(span) => self.source.slice(span) == "${{",
            Place::File(_) | Place::Line(..) => false,
        });
        if let (false, Some(found)) = (about_lookup, template::find(text, self.part.clone(), offset)) {
            return self.placeholder(found);
        }
        fault.unwrap_or_else(|| {
            Diagnostic::at(&code::KB0104, Span::new(self.id, offset..offset), error.kind().to_string())
        })
    }
}

/// The meaning of a tag for a scalar.
#[derive(Clone, Copy)]
enum Named {
    Tag(Tag),
    Merge,
    /// `!`: text.
    Any,
}

fn named(handle: &str, suffix: &str) -> Named {
    const CORE: &str = "tag:yaml.org,2002:";
    let whole = format!("{handle}{suffix}");
    match whole.strip_prefix(CORE) {
        Some("merge") => Named::Merge,
        Some(suffix) => Named::Tag(Tag::named(suffix)),
        None if whole == "!" => Named::Any,
        None => Named::Tag(Tag::Other),
    }
}

fn refusal(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0120, span, message).note("kubectl refuses the file for this")
}

fn odd(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0119, span, message)
}

fn too_deep(span: Span) -> Diagnostic {
    let message = format!("the document nests deeper than {MAX_MANIFEST_DEPTH} levels");
    Diagnostic::at(&code::KB0112, span, message).help("flatten it; no Kubernetes object needs this depth")
}
