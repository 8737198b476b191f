use kubebench_testing::snapshot::{assert_text, str};

use super::super::Format;
use super::super::tests::Fixture;
use super::*;
use crate::diag::code::{KB0105, KB0501};
use crate::text::Span;

#[test]
fn a_finding_is_one_line_that_editors_can_jump_from() {
    assert_text(
        Fixture::sample().render(Format::Concise),
        str! {[r#"
generated/default/x/config.yaml: error[KB0501]: manifest is missing; help: run `kubebench compile`
specs/x.yaml:3:10: warning[KB0401]: image `demo` has neither tag nor digest; help: write `demo@sha256:…`
specs/x.yaml:5:3: error[KB0105]: duplicate key `repeats`; help: remove one of the two lines

"#]},
    );
}

#[test]
fn no_text_makes_a_second_line() {
    let mut fixture = Fixture::default();
    let id = fixture.source("a\nb.yaml", "x: 1\n");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), "one\r\ntwo\u{1b}[2J").help("three\nfour"));
    fixture.push(Diagnostic::in_file(&KB0501, "c.yaml", ""));
    assert_eq!(
        fixture.render(Format::Concise),
        "a\\nb.yaml:1:1: error[KB0105]: one\\r\\ntwo\\u{1b}[2J; help: three\\nfour\nc.yaml: error[KB0501]: \n"
    );
}
