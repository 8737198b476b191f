//! Results are read where they are recorded: on a branch, as a clone has it, together with those of the folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kubebench_format::result::{read, seal};
use kubebench_testing::snapshot::{assert_text, str};
use serde_json::Value as Json;

use super::{Project, QUIET, SPEC, Special, texts, verdict};
use crate::support::project::{files_below, relative};
use crate::support::steady::steady;

pub(super) const BRANCH: &str = "kubebench/results";
pub(super) const FETCH: &str = "git fetch origin kubebench/results:refs/remotes/origin/kubebench/results";

/// A project whose sessions are recorded on a branch, and which others clone.
pub(super) struct Remote {
    pub(super) project: Project,
    clones: tempfile::TempDir,
}

impl Remote {
    /// Sessions with these values of the newest commit of `main`, on the branch alone.
    pub(super) fn with(values: &[f64]) -> Self {
        Self::of(Project::with(SPEC), values)
    }

    fn of(mut project: Project, values: &[f64]) -> Self {
        let on = Special { commit: Some(project.commit("main")), ..Special::default() };
        project.sessions(values, &on);
        let mut remote = Self { project, clones: tempfile::tempdir().unwrap() };
        remote.record(BRANCH);
        remote.forget();
        remote
    }

    /// Sessions of `main`, and a bad one of the branch `f`, still in the folder; with both commits and that session.
    fn with_a_branch() -> (Self, String, String, String) {
        let mut remote = Self::with(&[]);
        let main = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
        remote.project.sessions(&QUIET[..8], &here(&main));
        remote.project.git(&["checkout", "-q", "-b", "f"]);
        let own = remote.project.commit("f");
        let bad = remote.project.session(90.0, &here(&own));
        (remote, main, own, bad)
    }

    /// A clone at the branch `f`, in which what is in the folder here is recorded.
    fn cloned_at_its_branch(&mut self) -> PathBuf {
        self.record(BRANCH);
        self.forget();
        let clone = self.cloned("clone", &["--branch", "f"]);
        self.project.git(&["-C", clone.to_str().unwrap(), "remote", "set-head", "origin", "main"]);
        clone
    }

    /// Makes the folder of results the content of a branch.
    pub(super) fn record(&mut self, branch: &str) {
        let files = self.project.folder.tree("results");
        let files = files.into_iter().map(|(path, bytes)| ("100644", format!("results/{path}"), bytes)).collect();
        self.commit(branch, files);
    }

    /// Makes entries of these modes the content of a branch.
    fn commit(&self, branch: &str, files: Vec<(&str, String, Vec<u8>)>) {
        let mut stream =
            format!("commit refs/heads/{branch}\ncommitter t <t@example.com> 0 +0000\ndata 0\ndeleteall\n");
        let mut bytes = Vec::new();
        for (mode, path, content) in files {
            let place =
                if mode == "160000" { String::from_utf8(content.clone()).unwrap() } else { "inline".to_owned() };
            stream.push_str(&format!("M {mode} {place} {path}\n"));
            bytes.extend(std::mem::take(&mut stream).into_bytes());
            if mode != "160000" {
                bytes.extend(format!("data {}\n", content.len()).into_bytes());
                bytes.extend(content);
                bytes.push(b'\n');
            }
        }
        bytes.extend(stream.into_bytes());
        let mut import = Command::new("git")
            .args(["fast-import", "--quiet", "--force"])
            .current_dir(self.project.folder.path())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        std::io::Write::write_all(import.stdin.as_mut().unwrap(), &bytes).unwrap();
        assert!(import.wait().unwrap().success());
    }

    /// Removes the results of the folder.
    pub(super) fn forget(&self) {
        let results = self.project.folder.path().join("results");
        fs::remove_dir_all(&results).unwrap();
        fs::create_dir_all(results).unwrap();
    }

