//! The generated pages of the reference: `SNAPSHOTS=overwrite cargo test --test it reference` writes what the program says now.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use kubebench::cli::exit_status;
use kubebench_compiler::workload;
use kubebench_extract::tool::TOOLS;
use kubebench_format::schema::{DocumentKind, generate};
use kubebench_testing::snapshot::assert_file;
use serde_json::Value;

use super::options::{names, whole_help};
use crate::support::project::{assert_yes, repository};

const GENERATED: &str = "<!-- generated: SNAPSHOTS=overwrite cargo test --test it reference -->";

#[test]
fn fields_are_those_of_the_schemas() {
    for (kind, title, about) in [
        (
            "benchmark",
            "Fields of a spec",
            "A spec is a YAML document with the `kind` Benchmark. Most values may hold [expressions](spec.md).",
        ),
        (
            "suite",
            "Fields of a suite",
            "A suite runs [several benchmarks](../how-to/run-a-suite.md) one after another.",
        ),
        (
            "project",
            "Fields of the project file",
            "`kubebench.yaml` is at the root of a project; [the project file](project.md) introduces it.",
        ),
        (
            "ack",
            "Fields of an acknowledgement",
            "An acknowledgement [accepts a regression](../how-to/accept-a-regression.md) for a while.",
        ),
        (
            "result",
            "Fields of a result file",
            "[Result files](results.md) introduces them; `status` and `reasons` are explained there.",
        ),
    ] {
        let schema = schema(kind);
        let name = title.to_lowercase().replace(' ', "-");
        let page = format!("# {title}\n\n{GENERATED}\n\n{about}\n{}", fields(&schema));
        assert_file(&repository().join(format!("docs/reference/{name}.md")), &page);
    }
}

/// The schema of a kind, without what only editors read.
fn schema(kind: &str) -> Value {
    let Some(kind) = DocumentKind::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(kind)) else {
        return serde_json::from_str(&printed_schema(kind)).unwrap();
    };
    let mut schema = generate(kind, &workload::schemas());
    if let Some(name) = schema.pointer_mut("/definitions/ToolSource/properties/name") {
        name["enum"] = TOOLS.iter().map(|tool| tool.name).collect();
    }
    schema
}

