use std::fmt::Write as _;

use kubebench_testing::snapshot::{assert_findings, str};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use super::*;
use crate::diag::Place;
use crate::yaml::Step;
use crate::yaml::limits::{MAX_MANIFEST_DEPTH, MAX_MANIFEST_NODES};

fn manifest(text: &str) -> (Source, Manifest) {
    let source = Source::new("jobs/x.yaml", text.as_bytes());
    let read = read_manifest(SourceId(0), &source);
    (source, read)
}

/// The documents as JSON, in which a whole float is an integer, as for every reader of JSON in Go.
fn jsons(manifest: &Manifest) -> Vec<Json> {
    manifest.documents.iter().map(|root| whole(root.to_json())).collect()
}

fn whole(value: Json) -> Json {
    match value {
        // Over 2^63, kubectl continues with a float.
        Json::Number(number) if number.is_u64() && !number.is_i64() => json!(number.as_f64()),
        Json::Number(number) => {
            let float = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() < 1e15);
            #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
            float.map_or(Json::Number(number), |float| json!(float as i64))
        }
        Json::Array(items) => items.into_iter().map(whole).collect(),
        Json::Object(object) => object.into_iter().map(|(key, value)| (key, whole(value))).collect(),
        other => other,
    }
}

#[track_caller]
fn sound(text: &str) -> Vec<Json> {
    let (_, read) = manifest(text);
    assert_eq!(read.diagnostics, [], "{text}");
    jsons(&read)
}

/// Returns code and place, and the message.
fn findings(text: &str) -> Vec<(String, String)> {
    let (source, read) = manifest(text);
    let code_and_place = |fault: &Diagnostic| match &fault.place {
        Place::Span(span) => {
            let position = source.position(span.start as usize);
            format!("{} {}:{}", fault.code.id, position.line, position.column)
        }
        Place::File(_) | Place::Line(..) => fault.code.id.to_owned(),
    };
    read.diagnostics.iter().map(|fault| (code_and_place(fault), fault.message.clone())).collect()
}

fn faults(text: &str) -> String {
    findings(text).iter().map(|(place, message)| format!("{place} {message}\n")).collect()
}

/// Where Kubebench says no although kubectl reads something, and why.
const STRICTER: &[(&str, &str)] = &[
    ("a: !!binary gIGC\n", "kubectl puts replacement characters in the place of bytes"),
    ("a: \u{feff}x\n", "nobody sees the mark"),
    ("a: \"b\u{2028}c\"\n", "nobody sees it, and outside of quotes it ends a line"),
    ("a: |\n  b\u{2028}  c\n", "kubectl takes it for the end of a line"),
    ("a: \"x\ny\"\n", "YAML wants the second line indented deeper"),
    ("a: \"x\"# c\n", "YAML wants a space before a comment"),
    ("a: [x]# c\n", "YAML wants a space before a comment"),
    ("a: {k: v, $x:}\n", "the key is `$x:` to kubectl and `$x` to others"),
    ("a: {?x: 1}\n", "the key is `x` to kubectl and `?x` to others"),
    ("a: \"\\'\"\n", "YAML has no such escape"),
];

/// Where kubectl says no and Kubebench reads what is plainly meant.
const MILDER: &[&str] = &[
    "m: &m [{a: 1}]\nx: {<<: *m}\n",
    "{a: \"\\/\"}",
    "x: \"\\ud83d\\ude00\"\n",
    "a: [http://x:80/y, b?c]\n",
    "a: |\n  \tx\n",
];