    /// Another clone, made with these options.
    pub(super) fn cloned(&self, name: &str, options: &[&str]) -> PathBuf {
        let folder = self.clones.path().join(name);
        let source = format!("file://{}", self.project.folder.path().display());
        self.project.git(&["config", "uploadpack.allowFilter", "true"]);
        self.project.git(&[&["clone", "-q"], options, &[&source, folder.to_str().unwrap()]].concat());
        folder
    }

    /// Moves the results of the folder to that of a clone.
    fn give(&self, clone: &Path) {
        fs::remove_dir_all(clone.join("results")).unwrap_or_default();
        fs::rename(self.project.folder.path().join("results"), clone.join("results")).unwrap();
        fs::create_dir_all(self.project.folder.path().join("results")).unwrap();
    }

    pub(super) fn says(&self, clone: &Path, arguments: &[&str]) -> (i32, String, String) {
        self.project.says(&[arguments, &["-C", clone.to_str().unwrap()]].concat())
    }

    pub(super) fn json(&self, clone: &Path, arguments: &[&str]) -> (i32, Json) {
        self.project.json(&[arguments, &["-C", clone.to_str().unwrap()]].concat())
    }
}

pub(super) fn here(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

fn outcome(answer: &Json) -> &str {
    answer["outcome"].as_str().unwrap()
}

pub(super) fn sessions(side: &Json) -> usize {
    side["sessions"].as_array().unwrap().len()
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

#[test]
fn the_newest_sessions_of_the_branch_are_evaluated_where_the_folder_has_none() {
    let remote = Remote::with(&[&QUIET[..12], &[80.0]].concat());
    let clone = remote.cloned("clone", &[]);
    assert!(!clone.join("results").exists());
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, verdict(&answer["lines"][0])), (1, "regressed"), "{answer:#}");
    assert_eq!(answer["candidate"], "the newest session on origin/kubebench/results");
    assert_eq!(sessions(&answer["lines"][0]["baseline"]), 12, "{answer:#}");
    let (_, out, _) = remote.says(&clone, &["gate", "--markdown", "comment.md"]);
    assert_text(
        steady(first_line(&out)),
        str! {"evaluated: the newest sessions measured on main (COMMIT) on origin/kubebench/results"},
    );
    let comment = fs::read_to_string(clone.join("comment.md")).unwrap();
    assert!(comment.contains("\nEvaluated: the newest sessions measured on main ("), "{comment}");
    // What is on the branch is shown where the remote is.
    assert!(!comment.contains("newest run"), "{comment}");
    remote.project.git(&["-C", clone.to_str().unwrap(), "remote", "set-url", "origin", "git@github.com:team/b.git"]);
    remote.says(&clone, &["gate", "--markdown", "comment.md"]);
    let comment = fs::read_to_string(clone.join("comment.md")).unwrap();
    let (_, link) =
        comment.split_once("([newest run](https://github.com/team/b/blob/kubebench/results/").expect("a link");
    let path = link.split(')').next().unwrap();
    let shown = format!("origin/kubebench/results:{path}");
    let result = remote.project.git(&["-C", clone.to_str().unwrap(), "show", &shown]);
    assert!(result.contains("\"session-013\""), "{path}: {result}");
    // The second time nothing is read again.
    let (_, _, error) = remote.says(&clone, &["gate", "-v"]);
    assert!(error.contains("origin/kubebench/results:results: 0 results read, 39 from the cache"), "{error}");
}

