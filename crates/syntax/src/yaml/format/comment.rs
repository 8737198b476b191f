//! Comments: where they are in a text, and how one is spelled.

use std::ops::Range;

use serde_yaml::granit_parser::{self, Event, Parser};

use crate::invariant::Invariant as _;
use crate::yaml::limits::{MAX_BYTES, MAX_DEPTH};

/// What may directly follow `#` because a program looks for exactly that.
const MODELINES: [&str; 5] = ["!", "#", "-*-", "vim:", "yaml-language-server:"];

/// Returns the bytes of every comment of `text`, in order; none when the text cannot be parsed with its comments.
pub(super) fn find(text: &str) -> Option<Vec<Range<usize>>> {
    let options = granit_parser::options! {
        emit_comments: true,
        max_buffered_comment_events: MAX_BYTES,
        flow_nesting_limit: 2 * MAX_DEPTH,
        block_nesting_limit: 2 * MAX_DEPTH,
    };
    let mut found = Vec::new();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.ok()?;
        if matches!(event, Event::Comment(..)) {
            found.push(span.byte_range()?);
        }
    }
    found.sort_unstable_by_key(|range| range.start);
    Some(found)
}

/// Returns what the comments of `text` say, without the white space around it.
pub(super) fn texts<'t>(text: &'t str, comments: &[Range<usize>]) -> Vec<&'t str> {
    comments
        .iter()
        .map(|range| text.get(range.clone()).expected("comments between characters").trim_start_matches('#').trim())
        .collect()
}

/// The spelling of comments on consecutive lines.
#[derive(Debug, Default)]
pub(super) struct Speller {
    /// The last line began directly at its `#`, so that lines indented below it move right with it.
    moved: bool,
}

impl Speller {
    /// Forgets the previous lines: what follows does not continue them.
    pub(super) fn reset(&mut self) {
        self.moved = false;
    }

    /// Returns `comment`, which starts with `#`, with a space after the `#` and no white space at its end.
    pub(super) fn spell(&mut self, comment: &str) -> String {
        let comment = comment.trim_end_matches([' ', '\t']);
        let text = comment.strip_prefix('#').unwrap_or(comment);
        let indented = text.starts_with("  ");
        if text.is_empty() || indented && !self.moved || MODELINES.iter().any(|line| text.starts_with(line)) {
            return comment.to_owned();
        }
        if text.starts_with([' ', '\t']) && !indented {
            self.moved = false;
            return comment.to_owned();
        }
        self.moved = true;
        format!("# {text}")
    }
}
