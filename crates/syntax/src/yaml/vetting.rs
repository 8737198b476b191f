//! Checks of a file's bytes and characters, before and independent of its YAML structure.

use serde_yaml::granit_parser::{self, Event, Parser};

use super::limits::MAX_BYTES;
use crate::diag::{Diagnostic, Place, code};
use crate::text::{Source, SourceId, Span};

/// How many invisible characters or tabs of one file are reported.
const MAX_REPORTED: usize = 20;

/// Reports bytes that cannot be a spec at all, and returns true when reading on makes no sense.
pub(super) fn refuse_bytes(id: SourceId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> bool {
    if source.text.len() > MAX_BYTES {
        let message = format!("the file holds more than {MAX_BYTES} bytes (1 MiB)");
        let fault = Diagnostic::in_file(&code::KB0102, &source.path, message);
        diagnostics.push(
            fault
                .note("a spec describes a benchmark; data does not belong in it")
                .help("move data into an image, a volume or a ConfigMap"),
        );
        return true;
    }
    let help = "keep only YAML specs in this folder, or rename the file so that it does not end in `.yaml` or `.yml`";
    refuse_encoding(id, source, help, diagnostics)
}

/// Reports bytes that are not UTF-8 text, and returns true if there are any; `binary` is what to do with a binary file.
pub(super) fn refuse_encoding(id: SourceId, source: &Source, binary: &str, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let nul = source.text.find('\0');
    match (source.invalid_utf8, nul) {
        (Some(0), Some(_)) if source.text.starts_with("\u{FFFD}\u{FFFD}") => {
            let fault = Diagnostic::in_file(&code::KB0101, &source.path, "the file is UTF-16");
            diagnostics.push(fault.help("save it as UTF-8 (`iconv -f UTF-16 -t UTF-8 OLD > NEW`)"));
            true
        }
        (_, Some(_)) => {
            let fault = Diagnostic::in_file(&code::KB0101, &source.path, "the file is binary, not text");
            diagnostics.push(fault.help(binary));
            true
        }
        (Some(offset), None) => {
            let span = Span::new(id, offset..(offset + '\u{FFFD}'.len_utf8()).min(source.text.len()));
            let fault = Diagnostic::at(&code::KB0101, span, "the file is not UTF-8 from here on");
            diagnostics.push(fault.help("save the file as UTF-8 (`iconv -f LATIN1 -t UTF-8 OLD > NEW`)"));
            true
        }
        (None, None) => false,
    }
}

/// Reports conflict markers that git left in a file, and returns true if there are any.
pub(super) fn refuse_merge(id: SourceId, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> bool {
    let line = |mark: &str| {
        let mut at = source.text.match_indices(mark).map(|(at, _)| at);
        let begins_line = |at: &usize| *at == 0 || source.text.as_bytes().get(at - 1) == Some(&b'\n');
        at.find(begins_line)
    };
    let (Some(ours), Some(_), Some(theirs)) = (line("<<<<<<< "), line("=======\n"), line(">>>>>>> ")) else {
        return false;
    };
    let mark = |at: usize| Span::new(id, at..at + "<<<<<<<".len());
    let fault = Diagnostic::at(&code::KB0104, mark(ours), "an unresolved merge starts here");
    diagnostics.push(
        fault
            .related(Place::Span(mark(theirs)), "it ends here")
            .note("the file holds the lines of both branches")
            .help("keep the lines that are right, delete the others and the three marks"),
    );
    true
}

/// Reports characters that people do not see but readers act on.
pub(super) fn check_characters(id: SourceId, source: &Source, diagnostics: &mut Vec<Diagnostic>) {
    if source.text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t') {
        return;
    }
    let hidden = source.text.char_indices().filter_map(|(at, c)| name_of_hidden(c).map(|name| (at, c, name)));
    for (at, c, name) in hidden.take(MAX_REPORTED) {
        let span = Span::new(id, at..at + c.len_utf8());
        let fault = Diagnostic::at(&code::KB0111, span, format!("U+{:04X} ({name}) is not allowed", u32::from(c)))
            .note("what cannot be seen cannot be reviewed");
        diagnostics.push(fault.help(escape(c)));
    }
}

/// Says what to do about a character that a file may not have.
pub(super) fn escape(c: char) -> String {
    format!("delete it; in a double-quoted string write `\\u{:04X}` if it is meant", u32::from(c))
}

fn name_of_hidden(c: char) -> Option<&'static str> {
    match c {
        '\t' | '\n' => None,
        '\r' => Some("a carriage return without a line feed"),
        '\u{00}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => Some("a control character"),
        '\u{feff}' => Some("a byte order mark inside the file"),
        '\u{200e}' | '\u{200f}' | '\u{061c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Some("a bidirectional control")
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' => Some("an invisible character"),
        '\u{2028}' | '\u{2029}' => Some("a line separator that only some readers honor"),
        _ => None,
    }
}

/// Reports tabs that are neither inside a scalar nor inside a comment.
pub(super) fn check_tabs(id: SourceId, source: &Source, diagnostics: &mut Vec<Diagnostic>) {
    if !source.text.contains('\t') || diagnostics.iter().any(|fault| fault.code == &code::KB0108) {
        return;
    }
    let options = granit_parser::options! { max_buffered_comment_events: MAX_BYTES };
    let mut covered: Vec<(usize, usize)> = Parser::new_from_str_with_options(&source.text, options)
        .map_while(Result::ok)
        .filter(|(event, _)| matches!(event, Event::Scalar(..) | Event::Comment(..)))
        .filter_map(|(_, span)| span.byte_range().map(|range| (range.start, range.end)))
        .collect();
    covered.sort_unstable();
    let inside = |at: usize| {
        let after = covered.partition_point(|(start, _)| *start <= at);
        after.checked_sub(1).and_then(|index| covered.get(index)).is_some_and(|(_, end)| at < *end)
    };
    for (at, _) in source.text.match_indices('\t').filter(|(at, _)| !inside(*at)).take(MAX_REPORTED) {
        diagnostics.push(tab(id, &source.text, at));
    }
}

/// What a tab outside of texts is.
pub(super) const TAB: &str = "a tab is not allowed here";

/// The finding about the tab at `at` in a text.
pub(super) fn tab(id: SourceId, text: &str, at: usize) -> Diagnostic {
    let span = Span::new(id, at..at + 1);
    let line = text.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
    let (help, instead) =
        if line.trim().is_empty() { ("indent with two spaces per level", "  ") } else { ("write a space", " ") };
    Diagnostic::at(&code::KB0108, span, TAB).help(help).fix(span, instead)
}