#[test]
fn the_newest_sessions_of_the_folder_are_evaluated_with_the_history_of_the_branch() {
    let mut remote = Remote::with(&QUIET[..12]);
    let clone = remote.cloned("clone", &[]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.session(80.0, &here(&commit));
    remote.give(&clone);
    let (status, answer) = remote.json(&clone, &["gate"]);
    let line = &answer["lines"][0];
    assert_eq!((status, verdict(line), sessions(&line["baseline"])), (1, "regressed", 12), "{answer:#}");
    assert_eq!(line["candidate"]["sessions"][0]["session"], "session-013");
    let (_, out, _) = remote.says(&clone, &["gate"]);
    assert_text(
        steady(first_line(&out)),
        str! {"evaluated: the newest sessions measured on main (COMMIT) in results; origin/kubebench/results"},
    );
    // Whether somebody will record what is in the folder is unknown.
    remote.project.git(&["-C", clone.to_str().unwrap(), "remote", "set-url", "origin", "git@github.com:team/b.git"]);
    remote.says(&clone, &["gate", "--markdown", "comment.md"]);
    let comment = fs::read_to_string(clone.join("comment.md")).unwrap();
    assert!(comment.contains("got worse") && !comment.contains("newest run"), "{comment}");
    // A folder that is named is read alone, and so is no branch.
    let (status, answer) = remote.json(&clone, &["gate", "--results", "results"]);
    assert_eq!((status, sessions(&answer["lines"][0]["baseline"])), (0, 0), "{answer:#}");
    let (status, answer) = remote.json(&clone, &["gate", "--candidate", "session-005"]);
    assert_eq!((status, sessions(&answer["lines"][0]["baseline"])), (0, 4), "{answer:#}");
}

#[test]
fn a_newer_session_of_the_branch_does_not_take_the_place_of_one_in_the_folder() {
    let mut remote = Remote::of(Project::with(SPEC), &QUIET[..12]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    let slow = remote.project.session(80.0, &here(&commit));
    let clone = remote.cloned("clone", &[]);
    remote.give(&clone);
    // The branch has newer sessions, of another machine.
    let on = Special { cpu: Some("AMD EPYC 9654".to_owned()), ..here(&commit) };
    remote.project.sessions(&QUIET, &on);
    remote.record("elsewhere");
    let refspec = "elsewhere:refs/remotes/origin/elsewhere";
    remote.project.git(&["-C", clone.to_str().unwrap(), "fetch", "-q", "origin", refspec]);
    let (status, answer) = remote.json(&clone, &["gate", "--results", "recorded:elsewhere"]);
    assert_eq!(status, 0, "{answer:#}");
    let lines = answer["lines"].as_array().unwrap();
    assert_eq!(lines.len(), 1, "{answer:#}");
    assert_eq!(lines[0]["candidate"]["sessions"][0]["session"], slow, "{answer:#}");
}

/// What a branch measured is evaluated, wherever it is and whatever else the folder holds.
#[test]
fn sessions_of_the_checked_out_branch_come_before_those_of_the_folder() {
    let (mut remote, main, own, bad) = Remote::with_a_branch();
    let clone = remote.cloned_at_its_branch();
    let lost = "c0ffee0123".repeat(4);
    for (of, value, whose) in [
        (None, 0.0, "on origin/"),
        (Some(&main), 100.1, "on origin/"),
        (Some(&lost), 100.1, "on origin/"),
        (Some(&own), 89.0, "in results; origin/"),
    ] {
        if let Some(commit) = of {
            remote.project.session(value, &here(commit));
            remote.give(&clone);
        }
        for arguments in [&["gate"][..], &["gate", "--only-new"]] {
            let (status, answer) = remote.json(&clone, arguments);
            assert_eq!((status, verdict(&answer["lines"][0])), (1, "regressed"), "{answer:#}");
            let is_newer = answer["lines"][0]["candidate"]["sessions"][0]["session"] != *bad;
            assert_eq!(is_newer, of == Some(&own), "{answer:#}");
        }
        let (_, text, _) = remote.says(&clone, &["gate"]);
        let wanted = format!("evaluated: the newest sessions measured on f ({}) {whose}kubebench/results", &own[..10]);
        assert!(text.starts_with(&wanted), "{text}");
    }
    // On the default branch, what was brought here from elsewhere is evaluated alone.
    remote.project.git(&["-C", clone.to_str().unwrap(), "checkout", "-q", "main"]);
    remote.project.session(90.0, &here(&lost));
    remote.give(&clone);
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, verdict(&answer["lines"][0])), (1, "regressed"), "{answer:#}");
    fs::remove_dir_all(clone.join("results")).unwrap();
    let (status, answer) = remote.json(&clone, &["gate"]);
    let newest = &answer["lines"][0]["candidate"]["sessions"][0]["session"];
    assert_eq!((status, newest.as_str()), (0, Some("session-008")), "{answer:#}");
}

