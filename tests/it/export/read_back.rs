//! What was exported, read again by libraries that tests can have everywhere.

use std::collections::BTreeMap;
use std::fs;

use kubebench_results::export::column::{METRIC, RUN, Type};
use kubebench_results::export::{Format, Shape};
use rusqlite::Connection;
use rusqlite::types::Value as Sql;
use serde_json::{Value, json};

use super::made::{export, folder, hostile, lines, metric, real, rows, run};
use super::rebuilt::{Row, rebuilt};

#[test]
fn json_lines_say_what_the_results_say() {
    let (folder, made) = folder(hostile());
    let rows = rows(&folder);
    let metrics = made.iter().flat_map(|result| result.metrics.iter().map(move |metric| (result, metric)));
    let metrics: Vec<_> = metrics.collect();
    assert_eq!(rows.len(), metrics.len());
    for (row, (result, metric)) in rows.iter().zip(metrics) {
        assert_eq!(row["benchmark"], json!(result.metadata.benchmark));
        assert_eq!(row["case_name"], json!(result.metadata.case_name));
        assert_eq!(row["params"], json!(result.metadata.params));
        assert_eq!(row["labels"], json!(result.metadata.labels));
        assert_eq!(row["source_commit"], json!(result.source.commit));
        assert_eq!(row["nodes"], json!(result.environment.nodes));
        assert_eq!(row["metric"], json!(metric.name));
        assert_eq!(row["unit"], json!(metric.unit));
        assert_eq!(row["value"], json!(metric.value));
        assert_eq!(row["samples"], json!(metric.samples));
        assert_eq!(row["metric_reason"], json!(metric.reason));
        assert_eq!(row.as_object().unwrap().len(), RUN.len() + METRIC.len() + 1);
    }
}

/// Every row of CSV holds what the same row of JSON lines holds.
#[test]
fn csv_reads_back() {
    let (folder, _) = folder(hostile().into_iter().chain([real()]));
    let rows = rows(&folder);
    let text = fs::read_to_string(export(&folder, "csv")).unwrap();
    assert!(!text.contains('\0'));
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let types: BTreeMap<&str, Type> = RUN
        .iter()
        .map(|column| (column.name, column.of))
        .chain(METRIC.iter().map(|column| (column.name, column.of)))
        .collect();
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(records.len(), rows.len());
    for (record, row) in records.iter().zip(&rows) {
        for (name, cell) in names.iter().zip(record) {
            let read = match (types[name.as_str()], cell) {
                (Type::Text | Type::Time, "") if row[name].is_null() => Value::Null,
                (Type::Text | Type::Time, text) => json!(text),
                (_, "") => Value::Null,
                (_, other) => serde_json::from_str(other).unwrap(),
            };
            let wanted = match &row[name] {
                Value::String(text) => json!(text.replace('\0', "\u{FFFD}")),
                other => other.clone(),
            };
            assert_eq!(read, wanted, "{name}");
        }
    }
}

fn row_of(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let names: Vec<String> = row.as_ref().column_names().map(str::to_owned).collect();
    let value = |(at, name): (usize, String)| {
        let value = match row.get::<_, Sql>(at)? {
            Sql::Null => Value::Null,
            Sql::Integer(number) => json!(number),
            Sql::Real(number) => json!(number),
            Sql::Text(text) => json!(text),
            Sql::Blob(_) => panic!("{name} is a blob"),
        };
        Ok((name, value))
    };
    names.into_iter().enumerate().map(value).collect()
}

