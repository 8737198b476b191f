//! The tables of databases: runs, metrics, samples. Together they are the whole of each result.

use super::column::{Cell, METRIC, REST, RUN, Type};
use super::omissions::Omissions;
use super::time;
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Metric;

/// `PRAGMA user_version` of SQLite; raised when a column changes its meaning or goes.
pub(crate) const VERSION: u32 = 1;

/// A database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

impl Dialect {
    fn type_of(self, of: Type) -> &'static str {
        match (self, of) {
            (_, Type::Text) | (Self::Sqlite, Type::Json | Type::Time) => "text",
            (Self::Postgres, Type::Json) => "json",
            (Self::Postgres, Type::Time) => "timestamptz",
            (Self::Sqlite, Type::Count | Type::Flag) => "integer",
            (Self::Postgres, Type::Count) => "bigint",
            (Self::Postgres, Type::Flag) => "boolean",
            (Self::Sqlite, Type::Number) => "real",
            (Self::Postgres, Type::Number) => "double precision",
        }
    }

    fn key(self) -> &'static str {
        match self {
            Self::Sqlite => "integer primary key",
            Self::Postgres => "bigint primary key",
        }
    }

    fn reference(self) -> &'static str {
        self.type_of(Type::Count)
    }
}

/// Returns the statements that make the tables.
pub(crate) fn create(dialect: Dialect) -> String {
    let of = |of| dialect.type_of(of);
    let mut sql = format!("CREATE TABLE runs (\n  id {}", dialect.key());
    for column in RUN.iter().chain(REST) {
        let rule = match column.name {
            "digest" => " NOT NULL UNIQUE",
            "path" | "benchmark" | "case_id" | "status" | "warmup" => " NOT NULL",
            _ => "",
        };
        sql.push_str(&format!(",\n  {} {}{rule}", column.name, of(column.of)));
    }
    sql.push_str(&format!(
        "\n);\nCREATE TABLE metrics (\n  id {},\n  run {} NOT NULL REFERENCES runs (id)",
        dialect.key(),
        dialect.reference()
    ));
    for column in METRIC {
        let rule = if column.name == "metric" { " NOT NULL" } else { "" };
        sql.push_str(&format!(",\n  {} {}{rule}", column.name, of(column.of)));
    }
    let without = if dialect == Dialect::Sqlite { " WITHOUT ROWID" } else { "" };
    sql.push_str(&format!(
        "\n);\nCREATE TABLE samples (\n  metric {0} NOT NULL REFERENCES metrics (id),\n  position {0} NOT NULL,\n  \
         value {1},\n  PRIMARY KEY (metric, position)\n){without};\n",
        dialect.reference(),
        of(Type::Number)
    ));
    sql
}

/// Returns the statements that come after the rows.
pub(crate) const INDEX: &str = "CREATE INDEX metrics_of_runs ON metrics (run);\nCREATE INDEX runs_of_cases ON runs (benchmark, case_id, started_at);\n";

/// Returns the names of a table's columns.
pub(crate) fn names(table: Table) -> Vec<&'static str> {
    let run = || RUN.iter().chain(REST).map(|column| column.name);
    match table {
        Table::Runs => std::iter::once("id").chain(run()).collect(),
        Table::Metrics => ["id", "run"].into_iter().chain(METRIC.iter().map(|column| column.name)).collect(),
        Table::Samples => vec!["metric", "position", "value"],
    }
}

/// A table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Table {
    /// One row a run.
    Runs,
    /// One row a metric of a run.
    Metrics,
    /// One row a sample of a metric.
    Samples,
}

impl Table {
    /// Returns its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Metrics => "metrics",
            Self::Samples => "samples",
        }
    }
}

/// Gives rows their numbers, from 1 in the order in which they come.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    runs: u64,
    metrics: u64,
}

impl Numbers {
    /// Returns the row of a run.
    pub(crate) fn run<'a>(&mut self, result: &'a BenchmarkResult) -> Vec<Cell<'a>> {
        self.runs += 1;
        let cells = RUN.iter().chain(REST).map(|column| (column.get)(result));
        std::iter::once(Cell::Count(self.runs)).chain(cells).collect()
    }

    /// Returns the row of a metric of the last run.
    pub(crate) fn metric<'a>(&mut self, metric: &'a Metric) -> Vec<Cell<'a>> {
        self.metrics += 1;
        let cells = METRIC.iter().map(|column| (column.get)(metric));
        [Cell::Count(self.metrics), Cell::Count(self.runs)].into_iter().chain(cells).collect()
    }

    /// Returns the number of the last metric.
    pub(crate) fn last_metric(&self) -> u64 {
        self.metrics
    }
}

/// Returns a count as databases hold it.
pub(crate) fn count(count: u64, left: &mut Omissions) -> Option<i64> {
    let held = i64::try_from(count).ok();
    left.add("counts of 2^63 or more (left empty)", usize::from(held.is_none()));
    held
}

/// Returns the milliseconds since 1970 of a time.
pub(crate) fn milliseconds(text: &str, left: &mut Omissions) -> Option<i64> {
    let held = time::milliseconds(text);
    left.add("invalid times (left empty)", usize::from(held.is_none()));
    held
}
