//! The parts of a document, for an outline in the editor.

use std::ops::Range;

use kubebench_syntax::yaml::Step;
use lsp_types::{DocumentSymbol, SymbolKind};

use crate::document::Document;
use crate::outline::{Item, Outline, Way};

/// How deep keys are listed: `spec.matrix.axes.size`.
const DEEPEST: usize = 4;
/// The fields that name elements of lists.
const NAMES: [&str; 3] = ["name", "metric", "benchmark"];

/// A part before it is nested in another one.
struct Part {
    way: Way,
    name: String,
    detail: String,
    selection: Range<usize>,
    end: usize,
    kind: SymbolKind,
}

/// Returns the fields of the document, and the elements of its lists by their names.
pub(crate) fn symbols(document: &Document) -> Vec<DocumentSymbol> {
    let text = document.text();
    let outline = Outline::of(text);
    let with_end = |(index, item)| {
        let part = part(text, item)?;
        let inside = outline.items.iter().skip(index).take_while(|item| item.way.starts_with(&part.way));
        let end = inside.map(|item| item.value.end.max(item.key.as_ref().map_or(0, |key| key.end))).max();
        Some(Part { end: end.unwrap_or_default().max(part.selection.end), ..part })
    };
    let parts: Vec<Part> = outline.items.iter().enumerate().filter_map(with_end).collect();
    nested(document, &mut parts.into_iter().peekable(), &[])
}

fn part(text: &str, item: &Item) -> Option<Part> {
    let key = item.key.clone()?;
    let value = text.get(item.value.clone()).unwrap_or_default();
    if let [.., Step::Index(_), Step::Key(field)] = item.way.as_slice()
        && NAMES.contains(&field.as_str())
        && !value.is_empty()
    {
        let way = item.way.get(..item.way.len() - 1)?.to_vec();
        let (name, selection) = (value.to_owned(), key.start..item.value.end);
        return Some(Part { way, name, detail: String::new(), selection, end: 0, kind: SymbolKind::OBJECT });
    }
    let is_of_keys = item.way.iter().all(|step| matches!(step, Step::Key(_)));
    let name = text.get(key.clone()).filter(|name| !name.is_empty())?.to_owned();
    let kind = if value.is_empty() { SymbolKind::NAMESPACE } else { SymbolKind::FIELD };
    let detail = value.lines().next().unwrap_or_default().to_owned();
    (is_of_keys && item.way.len() <= DEEPEST).then_some(Part {
        way: item.way.clone(),
        name,
        detail,
        selection: key,
        end: 0,
        kind,
    })
}

/// Removes the parts below `way`, and returns them as symbols.
fn nested(
    document: &Document,
    parts: &mut std::iter::Peekable<std::vec::IntoIter<Part>>,
    way: &[Step],
) -> Vec<DocumentSymbol> {
    let mut symbols = Vec::new();
    while let Some(part) = parts.next_if(|part| part.way.starts_with(way) && part.way.len() > way.len()) {
        let children = nested(document, parts, &part.way);
        let range = |range: Range<usize>| document.lines().range(document.text(), range);
        #[expect(deprecated, reason = "the type of the protocol has a field that nobody may leave out")]
        symbols.push(DocumentSymbol {
            name: part.name,
            detail: Some(part.detail).filter(|detail| !detail.is_empty()),
            kind: part.kind,
            tags: None,
            deprecated: None,
            range: range(part.selection.start..part.end),
            selection_range: range(part.selection),
            children: (!children.is_empty()).then_some(children),
        });
    }
    symbols
}
