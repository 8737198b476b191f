//! A text as the client has opened it.

use lsp_types::TextDocumentContentChangeEvent;

use crate::position::{Encoding, Lines};

/// An open text, with `\n` line ends: a position is the same in the text of the client.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    text: String,
    lines: Lines,
    encoding: Encoding,
    line_end: LineEnd,
}

/// How lines of the text of the client end.
#[derive(Clone, Copy, Debug)]
enum LineEnd {
    Lf,
    CrLf,
}

impl Document {
    pub(crate) fn new(text: &str, encoding: Encoding) -> Self {
        let line_end = if text.contains("\r\n") { LineEnd::CrLf } else { LineEnd::Lf };
        let text = with_line_ends(text.strip_prefix('\u{feff}').unwrap_or(text).to_owned());
        Self { lines: Lines::of(&text, encoding), text, encoding, line_end }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Returns a text with the line ends that the client's text has.
    pub(crate) fn as_written(&self, text: &str) -> String {
        match self.line_end {
            LineEnd::Lf => text.to_owned(),
            LineEnd::CrLf => text.replace('\n', "\r\n"),
        }
    }

    /// Makes the changes, in their order.
    pub(crate) fn change(&mut self, changes: Vec<TextDocumentContentChangeEvent>) {
        for TextDocumentContentChangeEvent { range, text, .. } in changes {
            let Some(range) = range else {
                *self = Self::new(&text, self.encoding);
                continue;
            };
            let start = self.lines.offset(&self.text, range.start);
            let end = self.lines.offset(&self.text, range.end).max(start);
            self.text.replace_range(start..end, &text);
            self.text = with_line_ends(std::mem::take(&mut self.text));
            self.lines = Lines::of(&self.text, self.encoding);
        }
    }
}

fn with_line_ends(text: String) -> String {
    if text.contains("\r\n") { text.replace("\r\n", "\n") } else { text }
}
