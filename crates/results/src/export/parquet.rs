//! Apache Parquet: the rows of CSV with typed columns, and the samples of each metric as a list.

use std::io;
use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::column::{Cell, METRIC, RUN, Type};
use super::omissions::Omissions;
use super::{Exporter, Sink, tables};
use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::Metric;

/// A group of rows is written when it has this many.
const ROWS: usize = 50_000;
/// Or this many samples.
const SAMPLES: usize = 2_000_000;

pub(super) struct Parquet {
    file: SerializedFileWriter<Sink>,
    columns: Vec<Column>,
    samples: Samples,
    rows: usize,
    left: Omissions,
}

/// What is gathered of a column; a level is 1 where there is a value.
struct Column {
    levels: Vec<i16>,
    values: Values,
}

enum Values {
    Texts(Vec<ByteArray>),
    Integers(Vec<i64>),
    Numbers(Vec<f64>),
    Flags(Vec<bool>),
}

/// Lists of doubles, of which any may be missing: 0 no list, 1 an empty one, 2 no double, 3 a double.
#[derive(Default)]
struct Samples {
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    values: Vec<f64>,
}

fn schema() -> String {
    let column = |name: &str, of: Type| {
        let of = match of {
            Type::Text | Type::Json => format!("BYTE_ARRAY {name} (STRING)"),
            Type::Count => format!("INT64 {name}"),
            Type::Number => format!("DOUBLE {name}"),
            Type::Flag => format!("BOOLEAN {name}"),
            Type::Time => format!("INT64 {name} (TIMESTAMP(MILLIS,true))"),
        };
        format!("  OPTIONAL {of};\n")
    };
    let columns: String = types().map(|(name, of)| column(name, of)).collect();
    format!(
        "message results {{\n{columns}  OPTIONAL group samples (LIST) {{\n    REPEATED group list {{\n      OPTIONAL DOUBLE element;\n    }}\n  }}\n}}\n"
    )
}

fn types() -> impl Iterator<Item = (&'static str, Type)> {
    let run = RUN.iter().map(|column| (column.name, column.of));
    run.chain(METRIC.iter().map(|column| (column.name, column.of)))
}

impl Column {
    fn new(of: Type) -> Self {
        let values = match of {
            Type::Text | Type::Json => Values::Texts(Vec::new()),
            Type::Count | Type::Time => Values::Integers(Vec::new()),
            Type::Number => Values::Numbers(Vec::new()),
            Type::Flag => Values::Flags(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    fn push(&mut self, cell: Cell<'_>, left: &mut Omissions) {
        let is_there = match (&mut self.values, cell) {
            (Values::Texts(values), Cell::Text(text)) => {
                values.push(ByteArray::from(text.into_owned().into_bytes()));
                true
            }
            (Values::Texts(values), Cell::Json(text)) => {
                values.push(ByteArray::from(text.into_bytes()));
                true
            }
            (Values::Integers(values), Cell::Count(count)) => {
                let count = tables::count(count, left);
                values.extend(count);
                count.is_some()
            }
            (Values::Integers(values), Cell::Time(time)) => {
                let time = tables::milliseconds(time, left);
                values.extend(time);
                time.is_some()
            }
            (Values::Numbers(values), Cell::Number(number)) => {
                values.push(number);
                true
            }
            (Values::Flags(values), Cell::Flag(flag)) => {
                values.push(flag);
                true
            }
            _ => false,
        };
        self.levels.push(i16::from(is_there));
    }

    fn write(&mut self, group: &mut SerializedRowGroupWriter<'_, Sink>) -> Result<()> {
        match &mut self.values {
            Values::Texts(values) => write::<ByteArrayType>(group, values, &self.levels, None)?,
            Values::Integers(values) => write::<Int64Type>(group, values, &self.levels, None)?,
            Values::Numbers(values) => write::<DoubleType>(group, values, &self.levels, None)?,
            Values::Flags(values) => write::<BoolType>(group, values, &self.levels, None)?,
        }
        self.levels.clear();
        Ok(())
    }
}

impl Samples {
    fn push(&mut self, samples: Option<&[Option<f64>]>) {
        match samples {
            None | Some([]) => {
                self.definitions.push(i16::from(samples.is_some()));
                self.repetitions.push(0);
            }
            Some(samples) => {
                for (at, sample) in samples.iter().enumerate() {
                    self.definitions.push(if sample.is_some() { 3 } else { 2 });
                    self.repetitions.push(i16::from(at > 0));
                    self.values.extend(sample);
                }
            }
        }
    }
}

/// Writes the next column, and forgets its values.
fn write<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, Sink>,
    values: &mut Vec<T::T>,
    definitions: &[i16],
    repetitions: Option<&[i16]>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("the schema has fewer columns".to_owned()));
    };
    column.typed::<T>().write_batch(values, Some(definitions), repetitions)?;
    values.clear();
    column.close()
}

impl Parquet {
    pub(super) fn begin(sink: Sink) -> io::Result<Self> {
        let schema = parse_message_type(&schema()).map_err(io::Error::other)?;
        let properties = WriterProperties::builder()
            .set_created_by(format!("kubebench version {}", env!("CARGO_PKG_VERSION")))
            .set_compression(Compression::SNAPPY)
            .build();
        let file = SerializedFileWriter::new(sink, Arc::new(schema), Arc::new(properties)).map_err(io::Error::other)?;
        let columns = types().map(|(_, of)| Column::new(of)).collect();
        Ok(Self { file, columns, samples: Samples::default(), rows: 0, left: Omissions::default() })
    }

    fn row(&mut self, result: &BenchmarkResult, metric: Option<&Metric>) {
        let run = RUN.iter().map(|column| (column.get)(result));
        let of_metric = METRIC.iter().map(|column| metric.map_or(Cell::Empty, column.get));
        for (column, cell) in self.columns.iter_mut().zip(run.chain(of_metric)) {
            column.push(cell, &mut self.left);
        }
        self.samples.push(metric.map(|metric| metric.samples.as_slice()));
        self.rows += 1;
    }

    fn write(&mut self) -> Result<()> {
        if self.rows == 0 {
            return Ok(());
        }
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            column.write(&mut group)?;
        }
        let Samples { definitions, repetitions, values } = &mut self.samples;
        write::<DoubleType>(&mut group, values, definitions, Some(repetitions))?;
        definitions.clear();
        repetitions.clear();
        group.close()?;
        self.rows = 0;
        Ok(())
    }
}

impl Exporter for Parquet {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        for metric in &result.metrics {
            self.row(result, Some(metric));
        }
        if result.metrics.is_empty() {
            self.row(result, None);
        }
        if self.rows >= ROWS || self.samples.definitions.len() >= SAMPLES {
            self.write().map_err(io::Error::other)?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        self.write().map_err(io::Error::other)?;
        let mut sink = self.file.into_inner().map_err(io::Error::other)?;
        sink.flush()?;
        Ok(self.left)
    }
}
