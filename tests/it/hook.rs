//! `kubebench hook` and `.pre-commit-hooks.yaml`: checks of the projects that changed files belong to.

use std::fs;

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

use crate::record::run as run_git;
use crate::support::project::{Folder, assert_yes, repository};

const PROJECT: &str = "apiVersion: kubebench.dev/v1
kind: Project
metadata: {name: team}
spec: {targets: {one: {namespace: bench}}}
";
const SPEC: &str = "apiVersion: kubebench.dev/v1
kind: Benchmark
metadata: {name: a}
spec:
  timeout: 1h
  workload:
    job: {image: 'a/b:1', resources: {cpu: 1, memory: 1Gi}}
  metrics:
    - {name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}
";

/// A repository with two projects, of which git tracks both, and a file of YAML that is of neither.
fn monorepo() -> Folder {
    let folder = Folder::with([
        ("ml/bench é/kubebench.yaml", PROJECT.to_owned()),
        ("ml/bench é/specs/a.yaml", SPEC.to_owned()),
        (
            "web/kubebench.yaml",
            PROJECT.replace(
                "{targets: {one: {namespace: bench}}}",
                "{results: {branch: web}, targets: {one: {namespace: web}}}",
            ),
        ),
        ("web/specs/a.yaml", SPEC.to_owned()),
        ("web/chart/values.yaml", "a:   [1,2]\n".to_owned()),
        ("ci.yaml", "a:   [1,2]\n".to_owned()),
    ]);
    run_git(folder.path(), &["init", "-q"]);
    for project in ["ml/bench é", "web"] {
        assert_yes(&folder.run(&["-C", project, "fmt"]));
        assert_yes(&folder.run(&["-C", project, "compile"]));
    }
    run_git(folder.path(), &["add", "-A"]);
    folder
}

fn status(folder: &Folder, arguments: &[&str]) -> Option<i32> {
    folder.run(&[&["hook"], arguments].concat()).status.code()
}

fn read(folder: &Folder, path: &str) -> String {
    fs::read_to_string(folder.path().join(path)).unwrap()
}

#[test]
fn fmt_formats_what_projects_have_and_fails_if_it_did() {
    let folder = monorepo();
    let files = ["ml/bench é/specs/a.yaml", "web/specs/a.yaml", "web/chart/values.yaml", "ci.yaml"];
    let formatted = read(&folder, files[0]);
    assert_eq!(status(&folder, &[&["fmt"], &files[..]].concat()), Some(0));
    folder.write(files[0], formatted.replace("timeout: 1h", "timeout:   1h"));
    assert_eq!(status(&folder, &[&["fmt"], &files[..]].concat()), Some(1));
    assert_eq!(read(&folder, files[0]), formatted);
    assert_eq!(status(&folder, &[&["fmt"], &files[..]].concat()), Some(0));
    // A file outside the project that the hook starts in.
    assert_eq!(status(&folder, &["-C", "web", "fmt", "../ci.yaml", "specs/a.yaml"]), Some(0));
    for other in ["web/chart/values.yaml", "ci.yaml"] {
        assert_eq!(read(&folder, other), "a:   [1,2]\n");
    }
}

#[test]
fn projects_of_the_files_are_checked_and_no_others() {
    let folder = monorepo();
    folder.write("web/specs/a.yaml", SPEC.replace("timeout", "timout"));
    for check in ["validate", "compile-check"] {
        assert_eq!(status(&folder, &[check, "ml/bench é/specs/a.yaml", "ci.yaml"]), Some(0), "{check}");
        assert_eq!(status(&folder, &[check, "ml/bench é/specs/a.yaml", "web/chart/values.yaml"]), Some(1), "{check}");
        assert_eq!(status(&folder, &[check, "ci.yaml"]), Some(0), "{check}");
        assert_eq!(status(&folder, &[check]), Some(1), "{check} of all projects");
        assert_eq!(status(&folder, &["-C", "ml", check]), Some(0), "{check} of the projects below a folder");
    }
    folder.write("web/specs/a.yaml", SPEC.replace("a/b:1", "a/b:2"));
    assert_eq!(status(&folder, &["validate"]), Some(0));
    assert_eq!(status(&folder, &["compile-check", "web/specs/a.yaml"]), Some(1));
}

#[test]
fn hooks_of_pre_commit_are_commands_of_this_version() {
    let text = fs::read(repository().join(".pre-commit-hooks.yaml")).unwrap();
    let root = yaml::read(SourceId::default(), &Source::new("hooks", &text)).root.unwrap();
    let folder = monorepo();
    let field = |hook: &yaml::Node, name: &str| hook.get(name).and_then(yaml::Node::as_text).unwrap().to_owned();
    let ids: Vec<String> = root.items().iter().map(|hook| field(hook, "id")).collect();
    for hook in root.items() {
        let entry = field(hook, "entry");
        let arguments: Vec<&str> = entry.split(' ').skip(1).chain(["web/specs/a.yaml"]).collect();
        assert_yes(&folder.run(&arguments));
        // What a commit deletes, pre-commit does not name.
        let is_of_files = hook.get("pass_filenames").is_none();
        assert_eq!(is_of_files, entry.ends_with(" fmt"), "{entry}");
        let language = if field(hook, "id").ends_with("-src") { "rust" } else { "python" };
        assert_eq!(field(hook, "language"), language);
        let twin = field(hook, "id").trim_end_matches("-src").to_owned();
        assert!(ids.contains(&twin) && ids.contains(&format!("{twin}-src")), "{ids:?}");
    }
    // What pre-commit installs is the wheel of this version.
    let stub = fs::read_to_string(repository().join("pyproject.toml")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    assert!(stub.contains(&format!("version = \"{version}\"")), "{stub}");
    assert!(stub.contains(&format!("dependencies = [\"kubebench=={version}\"]")), "{stub}");
    let component = fs::read_to_string(repository().join("templates/kubebench/template.yml")).unwrap();
    assert!(component.contains(&format!("ghcr.io/kubebench/kubebench:{version}")), "{component}");
}

/// A report is about one project: that of another one would replace it, and a document followed by another one is none.
#[test]
fn a_document_is_about_one_project() {
    let folder = monorepo();
    for arguments in [&["--report", "sarif=r.sarif"][..], &["--output-format", "json"]] {
        let output = folder.run(&[&["hook", "validate"], arguments].concat());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(" writes a document about one project, and the files are of 2: "), "{said}");
        assert!(!folder.path().join("r.sarif").exists());
        assert_eq!(status(&folder, &[&["validate", "web/specs/a.yaml"], arguments].concat()), Some(0));
        drop(fs::remove_file(folder.path().join("r.sarif")));
    }
    let output = folder.run(&["hook", "validate", "ml/bench é/specs/a.yaml"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("project ml/bench é (`kubebench -C 'ml/bench é'`):\n"), "{said}");
}

#[test]
fn a_file_that_is_not_there_is_a_mistake() {
    let folder = monorepo();
    let output = folder.run(&["hook", "validate", "web/specs/b.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("there is no file web/specs/b.yaml"));
}

/// A spec next to projects would be of none of them.
#[test]
fn a_new_spec_is_of_a_project() {
    let folder = monorepo();
    let output = folder.run(&["new", "job", "b"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("(projects below it: ml/bench é, web; choose one with `-C FOLDER`)"), "{said}");
    assert!(!folder.path().join("specs").exists());
    assert_yes(&folder.run(&["-C", "web", "new", "job", "b"]));
}
