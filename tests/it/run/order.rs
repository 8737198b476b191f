//! Which runs take place, in what order, and what happens around them.

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::{Value, json};

use super::{LOSS, SECONDS, alive, job, metric, project, run, shell};

const MATRIX: &str = "matrix: {axes: {size: [1, 2]}}";

/// Case and round of every run, as the results' order says.
fn rounds(ran: &super::Ran) -> Vec<String> {
    let round = |result: &kubebench_format::result::BenchmarkResult| {
        let kind = if result.run.warmup { "w" } else { "r" };
        format!("{} {kind}{}", result.metadata.case_name, result.run.repeat)
    };
    ran.results.iter().map(round).collect()
}

#[test]
fn repeats_alternate_or_stay_together() {
    let ran = run(&job("echo loss 1", &[LOSS, MATRIX, "repeats: 2", "warmups: 1"]), &[]);
    assert_eq!(ran.code(), 0);
    let interleaved = ["size=1 w1", "size=2 w1", "size=1 r1", "size=2 r1", "size=1 r2", "size=2 r2"];
    assert_eq!(rounds(&ran), interleaved);
    let names: Vec<bool> = ran.results.iter().map(|result| result.run.warmup).collect();
    assert_eq!(names, [true, true, false, false, false, false]);
    let sessions: Vec<&str> = ran.results.iter().map(|result| result.run.session.as_str()).collect();
    assert!(sessions.windows(2).all(|pair| pair[0] == pair[1]));
    // The table counts measured runs alone.
    assert!(
        ran.stdout
            .lines()
            .filter(|line| line.starts_with("size="))
            .all(|line| line.split_whitespace().nth(2) == Some("2"))
    );
    let ran = run(&job("echo loss 1", &[LOSS, MATRIX, "repeats: 2", "warmups: 1", "order: grouped"]), &[]);
    let grouped = ["size=1 w1", "size=1 r1", "size=1 r2", "size=2 w1", "size=2 r1", "size=2 r2"];
    assert_eq!(rounds(&ran), grouped);
}

#[test]
fn the_first_that_does_not_succeed_is_the_last() {
    let script = "test ${{ matrix.size }} = 2 && echo loss 1";
    let folder = job(script, &[LOSS, MATRIX, "repeats: 2"]);
    let ran = run(&folder, &[]);
    assert_eq!((ran.code(), ran.statuses()), (1, vec![Status::Failed]));
    assert_line(&ran.stderr, str! {"not started: 3 runs, from size=2, repeat 1 on"});
    assert_line(&ran.stderr, str! {"help: run with `--keep-going` to start the other runs after a failure"});
    let ran = run(&job(script, &[LOSS, MATRIX, "repeats: 2"]), &["--keep-going"]);
    let (failed, succeeded) = (Status::Failed, Status::Succeeded);
    assert_eq!((ran.code(), ran.statuses()), (1, vec![failed, succeeded, failed, succeeded]));
    assert!(!ran.stderr.contains("not started") && !ran.stderr.contains("help: "), "{}", ran.stderr);
}

/// Of several benchmarks, which run in the order of the arguments, the first failure ends all.
#[test]
fn a_failure_ends_later_benchmarks_too() {
    let folder = job("touch ${KUBEBENCH_DATA_ROOT}/b; test -e ${KUBEBENCH_DATA_ROOT}/good && echo loss 1", &[LOSS]);
    let other = super::spec(&format!("job: {{{}}}", shell("echo loss 2")), &[LOSS, "warmups: 1"]);
    folder.write("specs/a.yaml", other.replace("{name: b}", "{name: a}"));
    let run = |more: &[&str]| {
        drop(std::fs::remove_dir_all(folder.path().join("results")));
        let all: Vec<&str> = ["run", "specs/b.yaml", "specs/a.yaml"].iter().chain(more).copied().collect();
        let pipe = std::process::Stdio::piped;
        super::finish(&folder, folder.command(&all).stdout(pipe()).stderr(pipe()).spawn().unwrap())
    };
    let names = |ran: &super::Ran| -> Vec<String> {
        ran.results.iter().map(|result| result.metadata.benchmark.clone()).collect()
    };
    let ran = run(&["--output-format", "json"]);
    assert_eq!((ran.code(), names(&ran)), (1, vec!["b".to_owned()]), "{}", ran.stderr);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    let left: Vec<(&str, bool)> = answer["notStarted"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| (run["benchmark"].as_str().unwrap(), run["warmup"].as_bool().unwrap()))
        .collect();
    assert_eq!(left, [("a", true), ("a", false)]);
    assert_line(&ran.stderr, str! {"not started: 2 runs, from a, default, warm-up 1 on"});
    let ran = run(&["--keep-going"]);
    assert_eq!((ran.code(), names(&ran)), (1, ["b", "a", "a"].map(str::to_owned).to_vec()), "{}", ran.stderr);
    folder.write(".kubebench/data/good", "");
    assert_eq!(names(&run(&[])), ["b", "a", "a"]);
}

