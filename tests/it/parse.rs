//! Reading logs and results without running anything: rules, `parse`, fixtures, `validate results`.

mod catalogue;
mod naming;
mod tools;

use std::fs;
use std::process::Stdio;

use kubebench_extract::rules::Rules;
use kubebench_extract::tool::{self, TOOLS};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_format::schema::generate_result;
use kubebench_testing::snapshot::{assert_file, assert_text, str};
use kubebench_testing::watchdog;
use serde_json::{Value, json};

use crate::support::project::{Folder, assert_yes, files_below, mixed, objects, relative, repository};

/// A result as the recorder writes it.
fn sound() -> BenchmarkResult {
    let result = json!({
        "apiVersion": "kubebench.dev/v1", "kind": "BenchmarkResult", "schemaVersion": 1, "digest": "",
        "metadata": {"benchmark": "matmul", "case": "size-256-0a1b2c3d", "caseName": "size=256", "params": {"size": 256}, "target": "default"},
        "run": {
            "id": "0123456789abcdef0123456789abcdef", "session": "s", "repeat": 1, "attempt": 1, "warmup": false, "reason": "manual",
            "startedAt": "2026-01-02T03:04:05Z", "finishedAt": "2026-01-02T03:04:06Z", "durationSeconds": 1.25,
            "status": "succeeded", "restarts": 0, "timings": {},
        },
        "source": {"specPath": "specs/matmul.yaml", "specDigest": "sha256:0", "runDigest": "sha256:1", "run": 1, "rulesDigest": "sha256:2"},
        "environment": {"fingerprint": "sha256:3", "fingerprintKeys": [], "cluster": {"name": "local", "engine": "process"}, "nodes": []},
        "metrics": [{
            "name": "gflops", "unit": "GFLOP/s", "direction": "higher", "kind": "primary", "value": 40.5, "aggregation": "last", "n": 1,
            "source": {"parser": "log", "artifact": "job-0.log", "line": 3},
        }],
        "validity": {"checks": []}, "artifacts": [], "recorder": {"version": "0.1.0", "method": "local"},
    });
    serde_json::from_value(result).unwrap()
}

/// The files of the example of `validate results` in tests/cli: one of each class of fault.
#[test]
fn the_example_of_results_is_what_this_version_writes() {
    let repeat = |repeat: u32| {
        let mut result = sound();
        result.run.repeat = repeat;
        result
    };
    let text = |result: BenchmarkResult| String::from_utf8(result::seal(result).bytes).unwrap();
    let mut elsewhere = repeat(7);
    elsewhere.metadata.case = "../../../../home/ada".to_owned();
    let compact: Value = serde_json::from_str(&text(repeat(3))).unwrap();
    let place = |number: u32| format!("results/{}", result::path(&repeat(number)));
    let files = [
        (place(1), text(repeat(1))),
        (place(2), text(repeat(2)).replace("40.5", "45.5")),
        (place(3), format!("{compact}\n")),
        (place(4), text(repeat(4)).chars().take(700).collect()),
        (place(5), text(repeat(5)).replace("\"schemaVersion\": 1", "\"schemaVersion\": 2")),
        (place(6), text(repeat(6)).replace("\"succeeded\"", "\"ok\"")),
        (place(7), text(elsewhere)),
        (place(8).replace("0a1b2c3d", "ffffffff"), text(repeat(8))),
        ("elsewhere/copy.json".to_owned(), text(repeat(1))),
    ];
    let root = repository().join("tests/cli/results.in");
    for (path, text) in files {
        assert_file(&root.join(&path), &text);
    }
}

fn parsed(folder: &Folder, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = folder.run(&[&["parse", "--output-format", "json"], arguments].concat());
    (output.status.code(), serde_json::from_slice(&output.stdout).unwrap_or(Value::Null))
}

#[test]
fn rules_are_the_text_in_the_config_map() {
    let compilation = mixed();
    let mut metrics = 0;
    for compiled in &compilation.benchmarks {
        let benchmark = &compiled.benchmark;
        let text = &compiled.rules;
        let path = format!("{}/{}/rules.yaml", benchmark.target.name, benchmark.name);
        let emitted = objects(compilation).into_iter().find(|emitted| emitted.path == path).unwrap();
        assert_eq!(emitted.object["data"]["rules.json"], *text);
        metrics += Rules::read(text).unwrap().metrics.len();
    }
    assert!(metrics > 10, "{metrics}");
}

