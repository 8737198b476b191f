//! Turns a YAML scanner's error into words for the person who wrote the file.

use serde_yaml::granit_parser::ErrorKind;

use super::indentation;
use super::limits::MAX_DEPTH;
use super::{colon, expression, quote, vetting};
use crate::diag::{Diagnostic, Place, code};
use crate::invariant::Invariant as _;
use crate::text::{Source, SourceId, Span};

/// Returns the finding for a syntax error of `kind` at byte `offset`; `open` is the outermost bracket that is still open there,
/// and everything before `read_until` is read.
pub(super) fn explain(
    id: SourceId,
    source: &Source,
    kind: &ErrorKind,
    offset: usize,
    open: Option<(usize, u8)>,
    read_until: usize,
) -> Option<Diagnostic> {
    let offset = step_back_from_end(&source.text, offset);
    let end = source.text.get(offset..).and_then(|rest| rest.chars().next()).map_or(offset, |c| offset + c.len_utf8());
    let span = Span::new(id, offset..end);
    if is_about_quotes(kind)
        && let Some(at) = quote::opening(&source.text, read_until, offset)
    {
        let fault = Diagnostic::at(&code::KB0104, Span::new(id, at..at + 1), "this quote is not closed on its line");
        let elsewhere = source.text.get(at..offset).is_some_and(|between| between.contains('\n'));
        let fault = if elsewhere { fault.related(Place::Span(span), "what does not fit") } else { fault };
        return Some(fault.help("close the quote on the same line"));
    }
    if let Some(at) = tab_of_line(&source.text, offset) {
        return Some(vetting::tab(id, &source.text, at));
    }
    if let Some(at) = colon::around(&source.text, offset).filter(|_| open.is_none() && is_about_keys(kind)) {
        let colon = Span::new(id, at..at + 1);
        let fault = Diagnostic::at(&code::KB0104, colon, "the line has a word, and no field");
        return Some(fault.help("write a space after `:`").likely_fix(colon, ": "));
    }
    if let Some(value) = value_with_colon(&source.text, offset).filter(|_| open.is_none() && is_about_keys(kind)) {
        let (span, text) = (Span::new(id, value.clone()), source.text.get(value).unwrap_or_default());
        let quoted = format!("'{}'", text.replace('\'', "''"));
        let fault = Diagnostic::at(&code::KB0104, Span::new(id, offset..end), "an unquoted value cannot contain `: `");
        return Some(fault.help("quote a value that holds `: `").likely_fix(span, quoted));
    }
    if let Some(fault) = indentation::explain(id, source, kind, offset).filter(|_| open.is_none()) {
        return Some(fault);
    }
    if let Some(at) = lookup_around(&source.text, offset) {
        let span = Span::new(id, at..at + "${{".len());
        let fault = Diagnostic::at(&code::KB0104, span, "an expression inside `[…]` or `{…}` must be quoted")
            .note("YAML reads its `{` as the start of a mapping");
        return Some(match expression::quoted(&source.text, at + 1) {
            Some((word, quoted)) => fault.help(format!("write `{quoted}`")).likely_fix(Span::new(id, word), quoted),
            None => fault.help("write `\"${{ … }}\"`"),
        });
    }
    if let (Some((at, bracket)), true) = (open, is_about_structure(kind)) {
        let (open, close) = if bracket == b'[' { ('[', ']') } else { ('{', '}') };
        let fault = Diagnostic::at(&code::KB0104, span, format!("a `,` or `{close}` is missing here"));
        let fault = fault.related(Place::Span(Span::new(id, at..at + 1)), format!("this `{open}` is still open"));
        return Some(fault.help(
            "separate the entries by commas and close the bracket; quote text that holds `: `, `,` or brackets",
        ));
    }
    let (message, help) = match kind {
        // Reported with its name by the character check.
        ErrorKind::BomInsideDocument => return None,
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => return None,
        ErrorKind::RecursionLimitExceeded => return Some(too_deep(span)),
        ErrorKind::TabNotAllowed
        | ErrorKind::TabInBlockIndentation
        | ErrorKind::TabInIndentation
        | ErrorKind::TabAtBlockScalarStart
        | ErrorKind::TabInPlainScalar => {
            // The error points at the scalar, and the tab may be in one of its later lines.
            let ahead = source.text.get(offset..).and_then(|rest| rest.find('\t')).map(|at| offset + at);
            return Some(ahead.map_or_else(
                || Diagnostic::at(&code::KB0108, span, vetting::TAB),
                |at| vetting::tab(id, &source.text, at),
            ));
        }
        ErrorKind::MappingValueNotAllowed | ErrorKind::InvalidColonPlacement => (
            "an unquoted value cannot contain `: `".to_owned(),
            "quote a value that holds `: `, or put the key on a separate line",
        ),
        ErrorKind::UnclosedQuotedScalar
        | ErrorKind::InvalidQuotedScalarIndent
        | ErrorKind::DocumentIndicatorInQuotedScalar => {
            ("a quote is opened but not closed".to_owned(), "close the quote on the same line")
        }
        ErrorKind::UnclosedFlowCollection { open } | ErrorKind::MismatchedFlowCollectionEnd { open, .. } => (
            format!("`{open}` is opened but not closed"),
            "close it, or write the list or mapping in block style, one entry per line",
        ),
        ErrorKind::ExpectedFlowMappingSeparator | ErrorKind::UnexpectedEofFlowMapping => {
            ("a `,` or `}` is missing here".to_owned(), "separate the entries of `{…}` by commas and close it")
        }
        ErrorKind::ExpectedFlowSequenceSeparator | ErrorKind::UnexpectedEofFlowSequence => {
            ("a `,` or `]` is missing here".to_owned(), "separate the elements of `[…]` by commas and close it")
        }
        ErrorKind::UnknownQuotedScalarEscape => (
            "this escape does not exist in a double-quoted string".to_owned(),
            "double the backslash, or use single quotes, in which backslashes are plain",
        ),
        ErrorKind::UnexpectedCharacter { character: '`' | '@' } => {
            ("a plain scalar cannot start with this character".to_owned(), "quote the value")
        }
        ErrorKind::UnexpectedCharacter { character: '%' } | ErrorKind::DirectiveDisallowed => {
            return Some(
                Diagnostic::at(&code::KB0107, span, "`%` starts a YAML directive")
                    .help("quote the value, or leave the directive out"),
            );
        }
        ErrorKind::ExpectedBlockMappingKey
        | ErrorKind::InvalidIndentation
        | ErrorKind::SimpleKeyExpected
        | ErrorKind::InvalidSimpleKey => (
            "this line does not fit the lines above: a `key: value` is expected".to_owned(),
            "check the indentation and the `:` after the key",
        ),
        ErrorKind::InvalidTrailingDoubleQuotedScalar | ErrorKind::InvalidTrailingSingleQuotedScalar => {
            ("text follows the closing quote".to_owned(), "quote the whole value")
        }
        ErrorKind::CommentNotSeparated => {
            ("a comment must be separated by a space".to_owned(), "write a space before `#`")
        }
        ErrorKind::UndeclaredTagHandle | ErrorKind::InvalidTagTerminator => {
            return Some(Diagnostic::at(&code::KB0107, span, "`!` starts a YAML tag").help("quote the value"));
        }
        other => (other.to_string(), "check quotes, brackets and indentation around this place"),
    };
    Some(Diagnostic::at(&code::KB0104, span, message).help(help))
}

