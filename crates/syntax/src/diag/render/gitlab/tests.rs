use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;
use crate::diag::code::KB0105;
use crate::text::Span;

fn parse(fixture: &Fixture) -> Vec<Value> {
    serde_json::from_str(&fixture.render(Format::Gitlab)).unwrap()
}

fn fingerprints(fixture: &Fixture) -> Vec<String> {
    parse(fixture).iter().map(|issue| issue["fingerprint"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_issue_has_the_fields_that_gitlab_reads() {
    let mut issue = parse(&Fixture::sample()).remove(1);
    let fingerprint = issue["fingerprint"].take();
    assert_eq!(issue["group"].take().as_str().unwrap().len(), 16);
    assert_eq!(fingerprint.as_str().unwrap().len(), 64);
    assert_eq!(
        issue,
        json!({
            "description": "image `demo` has neither tag nor digest; help: write `demo@sha256:…`",
            "check_name": "KB0401",
            "fingerprint": null,
            "severity": "minor",
            "location": {"path": "specs/x.yaml", "lines": {"begin": 3}},
            "group": null,
        })
    );
    let whole_file = &parse(&Fixture::sample())[0];
    assert_eq!((&whole_file["severity"], &whole_file["location"]["lines"]["begin"]), (&json!("major"), &json!(1)));
}

#[test]
fn fingerprints_differ_within_a_report_and_outlive_moved_lines() {
    let fixture = |prefix: &str| {
        let mut fixture = Fixture::default();
        let id = fixture.source("x.yaml", &format!("{prefix}a: 1\na: 2\na: 3\n"));
        for n in 0..3 {
            let at = prefix.len() + n * 5;
            fixture.push(Diagnostic::at(&KB0105, Span::new(id, at..at + 1), "duplicate key `a`"));
        }
        fixture
    };
    let (before, after) = (fingerprints(&fixture("")), fingerprints(&fixture("# one\n# two\n")));
    assert_eq!(before, after);
    assert_eq!(before.iter().collect::<BTreeSet<_>>().len(), 3);
}

#[test]
fn hostile_text_is_one_line_and_nothing_found_is_an_empty_array() {
    let mut fixture = Fixture::default();
    fixture.push(Diagnostic::in_file(&KB0105, HOSTILE, HOSTILE));
    let issue = &parse(&fixture)[0];
    assert_eq!(issue["location"]["path"], HOSTILE);
    assert!(!issue["description"].as_str().unwrap().contains('\n'));
    assert_eq!(Fixture::default().render(Format::Gitlab), "[]\n");
}
