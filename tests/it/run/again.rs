//! What a run left, read again: by `parse`, and by `reparse` into another result.

use std::fs;
use std::path::PathBuf;

use kubebench_format::result::v1::{Metric, Status};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_testing::snapshot::{assert_line, assert_text, str};
use serde_json::Value;

use crate::support::steady::steady;

use super::{LOSS, job, metric, run, shell};
use crate::support::project::{Folder, files_below};

const SPEED: &str = "metrics: [{name: speed, unit: m/s, better: higher, primary: true, from: {json: {file: result.json, pointer: /speed}}}]";

/// A project whose run was postprocessed, and its result.
fn postprocessed() -> (Folder, BenchmarkResult) {
    let script = "sed 's/x/{\"speed\": 4.5}/' $KUBEBENCH_EXP_OUTPUT_PATH/raw > $KUBEBENCH_EXP_RESULT_PATH/result.json";
    let post = format!("postprocess: {{{}}}", shell(script));
    let folder = job("echo x > $KUBEBENCH_EXP_OUTPUT_PATH/raw", &[SPEED, &post]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0).clone();
    (folder, result)
}

/// Reads the only result again; returns what is reported, and the results that `reparse` wrote.
fn reparse(folder: &Folder) -> (Option<i32>, String, Vec<BenchmarkResult>) {
    let is_made = |path: &PathBuf| path.to_string_lossy().contains("-a1-p");
    let (made, run): (Vec<_>, Vec<_>) = files_below(&folder.path().join("results")).into_iter().partition(is_made);
    assert_eq!(made, Vec::<PathBuf>::new());
    let output = folder.run(&["reparse", run[0].to_str().unwrap()]);
    let made = files_below(&folder.path().join("results")).into_iter().filter(is_made);
    let read = |path: PathBuf| result::read(&fs::read(path).unwrap()).unwrap().result;
    (output.status.code(), String::from_utf8(output.stderr).unwrap(), made.map(read).collect())
}

fn experiment(folder: &Folder) -> PathBuf {
    let experiments = folder.path().join(".kubebench/experiments");
    fs::read_dir(experiments).unwrap().map(|entry| entry.unwrap().path()).next().unwrap()
}

#[test]
fn what_postprocessing_wrote_is_an_artifact_that_everybody_reads() {
    let (folder, original) = postprocessed();
    let names: Vec<&str> = original.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(names, ["logs/job-0.log", "result/result.json", "logs/postprocess-0.log", "raw"]);
    let of = |metric: &Metric| (metric.value, metric.source.artifact.clone());
    let wanted = (Some(4.5), Some("result/result.json".to_owned()));
    assert_eq!(of(metric(&original, "speed")), wanted);
    for output in [experiment(&folder), experiment(&folder).join("output")] {
        let arguments =
            ["parse", "--spec", "specs/b.yaml", "--output-format", "json", "--output", output.to_str().unwrap()];
        let output = folder.run(&arguments);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((output.status.code(), &answer["metrics"][0]["value"]), (Some(0), &Value::from(4.5)), "{answer}");
    }
    let (status, told, made) = reparse(&folder);
    assert_eq!((status, made.len()), (Some(0), 1), "{told}");
    assert_eq!((of(metric(&made[0], "speed")), made[0].run.status), (wanted, Status::Succeeded));
    assert_eq!(made[0].source.reparsed.as_ref().unwrap().of, original.digest);
}

#[test]
fn only_what_the_run_left_is_read_again() {
    let changes: [(fn(&Folder), &str); 4] = [
        (
            |folder| fs::write(experiment(folder).join("result/result.json"), "{\"speed\": 9}").unwrap(),
            "was changed after the run",
        ),
        (
            |folder| fs::write(experiment(folder).join("output/result.json"), "{\"speed\": 9}").unwrap(),
            "output/result.json is not among the result's artifacts",
        ),
        (
            |folder| fs::remove_file(experiment(folder).join("result/result.json")).unwrap(),
            "result/result.json is no longer in",
        ),
        (|folder| fs::remove_dir_all(experiment(folder)).unwrap(), "output"),
    ];
    for (change, words) in changes {
        let (folder, _) = postprocessed();
        change(&folder);
        let (status, told, made) = reparse(&folder);
        assert_eq!((status, made.len()), (Some(2), 0), "{told}");
        assert!(told.contains(words), "{told}");
    }
}

