//! Texts of any kind come back from the formats that escape them.

use kubebench_format::result::BenchmarkResult;
use std::io;
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::{Cells, Exporter, Format, Sink, to_file};

/// A sink whose bytes can be looked at.
#[derive(Clone, Default)]
struct Kept(Arc<Mutex<Vec<u8>>>);

impl io::Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Exports one result whose case has a name, and whose metric has a value.
fn result() -> BenchmarkResult {
    serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../format/testdata/result.json"))).unwrap()
}

fn exported(format: Format, cells: Cells, name: &str, value: f64) -> String {
    let kept = Kept::default();
    let sink: Sink = Box::new(kept.clone());
    let mut exporter: Box<dyn Exporter> = to_file(format, cells, sink).unwrap().unwrap();
    let mut made = result();
    name.clone_into(&mut made.metadata.case_name);
    made.metrics[0].value = Some(value);
    exporter.add(&made).unwrap();
    exporter.finish().unwrap();
    let bytes = kept.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

fn of_csv(text: &str, column: &str) -> String {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let at = reader.headers().unwrap().iter().position(|name| name == column).unwrap();
    let record = reader.records().next().unwrap().unwrap();
    record[at].to_owned()
}

/// What PostgreSQL makes of a cell of `COPY`.
fn of_copy(cell: &str) -> String {
    let mut out = String::new();
    let mut letters = cell.chars();
    while let Some(letter) = letters.next() {
        out.push(match (letter, letter == '\\') {
            (_, true) => match letters.next().unwrap() {
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                '\\' => '\\',
                other => panic!("\\{other}"),
            },
            (letter, false) => letter,
        });
    }
    out
}

proptest! {
    #[test]
    fn texts_come_back(name in any::<String>(), value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let wanted = name.replace('\0', "\u{FFFD}");
        let csv = exported(Format::Csv, Cells::Plain, &name, value);
        prop_assert_eq!(of_csv(&csv, "case_name"), wanted.clone());
        prop_assert_eq!(of_csv(&csv, "value").parse::<f64>().unwrap().to_bits(), value.to_bits());
        let quoted = of_csv(&exported(Format::Csv, Cells::Spreadsheet, &name, value), "case_name");
        prop_assert!(quoted == wanted || quoted.strip_prefix('\'') == Some(&wanted));
        prop_assert!(quoted.parse::<f64>().is_ok() || !quoted.starts_with(['=', '+', '-', '@', '\t', '\r']));

        let row: serde_json::Value = serde_json::from_str(&exported(Format::Jsonl, Cells::Plain, &name, value)).unwrap();
        prop_assert_eq!(row["case_name"].as_str().unwrap(), name.as_str());
        prop_assert_eq!(row["value"].as_f64().unwrap().to_bits(), value.to_bits());

        let script = exported(Format::Postgres, Cells::Plain, &name, value);
        let (_, rows) = script.split_once("COPY runs (").unwrap();
        let (names, rows) = rows.split_once(") FROM stdin;\n").unwrap();
        let at = names.split(", ").position(|name| name == "case_name").unwrap();
        let cell = rows.split('\n').next().unwrap().split('\t').nth(at).unwrap();
        prop_assert_eq!(of_copy(cell), wanted);
    }

    #[test]
    fn lines_stay_lines(name in any::<String>(), value in any::<f64>().prop_filter("finite", |value| value.is_finite())) {
        let metrics = exported(Format::Openmetrics, Cells::Plain, &name, value);
        prop_assert_eq!(metrics.matches('\n').count(), 4 + 3 + 3 + 1 - usize::from(!metrics.contains("# UNIT")));
        prop_assert!(metrics.ends_with("\n# EOF\n"));
        let lines = exported(Format::Benchfmt, Cells::Plain, &name, value);
        prop_assert_eq!(lines.lines().filter(|line| line.starts_with("Benchmark")).count(), 1);
    }
}
