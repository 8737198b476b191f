use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;

use crate::diag::code::{KB0105, KB0108, KB0308, KB0501};
use crate::text::{Source, Span};

fn one(text: &str, mark: Range<usize>, related: Option<Range<usize>>) -> String {
    let mut fixture = Fixture::default();
    let id = fixture.source("specs/x.yaml", text);
    let mut diagnostic = Diagnostic::at(&KB0105, Span::new(id, mark), "message").label("here");
    if let Some(related) = related {
        diagnostic = diagnostic.related(Place::Span(Span::new(id, related)), "first here");
    }
    fixture.push(diagnostic).render(Format::Human)
}

#[test]
fn findings_look_like_those_of_a_compiler() {
    let expected = r"error[KB0501]: manifest is missing
 --> generated/default/x/config.yaml
 = help: run `kubebench compile`

warning[KB0401]: image `demo` has neither tag nor digest
 --> specs/x.yaml:3:10
  |
3 |   image: demo
  |          ^^^^
  |
  = help: write `demo@sha256:…`

error[KB0105]: duplicate key `repeats`
 --> specs/x.yaml:5:3
  |
4 |   repeats: 5
  |   ------- first here
5 |   repeats: 5
  |   ^^^^^^^ again here
  |
  = note: readers disagree about which value counts
  = help: remove one of the two lines
";
    assert_eq!(Fixture::sample().render(Format::Human), expected);
}

#[test]
fn color_adds_nothing_but_escape_sequences() {
    let colored = Fixture::sample().render_in(Format::Human, Style::Colored);
    let mut stripped = String::new();
    let mut rest = colored.as_str();
    while let Some((before, after)) = rest.split_once("\x1b[") {
        stripped.push_str(before);
        rest = after.split_once('m').unwrap().1;
    }
    stripped.push_str(rest);
    assert_eq!(stripped, Fixture::sample().render(Format::Human));
}

#[test]
fn other_files_and_far_lines_get_blocks_of_their_own() {
    let mut fixture = Fixture::default();
    let a = fixture.source("specs/a.yaml", "name: x\n");
    let b = fixture.source("specs/b.yaml", &("#\n".repeat(99) + "name: x\n"));
    fixture.push(
        Diagnostic::at(&KB0308, Span::new(b, 204..205), "two files are called `x`")
            .related(Place::Span(Span::new(a, 6..7)), "the other one")
            .related(Place::Span(Span::new(b, 0..1)), "far above")
            .related(Place::File("specs/c.yaml".to_owned()), "a third")
            .help("rename one\nor the other"),
    );
    let expected = r"error[KB0308]: two files are called `x`
   --> specs/b.yaml:100:7
    |
100 | name: x
    |       ^
    |
    = help: rename one
            or the other
note: the other one
 --> specs/a.yaml:1:7
  |
1 | name: x
  |       ^
note: far above
 --> specs/b.yaml:1:1
  |
1 | #
  | ^
note: a third
 --> specs/c.yaml
";
    assert_eq!(fixture.render(Format::Human), expected);
}

#[test]
fn marks_at_the_borders_of_a_text() {
    let empty = "error[KB0105]: message\n --> specs/x.yaml:1:1\n  |\n1 |\n  | ^ here\n";
    assert_eq!(one("", 0..0, None), empty);
    let end = "error[KB0105]: message\n --> specs/x.yaml:2:1\n  |\n2 |\n  | ^ here\n";
    assert_eq!(one("a:\n", 3..3, None), end);
    let both = "error[KB0105]: message\n --> specs/x.yaml:2:1\n  |\n1 | a:\n  | - first here\n2 |\n  | ^ here\n";
    assert_eq!(one("a:\n", 3..3, Some(0..1)), both);
}

#[test]
fn a_block_is_bracketed_and_a_tall_one_shows_its_first_line() {
    let block = "error[KB0105]: message\n --> specs/x.yaml:2:3\n  |\n2 | /   b: 1\n3 | |   c: 2\n  | |______^ here\n";
    assert_eq!(one("a:\n  b: 1\n  c: 2\nd: 3\n", 5..17, None), block);
    let tall = "error[KB0105]: message\n --> specs/x.yaml:2:1\n  |\n2 | b: c\n  | ^^^^ here\n";
    assert_eq!(one(&("a:\n".to_owned() + &"b: c\n".repeat(20)), 3..100, None), tall);
}

#[test]
fn long_lines_are_cut_around_the_mark_and_the_column_stays_true() {
    let text = format!("k: {}END{}\n", "value ".repeat(100), " more".repeat(10_000));
    let shown = one(&text, 603..606, None);
    assert!(shown.contains("\n --> specs/x.yaml:1:604\n"), "{shown}");
    assert!(shown.contains("\n1 | …lue value"), "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() < 140), "{shown}");
    let column = |needle: char| shown.lines().find_map(|line| line.chars().position(|c| c == needle));
    assert_eq!(column('E'), column('^'));
    assert!(shown.contains("^^^ here"), "{shown}");
}

#[test]
fn a_mark_that_would_be_cut_off_gets_its_own_block() {
    let text = format!("a: {} b\n", "x".repeat(500));
    let shown = one(&text, 504..505, Some(0..1));
    assert!(shown.contains("note: first here\n --> specs/x.yaml:1:1\n"), "{shown}");
}

#[test]
fn what_a_terminal_would_obey_is_shown() {
    let mut fixture = Fixture::default();
    let id = fixture.source("x.yaml", "\ta: b\x1b[31m\u{202e}\u{9b}c\u{feff}\0d\n");
    fixture.push(Diagnostic::at(&KB0108, Span::new(id, 0..1), "tab\u{1b}[2J\nnext").label("he\nre"));
    fixture.push(Diagnostic::in_file(&KB0501, HOSTILE, HOSTILE));
    let expected = "error[KB0108]: tab\\u{1b}[2J\\nnext\n --> x.yaml:1:1\n  |\n1 |     a: b␛[31m\u{fffd}\u{fffd}c\u{fffd}␀d\n  | \
                    ^^^^ he\\nre\n\nerror[KB0501]: a\\nb\\r\\n";
    let shown = fixture.render(Format::Human);
    assert!(shown.starts_with(expected), "{shown}");
    assert_eq!(shown.lines().count(), 8);
}

#[test]
fn a_line_with_a_secret_is_quoted_by_no_finding() {
    let text = "env: {A: hunter2, B: yes}\nnext: no\n";
    let mut sources = SourceMap::default();
    let id = sources.add(Source::new("specs/x.yaml", text.as_bytes()));
    let at = |range| Span::new(id, range);
    let diagnostics = [
        Diagnostic::at(&code::KB0407, at(9..16), "`A` looks like a secret"),
        Diagnostic::at(&code::KB0110, at(21..24), "`yes` is ambiguous"),
        Diagnostic::at(&code::KB0110, at(32..34), "`no` is ambiguous"),
    ];
    let report = Report { diagnostics: &diagnostics, sources: &sources, checked: &[], style: Style::Plain };
    let shown = render(&report);
    assert!(!shown.contains("hunter2") && shown.contains("specs/x.yaml:1:22") && shown.contains("next: no"), "{shown}");
}
