//! What something is, and where it is declared.

use kubebench_extract::tool;
use kubebench_format::schema::{Choice, DocumentKind, Summary, choices, fields, summary};
use kubebench_syntax::yaml::{Step, write};
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range as LspRange};
use serde_json::json;

use crate::complete::kinds;
use crate::cursor::{At, Cursor};
use crate::names::{Around, Named, Sort, sort_at};
use crate::outline::begins_with;

/// Where the pages of fields are.
const PAGES: &str = "https://github.com/kubebench/kubebench/blob/main/docs/reference/";

/// Returns what the field that the cursor is on is, or what the name under it means, as Markdown.
pub(crate) fn hover(
    around: Around<'_>,
    kind: DocumentKind,
    schema: &serde_json::Value,
    cursor: &Cursor,
    range: LspRange,
) -> Option<Hover> {
    let word = around.text.text.get(cursor.word.clone())?;
    let page = match sort_of(kind, cursor) {
        Some(Sort::Tool) => tool::tool(word).map(|tool| fenced("text", tool.page().trim_end())),
        Some(sort) => named(around, sort, cursor, schema, word),
        None => None,
    };
    let page = page.or_else(|| match cursor.at {
        At::Key => {
            let way: Vec<Step> = cursor.way.iter().cloned().chain([Step::from(word)]).collect();
            field(kind, schema, &way, cursor.way.as_slice())
        }
        At::Value if cursor.way == [Step::from("kind")] => {
            let kinds = kinds(around.path).iter().map(|kind| of_choice(kind.name(), kind.meaning()));
            Some(kinds.collect::<Vec<_>>().join("\n"))
        }
        At::Value | At::Element => {
            let (_, holder) = cursor.way.split_last()?;
            field(kind, schema, &cursor.way, holder)
        }
        At::Expression | At::Text => None,
    })?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: page });
    Some(Hover { contents, range: Some(range) })
}

/// Returns what the place of the cursor names, or declares.
fn sort_of(kind: DocumentKind, cursor: &Cursor) -> Option<Sort> {
    let is_metric = cursor.way.len() == 4 && begins_with(&cursor.way, &["spec", "metrics", "*", "name"]);
    sort_at(kind, cursor).or((is_metric && cursor.at == At::Value).then_some(Sort::Metric))
}

fn named(around: Around<'_>, sort: Sort, cursor: &Cursor, schema: &serde_json::Value, word: &str) -> Option<String> {
    let found = around.names(sort, cursor, schema).into_iter().find(|name| name.name == word)?;
    let Named { name, about, place } = found;
    let about = if about.is_empty() { name } else { format!("{name}: {about}") };
    Some(match place {
        Some((path, _)) => format!("{}\n\n{}", fenced("yaml", &about), fenced("text", &path)),
        None => fenced("yaml", &about),
    })
}

/// Returns the page of the field at `way`, which is in the mapping at `holder`.
fn field(kind: DocumentKind, schema: &serde_json::Value, way: &[Step], holder: &[Step]) -> Option<String> {
    let Summary { type_name, description, default, example } = summary(schema, way)?;
    let name = way.iter().rev().find_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None })?;
    let known = fields(schema, holder).into_iter().find(|field| field.name == name);
    let description = known.as_ref().map_or(description, |field| field.description.clone());
    let required = if known.is_some_and(|field| field.is_required) { ", required" } else { "" };
    let default = default.map(|default| format!(", default {}", code(&default.to_string()))).unwrap_or_default();
    let mut parts = vec![format!("{}: {type_name}{required}{default}", code(name))];
    parts.extend(Some(description).filter(|description| !description.is_empty()));
    let values: Vec<String> =
        choices(schema, way).iter().map(|Choice { value, description }| of_choice(value, description)).collect();
    parts.extend((!values.is_empty()).then(|| values.join("\n")));
    parts.extend(example.map(|example| fenced("yaml", write(&json!({ name: example })).trim_end())));
    let below: Vec<String> = fields(schema, way).iter().map(|field| code(&field.name)).collect();
    parts.extend((!below.is_empty()).then(|| format!("Fields: {}", below.join(", "))));
    parts.push(format!("[Reference]({PAGES}{})", page(kind)));
    Some(parts.join("\n\n"))
}

/// Returns the page of the fields of a kind.
fn page(kind: DocumentKind) -> &'static str {
    match kind {
        DocumentKind::Benchmark | DocumentKind::Fragment => "fields-of-a-spec.md",
        DocumentKind::Suite => "fields-of-a-suite.md",
        DocumentKind::Project => "fields-of-the-project-file.md",
        DocumentKind::Ack => "fields-of-an-acknowledgement.md",
    }
}

fn of_choice(value: &str, description: &str) -> String {
    if description.is_empty() { format!("- {}", code(value)) } else { format!("- {}: {description}", code(value)) }
}

/// Returns a text of one line as Markdown that shows it as it is.
fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Returns a text as Markdown that shows it as it is.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_ends_its_fence() {
        assert_eq!(super::fenced("text", "a\n```\n# b"), "````text\na\n```\n# b\n````");
        assert_eq!(super::code("a`b"), "`a'b`");
    }
}
