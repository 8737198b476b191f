//! Results in the formats of other programs: results in, bytes out. One file a format.
//!
//! What a format cannot hold is counted in [`Omissions`], never omitted silently. The same results give the same bytes: no clock,
//! no environment, numbers as the shortest texts that read back the same.

mod benchfmt;
mod bmf;
mod choice;
pub mod column;
mod csv;
mod github;
mod jsonl;
mod latest;
mod mlflow;
mod omissions;
mod openmetrics;
mod parquet;
mod postgres;
pub(crate) mod tables;
mod text;
mod time;

#[cfg(test)]
mod tests;

use std::io;

pub use choice::{Chosen, Extra, Passed, choose};
pub use omissions::Omissions;
pub use text::is_executed;

use self::csv::Csv;
use self::parquet::Parquet;
use kubebench_format::result::BenchmarkResult;

/// A format of another program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A row for each metric of a run, RFC 4180.
    Csv,
    /// The same rows as JSON, one a line.
    Jsonl,
    /// The same rows as Apache Parquet.
    Parquet,
    /// A database of runs, metrics and samples.
    Sqlite,
    /// The same tables as a script for psql.
    Postgres,
    /// Gauges for Prometheus.
    Openmetrics,
    /// The files of an MLflow tracking server.
    Mlflow,
    /// The format of Go's benchmarks, for benchstat.
    Benchfmt,
    /// Bencher Metric Format.
    Bmf,
    /// The custom formats of github-action-benchmark.
    GithubActionBenchmark,
}

/// What comes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A text, which may go to standard output.
    Text,
    /// A file of bytes.
    Binary,
    /// A file that its own library writes.
    Database,
    /// A folder of files.
    Folder,
}

/// How cells of CSV are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cells {
    /// As they are.
    Plain,
    /// So that no spreadsheet executes one.
    Spreadsheet,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::Csv,
        Self::Jsonl,
        Self::Parquet,
        Self::Sqlite,
        Self::Postgres,
        Self::Openmetrics,
        Self::Mlflow,
        Self::Benchfmt,
        Self::Bmf,
        Self::GithubActionBenchmark,
    ];

    /// Returns its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
            Self::Openmetrics => "openmetrics",
            Self::Mlflow => "mlflow",
            Self::Benchfmt => "benchfmt",
            Self::Bmf => "bmf",
            Self::GithubActionBenchmark => "github-action-benchmark",
        }
    }

    /// Returns what comes out.
    pub fn shape(self) -> Shape {
        match self {
            Self::Csv | Self::Jsonl | Self::Postgres | Self::Openmetrics | Self::Benchfmt | Self::Bmf => Shape::Text,
            Self::Parquet => Shape::Binary,
            Self::Sqlite => Shape::Database,
            Self::Mlflow | Self::GithubActionBenchmark => Shape::Folder,
        }
    }

    /// Returns whether every value has its unit next to it, so that both go out as they were recorded.
    pub fn is_as_recorded(self) -> bool {
        matches!(self, Self::Csv | Self::Jsonl | Self::Parquet | Self::Sqlite | Self::Postgres)
    }

    /// Returns whether it says one thing of each metric: what the last session measured.
    pub fn is_summary(self) -> bool {
        matches!(self, Self::Openmetrics | Self::Bmf | Self::GithubActionBenchmark)
    }
}

/// Takes results one after another, in the order of their paths.
pub trait Exporter: Send {
    /// Takes one.
    ///
    /// # Errors
    /// What keeps it from being written.
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()>;

    /// Ends what was begun, and says what was left out.
    ///
    /// # Errors
    /// What keeps the end from being written.
    fn finish(self: Box<Self>) -> io::Result<Omissions>;
}

/// Where the bytes of a file go.
pub(crate) type Sink = Box<dyn io::Write + Send>;

/// Where the files of a folder go.
pub trait Folder: Send {
    /// Writes a file at `path`, whose parts are safe names, separated by `/`.
    ///
    /// # Errors
    /// What keeps it from being written.
    fn put(&mut self, path: &str, bytes: &[u8]) -> io::Result<()>;

    /// Makes the folder at `path`, which may stay empty.
    ///
    /// # Errors
    /// What keeps it from being made.
    fn make(&mut self, path: &str) -> io::Result<()>;
}

/// Returns what writes `format` to one file; nothing where that is no matter of bytes alone.
///
/// # Errors
/// What keeps its beginning from being written.
pub fn to_file(format: Format, cells: Cells, sink: Sink) -> io::Result<Option<Box<dyn Exporter>>> {
    Ok(Some(match format {
        Format::Csv => Box::new(Csv::begin(cells, sink)?),
        Format::Jsonl => Box::new(jsonl::JsonLines::new(sink)),
        Format::Parquet => Box::new(Parquet::begin(sink)?),
        Format::Postgres => Box::new(postgres::Postgres::begin(sink)?),
        Format::Openmetrics => Box::new(openmetrics::OpenMetrics::new(sink)),
        Format::Benchfmt => Box::new(benchfmt::Benchfmt::new(sink)),
        Format::Bmf => Box::new(bmf::Bmf::new(sink)),
        Format::Sqlite | Format::Mlflow | Format::GithubActionBenchmark => return Ok(None),
    }))
}

/// Returns what writes `format` to a folder, if it is one.
pub fn to_folder(format: Format, folder: Box<dyn Folder>) -> Option<Box<dyn Exporter>> {
    match format {
        Format::Mlflow => Some(Box::new(mlflow::Mlflow::new(folder))),
        Format::GithubActionBenchmark => Some(Box::new(github::Github::new(folder))),
        _ => None,
    }
}
