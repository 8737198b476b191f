//! People and systems stop a run: what was measured is kept, the program dies of the signal, and nothing is left running.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Command;
use std::time::Duration;

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, assert_text, named, str};

use super::{LOSS, Ran, SECONDS, alive, finish, job, metric, reasons, send, start, until_made};
use crate::support::project::Folder;

const READY: &str = "touch $KUBEBENCH_EXP_OUTPUT_PATH/ready";

/// Starts the benchmark, waits until its replica is ready, sends the signals, and waits for the end.
fn stopped(folder: &Folder, signals: &[&str]) -> Ran {
    let child = start(folder, &[]);
    until_made(folder, "ready");
    for signal in signals {
        send(child.id(), signal);
        // So that the second is not taken together with the first.
        std::thread::sleep(Duration::from_millis(300));
    }
    let ran = finish(folder, child);
    assert_eq!(alive(folder), []);
    ran
}

#[test]
fn interrupted_with_what_was_measured() {
    for (signal, number) in [("INT", 2), ("TERM", 15)] {
        let folder = job(&format!("echo loss 2.5; {READY}; sleep 100"), &[LOSS, "repeats: 3"]);
        let ran = stopped(&folder, &[signal]);
        assert_eq!(ran.status.signal(), Some(number), "{}", ran.stderr);
        let result = ran.one();
        assert_eq!((result.run.status, reasons(result)), (Status::Interrupted, vec!["interrupted"]));
        assert_eq!(metric(result, "loss").value, Some(2.5));
        assert_line(&ran.stderr, str! {"not started: 2 runs, from default, repeat 2 on"});
        assert_line(
            named(&ran.stderr, &[(signal, "NAL")]),
            str! {"SIGNAL: stopping; a second signal kills immediately"},
        );
    }
}

/// A terminal that goes away counts as SIGTERM, unless the program was asked to outlive it.
#[test]
fn a_hang_up() {
    let folder = job(&format!("echo loss 2.5; {READY}; sleep 1"), &[LOSS]);
    for (ignored, result) in [("--default-signal=HUP", Status::Interrupted), ("--ignore-signal=HUP", Status::Succeeded)]
    {
        drop(std::fs::remove_dir_all(folder.path().join(".kubebench")));
        drop(std::fs::remove_dir_all(folder.path().join("results")));
        let program = env!("CARGO_BIN_EXE_kubebench");
        let mut command = Command::new("env");
        command.args([ignored, program, "run", "specs"]).current_dir(folder.path());
        let pipe = std::process::Stdio::piped;
        let child = command.stdout(pipe()).stderr(pipe()).spawn().unwrap();
        until_made(&folder, "ready");
        send(child.id(), "HUP");
        let ran = finish(&folder, child);
        assert_eq!(ran.one().run.status, result, "{}", ran.stderr);
        let signal = (result == Status::Interrupted).then_some(15);
        assert_eq!(ran.status.signal(), signal, "{}", ran.stderr);
    }
}

/// Programs that save a checkpoint when they are asked to end have ten seconds for it, also those whose parent does not wait.
pub(super) fn processes_have_time_to_end() {
    let child =
        "trap 'sleep 2; echo loss 9; exit 0' TERM; touch $KUBEBENCH_EXP_OUTPUT_PATH/ready; while :; do sleep 0.1; done";
    let folder = job(&format!("trap 'exit 0' TERM; sh -c \"{child}\" & wait"), &[LOSS]);
    let ran = stopped(&folder, &["TERM"]);
    assert_eq!(metric(ran.one(), "loss").value, Some(9.0), "{}", ran.stderr);
}

#[test]
fn the_second_kills_at_once() {
    let script = format!("trap '' TERM INT; echo loss 1; {READY}; while :; do sleep 0.1; done");
    // A supervisor that waits for its ten seconds says how long the program ran; one that is killed too does not, unless it
    // sees the end of the program first.
    let is_killed = (0..5).any(|_| {
        let ran = stopped(&job(&script, &[LOSS]), &["INT", "INT"]);
        assert_eq!(ran.status.signal(), Some(2));
        assert_eq!((ran.one().run.status, metric(ran.one(), "loss").value), (Status::Interrupted, Some(1.0)));
        assert_line(&ran.stderr, str! {"killing all processes"});
        ran.one().run.timings.run_seconds.is_none()
    });
    assert!(is_killed);
}

/// Who hits the keys again and again while the result is made does not lose it.
#[test]
fn impatience_loses_no_result() {
    let script = format!(
        "trap '' TERM INT; truncate -s 400M $KUBEBENCH_EXP_OUTPUT_PATH/x; echo loss 1; {READY}; while :; do sleep 0.1; done"
    );
    let ran = stopped(&job(&script, &[LOSS]), &["INT", "INT", "INT", "INT"]);
    assert_eq!(ran.status.signal(), Some(2), "{}", ran.stderr);
    assert_eq!((ran.one().run.status, metric(ran.one(), "loss").value), (Status::Interrupted, Some(1.0)));
}

