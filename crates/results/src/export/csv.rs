//! CSV after RFC 4180: a header, then a row for each metric of a run.
//!
//! An empty cell is no value, `""` an empty text.

use std::io::{self, Write as _};

use super::column::{Cell, METRIC, RUN};
use super::omissions::Omissions;
use super::text::{REPLACEMENT, is_executed, number};
use super::{Cells, Exporter, Sink};
use kubebench_format::result::BenchmarkResult;

pub(super) struct Csv {
    cells: Cells,
    sink: Sink,
    left: Omissions,
}

impl Csv {
    pub(super) fn begin(cells: Cells, mut sink: Sink) -> io::Result<Self> {
        let names = RUN.iter().map(|column| column.name).chain(METRIC.iter().map(|column| column.name));
        let header: Vec<&str> = names.collect();
        sink.write_all(header.join(",").as_bytes())?;
        sink.write_all(b"\r\n")?;
        Ok(Self { cells, sink, left: Omissions::default() })
    }

    fn cell(&mut self, line: &mut String, cell: Cell<'_>) {
        match cell {
            Cell::Empty => {}
            Cell::Text(text) => self.text(line, &text),
            Cell::Json(text) => self.text(line, &text),
            Cell::Time(text) => self.text(line, text),
            Cell::Count(count) => line.push_str(&count.to_string()),
            Cell::Number(value) => line.push_str(&number(value)),
            Cell::Flag(flag) => line.push_str(if flag { "true" } else { "false" }),
        }
    }

    fn text(&mut self, line: &mut String, text: &str) {
        let executed = self.cells == Cells::Spreadsheet && is_executed(text);
        let is_bare = !text.is_empty() && !executed && !text.contains([',', '"', '\r', '\n', '\0', ' ']);
        if is_bare {
            line.push_str(text);
            return;
        }
        line.push('"');
        if executed {
            line.push('\'');
        }
        for character in text.chars() {
            match character {
                '"' => line.push_str("\"\""),
                // No reader of CSV agrees with another on it.
                '\0' => {
                    self.left.add("NUL characters (written as U+FFFD)", 1);
                    line.push(REPLACEMENT);
                }
                character => line.push(character),
            }
        }
        line.push('"');
    }
}

impl Exporter for Csv {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        self.left.samples(result);
        let mut begin = String::new();
        for column in RUN {
            self.cell(&mut begin, (column.get)(result));
            begin.push(',');
        }
        begin.pop();
        if result.metrics.is_empty() {
            let line = format!("{begin}{}\r\n", ",".repeat(METRIC.len()));
            self.sink.write_all(line.as_bytes())?;
        }
        for metric in &result.metrics {
            let mut line = begin.clone();
            for column in METRIC {
                line.push(',');
                self.cell(&mut line, (column.get)(metric));
            }
            line.push_str("\r\n");
            self.sink.write_all(line.as_bytes())?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        self.sink.flush()?;
        Ok(self.left)
    }
}
