//! Warnings that a spec or a target does without: with a reason, which reviewers see, and without another run.

use std::collections::BTreeSet;

use kubebench_compiler::compile::Compilation;
use kubebench_testing::snapshot::{assert_text, str};

use crate::support::project::{Folder, compile};

fn project(lints: &str, target: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec:\n  lints: {lints}\n  targets: {{one: {{namespace: one, lints: {target}}}, two: {{namespace: two}}}}\n"
    )
}

/// A spec whose only warnings are KB0401, of its image, and KB0403, of its resources.
fn spec(lints: &str) -> String {
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  lints: {lints}\n  workload: {{job: {{image: r.example/a, command: [a]}}}}\n  metrics: [{{name: s, unit: s, better: lower, from: {{duration: run}}}}]\n"
    )
}

fn compiled(project: &str, spec: &str) -> Compilation {
    compile(&[("kubebench.yaml", project), ("specs/a.yaml", spec)])
}

fn codes(compilation: &Compilation) -> BTreeSet<&'static str> {
    compilation.diagnostics.iter().map(|fault| fault.code.id).filter(|id| *id != "KB0395").collect()
}

fn set<const N: usize>(codes: [&'static str; N]) -> BTreeSet<&'static str> {
    codes.into_iter().collect()
}

#[test]
fn a_spec_does_without_a_warning_and_nothing_else_changes() {
    let before = compiled(&project("{}", "{}"), &spec("{}"));
    assert_eq!(codes(&before), set(["KB0401", "KB0403"]));
    let after = compiled(&project("{}", "{}"), &spec("{KB0401: {level: allow, reason: The registry keeps its tags}}"));
    assert_eq!(codes(&after), set(["KB0403"]));
    let digests = |compilation: &Compilation| -> Vec<String> {
        compilation.benchmarks.iter().map(|compiled| compiled.identity.digest.to_string()).collect()
    };
    assert_eq!(digests(&before), digests(&after));
    let shown: BTreeSet<&str> = after
        .benchmarks
        .iter()
        .flat_map(|compiled| &compiled.permissions)
        .filter(|finding| finding.code.id == "KB0395")
        .map(|finding| finding.message.as_str())
        .collect();
    assert_eq!(shown, set(["KB0401 is suppressed: The registry keeps its tags"]));
}

#[test]
fn a_target_does_without_a_warning_of_its_benchmarks_alone() {
    let allowed = "{KB0401: {level: allow, reason: mirrored}, KB0403: {level: allow, reason: mirrored}}";
    // The other target has it still.
    assert_eq!(codes(&compiled(&project("{}", allowed), &spec("{}"))), set(["KB0401", "KB0403"]));
    let on_one = spec("{}").replace("  timeout: 1h\n", "  timeout: 1h\n  targets: [one]\n");
    let compilation = compiled(&project("{}", allowed), &on_one);
    assert_eq!(codes(&compilation), set([]));
    assert!(
        compilation.of_targets.iter().any(|of| of.finding.code.id == "KB0395" && of.target.as_deref() == Some("one"))
    );
}

#[test]
fn errors_stay_and_what_suppresses_nothing_is_reported() {
    let allowed = spec("{KB0401: {level: allow, reason: x y}}");
    let raised = compiled(&project("{KB0401: error}", "{}"), &allowed);
    assert_eq!(codes(&raised), set(["KB0401", "KB0403", "KB0469"]));
    assert!(raised.has_errors());
    let unused = spec("{KB0402: {level: allow, reason: x y}}");
    let said = |compilation: &Compilation| {
        let unused = compilation.diagnostics.iter().filter(|fault| fault.code.id == "KB0469");
        unused.map(|fault| format!("{} {:?}", fault.message, fault.notes)).collect::<Vec<_>>().join("\n")
    };
    assert_text(
        said(&raised),
        str! {r#"unused suppression of KB0401 ["KB0401 is an error in this project, and errors cannot be suppressed"]"#},
    );
    assert_text(
        said(&compiled(&project("{}", "{}"), &unused)),
        str! {r#"unused suppression of KB0402 ["there is no warning KB0402 here, and a suppression would hide the next one"]"#},
    );
    let of_target = project("{}", "{KB0425: {level: allow, reason: x y}}");
    assert_text(
        said(&compiled(&of_target, &spec("{}"))),
        str! {r#"unused suppression of KB0425 ["there is no warning KB0425 here, and a suppression would hide the next one"]"#},
    );
    assert_eq!(said(&compiled(&of_target, &spec("{KB0101: {level: allow, reason: x}}"))), "");
}

#[test]
fn a_suite_does_without_a_warning_of_its_document() {
    let suite = |lints: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {{name: s}}\nspec:\n  schedule: {{cron: '30 2 * * *', timezone: Europe/Berlin}}\n  benchmarks: [a]\n  lints: {lints}\n"
        )
    };
    let compiled = |lints: &str| {
        compile(&[
            ("kubebench.yaml", &project("{}", "{}")),
            ("specs/a.yaml", &spec("{}")),
            ("specs/s.yaml", &suite(lints)),
        ])
    };
    assert_eq!(codes(&compiled("{}")), set(["KB0401", "KB0403", "KB0438"]));
    let allowed = "{KB0438: {level: allow, reason: A night without a run does no harm}}";
    // Its benchmarks have theirs still.
    assert_eq!(codes(&compiled(allowed)), set(["KB0401", "KB0403"]));
    let of_image = "{KB0401: {level: allow, reason: x y}}";
    assert_eq!(codes(&compiled(of_image)), set(["KB0401", "KB0403", "KB0438", "KB0469"]));
    let folder = Folder::with([
        ("kubebench.yaml", project("{}", "{}")),
        ("specs/a.yaml", spec("{}")),
        ("specs/s.yaml", suite(allowed)),
    ]);
    let plan = String::from_utf8(folder.run(&["plan"]).stdout).unwrap();
    assert!(plan.contains("KB0438: A night without a run does no harm"), "{plan}");
}

#[test]
fn a_queue_is_of_one_system() {
    for (queue, code) in [
        ("{kueue: a, volcano: b}", "KB0207"),
        ("{volcano: b, frameworks: [pod]}", "KB0207"),
        ("{frameworks: [pod]}", "KB0207"),
        ("{}", "KB0206"),
    ] {
        let project =
            project("{}", "{}").replace("two: {namespace: two}", &format!("two: {{namespace: two, queue: {queue}}}"));
        assert_eq!(codes(&compiled(&project, &spec("{}"))), set([code]), "{queue}");
    }
}

#[test]
fn a_reason_is_asked_for() {
    for (lints, code) in [
        ("{KB0401: {level: allow}}", "KB0202"),
        ("{KB0401: {level: allow, reason: ''}}", "KB0205"),
        ("{KB0401: {level: \"off\", reason: x}}", "KB0204"),
        ("{KB0101: {level: allow, reason: x}}", "KB0205"),
        ("{KB0401: allow}", "KB0203"),
    ] {
        assert!(codes(&compiled(&project("{}", "{}"), &spec(lints))).contains(code), "{lints}");
    }
}

#[test]
fn plan_shows_suppressions() {
    let folder = Folder::with([
        ("kubebench.yaml", project("{}", "{}")),
        ("specs/a.yaml", spec("{KB0401: {level: allow, reason: The registry keeps its tags}}")),
    ]);
    let plan = String::from_utf8(folder.run(&["plan"]).stdout).unwrap();
    assert!(plan.contains("KB0401: The registry keeps its tags"), "{plan}");
}