/// What somebody recorded with files that are in no commit says nothing of the branch.
#[test]
fn a_recorded_session_of_uncommitted_files_is_no_candidate() {
    let (mut remote, _, own, bad) = Remote::with_a_branch();
    let dirty = Special { dirty: Some(true), ..here(&own) };
    remote.project.session(100.0, &dirty);
    let clone = remote.cloned_at_its_branch();
    for arguments in [&["gate"][..], &["gate", "--only-new"]] {
        let (status, answer) = remote.json(&clone, arguments);
        assert_eq!((status, verdict(&answer["lines"][0])), (1, "regressed"), "{answer:#}");
        assert_eq!(answer["lines"][0]["candidate"]["sessions"][0]["session"], *bad, "{answer:#}");
        let notes = texts(&answer["notes"]);
        assert!(notes.contains("1 session that began after the evaluated ones"), "{notes}");
    }
    // Who measured it has it in the folder, and evaluates it.
    let fresh = remote.project.session(100.0, &dirty);
    remote.give(&clone);
    let (status, answer) = remote.json(&clone, &["gate", "--only-new"]);
    assert_eq!(
        (status, &answer["lines"][0]["candidate"]["sessions"][0]["session"]),
        (0, &Json::from(fresh)),
        "{answer:#}"
    );
}

