//! The canonical form of a document, as `kubebench fmt` writes it.

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::format::format;
use lsp_types::TextEdit;

use crate::document::Document;

/// Returns the edits that make the document canonical; none if it cannot be read, which its findings report.
pub(crate) fn format_document(path: &str, document: &Document) -> Option<Vec<TextEdit>> {
    let source = Source::new(path, document.text().as_bytes());
    let text = format(SourceId::default(), &source).ok()?;
    Some(edits(document, &text))
}

/// Returns the edit between two texts: of the lines between those at the beginning and at the end that both have.
pub(crate) fn edits(document: &Document, new: &str) -> Vec<TextEdit> {
    let old = document.text();
    if old == new {
        return Vec::new();
    }
    let same = |one: &str, other: &str| one == other;
    let lines = |text: &'_ str| text.split_inclusive('\n').map(str::len).collect::<Vec<_>>();
    let first: usize = old
        .split_inclusive('\n')
        .zip(new.split_inclusive('\n'))
        .take_while(|(one, other)| same(one, other))
        .map(|(line, _)| line.len())
        .sum();
    let (old_rest, new_rest) = (old.get(first..).unwrap_or_default(), new.get(first..).unwrap_or_default());
    let mut last = 0;
    for (one, other) in lines(old_rest).iter().rev().zip(lines(new_rest).iter().rev()) {
        let end = |text: &str, length: usize| text.len().checked_sub(last + length);
        let (Some(from), Some(to)) = (end(old_rest, *one), end(new_rest, *other)) else { break };
        let are_same = one == other && old_rest.get(from..from + one) == new_rest.get(to..to + other);
        if !are_same {
            break;
        }
        last += one;
    }
    let range = document.lines().range(old, first..old.len() - last);
    let new_text = document.as_written(new_rest.get(..new_rest.len() - last).unwrap_or_default());
    vec![TextEdit { range, new_text }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::position::Encoding;
    use lsp_types::TextDocumentContentChangeEvent;

    #[test]
    fn an_edit_makes_the_other_text() {
        let texts = ["", "a\n", "a\nb\nc\n", "a\nc\n", "a\nx\nc", "b\n\nb\n", "a\na\na\n", "a\na\n"];
        for (old, new) in texts.iter().flat_map(|old| texts.iter().map(move |new| (old, new))) {
            let mut document = Document::new(old, Encoding::Utf16);
            let change = |edit: TextEdit| TextDocumentContentChangeEvent {
                range: Some(edit.range),
                range_length: None,
                text: edit.new_text,
            };
            let changes = edits(&document, new).into_iter().map(change).collect();
            document.change(changes);
            assert_eq!(document.text(), *new, "from {old:?}");
        }
    }
}