/// What a stopped run left in addition to its logs is not read for minutes: whoever stopped it may kill the program soon.
#[test]
fn a_stopped_run_takes_no_digests_of_large_files() {
    let script = format!("truncate -s 60G $KUBEBENCH_EXP_OUTPUT_PATH/x; echo loss 1; {READY}; sleep 100");
    let ran = stopped(&job(&script, &[LOSS]), &["TERM"]);
    let result = ran.one();
    assert_eq!((result.run.status, reasons(result)), (Status::Interrupted, vec!["interrupted", "artifactUnreadable"]));
    assert_eq!(result.artifacts[0].name, "logs/job-0.log");
    assert_text(&result.run.reasons[1].message, str! {"x is not digested, because the run was stopped"});
}

/// Whether a process has a file open whose path ends so.
fn is_open(pid: u32, end: &str) -> bool {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    open.filter_map(|file| file.path().read_link().ok()).any(|path| path.ends_with(end))
}

/// A request to stop that comes while the last result is made counts too; the run was not interrupted.
#[test]
fn a_late_signal() {
    // Its digest takes a while.
    let script = format!("truncate -s 60G $KUBEBENCH_EXP_OUTPUT_PATH/x; echo loss 1; {READY}");
    let folder = job(&script, &[LOSS]);
    let child = start(&folder, &[]);
    until_made(&folder, "ready");
    super::until("the beginning of the digest", || is_open(child.id(), "output/x"));
    assert_eq!(alive(&folder), [], "the run is over");
    send(child.id(), "TERM");
    let ran = finish(&folder, child);
    assert_eq!((ran.status.signal(), ran.statuses()), (Some(15), vec![Status::Succeeded]), "{}", ran.stderr);
    let result = ran.one();
    let names: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!((names, reasons(result)), (vec!["logs/job-0.log", "ready"], vec!["artifactUnreadable"]));
    assert_text(&result.run.reasons[0].message, str! {"x is not digested, because the run was stopped"});
    let said = ["computing the digests of 60.0 GiB", "SIGTERM: writing the result without the missing digests"];
    assert!(said.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
    assert!(ran.stdout.contains("MEDIAN"), "{}", ran.stdout);
}

/// SIGINT makes a supervisor kill at once, where no other process could find what is below it: it asks no process to end.
#[test]
fn a_supervisor_that_is_asked_to_kill() {
    let folder = job(
        &format!("trap '' INT; trap 'echo asked' TERM; echo loss 1; {READY}; while :; do sleep 0.1; done"),
        &[LOSS],
    );
    let child = start(&folder, &[]);
    until_made(&folder, "ready");
    let supervisor = alive(&folder).into_iter().find(|(_, words)| words.contains(" supervise ")).unwrap();
    send(supervisor.0.unsigned_abs(), "INT");
    let ran = finish(&folder, child);
    assert_eq!(super::log(&folder, "job-0.log"), b"loss 1\n");
    assert_eq!(super::exit(ran.ended(Status::Failed, 1), "job", 0).signal.as_deref(), Some("SIGKILL"));
    assert_eq!(alive(&folder), []);
}

/// What later benchmarks would have run is said after a signal too.
#[test]
fn runs_of_later_benchmarks_are_listed() {
    let folder = job(&format!("echo loss 2.5; {READY}; sleep 100"), &[LOSS]);
    let other = super::spec(&format!("job: {{{}}}", super::shell("echo loss 1")), &[LOSS]);
    folder.write("specs/c.yaml", other.replace("{name: b}", "{name: c}"));
    let ran = stopped(&folder, &["INT"]);
    assert_eq!((ran.status.signal(), ran.results.len()), (Some(2), 1), "{}", ran.stderr);
    assert_line(&ran.stderr, str! {"not started: c, default, repeat 1"});
}

/// While results are recorded, the program ends at the first signal: they are in their files, and that was said before.
#[test]
fn recording_ends_at_once() {
    let folder = job("echo loss 1", &[LOSS]);
    let remote = folder.path().join("remote.git");
    let git = |arguments: &[&str]| {
        let ended = Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
        assert!(ended.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ended.stderr));
    };
    git(&["init", "-q", "--bare", "remote.git"]);
    // It ends when the program has, or with its folder.
    let hook = "#!/bin/sh\ntouch is-hooked\nwhile test -e is-hooked && ! test -e is-over; do sleep 0.1; done\n";
    folder.write("remote.git/hooks/pre-receive", hook);
    let hook = remote.join("hooks/pre-receive");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let settings =
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {results: {remote: REMOTE}}\n";
    folder.write("kubebench.yaml", settings.replace("REMOTE", &remote.display().to_string()));
    git(&["init", "-q", "."]);
    let child = start(&folder, &["--record=branch"]);
    super::until("the hook", || remote.join("is-hooked").exists());
    send(child.id(), "INT");
    let ran = finish(&folder, child);
    std::fs::write(remote.join("is-over"), "").unwrap();
    assert_eq!((ran.status.signal(), ran.statuses()), (Some(2), vec![Status::Succeeded]), "{}", ran.stderr);
    assert_line(&ran.stderr, str! {"1 result in results/b"});
}

#[test]
fn stopped_before_the_first_run() {
    let prepare = super::shell("touch $KUBEBENCH_EXP_OUTPUT_PATH/ready; sleep 100");
    let folder = job("true", &[SECONDS, &format!("prepare: {{{prepare}}}")]);
    let ran = stopped(&folder, &["INT"]);
    assert_eq!((ran.status.signal(), ran.results.len()), (Some(2), 0), "{}", ran.stderr);
}
