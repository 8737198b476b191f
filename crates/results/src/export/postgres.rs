//! PostgreSQL: a script for psql that makes the tables and fills them by `COPY`, all or nothing.

use std::io::{self, Write as _};

use super::column::Cell;
use super::omissions::Omissions;
use super::tables::{self, Dialect, Numbers, Table};
use super::text::{REPLACEMENT, number};
use super::{Exporter, Sink};
use kubebench_format::result::BenchmarkResult;

/// How many bytes of rows are gathered before they are written, table by table.
const GATHERED: usize = 4 << 20;

pub(super) struct Postgres {
    sink: Sink,
    numbers: Numbers,
    rows: [String; 3],
    left: Omissions,
}

impl Postgres {
    pub(super) fn begin(mut sink: Sink) -> io::Result<Self> {
        // Texts are to be read as they are, whoever's settings apply.
        writeln!(
            sink,
            "\\set ON_ERROR_STOP on\nSET client_encoding = 'UTF8';\nSET standard_conforming_strings = on;\nBEGIN;"
        )?;
        sink.write_all(tables::create(Dialect::Postgres).as_bytes())?;
        Ok(Self { sink, numbers: Numbers::default(), rows: Default::default(), left: Omissions::default() })
    }

    fn write(&mut self) -> io::Result<()> {
        for (table, rows) in [Table::Runs, Table::Metrics, Table::Samples].into_iter().zip(&mut self.rows) {
            if !rows.is_empty() {
                let names = tables::names(table).join(", ");
                writeln!(self.sink, "COPY {} ({names}) FROM stdin;", table.name())?;
                self.sink.write_all(rows.as_bytes())?;
                self.sink.write_all(b"\\.\n")?;
                rows.clear();
            }
        }
        Ok(())
    }
}

fn row(out: &mut String, cells: Vec<Cell<'_>>, left: &mut Omissions) {
    for (at, cell) in cells.into_iter().enumerate() {
        if at > 0 {
            out.push('\t');
        }
        match cell {
            Cell::Empty => out.push_str("\\N"),
            Cell::Text(text) => escape(out, &text, left),
            Cell::Json(text) => escape(out, &text, left),
            Cell::Time(text) => match tables::milliseconds(text, left) {
                Some(_) => out.push_str(text),
                None => out.push_str("\\N"),
            },
            Cell::Count(count) => match tables::count(count, left) {
                Some(count) => out.push_str(&count.to_string()),
                None => out.push_str("\\N"),
            },
            Cell::Number(value) => out.push_str(&number(value)),
            Cell::Flag(flag) => out.push(if flag { 't' } else { 'f' }),
        }
    }
    out.push('\n');
}

fn escape(out: &mut String, text: &str, left: &mut Omissions) {
    for character in text.chars() {
        match character {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0' => {
                left.add("NUL characters (written as U+FFFD)", 1);
                out.push(REPLACEMENT);
            }
            character => out.push(character),
        }
    }
}

impl Exporter for Postgres {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        let [runs, metrics, samples] = &mut self.rows;
        row(runs, self.numbers.run(result), &mut self.left);
        for metric in &result.metrics {
            row(metrics, self.numbers.metric(metric), &mut self.left);
            let id = self.numbers.last_metric();
            for (position, sample) in metric.samples.iter().enumerate() {
                let value = sample.map_or_else(|| "\\N".to_owned(), number);
                samples.push_str(&format!("{id}\t{position}\t{value}\n"));
            }
        }
        if self.rows.iter().map(String::len).sum::<usize>() > GATHERED { self.write() } else { Ok(()) }
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        self.write()?;
        writeln!(self.sink, "{}COMMIT;", tables::INDEX)?;
        self.sink.flush()?;
        Ok(self.left)
    }
}
