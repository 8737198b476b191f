//! Disks that are full, cannot be written, or are used by two at once: what was measured before stays.

use std::process::{Command, Output};

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::steady::steady;

use super::{LOSS, job, metric, reasons, results, run, start};
use crate::support::project::Folder;

/// Runs a script in the project with file systems of its own; none where that is not allowed.
fn with_mounts(folder: &Folder, script: &str) -> Option<Output> {
    let is_allowed = Command::new("unshare").args(["-m", "sh", "-c", "mount -t tmpfs none /mnt"]).output();
    if !is_allowed.is_ok_and(|output| output.status.success()) {
        return None;
    }
    let script = script.replace("KUBEBENCH", env!("CARGO_BIN_EXE_kubebench"));
    let output = Command::new("unshare").args(["-m", "sh", "-c", &script]).current_dir(folder.path()).output();
    Some(output.unwrap())
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_results_folder_that_cannot_be_written_is_reported_before_anything_runs() {
    let folder = job("touch $KUBEBENCH_DATA_ROOT/started; echo loss 1", &[LOSS]);
    std::fs::create_dir(folder.path().join("results")).unwrap();
    let Some(output) = with_mounts(&folder, "mount -t tmpfs -o ro none results && KUBEBENCH run specs") else {
        return println!("skipped: mounting needs root");
    };
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(said(&output).contains("ead-only"), "{}", said(&output));
    assert_line(
        steady(said(&output)),
        str! {"error: nothing was run: cannot write results into FOLDER/results: Read-only file system (os error 30)"},
    );
    assert!(!folder.path().join(".kubebench/data/started").exists());
    folder.write("file", "");
    let ran = run(&folder, &["--results", "file/x"]);
    assert!(ran.code() == 2, "{}", ran.stderr);
    assert_line(
        &ran.stderr,
        str! {"error: nothing was run: cannot write results into file/x: Not a directory (os error 20)"},
    );
}

#[test]
fn a_full_disk_loses_no_result() {
    let folder = job("echo loss 1", &[LOSS, "repeats: 40"]);
    let script = "mkdir results && mount -t tmpfs -o size=64k none results && KUBEBENCH run specs; code=$?; cp -a results kept; exit $code";
    let Some(output) = with_mounts(&folder, script) else { return println!("skipped: mounting needs root") };
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let stored = results(&folder.path().join("kept"));
    let refuge = results(&folder.path().join(".kubebench/results"));
    assert!(stored.len() > 3 && refuge.len() == 1, "{} {}", stored.len(), refuge.len());
    assert!(refuge.iter().chain(&stored).all(|result| metric(result, "loss").value == Some(1.0)));
    let said = said(&output);
    assert_line(
        steady(&said),
        str! {"error: the run cannot continue: the result is kept in FOLDER/.kubebench/results/b/default-44136fa3/RUN-a1.json: cannot write the result FOLDER/results/b/default-44136fa3/RUN-a1.json: No space left on device (os error 28)"},
    );
    assert!(said.contains("o space left"), "{said}");
    let left = 40 - stored.len() - 1;
    assert!(said.contains(&format!("not started: {left} runs, from default, repeat {} on", 41 - left)), "{said}");
    assert!(said.contains(&format!("{} results in results/b", stored.len())), "{said}");
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    let all = (stored.len() + 1).to_string();
    let counts = |line: &str| line.split_whitespace().nth(2) == Some(all.as_str());
    assert!(table.lines().any(|line| line.contains("loss") && counts(line)), "what is there is shown: {table}");
}

/// A run that fills the disk on which everything is kept does not lose its own result.
#[test]
fn a_run_that_fills_the_only_disk_loses_no_result() {
    let fill = "echo loss 1; cat /dev/zero > $KUBEBENCH_EXP_OUTPUT_PATH/fill 2> /dev/null; exit 0";
    for (size, is_kept) in [("3m", true), ("600k", false)] {
        let folder = job(fill, &[LOSS, "repeats: 2"]);
        let script = format!(
            "mkdir .kubebench && mount -t tmpfs -o size={size} none .kubebench &&
            KUBEBENCH run specs --results .kubebench/wanted --output-format json > answer; code=$?
            cp -a .kubebench/results kept; cp -a .kubebench/wanted wanted; exit $code"
        );
        let Some(output) = with_mounts(&folder, &script) else { return println!("skipped: mounting needs root") };
        let said = said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let kept = results(&folder.path().join("kept"));
        assert_eq!((kept.len(), results(&folder.path().join("wanted")).len()), (usize::from(is_kept), 0), "{said}");
        let text = std::fs::read_to_string(folder.path().join("answer")).unwrap();
        let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
        let result = &answer["results"][0];
        assert_eq!(result["path"].as_str().is_some(), is_kept, "{answer}");
        assert_eq!((result["status"].as_str(), result["metrics"][0]["value"].as_f64()), (Some("succeeded"), Some(1.0)));
        assert_eq!(answer["notStarted"].as_array().unwrap().len(), 1, "{answer}");
        assert_eq!(said.contains("the result could not be saved"), !is_kept, "{said}");
        assert_eq!(said.contains("note: cannot reserve space in "), !is_kept, "{said}");
        assert!(said.contains("loss 1"), "{said}");
        assert_line(steady(&said), str! {"[1/2] default, repeat 1: succeeded in SECONDS s, loss 1"});
    }
}

/// A result that had to be kept elsewhere is one like any other, for programs and for git.
#[test]
fn a_result_in_the_refuge_is_shown_and_recorded() {
    let folder = job("chmod 700 .; mount -o remount,ro $ROOT/results; echo loss 1", &[LOSS, "repeats: 2"]);
    let remote = folder.path().join("remote.git").display().to_string();
    let settings = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {results: {mode: branch, remote: REMOTE}}\n";
    folder.write("kubebench.yaml", settings.replace("REMOTE", &remote));
    let script =
        "git init -q --bare remote.git; git init -q .; git config user.name n; git config user.email e@example.org
        git add specs kubebench.yaml; git commit -qm one; mkdir results && mount -t tmpfs none results &&
        ROOT=$PWD KUBEBENCH run specs --pass-env ROOT --record=branch --output-format json > answer; code=$?
        git --git-dir remote.git ls-tree -r --name-only kubebench/results > recorded; exit $code";
    let Some(output) = with_mounts(&folder, script) else { return println!("skipped: mounting needs root") };
    assert_eq!(output.status.code(), Some(1), "{}", said(&output));
    let text = std::fs::read_to_string(folder.path().join("answer")).unwrap();
    let answer = serde_json::Deserializer::from_str(&text).into_iter::<serde_json::Value>().next().unwrap().unwrap();
    let path = answer["results"][0]["path"].as_str().unwrap();
    assert!(path.starts_with(".kubebench/results/b/") && folder.path().join(path).is_file(), "{answer}");
    assert_eq!(answer["notStarted"].as_array().unwrap().len(), 1);
    let recorded = std::fs::read_to_string(folder.path().join("recorded")).unwrap();
    assert_eq!(recorded.lines().filter(|line| line.starts_with("results/b/")).count(), 1, "{}", said(&output));
}

/// All that is missing in a log is counted, also where its end did not fit any more.
#[test]
fn what_a_full_disk_takes_of_a_log_is_counted() {
    for (size, limit) in [("1m", "1500Ki"), ("1300k", "1200Ki"), ("2m", "1Gi")] {
        let limited = format!("results: {{logLimit: {limit}}}");
        let folder = job("yes abcdefghijklmn | head -c 3000000; echo loss 4; exit 0", &[LOSS, &limited]);
        let script = format!(
            "mkdir .kubebench && mount -t tmpfs -o size={size} none .kubebench && KUBEBENCH run specs; cat .kubebench/experiments/*/output/logs/job-0.log > kept"
        );
        let Some(output) = with_mounts(&folder, &script) else { return println!("skipped: mounting needs root") };
        let found = results(&folder.path().join("results"));
        assert_eq!(found.len(), 1, "{}{}", String::from_utf8_lossy(&output.stdout), said(&output));
        assert_eq!(metric(&found[0], "loss").value, Some(4.0));
        let kept = std::fs::read_to_string(folder.path().join("kept")).unwrap();
        let printed = kept.lines().filter(|line| !line.starts_with("[kubebench: "));
        let bytes = printed.map(|line| line.len() as u64 + 1).sum::<u64>();
        let missing = 3_000_007 - bytes;
        let counted = found[0].artifacts[0].dropped_bytes;
        assert!(missing.abs_diff(counted) <= 2, "{limit}: {missing} are missing, {counted} are counted");
        assert_eq!(reasons(&found[0]), ["logIncomplete"], "{limit}");
    }
}

#[test]
fn a_log_that_does_not_fit_is_still_read() {
    let folder = job("yes abcdefghijklmn | head -c 3000000; echo loss 4; exit 0", &[LOSS]);
    let script = "mkdir .kubebench && mount -t tmpfs -o size=1m none .kubebench && KUBEBENCH run specs";
    let Some(output) = with_mounts(&folder, script) else { return println!("skipped: mounting needs root") };
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    let found = results(&folder.path().join("results"));
    assert_eq!((found[0].run.status, metric(&found[0], "loss").value), (Status::Succeeded, Some(4.0)));
    assert_eq!(reasons(&found[0]), ["logIncomplete"]);
    assert!(found[0].artifacts[0].dropped_bytes > 1_000_000 && found[0].run.exits[0].code == Some(0));
}

#[test]
fn two_at_once_do_not_meet() {
    let folder = job("sleep 0.2; echo loss 1", &[LOSS, "repeats: 3"]);
    let children = [(); 3].map(|()| start(&folder, &[]));
    // Results are looked at when nothing is written any more.
    let ended = children.map(|child| child.wait_with_output().unwrap());
    assert!(ended.iter().all(|output| output.status.success()), "{}", said(&ended[0]));
    assert_eq!(results(&folder.path().join("results")).len(), 9);
}

#[test]
fn results_where_they_are_wanted() {
    let folder = job("echo loss 1", &[LOSS]);
    let ran = run(&folder, &["--results", "else/where"]);
    assert_eq!((ran.code(), ran.results.len()), (0, 0));
    assert_eq!(results(&folder.path().join("else/where")).len(), 1);
    assert_line(&ran.stderr, str! {"1 result in else/where/b"});
}

/// What a job leaves that cannot be read is reported, and the result is there nevertheless.
#[test]
fn strange_things_among_the_output() {
    let script = "cd $KUBEBENCH_EXP_OUTPUT_PATH; mkfifo pipe; ln -s /etc/passwd link; ln -s . loop; mkdir -p d/e; echo x > d/e/f; echo loss 1";
    let folder = job(script, &[LOSS]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let names: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(names, ["logs/job-0.log", "d/e/f"]);
    let ran = run(&job("cd $KUBEBENCH_EXP_OUTPUT_PATH; touch $(seq 300); echo loss 1", &[LOSS]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    assert_eq!((result.artifacts.len(), reasons(result)), (201, vec!["artifactsCut"]));
    assert_text(&result.run.reasons[0].message, str! {"201 of 301 files are listed with their digests"});
}

/// A log that the job removed is missed, and its values still count.
#[test]
fn a_log_that_is_gone_is_missed() {
    let ran = run(&job("echo loss 1; rm $KUBEBENCH_EXP_OUTPUT_PATH/logs/job-0.log", &[LOSS]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    assert_eq!((result.artifacts.len(), reasons(result)), (0, vec!["logMissing"]));
    assert_eq!(metric(result, "loss").value, Some(1.0));
}
