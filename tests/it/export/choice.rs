//! Which results go out, and what is said of the others.

use std::fs;

use kubebench_format::result::v1::{Reparsed, Status};
use kubebench_results::export::Format;
use serde_json::{Value, json};

use super::made::{export, folder, lines, metric, real, rows, run};
use crate::support::project::{Folder, files_below};

fn said(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(&[&["export"], arguments].concat());
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

fn exported(folder: &Folder, arguments: &[&str]) -> Vec<Value> {
    let output = folder.run(&[&["export", "--format", "jsonl", "--out", "-"], arguments].concat());
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn field(rows: &[Value], name: &str) -> Vec<Value> {
    rows.iter().map(|row| row[name].clone()).collect()
}

#[test]
fn what_does_not_count_goes_out_when_it_is_asked_for() {
    let (mut warm, mut failed, mut both) = (run(1, 2), run(1, 3), run(1, 4));
    warm.run.warmup = true;
    failed.run.status = Status::Failed;
    failed.metrics.clear();
    (both.run.warmup, both.run.status) = (true, Status::TimedOut);
    let (folder, _) = folder([run(1, 1), warm, failed, both]);
    let repeats = |arguments: &[&str]| {
        let mut repeats = field(&exported(&folder, arguments), "repeat");
        repeats.sort_by_key(Value::to_string);
        repeats.dedup();
        repeats
    };
    assert_eq!(repeats(&[]), [1]);
    assert_eq!(repeats(&["--include", "warmup"]), [1, 2]);
    assert_eq!(repeats(&["--include", "invalid"]), [1, 3]);
    assert_eq!(repeats(&["--include", "warmup,invalid"]), [1, 2, 3, 4]);
    let rows = exported(&folder, &["--include", "invalid"]);
    let failed: Vec<&Value> = rows.iter().filter(|row| row["repeat"] == 3).collect();
    assert_eq!(failed.len(), 1, "a run without metrics has a row");
    assert_eq!((&failed[0]["status"], &failed[0]["metric"]), (&json!("failed"), &Value::Null));
    let (status, words) = said(&folder, &["--format", "csv", "--out", "x.csv"]);
    assert_eq!(status, Some(0));
    assert!(
        words.contains(
            "left out: warm-ups (`--include warmup`): 2, runs that did not succeed (`--include invalid`): 1, "
        ),
        "{words}"
    );
    let text = fs::read_to_string(folder.path().join("x.csv")).unwrap();
    assert_eq!(text.matches("\r\n").count(), 1 + run(1, 1).metrics.len());
}

#[test]
fn a_target_that_was_renamed_has_one_history() {
    let (mut before, mut after) = (run(1, 1), run(1, 2));
    before.metadata.target = "gpu-old".to_owned();
    after.metadata.target = "gpu-eu".to_owned();
    let (folder, _) = folder([before, after]);
    let targets = |folder: &Folder| {
        let mut targets = field(&exported(folder, &[]), "target");
        targets.dedup();
        targets
    };
    let project = |formerly: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {{gpu-eu: {{namespace: a{formerly}}}}}}}\n"
        )
    };
    folder.write("kubebench.yaml", project(""));
    assert_eq!(targets(&folder).len(), 2);
    folder.write("kubebench.yaml", project(", formerly: [gpu-old]"));
    assert_eq!(targets(&folder), ["gpu-eu"]);
    let output = folder.run(&["export", "--format", "openmetrics", "--out", "-"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("gpu-eu") && !text.contains("gpu-old"), "{text}");
}

