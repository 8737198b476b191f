//! Results in the formats of other programs.

use std::collections::BTreeMap;
use std::io::{self, ErrorKind};
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use super::evaluate::policies_around;
use super::results::in_order;
use super::start::Start;
use kubebench_format::result::v1::{BenchmarkResult, Metadata, Metric};
use kubebench_results::compare::Policies;
use kubebench_results::disk::export::{OnDisk, Pending, standard_output};
use kubebench_results::export::{self, Cells, Chosen, Exporter, Format, Omissions, Shape};

/// How results are exported.
pub struct ExportQuery {
    pub format: Format,
    /// How the cells of a table are written.
    pub cells: Cells,
    /// The file or folder; without it, standard output, which takes a text alone.
    pub out: Option<PathBuf>,
    /// The names that targets have now by those that they had.
    pub former_targets: BTreeMap<String, String>,
}

/// Writes the results of `files`, which are those that were chosen, and returns what was left out.
pub fn write(start: &Start, query: &ExportQuery, chosen: &Chosen, files: &[(&String, &PathBuf)]) -> Result<Omissions> {
    let policies = if query.format.is_as_recorded() { Policies::default() } else { policies_around(start) };
    let mut place = Place::begin(query)?;
    let exporter = &mut place.exporter;
    let filled = in_order(files, |result| {
        let renamed = query.former_targets.get(&result.metadata.target).map(|name| {
            let metadata = Metadata { target: name.clone(), ..result.metadata.clone() };
            BenchmarkResult { metadata, ..result.clone() }
        });
        let result = renamed.as_ref().unwrap_or(result);
        let of_spec = |metric: &Metric| policies.unit(&result.metadata.benchmark, &metric.name, &metric.labels);
        let result = chosen.in_one_unit(query.format, of_spec, result);
        exporter.add(&result).context("cannot write the export")
    });
    match filled.and_then(|()| place.keep()) {
        Err(error) if query.out.is_none() && is_gone(&error) => Ok(Omissions::default()),
        left => left,
    }
}

/// Where an export goes: what writes it, and the file that is moved to its place in the end.
struct Place {
    exporter: Box<dyn Exporter>,
    file: Option<Pending>,
}

impl Place {
    fn begin(query: &ExportQuery) -> Result<Self> {
        let ExportQuery { format, cells, out, .. } = query;
        let (format, cells) = (*format, *cells);
        let unfit = || format!("{} goes elsewhere", format.name());
        let Some(out) = out else {
            let exporter = export::to_file(format, cells, standard_output())?.with_context(unfit)?;
            return Ok(Self { exporter, file: None });
        };
        if format.shape() == Shape::Folder {
            let exporter = export::to_folder(format, Box::new(OnDisk::at(out)?)).with_context(unfit)?;
            return Ok(Self { exporter, file: None });
        }
        let file = Pending::begin(out)?;
        let exporter: Box<dyn Exporter> = match format.shape() {
            Shape::Database => Box::new(file.database()?),
            _ => export::to_file(format, cells, file.sink()?)?.with_context(unfit)?,
        };
        Ok(Self { exporter, file: Some(file) })
    }

    fn keep(self) -> Result<Omissions> {
        let left = self.exporter.finish().context("cannot write the export")?;
        self.file.map_or(Ok(()), Pending::keep)?;
        Ok(left)
    }
}

/// Whether the reader of standard output has gone, which is not an error.
fn is_gone(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}
