//! Which results are of the commit that is checked out: those of a work tree in which nothing differs from it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;

use kubebench_format::result::{self, BenchmarkResult};

use super::{LOSS, job, project, run, shell};
use crate::support::project::{Folder, assert_yes, files_below};

fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "protocol.file.allow=always"];
    let output = Command::new("git").args(settings).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

fn commit(folder: &Path) {
    git(folder, &["add", "-A"]);
    git(folder, &["commit", "-q", "-m", "all"]);
}

/// A repository with a project at its top, whose benchmark carries a file.
fn repository() -> Folder {
    let carried = "files: {carried.sh: {path: scripts/carried.sh}}";
    let folder = project(&format!("job: {{{}, {carried}}}", shell("echo loss 1")), &[LOSS]);
    for (path, text) in [
        ("kubebench.yaml", "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {}\n"),
        ("scripts/carried.sh", "true\n"),
        ("code/a.py", "a\n"),
        ("code/b.py", "b\n"),
        ("code/dos.txt", "line\r\n"),
        ("code/filtered.up", "TEXT\n"),
        (".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n"),
        (".gitignore", "*.log\n"),
        ("results/old.txt", "old\r\n"),
        ("generated/old.txt", "old\r\n"),
        ("acks/old.txt", "old\r\n"),
    ] {
        folder.write(path, text);
    }
    symlink("a.py", folder.path().join("code/link")).unwrap();
    git(folder.path(), &["init", "-q", "-b", "main"]);
    git(folder.path(), &["config", "filter.up.clean", "tr a-z A-Z"]);
    git(folder.path(), &["config", "filter.up.smudge", "tr A-Z a-z"]);
    commit(folder.path());
    folder
}

/// The only result.
#[track_caller]
fn only(folder: &Folder) -> BenchmarkResult {
    let files = files_below(&folder.path().join("results/b"));
    let [file] = files.as_slice() else { panic!("{files:?}") };
    result::read(&fs::read(file).unwrap()).unwrap().result
}

/// Runs the benchmark, and asserts that its result says whether files differ, as people read before and after it.
#[track_caller]
fn assert_differs(folder: &Folder, what: &str, differs: Option<&str>) {
    drop(fs::remove_dir_all(folder.path().join("results/b")));
    let output = folder.run(&["run", "specs/b.yaml"]);
    assert_yes(&output);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let source = only(folder).source;
    assert!(source.commit.is_some(), "{what}: {stderr}");
    assert_eq!(source.dirty, Some(differs.is_some()), "{what}: {stderr}");
    let said: Vec<&str> = stderr.lines().filter(|line| line.contains("count for any branch")).collect();
    match differs {
        None => assert!(said.is_empty(), "{what}: {said:?}"),
        Some(files) => {
            let verb = if files.contains(" more ") { "differ" } else { "differs" };
            let since = format!("count for any branch, because {files} {verb} from the commit that is checked out");
            let again = "commit, and run again (`git status` lists what differs)";
            assert_eq!(
                said,
                [format!("note: results will not {since}"), format!("warning: these results do not {since}: {again}")],
                "{what}"
            );
        }
    }
}

/// The state of a work tree, and what differs then.
type State = (&'static str, fn(&Folder), Option<&'static str>);

#[test]
fn what_git_tracks_differs_wherever_it_is() {
    let states: [State; 21] = [
        ("nothing", |_| {}, None),
        ("a file", |at| at.write("code/a.py", "other\n"), Some("code/a.py")),
        (
            "a staged file",
            |at| {
                at.write("code/a.py", "other\n");
                git(at.path(), &["add", "code/a.py"]);
            },
            Some("code/a.py"),
        ),
        (
            "a file that is staged, and as before in the work tree",
            |at| {
                at.write("code/a.py", "other\n");
                git(at.path(), &["add", "code/a.py"]);
                at.write("code/a.py", "a\n");
            },
            Some("code/a.py"),
        ),
        (
            "a new file that is staged",
            |at| {
                at.write("code/new.py", "new\n");
                git(at.path(), &["add", "code/new.py"]);
            },
            Some("code/new.py"),
        ),
        ("a deleted file", |at| at.remove("code/a.py"), Some("code/a.py")),
        (
            "two files",
            |at| {
                at.write("code/a.py", "other\n");
                at.write("code/b.py", "other\n");
            },
            Some("code/a.py and 1 more file"),
        ),
        (
            "a renamed file, the spec and a carried one",
            |at| {
                git(at.path(), &["mv", "code/a.py", "code/c.py"]);
                at.write("scripts/carried.sh", "false\n");
            },
            Some("code/a.py and 2 more files"),
        ),
        (
            "a mode",
            |at| {
                let file = at.path().join("code/a.py");
                fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
            },
            Some("code/a.py"),
        ),
        (
            "a link that leads elsewhere",
            |at| {
                at.remove("code/link");
                symlink("b.py", at.path().join("code/link")).unwrap();
            },
            Some("code/link"),
        ),
        (
            "a file that was written again as it was",
            |at| {
                at.write("code/a.py", "a\n");
                at.write("code/dos.txt", "line\r\n");
            },
            None,
        ),
        ("what a filter makes of it", |at| at.write("code/filtered.up", "text\n"), None),
        ("what a filter does not", |at| at.write("code/filtered.up", "other\n"), Some("code/filtered.up")),
        ("a file that nobody tracks", |at| at.write("notes.md", "note\n"), None),
        ("what is ignored beside the spec", |at| at.write("specs/b.log", "log\n"), None),
        ("a new file beside the spec", |at| at.write("specs/helper.sh", "true\n"), Some("specs/helper.sh")),
        (
            "a new spec beside the spec",
            |at| {
                let spec = fs::read_to_string(at.path().join("specs/b.yaml")).unwrap();
                at.write("specs/c.yaml", spec.replace("{name: b}", "{name: c}"));
                let head = "apiVersion: kubebench.dev/v1\nkind: Suite\nmetadata: {name: s}\n";
                at.write("specs/s.yaml", format!("{head}spec: {{benchmarks: [{{benchmark: c}}]}}\n"));
            },
            None,
        ),
        (
            "what Kubebench writes",
            |at| {
                for folder in ["results", "generated", "acks"] {
                    at.write(&format!("{folder}/old.txt"), "new\r\n");
                    at.write(&format!("{folder}/new.txt"), "new\r\n");
                }
                git(at.path(), &["add", "results"]);
            },
            None,
        ),
        (
            "a carried file that is not tracked",
            |at| {
                git(at.path(), &["rm", "-q", "--cached", "scripts/carried.sh"]);
                git(at.path(), &["commit", "-q", "-m", "no script"]);
            },
            Some("scripts/carried.sh"),
        ),
        (
            "a project file that is not tracked",
            |at| {
                git(at.path(), &["rm", "-q", "--cached", "kubebench.yaml"]);
                git(at.path(), &["commit", "-q", "-m", "no project file"]);
            },
            Some("kubebench.yaml"),
        ),
        ("a sparse checkout", |at| git(at.path(), &["sparse-checkout", "set", "specs", "scripts"]), None),
    ];
    // Together: most of the time they wait for processes.
    std::thread::scope(|scope| {
        for (what, make, differs) in states {
            scope.spawn(move || {
                let folder = repository();
                make(&folder);
                assert_differs(&folder, what, differs);
            });
        }
    });
}

