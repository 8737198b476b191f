//! Mappings and lists in brackets, closed or not.

use std::ops::Range;

use super::{Form, Item, Way};
use kubebench_syntax::yaml::Step;

/// How deep brackets are read.
const DEEPEST: usize = 64;

/// Reads the brackets that begin at byte `at`, and returns where they end: where they are not closed, at the first line that is no further
/// to the right than `column`, which is that of what holds them.
pub(super) fn read(text: &str, at: usize, way: &Way, column: usize, items: &mut Vec<Item>) -> usize {
    let end = end_of_block(text, at, column);
    let mut reader = Reader { text: text.get(..end).unwrap_or(text), at, items };
    reader.collection(way, 0);
    reader.at
}

/// Returns where the lines end that are further to the right than `column`.
fn end_of_block(text: &str, at: usize, column: usize) -> usize {
    let mut start = at;
    for (number, line) in text.get(at..).unwrap_or_default().split_inclusive('\n').enumerate() {
        let content = line.trim_start_matches(' ');
        let is_blank = content.trim().is_empty();
        // A closing bracket may be as far to the left as its key.
        let closes = content.starts_with(['}', ']']) && line.len() - content.len() == column;
        if number > 0 && !is_blank && !closes && line.len() - content.len() <= column {
            break;
        }
        start += line.len();
    }
    start
}

struct Reader<'t, 'i> {
    text: &'t str,
    at: usize,
    items: &'i mut Vec<Item>,
}

impl Reader<'_, '_> {
    fn peek(&self) -> Option<char> {
        self.text.get(self.at..)?.chars().next()
    }

    /// Skips white space and comments.
    fn skip(&mut self) {
        while let Some(letter) = self.peek() {
            if letter.is_whitespace() {
                self.at += letter.len_utf8();
            } else if letter == '#' && self.text.get(..self.at).is_some_and(|before| before.ends_with([' ', '\n'])) {
                let rest = self.text.get(self.at..).unwrap_or_default();
                self.at += rest.find('\n').unwrap_or(rest.len());
            } else {
                break;
            }
        }
    }

    /// Reads a mapping or list.
    fn collection(&mut self, way: &Way, depth: usize) {
        let close = match self.peek() {
            Some('{') => '}',
            Some('[') => ']',
            _ => return,
        };
        self.at += 1;
        let mut count = 0;
        loop {
            self.skip();
            match self.peek() {
                Some(letter) if letter == close => {
                    self.at += 1;
                    return;
                }
                Some(',') => self.at += 1,
                // A bracket of another kind, or the end: this one was never closed.
                None | Some('}' | ']') => return,
                Some(_) if close == '}' => self.entry(way, depth),
                Some(_) => {
                    let element: Way = way.iter().cloned().chain([Step::Index(count)]).collect();
                    count += 1;
                    self.value(element, None, depth);
                }
            }
        }
    }

    fn entry(&mut self, way: &Way, depth: usize) {
        let key = self.scalar(Ends::AtColon);
        self.skip();
        if self.peek() != Some(':') {
            self.items.push(Item { way: way.clone(), key: None, value: key, form: Form::Word });
            // Something that is not a key, such as a bracket.
            if matches!(self.peek(), Some('{' | '[')) {
                self.value(way.clone(), None, depth);
            }
            return;
        }
        self.at += 1;
        let name = self.text.get(key.clone()).unwrap_or_default().to_owned();
        self.skip();
        self.value(way.iter().cloned().chain([Step::Key(name)]).collect(), Some(key), depth);
    }

    fn value(&mut self, way: Way, key: Option<Range<usize>>, depth: usize) {
        let at = self.at;
        if matches!(self.peek(), Some('{' | '[')) {
            self.items.push(Item { way: way.clone(), key, value: at..at, form: Form::Flow });
            if depth < DEEPEST {
                self.collection(&way, depth + 1);
            } else {
                self.at = self.text.len();
            }
            return;
        }
        let value = self.scalar(Ends::Never);
        self.items.push(Item { way, key, value, form: Form::Plain });
    }

    /// Reads a scalar and returns its bytes without quotes.
    fn scalar(&mut self, colon: Ends) -> Range<usize> {
        let start = self.at;
        let rest = self.text.get(start..).unwrap_or_default();
        if let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            let inner = rest.get(1..).unwrap_or_default();
            let line = inner.find('\n').unwrap_or(inner.len());
            let closed = inner.find(quote);
            let length = closed.unwrap_or(line);
            self.at = start + 1 + length + usize::from(closed.is_some());
            return start + 1..start + 1 + length;
        }
        let mut length = 0;
        let mut letters = rest.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            let next = letters.peek().map(|(_, next)| *next);
            let ends_key = letter == ':' && matches!(next, None | Some(' ' | '\n' | ',' | '}' | ']' | '{' | '['));
            let is_end = match letter {
                '\n' | ',' | '[' | ']' => true,
                // `${{ matrix.size }}` is a part of it.
                '{' => !rest.get(..at).is_some_and(|before| before.ends_with('$') || before.ends_with("${")),
                '}' => !is_within_expression(rest.get(..at).unwrap_or_default()),
                '#' => rest.get(..at).is_some_and(|before| before.ends_with(' ')),
                _ => ends_key && colon == Ends::AtColon,
            };
            if is_end {
                break;
            }
            length = at + letter.len_utf8();
        }
        self.at = start + length;
        let trimmed = rest.get(..length).unwrap_or_default().trim_end().len();
        if length == 0 {
            // It is skipped, whatever it is, unless the caller knows it.
            let known = ['\n', ',', '[', ']', '{', '}', ':'];
            self.at += self.peek().filter(|letter| !known.contains(letter)).map_or(0, char::len_utf8);
        }
        start..start + trimmed
    }
}

/// Whether a colon ends a scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ends {
    AtColon,
    Never,
}

fn is_within_expression(before: &str) -> bool {
    before.rfind("${{").is_some_and(|open| {
        let inner = before.get(open..).unwrap_or_default();
        !inner.contains("}}")
    })
}
