//! A part of a comment with a maximum size in bytes: an item is whole or is counted.

use kubebench_syntax::text::grouped;
use kubebench_syntax::words::counted;

/// A part of a comment.
pub(super) struct Section {
    pub(super) text: String,
    /// How many items had no room.
    pub(super) left_out: usize,
    longest: usize,
}

impl Section {
    /// Begins with a heading.
    pub(super) fn new(text: String, longest: usize) -> Self {
        Self { text, left_out: 0, longest }
    }

    /// Adds what always has room.
    pub(super) fn also(&mut self, text: &str) {
        self.text.push_str(text);
    }

    /// Adds an item if there is room for it and for all before it.
    pub(super) fn item(&mut self, text: &str) {
        if self.left_out > 0 || self.text.len() + text.len() > self.longest {
            self.left_out += 1;
        } else {
            self.text.push_str(text);
        }
    }
}

/// Ends a part with the number of what had no room.
pub(super) fn finished(section: Section, left_out: usize, noun: &str) -> String {
    let mut text = section.text;
    if left_out > 0 {
        text.push_str(&format!(
            "- and {} more: `kubebench plan --since` lists all\n",
            counted(grouped(left_out as u64), noun)
        ));
    }
    text
}