fn select(connection: &Connection, sql: &str) -> Vec<Row> {
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement.query_map([], row_of).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn sqlite_holds_the_whole_of_each_result() {
    let (folder, made) = folder(hostile().into_iter().chain([real()]));
    let connection = Connection::open(export(&folder, "sqlite")).unwrap();
    for check in ["integrity_check", "quick_check"] {
        let answer: String = connection.query_row(&format!("PRAGMA {check}"), [], |row| row.get(0)).unwrap();
        assert_eq!(answer, "ok");
    }
    assert!(select(&connection, "PRAGMA foreign_key_check").is_empty());
    assert_eq!(connection.query_row("PRAGMA user_version", [], |row| row.get::<_, i64>(0)), Ok(1));
    let runs = select(&connection, "SELECT * FROM runs ORDER BY id");
    assert_eq!(runs.len(), made.len());
    for (run, source) in runs.iter().zip(&made) {
        let of_run = format!("SELECT * FROM metrics WHERE run = {} ORDER BY id", run["id"]);
        let samples = |metric: &Row| {
            let sql = format!("SELECT value FROM samples WHERE metric = {} ORDER BY position", metric["id"]);
            select(&connection, &sql).into_iter().map(|mut row| row["value"].take()).collect()
        };
        let metrics = select(&connection, &of_run).into_iter().map(|row| (row.clone(), samples(&row))).collect();
        assert_eq!(&rebuilt(run, metrics), source);
    }
}

/// The formats of these shapes.
fn named(of: fn(Shape) -> bool) -> impl Iterator<Item = &'static str> {
    Format::ALL.into_iter().filter(move |format| of(format.shape())).map(Format::name)
}

#[test]
fn the_same_results_give_the_same_bytes() {
    let (folder, _) = folder(hostile());
    for format in named(|shape| shape != Shape::Folder) {
        let once = fs::read(export(&folder, format)).unwrap();
        let again = folder
            .command(&["export", "--format", format, "--out", "again", "results"])
            .env("MALLOC_PERTURB_", "165")
            .env("TZ", "Asia/Tokyo")
            .output()
            .unwrap();
        assert!(again.status.success());
        assert!(once == fs::read(folder.path().join("again")).unwrap(), "{format}");
    }
    for format in named(|shape| shape == Shape::Folder) {
        export(&folder, format);
        let once = folder.tree(&format!("out.{format}"));
        export(&folder, format);
        assert_eq!(once, folder.tree(&format!("out.{format}")), "{format}");
        assert!(once.len() > 1);
    }
}

#[test]
fn ten_thousand_metrics_arrive() {
    let mut made = run(1, 1);
    made.metrics = (0..3000).map(|number| metric(&format!("metric-{number}"), Some(f64::from(number) / 7.0))).collect();
    // A result holds 1 MiB, so 10,000 metrics are those of four runs.
    let four = (1..=4).map(|number| {
        let mut next = made.clone();
        (next.run.id, next.run.repeat) = (format!("{number:032x}"), number);
        next
    });
    let (folder, _) = folder(four);
    let rows = rows(&folder);
    assert!(rows.len() > 10_000, "{}", rows.len());
    for format in ["csv", "parquet", "sqlite", "postgres", "openmetrics", "benchfmt", "bmf", "mlflow"] {
        export(&folder, format);
    }
    let connection = Connection::open(folder.path().join("out.sqlite")).unwrap();
    let count: u32 = connection.query_row("SELECT count(*) FROM metrics", [], |row| row.get(0)).unwrap();
    assert_eq!(count as usize, rows.len());
    let metrics = fs::read_to_string(folder.path().join("out.openmetrics")).unwrap();
    assert!(metrics.matches("# TYPE ").count() > 2500);
}

#[test]
fn what_databases_cannot_hold_is_counted() {
    let mut made = run(1, 1);
    (made.run.started_at, made.run.finished_at) =
        ("2026-02-30T00:00:00Z".to_owned(), "2026-02-30T00:00:00Z".to_owned());
    made.metrics = vec![metric("m", Some(1.0))];
    made.metrics[0].n = u64::MAX;
    let (folder, _) = folder([made]);
    let rows = rows(&folder);
    assert_eq!((&rows[0]["n"], &rows[0]["started_at"]), (&json!(u64::MAX), &json!("2026-02-30T00:00:00Z")));
    let (empty_times, empty_counts) = ("invalid times (left empty): 2", "counts of 2^63 or more (left empty): 1");
    for (format, wanted) in [
        ("postgres", vec![empty_times, empty_counts]),
        ("parquet", vec![empty_times, empty_counts]),
        ("sqlite", vec![empty_counts]),
        ("mlflow", vec!["invalid times (written as 1970): 2"]),
    ] {
        let output = folder.run(&["export", "--format", format, "--out", &format!("x.{format}")]);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(wanted.iter().all(|words| said.contains(words)), "{format}: {said}");
    }
    let lines = lines(&export(&folder, "jsonl"));
    assert_eq!(lines.len(), 1);
}
