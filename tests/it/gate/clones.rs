//! What commands say in a clone that lacks a branch: it is unknown there what ran, and what is printed brings it.

use std::path::Path;
use std::process::Command;

use kubebench_testing::snapshot::{assert_line, str};

use super::recorded::{BRANCH, FETCH, Remote, here, sessions};
use super::{Project, QUIET, SPEC, Special};

fn shell(folder: &Path, command: &str) {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every command says that the results are elsewhere, and none that there are none.
#[test]
fn a_clone_without_recorded_results_does_not_say_that_nothing_ran() {
    let remote = Remote::with(&QUIET[..8]);
    let clone = remote.cloned("clone", &["--single-branch", "--branch", "main"]);
    let results = clone.join("results");
    assert!(!results.exists());
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "known"];
    let all = ["ack", "--all", "--until", "2026-02-01", "--by", "ada", "--reason", "known"];
    for arguments in [
        &["history"][..],
        &["compare", "rev:HEAD", "rev:main"],
        &["compare", "--by", "size"],
        &["report", "--format", "markdown"],
        &ack,
        &all,
    ] {
        let (status, _, error) = remote.says(&clone, arguments);
        assert_eq!(status, 2, "{arguments:?}: {error}");
        assert_line(
            &error,
            str! {"error: the recorded results are not in this clone, and there is no folder results: run `git fetch origin kubebench/results:refs/remotes/origin/kubebench/results`"},
        );
    }
    // Without them, the gate does not claim that there are none.
    let (status, out, _) = remote.says(&clone, &["gate", "--on-inconclusive", "pass"]);
    assert!(status == 0 && out.contains(&FETCH[..40]) && out.contains("gated series has"), "{out}");
    // No remote could have them.
    shell(&clone, "git remote remove origin");
    let (status, _, error) = remote.says(&clone, &["history"]);
    assert_eq!(status, 2);
    assert_line(
        &error,
        str! {"error: there are no results: neither the folder results nor the branch `kubebench/results` exists, and there is no remote to fetch from"},
    );
}

#[test]
fn outside_of_a_project_there_is_none() {
    let project = Project::with(SPEC);
    let empty = tempfile::tempdir().unwrap();
    let empty = empty.path().to_str().unwrap();
    for arguments in [&["history"][..], &["compare", "rev:a", "rev:b"], &["report", "--format", "markdown"], &["gate"]]
    {
        let (status, _, error) = project.says(&[arguments, &["-C", empty]].concat());
        assert!(status == 2 && error.starts_with("error: there is no project in "), "{arguments:?}: {error}");
        assert!(!error.contains("nothing has run"), "{error}");
    }
    let (status, _, error) = project.says(&["gate", "--allow-empty", "-C", empty]);
    assert!(status == 2 && error.contains("there is no project in "), "{error}");
    // A project in which nothing ran.
    std::fs::remove_dir(project.folder.path().join("results")).unwrap();
    let (status, _, error) = project.says(&["history"]);
    assert!(status == 2 && error.contains("there is no folder results, so nothing has run yet"), "{error}");
}

/// What is printed about the default branch works where git cloned another one alone.
#[test]
fn a_clone_of_one_branch_says_how_to_have_the_default_one() {
    for default in ["main", "trunk"] {
        let mut project = Project::with(SPEC);
        let main = Special { commit: Some(project.commit("main")), ..Special::default() };
        project.sessions(&QUIET[..8], &main);
        project.git(&["checkout", "-q", "-b", "feature"]);
        let feature = Special { commit: Some(project.commit("feature")), ..Special::default() };
        project.session(90.0, &feature);
        project.git(&["branch", "-q", "-m", "main", default]);
        project.git(&["checkout", "-q", default]);
        let place = tempfile::tempdir().unwrap();
        let clone = place.path().join("clone");
        let source = format!("file://{}", project.folder.path().display());
        project.git(&["clone", "-q", "--single-branch", "--branch", "feature", &source, clone.to_str().unwrap()]);
        shell(project.folder.path(), &format!("cp -r results {}", clone.display()));
        let says = |arguments: &[&str]| project.says(&[arguments, &["-C", clone.to_str().unwrap()]].concat());
        let (status, _, error) = says(&["gate"]);
        assert_eq!(status, 2, "{error}");
        assert_line(
            &error,
            str! {"error: the default branch is unknown: this clone has neither `main` nor `master`. `git fetch origin NAME:refs/remotes/origin/NAME` fetches it, and `git remote set-head origin NAME` makes it the default; or name another one with --baseline branch:NAME"},
        );
        let (status, out, error) = says(&["history"]);
        assert!(
            status == 0 && out.contains("the default branch is unknown: this clone has neither `main`"),
            "{out}{error}"
        );
        let (status, _, error) = says(&["gate", "--baseline", &format!("branch:{default}")]);
        assert_eq!(status, 2, "{error}");
        let fetch = format!("git fetch origin {default}:refs/remotes/origin/{default}");
        let said = format!("there is no branch `{default}` here: run `{fetch}`");
        assert!(error.contains(&said), "{error}");
        shell(&clone, &fetch);
        let (status, out, error) = says(&["gate", "--baseline", &format!("branch:{default}")]);
        assert!(status == 1 && out.contains("regressed"), "{out}{error}");
        if default != "main" {
            shell(&clone, &format!("git remote set-head origin {default}"));
        }
        let (status, out, error) = says(&["gate"]);
        assert!(status == 1 && out.contains("regressed"), "{out}{error}");
        let (status, out, error) = says(&["history"]);
        assert!(status == 0 && !out.contains("the default branch is unknown"), "{out}{error}");
    }
}

#[test]
fn a_branch_of_one_commit_is_enough_and_a_shallow_history_is_not() {
    let mut remote = Remote::with(&[]);
    remote.project.commit("second");
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.sessions(&QUIET[..8], &here(&commit));
    remote.record("old");
    remote.record(BRANCH);
    remote.project.git(&["update-ref", "refs/heads/kubebench/results", &{
        let tree = remote.project.git(&["rev-parse", "old^{tree}"]);
        remote.project.git(&["commit-tree", tree.trim(), "-p", "old", "-m", "again"]).trim().to_owned()
    }]);
    remote.forget();
    let clone = remote.cloned("clone", &["--single-branch", "--branch", "main"]);
    let place = clone.to_str().unwrap();
    let refspec = "kubebench/results:refs/remotes/origin/kubebench/results";
    remote.project.git(&["-C", place, "fetch", "-q", "--depth=1", "origin", refspec]);
    assert_eq!(remote.project.git(&["-C", place, "rev-parse", "--is-shallow-repository"]).trim(), "true");
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, sessions(&answer["lines"][0]["baseline"])), (0, 7), "{answer:#}");
    let clone = remote.cloned("shallow", &["--depth=1", "--no-single-branch"]);
    let (status, _, error) = remote.says(&clone, &["gate"]);
    assert!(status == 2 && error.contains("this clone is shallow"), "{error}");
}
