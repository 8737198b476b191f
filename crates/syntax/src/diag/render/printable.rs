//! Text that is safe on a terminal: characters that would move the cursor, change colors, reorder the line or show
//! nothing are spelled out.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

/// What becomes of line breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LineBreaks {
    Keep,
    Escape,
}

/// Returns true for a character that a reader cannot see, or that a terminal obeys instead of showing.
pub fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{200b}' | '\u{200e}' | '\u{200f}' // soft hyphen, marks of direction
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'         // separators, bidirectional controls
            | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{fffe}' | '\u{ffff}' | '\u{e0000}'..='\u{e007f}'
        )
}

/// Returns `text` with hidden characters as `\n`, `\t`, `\u{1b}` and so on.
pub(super) fn printable(text: &str, line_breaks: LineBreaks) -> Cow<'_, str> {
    let hidden = |c: char| is_hidden(c) && !(c == '\n' && line_breaks == LineBreaks::Keep);
    if !text.contains(hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}