/// A run of a debug build counts, and says that it is one; a check makes it invalid.
#[test]
fn what_a_tool_says_against_its_run_counts_only_by_a_check() {
    let context =
        json!({"num_cpus": 2, "cpu_scaling_enabled": true, "aslr_enabled": true, "library_build_type": "debug"});
    let row =
        json!({"name": "BM_Copy", "run_type": "iteration", "real_time": 25.0, "cpu_time": 20.0, "time_unit": "ms"});
    let report = json!({"context": context, "benchmarks": [row]}).to_string();
    let spec = |checks: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: 'r.example/a:1', \
             command: [a], resources: {{cpu: 1, memory: 1Gi}}}}}}\n  metrics: [{{from: {{tool: {{name: google-benchmark, metrics: [BM_Copy.real_time]}}}}, primary: true}}]\n{checks}"
        )
    };
    let answer = |checks: &str| {
        let folder = Folder::with([("specs/a.yaml", spec(checks)), ("a.log", report.clone())]);
        parsed(&folder, &["--spec", "specs/a.yaml", "a.log"])
    };
    let (status, counted) = answer("");
    assert_eq!((status, &counted["valid"], &counted["reasons"]), (Some(0), &Value::Bool(true), &Value::Array(vec![])));
    let names = |answer: &Value| -> Vec<String> {
        let said = answer["cautions"].as_array().unwrap();
        said.iter().map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&counted), ["debugBuild", "frequencyScaling", "addressRandomization"]);
    let message = counted["cautions"][0]["message"].as_str().unwrap();
    assert_text(
        message,
        str! {"google-benchmark says `debugBuild`: its library is a debug build (`library_build_type`)"},
    );
    let (status, refused) = answer("  checks: [{cautions: {forbid: [debugBuild]}}]\n");
    assert_eq!((status, &refused["valid"]), (Some(1), &Value::Bool(false)));
    assert_text(
        refused["reasons"][0].as_str().unwrap(),
        str! {"the check `no caution of debugBuild` failed: google-benchmark says `debugBuild`: its library is a debug build (`library_build_type`)"},
    );
    assert_eq!(refused["metrics"], counted["metrics"]);
}

/// The names, values and units that other programs read are those of the samples' `.expect.json`.
#[test]
fn parse_gives_what_is_expected_of_every_sample() {
    let root = repository().join("tests/data/tools");
    let folder = Folder::with::<&str, &str>([]);
    let mut counted = 0;
    for file in files_below(&root).into_iter().filter(|file| !file.to_string_lossy().ends_with(".expect.json")) {
        let Ok(expect) = fs::read_to_string(format!("{}.expect.json", file.display())) else { continue };
        let expect: Value = serde_json::from_str(&expect).unwrap();
        let shown = relative(&root, &file);
        let tool = shown.split('/').next().unwrap();
        let which = expect["report"].as_str().unwrap_or("last");
        let (status, answer) = parsed(&folder, &["--tool", tool, "--reports", which, file.to_str().unwrap()]);
        let metrics = answer["metrics"].as_array().unwrap();
        let name = |metric: &Value| {
            let labels = metric["labels"].as_object().unwrap().iter();
            let labels: Vec<String> =
                labels.map(|(key, value)| format!("{key}=\"{}\"", value.as_str().unwrap())).collect();
            let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
            format!("{}{labels}", metric["name"].as_str().unwrap())
        };
        for (wanted, of) in expect["metrics"].as_object().unwrap() {
            let found =
                metrics.iter().find(|metric| name(metric) == *wanted).unwrap_or_else(|| panic!("{shown}: {wanted}"));
            match of["value"].as_f64() {
                Some(value) => {
                    let near = (found["value"].as_f64().unwrap() - value).abs() <= 1e-9 * value.abs();
                    assert!(near, "{shown}: {found}");
                }
                None => assert!(found["value"].is_null() && found["reason"].is_string(), "{shown}: {found}"),
            }
            counted += 1;
        }
        let is_complete = answer["valid"] == true && metrics.iter().all(|metric| !metric["value"].is_null());
        assert_eq!(status, Some(i32::from(!is_complete)), "{shown}");
    }
    assert!(counted > 100, "{counted}");
}

