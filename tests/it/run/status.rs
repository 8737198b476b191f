//! How a run ended, in the result, on the screen and in the exit code.

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::project::repository;
use crate::support::steady::steady;

use super::{LOSS, SECONDS, exit, job, metric, project, reasons, run, shell};

#[test]
fn succeeded() {
    let ran = run(&job("echo loss 2.5", &[LOSS]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    assert_eq!((metric(result, "loss").value, result.run.attempt, result.run.warmup), (Some(2.5), 1, false));
    assert!(result.run.reasons.is_empty() && exit(result, "job", 0).last_lines.is_empty());
    assert_eq!(
        (result.environment.cluster.engine.as_str(), result.environment.cluster.name.as_str()),
        ("process", "local")
    );
    assert!(ran.stdout.contains("loss"), "the table: {}", ran.stdout);
    assert_line(&ran.stderr, str! {"1 result in results/b"});
}

#[test]
fn failed_with_a_code_and_the_last_lines() {
    let ran = run(&job("for i in $(seq 50); do echo loss $i; done; echo why >&2; exit 3", &[LOSS]), &[]);
    let result = ran.ended(Status::Failed, 1);
    let exit = exit(result, "job", 0);
    assert_eq!((exit.code, exit.signal.as_deref(), exit.last_lines.len()), (Some(3), None, 20));
    assert_eq!(exit.last_lines.last().unwrap(), "why");
    assert_eq!(reasons(result), ["exitCode"]);
    assert_eq!(metric(result, "loss").value, Some(50.0), "what was measured is kept");
    assert!(ran.stderr.contains("job-0 | why"), "{}", ran.stderr);
    assert_line(&ran.stderr, str! {"    job-0 exited with 3"});
}

/// The end of the log of a failed run is shown, with the file that has the rest.
#[test]
fn the_end_of_a_log_and_its_place() {
    let said = |script: &str, more: &[&str], arguments: &[&str]| {
        let ran = run(&job(script, more), arguments);
        let lines = ran.stderr.lines().skip_while(|line| !line.starts_with("b: 1 case"));
        steady(lines.skip(1).collect::<Vec<_>>().join("\n"))
    };
    let many = "for i in $(seq 50); do echo step $i; done; printf 'bad \\033[31mred\\033[0m\\342\\200\\256\\n'; exit 3";
    let text = said(many, &[LOSS], &[]);
    assert_eq!((text.matches("job-0 | step").count(), text.contains("job-0 | bad red\n")), (19, true), "{text}");
    assert_text(
        said("echo oh; exit 3", &[LOSS], &[]),
        str! {[r#"
[1/1] default, repeat 1: failed in SECONDS s
    job-0 exited with 3
    job-0 | oh
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log
1 result in results/b
"#]},
    );
    assert_text(
        said("exit 3", &[LOSS], &[]),
        str! {[r#"
[1/1] default, repeat 1: failed in SECONDS s
    job-0 exited with 3
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log (empty)
1 result in results/b
"#]},
    );
    assert_text(
        said("echo accuracy 5", &[LOSS], &[]),
        str! {[r#"
[1/1] default, repeat 1: invalid in SECONDS s
    the primary metric `loss` has no value: the pattern matched 0 of 1 lines
    job-0 | accuracy 5
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log
1 result in results/b
"#]},
    );
    assert_text(
        said("echo oh; sleep 100", &[LOSS, "timeout: 1s"], &[]),
        str! {[r#"
[1/1] default, repeat 1: timed out in SECONDS s
    stopped after its timeout of 1 s
    job-0 | oh
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log
1 result in results/b
"#]},
    );
    assert_text(
        said("echo loss 7", &[LOSS, "checks: [{metric: loss, max: 5}]"], &[]),
        str! {[r#"
[1/1] default, repeat 1: invalid in SECONDS s, loss 7
    the check `loss ≤ 5` failed: 7
1 result in results/b
"#]},
    );
    assert_text(
        said("echo oh; exit 3", &[LOSS], &["-v"]),
        str! {[r#"
job-0 | oh
[1/1] default, repeat 1: failed in SECONDS s
    job-0 exited with 3
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log
1 result in results/b
"#]},
    );
    let prepare = format!("prepare: {{{}}}", shell("echo no disk; exit 9"));
    assert_text(
        said("echo loss 1", &[LOSS, &prepare], &[]),
        str! {[r#"
    prepare-0 | no disk
    log of prepare-0: .kubebench/experiments/b-ID/output/logs/prepare-0.log
error: nothing was run: `prepare` did not succeed: prepare-0 exited with 9; its last line: no disk
not started: default, repeat 1
"#]},
    );
}

/// The replica that failed comes first, those that were stopped after it, and not all of them.
#[test]
fn logs_of_several_replicas() {
    let script =
        "echo I am $JOB_COMPLETION_INDEX; if [ $JOB_COMPLETION_INDEX = 4 ]; then sleep 1; exit 5; fi; sleep 100";
    let workload = format!("job: {{completions: 5, parallelism: 5, completionMode: Indexed, {}}}", shell(script));
    let ran = run(&project(&workload, &[LOSS]), &[]);
    ran.ended(Status::Failed, 1);
    assert_text(
        steady(ran.stderr.lines().skip(1).collect::<Vec<_>>().join("\n")),
        str! {[r#"
[1/1] default, repeat 1: failed in SECONDS s
    job-4 exited with 5
    job-4 | I am 4
    log of job-4: .kubebench/experiments/b-ID/output/logs/job-4.log
    job-0 | I am 0
    log of job-0: .kubebench/experiments/b-ID/output/logs/job-0.log
    job-1 | I am 1
    log of job-1: .kubebench/experiments/b-ID/output/logs/job-1.log
    2 more logs in .kubebench/experiments/b-ID/output/logs
1 result in results/b
"#]},
    );
}

/// Logs are bounded, and hold no secret that the program knows.
#[test]
fn secrets_in_the_end_of_a_log() {
    let folder = job("echo key=$HF_TOKEN; exit 3", &[LOSS]);
    let mut command = folder.command(&["run", "specs", "--pass-env", "HF_TOKEN"]);
    let pipe = std::process::Stdio::piped;
    command.env("HF_TOKEN", "hf-s3cr3t-of-the-cluster").stdout(pipe()).stderr(pipe());
    let ran = super::finish(&folder, command.spawn().unwrap());
    ran.ended(Status::Failed, 1);
    assert!(!ran.stderr.contains("s3cr3t") && ran.stderr.contains("job-0 | key=["), "{}", ran.stderr);
}

#[test]
fn failed_by_a_signal() {
    let ran = run(&job("echo loss 1; kill -SEGV $$", &[LOSS]), &[]);
    let result = ran.ended(Status::Failed, 1);
    assert_eq!((exit(result, "job", 0).signal.as_deref(), exit(result, "job", 0).code), (Some("SIGSEGV"), None));
    assert_eq!(reasons(result), ["signal"]);
    assert_line(&ran.stderr, str! {"    job-0 was terminated by SIGSEGV"});
}

#[test]
fn timed_out_with_what_was_measured() {
    let ran = run(&job("echo loss 7; sleep 100", &[LOSS, "timeout: 1s"]), &[]);
    let result = ran.ended(Status::TimedOut, 1);
    assert_eq!((reasons(result), metric(result, "loss").value), (vec!["timeout"], Some(7.0)));
    assert!(result.run.duration_seconds >= 1.0, "{}", result.run.duration_seconds);
    assert_line(steady(&ran.stderr), str! {"[1/1] default, repeat 1: timed out in SECONDS s, loss 7"});
}

#[test]
fn invalid_without_its_primary_metric() {
    let ran = run(&job("echo los 7", &[LOSS]), &[]);
    let result = ran.ended(Status::Invalid, 1);
    assert_eq!((reasons(result), metric(result, "loss").value), (vec!["metricMissing"], None));
    assert_line(&ran.stderr, str! {"    the primary metric `loss` has no value: the pattern matched 0 of 1 lines"});
}

#[test]
fn invalid_by_a_check() {
    let ran = run(&job("echo loss 7", &[LOSS, "checks: [{metric: loss, max: 5}]"]), &[]);
    let result = ran.ended(Status::Invalid, 1);
    assert_eq!((reasons(result), result.validity.checks[0].passed), (vec!["checkFailed"], false));
    assert_eq!(metric(result, "loss").value, Some(7.0));
}

#[test]
fn another_metric_that_is_missing_leaves_a_reason() {
    let other = "{name: x, unit: s, better: lower, from: {keyValue: {key: x}}}";
    let metrics = LOSS.replace("}]", &format!("}}, {other}]"));
    let ran = run(&job("echo loss 7", &[&metrics]), &[]);
    let result = ran.ended(Status::Succeeded, 0);
    assert!(metric(result, "x").value.is_none() && metric(result, "x").reason.is_some());
    let required = metrics.replace("{name: x,", "{name: x, required: true,");
    run(&job("echo loss 7", &[&required]), &[]).ended(Status::Invalid, 1);
}

/// MLPerf's log says whether a training succeeded.
#[test]
fn invalid_by_the_word_of_the_tool() {
    let metrics = "metrics: [{from: {tool: {name: mllog}}}]";
    let workload = format!("job: {{files: {{log: {{path: log}}}}, {}}}", shell("cat $KUBEBENCH_FILES/log"));
    for (sample, status, code) in [
        ("second_run_succeeds", Status::Succeeded, 0),
        ("aborted_among_other_output", Status::Invalid, 1),
        ("cut_off_without_times", Status::Invalid, 1),
    ] {
        let folder = project(&workload, &[metrics]);
        let path = repository().join(format!("tests/data/tools/mllog/{sample}.log"));
        folder.write("log", std::fs::read(path).unwrap());
        let ran = run(&folder, &[]);
        assert!(metric(ran.ended(status, code), "eval_accuracy_last").value.is_some(), "{sample}");
    }
}

#[test]
fn what_cannot_start_is_said() {
    let start = |command: &str| {
        let workload =
            format!("job: {{image: {}, resources: {{cpu: 1, memory: 1Gi}}, command: {command}}}", super::IMAGE);
        let folder = project(&workload, &[SECONDS]);
        folder.write("plain", "#!/bin/sh\n");
        folder.write("noise", [0x7f, b'E', b'L', b'F', 0, 0, 0]);
        make_executable(&folder.path().join("noise"));
        let root = folder.path().display().to_string();
        folder.write("specs/b.yaml", super::spec(&workload.replace("ROOT", &root), &[SECONDS]));
        let ran = run(&folder, &[]);
        let result = ran.ended(Status::Failed, 2);
        assert_eq!(reasons(result), ["cannotStart"]);
        ran.stderr
    };
    let said = start("[no-such-program]");
    assert!(!said.contains("/bin"), "whose folders PATH names is nobody's business: {said}");
    for (command, words) in [
        ("[no-such-program]", "there is no program `no-such-program` in PATH"),
        ("[/no/such/program]", "there is no file `/no/such/program`"),
        ("[/usr]", "`/usr` is a folder"),
        ("[ROOT/plain]", "is not executable"),
        ("[ROOT/noise]", "cannot be started"),
    ] {
        let said = start(command);
        assert!(said.contains(words), "{command}: {said}");
        assert_line(
            &said,
            str! {"help: install the program on this machine, or run the image of the spec with `--engine docker`"},
        );
    }
}

fn make_executable(path: &std::path::Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn one_failed_replica_stops_the_others() {
    let script = "if [ $JOB_COMPLETION_INDEX = 1 ]; then echo oh; exit 5; fi; sleep 100";
    let workload = format!("job: {{completions: 3, parallelism: 3, completionMode: Indexed, {}}}", shell(script));
    let ran = run(&project(&workload, &[SECONDS]), &[]);
    let result = ran.ended(Status::Failed, 1);
    assert_eq!((exit(result, "job", 1).code, exit(result, "job", 0).signal.as_deref()), (Some(5), Some("SIGTERM")));
    assert_text(&result.run.reasons[0].message, str! {"job-1 exited with 5"});
}