#[test]
fn a_submodule_differs_by_its_commit_and_what_it_tracks() {
    let code = Folder::with([("a.py", "a\n")]);
    git(code.path(), &["init", "-q", "-b", "main"]);
    commit(code.path());
    let folder = repository();
    git(folder.path(), &["submodule", "--quiet", "add", code.path().to_str().unwrap(), "code/sub"]);
    // What people do not want to see in `git status` has run nevertheless.
    git(folder.path(), &["config", "-f", ".gitmodules", "submodule.code/sub.ignore", "all"]);
    commit(folder.path());
    folder.write("code/sub/new.py", "new\n");
    assert_differs(&folder, "what the submodule does not track", None);
    folder.write("code/sub/a.py", "other\n");
    assert_differs(&folder, "what the submodule tracks", Some("code/sub"));
    commit(&folder.path().join("code/sub"));
    assert_differs(&folder, "another commit of the submodule", Some("code/sub"));
}

/// In a repository of many projects, what a benchmark runs is mostly outside of its own.
#[test]
fn a_project_is_a_part_of_its_repository() {
    let folder = repository();
    folder
        .write("bench/kubebench.yaml", "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {}\n");
    fs::create_dir_all(folder.path().join("bench/scripts")).unwrap();
    for path in ["specs/b.yaml", "scripts/carried.sh"] {
        folder.write(&format!("bench/{path}"), fs::read(folder.path().join(path)).unwrap());
    }
    commit(folder.path());
    let there = |arguments: &[&str]| {
        let all: Vec<&str> = ["-C", "bench", "run", "specs"].iter().chain(arguments).copied().collect();
        let output = folder.run(&all);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(!there(&[]).contains("count for any branch"));
    folder.write("results/old.txt", "those of another project\r\n");
    assert!(there(&[]).contains("because ../results/old.txt differs from"), "{}", there(&[]));
    folder.write("code/a.py", "other\n");
    let said = there(&[]);
    assert!(said.contains(
        "warning: these results do not count for any branch, because ../code/a.py and 1 more file differ from"
    ));
    let said = there(&["--dry-run"]);
    assert!(!said.contains("warning: "), "nothing ran: {said}");
}

#[test]
fn where_git_cannot_say_what_differs_no_commit_is_named() {
    let folder = repository();
    folder.write(
        "fake/git",
        "#!/bin/sh\ntest \"$2\" = version && echo git version 2.39.5 && exit 0\necho fatal: no index >&2; exit 128\n",
    );
    fs::set_permissions(folder.path().join("fake/git"), fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().join("fake").display(), std::env::var("PATH").unwrap());
    let output = folder.command(&["run", "specs"]).env("PATH", path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("cannot tell which files differ: fatal: no index").count(), 2, "{said}");
    let source = only(&folder).source;
    assert_eq!((source.commit, source.dirty), (None, None));
}

#[test]
fn outside_of_a_repository_nothing_is_said() {
    let folder = job("echo loss 1", &[LOSS]);
    let ran = run(&folder, &[]);
    assert_eq!((&ran.one().source.commit, ran.one().source.dirty), (&None, None));
    assert!(!ran.stderr.contains("count for any branch") && !ran.stderr.contains("name no commit"), "{}", ran.stderr);
}