/// However much a run leaves, what its numbers were read from is listed behind the logs, and checked by its digest.
#[test]
fn files_of_metrics_are_never_cut() {
    let script = "cd $KUBEBENCH_EXP_OUTPUT_PATH; touch $(seq 300); mkdir z; echo '{\"speed\": 4.5}' > z/result.json";
    let folder = job(script, &[&SPEED.replace("file: result.json", "file: z/result.json")]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let names: Vec<&str> = result.artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(names[..2], ["logs/job-0.log", "z/result.json"]);
    assert_eq!(metric(result, "speed").source.artifact.as_deref(), Some("z/result.json"));
    fs::write(experiment(&folder).join("output/z/result.json"), "{\"speed\": 9}").unwrap();
    let (status, told, made) = reparse(&folder);
    assert_eq!((status, made.len()), (Some(2), 0), "{told}");
    assert_line(
        steady(&told),
        str! {"error: FOLDER/results/b/default-44136fa3/RUN-a1.json: FOLDER/.kubebench/experiments/b-ID/output/z/result.json was changed after the run: its digest is sha256:DIGEST, the result says sha256:DIGEST"},
    );
    // Of a file that is read now for the first time, and is not in the list, nothing is known.
    fs::write(experiment(&folder).join("output/z/result.json"), "{\"speed\": 4.5}\n").unwrap();
    fs::write(experiment(&folder).join("output/z/y.json"), "{\"speed\": 4.5}\n").unwrap();
    let other = fs::read_to_string(folder.path().join("specs/b.yaml")).unwrap().replace("z/result.json", "z/y.json");
    folder.write("specs/b.yaml", other);
    let (status, told, made) = reparse(&folder);
    assert_eq!((status, made.len()), (Some(2), 0), "{told}");
    assert_line(
        steady(&told),
        str! {"error: FOLDER/results/b/default-44136fa3/RUN-a1.json: FOLDER/.kubebench/experiments/b-ID/output/z/y.json is not among the result's artifacts: the list was truncated, and no metric of the run was read from this file, so whether the file changed since is unknown"},
    );
}

#[test]
fn a_file_that_is_not_there() {
    let post = format!("postprocess: {{{}}}", shell("echo 1 > $KUBEBENCH_EXP_RESULT_PATH/other.json"));
    let ran = run(&job("echo x > $KUBEBENCH_EXP_OUTPUT_PATH/raw", &[SPEED, &post]), &[]);
    let reason = metric(ran.ended(Status::Invalid, 1), "speed").reason.clone().unwrap();
    assert_eq!(
        reason,
        "result.json: there is no such file: `output` holds `raw`, `result` holds `other.json`; programs write to \
         $KUBEBENCH_EXP_OUTPUT_PATH, `postprocess` to $KUBEBENCH_EXP_RESULT_PATH"
    );
}

#[test]
fn the_same_line_is_nearest_for_run_and_parse() {
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); echo filling filling filling $i; done";
    let folder = job(&format!("{script}; echo loss: 2.5; {script}; echo loss=3"), &[LOSS]);
    let ran = run(&folder, &[]);
    let reason = metric(ran.ended(Status::Invalid, 1), "loss").reason.clone().unwrap();
    assert_line(&reason, str! {"the pattern matched 0 of 40,002 lines; nearest line: `loss=3`"});
    let log = experiment(&folder).join("output/logs/job-0.log");
    let output = folder.run(&["parse", "--spec", "specs/b.yaml", "--output-format", "json", log.to_str().unwrap()]);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["metrics"][0]["reason"], Value::from(reason));
}

#[test]
fn of_a_folder_what_runs_wrote_is_read_again() {
    let folder = job("echo loss 2.5", &[LOSS, "repeats: 2"]);
    assert_eq!(run(&folder, &[]).code(), 0);
    let reparse = |path: &str| {
        let output = folder.run(&["reparse", path]);
        (output.status.code(), [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap()))
    };
    let (status, [written, told]) = reparse("results");
    assert_eq!((status, written.lines().count()), (Some(0), 2), "{told}");
    assert_text(told.lines().last().unwrap(), str! {"2 results written"});
    // What was written is there now, and is skipped, unless it is named itself.
    let (status, [_, told]) = reparse("results/");
    assert_eq!(
        (status, told.matches("read again already").count(), told.contains("error")),
        (Some(0), 2, false),
        "{told}"
    );
    let (status, [_, told]) = reparse(written.lines().next().unwrap());
    assert!(status == Some(2), "{told}");
    assert_line(
        steady(&told),
        str! {"error: FOLDER/results/b/default-44136fa3/RUN-a1-pID.json: this result was written by `kubebench reparse`: name the one that the run wrote"},
    );
    folder.write("results/b/note.json", "{}");
    let (status, [_, told]) = reparse("results");
    assert!(status == Some(2), "{told}");
    assert_line(
        &told,
        str! {"error: results/b/note.json: this is not a result file: it has no `kind: BenchmarkResult`"},
    );
    let (_, [_, told]) = reparse("specs");
    assert_line(&told, str! {"error: there is no result file at specs"});
}

