//! The structure of a YAML text, also of a broken one, as it is most of the time while somebody types.
//!
//! Levels are read off the indentation, line by line, and within brackets by these. Nothing here decides whether a text is right.

mod flow;

use std::ops::Range;

use kubebench_syntax::yaml::Step;

/// The way to a value.
pub(crate) type Way = Vec<Step>;

/// Something that a text has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    /// The path to its value; for a loose word the path to its container.
    pub(crate) way: Way,
    /// The bytes of the key, where it has one.
    pub(crate) key: Option<Range<usize>>,
    /// The bytes of its scalar, without quotes; empty where it has none.
    pub(crate) value: Range<usize>,
    pub(crate) form: Form,
}

/// What an item is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// A key or an element with a scalar, or with what is on the lines below.
    Plain,
    /// A text on the lines below, after `|` or `>`.
    Literal,
    /// A mapping or list in brackets.
    Flow,
    /// A word without a colon where a key could be.
    Word,
}

/// All that a text has, in its order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outline {
    pub(crate) items: Vec<Item>,
}

impl Outline {
    pub(crate) fn of(text: &str) -> Self {
        let mut reader = Reader { text, items: Vec::new(), levels: Vec::new(), literal: None, resume: 0 };
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            reader.line(start, line);
            start += line.len();
        }
        Self { items: reader.items }
    }

    /// Returns the first item at `way`.
    pub(crate) fn at(&self, way: &[Step]) -> Option<&Item> {
        self.items.iter().find(|item| item.way == way && item.form != Form::Word)
    }

    /// Returns the text at a way of keys.
    pub(crate) fn text<'t>(&self, text: &'t str, keys: &[&str]) -> Option<&'t str> {
        let way: Way = keys.iter().map(|key| Step::from(*key)).collect();
        text.get(self.at(&way)?.value.clone()).filter(|text| !text.is_empty())
    }

    /// Iterates over the items one step below the way of `keys`.
    pub(crate) fn below<'o>(&'o self, keys: &'o [&'o str]) -> impl Iterator<Item = &'o Item> {
        self.items.iter().filter(move |item| {
            item.form != Form::Word && item.way.len() == keys.len() + 1 && begins_with(&item.way, keys)
        })
    }
}

/// Returns whether a way begins with these keys, where `*` is any step.
pub(crate) fn begins_with(way: &[Step], keys: &[&str]) -> bool {
    way.len() >= keys.len() && keys.iter().zip(way).all(|(key, step)| *key == "*" || *step == Step::from(*key))
}

/// Returns whether a way ends with these keys, where `*` is any step.
pub(crate) fn ends_with(way: &[Step], keys: &[&str]) -> bool {
    way.get(way.len().wrapping_sub(keys.len())..).is_some_and(|end| begins_with(end, keys))
}

/// A mapping or list that is open.
struct Level {
    column: usize,
    way: Way,
    holds: Holds,
}

enum Holds {
    /// The keys of a mapping, and the way to the last.
    Keys { last: Way },
    /// The elements of a list, and how many.
    Elements { count: usize },
}

struct Reader<'t> {
    text: &'t str,
    items: Vec<Item>,
    levels: Vec<Level>,
    /// The column of the key whose text is on these lines.
    literal: Option<usize>,
    /// Where brackets ended that began on an earlier line.
    resume: usize,
}