#[test]
fn the_answer_has_exactly_these_keys() {
    let folder = Folder::with([("a.log", "loss=1\n")]);
    let (status, answer) = parsed(&folder, &["--tool", "katib", "a.log"]);
    assert_eq!(status, Some(0), "{answer}");
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(keys(&answer), "cautions metrics reasons schemaVersion valid");
    assert_eq!(keys(&answer["metrics"][0]), "labels n name nonFinite reason source unit value");
    assert_eq!(keys(&answer["metrics"][0]["source"]), "line log");
}

/// What the environment knows to be a secret is in no line that is quoted, whoever asks.
#[test]
fn quoted_lines_hold_no_secret() {
    let values = ["s3cr3t/of+the=cluster", "value-of-a-variable", "from a file 7"];
    let log = format!("lossy {}\n", values.join(" "));
    let folder = Folder::with([("a.log", log.as_str()), ("secrets", "KUBEBENCH_SECRET_C_D=from a file 7\n")]);
    folder.write(
        "specs/a.yaml",
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec:\n  timeout: 1h\n  workload: {job: {command: [a], resources: {cpu: 1, memory: 1Gi}, image: 'r.example/a:1.0.0'}}\n  metrics: [{name: loss, primary: true, better: lower, from: {log: {pattern: 'lossy is (?P<value>.+)'}}}]\n",
    );
    for format in ["human", "json"] {
        let mut command = folder.command(&["parse", "--spec", "specs/a.yaml", "a.log", "--secret-file", "secrets"]);
        command.args(["--output-format", format]);
        command.envs([("KUBEBENCH_SECRET_A_B", values[0]), ("SOME_TOKEN", values[1])]);
        let output = command.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("`lossy [redacted] [redacted] [redacted]`"), "{text}");
        assert!(!values.iter().any(|value| text.contains(value)), "{text}");
    }
}

/// Logs that are no text, have no end or no beginning: an answer or a refusal, never a panic and never a hang.
#[cfg(unix)]
#[test]
fn hostile_logs() {
    let folder = Folder::with([("empty.log", Vec::new()), ("binary.log", (0..=255).cycle().take(100_000).collect())]);
    folder.write("nul.log", [0; 4096]);
    folder.write("long.log", "x".repeat(3 << 20));
    folder.write("escapes.log", "\x1b]0;loss=1\x07\x1b[2J loss=2\r\n");
    fs::create_dir(folder.path().join("folder.log")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("broken.log")).unwrap();
    for tool in TOOLS {
        for (log, statuses) in [
            ("empty.log", &[1][..]),
            ("/dev/null", &[1]),
            ("binary.log", &[0, 1]),
            ("nul.log", &[1]),
            ("long.log", &[1]),
            ("escapes.log", &[0, 1]),
            ("folder.log", &[2]),
            ("broken.log", &[2]),
            ("absent.log", &[2]),
        ] {
            let output = folder.run(&["parse", "--tool", tool.name, log]);
            let status = output.status.code().unwrap_or(-1);
            let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
            assert!(statuses.contains(&status) && !said.contains("internal fault"), "{} {log}: {said}", tool.name);
            assert!(
                !said.contains(|letter: char| letter.is_control() && letter != '\n'),
                "{} {log}: {said:?}",
                tool.name
            );
        }
    }
}

/// A pipe is a log to `parse`, which was asked for it, and nothing that `validate` reads.
#[cfg(unix)]
#[test]
fn pipes() {
    let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec:\n  timeout: 1h\n  workload: {job: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}}}\n  metrics: [{name: loss, unit: s, better: lower, primary: true, from: {keyValue: {key: loss}}}]\n  fixtures: [{log: pipe.log, expect: {loss: 1}}]\n";
    let folder =
        Folder::with([("kubebench.yaml", "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\n")]);
    folder.write("specs/a.yaml", spec);
    folder.write("results/a/b/README.md", "");
    for place in ["pipe.log", "results/a/b/pipe.json"] {
        assert!(std::process::Command::new("mkfifo").arg(folder.path().join(place)).status().unwrap().success());
    }
    for (arguments, code) in [(&["validate"][..], "KB0360"), (&["validate", "results"], "KB0114")] {
        // Who reads a pipe that nobody writes does not end.
        let output = watchdog::output(folder.command(arguments).stdout(Stdio::piped()).spawn().unwrap());
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.code() == Some(1) && said.contains(code) && said.contains("named pipe"), "{said}");
    }
    let pipe = folder.path().join("pipe.log");
    let writer = std::thread::spawn(move || fs::write(pipe, "loss=1\n").unwrap());
    let (status, answer) = parsed(&folder, &["--spec", "specs/a.yaml", "pipe.log"]);
    writer.join().unwrap();
    assert_eq!((status, &answer["metrics"][0]["value"]), (Some(0), &json!(1.0)), "{answer}");
}

