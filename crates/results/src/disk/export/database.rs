//! A SQLite file, which only its own library writes.
//!
//! The file is new and is moved to its place when it is whole, so nothing is journaled.

use std::io;
use std::path::Path;

use anyhow::{Context as _, Result};
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, params_from_iter};

use crate::export::column::Cell;
use crate::export::tables::{self, Dialect, Numbers, Table};
use crate::export::{Exporter, Omissions};
use kubebench_format::result::BenchmarkResult;
use kubebench_syntax::invariant::Invariant as _;

/// A database that is being filled.
pub struct Database {
    connection: Connection,
    insert: [String; 3],
    numbers: Numbers,
    left: Omissions,
}

impl Database {
    /// Makes the tables in the empty file at `path`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let connection = Connection::open(path).context("cannot open a database")?;
        // The page size is said, since it is the library's to choose otherwise.
        connection.execute_batch(&format!(
            "PRAGMA page_size = 4096; PRAGMA encoding = 'UTF-8'; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; \
             PRAGMA user_version = {}; PRAGMA cache_size = -65536; BEGIN; {}",
            tables::VERSION,
            tables::create(Dialect::Sqlite)
        ))?;
        let insert = [Table::Runs, Table::Metrics, Table::Samples].map(|table| {
            let names = tables::names(table);
            let marks = vec!["?"; names.len()].join(", ");
            format!("INSERT INTO {} ({}) VALUES ({marks})", table.name(), names.join(", "))
        });
        Ok(Self { connection, insert, numbers: Numbers::default(), left: Omissions::default() })
    }

    fn insert(&mut self, result: &BenchmarkResult) -> rusqlite::Result<()> {
        let [runs, metrics, samples] = &self.insert;
        let mut runs = self.connection.prepare_cached(runs)?;
        let mut metrics = self.connection.prepare_cached(metrics)?;
        let mut samples = self.connection.prepare_cached(samples)?;
        let row = self.numbers.run(result);
        runs.execute(params_from_iter(row.iter().map(|cell| value(cell, &mut self.left))))?;
        for metric in &result.metrics {
            let row = self.numbers.metric(metric);
            metrics.execute(params_from_iter(row.iter().map(|cell| value(cell, &mut self.left))))?;
            let id = Value::Integer(i64::try_from(self.numbers.last_metric()).expected("fewer than 2^63 rows"));
            for (position, sample) in (0_i64..).zip(&metric.samples) {
                samples.execute((&id, position, sample))?;
            }
        }
        Ok(())
    }
}

fn value<'a>(cell: &'a Cell<'_>, left: &mut Omissions) -> ToSqlOutput<'a> {
    let text = |text: &'a str| ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes()));
    let owned = |value: Option<Value>| ToSqlOutput::Owned(value.unwrap_or(Value::Null));
    match cell {
        Cell::Empty => owned(None),
        Cell::Text(of) => text(of),
        Cell::Json(of) => text(of),
        Cell::Time(of) => text(of),
        Cell::Count(of) => owned(tables::count(*of, left).map(Value::Integer)),
        Cell::Number(of) => owned(Some(Value::Real(*of))),
        Cell::Flag(of) => owned(Some(Value::Integer(i64::from(*of)))),
    }
}

impl Exporter for Database {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.insert(result).map_err(io::Error::other)
    }

    fn finish(self: Box<Self>) -> io::Result<Omissions> {
        let Self { connection, left, .. } = *self;
        connection.execute_batch(&format!("{} COMMIT;", tables::INDEX)).map_err(io::Error::other)?;
        connection.close().map_err(|(_, error)| io::Error::other(error))?;
        Ok(left)
    }
}