impl Reader<'_> {
    fn line(&mut self, start: usize, line: &str) {
        let content = line.trim_end_matches(['\n', '\r']);
        let column = content.len() - content.trim_start_matches(' ').len();
        let rest = content.get(column..).unwrap_or_default();
        let is_blank = rest.trim().is_empty();
        if let Some(owner) = self.literal {
            if is_blank || column > owner {
                let end = start + content.len();
                if let Some(item) = self.items.last_mut().filter(|_| !is_blank) {
                    item.value.end = end;
                }
                return;
            }
            self.literal = None;
        }
        if start < self.resume || is_blank || rest.starts_with('#') || content.starts_with("---") || content == "..." {
            return;
        }
        self.content(start + column, column, rest);
    }

    /// Reads what is on a line from its first letter on: dashes, and then a key, a scalar or brackets.
    fn content(&mut self, at: usize, column: usize, rest: &str) {
        let (mut at, mut column, mut rest) = (at, column, rest);
        let mut base: Option<Way> = None;
        while rest == "-" || rest.starts_with("- ") {
            let way = self.element(column, base.take());
            let after = rest.get(1..).unwrap_or_default();
            let content = after.trim_start_matches(' ');
            let width = 1 + after.len() - content.len();
            if content.is_empty() || content.starts_with('#') {
                let end = at + rest.len().min(1);
                self.items.push(Item { way, key: None, value: end..end, form: Form::Plain });
                return;
            }
            base = Some(way);
            (at, column, rest) = (at + width, column + width, content);
        }
        let Some(colon) = colon(rest) else { return self.without_key(at, column, rest, base) };
        let (key, key_range) = unquoted(rest.get(..colon).unwrap_or_default().trim_end(), at);
        let holder = self.mapping(column, base);
        let mut way = holder;
        way.push(Step::Key(key.to_owned()));
        if let Some(Level { holds: Holds::Keys { last }, .. }) = self.levels.last_mut() {
            last.clone_from(&way);
        }
        let value = rest.get(colon + 1..).unwrap_or_default();
        let value_at = at + colon + 1 + value.len() - value.trim_start().len();
        self.value(way, Some(key_range), value_at, value.trim_start(), column);
    }

    /// Reads a value that begins on this line; `column` is that of its container.
    fn value(&mut self, way: Way, key: Option<Range<usize>>, at: usize, rest: &str, column: usize) {
        let nothing = at..at;
        let (value, form) = match rest.chars().next() {
            None | Some('#') => (nothing, Form::Plain),
            Some('|' | '>') => {
                self.literal = Some(column);
                (nothing, Form::Literal)
            }
            Some('{' | '[') => {
                self.items.push(Item { way: way.clone(), key, value: nothing, form: Form::Flow });
                self.resume = flow::read(self.text, at, &way, column, &mut self.items);
                return;
            }
            Some(_) => (unquoted(scalar(rest), at).1, Form::Plain),
        };
        self.items.push(Item { way, key, value, form });
    }

    fn without_key(&mut self, at: usize, column: usize, rest: &str, base: Option<Way>) {
        match base {
            Some(way) => self.value(way, None, at, rest, column),
            None if rest.starts_with(['{', '[']) => {
                let way = self.last_of(column);
                self.resume = flow::read(self.text, at, &way, column.saturating_sub(1), &mut self.items);
            }
            None => {
                let way = self.mapping(column, None);
                let value = unquoted(scalar(rest), at).1;
                self.items.push(Item { way, key: None, value, form: Form::Word });
            }
        }
    }

    /// Returns the way to what is on a line at `column` below the last key above it.
    fn last_of(&mut self, column: usize) -> Way {
        self.levels.retain(|level| level.column < column);
        match self.levels.last() {
            Some(Level { holds: Holds::Keys { last }, .. }) => last.clone(),
            Some(Level { way, holds: Holds::Elements { count }, .. }) => {
                way.iter().cloned().chain([Step::Index(count.saturating_sub(1))]).collect()
            }
            None => Way::new(),
        }
    }

    /// Opens the mapping whose keys are at `column`, and returns the path to it.
    fn mapping(&mut self, column: usize, base: Option<Way>) -> Way {
        let is_open = |level: &Level| level.column == column && matches!(level.holds, Holds::Keys { .. });
        if base.is_none() {
            while self.levels.last().is_some_and(|level| level.column >= column && !is_open(level)) {
                self.levels.pop();
            }
            if let Some(level) = self.levels.last().filter(|level| is_open(level)) {
                return level.way.clone();
            }
        }
        let way = base.unwrap_or_else(|| self.last_of(column));
        self.levels.push(Level { column, way: way.clone(), holds: Holds::Keys { last: way.clone() } });
        way
    }

    /// Returns the path to the element whose dash is at `column`.
    fn element(&mut self, column: usize, base: Option<Way>) -> Way {
        if base.is_none() {
            // A list may be as far to the left as its key.
            let is_list = |level: &Level| matches!(level.holds, Holds::Elements { .. });
            let stays = |level: &Level| level.column < column || level.column == column && is_list(level);
            let holder = self.levels.iter().rposition(|level| level.column <= column).map_or(0, |at| at + 1);
            self.levels.truncate(holder);
            let is_in_list = self.levels.last().is_some_and(|level| stays(level) && level.column == column);
            if !is_in_list {
                let way = match self.levels.last() {
                    Some(Level { holds: Holds::Keys { last }, .. }) => last.clone(),
                    _ => self.last_of(column),
                };
                self.levels.push(Level { column, way, holds: Holds::Elements { count: 0 } });
            }
        } else if let Some(way) = base {
            self.levels.push(Level { column, way, holds: Holds::Elements { count: 0 } });
        }
        match self.levels.last_mut() {
            Some(Level { way, holds: Holds::Elements { count }, .. }) => {
                *count += 1;
                way.iter().cloned().chain([Step::Index(*count - 1)]).collect()
            }
            _ => Way::new(),
        }
    }
}

/// Returns where the colon after a key is; none if a line has no key.
fn colon(rest: &str) -> Option<usize> {
    let quote = rest.chars().next().filter(|first| matches!(first, '"' | '\''));
    let from = match quote {
        Some(quote) => rest.get(1..)?.find(quote)? + 2,
        None if rest.starts_with(['{', '[', '#', '|', '>']) => return None,
        None => 0,
    };
    let bytes = rest.as_bytes();
    let is_colon = |at: &usize| bytes.get(*at) == Some(&b':') && matches!(bytes.get(at + 1), None | Some(b' ' | b'\t'));
    let found = (from..rest.len()).find(is_colon)?;
    let before = rest.get(from..found)?;
    (!before.contains(" #") && (quote.is_none() || before.trim().is_empty())).then_some(found)
}

/// Returns the scalar at the beginning of the rest of a line, without a comment.
fn scalar(rest: &str) -> &str {
    if let Some(quote) = rest.chars().next().filter(|first| matches!(first, '"' | '\'')) {
        let end = rest.get(1..).and_then(|inner| inner.find(quote)).map_or(rest.len(), |at| at + 2);
        return rest.get(..end).unwrap_or(rest);
    }
    let end = rest.find(" #").unwrap_or(rest.len());
    rest.get(..end).unwrap_or(rest).trim_end()
}

/// Returns a scalar, which begins at byte `at`, without its quotes, and its bytes.
fn unquoted(scalar: &str, at: usize) -> (&str, Range<usize>) {
    let Some(quote) = scalar.chars().next().filter(|first| matches!(first, '"' | '\'')) else {
        return (scalar, at..at + scalar.len());
    };
    let inner = scalar.get(1..).unwrap_or_default();
    let inner = inner.strip_suffix(quote).unwrap_or(inner);
    (inner, at + 1..at + 1 + inner.len())
}

#[cfg(test)]
mod tests;