/// The schema of a kind, as the program prints it.
pub(crate) fn printed_schema(kind: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kubebench")).args(["schema", kind]).output().unwrap();
    assert_yes(&output);
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_are_those_of_the_program() {
    let top = whole_help(&[]);
    let mut page = format!("# Commands\n\n{GENERATED}\n\n```text\n{top}```\n");
    for name in names() {
        let _ = write!(page, "\n## {name}\n\n```text\n{}```\n", with_short_globals(&whole_help(&[&name])));
    }
    assert_file(&repository().join("docs/reference/commands.md"), &page);
}

/// The man pages say the same, from the same table.
#[test]
fn exit_statuses_are_those_of_the_program() {
    let page = repository().join("docs/reference/exit-status.md");
    let text = std::fs::read_to_string(&page).unwrap();
    let mut sections = text.split("<!-- table of the program -->\n").map(str::to_owned);
    let mut made = sections.next().unwrap();
    for (table, section) in exit_status::tables().into_iter().zip(sections) {
        let rest: String =
            section.lines().skip_while(|line| line.starts_with('|')).map(|line| format!("{line}\n")).collect();
        made += &format!("<!-- table of the program -->\n{table}{rest}");
    }
    assert_file(&page, &made);
}

/// The help of a command with the names of the global options that it takes: the top of the page explains them.
fn with_short_globals(help: &str) -> String {
    let (own, rest) = help.split_once("Global options:\n").unwrap();
    let (globals, examples) = rest.split_once("\nExamples:\n").unwrap();
    let named: Vec<&str> = globals
        .split_whitespace()
        .filter(|word| word.starts_with("--"))
        .map(|word| word.trim_end_matches(','))
        .collect();
    format!("{own}Global options: {}\n\nExamples:\n{examples}", named.join(" "))
}

/// The sections of a page: the document, and each type that it uses, in the order in which they are met.
fn fields(schema: &Value) -> String {
    let mut page = Page { schema, waiting: vec![("The document".to_owned(), schema)], seen: BTreeSet::new() };
    let mut text = String::new();
    let mut next = 0;
    while let Some((title, schema)) = page.waiting.get(next).cloned() {
        page.section(&title, schema, &mut text);
        next += 1;
    }
    text
}

struct Page<'s> {
    schema: &'s Value,
    waiting: Vec<(String, &'s Value)>,
    seen: BTreeSet<String>,
}

impl<'s> Page<'s> {
    fn section(&mut self, title: &str, schema: &'s Value, text: &mut String) {
        let _ = write!(text, "\n## {title}\n");
        if let Some(about) = schema["description"].as_str() {
            let _ = write!(text, "\n{about}\n");
        }
        let Some(properties) = schema["properties"].as_object().filter(|properties| !properties.is_empty()) else {
            let kind = self.kind(title, schema);
            let _ = write!(text, "\n{}{}.{}\n", kind[..1].to_uppercase(), &kind[1..], examples(schema));
            return;
        };
        text.push_str("\n| field | value | default | meaning |\n|---|---|---|---|\n");
        for (name, property) in properties {
            let is_required = schema["required"].as_array().is_some_and(|names| names.iter().any(|it| it == name));
            let default = match default_of(property) {
                _ if is_required => "required".to_owned(),
                Some(default) => code(&default.to_string()),
                None => String::new(),
            };
            let kind = self.kind(name, property);
            let _ = writeln!(text, "| `{name}` | {kind} | {default} | {} |", meaning(property));
        }
    }

    /// What a value is, in words, with a link to its type where that has a section.
    fn kind(&mut self, name: &str, schema: &'s Value) -> String {
        if let Some(reference) = schema["$ref"].as_str() {
            let definition = reference.rsplit('/').next().unwrap();
            if self.seen.insert(definition.to_owned()) {
                self.waiting.push((definition.to_owned(), self.schema.pointer(&reference[1..]).unwrap()));
            }
            return format!("[{definition}](#{})", definition.to_lowercase());
        }
        // Of a choice between a whole and a part, the whole.
        let whole = schema.get("else");
        if let Some(part) = whole.or_else(|| schema["allOf"].as_array().and_then(|parts| parts.first())) {
            return self.kind(name, part);
        }
        if let Some(form) = schema["title"].as_str() {
            return form.to_owned();
        }
        if let Some(words) = schema["enum"].as_array() {
            return words
                .iter()
                .map(|word| code(word.as_str().unwrap_or(&word.to_string())))
                .collect::<Vec<_>>()
                .join(", ");
        }
        if let Some(others) =
            schema["anyOf"].as_array().or(schema["oneOf"].as_array()).filter(|_| schema["type"].is_null())
        {
            let kinds: Vec<String> = others.iter().map(|other| self.kind(name, other)).collect();
            return kinds.join(" or ");
        }
        let types = match &schema["type"] {
            Value::String(one) => vec![one.as_str()],
            Value::Array(several) => several.iter().filter_map(Value::as_str).collect(),
            _ => vec!["any value"],
        };
        // A text that is an expression is one of any field.
        let is_expression = schema["pattern"].as_str().is_some_and(|pattern| pattern.starts_with("^\\$\\{\\{"));
        let types = types.into_iter().filter(|kind| *kind != "null" && !(is_expression && *kind == "string"));
        let kinds: Vec<String> = types.map(|kind| self.of_type(kind, name, schema)).collect();
        kinds.join(" or ")
    }

    fn of_type(&mut self, kind: &str, name: &str, schema: &'s Value) -> String {
        match kind {
            "array" => match schema.get("items") {
                Some(items) => format!("list of {}", self.kind(name, items)),
                None => "list".to_owned(),
            },
            "object" if schema["properties"].is_object() => {
                let anchor = name.to_lowercase();
                if self.seen.insert(name.to_owned()) {
                    self.waiting.push((name.to_owned(), schema));
                }
                format!("[mapping](#{anchor})")
            }
            "object" => match schema.get("additionalProperties").filter(|of| of.is_object()) {
                Some(values) => format!("mapping of names to {}", self.kind(name, values)),
                None => "mapping".to_owned(),
            },
            "integer" | "number" => match (schema["minimum"].as_f64(), schema["maximum"].as_f64()) {
                (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
                (Some(least), None) => format!("{kind} of at least {least}"),
                (None, Some(most)) => format!("{kind} of at most {most}"),
                (None, None) => kind.to_owned(),
            },
            other => other.to_owned(),
        }
    }
}

/// A default that says something: an empty list is what a field that is left out is anyway.
fn default_of(schema: &Value) -> Option<&Value> {
    let is_empty = |value: &Value| match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        _ => false,
    };
    schema.get("default").filter(|value| !is_empty(value))
}

fn meaning(schema: &Value) -> String {
    let mut text = schema["description"].as_str().unwrap_or_default().to_owned();
    let described = schema["allOf"].as_array().and_then(|parts| parts.first()).unwrap_or(schema);
    let described = described["anyOf"].as_array().and_then(|choices| choices.first()).unwrap_or(described);
    let words = described["enum"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let meanings = described["enumDescriptions"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for (word, meaning) in words.zip(meanings) {
        let _ = write!(text, "<br>{}: {meaning}", code(word));
    }
    format!("{}{}", text.replace('|', "\\|").replace('\n', " "), examples(schema))
}

/// The first example where it is short: it shows the form of a value.
fn examples(schema: &Value) -> String {
    let first = schema["examples"].as_array().and_then(|examples| examples.first());
    let shown = first.map(|first| first.as_str().map_or_else(|| first.to_string(), str::to_owned));
    let short = shown.filter(|text| text.len() <= 60 && !text.contains(['\n', '`']));
    short.map(|text| format!(" Example: {}", code(&text))).unwrap_or_default()
}

fn code(text: &str) -> String {
    format!("`{}`", text.replace('|', "\\|"))
}
