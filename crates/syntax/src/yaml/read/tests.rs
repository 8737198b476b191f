use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

use super::*;
use crate::yaml::limits::MAX_BYTES;

#[track_caller]
fn findings(text: &str) -> Vec<(String, String)> {
    let source = Source::new("x.yaml", text.as_bytes());
    let read = read(SourceId(0), &source);
    let mut found: Vec<(String, String)> = read
        .diagnostics
        .iter()
        .map(|fault| match &fault.place {
            Place::Span(span) => {
                let position = source.position(span.start as usize);
                (format!("{} {}:{}", fault.code.id, position.line, position.column), fault.message.clone())
            }
            Place::File(_) | Place::Line(..) => (fault.code.id.to_owned(), fault.message.clone()),
        })
        .collect();
    found.sort();
    found
}

#[track_caller]
fn faults(text: &str) -> String {
    findings(text).iter().map(|(place, message)| format!("{place} {message}\n")).collect()
}

#[track_caller]
fn json(text: &str) -> serde_json::Value {
    let source = Source::new("x.yaml", text.as_bytes());
    let read = read(SourceId(0), &source);
    assert_eq!(read.diagnostics, [], "{text}");
    read.root.map_or(serde_json::Value::Null, |root| root.to_json())
}

#[test]
fn values_and_spans() {
    let text = "a: {b: [1, 'x', true, null]}\nc: |\n  two\n  lines\nd:\n  - e: 0.5\n";
    assert_eq!(
        json(text),
        serde_json::json!({"a": {"b": [1, "x", true, null]}, "c": "two\nlines\n", "d": [{"e": 0.5}]})
    );
    let source = Source::new("x.yaml", text.as_bytes());
    let root = read(SourceId(0), &source).root.unwrap();
    assert_eq!(source.slice(root.at(&["a".into(), "b".into(), 1.into()]).unwrap().span), "'x'");
    assert_eq!(source.slice(root.get("d").unwrap().span), "- e: 0.5");
    assert_eq!(source.slice(root.entry("c").unwrap().key_span), "c");
}

#[test]
fn byte_order_mark_and_crlf_change_nothing() {
    assert_eq!(json("\u{feff}a: 1\r\nb: |\r\n  x\r\n"), json("a: 1\nb: |\n  x\n"));
}

#[test]
fn strictness() {
    let cases: &[(&str, &[(&str, Snapshot)])] = &[
        ("a: 1\nb: 2\na: 3\n", &[("KB0105 3:1", str! {"the key `a` appears a second time"})]),
        ("a: &x 1\nb: *x\n", &[("KB0106 1:4", str! {"`&x` is an anchor"}), ("KB0106 2:4", str! {"`*x` is an alias"})]),
        ("b: *x\n", &[("KB0106 1:4", str! {"`*x` is an alias"})]),
        ("a: {<<: {b: 1}}\n", &[("KB0106 1:5", str! {"`<<` is a merge key"})]),
        ("a: !!str 1\n", &[("KB0107 1:4", str! {"`!!str` is a YAML tag"})]),
        ("a: !x {b: 1}\n", &[("KB0107 1:4", str! {"`!x` is a YAML tag"})]),
        ("a:\n\tb: 1\n", &[("KB0108 2:1", str! {"a tab is not allowed here"})]),
        ("a:\t1\n", &[("KB0108 1:3", str! {"a tab is not allowed here"})]),
        ("a: 1\n---\nb: 2\n", &[("KB0109 2:1", str! {"a second document starts here"})]),
        (
            "a: yes\nb: 0777\n",
            &[
                ("KB0110 1:4", str! {"`yes` is a boolean in YAML 1.1 and text in YAML 1.2"}),
                ("KB0110 2:4", str! {"`0777` is octal in YAML 1.1 and decimal in YAML 1.2"}),
            ],
        ),
        ("on: 1\n", &[("KB0110 1:1", str! {"`on` is a boolean in YAML 1.1 and text in YAML 1.2"})]),
        ("a: \"x\u{202e}y\"\n", &[("KB0111 1:6", str! {"U+202E (a bidirectional control) is not allowed"})]),
        ("a: b\u{feff}c\n", &[("KB0111 1:5", str! {"U+FEFF (a byte order mark inside the file) is not allowed"})]),
        ("a: b\u{7}\n", &[("KB0111 1:5", str! {"U+0007 (a control character) is not allowed"})]),
        (
            "1: x\ntrue: z\n",
            &[
                ("KB0113 1:1", str! {"the key `1` is not a string"}),
                ("KB0113 2:1", str! {"the key `true` is not a string"}),
            ],
        ),
        ("? [a]\n: b\n", &[("KB0113 1:3", str! {"a key must be a plain or quoted string"})]),
        ("a: 'b\n", &[("KB0104 1:4", str! {"this quote is not closed on its line"})]),
        ("s:\n  d: Zlib: fast\n", &[("KB0104 2:10", str! {"an unquoted value cannot contain `: `"})]),
        ("s:\n  - d: it's: fast # x\n", &[("KB0104 2:12", str! {"an unquoted value cannot contain `: `"})]),
        (
            "s:\n  d: a\n e: f\n",
            &[("KB0104 3:2", str! {"this line is indented by 1 space, and the one next to it by 2"})],
        ),
        ("a: [1, 2\nb: 3\n", &[("KB0104 2:2", str! {"a `,` or `]` is missing here"})]),
        ("%YAML 1.1\n---\na: 1\n", &[("KB0107 1:1", str! {"`%` starts a YAML directive"})]),
        ("", &[("KB0103", str! {"the file holds no document"})]),
        ("# only a comment\n", &[("KB0103", str! {"the file holds no document"})]),
        ("~\n", &[("KB0103", str! {"the file holds no document"})]),
        ("a\0b", &[("KB0101", str! {"the file is binary, not text"})]),
    ];
    for (text, expected) in cases {
        assert_findings(&findings(text), expected);
    }
}

