use super::super::Format;
use super::super::tests::{Fixture, HOSTILE};
use super::*;
use crate::diag::Place;
use crate::diag::code::{KB0105, KB0401};
use crate::text::Span;

fn run(fixture: &Fixture) -> Value {
    let mut log: Value = serde_json::from_str(&fixture.render(Format::Sarif)).unwrap();
    log["runs"][0].take()
}

#[test]
fn results_point_at_their_rules_errors_first() {
    let run = run(&Fixture::sample());
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    let ids: Vec<_> = rules.iter().map(|rule| rule["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["KB0105", "KB0401", "KB0501"]);
    assert_eq!(rules[0]["shortDescription"]["text"], "duplicate key");
    let results = run["results"].as_array().unwrap();
    let found: Vec<_> = results.iter().map(|result| result["ruleId"].as_str().unwrap()).collect();
    assert_eq!(found, ["KB0501", "KB0105", "KB0401"]);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap();
        assert_eq!(rules[index]["id"], result["ruleId"]);
    }
    assert_eq!(run["columnKind"], "utf16CodeUnits");
    assert_eq!(run["invocations"][0]["toolExecutionNotifications"], json!([]));
}

#[test]
fn a_result_carries_places_and_the_fix() {
    let mut result = run(&Fixture::sample())["results"][1].take();
    result["partialFingerprints"].take();
    assert_eq!(result["properties"]["group"].take().as_str().unwrap().len(), 16);
    let uri = json!({"uri": "specs/x.yaml", "uriBaseId": "%SRCROOT%"});
    assert_eq!(
        result,
        json!({
            "ruleId": "KB0105",
            "ruleIndex": 0,
            "properties": {"group": null},
            "level": "error",
            "message": {"text": "duplicate key `repeats`\nnote: readers disagree about which value counts\n\
                                 help: remove one of the two lines"},
            "locations": [{"physicalLocation": {
                "artifactLocation": uri,
                "region": {"startLine": 5, "startColumn": 3, "endLine": 5, "endColumn": 10},
            }}],
            "relatedLocations": [{
                "id": 0,
                "message": {"text": "first here"},
                "physicalLocation": {
                    "artifactLocation": uri,
                    "region": {"startLine": 4, "startColumn": 3, "endLine": 4, "endColumn": 10},
                },
            }],
            "fixes": [{
                "description": {"text": "remove one of the two lines"},
                "artifactChanges": [{
                    "artifactLocation": uri,
                    "replacements": [{
                        "deletedRegion": {"startLine": 5, "startColumn": 1, "endLine": 6, "endColumn": 1},
                        "insertedContent": {"text": ""},
                    }],
                }],
            }],
            "partialFingerprints": null,
        })
    );
}

#[test]
fn columns_count_utf16_units() {
    let mut fixture = Fixture::default();
    let id = fixture.source("x.yaml", "é🦀語: x\n");
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 11..12), "here"));
    let run = run(&fixture);
    let region = &run["results"][0]["locations"][0]["physicalLocation"]["region"];
    let before = "é🦀語: ".encode_utf16().count();
    assert_eq!(region["startColumn"], before + 1);
    assert_eq!(region["endColumn"], before + 2);
}

#[test]
fn paths_become_relative_uris() {
    let table = [
        ("specs/x.yaml", "specs/x.yaml"),
        ("a b/ü%.yaml", "a%20b/%C3%BC%25.yaml"),
        ("c:d?e#f.yaml", "c%3Ad%3Fe%23f.yaml"),
        ("x\n\"<.yaml", "x%0A%22%3C.yaml"),
    ];
    for (path, uri) in table {
        assert_eq!(artifact(path)["uri"], uri);
    }
}

#[test]
fn fingerprints_outlive_moved_lines() {
    let fingerprint = |prefix: &str| {
        let mut fixture = Fixture::default();
        let id = fixture.source("x.yaml", &format!("{prefix}a: 1\n"));
        fixture.push(Diagnostic::at(&KB0105, Span::new(id, prefix.len()..prefix.len() + 1), "duplicate key `a`"));
        run(&fixture)["results"][0]["partialFingerprints"].take()
    };
    assert_eq!(fingerprint(""), fingerprint("# a comment\n"));
    assert!(fingerprint("")["primaryLocationLineHash"].is_string());
}

#[test]
fn over_the_limit_errors_stay_and_a_notification_says_so() {
    let mut fixture = Fixture::many(&KB0401, 5_001);
    let last = fixture.diagnostics.pop().unwrap();
    fixture.push(Diagnostic { code: &KB0105, severity: Severity::Error, ..last });
    let run = run(&fixture);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 5_000);
    assert_eq!(results[0]["ruleId"], "KB0105");
    let notification = &run["invocations"][0]["toolExecutionNotifications"][0];
    assert_eq!(
        notification["message"]["text"],
        "5001 findings; this log holds 5000 of them, errors and rare ones first"
    );
}

#[test]
fn rules_are_described_by_their_page() {
    let code = |page| Code { page, title: "the title", id: "KB0000", ..KB0105 };
    assert_eq!(description(&code("# KB0000\n\nFirst words.\n\nMore.\n")), "First words.");
    assert_eq!(description(&code("# KB0000\n")), "the title");
    assert_eq!(description(&code("é".repeat(2_000).leak())).chars().count(), 1_024);
}

#[test]
fn hostile_text_comes_back_as_it_was() {
    let mut fixture = Fixture::default();
    let id = fixture.source(HOSTILE, "x");
    let place = Place::File(HOSTILE.to_owned());
    fixture.push(Diagnostic::at(&KB0105, Span::new(id, 0..1), HOSTILE).related(place, HOSTILE));
    let result = &run(&fixture)["results"][0];
    assert_eq!(result["message"]["text"], HOSTILE);
    let related = &result["relatedLocations"][0];
    assert_eq!(related["message"]["text"], HOSTILE);
    assert!(related["physicalLocation"]["region"].is_null());
    let uri = related["physicalLocation"]["artifactLocation"]["uri"].as_str().unwrap();
    assert!(uri.bytes().all(|byte| byte.is_ascii_graphic()));
}
