//! `record` on the command line: which files it finds, from which folder, and what it says.
#![cfg(unix)]

use std::os::unix::fs::symlink;
use std::process::Output;

use kubebench_testing::snapshot::{assert_line, assert_text, named, str};
use serde_json::Value;

use crate::support::project::{Folder, assert_yes};
use crate::support::steady::steady;

pub(super) const RESULT: &str = "results/matmul/size-256-0a1b2c3d/20260102T030405Z-01234567-r1-a1.json";

/// A project in `team`, in a repository of its own, with one result.
pub(super) fn team() -> Folder {
    let sample = format!("{}/tests/cli/results.in/{RESULT}", env!("CARGO_MANIFEST_DIR"));
    let folder = Folder::with([("team/kubebench.yaml", PROJECT)]);
    folder.write(&format!("team/{RESULT}"), std::fs::read(sample).unwrap());
    crate::record::run(&folder.path().join("team"), &["init", "--quiet", "-b", "main"]);
    folder
}

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: team}\n";

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Returns how many results the command added or looked at.
fn count(output: &Output, key: &str) -> usize {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    answer[key].as_array().unwrap().len()
}

#[test]
fn paths_begin_where_the_command_starts() {
    let folder = team();
    let output = folder.run(&["-C", "team", "record", RESULT, "--mode", "local"]);
    assert_yes(&output);
    assert_text(
        said(&output),
        str! {[r#"
1 result recorded in branch `main` of this repository

"#]},
    );
    let missing = folder.run(&["record", RESULT, "--mode", "local"]);
    assert_eq!(missing.status.code(), Some(2));
    assert_line(
        steady(said(&missing)),
        str! {"error: results/matmul/size-256-0a1b2c3d/RUN-a1.json: there is no such file or folder"},
    );
    let refused = folder.run(&["-C", "team", "record", RESULT, "--mode", "branch"]);
    assert_eq!(refused.status.code(), Some(4));
    assert_line(
        steady(said(&refused)),
        str! {"  add it with `git remote add`, name an address with `--remote` or `results.remote`, or commit here with `--mode local`; the result is kept in `team/results/matmul/size-256-0a1b2c3d/RUN-a1.json`"},
    );
    assert_yes(&folder.run(&["-C", "team", "validate", RESULT, "--report", "json=found.json"]));
    assert!(folder.path().join("team/found.json").exists());
}

#[test]
fn record_and_validate_find_the_same_files() {
    let folder = team();
    let bytes = std::fs::read(folder.path().join("team").join(RESULT)).unwrap();
    for path in ["team/results/.cache/x.json", "team/results/matmul/.x.json", "team/results/matmul/note.txt"] {
        folder.write(path, &bytes);
    }
    symlink("results", folder.path().join("team/link")).unwrap();
    for asked in ["results", "results/", "results/matmul", "./results", "link"] {
        let validated = folder.run(&["-C", "team", "validate", asked]);
        if asked != "link" {
            assert_yes(&validated);
            assert_text(
                said(&validated),
                str! {[r#"
1 result checked, no errors

"#]},
            );
        }
        let recorded = folder.run(&["-C", "team", "record", asked, "--mode", "local", "--output-format", "json"]);
        assert_yes(&recorded);
        assert_eq!(count(&recorded, "added") + count(&recorded, "already"), 1, "{asked}");
    }
    // What is below a folder is found by neither through a link, and neither skips it.
    symlink("/etc", folder.path().join("team/results/away")).unwrap();
    symlink(folder.path().join("team").join(RESULT), folder.path().join("team/results/copy.json")).unwrap();
    for (command, said_of_links) in [
        (&["validate", "results"][..], str! {"error[KB0114]: kubebench does not read this: it is a symbolic link"}),
        (
            &["record", "results", "--mode", "local"],
            str! {"error: team/results/copy.json: it is a symbolic link; name the result file itself"},
        ),
    ] {
        let output = folder.run(&[&["-C", "team"], command].concat());
        assert_eq!(output.status.code(), Some(if command[0] == "record" { 4 } else { 1 }));
        let all = [said(&output), String::from_utf8_lossy(&output.stdout).into_owned()].concat();
        assert!(!all.contains("away"), "{all}");
        assert_line(steady(&all), said_of_links);
    }
}

#[test]
fn folders_of_results_are_checked_wherever_they_are() {
    let folder = team();
    let text = std::fs::read_to_string(folder.path().join("team").join(RESULT)).unwrap();
    let outside = folder.path().join("kept").display().to_string();
    folder.write("kept/2026/a.json", &text);
    folder.write("team/out/b.json", &text);
    folder.write("team/mixed/c.json", "[]");
    folder.write("team/mixed/spec.yaml", "kind: Nothing");
    for path in [outside.as_str(), "../kept", "../kept/2026/", "out"] {
        let output = folder.run(&["-C", "team", "validate", path]);
        assert_yes(&output);
        assert_text(
            said(&output),
            str! {[r#"
1 result checked, no errors

"#]},
        );
    }
    folder.write("kept/2026/a.json", text.replace("succeeded", "failed"));
    let output = folder.run(&["-C", "team", "validate", "../kept"]);
    assert_eq!(output.status.code(), Some(1));
    let found = String::from_utf8_lossy(&output.stdout);
    assert!(found.contains("KB0366") && found.contains("../kept/2026/a.json"), "{found}");
    // Where specs are, JSON files are what specs carry.
    let output = folder.run(&["-C", "team", "validate", "mixed"]);
    assert!(!String::from_utf8_lossy(&output.stdout).contains("KB0363"), "{output:?}");
    for (path, words) in [
        ("..", str! {"error: .. is outside the project FOLDER/team"}),
        (
            ".",
            str! {"error: . is the whole project; name a spec or a folder of specs, or omit the path where the command takes all specs"},
        ),
        ("../no", str! {"error: ../no is outside the project FOLDER/team"}),
    ] {
        let output = folder.run(&["-C", "team", "validate", path]);
        assert_eq!(output.status.code(), Some(2), "{path}");
        assert_line(steady(said(&output)), words);
    }
}

#[test]
fn what_is_no_result_is_named_and_nothing_is_recorded() {
    let folder = team();
    let bytes = std::fs::read_to_string(folder.path().join("team").join(RESULT)).unwrap();
    folder.write("team/results/edited.json", bytes.replace("succeeded", "failed"));
    folder.write("team/results/huge.json", vec![b' '; 3 << 20]);
    let output = folder.run(&["-C", "team", "record", "results", "--mode", "local"]);
    assert_eq!(output.status.code(), Some(4));
    let said = said(&output);
    assert_text(
        steady(said),
        str! {[r#"
error: team/results/edited.json: this result was edited after it was written: the content has the digest sha256:DIGEST, the file says sha256:DIGEST
error: team/results/huge.json: a result is never larger than 1024 KiB
nothing was recorded

"#]},
    );
    let commits = crate::record::run(&folder.path().join("team"), &["rev-list", "--count", "--all"]);
    assert_eq!(commits, "0");
}

#[test]
fn what_was_folded_is_said_to_be_in_the_branch() {
    let folder = team();
    crate::record::run(folder.path(), &["init", "--quiet", "--bare", "remote.git"]);
    let remote = folder.path().join("remote.git").display().to_string();
    let command = |rest: &[&str]| {
        let output = folder.run(&[&["-C", "team"], rest, &["--remote", &remote]].concat());
        named(said(&output).lines().last().unwrap(), &[(&remote, "REMOTE")])
    };
    let record = ["record", RESULT, "--mode", "inbox"];
    assert_text(command(&record), str! {"1 result recorded in `refs/kubebench/inbox` of `REMOTE`"});
    assert_text(command(&["fold"]), str! {"1 result moved to branch `kubebench/results` of `REMOTE`"});
    assert_text(
        command(&record),
        str! {"0 results recorded in `refs/kubebench/inbox` of `REMOTE`, 1 already in branch `kubebench/results`"},
    );
}

#[test]
fn a_host_that_cannot_be_reached_is_said_before_the_deadline() {
    let folder = team();
    // Nothing listens there any more.
    let address = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let remote = format!("http://{address}/team.git");
    for command in [&["record", RESULT][..], &["fold"]] {
        let arguments = [&["-C", "team"], command, &["--remote", &remote, "--deadline", "2s"]].concat();
        let output = folder.run(&arguments);
        assert_eq!(output.status.code(), Some(3));
        let said = said(&output);
        let begin = format!("cannot reach {remote}: Failed to connect to 127.0.0.1");
        let (first, others) = said.split_once('\n').unwrap();
        assert!(first.starts_with(&begin), "{said}");
        let (_, until) = first.rsplit_once("; ").unwrap();
        assert_text(until, str! {"retrying for up to 2s"});
        assert!(!others.contains(until), "once, not for each attempt: {said}");
        assert!(said.contains("\nerror: not recorded after"), "{said}");
        let quiet = folder.run(&[&arguments[..], &["--quiet"]].concat());
        assert!(!self::said(&quiet).contains(until), "{quiet:?}");
    }
}

#[test]
fn without_git_it_is_said() {
    let folder = team();
    for mode in ["local", "branch", "inbox"] {
        let output =
            folder.command(&["-C", "team", "record", RESULT, "--mode", mode]).env("PATH", "").output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{mode}");
        let said = said(&output);
        assert_line(&said, str! {"error: there is no program `git`"});
        assert_line(
            steady(&said),
            str! {"  install git 2.34 or newer in PATH; the result is kept in `team/results/matmul/size-256-0a1b2c3d/RUN-a1.json`; record it again with `kubebench record`, which adds nothing twice"},
        );
    }
}

#[test]
fn run_and_record_give_programs_one_answer() {
    let folder = Folder::with([
        ("kubebench.yaml", format!("{PROJECT}spec: {{results: {{mode: local}}}}\n")),
        (
            "specs/b.yaml",
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: b}\nspec:\n  timeout: 1m\n  \
             workload: {job: {image: 'a/b:1', command: [sh, -c, echo loss 3], resources: {cpu: 1, memory: 1Gi}}}\n  \
             metrics: [{name: loss, better: lower, primary: true, from: {keyValue: {key: loss}}}]\n"
                .replace("echo loss 3", "'echo loss=3'"),
        ),
    ]);
    crate::record::run(folder.path(), &["init", "--quiet", "-b", "main"]);
    let output = folder.run(&["run", "specs", "--record", "--output-format", "json"]);
    assert_yes(&output);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["recorded"]["added"], Value::from(vec![answer["results"][0]["path"].clone()]));
    let again = folder.run(&["record", "results", "--output-format", "json"]);
    assert_eq!((count(&again, "added"), count(&again, "already")), (0, 1));
    let documented = include_str!("../../../docs/reference/json-output.md");
    for key in keys(&answer) {
        assert!(documented.contains(&format!("`{key}`")), "`{key}` is not in docs/reference/json-output.md");
    }
}

/// Every key of a document, at any depth.
fn keys(value: &Value) -> Vec<String> {
    match value {
        Value::Object(entries) => {
            entries.iter().flat_map(|(key, value)| [vec![key.clone()], keys(value)].concat()).collect()
        }
        Value::Array(items) => items.iter().flat_map(keys).collect(),
        _ => Vec::new(),
    }
}
