//! A session compiles again only what depends on a change, and gives what a compilation of everything gives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use kubebench_compiler::compile::{Compilation, Input, Session, Workspace};
use kubebench_compiler::lower::Unreadable;
use proptest::prelude::*;

/// The files that specs read, as they are at the moment.
type Files = Arc<Mutex<BTreeMap<String, String>>>;

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  parameters: {steps: 5}\n  targets: {a: {namespace: bench}, b: {namespace: other}}\n";

fn document(kind: &str, name: &str, spec: &str) -> String {
    format!("apiVersion: kubebench.dev/v1\nkind: {kind}\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

fn job(more: &str) -> String {
    format!(
        "  timeout: 1h\n{more}  workload:\n    job: {{image: registry.example/a:1, command: [run], resources: {{cpu: 1, memory: 1Gi}}}}\n"
    )
}

/// Texts that a file may have: what is right, what names others, and what has mistakes.
fn texts(path: &str) -> Vec<Option<String>> {
    let stem = path.trim_start_matches("specs/").trim_end_matches(".yaml");
    let own = |spec: &str| Some(document("Benchmark", stem, spec));
    let all = match path {
        "specs/f.yaml" => vec![
            Some(document("Fragment", "f", &job(""))),
            Some(document("Fragment", "f", &job("  repeats: 4\n"))),
            Some(document("Fragment", "other", &job(""))),
            Some(document("Fragment", "f", "  extends: [g]\n  repeats: none\n")),
            Some(document("Fragment", "f", "  extends: [g]\n")),
            Some("apiVersion: kubebench.dev/v1\nkind: Frag".to_owned()),
        ],
        "specs/g.yaml" => {
            vec![Some(document("Fragment", "g", &job("  warmups: 1\n"))), Some(document("Fragment", "g", "  x: 1\n"))]
        }
        "specs/s.yaml" => vec![
            Some(document("Suite", "s", "  benchmarks: [a, b]\n")),
            Some(document("Suite", "s", "  defaults: {repeats: 3, parameters: {file: jobs/b.yaml}}\n  benchmarks: [b, c]\n")),
            Some(document("Suite", "s", "  benchmarks: [{benchmark: zz}]\n")),
        ],
        "jobs/a.yaml" | "jobs/b.yaml" => vec![
            Some(format!("apiVersion: batch/v1\nkind: Job\nmetadata: {{name: {stem}}}\nspec: {{template: {{spec: {{containers: [{{name: main, image: registry.example/a:1}}]}}}}}}\n").replace("jobs/", "")),
            Some("apiVersion: batch/v1\nkind: Job\nspec: [\n".to_owned()),
        ],
        "scripts/x.sh" => vec![Some("#!/bin/sh\necho 1\n".to_owned()), Some("#!/bin/sh\necho 2\r\n".to_owned())],
        _ => vec![
            own(&job("")),
            own(&job("  repeats: 2\n  targets: [a]\n")),
            own("  extends: [f]\n"),
            own("  extends: [f, g]\n  repeats: 2\n"),
            own("  extends: [nope]\n"),
            own(&job("  matrix: {axes: {size: [1, 2]}}\n")),
            own("  timeout: 1h\n  parameters: {file: jobs/a.yaml}\n  workload: {manifest: {file: \"${{ parameters.file }}\"}}\n"),
            own("  timeout: 1h\n  workload:\n    job: {image: registry.example/a:1, command: [sh, x.sh], files: {x.sh: {path: scripts/x.sh}}, resources: {cpu: 1, memory: 1Gi}}\n"),
            own("  timeout: 1h\n  workload:\n    job: {image: registry.example/a:1, volumes: [{name: v, persistentVolumeClaim: {claimName: b-results}}]}\n"),
            Some(document("Benchmark", "a", &job(""))),
            own(&job("  timeot: 1h\n")),
            own("  timeout: 1h\n  workload: {job: {image: registry.example/a:latest}}\n  metrics: [{name: x, from: {log: {pattern: 'x=(?P<value>\\S+)'}}}]\n  gates: [{metric: y, max: 1}]\n"),
            Some("apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: ".to_owned()),
        ],
    };
    all.into_iter().chain([None]).collect()
}

const PATHS: [&str; 9] = [
    "specs/a.yaml",
    "specs/b.yaml",
    "specs/c.yaml",
    "specs/f.yaml",
    "specs/g.yaml",
    "specs/s.yaml",
    "jobs/a.yaml",
    "jobs/b.yaml",
    "scripts/x.sh",
];

fn workspace(files: &Files) -> Workspace {
    let files = Arc::clone(files);
    let read = move |path: &str| match files.lock().unwrap().get(path) {
        Some(text) => Ok(text.clone().into_bytes()),
        None => Err(Unreadable::Absent { beside: Vec::new() }),
    };
    let file = Input { path: "kubebench.yaml".to_owned(), bytes: PROJECT.into() };
    Workspace::open(Some(file), env!("CARGO_PKG_VERSION")).carrying(read)
}

fn set(session: &mut Session, files: &Files, path: &str, text: Option<String>) {
    if path.starts_with("specs/") {
        match &text {
            Some(text) => session.set(Input { path: path.to_owned(), bytes: text.clone().into_bytes() }),
            None => session.remove(path),
        }
    }
    match text {
        Some(text) => files.lock().unwrap().insert(path.to_owned(), text),
        None => files.lock().unwrap().remove(path),
    };
}

fn whole(files: &Files) -> Compilation {
    let inputs = |(path, text): (&String, &String)| Input { path: path.clone(), bytes: text.clone().into_bytes() };
    let specs = files.lock().unwrap().iter().filter(|(path, _)| path.starts_with("specs/")).map(inputs).collect();
    workspace(files).compile(specs)
}

/// All that a compilation says, with places as text.
fn said(compilation: &Compilation) -> String {
    let Compilation { sources, diagnostics, benchmarks, suites, faulty, named_by, held_back, tree, .. } = compilation;
    let place = |place: &kubebench_syntax::diag::Place| match place {
        kubebench_syntax::diag::Place::Span(span) => {
            format!("{} {:?}", sources.get(span.source).unwrap().path, span.range())
        }
        other => format!("{other:?}"),
    };
    let finding = |finding: &kubebench_syntax::diag::Diagnostic| {
        let related: Vec<String> = finding.related.iter().map(|related| place(&related.place)).collect();
        let fix = finding.fix.as_ref().map(|fix| fix.replacement.clone());
        format!(
            "{} {} {} {related:?} {:?} {:?} {fix:?}",
            finding.code.id,
            place(&finding.place),
            finding.message,
            finding.notes,
            finding.help
        )
    };
    let findings: Vec<String> = diagnostics.iter().map(finding).collect();
    let benchmarks: Vec<String> = benchmarks
        .iter()
        .map(|compiled| {
            let permissions: Vec<String> = compiled.permissions.iter().map(finding).collect();
            format!("{} {} {} {permissions:?}", compiled.benchmark.path, compiled.identity.config, compiled.rules)
        })
        .collect();
    let suites: Vec<String> = suites.iter().map(|suite| format!("{} {:?}", suite.suite.path, suite.identity)).collect();
    let files: Vec<String> = tree.iter().map(|(path, file)| format!("{path}\n{}", file.text)).collect();
    format!("{findings:#?}{benchmarks:#?}{suites:#?}{faulty:?}{named_by:?}{held_back:?}{files:#?}")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_session_says_what_a_whole_compilation_says(edits in prop::collection::vec((0..PATHS.len(), any::<prop::sample::Index>()), 1..16)) {
        let files = Files::default();
        let mut session = Session::new(workspace(&files));
        for (path, _) in PATHS.iter().zip(0..) {
            set(&mut session, &files, path, texts(path).swap_remove(0));
        }
        for (path, choice) in edits {
            let path = PATHS[path];
            set(&mut session, &files, path, choice.get(&texts(path)).clone());
            prop_assert_eq!(said(&session.compile()), said(&whole(&files)));
        }
    }
}

#[test]
fn only_what_depends_on_a_change_is_evaluated_again() {
    let files = Files::default();
    let mut session = Session::new(workspace(&files));
    let mut change = |path: &str, text: &str| {
        set(&mut session, &files, path, Some(text.to_owned()));
        let compilation = session.compile();
        let errors = super::compiled::errors(&compilation);
        (session.evaluated().join(" "), errors)
    };
    let text = |path: &str, number: usize| texts(path).swap_remove(number).unwrap();
    let none = Vec::<String>::new();
    let is = |paths: &str| (paths.to_owned(), none.clone());
    change("jobs/a.yaml", &text("jobs/a.yaml", 0));
    change("scripts/x.sh", &text("scripts/x.sh", 0));
    assert_eq!(change("specs/f.yaml", &text("specs/f.yaml", 0)), is(""));
    assert_eq!(change("specs/a.yaml", &text("specs/a.yaml", 2)), is("specs/a.yaml"));
    assert_eq!(change("specs/b.yaml", &text("specs/b.yaml", 6)), is("specs/b.yaml"));
    assert_eq!(change("specs/c.yaml", &text("specs/c.yaml", 7)), is("specs/c.yaml"));
    assert_eq!(change("specs/c.yaml", &text("specs/c.yaml", 7)), is(""));
    assert_eq!(change("specs/f.yaml", &text("specs/f.yaml", 1)), is("specs/a.yaml"));
    assert_eq!(change("jobs/a.yaml", &(text("jobs/a.yaml", 0) + "# more\n")), is("specs/b.yaml"));
    assert_eq!(change("scripts/x.sh", "#!/bin/sh\necho 3\n"), is("specs/c.yaml"));
    assert_eq!(change("specs/s.yaml", &text("specs/s.yaml", 0)).0, "specs/a.yaml specs/b.yaml specs/s.yaml");
}
