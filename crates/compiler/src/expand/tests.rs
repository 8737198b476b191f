use super::*;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

#[track_caller]
fn check(matrix: &str, expected: &[&str]) {
    let source = Source::new("x", matrix.as_bytes());
    let node = kubebench_syntax::yaml::read(SourceId(0), &source).root;
    let mut diagnostics = Diagnostics::default();
    let cases = expand(node.as_ref(), &mut diagnostics);
    assert_eq!(diagnostics.as_slice(), [], "{matrix}");
    assert_eq!(cases.into_iter().map(|case| case.name).collect::<Vec<_>>(), expected, "{matrix}");
}

#[track_caller]
fn refused(matrix: &str, expected: &[(&str, Snapshot)]) {
    let source = Source::new("x", matrix.as_bytes());
    let node = kubebench_syntax::yaml::read(SourceId(0), &source).root;
    let mut diagnostics = Diagnostics::default();
    expand(node.as_ref(), &mut diagnostics);
    let found: Vec<(&str, &str)> =
        diagnostics.as_slice().iter().map(|fault| (fault.code.id, fault.message.as_str())).collect();
    assert_findings(&found, expected);
}

#[test]
fn product_include_exclude() {
    check("{axes: {b: [64, 128], a: [x, y]}}", &["a=x, b=64", "a=x, b=128", "a=y, b=64", "a=y, b=128"]);
    check("{axes: {a: [1, 2]}, include: [{a: 9}], exclude: [{a: 1}]}", &["a=2", "a=9"]);
    check("{axes: {a: [1, 2]}, exclude: [{a: '1'}]}", &["a=2"]);
    check("{include: [{a: 1}, {a: 2}]}", &["a=1", "a=2"]);
}

#[test]
fn lists_of_zip_go_in_step() {
    check("{zip: {workers: [2, 3], ranks: [16, 24]}}", &["ranks=16, workers=2", "ranks=24, workers=3"]);
    check(
        "{axes: {model: [s, l]}, zip: {ranks: [8, 16], workers: [1, 2]}, include: [{model: x, workers: 9, ranks: 9}], exclude: [{model: s, workers: 2}]}",
        &[
            "model=s, ranks=8, workers=1",
            "model=l, ranks=8, workers=1",
            "model=l, ranks=16, workers=2",
            "model=x, ranks=9, workers=9",
        ],
    );
    // A value may be in several steps.
    check("{zip: {a: [1, 1, 2], b: [1, 2, 2]}, exclude: [{a: 1}]}", &["a=2, b=2"]);
    check(
        "{axes: {z: [1, 2]}, zip: {y: [a, b], b: [c, d]}}",
        &["b=c, y=a, z=1", "b=c, y=a, z=2", "b=d, y=b, z=1", "b=d, y=b, z=2"],
    );
}

#[test]
fn zip_gives_cases_the_identity_of_the_same_rows() {
    let of = |text: &str| {
        let source = Source::new("x", text.as_bytes());
        let node = kubebench_syntax::yaml::read(SourceId(0), &source).root;
        expand(node.as_ref(), &mut Diagnostics::default()).into_iter().map(|case| case.id).collect::<Vec<_>>()
    };
    assert_eq!(of("{zip: {w: [2, 3], r: [1.10, 24]}}"), of("{include: [{w: 2, r: 1.10}, {w: 3, r: 24}]}"));
}

#[test]
fn faults_of_zip() {
    refused("{zip: {a: [1, 2], b: [1]}}", &[("KB0305", str! {"`b` has 1 value, but `a` has 2"})]);
    refused(
        "{zip: {a: [1, 1], b: [2, 2]}}",
        &[
            ("KB0305", str! {"`zip` lists the values 1, 2 twice"}),
            ("KB0305", str! {"the case a=1, b=2 exists already"}),
        ],
    );
    refused("{axes: {a: [1]}, zip: {a: [1], b: [2]}}", &[("KB0305", str! {"`a` is an axis already"})]);
    refused(
        "{zip: {a: [], b: []}}",
        &[
            ("KB0305", str! {"the axis `a` has no values"}),
            ("KB0305", str! {"the axis `b` has no values"}),
            ("KB0305", str! {"the matrix has no case left"}),
        ],
    );
}

#[test]
fn identity_is_the_values_and_nothing_else() {
    let of = |text: &str| {
        let source = Source::new("x", text.as_bytes());
        let node = kubebench_syntax::yaml::read(SourceId(0), &source).root;
        expand(node.as_ref(), &mut Diagnostics::default()).into_iter().map(|case| case.id).collect::<Vec<_>>()
    };
    assert_eq!(of("{axes: {b: [1], a: [2]}}"), of("{axes: {a: [2], b: [1]}}"));
    assert_eq!(of("{axes: {a: [1]}}"), ["a-1-9afeb0f2"]);
    for value in ["1", "-2", "3.10", "0.5", "true", "false", "word", "1.2.3", "32Gi"] {
        assert_eq!(of(&format!("{{axes: {{a: [{value}]}}}}")), of(&format!("{{axes: {{a: ['{value}']}}}}")), "{value}");
    }
    for (one, other) in [("3.10", "3.1"), ("true", "'True'"), ("1", "'+1'"), ("16", "'0x10'"), ("'null'", "''")] {
        assert_ne!(
            of(&format!("{{axes: {{a: [{one}]}}}}")),
            of(&format!("{{axes: {{a: [{other}]}}}}")),
            "{one} {other}"
        );
    }
    assert_eq!(of("{axes: {a: [word, true]}}"), ["a-word-dd6a4c55", "a-true-ab3bdfa5"]);
    assert_eq!(of(&format!("{{axes: {{a: ['{}']}}}}", "x/".repeat(100))).first().map(String::len), Some(48));
}

#[test]
fn faults() {
    refused(
        "{axes: {a: [1, 1]}}",
        &[("KB0305", str! {"`a` lists the value 1 twice"}), ("KB0305", str! {"the case a=1 exists already"})],
    );
    refused(
        "{axes: {a: [1, '1']}}",
        &[("KB0305", str! {"`a` lists the value 1 twice"}), ("KB0305", str! {"the case a=1 exists already"})],
    );
    refused("{axes: {a: [true]}, include: [{a: 'true'}]}", &[("KB0305", str! {"the case a=true exists already"})]);
    refused("{axes: {a: [1]}, include: [{a: 1}]}", &[("KB0305", str! {"the case a=1 exists already"})]);
    refused(
        "{axes: {a: [1]}, include: [{b: 1}]}",
        &[("KB0305", str! {"`b` is not an axis"}), ("KB0305", str! {"this case leaves out a"})],
    );
    refused("{axes: {a: [1]}, exclude: [{a: 7}]}", &[("KB0306", str! {"this entry excludes no case"})]);
    refused("{axes: {a: [1]}, exclude: [{a: 1}]}", &[("KB0305", str! {"the matrix has no case left"})]);
}

#[test]
fn the_cap_is_checked_before_expansion() {
    let axis = format!("[{}]", (0..1000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    refused(
        &format!("{{axes: {{a: {axis}, b: {axis}, c: {axis}}}}}"),
        &[("KB0304", str! {"the matrix has 1000000000 cases, more than 10000"})],
    );
}

#[test]
fn numbers_are_distinguished_by_their_text() {
    check("{axes: {tag: [2.1, 2.10]}, exclude: [{tag: 2.1}]}", &["tag=2.10"]);
}
