//! What something is, and where it is declared.

use kubebench_extract::tool;
use kubebench_format::schema::{DocumentKind, explain};
use kubebench_syntax::yaml::Step;
use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range as LspRange};

use crate::cursor::{At, Cursor};
use crate::names::{Around, Named, Sort, sort_at};

/// Returns the page of the field that the cursor is on, or what the name under it means.
pub(crate) fn hover(
    around: Around<'_>,
    kind: DocumentKind,
    schema: &serde_json::Value,
    cursor: &Cursor,
    range: LspRange,
) -> Option<Hover> {
    let word = around.text.text.get(cursor.word.clone())?;
    let of_field = |way: &[Step], last: Option<&str>| {
        let keys = way.iter().filter_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None });
        let path: Vec<&str> = keys.chain(last).collect();
        explain(schema, &kind.name().to_lowercase(), &path).ok()
    };
    let page = match sort_at(kind, cursor) {
        Some(Sort::Tool) => tool::tool(word).map(tool::Tool::page),
        Some(sort) => named(around, sort, cursor, word),
        None => None,
    };
    let page = page.or_else(|| match cursor.at {
        At::Key => of_field(&cursor.way, Some(word)),
        At::Value | At::Element => of_field(&cursor.way, None),
        At::Expression | At::Text => None,
    })?;
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: fenced(page.trim_end()) });
    Some(Hover { contents, range: Some(range) })
}

fn named(around: Around<'_>, sort: Sort, cursor: &Cursor, word: &str) -> Option<String> {
    let found = around.names(sort, cursor).into_iter().find(|name| name.name == word)?;
    let Named { name, about, place } = found;
    let about = if about.is_empty() { name } else { format!("{name}: {about}") };
    Some(match place {
        Some((path, _)) => format!("{about}\n\n{path}"),
        None => about,
    })
}

/// Returns a text as Markdown that shows it as it is.
fn fenced(text: &str) -> String {
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}\n{fence}")
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_text_ends_its_fence() {
        assert_eq!(super::fenced("a\n```\n# b"), "````text\na\n```\n# b\n````");
    }
}