#[test]
fn a_result_in_both_places_counts_once() {
    let mut remote = Remote::with(&[]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.sessions(&QUIET[..6], &here(&commit));
    remote.record(BRANCH);
    let clone = remote.cloned("clone", &[]);
    remote.give(&clone);
    let runs = |history: &Json| {
        let sessions = history["series"][0]["sessions"].as_array().unwrap().clone();
        (sessions.len(), sessions.iter().map(|session| session["results"].as_array().unwrap().len()).sum::<usize>())
    };
    let (status, history) = remote.json(&clone, &["history"]);
    assert_eq!((status, runs(&history)), (0, (6, 18)), "{history:#}");
    // Another content of one run: neither of the two counts, and both are named.
    let file = files_below(&clone.join("results")).remove(0);
    let mut changed = read(&fs::read(&file).unwrap()).unwrap().result;
    changed.metrics[0].value = Some(1.0);
    fs::write(&file, seal(changed).bytes).unwrap();
    let (status, history) = remote.json(&clone, &["history"]);
    assert_eq!((status, runs(&history)), (1, (6, 17)), "{history:#}");
    assert_eq!((history["leftOut"].as_array().unwrap().len(), &history["leftOut"][0]["code"]), (1, &"KB0452".into()));
    remote.says(&clone, &["history", "--report", "json=found.json"]);
    let found = fs::read_to_string(clone.join("found.json")).unwrap();
    let path = relative(&clone.join("results"), &file);
    for name in [format!("\"results/{path}\""), format!("\"origin/kubebench/results:results/{path}\"")] {
        assert!(found.contains(&name), "{name}: {found}");
    }
}

#[test]
fn what_the_branch_alone_has_is_not_missing() {
    let project = Project::with(SPEC);
    for name in ["other", "third"] {
        project.folder.write(&format!("specs/{name}.yaml"), SPEC.replace("name: train,", &format!("name: {name},")));
    }
    let mut remote = Remote::of(project, &[]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    for value in &QUIET[..8] {
        remote.project.session(*value, &here(&commit));
        let same = Special { same_session: true, ..here(&commit) };
        remote.project.session_as(*value, &same, |result| {
            result.metadata.benchmark = "other".to_owned();
            result.run.id = result.run.id.chars().rev().collect();
        });
    }
    remote.record(BRANCH);
    remote.forget();
    let clone = remote.cloned("clone", &[]);
    remote.project.session(100.0, &here(&commit));
    remote.give(&clone);
    let (status, answer) = remote.json(&clone, &["gate"]);
    let found: Vec<(&str, &str)> = answer["lines"]
        .as_array()
        .unwrap()
        .iter()
        .map(|line| (line["benchmark"].as_str().unwrap(), verdict(line)))
        .collect();
    assert_eq!((status, found), (0, vec![("third", "new"), ("train", "unchanged")]), "{answer:#}");
    assert_text(texts(&answer["notes"]), str! {"not evaluated, since their only results are recorded ones: other"});
    // Of results of other benchmarks alone, nothing would be evaluated.
    for file in files_below(&clone.join("results")) {
        let mut result = read(&fs::read(&file).unwrap()).unwrap().result;
        fs::remove_file(file).unwrap();
        result.metadata.benchmark = "unknown".to_owned();
        remote.project.put(result);
    }
    remote.give(&clone);
    let (_, out, _) = remote.says(&clone, &["gate"]);
    assert!(first_line(&out).contains(") on origin/kubebench/results"), "{out}");
}

#[test]
fn a_clone_without_the_branch_does_not_pass() {
    let mut remote = Remote::with(&QUIET[..8]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    let clone = remote.cloned("clone", &["--single-branch", "--branch", "main"]);
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, outcome(&answer)), (1, "noHistory"), "{answer:#}");
    assert_text(
        texts(&answer["notes"]),
        str! {"there is nothing to compare with: the recorded results are not in this clone; `kubebench gate --fetch` fetches them, and passes if there are none yet (or fetch them with `git fetch origin kubebench/results:refs/remotes/origin/kubebench/results`; with `--on-inconclusive pass`, the gate passes without them)"},
    );
    let (status, out, _) = remote.says(&clone, &["gate", "--markdown", "comment.md"]);
    assert!(status == 1 && !out.contains("passed"), "{out}");
    let comment = fs::read_to_string(clone.join("comment.md")).unwrap();
    assert!(!comment.contains('✅') && comment.contains(FETCH), "{comment}");
    let (_, out, _) = remote.says(&clone, &["gate", "--output-format", "github"]);
    assert!(out.contains(FETCH) && out.contains("file=kubebench.yaml"), "{out}");
    // Nor does a session that was just made, since nothing is known to compare it with.
    remote.project.session(60.0, &here(&commit));
    remote.give(&clone);
    for arguments in [&["gate"][..], &["gate", "--on-inconclusive", "fail"], &["gate", "--on-missing", "pass"]] {
        let (status, answer) = remote.json(&clone, arguments);
        assert_eq!((status, outcome(&answer)), (1, "noHistory"), "{answer:#}");
    }
    let (status, answer) = remote.json(&clone, &["gate", "--on-inconclusive", "pass"]);
    assert_eq!((status, outcome(&answer)), (0, "passed"), "{answer:#}");
    // The others have no history to show, and say the same.
    fs::remove_dir_all(clone.join("results")).unwrap();
    let (status, answer) = remote.json(&clone, &["gate", "--on-inconclusive", "pass"]);
    assert_eq!((status, outcome(&answer)), (0, "nothingToEvaluate"), "{answer:#}");
    for arguments in [&["history"][..], &["report", "--out", "site"], &["compare", "rev:HEAD", "rev:main"]] {
        let (status, _, error) = remote.says(&clone, arguments);
        assert!(status == 2 && error.contains(FETCH), "{error}");
    }
    // What is printed does what it says.
    let fetched = Command::new("sh").args(["-c", FETCH]).current_dir(&clone).status().unwrap();
    assert!(fetched.success());
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, outcome(&answer), sessions(&answer["lines"][0]["baseline"])), (0, "passed", 7), "{answer:#}");
}

