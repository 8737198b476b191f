//! Cuts a file into documents as kubectl does: at lines that begin with `---`, regardless of YAML, and a file
//! that begins with `{` into JSON values first.

use std::ops::Range;

use crate::invariant::Invariant as _;
use serde::de::IgnoredAny;

/// The documents of a file.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Stream {
    /// The bytes of each document, without its separator.
    pub(super) parts: Vec<Range<usize>>,
    /// A separator with something behind it, which ends the reading.
    pub(super) refused: Option<Range<usize>>,
}

pub(super) fn split(text: &str) -> Stream {
    let mut stream = Stream::default();
    let start = if text.trim_start().starts_with('{') { json(text, &mut stream.parts) } else { 0 };
    yaml(text, start, &mut stream);
    stream
}

/// Reads JSON values from the start of `text` and returns where they end.
fn json(text: &str, parts: &mut Vec<Range<usize>>) -> usize {
    let mut end = 0;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    while let Some(Ok(_)) = values.next() {
        let start = end + text.get(end..).map_or(0, |rest| rest.len() - rest.trim_start().len());
        end = values.byte_offset();
        parts.push(start..end);
    }
    end
}

fn yaml(text: &str, from: usize, stream: &mut Stream) {
    let mut part = from;
    let mut at = from;
    for line in text.get(from..).expected("a document between characters").split_inclusive('\n') {
        let start = at;
        at += line.len();
        // Behind a JSON value there may be the rest of its line.
        let Some(rest) = line.strip_prefix("---").filter(|_| begins_line(text, start)) else {
            continue;
        };
        push(text, part..start, stream);
        part = at;
        let rest = rest.trim();
        if !(rest.is_empty() || rest.starts_with('#')) {
            stream.refused = Some(start..start + line.trim_end().len());
            return;
        }
    }
    push(text, part..at, stream);
}

fn begins_line(text: &str, at: usize) -> bool {
    text.get(..at).is_some_and(|before| before.is_empty() || before.ends_with('\n'))
}

fn push(text: &str, range: Range<usize>, stream: &mut Stream) {
    let part = text.get(range.clone()).expected("a document between characters");
    // A byte order mark may begin every document.
    let mark = if part.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    if !part.trim().is_empty() {
        stream.parts.push(range.start + mark..range.end);
    }
}
