//! A spec is compared as one with its fragments: what moves is no change, and values are those that hold.

use kubebench_testing::snapshot::{Snapshot, str};

use super::{Files, SPEC, check_files, edited, files};

const FRAGMENT: &str = "\
apiVersion: kubebench.dev/v1
kind: Fragment
metadata: {name: train}
spec:
  timeout: 1h
  parameters: {tag: \"2.18\", steps: 200}
  gates: [{metric: rate, maxRegression: 3%}]
";

const PATH: &str = "specs/fragments/train.yaml";

/// A spec that has its timeout and its gates from the fragment.
fn extending() -> Files {
    let spec = SPEC.replace("spec:\n", "spec:\n  extends: [train]\n").replace("  timeout: 1h\n", "");
    let spec = spec.replace("  gates: [{metric: rate, maxRegression: 3%}]\n", "").replace("unused: 1", "steps: 500");
    let spec = spec.replace("[train]}\n", "[train, --steps, \"${{ parameters.steps }}\"]}\n");
    files().into_iter().chain([("specs/ps.yaml", spec), (PATH, FRAGMENT.to_owned())]).collect()
}

#[track_caller]
fn check(edits: &[(&'static str, &str, &str)], expected: Snapshot) {
    check_files(&extending(), &edited(extending(), edits), expected);
}

#[test]
fn what_only_moves_into_a_fragment_is_no_change() {
    let base = edited(
        extending(),
        &[("specs/ps.yaml", "  extends: [train]\n", "  timeout: 1h\n  gates: [{metric: rate, maxRegression: 3%}]\n")],
    );
    check_files(&base, &extending(), str! {"ps on gpu: Unchanged"});
    check_files(&extending(), &base, str! {"ps on gpu: Unchanged"});
}

#[test]
fn what_a_spec_says_over_its_fragment_was_there_before() {
    check(
        &[("specs/ps.yaml", "  targets: [gpu]\n", "  targets: [gpu]\n  timeout: 3h\n")],
        str! {[r#"
ps on gpu: Changed
  cause: specs/ps.yaml timeout: 1h → 3h in 6 of 6 cases
"#]},
    );
    check(
        &[("specs/ps.yaml", "  targets: [gpu]\n", "  targets: [gpu]\n  gates: null\n")],
        str! {[r#"
ps on gpu: Unchanged
  idle: specs/ps.yaml gates.rate: {metric: rate, maxRegression: 3%} → none
"#]},
    );
    check(
        &[("specs/ps.yaml", "steps: 500}", "stepz: 500}")],
        str! {[r#"
ps on gpu: Changed
  cause: specs/fragments/train.yaml parameters.steps: 500 → 200 in 6 of 6 cases
  idle: specs/ps.yaml parameters.stepz: none → 500
"#]},
    );
}

#[test]
fn a_change_of_a_fragment_is_in_its_file() {
    check(
        &[(PATH, "timeout: 1h", "timeout: 3h"), (PATH, "maxRegression: 3%", "maxRegression: 9%")],
        str! {[r#"
ps on gpu: Changed
  cause: specs/fragments/train.yaml timeout: 1h → 3h in 6 of 6 cases
  idle: specs/fragments/train.yaml gates.rate.maxRegression: 3% → 9%
"#]},
    );
    check(
        &[(PATH, "  gates: [{metric: rate, maxRegression: 3%}]\n", "")],
        str! {[r#"
ps on gpu: Unchanged
  idle: specs/fragments/train.yaml gates.rate: {metric: rate, maxRegression: 3%} → none
"#]},
    );
}
