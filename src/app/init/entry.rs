//! Entries in files of people: what is missing, and the file with it. Every other byte stays.

use serde_json::Value;

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

/// What a file should have.
#[derive(Clone, Debug)]
pub(super) enum Entry {
    /// Lines, each with how it begins.
    Lines(Vec<(String, String)>),
    /// An item of the list at the top of a YAML file.
    Item {
        /// The key of the list.
        key: &'static str,
        /// The item in block style, beginning with `- ` and ending in a newline.
        item: String,
        /// What a file that has the item contains, however it is written.
        mark: String,
    },
}

impl Entry {
    /// Returns whole lines.
    pub(super) fn lines<'l>(lines: impl Iterator<Item = &'l str>) -> Self {
        Self::Lines(lines.map(|line| (line.to_owned(), line.to_owned())).collect())
    }

    /// Returns what `text` lacks, to be shown to a person.
    pub(super) fn missing(&self, text: &str) -> Option<String> {
        match self {
            Self::Lines(lines) => {
                let is_missing = |(begins, line): &&(String, String)| {
                    !text.lines().any(|found| is_line(found, begins, line.starts_with('#')))
                };
                let missing: String = lines.iter().filter(is_missing).map(|(_, line)| format!("{line}\n")).collect();
                (!missing.is_empty()).then_some(missing)
            }
            Self::Item { mark, .. } if text.contains(mark) => None,
            Self::Item { key, item, .. } => Some(format!("{key}:\n{}", super::yaml::indented(item, "  "))),
        }
    }

    /// Returns `text` with what is `missing`; nothing where only a person can see where it belongs.
    pub(super) fn added(&self, text: &str, missing: &str) -> Option<String> {
        match self {
            Self::Lines(_) => Some(ended(text) + missing),
            Self::Item { key, item, .. } => with_item(text, key, item),
        }
    }
}

/// Returns true if a line begins with this word; in a comment too, if that is how it is wanted.
fn is_line(found: &str, begins: &str, in_comment: bool) -> bool {
    let found = if in_comment { found.trim_start_matches(['#', ' ']) } else { found };
    found.trim_end().strip_prefix(begins).is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// Returns the value of a YAML document; nothing where it has errors.
fn value_of(text: &str) -> Option<Value> {
    yaml::read(SourceId::default(), &Source::new("", text.as_bytes())).root.map(|root| root.to_json())
}

fn ended(text: &str) -> String {
    if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") }
}

/// Returns `text` with one more item in its list `key`, if that changes nothing else.
fn with_item(text: &str, key: &str, item: &str) -> Option<String> {
    let mut wanted = value_of(text)?;
    let new = value_of(item)?.as_array()?.first()?.clone();
    let list = wanted.as_object_mut()?.entry(key).or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut()?.push(new);

    let text = ended(text);
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heading = lines.iter().position(|line| line.strip_prefix(key).is_some_and(|rest| rest.starts_with(':')));
    let added = match heading {
        None => format!("{text}{key}:\n{}", super::yaml::indented(item, "  ")),
        Some(heading) => {
            let inside = |line: &&&str| line.starts_with([' ', '-', '#']) || line.trim().is_empty();
            let below = lines.get(heading + 1..)?;
            let block: Vec<&str> = below.iter().take_while(inside).copied().collect();
            let is_item = |line: &&str| line.trim_start().starts_with("- ");
            let indent = block.iter().find(|line| is_item(line)).map_or("  ", |line| indent_of(line));
            let is_text = |line: &&str| !line.trim().is_empty() && !line.starts_with('#');
            let end = heading + 1 + block.iter().rposition(is_text).map_or(0, |last| last + 1);
            [&lines.get(..end)?.concat(), &super::yaml::indented(item, indent), &lines.get(end..)?.concat()]
                .map(String::as_str)
                .concat()
        }
    };
    (value_of(&added)? == wanted).then_some(added)
}

fn indent_of(line: &str) -> &str {
    line.get(..line.len() - line.trim_start().len()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(with_item(text, "repos", "- repo: x\n  rev: y\n").as_deref(), expected, "{text}");
    }

    #[test]
    fn an_item_is_added_as_the_list_is_written() {
        check("repos:\n- repo: a # why\n", Some("repos:\n- repo: a # why\n- repo: x\n  rev: y\n"));
        check(
            "# mine\nrepos:\n    - repo: a\n      hooks:\n          - id: b\n\nci: {skip: []}",
            Some(
                "# mine\nrepos:\n    - repo: a\n      hooks:\n          - id: b\n    - repo: x\n      rev: y\n\nci: {skip: []}\n",
            ),
        );
        check("fail_fast: true\n", Some("fail_fast: true\nrepos:\n  - repo: x\n    rev: y\n"));
    }

    #[test]
    fn what_cannot_be_added_safely_is_left() {
        check("repos: [{repo: a}]\n", None);
        check("repos: []\n", None);
        check("repos: x\n", None);
        check("repos: [\n", None);
        check("- repo: a\n", None);
    }

    #[test]
    fn lines_are_found_in_comments_only_where_comments_are_wanted() {
        let entry = |line: &str| Entry::Lines(vec![("/a/".to_owned(), line.to_owned())]);
        assert_eq!(entry("# /a/ @OWNERS").missing("/a/ @me\n"), None);
        assert_eq!(entry("# /a/ @OWNERS").missing("# /a/ @OWNERS\n"), None);
        assert_eq!(entry("/a/ @me").missing("# /a/ @OWNERS\n").as_deref(), Some("/a/ @me\n"));
        assert_eq!(entry("/a/ @me").missing("/a/b/ @me\n").as_deref(), Some("/a/ @me\n"));
        assert_eq!(entry("/a/ @me").added("x", "/a/ @me\n").as_deref(), Some("x\n/a/ @me\n"));
    }
}