#[test]
fn axes_of_a_case_may_be_in_any_order() {
    let matrix = "matrix: {axes: {workers: [1, 3], mode: [a, b]}}";
    for wanted in ["workers=3,mode=a", "mode=a, workers=3", " workers=3 , mode=a"] {
        let ran = run(&job("echo loss 1", &[LOSS, matrix]), &["--case", wanted]);
        assert_eq!(rounds(&ran), ["mode=a, workers=3 r1"], "{wanted}");
    }
    let folder = job("echo loss 1", &[LOSS, matrix]);
    for wanted in ["workers", "workers=3", "workers=3,mode=a,mode=a", "workers=3,mode=c"] {
        assert_eq!(run(&folder, &["--case", wanted]).code(), 2, "{wanted}");
    }
    let told = run(&folder, &["--case", "gpus=1"]).stderr;
    assert_line(
        &told,
        str! {"error: `b` has no case `gpus=1`; cases are `mode=a, workers=1`, `mode-a-workers-1-aa289354`, `mode=a, workers=3`, `mode-a-workers-3-691577ee`, `mode=b, workers=1`, `mode-b-workers-1-01acf458`, `mode=b, workers=3`, `mode-b-workers-3-27156b45`"},
    );
}

#[test]
fn cases_and_repeats_are_chosen() {
    let folder = || job("echo loss 1", &[LOSS, MATRIX, "repeats: 3", "warmups: 1"]);
    let ran = run(&folder(), &["--case", "size=2", "--repeat", "2"]);
    assert_eq!(rounds(&ran), ["size=2 w1", "size=2 r2"]);
    assert_line(&ran.stderr, str! {"b: 1 case, 2 runs on this machine (settings: target `default`)"});
    let id = ran.results[0].metadata.case.clone();
    let ran = run(&folder(), &["--case", &id, "--repeat", "1", "--repeat", "3"]);
    assert_eq!(rounds(&ran), ["size=2 w1", "size=2 r1", "size=2 r3"]);
    let ran = run(&folder(), &["--case", "size=3"]);
    assert_eq!((ran.code(), ran.results.len()), (2, 0));
    assert_line(&ran.stderr, str! {"error: `b` has no case `size=3`; did you mean `size=1`?"});
    let ran = run(&folder(), &["--repeat", "4"]);
    assert_eq!((ran.code(), ran.results.len()), (2, 0));
    assert_line(&ran.stderr, str! {"error: `b` has no repeat 4: it repeats each case 3 times"});
}

#[test]
fn a_dry_run_starts_nothing() {
    let env = "env: {HF: {secret: {name: hf, key: token}}, PLAIN: shown}";
    let workload = format!("job: {{{env}, {}}}", shell("touch /tmp/never; echo $HF"));
    let folder = project(&workload, &[SECONDS]);
    let output =
        folder.command(&["run", "specs", "--dry-run"]).env("KUBEBENCH_SECRET_HF_TOKEN", "s3cr3t-value").output();
    let output = output.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("PLAIN=shown") && text.contains("HF='[redacted]'"), "{text}");
    assert!(!text.contains("s3cr3t-value"), "{text}");
    assert!(!folder.path().join(".kubebench").exists() && !folder.path().join("results").exists());
}

