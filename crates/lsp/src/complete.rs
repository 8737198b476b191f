//! What may be written where the cursor is.

use kubebench_format::schema::{DocumentKind, choices, fields};
use kubebench_syntax::yaml::Step;
use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, TextEdit};

use crate::cursor::{At, Cursor};
use crate::document::Document;
use crate::names::{Around, Named, Sort, sort_at, written};
use crate::outline::Outline;

/// Something to write.
struct Offer {
    label: String,
    /// What is written, where that is more than the label.
    text: String,
    kind: CompletionItemKind,
    detail: String,
    about: String,
}

/// Returns what may be written at the cursor in a document of `kind`, whose schema is `schema`.
pub(crate) fn complete(
    around: Around<'_>,
    kind: DocumentKind,
    schema: &serde_json::Value,
    document: &Document,
    cursor: &Cursor,
) -> Vec<CompletionItem> {
    let offers = match sort_at(kind, cursor) {
        Some(sort) => around.names(sort, cursor).into_iter().map(|name| of_name(sort, cursor.at, name)).collect(),
        None => match cursor.at {
            At::Key => keys(schema, document.text(), cursor),
            At::Value => values(schema, &cursor.way),
            At::Element => {
                let mut offers = values(schema, &cursor.way);
                // An element in brackets is a mapping only within braces.
                offers.extend(if cursor.is_flow { Vec::new() } else { keys(schema, document.text(), cursor) });
                offers
            }
            At::Expression | At::Text => Vec::new(),
        },
    };
    let range = document.lines().range(document.text(), cursor.word.clone());
    let item = |(index, offer): (usize, Offer)| CompletionItem {
        label: offer.label,
        kind: Some(offer.kind),
        detail: Some(offer.detail).filter(|detail| !detail.is_empty()),
        documentation: Some(offer.about).filter(|about| !about.is_empty()).map(Documentation::String),
        sort_text: Some(format!("{index:04}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: offer.text })),
        ..CompletionItem::default()
    };
    offers.into_iter().enumerate().map(item).collect()
}

fn of_name(sort: Sort, at: At, Named { name, about, .. }: Named) -> Offer {
    let text = if at == At::Key { format!("{name}: ") } else { name.clone() };
    let kind = match sort {
        Sort::Expression | Sort::Axis => CompletionItemKind::VARIABLE,
        Sort::Metric | Sort::ToolMetric => CompletionItemKind::FIELD,
        Sort::Benchmark | Sort::Target | Sort::Fragment | Sort::Tool => CompletionItemKind::REFERENCE,
        Sort::File => CompletionItemKind::FILE,
    };
    Offer { label: name, text, kind, detail: about, about: String::new() }
}

/// Returns the fields that the mapping at the cursor does not have yet, those first that it needs.
fn keys(schema: &serde_json::Value, text: &str, cursor: &Cursor) -> Vec<Offer> {
    let outline = Outline::of(text);
    let own = text.get(cursor.word.clone()).unwrap_or_default();
    let there: Vec<&str> = written(&outline, &cursor.way).filter(|key| *key != own).collect();
    let has_colon =
        text.get(cursor.word.end..).is_some_and(|after| after.trim_start_matches(['"', '\'']).starts_with(':'));
    let mut fields = fields(schema, &cursor.way);
    fields.retain(|field| !there.contains(&field.name.as_str()));
    fields.sort_by_key(|field| !field.is_required);
    let offer = |field: kubebench_format::schema::Field| {
        let end = match (has_colon, field.is_scalar || cursor.is_flow) {
            (true, _) => "",
            (false, true) => ": ",
            (false, false) => ":",
        };
        let mark = if field.is_required { ", required" } else { "" };
        Offer {
            text: format!("{}{end}", field.name),
            label: field.name,
            kind: CompletionItemKind::PROPERTY,
            detail: format!("{}{mark}", field.type_name),
            about: field.description,
        }
    };
    fields.into_iter().map(offer).collect()
}

fn values(schema: &serde_json::Value, way: &[Step]) -> Vec<Offer> {
    let offer = |choice: kubebench_format::schema::Choice| Offer {
        label: choice.value.clone(),
        text: choice.value,
        kind: CompletionItemKind::ENUM_MEMBER,
        detail: String::new(),
        about: choice.description,
    };
    choices(schema, way).into_iter().map(offer).collect()
}