#[test]
fn fetching_brings_the_branch_or_the_knowledge_that_there_is_none() {
    let mut remote = Remote::with(&QUIET[..8]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    let clone = remote.cloned("clone", &["--single-branch", "--branch", "main"]);
    let before = remote.project.git(&["-C", clone.to_str().unwrap(), "for-each-ref"]);
    let (status, answer) = remote.json(&clone, &["gate", "--fetch"]);
    assert_eq!((status, outcome(&answer), sessions(&answer["lines"][0]["baseline"])), (0, "passed", 7), "{answer:#}");
    let after = remote.project.git(&["-C", clone.to_str().unwrap(), "for-each-ref"]);
    let new: Vec<&str> = after.lines().filter(|line| !before.contains(line)).collect();
    assert!(new.len() == 1 && new[0].ends_with("refs/remotes/origin/kubebench/results"), "{after}");
    // The first day.
    remote.project.git(&["branch", "-q", "-D", BRANCH]);
    let clone = remote.cloned("first", &["--single-branch", "--branch", "main"]);
    let (status, answer) = remote.json(&clone, &["gate", "--fetch"]);
    assert_eq!((status, outcome(&answer)), (0, "nothingToEvaluate"), "{answer:#}");
    remote.project.session(100.0, &here(&commit));
    remote.give(&clone);
    let (status, answer) = remote.json(&clone, &["gate", "--fetch"]);
    assert_eq!((status, outcome(&answer)), (0, "passed"), "{answer:#}");
    assert_eq!(remote.json(&clone, &["gate", "--fetch", "--on-inconclusive", "fail"]).0, 1);
    // A remote that does not answer says nothing of what it has.
    remote.project.git(&["-C", clone.to_str().unwrap(), "remote", "set-url", "origin", "file:///nowhere/at/all.git"]);
    let (status, _, error) = remote.says(&clone, &["gate", "--fetch"]);
    assert!(status == 2 && error.contains("`kubebench/results` cannot be fetched"), "{error}");
    let (status, _, error) = remote.says(&clone, &["gate", "--fetch", "--results", "results"]);
    assert!(status == 2 && error.contains("names a folder"), "{error}");
}

#[test]
fn results_of_another_repository_and_of_another_branch_are_named() {
    let mut remote = Remote::with(&[]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.sessions(&QUIET[..8], &here(&commit));
    remote.record("benchmarks/old");
    remote.forget();
    let clone = remote.cloned("clone", &["--single-branch", "--branch", "main"]);
    let (status, _, error) = remote.says(&clone, &["gate", "--results", "recorded:benchmarks/old"]);
    assert!(
        status == 2 && error.contains("git fetch origin benchmarks/old:refs/remotes/origin/benchmarks/old"),
        "{error}"
    );
    let (status, answer) = remote.json(&clone, &["gate", "--fetch", "--results", "recorded:benchmarks/old"]);
    assert_eq!((status, answer["results"].as_str()), (0, Some("recorded:benchmarks/old")), "{answer:#}");
    let (status, history) = remote.json(&clone, &["history", "--results", "recorded:benchmarks/old"]);
    assert_eq!((status, sessions(&history["series"][0])), (0, 8), "{history:#}");
    for (name, says) in [("recorded:", "names no branch"), ("recorded:a..b", "is not a valid name for a branch")] {
        let (status, _, error) = remote.says(&clone, &["gate", "--results", name]);
        assert!(status == 2 && error.contains(says), "{error}");
    }
    // Where results go elsewhere, that is where they are fetched from.
    let file = fs::read_to_string(clone.join("kubebench.yaml")).unwrap();
    let address = "https://git.example.com/team/benchmarks.git";
    let elsewhere = file.replace("spec: {", &format!("spec: {{results: {{remote: '{address}', branch: '$(x)'}}, "));
    fs::write(clone.join("kubebench.yaml"), elsewhere).unwrap();
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, outcome(&answer)), (1, "noHistory"), "{answer:#}");
    let notes = texts(&answer["notes"]);
    assert!(notes.contains(&format!("`git fetch {address} '$(x):refs/remotes/origin/$(x)'`")), "{notes}");
    let inside = file.replace("spec: {", "spec: {results: {remote: ./work}, ");
    fs::write(clone.join("kubebench.yaml"), inside).unwrap();
    let (status, _, error) = remote.says(&clone, &["gate", "--fetch"]);
    assert!(status == 2 && error.contains("from a folder that only the project file names"), "{error}");
    // What is recorded in the checkout is there, or nowhere.
    fs::write(clone.join("kubebench.yaml"), file.replace("spec: {", "spec: {results: {mode: local}, ")).unwrap();
    for arguments in [&["gate"][..], &["gate", "--fetch"]] {
        let (status, answer) = remote.json(&clone, arguments);
        assert_eq!((status, outcome(&answer)), (0, "nothingToEvaluate"), "{answer:#}");
    }
}

