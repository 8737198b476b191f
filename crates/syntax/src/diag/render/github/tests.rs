use std::collections::BTreeMap;

use kubebench_testing::snapshot::{assert_text, str};

use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;
use crate::diag::Code;
use crate::diag::code::{KB0105, KB0401, KB0501};
use crate::text::Span;

/// A command as the runner reads it (`ActionCommand.TryParseV2`): name, properties, data.
fn run(line: &str) -> (String, BTreeMap<String, String>, String) {
    let line = line.trim_start().strip_prefix("::").expect("a command");
    let (info, data) = line.split_once("::").expect("a command");
    let (name, properties) = info.split_once(' ').unwrap_or((info, ""));
    let properties = properties
        .trim()
        .split(',')
        .filter_map(|property| property.split_once('='))
        .map(|(key, value)| (key.to_owned(), unescape(value, &["\r", "\n", ":", ",", "%"])))
        .collect();
    (name.to_owned(), properties, unescape(data, &["\r", "\n", "%"]))
}

fn unescape(text: &str, tokens: &[&str]) -> String {
    tokens.iter().fold(text.to_owned(), |text, token| text.replace(&format!("%{:02X}", token.as_bytes()[0]), token))
}

#[test]
fn errors_come_first_with_file_line_and_column() {
    assert_eq!(
        Fixture::sample().render(Format::Github),
        "::error file=generated/default/x/config.yaml,title=KB0501 missing manifest::manifest is missing%0A\
         help: run `kubebench compile`\n\
         ::error file=specs/x.yaml,line=5,endLine=5,col=3,endColumn=10,title=KB0105 duplicate key::\
         duplicate key `repeats`%0Anote: readers disagree about which value counts%0Ahelp: remove one of the two lines\n\
         ::warning file=specs/x.yaml,line=3,endLine=3,col=10,endColumn=14,title=KB0401 image without tag or digest::\
         image `demo` has neither tag nor digest%0Ahelp: write `demo@sha256:…`\n"
    );
}

#[test]
fn the_runner_reads_back_what_was_meant() {
    for (path, message) in [
        ("a,b:c=d%2C.yaml", "100% of ::set-output name=x::y"),
        ("specs/ü 🦀.yaml", "%0A is not %250A"),
        ("a\nb::error::.yaml", "two\nlines\n::error::three"),
    ] {
        let mut fixture = Fixture::default();
        let id = fixture.source(path, "x: 1\n");
        fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), message));
        let text = fixture.render(Format::Github);
        assert_eq!(text.matches('\n').count(), 1, "{text}");
        let (name, properties, data) = run(text.trim_end_matches('\n'));
        assert_eq!((name.as_str(), data.as_str()), ("error", message));
        assert_eq!(properties["file"], path);
        assert_eq!(properties["title"], "KB0105 duplicate key");
    }
}

#[test]
fn hostile_text_stays_one_command() {
    let mut fixture = Fixture::default();
    let id = fixture.source(HOSTILE, "x: 1\n");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), HOSTILE).note(HOSTILE).help(HOSTILE));
    let text = fixture.render(Format::Github);
    assert_eq!(text.matches('\n').count(), 1);
    let (name, properties, data) = run(text.trim_end());
    assert_eq!(name, "error");
    assert!(properties["file"].starts_with("a\nb\\r\n::error::x%0A,y=z]]>"), "{properties:?}");
    assert!(data.contains("\\u{1b}[31m\\u{202e}"), "{data}");
}

#[test]
fn columns_are_left_out_over_several_lines_as_the_runner_demands() {
    let mut fixture = Fixture::default();
    let id = fixture.source("x.yaml", "a:\n  b\nc\n");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..7), "tall"));
    assert_eq!(
        fixture.render(Format::Github),
        "::error file=x.yaml,line=1,endLine=2,title=KB0105 duplicate key::tall\n"
    );
}

/// `count` findings of one code, each with a message of its own that no other has.
fn different(code: &'static Code, count: usize) -> Vec<Diagnostic> {
    let message = |number: usize| format!("message {}", "x".repeat(number));
    (0..count).map(|number| Diagnostic::in_file(code, "specs/a.yaml", message(number))).collect()
}

fn lines(diagnostics: Vec<Diagnostic>) -> Vec<String> {
    let text = Fixture { diagnostics, ..Fixture::default() }.render(Format::Github);
    text.lines().map(str::to_owned).collect()
}

#[test]
fn at_most_ten_are_printed_and_the_others_counted() {
    assert_eq!(lines(different(&KB0105, 10)).len(), 10);
    let many = lines(different(&KB0105, 12));
    assert_eq!(many.len(), 10);
    assert_text(
        many.last().unwrap(),
        str! {"::notice title=kubebench::3 more findings in this step; `--report json=FILE` and `--output-format human` have all"},
    );
    assert_eq!(Fixture::default().render(Format::Github), "");
}

#[test]
fn a_rare_mistake_comes_before_a_frequent_one_of_its_severity() {
    let mut all = Fixture::many(&KB0401, 1_000).diagnostics;
    all.extend(different(&KB0105, 1));
    all.extend(
        (0..300).map(|number| Diagnostic::in_file(&KB0501, format!("{number}"), format!("`{number}` is missing"))),
    );
    let printed = lines(all);
    let codes: Vec<&str> = printed.iter().filter_map(|line| line.split_once("title=")?.1.get(..6)).collect();
    assert_eq!(codes, ["KB0105", "KB0501", "KB0401"]);
}