/// Returns where the value without quotes is whose `:` is at `offset`: behind another `: ` of the line.
fn value_with_colon(text: &str, offset: usize) -> Option<std::ops::Range<usize>> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let end = text.get(offset..)?.find('\n').map_or(text.len(), |at| offset + at);
    let (key, before) = text.get(start..offset)?.split_once(": ")?;
    let value = start + key.len() + 2 + (before.len() - before.trim_start().len());
    let whole = text.get(value..end)?;
    let whole = whole.split_once(" #").map_or(whole, |(whole, _)| whole).trim_end();
    let is_plain =
        text.get(offset..)?.starts_with(':') && !whole.starts_with(['"', '\'', '[', '{', '|', '>', '&', '*', '!', '#']);
    is_plain.then(|| value..value + whole.len())
}

fn is_about_keys(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::SimpleKeyExpected
            | ErrorKind::InvalidSimpleKey
            | ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
    )
}

/// Returns whether an error may come from a quote that was never closed.
fn is_about_quotes(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::UnclosedQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::DocumentIndicatorInQuotedScalar
            | ErrorKind::InvalidTrailingDoubleQuotedScalar
            | ErrorKind::InvalidTrailingSingleQuotedScalar
    )
}

/// Returns whether an error says that something is in the wrong place, rather than what is wrong with it.
fn is_about_structure(kind: &ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::MappingValueNotAllowed
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidIndentation
            | ErrorKind::UnclosedFlowCollection { .. }
            | ErrorKind::MismatchedFlowCollectionEnd { .. }
            | ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofImplicitFlowMapping
            | ErrorKind::ExpectedNodeContent
    )
}

/// An error at the end of the text is shown at its last visible character.
fn step_back_from_end(text: &str, offset: usize) -> usize {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = text.get(..offset).expected("a border between characters").trim_end();
    if text.get(offset..).is_none_or(|rest| rest.trim_start().is_empty()) {
        before.char_indices().next_back().map_or(0, |(at, _)| at)
    } else {
        offset
    }
}

/// Returns the offset of an unquoted `${{` at, or just before, `offset`.
fn lookup_around(text: &str, offset: usize) -> Option<usize> {
    (offset.saturating_sub(3)..=offset).find(|start| text.get(*start..).is_some_and(|rest| rest.starts_with("${{")))
}

/// Returns the offset of a tab in the indentation of the line of `offset`.
fn tab_of_line(text: &str, offset: usize) -> Option<usize> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let indent: &str = text.get(start..)?;
    let indent = indent.get(..indent.len() - indent.trim_start_matches([' ', '\t']).len())?;
    indent.find('\t').map(|at| start + at)
}

/// Reports a document that nests too deep.
pub(super) fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::at(&code::KB0112, span, format!("the document nests deeper than {MAX_DEPTH} levels"))
        .help("flatten it; no field of a spec needs this depth")
}
