use serde_json::{Value, json};

use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;
use crate::diag::code::KB0105;
use crate::text::Span;

fn parse(fixture: &Fixture) -> Value {
    serde_json::from_str(&fixture.render(Format::Json)).unwrap()
}

#[test]
fn the_documented_fields_and_no_others() {
    let mut document = parse(&Fixture::sample());
    for number in [0, 2] {
        let group = document["diagnostics"][number]["group"].take();
        assert_eq!(group.as_str().unwrap().len(), 16);
    }
    assert_eq!(document["schemaVersion"], 1);
    assert_eq!(document["summary"], json!({"errors": 2, "warnings": 1}));
    assert_eq!(
        document["diagnostics"][2],
        json!({
            "code": "KB0105",
            "severity": "error",
            "title": "duplicate key",
            "message": "duplicate key `repeats`",
            "path": "specs/x.yaml",
            "start": {"line": 5, "column": 3},
            "end": {"line": 5, "column": 10},
            "label": "again here",
            "related": [{
                "path": "specs/x.yaml",
                "start": {"line": 4, "column": 3},
                "end": {"line": 4, "column": 10},
                "label": "first here",
            }],
            "notes": ["readers disagree about which value counts"],
            "help": "remove one of the two lines",
            "fix": {
                "path": "specs/x.yaml",
                "start": {"line": 5, "column": 1},
                "end": {"line": 6, "column": 1},
                "replacement": "",
                "applicability": "certain",
            },
            "url": null,
            "group": null,
        })
    );
    assert_eq!(
        document["diagnostics"][0],
        json!({
            "code": "KB0501",
            "severity": "error",
            "title": "missing manifest",
            "message": "manifest is missing",
            "path": "generated/default/x/config.yaml",
            "start": null,
            "end": null,
            "label": null,
            "related": [],
            "notes": [],
            "help": "run `kubebench compile`",
            "fix": null,
            "url": null,
            "group": null,
        })
    );
}

#[test]
fn texts_come_back_as_they_were() {
    let mut fixture = Fixture::default();
    let id = fixture.source(HOSTILE, "x");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), HOSTILE).label(HOSTILE).note(HOSTILE));
    let finding = &parse(&fixture)["diagnostics"][0];
    for text in [&finding["path"], &finding["message"], &finding["label"], &finding["notes"][0]] {
        assert_eq!(text, HOSTILE);
    }
}

#[test]
fn nothing_found_is_an_object_too() {
    let expected = json!({"schemaVersion": 1, "diagnostics": [], "summary": {"errors": 0, "warnings": 0}});
    assert_eq!(parse(&Fixture::default()), expected);
}

#[test]
fn every_field_is_documented() {
    let page = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/json-output.md"));
    let document = parse(&Fixture::sample());
    let finding = &document["diagnostics"][2];
    for object in [&document, &document["summary"], finding, &finding["related"][0], &finding["fix"], &finding["start"]]
    {
        for field in object.as_object().unwrap().keys() {
            assert!(page.contains(&format!("| `{field}` |")), "docs/reference/json-output.md lacks `{field}`");
        }
    }
}
