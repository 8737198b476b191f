use crate::compile::{Input, Workspace};
use crate::lower::Unreadable;
use crate::model::carried::{CarriedFiles, MAX_BYTES};
use kubebench_testing::snapshot::{Snapshot, assert_findings, assert_text, assert_texts, str};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  targets: {eu: {cluster: eu, values: {script: scripts/a.sh, up: ../x}}}\n";

/// Compiles a job that carries `files`, with `more` fields of the spec; every path except those below `not` can be read.
fn compile(files: &str, more: &str) -> crate::compile::Compilation {
    let text = format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n{more}  workload: \
         {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}, files: {files}}}}}\n  metrics: \
         [{{name: a, better: lower, primary: true, from: {{duration: run}}}}]\n"
    );
    let file = |path: &str, text: &str| Input { path: path.to_owned(), bytes: text.as_bytes().to_vec() };
    let read = |path: &str| match path {
        "not/absent" => Err(Unreadable::Absent { beside: vec!["not/absend".to_owned(), "not/other".to_owned()] }),
        "not/link" => Err(Unreadable::Refused("it is a symbolic link".to_owned())),
        "not/allowed" => Err(Unreadable::Failed("permission denied".to_owned())),
        "not/small" => Err(Unreadable::TooLarge),
        "half" => Ok(vec![b'a'; MAX_BYTES / 2]),
        path => Ok(path.as_bytes().to_vec()),
    };
    let workspace = Workspace::open(Some(file("kubebench.yaml", PROJECT)), "0.1.0").carrying(read);
    workspace.compile(vec![file("specs/a.yaml", &text)])
}

/// Returns the files that the spec carries, which must be sound.
fn carried(files: &str) -> CarriedFiles {
    let mut compilation = compile(files, "");
    assert!(!compilation.has_errors(), "{:?}", compilation.diagnostics);
    compilation.benchmarks.remove(0).benchmark.files.clone()
}

#[track_caller]
fn check_with(files: &str, more: &str, expected: &[(&str, Snapshot)]) {
    let compilation = compile(files, more);
    let found: Vec<(&str, &str)> =
        compilation.diagnostics.iter().map(|fault| (fault.code.id, fault.message.as_str())).collect();
    assert_findings(&found, expected);
}

#[track_caller]
fn check(files: &str, expected: &[(&str, Snapshot)]) {
    check_with(files, "", expected);
}

#[test]
fn what_is_carried() {
    let files = carried("{a.sh: {path: scripts/a.sh}, b: {path: \"${{ target.values.script }}\"}}");
    let found: Vec<(&str, &str, &[u8])> =
        files.iter().map(|(name, file)| (name, file.path.as_str(), &*file.bytes)).collect();
    let bytes: &[u8] = b"scripts/a.sh";
    assert_eq!(found, [("a.sh", "scripts/a.sh", bytes), ("b", "scripts/a.sh", bytes)]);
    assert!(carried("{}").is_empty() && carried("{}").digest().is_none());
}

#[test]
fn paths_that_are_none() {
    for path in ["/etc/passwd", "../x", "a/../../x", "./x", "a//b", "''", "'a\\b'", "a/", ".."] {
        let compilation = compile(&format!("{{x: {{path: {path}}}}}"), "");
        let codes: Vec<&str> = compilation.diagnostics.iter().map(|fault| fault.code.id).collect();
        assert_eq!(codes, ["KB0205"], "{path}");
    }
    check("{x: {path: \"${{ target.values.up }}\"}}", &[("KB0205", str! {"`../x` leads out of its folder"})]);
    check(
        "{x: {path: .git/config}}",
        &[("KB0340", str! {"`.git/config` cannot be carried: it is in git's own folder"})],
    );
    check("{x: {path: a/.GIT/x}}", &[("KB0340", str! {"`a/.GIT/x` cannot be carried: it is in git's own folder"})]);
    check(
        "{x: {path: generated/eu/a/config.yaml}}",
        &[(
            "KB0340",
            str! {"`generated/eu/a/config.yaml` cannot be carried: it is in `generated`, which is compiled from the specs"},
        )],
    );
    check("{x: {path: generated.sh}}", &[]);
}

#[test]
fn names_that_are_none() {
    for (name, message) in [
        ("a/b", ("KB0205", str! {"`a/b` is not a key of a ConfigMap: `/` is not allowed in it"})),
        (".", ("KB0205", str! {"`.` is not a key of a ConfigMap: it may not be `.` or start with `..`"})),
        ("..", ("KB0205", str! {"`..` is not a key of a ConfigMap: it may not be `.` or start with `..`"})),
        ("..data", ("KB0205", str! {"`..data` is not a key of a ConfigMap: it may not be `.` or start with `..`"})),
    ] {
        check(&format!("{{'{name}': {{path: x}}}}"), &[message]);
    }
    check(
        "{bench.sh: {path: x}, Bench.sh: {path: x}}",
        &[("KB0342", str! {"`bench.sh` and `Bench.sh` differ only in case"})],
    );
    check("{a: {path: x}, a: {path: x}}", &[("KB0105", str! {"the key `a` appears a second time"})]);
}

