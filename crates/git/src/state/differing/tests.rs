use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, iter};

use git2::Repository;

use super::{Looked, differing};

fn git(folder: &Path, arguments: &[&str]) {
    let settings = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let output = Command::new("git").args(settings).args(arguments).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What git and git2 say of a project in the folder `a/b` of a repository.
fn both(top: &Path, looked: &Looked<'_>) -> [Result<Vec<String>, String>; 2] {
    let repository = Repository::open(top).unwrap();
    ["git", "no-such-git"]
        .map(|program| differing(&top.join("a/b"), &repository, Path::new("a/b"), looked, Path::new(program)))
}

fn looked() -> Looked<'static> {
    Looked {
        results: "results",
        written: vec!["generated"],
        parts: vec!["specs/x.yaml", "carried"],
        beside: Some("specs"),
        others: iter::once("specs/y.yaml").collect(),
    }
}

/// A repository with a project in the folder `a/b`.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let place = tempfile::tempdir().unwrap();
    let project = place.path().join("a/b");
    for (path, text) in [
        ("specs/x.yaml", "x"),
        ("carried", "carried"),
        ("results/r", "r"),
        ("generated/g", "g"),
        ("results-of-others/r", "r"),
        ("../c/code", "code"),
        ("../../top", "top"),
    ] {
        let path = project.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    git(place.path(), &["init", "-q"]);
    git(place.path(), &["add", "-A"]);
    git(place.path(), &["commit", "-q", "-m", "all"]);
    (place, project)
}

#[test]
fn without_git_the_library_says_the_same() {
    let (place, project) = repository();
    let expected = |files: &[&str]| {
        [
            Ok(files.iter().map(|file| (*file).to_owned()).collect()),
            Ok(files.iter().map(|file| (*file).to_owned()).collect()),
        ]
    };
    assert_eq!(both(place.path(), &looked()), expected(&[]));
    for path in ["results/r", "generated/g", "results/new", "specs/y.yaml", "specs/below/new", "new", "../../new"] {
        fs::create_dir_all(project.join(path).parent().unwrap()).unwrap();
        fs::write(project.join(path), "other").unwrap();
    }
    assert_eq!(both(place.path(), &looked()), expected(&[]), "what does not count");
    for path in ["carried", "results-of-others/r", "../c/code", "../../top", "specs/new"] {
        fs::write(project.join(path), "differs").unwrap();
    }
    let all = ["../../top", "../c/code", "carried", "results-of-others/r", "specs/new"];
    assert_eq!(both(place.path(), &looked()), expected(&all));
    assert_eq!(both(place.path(), &Looked { beside: None, ..looked() }), expected(&all[..4]));
    git(place.path(), &["checkout", "-q", "."]);
    git(place.path(), &["rm", "-q", "--cached", "a/b/carried"]);
    git(place.path(), &["commit", "-q", "-m", "not carried"]);
    fs::remove_file(project.join("specs/new")).unwrap();
    assert_eq!(both(place.path(), &looked()), expected(&["carried"]));
    fs::write(place.path().join(".gitignore"), "carried\n").unwrap();
    assert_eq!(both(place.path(), &looked()), expected(&["carried"]), "ignored, and carried all the same");
    let of_results = Looked { parts: vec!["results/r"], ..looked() };
    fs::write(project.join("results/r"), "other").unwrap();
    assert_eq!(both(place.path(), &of_results), expected(&["results/r"]), "what is carried is no result");
}

#[test]
fn names_that_are_no_text_are_files_too() {
    use std::os::unix::ffi::OsStrExt as _;
    let (place, project) = repository();
    let name = std::ffi::OsStr::from_bytes(b"a \xff\n-*");
    fs::write(project.join("specs").join(name), "new").unwrap();
    git(place.path(), &["add", "-A"]);
    for said in both(place.path(), &looked()) {
        let [file] = <[String; 1]>::try_from(said.unwrap()).unwrap();
        assert_eq!(file, "specs/a \u{fffd}\n-*");
    }
}

#[test]
fn where_neither_can_say_it_that_is_an_error() {
    let (place, _) = repository();
    fs::write(place.path().join(".git/index"), "no index").unwrap();
    let [git, library] = both(place.path(), &looked());
    let git = git.unwrap_err();
    assert!(git.starts_with("`git status ") && git.contains("cannot tell which files differ: "), "{git}");
    assert!(library.is_err());
}
