//! Hostile texts by the rules of each format.

use std::fs;

use serde_json::{Value, json};

use super::made::{NUMBERS, TEXTS, export, folder, hostile, metric, run};

#[test]
fn a_spreadsheet_executes_nothing() {
    let begins = ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "＝1+1", "-", "+", "=", "-1e", "--1"];
    let plain = ["-1", "+1.5", "-1e5", "-.5", "a=b", "", "1+1", "'=1"];
    let made = (1..).zip(begins.iter().chain(&plain)).map(|(number, text)| {
        let mut made = run(1, number);
        made.metadata.case_name = (*text).to_owned();
        made.metrics = vec![metric("m", Some(-1.5))];
        made
    });
    let (folder, _) = folder(made);
    let cells = |arguments: &[&str]| {
        let output = folder.run(&[&["export", "--format", "csv", "--out", "-"], arguments].concat());
        let mut reader = csv::Reader::from_reader(output.stdout.as_slice());
        let at = |name: &str| columns().position(|found| found == name).unwrap();
        let (case, value) = (at("case_name"), at("value"));
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        assert!(records.iter().all(|record| &record[value] == "-1.5"), "numbers stay numbers");
        records.iter().map(|record| record[case].to_owned()).collect::<Vec<_>>()
    };
    let quoted: Vec<String> = begins.iter().map(|text| format!("'{text}")).collect();
    let quoted: Vec<String> = quoted.into_iter().chain(plain.map(str::to_owned)).collect();
    assert_eq!(cells(&["--spreadsheet"]), quoted);
    let plain: Vec<String> = begins.iter().chain(&plain).map(|text| (*text).to_owned()).collect();
    assert_eq!(cells(&[]), plain);
}

/// The columns of a row.
fn columns() -> impl Iterator<Item = &'static str> {
    use kubebench_results::export::column::{METRIC, RUN};
    RUN.iter().map(|column| column.name).chain(METRIC.iter().map(|column| column.name))
}

#[test]
fn rows_of_copy_are_lines() {
    let (folder, made) = folder(hostile());
    let text = fs::read_to_string(export(&folder, "postgres")).unwrap();
    let (_, rows) = text.split_once("COPY metrics (").unwrap();
    let (head, rows) = rows.split_once(") FROM stdin;\n").unwrap();
    let (rows, _) = rows.split_once("\n\\.\n").unwrap();
    let metrics: usize = made.iter().map(|made| made.metrics.len()).sum();
    assert_eq!(rows.lines().count(), metrics);
    let columns = head.split(", ").count();
    assert!(rows.split('\n').all(|row| row.split('\t').count() == columns));
    assert!(!text.contains(['\0', '\r']));
}

#[test]
fn openmetrics_keeps_to_its_letters() {
    let (folder, made) = folder(hostile());
    let text = fs::read_to_string(export(&folder, "openmetrics")).unwrap();
    assert!(text.ends_with("\n# EOF\n") && text.matches("# EOF\n").count() == 1);
    for line in text.split('\n').filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let name = line.split('{').next().unwrap();
        assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_'), "{line}");
        let value: f64 = line.rsplit(' ').next().unwrap().parse().unwrap();
        assert!(value.is_finite());
    }
    for target in made.iter().map(|made| &made.metadata.target) {
        let escaped = target.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        assert!(text.contains(&format!("target=\"{escaped}\"")), "{target:?}");
    }
    for number in NUMBERS {
        assert!(text.contains(&format!("}} {}\n", json!(number))), "{number}");
    }
}

