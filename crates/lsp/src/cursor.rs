//! Where the cursor is: on a key, in a value or in an expression.

use std::ops::Range;

use kubebench_syntax::yaml::Step;

use crate::outline::{Form, Item, Outline, Way};

/// What is inserted at the cursor while the text is read: it makes an empty place a word. It does not occur in YAML.
const MARK: char = '\u{f8ff}';
const OPEN: &str = "${{";
pub(crate) const CLOSE: &str = "}}";

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cursor {
    /// The way to the value; on a key the way to what the key is in.
    pub(crate) way: Way,
    pub(crate) at: At,
    /// The bytes of the word that the cursor is in.
    pub(crate) word: Range<usize>,
    /// Whether it is in brackets.
    pub(crate) is_flow: bool,
}

/// What the cursor is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum At {
    /// A key, or where one could be.
    Key,
    /// A scalar.
    Value,
    /// An element of a list, which may become a scalar or the first key of a mapping.
    Element,
    /// A name between `${{` and `}}`.
    Expression,
    /// A literal text or a comment.
    Text,
}

/// Returns what the cursor at byte `offset` of `text` is in.
pub(crate) fn cursor(text: &str, offset: usize) -> Option<Cursor> {
    let (before, after) = (text.get(..offset)?, text.get(offset..)?);
    let outline = Outline::of(&format!("{before}{MARK}{after}"));
    let has = |range: &Range<usize>| range.start <= offset && offset < range.end;
    let is_flow = |way: &[Step]| {
        outline
            .items
            .iter()
            .any(|item| item.form == Form::Flow && way.starts_with(&item.way) && item.value.start <= offset)
    };
    let of_value = |item: &Item, at: At| Cursor {
        way: item.way.clone(),
        at,
        word: without_mark(&item.value),
        is_flow: is_flow(&item.way),
    };
    let found = outline.items.iter().find_map(|item| {
        if let Some(key) = item.key.as_ref().filter(|key| has(key)) {
            let (_, holder) = item.way.split_last()?;
            return Some(Cursor {
                way: holder.to_vec(),
                at: At::Key,
                word: without_mark(key),
                is_flow: is_flow(holder),
            });
        }
        has(&item.value).then(|| match item.form {
            Form::Word => of_value(item, At::Key),
            Form::Literal => of_value(item, At::Text),
            Form::Plain | Form::Flow if item.key.is_none() => of_value(item, At::Element),
            Form::Plain | Form::Flow => of_value(item, At::Value),
        })
    });
    match expression(before, after) {
        Some(word) => {
            let (way, is_flow) = found.map_or((Way::new(), false), |found| (found.way, found.is_flow));
            Some(Cursor { way, at: At::Expression, word, is_flow })
        }
        None => found,
    }
}

/// Returns the bytes of a range without the mark in it.
fn without_mark(range: &Range<usize>) -> Range<usize> {
    range.start..range.end - MARK.len_utf8()
}

/// Returns the bytes of the name around the cursor, if it is in an expression.
fn expression(before: &str, after: &str) -> Option<Range<usize>> {
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    let written = before.get(line..)?;
    let open = written.rfind(OPEN)? + OPEN.len();
    let inner = written.get(open..)?;
    if inner.contains(CLOSE) {
        return None;
    }
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '.' | '_' | '-');
    let name = inner.trim_start();
    name.chars().all(is_part).then_some(())?;
    let end = after.find(|letter| !is_part(letter)).unwrap_or(after.len());
    Some(before.len() - name.len()..before.len() + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(marked: &str) -> String {
        let offset = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        let Some(Cursor { way, at, word, is_flow }) = cursor(&text, offset) else { return "nothing".to_owned() };
        let step = |step: &Step| match step {
            Step::Key(key) => key.clone(),
            Step::Index(index) => index.to_string(),
        };
        let way = way.iter().map(step).collect::<Vec<_>>().join(".");
        format!("{way} {at:?} `{}`{}", text.get(word).unwrap(), if is_flow { " in brackets" } else { "" })
    }

    #[test]
    fn the_way_to_the_cursor() {
        for (text, expected) in [
            ("spec:\n  |", "spec Key ``"),
            ("spec:\n  re|peats: 3\n", "spec Key `repeats`"),
            ("spec:\n  re|\n  x: 1\n", "spec Key `re`"),
            ("spec:\n  repeats: |", "spec.repeats Value ``"),
            ("spec:\n  repeats: 3|\n", "spec.repeats Value `3`"),
            ("spec:\n  metrics:\n    - |", "spec.metrics.0 Element ``"),
            ("spec:\n  metrics:\n    - name: x\n      |", "spec.metrics.0 Key ``"),
            ("spec:\n  metrics:\n  - name: x\n    un|\n  gates: []\n", "spec.metrics.0 Key `un`"),
            ("spec: {matrix: {axes: {a: [1]}, |}}", "spec.matrix Key `` in brackets"),
            ("spec: {targets: [a, |]}", "spec.targets.1 Element `` in brackets"),
            ("spec: {targets: [|", "spec.targets.0 Element `` in brackets"),
            ("a:\n  command: [x, \"${{ mat|", "a.command.1 Expression `mat` in brackets"),
            ("a: \"${{ matrix.si|ze }}k\"", "a Expression `matrix.size`"),
            ("a: \"${{ x }} |\"", "a Value `${{ x }} `"),
            ("a: |\n", "a Value ``"),
            ("|", " Key ``"),
            ("# |", "nothing"),
        ] {
            assert_eq!(at(text), expected, "{text}");
        }
        assert_eq!(at(&"a: >\n  x ${{ p!ar\n".replace('!', "|")), "a Expression `par`");
        assert_eq!(at("a: >\n  x| y\n"), "a Text `>\n  x y`");
    }
}