/// A value with a `: ` is quoted, whatever its key is next to.
#[test]
fn a_value_with_a_colon_has_a_fix() {
    for (text, fixed) in [
        ("s:\n  d: Zlib: fast\n", "s:\n  d: 'Zlib: fast'\n"),
        ("s:\n  - d: it's: fast # x\n", "s:\n  - d: 'it''s: fast' # x\n"),
        ("a: b: c: d\n", "a: 'b: c: d'\n"),
    ] {
        let read = read(SourceId::default(), &Source::new("a.yaml", text.as_bytes()));
        let fix = read.diagnostics.as_slice().first().and_then(|fault| fault.fix.clone()).expect(text);
        let mut found = text.to_owned();
        found.replace_range(fix.span.range(), &fix.replacement);
        assert_eq!(found, fixed);
    }
}

#[test]
fn tabs_inside_scalars_and_comments_are_content() {
    assert_eq!(
        json("a: \"x\ty\" #\tnote\nb: |\n  all:\n  \tmake\n"),
        serde_json::json!({"a": "x\ty", "b": "all:\n\tmake\n"})
    );
}

#[test]
fn latin1_is_named_with_its_place() {
    let source = Source::new("x.yaml", b"a: 1\r\nb: caf\xe9\r\n");
    let read = read(SourceId(0), &source);
    let Some(Place::Span(span)) = read.diagnostics.first().map(|fault| fault.place.clone()) else { panic!() };
    assert_eq!((source.position(span.start as usize).line, source.position(span.start as usize).column), (2, 7));
}

#[test]
fn limits() {
    assert!(faults(&"[".repeat(100)).contains("KB0112"));
    assert!(faults(&format!("a: {}{}", "[".repeat(1000), "]".repeat(1000))).contains("KB0112"));
    assert!(faults(&"a: [\n".repeat(500)).contains("KB0112"));
    assert!(faults(&format!("[{}]", "1,".repeat(MAX_NODES + 1))).contains("KB0112"));
    assert!(faults(&format!("a: {}", "x".repeat(MAX_BYTES))).contains("KB0102"));
}

#[test]
fn every_fault_of_a_file_is_reported() {
    assert_eq!(faults("a: yes\na: 1\nb: &x 1\nc: *x\nd: 1_000\n").lines().count(), 5);
}