/// The real decoder of kubectl has judged these texts: `testdata/judge`.
#[test]
fn everything_is_read_as_kubectl_reads_it() {
    let mut wrong = Vec::new();
    let table = include_str!("testdata/kubectl.jsonl");
    for line in table.lines() {
        let row: Json = serde_json::from_str(line).unwrap();
        let text = row["yaml"].as_str().unwrap();
        let (_, read) = manifest(text);
        let error = read.diagnostics.iter().find(|fault| fault.severity == Severity::Error);
        // An empty file, and a document that is no object, are refused later by kubectl.
        let objects: Vec<Json> = row["reads"].as_array().unwrap().iter().cloned().map(whole).collect();
        let usable = !objects.is_empty() && objects.iter().all(Json::is_object);
        let refused = row.get("refuses").is_some();
        let stricter = STRICTER.iter().any(|(known, _)| *known == text);
        let milder = MILDER.contains(&text);
        match (refused || !usable, error) {
            (true, None) if !milder => wrong.push(format!("{text:?} is taken: {}, {:?}", row["refuses"], jsons(&read))),
            (false, Some(fault)) if !stricter => {
                wrong.push(format!("{text:?} is refused: {} {}", fault.code.id, fault.message));
            }
            (true, Some(_)) if milder => wrong.push(format!("{text:?} is refused now: take it off the list")),
            (false, None) if stricter => wrong.push(format!("{text:?} is taken now: take it off the list")),
            (false, None) if jsons(&read) != objects => {
                wrong.push(format!("{text:?}: {:?}, not {objects:?}", jsons(&read)));
            }
            _ => {}
        }
    }
    assert!(table.lines().count() > 450);
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

#[test]
fn documents_and_places() {
    let text = "# c\n---\na: 1\n--- # d\n---\nb: &x\n  c: ${{ matrix.c }}\nd: *x\n...\n";
    let (source, read) = manifest(text);
    assert_eq!(read.diagnostics, []);
    assert_eq!(jsons(&read), [json!({"a": 1}), json!({"b": {"c": "${{ matrix.c }}"}, "d": {"c": "${{ matrix.c }}"}})]);
    let place = |steps: &[Step]| source.position(read.documents[1].at(steps).unwrap().span.start as usize);
    let copied = place(&["d".into(), "c".into()]);
    assert_eq!((copied.line, copied.column), (7, 6), "a copy has the place of its text");
    assert_eq!(copied, place(&["b".into(), "c".into()]));
    assert_eq!(source.slice(read.documents[0].entry("a").unwrap().key_span), "a");
}

#[test]
fn windows_files_and_marks_change_nothing() {
    assert_eq!(sound("\u{feff}a: |\r\n  é\r\n---\r\n\u{feff}b: 1"), [json!({"a": "é\n"}), json!({"b": 1})]);
}

#[test]
fn lists_are_their_items() {
    let text = "kind: List\napiVersion: v1\nitems:\n- {kind: A, apiVersion: v1}\n- kind: PodList\n  apiVersion: v1\n  items: [{metadata: {name: x}}]\n- {kind: List, items: []}\n";
    assert_eq!(
        sound(text),
        [
            json!({"kind": "A", "apiVersion": "v1"}),
            json!({"metadata": {"name": "x"}, "apiVersion": "v1", "kind": "Pod"})
        ]
    );
    for object in ["{kind: AllowList, items: [a]}", "{kind: ConfigMap, items: [{a: 1}]}", "{kind: List}"] {
        assert_eq!(sound(object).len(), 1, "{object}");
    }
    assert_findings(&findings("kind: List\nitems: []\n"), &[("KB0103", str! {"the file holds no object"})]);
}

#[test]
fn what_few_people_expect_is_said() {
    let cases = [
        ("a: 1\nb: 2\na: 3\n", &[("KB0118 3:1", str! {"the key `a` appears a second time"})]),
        ("a: 1\n'a': 3\n", &[("KB0118 2:1", str! {"the key `a` appears a second time"})]),
        ("y: 1\n", &[("KB0119 1:1", str! {"kubectl reads the key `y` as `true`"})]),
        ("0755: 1\n", &[("KB0119 1:1", str! {"kubectl reads the key `0755` as `493`"})]),
        ("m: &m {a: 1}\nx:\n  a: 2\n  <<: *m\n", &[("KB0119 4:3", str! {"this `<<` replaces the `a` before it"})]),
        ("a: 1\n...\nb: 2\n", &[("KB0119 3:1", str! {"kubectl does not read what follows `...`"})]),
    ];
    for (text, said) in cases {
        assert_findings(&findings(text), said);
        assert_eq!(manifest(text).1.documents.len(), 1, "{text}");
    }
    assert_eq!(faults("1: a\ntrue: b\nm: &m {a: 1}\nx: {<<: *m, a: 2}\n'y': 1\n"), "");
    assert_eq!(jsons(&manifest("1: a\n'1': b\n").1), [json!({"1": "b"})]);
}

#[test]
fn what_kubectl_refuses() {
    let cases = [
        ("a: .inf\n", &[("KB0120 1:4", str! {"`.inf` is a number that JSON cannot hold"})]),
        ("a: !!int x\n", &[("KB0120 1:10", str! {"`x` is not an integer, as its tag says"})]),
        ("a: !!binary '%'\n", &[("KB0120 1:13", str! {"`%` is not base64, as its tag says"})]),
        ("a: *x\n", &[("KB0120 1:4", str! {"no anchor `&x` precedes this alias"})]),
        ("a: &x [*x]\n", &[("KB0120 1:8", str! {"this alias is inside the value that it refers to"})]),
        ("a: {<<: 1}\n", &[("KB0120 1:5", str! {"`<<` needs a mapping or a list of mappings"})]),
        ("~: 1\n", &[("KB0120 1:1", str! {"null cannot be a key of a Kubernetes object"})]),
        ("? [a]\n: 1\n", &[("KB0120 1:3", str! {"a list cannot be a key of a Kubernetes object"})]),
        ("a: 1\n--- x\n", &[("KB0120 2:1", str! {"text follows the `---` on its line"})]),
        ("- a\n", &[("KB0120 1:1", str! {"this document is a list, not a Kubernetes object"})]),
        ("a: b: c\n", &[("KB0104 1:5", str! {"an unquoted value cannot contain `: `"})]),
        ("a:\n\t- x\n", &[("KB0108 2:1", str! {"a tab is not allowed here"})]),
        ("a: \u{7}\n", &[("KB0111 1:4", str! {"U+0007 is not allowed"})]),
        ("<<<<<<< a\nx: 1\n=======\nx: 2\n>>>>>>> b\n", &[("KB0104 1:1", str! {"an unresolved merge starts here"})]),
        ("# nothing\n---\n", &[("KB0103", str! {"the file holds no object"})]),
        (
            "a:\n  b: 'x\n  y'\n",
            &[(
                "KB0104 2:6",
                str! {"this quote is not closed, or a further line of the text is not indented deeper than its key"},
            )],
        ),
        ("a: {x:}\n", &[("KB0120 1:5", str! {"kubectl reads the `:` after this as a part of the text"})]),
        ("a: [\"x\", ${{ a }}]\n", &[("KB0104 1:10", str! {"an expression inside `[…]` or `{…}` must be quoted"})]),
    ];
    for (text, said) in cases {
        assert_findings(&findings(text), said);
    }
    let (_, read) = manifest("a: 1\n---\nb: *x\n---\nc: 1\n");
    assert_eq!(jsons(&read), [json!({"a": 1})], "what stands before the error is kept");
    assert_eq!(read_manifest(SourceId(0), &Source::new("x", b"a: \xff\n")).diagnostics[0].code.id, "KB0101");
    assert_eq!(read_manifest(SourceId(0), &Source::new("x", b"\0\x01")).diagnostics[0].code.id, "KB0101");
}

#[test]
fn templates_are_recognized() {
    let cases = [
        (
            "a: {{ .Values.x }}\n",
            ("KB0117 1:4", str! {"`{{ .Values.x }}` is a placeholder, so this is not YAML"}),
            "Helm",
        ),
        ("a: {{ x }}/y\n", ("KB0117 1:4", str! {"`{{ x }}` is a placeholder, so this is not YAML"}), "Helm"),
        (
            "a: 1\n{{- if .x }}\nb: 2\n{{- end }}\n",
            ("KB0117 2:1", str! {"`{{- if .x }}` is a placeholder, so this is not YAML"}),
            "Helm",
        ),
        (
            "{% if x %}\na: 1\n{% endif %}\n",
            ("KB0117 1:1", str! {"`{% if x %}` is a placeholder, so this is not YAML"}),
            "Jinja",
        ),
        ("a: {k: ${X}}\n", ("KB0117 1:8", str! {"`${X}` is a placeholder, so this is not YAML"}), "envsubst"),
        (
            "a:\n- image: {user}/x:1\n  b: 1\n",
            ("KB0117 2:10", str! {"`{user}` is a placeholder, so this is not YAML"}),
            "template",
        ),
        ("a: @IMAGE@\n", ("KB0117 1:4", str! {"`@IMAGE@` is a placeholder, so this is not YAML"}), "template"),
    ];
    for (text, expected, engine) in cases {
        assert_findings(&findings(text), &[expected]);
        assert!(manifest(text).1.diagnostics[0].notes[0].contains(engine), "{text}");
    }
    assert!(faults("a: '{{x}}'\nb: c: d\n").starts_with("KB0104 2:"), "a quoted placeholder is none");
    assert_eq!(faults("a: ${X}\nb: '{{inputs.x}}'\nc: x{{y}}\n"), "", "what parses is no template");
}

#[test]
fn limits_hold() {
    let deep = |depth: usize| format!("a: {}{}\n", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(faults(&deep(MAX_MANIFEST_DEPTH - 1)), "");
    assert!(faults(&deep(MAX_MANIFEST_DEPTH)).starts_with("KB0112 1:103 "), "{}", faults(&deep(MAX_MANIFEST_DEPTH)));
    assert!(faults(&deep(100_000)).starts_with("KB0112"));
    let blocks: String = (0..300).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
    assert!(faults(&blocks).starts_with("KB0112"));

    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for n in 1..9 {
        let before = n - 1;
        writeln!(laughs, "a{n}: &a{n} [{}]", vec![format!("*a{before}"); 9].join(", ")).unwrap();
    }
    assert!(faults(&laughs).starts_with("KB0112"), "{}", faults(&laughs));
    let merges = format!("a: &a {{k: 1}}\n{}", "x: {<<: [*a, *a, *a]}\n---\na: &a {k: 1}\n".repeat(10));
    assert_eq!(faults(&merges), "");
    let long = format!("a: &a '{}'\nb: [{}]\n", "x".repeat(1 << 20), "*a, ".repeat(100));
    assert!(faults(&long).contains("16 MiB"), "{}", faults(&long));
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for n in 1..200 {
        writeln!(chain, "a{n}: &a{n} [*a{}]", n - 1).unwrap();
    }
    assert!(faults(&chain).contains("nests deeper"), "{}", faults(&chain));
    let many = format!("a: [{}]\n", "1,".repeat(MAX_MANIFEST_NODES));
    assert!(faults(&many).contains("more than 200000 values"), "{}", faults(&many));
    assert!(faults(&"#".repeat(MAX_MANIFEST_BYTES + 1)).contains("4 MiB"));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        judge(&bytes);
    }

    #[test]
    fn any_words_of_yaml_are_read_or_refused(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..40),
    ) {
        judge(words.concat().as_bytes());
    }
}

const WORDS: &[&str] = &[
    "a", ": ", "\n", "\n  ", "- ", "---", "\n---\n", "...", "\n...\n", "{", "}", "[", "]", ", ", "&a ", "*a", "<<: ",
    "|\n", "'", "\"", "!!int ", "!x ", "? ", "# ", "${{ ", "{{ ", " }}", "{%", "é", "\t", "\r", "1", "0x", "-",
    "\u{feff}", "\\ud83d", "%",
];

fn judge(bytes: &[u8]) {
    let source = Source::new("x.yaml", bytes);
    let read = read_manifest(SourceId(0), &source);
    assert!(!read.documents.is_empty() || read.diagnostics.iter().any(|fault| fault.severity == Severity::Error));
    for fault in &read.diagnostics {
        if let Place::Span(span) = fault.place {
            assert!(span.start <= span.end && source.text.get(span.range()).is_some(), "{fault:?}");
        }
    }
    for document in &read.documents {
        assert!(source.text.get(document.span.range()).is_some());
        drop(document.to_json());
    }
}
