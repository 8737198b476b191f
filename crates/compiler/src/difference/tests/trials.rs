//! Trials: they give what a compilation gives, and read only what is edited.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use kubebench_syntax::text::Source;
use kubebench_testing::snapshot::str;

use super::super::key;
use super::{Files, PROJECT, SPEC, VERSION, check_files, compile, edited, files};
use crate::compile::Trial;
use crate::lower::PROJECT_FILE;

/// Returns the files with a second spec, on another target, that looks a parameter of the project up.
fn with_another(mut files: Files) -> Files {
    let other = SPEC.replace("name: ps}", "name: other}").replace("targets: [gpu]", "targets: [other]");
    files.insert("specs/other.yaml", other.replace("LEVEL: info", "LEVEL: \"${{ project.parameters.level }}\""));
    files
}

#[test]
fn a_trial_gives_what_a_compilation_of_the_same_texts_gives() {
    let parameters = (PROJECT_FILE, "spec:\n", "spec:\n  parameters: {level: debug}\n");
    let base = edited(with_another(files()), &[parameters]);
    let edits = [
        (PROJECT_FILE, "level: debug", "level: info"),
        (PROJECT_FILE, "repeats: 3", "repeats: 5"),
        (PROJECT_FILE, "gpu: a100", "gpu: h100"),
        ("specs/ps.yaml", "replicas: 1", "replicas: 2"),
    ];
    let (compilation, read) = compile(&base);
    for edit in edits {
        let head = edited(base.clone(), &[edit]);
        let texts = BTreeMap::from([(edit.0.to_owned(), Some(head[edit.0].clone()))]);
        let wanted = BTreeSet::from(["specs/other.yaml", "specs/ps.yaml"]);
        let tried = compilation.executed(Trial { texts, read: Arc::clone(&read) }, &wanted, VERSION);
        let tried: Vec<_> = tried.iter().map(|(benchmark, executed)| (key(benchmark), executed.digest)).collect();
        let (whole, _) = compile(&head);
        let whole: Vec<_> = whole.benchmarks.iter().map(|of| (key(&of.benchmark), of.identity.digest)).collect();
        assert_eq!(tried, whole, "{edit:?}");
    }
}

#[test]
fn a_trial_reads_no_spec_again() {
    let (mut compilation, read) = compile(&edited(files(), &[("specs/ps.yaml", "${{ parameters.tag }}", "2.19")]));
    let digest = compilation.benchmarks[0].identity.digest;
    let (id, _) = compilation.sources.at("specs/ps.yaml").unwrap();
    let text = &compilation.sources.get(id).unwrap().text;
    // No document, with the same expressions where they were.
    let unreadable = text.replacen("apiVersion: ", "}[: ------- ", 1);
    compilation.sources.replace(id, Source::new("specs/ps.yaml", unreadable.as_bytes()));
    let wanted = BTreeSet::from(["specs/ps.yaml"]);
    let trial = |project: &str| {
        let texts = BTreeMap::from([(PROJECT_FILE.to_owned(), Some(project.to_owned()))]);
        let executed = compilation.executed(Trial { texts, read: Arc::clone(&read) }, &wanted, VERSION);
        executed.iter().map(|(_, executed)| executed.digest).collect::<Vec<_>>()
    };
    assert_eq!(trial(PROJECT), [digest]);
    assert_ne!(trial(&PROJECT.replace("repeats: 3", "repeats: 5")), [digest]);
    assert_ne!(trial(&PROJECT.replace("repeats: 3", "repeats: 5")), []);
}

#[test]
fn a_parameter_of_the_project_concerns_who_looks_it_up() {
    let parameters = (PROJECT_FILE, "spec:\n", "spec:\n  parameters: {level: info, rare: 1}\n");
    let base = edited(with_another(files()), &[parameters]);
    let edits =
        [(PROJECT_FILE, "level: info, rare: 1", "level: debug, rare: 2"), (PROJECT_FILE, "repeats: 3", "repeats: 5")];
    check_files(
        &base,
        &edited(base.clone(), &edits),
        str! {[r#"
ps on gpu: Changed
  cause: kubebench.yaml defaults.repeats: 3 → 5
other on other: Changed
  cause: kubebench.yaml defaults.repeats: 3 → 5
  cause: kubebench.yaml parameters.level: info → debug in 6 of 6 cases
idle: kubebench.yaml parameters.rare: 1 → 2
"#]},
    );
}
