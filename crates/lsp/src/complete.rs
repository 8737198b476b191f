//! What may be written where the cursor is.

use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_format::schema::{Choice, DocumentKind, Field, choices, fields, is_list, takes_one};
use kubebench_syntax::yaml::Step;
use lsp_types::{CompletionItem, CompletionItemKind, CompletionTextEdit, Documentation, TextEdit};

use crate::cursor::{At, CLOSE, Cursor};
use crate::document::Document;
use crate::names::{Around, Named, Sort, sort_at, written};
use crate::outline::Outline;

/// The kinds of the documents in folders of specs.
pub(crate) const OF_SPECS: [DocumentKind; 3] = [DocumentKind::Benchmark, DocumentKind::Suite, DocumentKind::Fragment];

/// Something to write.
struct Offer {
    label: String,
    /// The text to insert, if that is more than the label.
    text: String,
    kind: CompletionItemKind,
    detail: String,
    about: String,
}

/// Returns the completions at the cursor in a document of `kind`, whose schema is `schema`.
pub(crate) fn complete(
    around: Around<'_>,
    kind: DocumentKind,
    schema: &serde_json::Value,
    document: &Document,
    cursor: &Cursor,
) -> Vec<CompletionItem> {
    let place = Where { around, kind, schema, text: document.text() };
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
    place.offers(cursor).into_iter().enumerate().map(item).collect()
}

/// Returns the kinds that the document at a path may have.
pub(crate) fn kinds(path: &str) -> &'static [DocumentKind] {
    if path == PROJECT_FILE { &[DocumentKind::Project] } else { &OF_SPECS }
}

/// A document, and what is known of it.
#[derive(Clone, Copy)]
struct Where<'a> {
    around: Around<'a>,
    kind: DocumentKind,
    schema: &'a serde_json::Value,
    text: &'a str,
}

impl Where<'_> {
    fn offers(self, cursor: &Cursor) -> Vec<Offer> {
        if cursor.at == At::Value && cursor.way == [Step::from("kind")] {
            return kinds(self.around.path).iter().map(|kind| of_kind(*kind)).collect();
        }
        if let Some(sort) = sort_at(self.kind, cursor) {
            let names = self.around.names(sort, cursor, self.schema);
            return names.into_iter().map(|name| self.of_name(sort, cursor, name)).collect();
        }
        match cursor.at {
            At::Key => {
                let mut offers = self.keys(cursor);
                offers.extend(self.elements(cursor));
                offers
            }
            At::Value => self.values(&cursor.way),
            At::Element => {
                let mut offers = self.values(&cursor.way);
                // An element in brackets is a mapping only within braces.
                offers.extend(if cursor.is_flow { Vec::new() } else { self.keys(cursor) });
                offers
            }
            At::Expression | At::Text => Vec::new(),
        }
    }

    /// Returns what a new element of the list that the cursor is in may begin with.
    fn elements(self, cursor: &Cursor) -> Vec<Offer> {
        if cursor.is_flow || !is_list(self.schema, &cursor.way) {
            return Vec::new();
        }
        let new = Step::Index(usize::MAX);
        let way = cursor.way.iter().cloned().chain([new]).collect();
        let offers = self.offers(&Cursor { way, at: At::Element, ..cursor.clone() });
        offers.into_iter().map(|offer| Offer { text: format!("- {}", offer.text), ..offer }).collect()
    }

    fn of_name(self, sort: Sort, cursor: &Cursor, Named { name, about, .. }: Named) -> Offer {
        let after = self.text.get(cursor.word.end..).unwrap_or_default();
        let text = match cursor.at {
            At::Key => format!("{name}: "),
            At::Expression if !after.trim_start_matches(' ').starts_with(CLOSE) => format!("{name} {CLOSE}"),
            At::Expression | At::Value | At::Element | At::Text => name.clone(),
        };
        let kind = match sort {
            Sort::Expression | Sort::Axis => CompletionItemKind::VARIABLE,
            Sort::Metric | Sort::ToolMetric => CompletionItemKind::FIELD,
            Sort::Benchmark | Sort::Target | Sort::Fragment | Sort::Tool | Sort::Role => CompletionItemKind::REFERENCE,
            Sort::File => CompletionItemKind::FILE,
        };
        Offer { label: name, text, kind, detail: about, about: String::new() }
    }

    /// Returns the fields that the mapping at the cursor does not have yet, those first that it needs.
    fn keys(self, cursor: &Cursor) -> Vec<Offer> {
        let outline = Outline::of(self.text);
        let own = self.text.get(cursor.word.clone()).unwrap_or_default();
        let there: Vec<&str> = written(&outline, &cursor.way).filter(|key| *key != own).collect();
        if !there.is_empty() && takes_one(self.schema, &cursor.way) {
            return Vec::new();
        }
        let after = self.text.get(cursor.word.end..).unwrap_or_default();
        let has_colon = after.trim_start_matches(['"', '\'']).starts_with(':');
        let mut fields = fields(self.schema, &cursor.way);
        fields.retain(|field| !there.contains(&field.name.as_str()));
        fields.sort_by_key(|field| !field.is_required);
        let offer = |field: Field| {
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

    fn values(self, way: &[Step]) -> Vec<Offer> {
        let offer = |Choice { value, description }: Choice| Offer {
            label: value.clone(),
            text: value,
            kind: CompletionItemKind::ENUM_MEMBER,
            detail: String::new(),
            about: description,
        };
        choices(self.schema, way).into_iter().map(offer).collect()
    }
}

fn of_kind(kind: DocumentKind) -> Offer {
    Offer {
        label: kind.name().to_owned(),
        text: kind.name().to_owned(),
        kind: CompletionItemKind::ENUM_MEMBER,
        detail: String::new(),
        about: kind.meaning().to_owned(),
    }
}
