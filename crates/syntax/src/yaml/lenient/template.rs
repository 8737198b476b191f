//! Finds what a template engine would replace, in a file that does not parse.

use crate::invariant::Invariant as _;
use std::ops::Range;

/// A placeholder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placeholder {
    /// Its bytes.
    pub(super) range: Range<usize>,
    /// What would replace it.
    pub(super) engine: Engine,
}

/// What replaces a placeholder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Engine {
    /// `{{ x }}`.
    Braces,
    /// `{% if x %}`.
    Jinja,
    /// `${X}`.
    Envsubst,
    /// `{name}` or `@name@`, of an unknown template engine.
    Unknown,
}

impl Engine {
    /// Says what the file looks like, and what to do.
    pub(super) fn advice(self) -> (&'static str, &'static str) {
        match self {
            Self::Braces => (
                "the file looks like a template of Helm or Jinja",
                "render it first (`helm template`, or the tool that it is made for) and name the rendered file",
            ),
            Self::Jinja => ("the file looks like a Jinja template", "render it first and name the rendered file"),
            Self::Envsubst => (
                "the file looks like a template for `envsubst`",
                "render it first (`envsubst < FILE > RENDERED`) and name the rendered file",
            ),
            Self::Unknown => {
                ("the file looks like a template", "replace the placeholder first, and name the resulting file")
            }
        }
    }
}

/// Returns the placeholder that makes the line of `offset`, or a line of a template engine before it, unreadable; else what
/// shows that the whole file is a template.
pub(super) fn find(text: &str, part: Range<usize>, offset: usize) -> Option<Placeholder> {
    let offset = offset.clamp(part.start, part.end);
    let before = text.get(part.start..offset).expected("an offset between characters");
    let start = part.start + before.rfind('\n').map_or(0, |at| at + 1);
    let line = text.get(start..part.end).expected("the start of a line").lines().next().unwrap_or_default();
    let above = text.get(part.start..start).expected("the start of a line").trim_end();
    let above_start = part.start + above.rfind('\n').map_or(0, |at| at + 1);
    let line_above = text.get(above_start..part.start + above.len()).expected("a line between characters");
    let shifted = |found: Option<Placeholder>, by: usize| {
        found.map(|found| Placeholder { range: by + found.range.start..by + found.range.end, ..found })
    };
    shifted(on_line(line), start)
        .or_else(|| shifted(on_line(line_above), above_start))
        .or_else(|| shifted(control(text), 0))
}

/// Returns the first placeholder of `line` outside of quotes and comments.
fn on_line(line: &str) -> Option<Placeholder> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        let rest = line.get(at..).expected("the place of a character");
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (None, '#') if before.is_whitespace() => return None,
            (None, '"' | '\'') if before.is_whitespace() || "[{,:".contains(before) => quote = Some(c),
            (None, '{' | '$' | '@') => {
                if let Some((length, engine)) = at_start(rest, before) {
                    return Some(Placeholder { range: at..at + length, engine });
                }
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Returns the length of the placeholder that `rest` begins with, and what would replace it.
fn at_start(rest: &str, before: char) -> Option<(usize, Engine)> {
    let until = |close: &str| rest.find(close).map_or(rest.len(), |at| at + close.len());
    let named = |open: &str, close: char| {
        let body = rest.strip_prefix(open)?;
        let name = body.get(..body.find(close)?)?;
        let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'));
        is_name.then_some(open.len() + name.len() + close.len_utf8())
    };
    if rest.starts_with("{{") && before != '$' {
        Some((until("}}"), Engine::Braces))
    } else if rest.starts_with("{%") {
        Some((until("%}"), Engine::Jinja))
    } else if let Some(length) = named("${", '}') {
        Some((length, Engine::Envsubst))
    } else {
        named("{", '}').or_else(|| named("@", '@')).map(|length| (length, Engine::Unknown))
    }
}

/// Returns the first thing in `text` that only a template engine understands, and that no other tool writes into manifests.
fn control(text: &str) -> Option<Placeholder> {
    let marks = [
        ("{{-", Engine::Braces),
        ("{{ .", Engine::Braces),
        ("{{.", Engine::Braces),
        ("{{ include ", Engine::Braces),
        ("{{ if ", Engine::Braces),
        ("{{ range ", Engine::Braces),
        ("{%", Engine::Jinja),
    ];
    let found = marks.iter().filter_map(|(mark, engine)| {
        text.find(mark).map(|at| Placeholder { range: at..at + mark.len(), engine: *engine })
    });
    found.min_by_key(|found| found.range.start)
}