#[test]
fn every_command_reads_the_branch() {
    let mut remote = Remote::with(&[]);
    let first = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.sessions(&QUIET[..10], &here(&first));
    let second = remote.project.commit("second");
    remote.project.sessions(&QUIET.map(|value| value * 0.8)[..10], &here(&second));
    remote.record(BRANCH);
    let folder = remote.cloned("folder", &[]);
    let kept = remote.cloned("kept", &[]);
    let (results, here) = (remote.project.folder.path().join("results"), folder.join("results"));
    assert!(Command::new("cp").arg("-r").args([results, here]).status().unwrap().success());
    remote.forget();
    let compared = ["compare", &format!("rev:{first}"), &format!("rev:{second}"), "--output-format", "json"];
    for arguments in [&compared[..], &["history", "--output-format", "json"], &["report", "--format", "markdown"]] {
        let (status, expected, error) = remote.says(&folder, arguments);
        assert_eq!(status, 0, "{error}");
        assert_eq!(remote.says(&kept, arguments), (status, expected, error), "{arguments:?}");
    }
    for clone in [&folder, &kept] {
        let site = clone.join("site");
        let (status, _, error) = remote.says(clone, &["report", "--out", site.to_str().unwrap()]);
        assert_eq!(status, 0, "{error}");
    }
    let [from_folder, from_branch] = [&folder, &kept].map(|clone| {
        let files = files_below(&clone.join("site")).into_iter();
        files.map(|file| (relative(clone, &file), fs::read(file).unwrap())).collect::<Vec<_>>()
    });
    assert!(from_folder == from_branch && from_folder.len() > 5);
    let accept = ["ack", "train", "--metric", "speed", "--by", "ada@example.com", "--reason", "known"];
    let (status, _, error) = remote.says(&kept, &accept);
    assert_eq!(status, 0, "{error}");
    assert_eq!(remote.says(&kept, &["gate"]).0, 0);
}