/// The log of a replica is read for the metrics of that replica, and one without a place for all.
#[test]
fn logs_have_places() {
    let spec = "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {name: a}\nspec:\n  timeout: 1h\n  workload: {pytorchJob: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}, master: {}, worker: {replicas: 2}}}\n  metrics:\n    - {name: first, unit: s, better: lower, primary: true, from: {keyValue: {key: loss, role: worker, index: 1}}}\n    - {name: any, unit: s, better: lower, from: {keyValue: {key: loss}}}\n";
    let files = [("specs/a.yaml", spec), ("m.log", "loss=1\n"), ("w0.log", "loss=2\n"), ("w1.log", "loss=3\n")];
    let folder = Folder::with(files);
    let values = |logs: &[&str]| {
        let (_, answer) = parsed(&folder, &[&["--spec", "specs/a.yaml"], logs].concat());
        answer["metrics"].as_array().unwrap().iter().map(|metric| metric["value"].as_f64()).collect::<Vec<_>>()
    };
    assert_eq!(values(&["master/0=m.log", "worker/0=w0.log", "worker/1=w1.log"]), [Some(3.0), Some(1.0)]);
    assert_eq!(values(&["worker/0=w0.log"]), [None, Some(2.0)]);
    assert_eq!(values(&["w0.log"]), [Some(2.0), Some(2.0)]);
    assert_eq!(values(&["m.log", "worker/1=w1.log"]), [Some(3.0), Some(1.0)]);
    // As in a run, the order is that of roles and replicas, whatever the command line's.
    assert_eq!(values(&["worker/1=w1.log", "worker/0=w0.log"]), [Some(3.0), Some(2.0)]);
    assert_eq!(values(&["worker/10=w1.log", "worker/2=w0.log"])[1], Some(2.0));
    assert_eq!(values(&["worker/0=w0.log", "master/0=m.log"])[1], Some(1.0));
}

/// A tool that printed nothing costs a run its metrics, and the run only where they are required.
#[test]
fn a_tool_without_output() {
    let spec = |flags: &str, name: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: a}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}}}\n  metrics:\n    - {{name: loss, unit: s, better: lower, from: {{keyValue: {{key: loss}}}}}}\n    - {{{flags}from: {{tool: {{name: {name}}}}}}}\n"
        )
    };
    for tool in ["fio", "torchtitan"] {
        for (flags, is_valid) in [("", true), ("required: true, ", false)] {
            let folder = Folder::with([("specs/a.yaml", spec(flags, tool).as_str()), ("a.log", "loss=1\n")]);
            let (status, answer) = parsed(&folder, &["--spec", "specs/a.yaml", "a.log"]);
            assert_eq!((status, &answer["valid"]), (Some(1), &json!(is_valid)), "{answer}");
            let metric = &answer["metrics"][1];
            assert_eq!((&metric["name"], &metric["value"]), (&json!(tool), &Value::Null), "{answer}");
            assert!(metric["reason"].as_str().unwrap().contains("no metric of"), "{answer}");
        }
    }
}

#[test]
fn what_is_sealed_fits_the_schema() {
    let schema = jsonschema::draft7::new(&generate_result()).unwrap();
    let faults = |bytes: &[u8]| -> Vec<String> {
        let value: Value = serde_json::from_slice(bytes).unwrap();
        schema.iter_errors(&value).map(|error| format!("{}: {error}", error.instance_path())).collect()
    };
    let mut result = sound();
    assert_eq!(faults(&result::seal(result.clone()).bytes), Vec::<String>::new());
    result.metrics[0].value = None;
    result.metrics[0].samples = vec![Some(1.0), None];
    result.inputs = json!({"dataset": {"uri": "a"}});
    result.metadata.params.insert("deep".to_owned(), json!({"a": [1]}));
    result.annotations.insert("note".to_owned(), "x".to_owned());
    assert_eq!(faults(&result::seal(result.clone()).bytes), Vec::<String>::new());
    result.metadata.case = "..".to_owned();
    result.run.id = "x".to_owned();
    assert_eq!(faults(&result::seal(result).bytes).len(), 2);
    let more = String::from_utf8(result::seal(sound()).bytes).unwrap().replacen('{', "{\"more\": 1,", 1);
    assert_eq!(faults(more.as_bytes()).len(), 1);
}

