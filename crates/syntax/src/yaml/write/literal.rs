//! Texts of several lines as literal blocks, so that a changed line of a script is a changed line of a manifest.
//!
//! A block may contain tabs, blanks at the ends of lines and empty lines anywhere. What it cannot contain, or what is invisible
//! in it, is a character; [`obstacle`] finds it. One that begins with a tab is read by everybody, but kustomize and Flux
//! write it out again without saying how deep it is, and then refuse what they wrote.

use serde_json::Value;

use super::{INDENT, indent};

/// How a literal block begins.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Readers measure the indentation at the first line with text, and take blanks before it for part of it: such a
    /// block says how deep it is.
    pub(super) is_measured: bool,
    /// What becomes of the newlines at the end.
    end: End,
}

/// What becomes of the newlines at the end of a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Stripped,
    One,
    Kept,
}

impl Block {
    /// Returns the block that contains `text`; none for one line, for blanks alone, and for what no block can contain.
    pub(super) fn of(text: &str) -> Option<Self> {
        let holds = is_worth_it(text) && obstacle(text).is_none();
        holds.then(|| Self {
            is_measured: !text.starts_with([' ', '\n']),
            end: match text.strip_suffix('\n') {
                None => End::Stripped,
                Some(body) if body.ends_with('\n') => End::Kept,
                Some(_) => End::One,
            },
        })
    }

    /// Writes `text` as this block, with its lines at `column`.
    pub(super) fn write(self, text: &str, column: usize, out: &mut String) {
        out.push('|');
        if !self.is_measured {
            out.push_str(&INDENT.to_string());
        }
        out.push_str(match self.end {
            End::Stripped => "-\n",
            End::One => "\n",
            End::Kept => "+\n",
        });
        for line in text.strip_suffix('\n').unwrap_or(text).split('\n') {
            if !line.is_empty() {
                indent(column, out);
                out.push_str(line);
            }
            out.push('\n');
        }
    }
}

/// Returns the character that keeps `text`, which has several lines, from being a literal block: one that YAML does not
/// print, that a reader treats as a line break, or that is invisible; or a tab at its beginning.
pub fn obstacle(text: &str) -> Option<char> {
    let tab = text.chars().next().filter(|first| *first == '\t');
    is_worth_it(text).then(|| text.chars().find(|&character| !is_held(character)).or(tab)).flatten()
}

/// Returns whether some text of `value` is a literal block now and was in quotes in epoch 1.
pub fn differs_from_epoch_1(value: &Value) -> bool {
    match value {
        Value::String(text) => Block::of(text).is_some() && !was_literal(text),
        Value::Array(items) => items.iter().any(differs_from_epoch_1),
        Value::Object(fields) => fields.values().any(differs_from_epoch_1),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns whether `text` was a literal block in epoch 1: without tabs, blanks at the ends of lines, and blanks or empty
/// lines at either end.
pub(super) fn was_literal(text: &str) -> bool {
    let body = text.strip_suffix('\n').unwrap_or(text);
    Block::of(text).is_some()
        && !text.contains('\t')
        && !body.starts_with([' ', '\n'])
        && !body.ends_with([' ', '\n'])
        && !body.contains(" \n")
}

/// Returns whether `text` has several lines, and something to read in them.
fn is_worth_it(text: &str) -> bool {
    text.contains('\n') && text.chars().any(|character| !matches!(character, ' ' | '\t' | '\n'))
}

fn is_held(character: char) -> bool {
    matches!(character, ' '..='~' | '\n' | '\t') || is_visible(character)
}

/// Returns whether a character is visible as itself: not a control character, not a format character, and not a blank other
/// than the space.
pub(super) fn is_visible(character: char) -> bool {
    match character {
        ' '..='~' => true,
        '\u{A1}'.. => {
            !character.is_whitespace()
                && !matches!(character,
                    '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
                    | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{FFFE}'..='\u{FFFF}'
                    | '\u{E0000}'..='\u{E0FFF}')
        }
        _ => false,
    }
}
