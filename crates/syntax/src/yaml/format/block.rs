//! Block style: one entry a line, nesting by indentation.

use super::STEP;
use super::page::Page;
use crate::invariant::Invariant as _;
use crate::yaml::{Entry, Node, Value};

/// How a value is written in the source, which is how it stays.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Nothing,
    BlockMap,
    BlockSeq,
    Inline,
}

/// Whether the first line of a collection is already begun, as after `- `.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FirstLine {
    Begun,
    Own,
}

/// The longest explicit key (`? key`) that is rewritten as `key:`; readers look ahead 1,024 characters.
const MAX_SIMPLE_KEY: usize = 500;

impl Page<'_> {
    /// Writes the whole document; a lone scalar is no spec and has no layout.
    pub(super) fn document(&mut self, root: &Node) -> Option<()> {
        match self.shape(root) {
            Shape::BlockMap | Shape::BlockSeq => self.collection(root, 0, FirstLine::Own),
            Shape::Inline => {
                self.start_line(root.span.range().start, 0);
                self.flow(root, 0)
            }
            Shape::Nothing => None,
        }
    }

    /// Judges by the next character, for a sequence's span may start behind its first dash.
    fn shape(&self, node: &Node) -> Shape {
        let next = self.significant(self.content_start()).map(|(_, c)| c);
        match &node.value {
            Value::Null if node.span.range().is_empty() => Shape::Nothing,
            Value::Map(_) if next != Some('{') => Shape::BlockMap,
            Value::Seq(_) if next != Some('[') => Shape::BlockSeq,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Seq(_) | Value::Map(_) => {
                Shape::Inline
            }
        }
    }

    fn collection(&mut self, node: &Node, indent: usize, first_line: FirstLine) -> Option<()> {
        match &node.value {
            Value::Map(entries) => self.map(entries, indent, first_line),
            Value::Seq(items) => self.seq(items, indent, first_line),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        }
    }

    fn map(&mut self, entries: &[Entry], indent: usize, mut first_line: FirstLine) -> Option<()> {
        let column = self.column(self.significant(self.content_start())?.0);
        for entry in entries {
            let (start, first) = self.significant(self.content_start())?;
            if first_line == FirstLine::Own {
                self.start_line(start, indent);
            }
            first_line = FirstLine::Own;
            let key = entry.key_span.range();
            if start == key.start {
                self.scalar(key, indent + STEP);
                self.colon();
                self.value(&entry.value, indent, column)?;
            } else if first == '?' {
                self.explicit_entry(entry, start, indent, column)?;
            } else {
                return None;
            }
        }
        self.closing_comments(indent, column);
        Some(())
    }

    /// `? key` and `: value` on lines of their own, unless `key: value` says the same.
    fn explicit_entry(&mut self, entry: &Entry, start: usize, indent: usize, column: usize) -> Option<()> {
        let key = entry.key_span.range();
        let colon = self.significant(key.end).filter(|(at, c)| *c == ':' && self.ends_indicator(at + 1));
        let (key_start, first) = self.significant(start + 1)?;
        let text = self.source.get(key_start..key.end)?;
        let commented = self.comment_waits_before(colon.map_or(key.end, |(at, _)| at));
        if !commented && !text.contains('\n') && !matches!(first, '|' | '>') && text.len() <= MAX_SIMPLE_KEY {
            self.scalar(key, indent + STEP);
            self.colon();
            return self.value(&entry.value, indent, column);
        }
        self.out.push('?');
        self.at = start + 1;
        let node = Node { span: entry.key_span, value: Value::String(entry.key.clone()) };
        self.inline_after_indicator(&node, indent + STEP, indent + STEP)?;
        let Some((at, _)) = colon else { return Some(()) };
        self.start_line(at, indent);
        self.out.push(':');
        self.at = at + 1;
        self.value(&entry.value, indent, column)
    }

    fn ends_indicator(&self, at: usize) -> bool {
        self.source.get(at..).is_none_or(|rest| rest.is_empty() || rest.starts_with([' ', '\n', '\t']))
    }

    /// Writes `:` and moves past the one in the source, if there is one.
    fn colon(&mut self) {
        self.out.push(':');
        if let Some((at, ':')) = self.significant(self.at) {
            self.at = at + 1;
        }
    }

    fn value(&mut self, node: &Node, indent: usize, column: usize) -> Option<()> {
        match self.shape(node) {
            Shape::Nothing => {
                self.closing_comments(indent + STEP, column + 1);
                Some(())
            }
            Shape::BlockMap => self.collection(node, indent + STEP, FirstLine::Own),
            Shape::BlockSeq => {
                let Value::Seq(items) = &node.value else { return None };
                self.seq_under(items, indent + STEP, column)
            }
            Shape::Inline => self.inline_after_indicator(node, indent + STEP, indent),
        }
    }

    fn seq(&mut self, items: &[Node], indent: usize, first_line: FirstLine) -> Option<()> {
        let column = self.column(self.significant(self.content_start())?.0);
        self.items(items, indent, first_line)?;
        self.closing_comments(indent, column);
        Some(())
    }

    /// A sequence below a key at `parent`: if both are in one column, so are comments about the next key.
    fn seq_under(&mut self, items: &[Node], indent: usize, parent: usize) -> Option<()> {
        let column = self.column(self.significant(self.at)?.0).max(parent + 1);
        self.items(items, indent, FirstLine::Own)?;
        self.closing_comments(indent, column);
        Some(())
    }

    fn items(&mut self, items: &[Node], indent: usize, mut first_line: FirstLine) -> Option<()> {
        for item in items {
            let (dash, '-') = self.significant(self.content_start())? else { return None };
            if first_line == FirstLine::Own {
                self.start_line(dash, indent);
            }
            first_line = FirstLine::Own;
            self.out.push('-');
            let column = self.column(dash);
            self.at = dash + 1;
            match self.shape(item) {
                Shape::Nothing => self.closing_comments(indent + STEP, column + 1),
                Shape::Inline => self.inline_after_indicator(item, indent + STEP, indent + STEP)?,
                Shape::BlockMap | Shape::BlockSeq => {
                    let (start, _) = self.significant(self.at)?;
                    let first_line = if self.comment_waits_before(start) {
                        FirstLine::Own
                    } else {
                        self.out.push(' ');
                        FirstLine::Begun
                    };
                    self.collection(item, indent + STEP, first_line)?;
                }
            }
        }
        Some(())
    }

    /// Where the next token may be looked for: behind markers of the document's start, or of the end of one before it.
    fn content_start(&self) -> usize {
        let mut at = self.at;
        while let Some((marker, '-' | '.')) = self.significant(at)
            && self.is_marker(marker)
        {
            at = marker + "---".len();
        }
        at
    }

    fn is_marker(&self, at: usize) -> bool {
        let rest = self.source.get(at..).expected("an offset between characters");
        let after = rest.strip_prefix("---").or_else(|| rest.strip_prefix("..."));
        self.column(at) == 0 && after.is_some_and(|after| after.is_empty() || after.starts_with([' ', '\n', '\t']))
    }

    /// Writes a scalar or flow collection after `:`, `-` or `?`; `base` is the column of its closing bracket.
    fn inline_after_indicator(&mut self, node: &Node, indent: usize, base: usize) -> Option<()> {
        let (start, first) = self.significant(self.at)?;
        let commented = self.comments_before(start, indent);
        let lines_of_its_own = match node.value {
            Value::Map(_) | Value::Seq(_) => false,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                !matches!(first, '|' | '>') && self.source.get(node.span.range())?.contains('\n')
            }
        };
        if commented || lines_of_its_own && self.gap(start).contains('\n') {
            self.line_break(start, indent);
        } else {
            self.out.push(' ');
        }
        match &node.value {
            Value::Map(_) | Value::Seq(_) => self.flow(node, if commented { indent } else { base }),
            Value::String(value) if matches!(first, '|' | '>') => self.block_scalar(start, value, indent),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.scalar(node.span.range(), indent);
                Some(())
            }
        }
    }
}