#[test]
fn what_is_no_result_on_the_branch_is_named_and_reaches_nothing() {
    let mut remote = Remote::with(&[]);
    let commit = remote.project.git(&["rev-parse", "main"]).trim().to_owned();
    remote.project.sessions(&QUIET[..6], &here(&commit));
    let mut files: Vec<(&str, String, Vec<u8>)> = remote
        .project
        .folder
        .tree("results")
        .into_iter()
        .map(|(path, bytes)| ("100644", format!("results/{path}"), bytes))
        .collect();
    let copy = files[0].2.clone();
    let text = |text: &str| text.as_bytes().to_vec();
    files.extend([
        ("120000", "results/train/link.json".to_owned(), text("/etc/passwd")),
        ("120000", "results/elsewhere".to_owned(), text("../..")),
        ("160000", "results/train/module.json".to_owned(), text(&commit)),
        ("160000", "results/module".to_owned(), text(&commit)),
        ("100644", "results/train/case/no.json".to_owned(), text("{}")),
        ("100644", "results/train/case/<script>.json".to_owned(), text("no")),
        ("100644", "results/train/case/huge.json".to_owned(), vec![b' '; 3 << 20]),
        ("100644", "results/train/case/moved.json".to_owned(), copy.clone()),
        ("100644", "results/a/b/c/d/deep.json".to_owned(), copy.clone()),
        ("100644", "train/x.json".to_owned(), copy.clone()),
        ("100644", "results/.hidden/x/y.json".to_owned(), copy),
        ("100644", "results/README.md".to_owned(), text("results of the team")),
    ]);
    remote.commit(BRANCH, files.clone());
    remote.forget();
    let clone = remote.cloned("clone", &[]);
    let (status, history) = remote.json(&clone, &["history"]);
    assert_eq!((status, sessions(&history["series"][0])), (1, 6), "{history:#}");
    let left_out: Vec<String> = history["leftOut"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| format!("{}: {}: {}", file["path"], file["code"], file["message"]).replace('"', ""))
        .collect();
    assert_text(
        left_out.join("\n"),
        str! {[r#"
a/b/c: KB0114: kubebench does not read this: it is a folder nested deeper than results are
train/case/<script>.json: KB0363: this is not JSON: expected ident at line 1 column 2
train/case/huge.json: KB0114: kubebench does not read this: it has 3145728 bytes, but a result has at most 1048576
train/case/moved.json: KB0368: this result belongs at `origin/kubebench/results:results/train/default-44136fa3/20260201T010100Z-00000001-r1-a1.json`
train/case/no.json: KB0363: this is not a result file: it has no `kind: BenchmarkResult`
train/link.json: KB0114: kubebench does not read this: it is a symbolic link
train/module.json: KB0114: kubebench does not read this: it is a submodule
"#]},
    );
    // Instead of the folder there is something else.
    for (mode, content) in [("120000", text("/etc")), ("160000", text(&commit)), ("100644", text("{}"))] {
        remote.commit(BRANCH, vec![(mode, "results".to_owned(), content)]);
        remote.project.git(&["-C", clone.to_str().unwrap(), "fetch", "-q", "origin"]);
        let (status, _, error) = remote.says(&clone, &["history"]);
        assert!(
            status == 2 && error.contains("`results` on the branch `origin/kubebench/results` is not a folder"),
            "{error}"
        );
    }
    // Nothing was ever recorded there.
    remote.commit(BRANCH, vec![("100644", "README.md".to_owned(), text("results of the team"))]);
    remote.project.git(&["-C", clone.to_str().unwrap(), "fetch", "-q", "origin"]);
    let (status, answer) = remote.json(&clone, &["gate"]);
    assert_eq!((status, outcome(&answer)), (0, "nothingToEvaluate"), "{answer:#}");
}

#[test]
fn a_clone_without_the_content_of_files_says_how_to_have_it() {
    let remote = Remote::with(&QUIET[..8]);
    for filter in ["blob:none", "tree:0"] {
        let clone = remote.cloned(&filter.replace(':', "-"), &[&format!("--filter={filter}")]);
        for arguments in [&["gate"][..], &["history"], &["report", "--out", "site"]] {
            let (status, _, error) = remote.says(&clone, arguments);
            assert_eq!(status, 2, "{error}");
            assert_text(
                error,
                str! {[r#"
error: this clone lacks files of the branch `origin/kubebench/results`, because it was made with `--filter`: run `git fetch --refetch --no-filter origin kubebench/results:refs/remotes/origin/kubebench/results`

"#]},
            );
        }
        let (_, _, error) = remote.says(&clone, &["history"]);
        let command = error.split('`').find(|part| part.starts_with("git fetch")).unwrap();
        let fetched = Command::new("sh").args(["-c", command]).current_dir(&clone).output().unwrap();
        assert!(fetched.status.success(), "{}", String::from_utf8_lossy(&fetched.stderr));
        let (status, history) = remote.json(&clone, &["history"]);
        assert_eq!((status, sessions(&history["series"][0])), (0, 8), "{history:#}");
    }
}
