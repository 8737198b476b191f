//! JSON lines: an object for each metric of a run, with its samples.

use std::io::{self, Write as _};

use super::column::{Cell, METRIC, RUN};
use super::omissions::Omissions;
use super::text::number;
use super::{Exporter, Sink};
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Metric;
use kubebench_syntax::invariant::Invariant as _;

pub(super) struct JsonLines {
    sink: Sink,
    left: Omissions,
}

impl JsonLines {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, left: Omissions::default() }
    }
}

fn field(line: &mut String, name: &str, cell: &Cell<'_>) {
    line.push(if line.is_empty() { '{' } else { ',' });
    line.push('"');
    line.push_str(name);
    line.push_str("\":");
    match cell {
        Cell::Empty => line.push_str("null"),
        Cell::Text(text) => line.push_str(&quoted(text)),
        Cell::Time(text) => line.push_str(&quoted(text)),
        Cell::Json(json) => line.push_str(json),
        Cell::Count(count) => line.push_str(&count.to_string()),
        Cell::Number(value) => line.push_str(&number(*value)),
        Cell::Flag(flag) => line.push_str(if *flag { "true" } else { "false" }),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expected("JSON of a text")
}

fn samples(metric: Option<&Metric>) -> Cell<'static> {
    let samples = |metric: &Metric| serde_json::to_string(&metric.samples).expected("JSON of numbers");
    metric.map_or(Cell::Empty, |metric| Cell::Json(samples(metric)))
}

impl Exporter for JsonLines {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        let mut begin = String::new();
        for column in RUN {
            field(&mut begin, column.name, &(column.get)(result));
        }
        let none = result.metrics.is_empty().then_some(None);
        for metric in result.metrics.iter().map(Some).chain(none) {
            let mut line = begin.clone();
            for column in METRIC {
                field(&mut line, column.name, &metric.map_or(Cell::Empty, column.get));
            }
            field(&mut line, "samples", &samples(metric));
            line.push_str("}\n");
            self.sink.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        self.sink.flush()?;
        Ok(self.left)
    }
}
