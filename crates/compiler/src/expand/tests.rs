use super::*;
use kubebench_syntax::text::{Source, SourceId};

#[track_caller]
fn check(matrix: &str, expected: &[&str]) {
    let source = Source::new("x", matrix.as_bytes());
    let node = kubebench_syntax::yaml::read(SourceId(0), &source).root;
    let mut diagnostics = Diagnostics::default();
    let cases = expand(node.as_ref(), &mut diagnostics);
    let found: Vec<String> = if diagnostics.as_slice().is_empty() {
        cases.into_iter().map(|case| case.name).collect()
    } else {
        diagnostics.as_slice().iter().map(|fault| format!("{} {}", fault.code.id, fault.message)).collect()
    };
    assert_eq!(found, expected, "{matrix}");
}

#[test]
fn product_include_exclude() {
    check("{axes: {b: [64, 128], a: [x, y]}}", &["a=x, b=64", "a=x, b=128", "a=y, b=64", "a=y, b=128"]);
    check("{axes: {a: [1, 2]}, include: [{a: 9}], exclude: [{a: 1}]}", &["a=2", "a=9"]);
    check("{include: [{a: 1}, {a: 2}]}", &["a=1", "a=2"]);
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
    assert_ne!(of("{axes: {a: [1]}}"), of("{axes: {a: ['1']}}"));
    assert_eq!(of(&format!("{{axes: {{a: ['{}']}}}}", "x/".repeat(100))).first().map(String::len), Some(48));
}

#[test]
fn faults() {
    check("{axes: {a: [1, 1]}}", &["KB0305 `a` holds the value 1 twice", "KB0305 the case a=1 exists already"]);
    check("{axes: {a: [1]}, include: [{a: 1}]}", &["KB0305 the case a=1 exists already"]);
    check("{axes: {a: [1]}, include: [{b: 1}]}", &["KB0305 `b` is not an axis", "KB0305 this case leaves out a"]);
    check("{axes: {a: [1]}, exclude: [{a: 7}]}", &["KB0306 this entry excludes no case"]);
    check("{axes: {a: [1]}, exclude: [{a: 1}]}", &["KB0305 the matrix has no case left"]);
}

#[test]
fn the_cap_is_checked_before_expansion() {
    let axis = format!("[{}]", (0..1000).map(|n| n.to_string()).collect::<Vec<_>>().join(","));
    check(
        &format!("{{axes: {{a: {axis}, b: {axis}, c: {axis}}}}}"),
        &["KB0304 the matrix has 1000000000 cases, more than 10000"],
    );
}

#[test]
fn numbers_are_told_apart_by_their_text() {
    check("{axes: {tag: [2.1, 2.10]}, exclude: [{tag: 2.1}]}", &["tag=2.10"]);
}