#[test]
fn units_end_names_where_they_can() {
    let units = ["s", "tokens/s", "GB/s", "%", "1", "µs", "ms/op", "req/min", "a b", "s²", "", "GPU·h"];
    let mut made = run(1, 1);
    let of_unit = |unit: &str| {
        let mut metric = metric("m", Some(1.0));
        metric.unit = Some(unit.to_owned());
        // Units of one dimension are of one series.
        metric.labels.insert("u".to_owned(), unit.to_owned());
        metric
    };
    made.metrics = units.into_iter().map(of_unit).collect();
    let (mut total, mut reserved, mut dashed) =
        (metric("wait_s", Some(1.0)), metric("runs", Some(1.0)), metric("wait-s", Some(2.0)));
    (total.unit, reserved.unit, dashed.unit) = (None, None, None);
    let mut doubled = metric("run-seconds", Some(4.0));
    doubled.unit = Some("s".to_owned());
    made.metrics.extend([total, reserved, dashed, doubled]);
    let (folder, _) = folder([made]);
    let text = fs::read_to_string(export(&folder, "openmetrics")).unwrap();
    let stated: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("# UNIT kubebench_")).collect();
    assert_eq!(
        stated,
        [
            "m_gigabytes_per_second gigabytes_per_second",
            "m_microseconds microseconds",
            "m_milliseconds_per_op milliseconds_per_op",
            "m_percent percent",
            "m_req_per_minute req_per_minute",
            "m_seconds seconds",
            "m_tokens_per_second tokens_per_second",
            "run_seconds seconds",
        ]
    );
    for unit in ["1", "a b", "s²", "", "GPU·h"] {
        assert!(text.contains(&format!("unit=\"{unit}\",label_u=\"{unit}\"}} 1.0")), "{unit}: {text}");
    }
    assert!(text.contains("# TYPE kubebench_runs_value gauge\n") && text.contains("# TYPE kubebench_runs gauge\n"));
    assert!(text.contains("metric=\"wait_s\"} 1.0") && text.contains("target=\"cpu\"} 2.0"), "{text}");
}

#[test]
fn a_line_of_benchfmt_is_one_line() {
    let (folder, _) = folder(hostile());
    let text = fs::read_to_string(export(&folder, "benchfmt")).unwrap();
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        assert!(!line.chars().any(|c| c.is_control() || matches!(c, '\u{202E}' | '\u{200F}' | '\u{2028}')), "{line}");
        if let Some(run) = line.strip_prefix("Benchmark") {
            let fields: Vec<&str> = run.split(' ').collect();
            assert!(run.starts_with("Wordpiece/") && fields[0].ends_with("-2") && fields[1] == "1", "{line}");
            assert!(fields[2..].chunks(2).all(|pair| pair[0].parse::<f64>().is_ok() && pair.len() == 2), "{line}");
        }
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("Benchmark")).count(), 2 * TEXTS.len());
}

#[test]
fn no_name_leads_out_of_the_folder_of_mlflow() {
    let names =
        ["../../x", "a/b", "/etc/x", "..", ".", "", " ", "a", "A", "a ", "nul\0", "con", "ü", "x".repeat(400).as_str()]
            .map(str::to_owned);
    let mut made = run(1, 1);
    made.metrics = names.iter().map(|name| metric(name, Some(1.0))).collect();
    made.metadata.params = names.iter().map(|name| (name.clone(), json!(1))).collect();
    made.metadata.labels = names.iter().map(|name| (name.clone(), "x".to_owned())).collect();
    let (folder, _) = folder([made]);
    export(&folder, "mlflow");
    let files = folder.tree("out.mlflow");
    let of = |part: &str| files.iter().filter(|(path, _)| path.contains(part)).count();
    assert_eq!((of("/metrics/"), of("/params/")), (names.len(), names.len()), "{files:?}");
    assert!(files.iter().all(|(path, _)| path.split('/').all(|part| part.len() < 256 && part != "..")));
    let outside: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside.len(), 2, "{outside:?}");
}

/// <https://bencher.dev/bmf.json>
#[test]
fn bmf_is_what_bencher_reads() {
    let (folder, _) = folder(hostile());
    let text = fs::read_to_string(export(&folder, "bmf")).unwrap();
    let read: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(read.as_object().unwrap().len(), TEXTS.len());
    for (benchmark, measures) in read.as_object().unwrap() {
        assert!(benchmark.len() <= 1024);
        for (measure, metric) in measures.as_object().unwrap() {
            assert!(measure.len() <= 64, "{measure}");
            let fields = metric.as_object().unwrap();
            assert!(fields["value"].is_f64());
            assert!(fields.keys().all(|key| ["value", "lower_value", "upper_value"].contains(&key.as_str())));
        }
    }
}

#[test]
fn github_action_benchmark_gets_a_file_for_each_direction() {
    let (folder, _) = folder(hostile());
    let out = export(&folder, "github-action-benchmark");
    let entries = |name: &str| -> Vec<Value> { serde_json::from_slice(&fs::read(out.join(name)).unwrap()).unwrap() };
    let (smaller, bigger) = (entries("smaller-is-better.json"), entries("bigger-is-better.json"));
    assert_eq!((smaller.len(), bigger.len()), (TEXTS.len() * NUMBERS.len(), TEXTS.len()));
    for entry in smaller.iter().chain(&bigger) {
        assert!(entry["name"].is_string() && entry["unit"].is_string() && entry["value"].is_number(), "{entry}");
    }
}