/// A checkpoint that is not read may be gone, or have a name that was redacted.
#[test]
fn what_is_not_read_need_not_be_left() {
    let script = "cd $KUBEBENCH_EXP_OUTPUT_PATH; echo 1 > checkpoint; echo 2 > ghp_$(echo 0123456789abcdefghijklmnop); echo 3 > max_token=8; echo loss 2";
    let folder = job(script, &[LOSS]);
    let ran = run(&folder, &[]);
    let names: Vec<&str> = ran.one().artifacts.iter().map(|artifact| artifact.name.as_str()).collect();
    assert_eq!(names, ["logs/job-0.log", "checkpoint", "[redacted]", "max_token=8"]);
    fs::remove_file(experiment(&folder).join("output/checkpoint")).unwrap();
    let (status, told, made) = reparse(&folder);
    assert_eq!((status, made.len()), (Some(0), 1), "{told}");
    assert_eq!(metric(&made[0], "loss").value, Some(2.0));
}

/// The result of a run says what its tool says against it; read again by other rules it is said once, and decides by a check.
#[test]
fn what_a_tool_says_against_its_run_is_a_reason_of_the_result() {
    let report = r#"{"context": {"library_build_type": "debug"}, "benchmarks": [{"name": "BM_A", "real_time": 5, "time_unit": "ns"}]}"#;
    let metrics =
        "metrics: [{from: {tool: {name: google-benchmark, metrics: [BM_A.real_time]}}, primary: true}]".to_owned();
    let folder = job(&format!("echo '{report}'"), &[&metrics]);
    let ran = run(&folder, &[]);
    let result = ran.ended(Status::Succeeded, 0);
    let said = |result: &BenchmarkResult| -> Vec<String> {
        result.run.reasons.iter().map(|reason| reason.code.to_string()).collect()
    };
    assert_eq!(said(result), ["toolCaution"]);
    assert_text(
        &result.run.reasons[0].message,
        str! {"google-benchmark says `debugBuild`: its library is a debug build (`library_build_type`)"},
    );
    let spec = fs::read_to_string(folder.path().join("specs/b.yaml")).unwrap();
    folder.write("specs/b.yaml", format!("{spec}  checks: [{{cautions: {{forbid: [debugBuild]}}}}]\n"));
    let (status, told, made) = reparse(&folder);
    assert_eq!((status, made.len()), (Some(0), 1), "{told}");
    assert_eq!(
        (said(&made[0]), made[0].run.status),
        (vec!["checkFailed".to_owned(), "toolCaution".to_owned()], Status::Invalid)
    );
}

#[test]
fn a_table_says_what_separates_its_cells_or_the_spec_does() {
    let value = |table: &str, more: &str| {
        let metrics = format!(
            "metrics: [{{name: triad, unit: MB/s, better: higher, primary: true, from: {{csv: {{file: perf.log, column: Triad_value{more}}}}}}}]"
        );
        let folder = job(&format!("printf '{table}' > $KUBEBENCH_EXP_OUTPUT_PATH/perf.log"), &[&metrics]);
        let ran = run(&folder, &[]);
        let metric = metric(&ran.results[0], "triad");
        (metric.value, metric.reason.clone())
    };
    let reframe = "version|environ|Triad_value|Triad_unit\\n4.5|gcc, default|1200.5|MB/s\\n";
    assert_eq!(value(reframe, ""), (Some(1200.5), None));
    assert_eq!(value(reframe, ", delimiter: \"|\""), (Some(1200.5), None));
    assert_eq!(value("a\\tTriad_value\\n1\\t7\\n", ", delimiter: tab"), (Some(7.0), None));
    let (none, why) = value(reframe, ", delimiter: \",\"");
    assert_eq!(none, None);
    assert_text(
        why.unwrap(),
        str! {[r#"perf.log: there is no column `Triad_value`: the header is one cell that holds `|`; write `delimiter: "|"`, or no `delimiter`"#]},
    );
}