#[test]
fn benchfmt_marks_what_was_included() {
    let (mut warm, mut failed) = (run(1, 2), run(1, 3));
    warm.run.warmup = true;
    failed.run.status = Status::Invalid;
    let mut made = run(1, 4);
    made.synthetic = true;
    let (folder, _) = folder([run(1, 1), warm, failed, made]);
    let output = folder.run(&["export", "--format", "benchfmt", "--out", "-", "--include", "warmup,invalid"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> =
        text.lines().filter(|line| !line.starts_with("Unit")).map(|line| line.split(' ').next().unwrap()).collect();
    // In the order of paths the times come first.
    assert_eq!(
        lines.iter().filter(|line| ["warmup:", "status:", "synthetic:"].contains(line)).collect::<Vec<_>>(),
        [&"warmup:", &"warmup:", &"status:", &"status:", &"synthetic:"]
    );
}

#[test]
fn the_last_session_of_each_case_is_what_summaries_hold() {
    let values = [(1, 5.0), (2, 1.0), (2, 3.0), (2, 8.0)];
    let made = (1..).zip(values).map(|(number, (session, value))| {
        let mut made = run(session, number);
        made.metrics.truncate(1);
        made.metrics[0].value = Some(value);
        made
    });
    let (folder, _) = folder(made.chain([{
        let mut other = run(1, 9);
        other.metadata.target = "other".to_owned();
        other.metrics.truncate(1);
        other.metrics[0].value = Some(7.0);
        other.synthetic = true;
        other
    }]));
    let bmf: Value = serde_json::from_str(&fs::read_to_string(export(&folder, "bmf")).unwrap()).unwrap();
    let case = real().metadata.case_name;
    let of = |target: &str| bmf[format!("wordpiece/{case}@{target}")]["throughput"].clone();
    assert_eq!(of("cpu"), json!({"value": 3.0, "lower_value": 1.0, "upper_value": 8.0}));
    assert_eq!(of("other (synthetic)"), json!({"value": 7.0}), "what was made says so");
    let metrics = fs::read_to_string(export(&folder, "openmetrics")).unwrap();
    assert!(metrics.contains("target=\"cpu\"} 3.0\n") && metrics.contains("synthetic=\"true\"} 7.0\n"), "{metrics}");
    assert!(metrics.contains("target=\"cpu\"} 3\n"), "three runs: {metrics}");
    let bigger = fs::read_to_string(export(&folder, "github-action-benchmark").join("bigger-is-better.json")).unwrap();
    let bigger: Vec<Value> = serde_json::from_str(&bigger).unwrap();
    let [value, range] = [&bigger[0]["value"], &bigger[0]["range"]];
    assert_eq!((value, range), (&json!(3.0), &json!("1.0 … 8.0")));
    let (_, words) = said(&folder, &["--format", "bmf", "--out", "y"]);
    assert!(words.contains("4 results exported to y\nleft out: runs of earlier sessions: 1, "), "{words}");
}

#[test]
fn a_run_counts_once() {
    let (mut reading, mut later) = (run(1, 1), run(1, 1));
    reading.source.reparsed = Some(Reparsed { of: "sha256:0".to_owned(), original_version: "0.1.0".to_owned() });
    later.source.reparsed.clone_from(&reading.source.reparsed);
    later.recorder.version = "0.2.0".to_owned();
    let (folder, _) = folder([run(1, 1), reading, later, run(1, 2)]);
    let rows = rows(&folder);
    let of = |repeat: u32| rows.iter().filter(move |row| row["repeat"] == repeat);
    assert!(of(1).all(|row| row["recorder_version"] == "0.2.0") && of(1).count() == of(2).count());
    let (_, words) = said(&folder, &["--format", "csv", "--out", "x"]);
    assert!(words.contains("other readings of runs whose logs were read again: 2"), "{words}");
}

#[test]
fn two_files_with_one_identity_count_neither() {
    let (folder, made) = folder([run(1, 1), run(1, 2)]);
    let path = kubebench_format::result::path(&made[0]);
    folder.write("elsewhere/copy.json", fs::read(folder.path().join("results").join(&path)).unwrap());
    let output = folder.run(&["export", "--format", "jsonl", "--out", "-", "results", "elsewhere"]);
    assert_eq!(output.status.code(), Some(1));
    let words = String::from_utf8(output.stderr).unwrap();
    assert_eq!(words.matches("error[KB0452]: another file claims to be the same run").count(), 2, "{words}");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.lines().count() > 0 && text.lines().all(|line| line.contains("\"repeat\":2")), "{text}");
    // A folder that is named twice, or with a folder in it, is no second place.
    assert_eq!(exported(&folder, &["results", "./results", "results/wordpiece"]).len(), exported(&folder, &[]).len());
}

#[test]
fn files_with_errors_are_named_and_left_out() {
    let (folder, made) = folder([run(1, 1), run(1, 2), run(1, 3), run(1, 4)]);
    let places: Vec<String> =
        made.iter().map(|made| format!("results/{}", kubebench_format::result::path(made))).collect();
    let whole = fs::read(folder.path().join(&places[0])).unwrap();
    folder.write(&places[0], &whole[..whole.len() / 2]);
    let edited =
        fs::read_to_string(folder.path().join(&places[1])).unwrap().replace("\"restarts\": 0", "\"restarts\": 1");
    folder.write(&places[1], edited);
    let again: Value = serde_json::from_slice(&fs::read(folder.path().join(&places[2])).unwrap()).unwrap();
    folder.write(&places[2], again.to_string());
    folder.write("results/package.json", "{}");
    for format in Format::ALL.map(Format::name) {
        let (status, words) = said(&folder, &["--format", format, "--out", &format!("x.{format}")]);
        assert_eq!(status, Some(1), "{format}");
        for code in ["KB0363", "KB0366", "KB0367"] {
            assert!(words.contains(code), "{format}: {code}: {words}");
        }
        assert!(words.contains("1 result exported"), "{format}: {words}");
    }
    let before = fs::read(folder.path().join("x.csv")).unwrap();
    let (status, words) = said(&folder, &["--format", "csv", "--out", "x.csv", "results/none.json"]);
    assert!(status == Some(2) && words.contains("nothing was exported"), "{words}");
    assert_eq!(fs::read(folder.path().join("x.csv")).unwrap(), before, "the earlier export stays");
    let mut backwards = run(1, 5);
    backwards.run.finished_at = "2026-01-01T00:00:00Z".to_owned();
    let (folder, _) = super::made::folder([backwards]);
    let (status, words) = said(&folder, &["--format", "csv", "--out", "x.csv"]);
    assert!(
        status == Some(1) && words.contains("error[KB0453]: it ended at 2026-01-01T00:00:00Z and began at"),
        "{words}"
    );
}

#[test]
fn no_results_are_an_export_of_none() {
    let (folder, _) = folder([]);
    for format in Format::ALL.map(Format::name) {
        let (status, words) = said(&folder, &["--format", format, "--out", &format!("x.{format}")]);
        assert_eq!((status, words), (Some(0), format!("0 results exported to x.{format}\n")));
    }
    assert_eq!(lines(&folder.path().join("x.jsonl")), Vec::<Value>::new());
    assert_eq!(fs::read_to_string(folder.path().join("x.openmetrics")).unwrap(), "# EOF\n");
    assert_eq!(fs::read_to_string(folder.path().join("x.bmf")).unwrap(), "{}\n");
}

#[test]
fn an_export_is_where_it_may_be_and_whole() {
    let (folder, _) = folder([run(1, 1)]);
    folder.write("elsewhere/kept.json", "{}");
    let refused = |arguments: &[&str], words: &str| {
        let (status, said) = said(&folder, arguments);
        assert!(status == Some(2) && said.contains(words), "{arguments:?}: {said}");
    };
    refused(&["--format", "csv", "--out", "results/x.csv"], "the export results/x.csv would be in results/");
    refused(&["--format", "csv", "--out", "specs.yaml"], "the export specs.yaml would be a YAML file");
    refused(&["--format", "csv", "--out", "no/x.csv"], "there is no folder no; create it first");
    refused(&["--format", "csv", "--out", "results"], "would be in results/");
    refused(&["--format", "jsonl", "--out", "elsewhere/x.json", "elsewhere"], "where it does not belong");
    refused(&["--format", "parquet", "--out", "-"], "parquet is not a text format; name a file with `--out`");
    refused(&["--format", "mlflow", "--out", "-"], "mlflow is not a text format; name a folder with `--out`");
    refused(&["--format", "jsonl", "--out", "x", "--spreadsheet"], "`--spreadsheet` applies only to csv");
    refused(&["--format", "bmf", "--out", "x", "--include", "warmup"], "`--include` would mix in others");
    refused(&["--format", "xml", "--out", "x"], "possible values: csv, jsonl");
    folder.write("file", "");
    refused(&["--format", "mlflow", "--out", "file"], "file is a file, but this format is a folder");
    fs::create_dir(folder.path().join("place")).unwrap();
    refused(&["--format", "csv", "--out", "place"], "place is a folder, but this format is one file");
    // An earlier export is replaced, and nothing else is left.
    folder.write("x.csv", "old");
    export(&folder, "csv");
    let (status, _) = said(&folder, &["--format", "csv", "--out", "x.csv"]);
    assert!(status == Some(0) && fs::read_to_string(folder.path().join("x.csv")).unwrap().starts_with("path,"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(left.iter().all(|name| !name.to_string_lossy().starts_with('.')), "{left:?}");
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_written_and_not_replaced() {
    use std::os::unix::fs::FileTypeExt as _;

    let (folder, _) = folder([run(1, 1)]);
    let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe")).status().unwrap();
    assert!(made.success());
    let pipe = folder.path().join("pipe");
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || fs::read_to_string(pipe).unwrap()
    });
    assert_eq!(said(&folder, &["--format", "csv", "--out", "pipe"]).0, Some(0));
    assert!(reader.join().unwrap().starts_with("path,"));
    assert!(fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    let (status, said_of_it) = said(&folder, &["--format", "sqlite", "--out", "pipe"]);
    assert!(
        status == Some(2) && said_of_it.contains("is not a regular file, and a database needs one"),
        "{said_of_it}"
    );
    // A link stays one.
    folder.write("target", "old");
    std::os::unix::fs::symlink("target", folder.path().join("link")).unwrap();
    assert_eq!(said(&folder, &["--format", "csv", "--out", "link"]).0, Some(0));
    assert!(folder.path().join("link").is_symlink());
    assert!(fs::read_to_string(folder.path().join("target")).unwrap().starts_with("path,"));
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let (folder, _) = folder((1..30).map(|number| run(1, number)));
    let mut child = folder
        .command(&["export", "--format", "jsonl", "--out", "-"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Where one name is for values of several results, they are in one unit: that of the spec, or of the newest result.
#[test]
fn what_has_one_name_has_one_unit() {
    let in_unit = |session: u32, value: f64, unit: &str| {
        let mut made = run(session, 1);
        made.metrics = vec![metric("wait", Some(value))];
        made.metrics[0].unit = Some(unit.to_owned());
        made.metrics[0].samples = vec![Some(value), None];
        made
    };
    let (folder, _) = folder([in_unit(1, 100.0, "ms"), in_unit(2, 0.1, "s"), in_unit(3, 7.0, "MB")]);
    let values = || {
        let files = files_below(&export(&folder, "mlflow"));
        let of_wait = files.iter().filter(|file| file.parent().unwrap().ends_with("metrics"));
        let line = |file: &std::path::PathBuf| fs::read_to_string(file).unwrap().split(' ').nth(1).unwrap().to_owned();
        let mut values: Vec<String> = of_wait.map(line).collect();
        values.sort();
        values
    };
    assert_eq!(values(), ["0.1", "0.1", "0.1", "0.1", "7.0", "7.0"]);
    let benchmark = real().metadata.benchmark;
    folder.write(
        "specs/a.yaml",
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {benchmark}}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: 'registry.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}}}\n  metrics: [{{name: wait, unit: us, better: lower, primary: true, from: {{keyValue: {{key: wait}}}}}}]\n"
        ),
    );
    assert_eq!(values(), ["100000.0", "100000.0", "100000.0", "100000.0", "7.0", "7.0"]);
    let benchfmt = fs::read_to_string(export(&folder, "benchfmt")).unwrap();
    assert_eq!(benchfmt.matches(" wait-us").count(), 3, "{benchfmt}");
    let recorded = rows(&folder);
    assert_eq!(field(&recorded, "value"), [json!(100.0), json!(0.1), json!(7.0)], "beside their units");
    assert_eq!(field(&recorded, "unit"), ["ms", "s", "MB"]);
}