#[test]
fn files_that_cannot_be_read() {
    check("{x: {path: not/absent}}", &[("KB0340", str! {"there is no file `not/absent`"})]);
    let compilation = compile("{x: {path: not/absent}}", "");
    assert_text(compilation.diagnostics[0].help.as_deref().unwrap(), str! {"did you mean `not/absend`?"});
    check("{x: {path: not/link}}", &[("KB0340", str! {"`not/link` cannot be carried: it is a symbolic link"})]);
    check("{x: {path: not/allowed}}", &[("KB0340", str! {"`not/allowed` cannot be read: permission denied"})]);
    check(
        "{x: {path: not/small}}",
        &[("KB0341", str! {"`not/small` is larger than the 900 KiB of all carried files"})],
    );
}

#[test]
fn all_files_have_room_together() {
    assert_eq!(carried("{a: {path: half}, b: {path: half}}").iter().count(), 2);
    check(
        "{a: {path: half}, b: {path: half}, c: {path: x}}",
        &[("KB0341", str! {"the files have 901 KiB in total, more than 900 KiB"})],
    );
    let many = |count: usize| {
        let files: Vec<String> = (0..count).map(|number| format!("f{number}: {{path: x}}")).collect();
        format!("{{{}}}", files.join(", "))
    };
    assert_eq!(carried(&many(64)).iter().count(), 64);
    check(&many(65), &[("KB0341", str! {"the workload carries 65 files, more than 64"})]);
}

/// All cases find the same files, whatever the matrix says.
#[test]
fn no_path_follows_the_matrix() {
    let matrix = "  matrix: {axes: {model: [small, large]}}\n";
    check_with(
        "{x: {path: 'configs/${{ matrix.model }}'}}",
        matrix,
        &[("KB0303", str! {"`matrix.model` cannot be used here"})],
    );
}

/// What people write who expect something else says what to write instead.
#[test]
fn other_spellings() {
    let check = |workload: &str, expected: Snapshot| {
        let text = format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  workload: \
             {{pytorchJob: {{image: 'r.example/a:1', {workload}}}}}\n"
        );
        let input = Input { path: "specs/a.yaml".to_owned(), bytes: text.into_bytes() };
        let compilation = Workspace::open(None, "0.1.0").compile(vec![input]);
        let helps: Vec<&str> = compilation.diagnostics.iter().filter_map(|fault| fault.help.as_deref()).collect();
        assert_texts(&helps, &[expected]);
    };
    check("worker: {files: {a: {path: b}}}", str! {"write `files` next to the roles: it applies to all of them"});
    check("worker: {}, files: {a: b.sh}", str! {"write `a: {path: b.sh}`"});
    check(
        "worker: {}, files: [b.sh]",
        str! {"write a mapping of names: `files: {bench.sh: {path: scripts/bench.sh}}`"},
    );
    check(
        "worker: {}, files: {a: {path: b, mode: 365}}",
        str! {"delete it: everybody may read and execute a carried file"},
    );
}

#[test]
fn fixtures_have_places_and_values() {
    let fixtures = "  fixtures: [{log: logs/a.log, expect: {a: 1.5}}, {log: logs/b.log, expect: {a: null}}]\n";
    let compilation = compile("{}", fixtures);
    assert!(!compilation.has_errors(), "{:?}", compilation.diagnostics);
    let fixtures = &compilation.benchmarks[0].benchmark.fixtures;
    let found: Vec<_> = fixtures.iter().map(|fixture| (fixture.log.as_str(), fixture.expect["a"].value)).collect();
    assert_eq!(found, [("logs/a.log", Some(1.5)), ("logs/b.log", None)]);
    let source = compilation.sources.get(fixtures[0].log_span.source).unwrap();
    assert_eq!(source.slice(fixtures[0].log_span), "logs/a.log");
    assert_eq!(source.slice(fixtures[0].expect["a"].span), "1.5");
    check_with(
        "{}",
        "  fixtures: [{log: a.log, expect: {b: 1}}]\n",
        &[("KB0313", str! {"there is no metric `b` for this fixture"})],
    );
    check_with(
        "{}",
        "  fixtures: [{log: a.log, expect: {a: fast}}]\n",
        &[("KB0203", str! {"`a` must be a number or `null`, not the string `fast`"})],
    );
}
