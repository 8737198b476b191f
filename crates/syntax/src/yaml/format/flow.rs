//! Flow style: `[a, b]` and `{a: 1}`. Line breaks between elements stay where they are.

use super::STEP;
use super::page::Page;
use crate::yaml::{Entry, Node, Value};

/// How an element ended, which decides how the next bracket or comma joins it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// By a value.
    Value,
    /// By `:` with nothing behind it; a space keeps the colon from its neighbor.
    Colon,
}

impl Page<'_> {
    /// Writes the flow collection `node`; its elements are one level right of `base`, its closing bracket at `base`.
    pub(super) fn flow(&mut self, node: &Node, base: usize) -> Option<()> {
        let span = node.span.range();
        let close = span.end.checked_sub(1)?;
        let brackets = (self.source.get(span.start..=span.start)?, self.source.get(close..span.end)?);
        if !matches!(brackets, ("[", "]") | ("{", "}")) {
            return None;
        }
        self.out.push_str(brackets.0);
        self.at = span.start + 1;
        let indent = base + STEP;
        let mut end = None;
        match &node.value {
            Value::Seq(items) => {
                for item in items {
                    let start = self.element_start(item);
                    self.separate(end, start, indent);
                    end = Some(self.element(item, indent)?);
                }
            }
            Value::Map(entries) => {
                for entry in entries {
                    self.separate(end, entry.key_span.range().start, indent);
                    end = Some(self.flow_entry(entry, indent)?);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        }
        let commented = self.comment_waits_before(close);
        let broken = commented || end.is_some() && self.gap(close).contains('\n');
        if broken && end.is_some() && self.has_comma_before(close) {
            self.comma(end);
        } else if !broken && end == Some(End::Colon) {
            self.out.push(' ');
        }
        if broken {
            self.comments_before(close, indent);
            self.line_break(close, base);
        }
        self.out.push_str(brackets.1);
        self.at = span.end;
        Some(())
    }

    /// A single pair in a sequence (`[a: 1]`) starts at its key.
    fn element_start(&self, item: &Node) -> usize {
        let start = item.span.range().start;
        match &item.value {
            Value::Map(entries) if !self.is_at(start, '{') => {
                entries.first().map_or(start, |entry| entry.key_span.range().start)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Seq(_) | Value::Map(_) => start,
        }
    }

    fn is_at(&self, at: usize, c: char) -> bool {
        self.source.get(at..).is_some_and(|rest| rest.starts_with(c))
    }

    fn separate(&mut self, before: Option<End>, start: usize, indent: usize) {
        if before.is_some() {
            self.comma(before);
        }
        let commented = self.comments_before(start, indent);
        if commented || self.gap(start).contains('\n') {
            self.line_break(start, indent);
        } else if before.is_some() {
            self.out.push(' ');
        }
    }

    fn comma(&mut self, end: Option<End>) {
        self.out.push_str(if end == Some(End::Colon) { " ," } else { "," });
    }

    fn has_comma_before(&self, close: usize) -> bool {
        let mut at = self.at;
        while let Some((found, c)) = self.significant(at).filter(|(found, _)| *found < close) {
            if c == ',' {
                return true;
            }
            at = found + c.len_utf8();
        }
        false
    }

    fn element(&mut self, node: &Node, indent: usize) -> Option<End> {
        match &node.value {
            Value::Map(entries) if !self.is_at(node.span.range().start, '{') => {
                let [entry] = entries.as_slice() else { return None };
                if self.colon_after(entry).is_none() {
                    self.out.push_str("? ");
                }
                return self.flow_entry(entry, indent);
            }
            Value::Map(_) | Value::Seq(_) => self.flow(node, indent)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                self.scalar(node.span.range(), indent + STEP);
            }
        }
        Some(End::Value)
    }

    fn flow_entry(&mut self, entry: &Entry, indent: usize) -> Option<End> {
        let key = entry.key_span.range();
        let colon = self.colon_after(entry);
        let long = self.source.get(key.clone())?.contains('\n');
        if long && colon.is_some() && self.gap(key.start).trim_end().ends_with('?') {
            self.out.push_str("? ");
        }
        self.scalar(key, indent + STEP);
        let Some(colon) = colon else { return Some(End::Value) };
        self.out.push(':');
        let value = entry.value.span.range();
        if entry.value.value == Value::Null && value.is_empty() {
            if !self.comment_waits_before(colon) {
                self.at = colon + 1;
            }
            return Some(End::Colon);
        }
        if self.comments_before(value.start, indent + STEP) {
            self.line_break(value.start, indent + STEP);
            return self.element(&entry.value, indent + STEP);
        }
        self.out.push(' ');
        self.element(&entry.value, indent)
    }

    fn colon_after(&self, entry: &Entry) -> Option<usize> {
        self.significant(entry.key_span.range().end).filter(|(_, c)| *c == ':').map(|(at, _)| at)
    }
}