/// Results that this repository keeps, and ten thousand of somebody else's.
#[test]
fn results_are_checked() {
    let kept = repository().join("results");
    if kept.is_dir() {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_kubebench"));
        let output = { output }.args(["validate", "results"]).current_dir(repository()).output().unwrap();
        assert_yes(&output);
    }
    let folder =
        Folder::with([("kubebench.yaml", "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\n")]);
    let mut result = sound();
    let count = 2000;
    for repeat in 1..=count {
        (result.run.repeat, result.run.id) = (repeat, format!("{repeat:032x}"));
        let sealed = result::seal(result.clone());
        folder.write(&format!("results/{}", result::path(&sealed.result)), sealed.bytes);
    }
    let output = folder.run(&["validate", "results"]);
    assert_yes(&output);
    assert_eq!(String::from_utf8_lossy(&output.stderr), format!("{count} results checked, no errors\n"));
    let one = format!("results/{}", result::path(&result));
    fs::remove_file(folder.path().join(&one)).unwrap();
    folder.write("specs/.gitkeep", "");
    let both = folder.run(&["validate", "specs", "results/matmul"]);
    assert_yes(&both);
    assert_eq!(
        String::from_utf8_lossy(&both.stderr),
        format!("0 specs and {} results checked, no errors\n", count - 1)
    );
}

/// The table of tools in docs/reference/extraction.md is that of the program, and so is docs/reference/tools.md.
#[test]
fn documented_tools_are_the_tools() {
    let text = fs::read_to_string(repository().join("docs/reference/extraction.md")).unwrap();
    let row = |tool: &tool::Tool| {
        let source =
            if tool.source.starts_with("http") { format!("<{}>", tool.source) } else { tool.source.to_owned() };
        format!("| `{}` | {} | {source} |\n", tool.name, tool.reads.replace('|', "\\|"))
    };
    assert_file(&repository().join("docs/reference/tools.md"), &tool::document());
    let table: String = TOOLS.iter().map(row).collect();
    let table = format!("| tool | reads | described by |\n|---|---|---|\n{table}");
    let (before, _) = text.split_once("| tool | reads |").unwrap_or((&text, ""));
    assert_file(&repository().join("docs/reference/extraction.md"), &format!("{before}{table}"));
}

/// What a load generator reports leaves out the requests that failed, so that a run in which one failed does not count,
/// unless the spec allows some.
#[test]
fn failed_requests_are_allowed_by_a_check_alone() {
    let spec = |name: &str, checks: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: {name}}}\nspec:\n  timeout: 1h\n  workload: {{job: {{image: 'r.example/a:1', command: [a], resources: {{cpu: 1, memory: 1Gi}}}}}}\n  metrics: [{{from: {{tool: {{name: wrk, metrics: [requests_per_second]}}}}, primary: true}}]\n{checks}"
        )
    };
    let log = repository().join("tests/data/tools/wrk/4.1.0_errors.txt");
    let folder = Folder::with([
        ("specs/none.yaml", spec("none", "")),
        ("specs/some.yaml", spec("some", "  checks: [{failedRequests: {max: 16%}}]\n")),
        ("specs/few.yaml", spec("few", "  checks: [{failedRequests: {max: 1.5%}}]\n")),
    ]);
    let reasons = |name: &str| {
        let (_, answer) = parsed(&folder, &["--spec", &format!("specs/{name}.yaml"), log.to_str().unwrap()]);
        assert!(answer["metrics"][0]["value"].is_f64(), "{answer}");
        answer["reasons"]
            .as_array()
            .unwrap()
            .iter()
            .map(|reason| reason.as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(reasons("some"), Vec::<String>::new());
    assert_text(
        reasons("few").join("\n"),
        str! {"the check `failedRequests ≤ 1.5%` failed: 27 of 170 requests failed"},
    );
    assert_text(
        reasons("none").join("\n"),
        str! {"wrk: 27 of 170 requests failed, so its numbers do not describe the requested load; `checks: [{failedRequests: {max: 1%}}]` allows some"},
    );
}
