use crate::compile::{Input, Workspace};
use kubebench_testing::snapshot::{Snapshot, assert_findings, str};

/// Returns the findings about a project file with this `spec`: the code with the text pointed at, and the message.
fn found(spec: &str) -> Vec<(String, String)> {
    let text = format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {spec}\n");
    let file = Input { path: "kubebench.yaml".to_owned(), bytes: text.into_bytes() };
    let compilation = Workspace::open(Some(file), "0.1.0").compile(Vec::new());
    let shown = |fault: &kubebench_syntax::diag::Diagnostic| {
        let kubebench_syntax::diag::Place::Span(span) = fault.place else { panic!("{fault:?}") };
        let place = compilation.sources.get(span.source).unwrap().slice(span);
        (format!("{} at {place}", fault.code.id), fault.message.clone())
    };
    compilation.diagnostics.iter().map(shown).collect()
}

#[test]
fn folders_of_their_own_are_fine() {
    for spec in [
        "{}",
        "{output: deploy/generated, results: {directory: deploy/results}}",
        "{specs: [specs, specs-more], output: specs-generated}",
    ] {
        assert_eq!(found(spec), [], "{spec}");
    }
}

#[test]
fn an_overlap_is_shown_where_it_is_written() {
    let check = |spec: &str, expected: &[(&str, Snapshot)]| assert_findings(&found(spec), expected);
    check(
        "{output: specs}",
        &[("KB0323 at specs", str! {"the output directory `specs` is also a folder of specs `specs`"})],
    );
    check(
        "{specs: [a, generated]}",
        &[("KB0323 at generated", str! {"the output directory `generated` is also a folder of specs `generated`"})],
    );
    check(
        "{specs: [a/specs, b], output: a}",
        &[("KB0323 at a", str! {"the output directory `a` contains a folder of specs `a/specs`"})],
    );
    check(
        "{output: specs/x}",
        &[("KB0323 at specs/x", str! {"the output directory `specs/x` is inside a folder of specs `specs`"})],
    );
    check(
        "{results: {directory: generated/results}}",
        &[(
            "KB0323 at generated/results",
            str! {"the directory of results `generated/results` is inside the output directory `generated`"},
        )],
    );
    check(
        "{results: {directory: specs}}",
        &[("KB0323 at specs", str! {"the directory of results `specs` is also a folder of specs `specs`"})],
    );
    check("{output: .git/x}", &[("KB0323 at .git/x", str! {"the output directory `.git/x` is in git's own folder"})]);
}