#[test]
fn prepare_comes_first_and_once() {
    let prepare = format!("prepare: {{{}}}", shell("echo once >> $KUBEBENCH_DATA_ROOT/set"));
    let folder = job("echo loss $(grep -c once $KUBEBENCH_DATA_ROOT/set)", &[LOSS, &prepare, "repeats: 2"]);
    let ran = run(&folder, &[]);
    assert_eq!((ran.code(), ran.statuses()), (0, vec![Status::Succeeded; 2]), "{}", ran.stderr);
    assert!(ran.results.iter().all(|result| metric(result, "loss").value == Some(1.0)));
    let prepare = format!("prepare: {{{}}}", shell("echo no disk >&2; exit 9"));
    let folder = job("echo loss 1", &[LOSS, &prepare]);
    let ran = run(&folder, &[]);
    assert_eq!((ran.code(), ran.results.len()), (2, 0), "{}", ran.stderr);
    let said = ["nothing was run: `prepare` did not succeed: prepare-0 exited with 9", "no disk", "not started: "];
    assert!(said.iter().all(|words| ran.stderr.contains(words)), "{}", ran.stderr);
}

#[test]
fn postprocess_reads_and_writes() {
    let script = "sed 's/x/{\"speed\": 4.5}/' $KUBEBENCH_EXP_OUTPUT_PATH/raw > $KUBEBENCH_EXP_RESULT_PATH/result.json";
    let metrics = "metrics: [{name: speed, unit: m/s, better: higher, primary: true, from: {json: {file: result.json, pointer: /speed}}}]";
    let post = format!("postprocess: {{{}}}", shell(script));
    let ran = run(&job("echo x > $KUBEBENCH_EXP_OUTPUT_PATH/raw", &[metrics, &post]), &[]);
    assert_eq!(metric(ran.ended(Status::Succeeded, 0), "speed").value, Some(4.5));
    let post = format!("postprocess: {{{}}}", shell("echo broken; exit 4"));
    let ran = run(&job("echo loss 3", &[LOSS, &post]), &[]);
    let result = ran.ended(Status::Failed, 1);
    assert_eq!((super::reasons(result), metric(result, "loss").value), (vec!["postprocessFailed"], Some(3.0)));
    assert_line(
        &ran.stderr,
        str! {"    `postprocess` did not succeed: postprocess-0 exited with 4; its last line: broken"},
    );
}

#[test]
fn the_answer_for_programs() {
    let folder = job("test ${{ matrix.size }} = 1 && echo loss 1", &[LOSS, MATRIX, "repeats: 2"]);
    let ran = run(&folder, &["--output-format", "json"]);
    let answer: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!((ran.code(), &answer["schemaVersion"]), (1, &Value::from(1)));
    let statuses: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|result| &result["status"]).collect();
    assert_eq!(statuses, ["succeeded", "failed"]);
    let cases: Vec<&Value> = answer["results"].as_array().unwrap().iter().map(|result| &result["case"]).collect();
    let left: Vec<Value> =
        cases.iter().map(|case| json!({"benchmark": "b", "case": case, "repeat": 2, "warmup": false})).collect();
    assert_eq!(answer["notStarted"], Value::from(left));
    for result in answer["results"].as_array().unwrap() {
        assert!(folder.path().join(result["path"].as_str().unwrap()).is_file());
    }
    assert_eq!(answer["results"][0]["metrics"][0]["value"], 1.0);
}

#[test]
fn output_at_the_asking() {
    let folder = job("echo loss 1; printf 'half'", &[LOSS]);
    let ran = run(&folder, &["-v"]);
    assert!(ran.stderr.contains("job-0 | loss 1\n") && ran.stderr.contains("job-0 | half\n"), "{}", ran.stderr);
    let ran = run(&job("echo loss 1", &[LOSS]), &["--quiet"]);
    assert_eq!(ran.stderr, "");
    assert_eq!(alive(&folder), []);
}
