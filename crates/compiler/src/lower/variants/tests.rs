use super::*;
use kubebench_syntax::text::{Source, SourceId};
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

/// Checks the findings about the variants of `spec`, and a field of each as JSON, by name.
#[track_caller]
fn check(spec: &str, field: &str, faults: &[(&str, Snapshot)], expected: &[&str]) {
    let source = Source::new("x", spec.as_bytes());
    let node = kubebench_syntax::yaml::read(SourceId(0), &source).root.unwrap();
    let mut diagnostics = Diagnostics::default();
    let found = variants(&source.into(), &node, &mut diagnostics);
    let said: Vec<_> = diagnostics.as_slice().iter().map(|fault| (fault.code.id, &fault.message)).collect();
    assert_findings(&said, faults);
    let shown = found.iter().map(|variant| {
        let name = variant.name.as_ref().and_then(Node::as_text).unwrap_or("-");
        format!("{name} {}", variant.get(field).map_or_else(|| "nothing".to_owned(), |node| node.to_json().to_string()))
    });
    assert_eq!(shown.collect::<Vec<_>>(), expected, "{spec}");
}

#[test]
fn without_variants_there_is_one_without_a_name() {
    check("{workload: {job: {image: a}}, timeout: 1h}", "workload", &[], &[r#"- {"job":{"image":"a"}}"#]);
}

#[test]
fn a_part_merges_and_another_kind_replaces() {
    check(
        "{workload: {job: {image: a, args: [x, y], env: {A: 1, B: 2}}}, variants: [
            {name: same}, {name: part, workload: {job: {args: [z], env: {B: 3, C: 4}}}}, {name: other, workload: {tfJob: {image: b}}}]}",
        "workload",
        &[],
        &[
            r#"same {"job":{"args":["x","y"],"env":{"A":1,"B":2},"image":"a"}}"#,
            r#"part {"job":{"args":["z"],"env":{"A":1,"B":3,"C":4},"image":"a"}}"#,
            r#"other {"tfJob":{"image":"b"}}"#,
        ],
    );
}

#[test]
fn each_variant_may_bring_its_whole_workload() {
    check(
        "{variants: [{name: one, workload: {job: {image: a}}}, {name: two, workload: {tfJob: {image: b}}}]}",
        "workload",
        &[],
        &[r#"one {"job":{"image":"a"}}"#, r#"two {"tfJob":{"image":"b"}}"#],
    );
    check(
        "{variants: [{name: one, workload: {job: {image: a}}}, {name: two}]}",
        "workload",
        &[("KB0359", str! {"the variant `two` has no workload"})],
        &[r#"one {"job":{"image":"a"}}"#],
    );
}

#[test]
fn an_input_is_replaced_whole() {
    check(
        "{workload: {job: {}}, inputs: {seed: 1, dataset: {uri: a, revision: r}}, variants: [{name: x, inputs: {dataset: {uri: b}}}, {name: y}]}",
        "inputs",
        &[],
        &[r#"x {"dataset":{"uri":"b"},"seed":1}"#, r#"y {"dataset":{"revision":"r","uri":"a"},"seed":1}"#],
    );
}

#[test]
fn two_of_one_name_cannot_be_distinguished() {
    check(
        "{workload: {job: {}}, variants: [{name: x}, {name: x, timeout: 1h}]}",
        "timeout",
        &[("KB0359", str! {"two variants have the name `x`"})],
        &["x nothing"],
    );
}
