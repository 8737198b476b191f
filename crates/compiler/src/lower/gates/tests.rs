use crate::compile::{Input, Workspace};
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

/// Returns the findings about these gates on the metrics `a`, which has a direction, and `b`, which has none.
fn found(gates: &str) -> Vec<(&'static str, String)> {
    let text = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  \
         workload: {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}}}\n  \
         metrics: [{{name: a, better: lower, primary: true, from: {{duration: run}}}}, {{name: b, from: {{duration: queue}}}}]\n  \
         gates: {gates}\n"
    );
    let file = Input { path: "specs/a.yaml".to_owned(), bytes: text.into_bytes() };
    let compilation = Workspace::open(None, "0.1.0").compile(vec![file]);
    let errors =
        compilation.diagnostics.iter().filter(|fault| fault.severity == kubebench_syntax::diag::Severity::Error);
    errors.map(|fault| (fault.code.id, fault.message.clone())).collect()
}

#[test]
fn gates_that_decide() {
    for gates in [
        "[{metric: a, maxRegression: 3%, min: 1, max: 2}]",
        "[{metric: a, min: 2, max: 2}]",
        "[{metric: a, maxRegression: 3%}, {metric: a, max: 9}, {metric: b, max: 9}]",
        "[{metric: a, maxRegression: 3%}, {metric: a, maxRegression: 5%, baseline: {tag: v1}}]",
    ] {
        assert_eq!(found(gates), [], "{gates}");
    }
}

#[test]
fn gates_that_cannot() {
    let check = |gates: &str, expected: (&str, Snapshot)| assert_findings(&found(gates), &[expected]);
    check("[{metric: a}]", ("KB0202", str! {"this gate has no limit"}));
    check("[{metric: a, min: 5, max: 3}]", ("KB0333", str! {"no value of `a` is at least 5 and at most 3"}));
    check(
        "[{metric: b, maxRegression: 3%}]",
        ("KB0333", str! {"`b` has no direction, so no change of it is a regression"}),
    );
    check(
        "[{metric: a, max: 3}, {metric: a, max: 4, min: 1}]",
        ("KB0333", str! {"another gate already has a `max` for `a`"}),
    );
    check(
        "[{metric: a, max: 3, baseline: {tag: v1}}, {metric: a, max: 4}]",
        ("KB0333", str! {"another gate already has a `max` for `a`"}),
    );
    check(
        "[{metric: a, maxRegression: 3%, baseline: {tag: v1}}, {metric: a, maxRegression: 4%, baseline: {tag: v1}}]",
        ("KB0333", str! {"another gate already has a `maxRegression` for `a`"}),
    );
    let twice = found("[{metric: 'a{p=z z,q=1}', max: 3}, {metric: 'a{q=1, p=\"z z\"}', max: 4}]");
    assert!(
        twice.iter().any(|(code, message)| *code == "KB0333" && message.contains("another gate already has a `max`")),
        "{twice:?}"
    );
}
