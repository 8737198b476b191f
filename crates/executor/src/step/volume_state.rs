//! What is in the folder of a run where the steps keep its result and how far they are, and whether it is that: a job
//! with `mountInJob` can write there too.
//!
//! The folder has the name of the run's job, which follows from the run digest, the case, the round, the attempt and the
//! session. So a file proves to be of the run by containing what gives that name, whatever else is left.

use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::attempt::{self, Attempt};
use super::session::ClusterStep;
use kubebench_contract::instance;
use kubebench_format::result::v1::Reason;
use kubebench_format::result::{self, BenchmarkResult, Sealed};
use kubebench_host::experiment::RunFolder;

/// The result of a run, in its folder; `result/result.json` is what `postprocess` writes.
pub(super) const RESULT: &str = "result.json";

/// The folder of a run has the name of its job: the benchmark's, and eight hex digits.
pub(super) fn is_run(benchmark: &str, name: &str) -> bool {
    instance::benchmark_of(name) == Some(benchmark)
}

/// What is at the path of a file of the steps.
#[derive(Debug)]
pub(super) enum Found<T> {
    Nothing,
    /// The file.
    Own(T),
    /// Something else, and why it is not the file.
    Foreign(String),
}

/// Reads `bytes` as the result of the run of `benchmark` whose job is called `job`.
///
/// # Errors
/// Why they are not that.
pub(super) fn judge(bytes: &[u8], benchmark: &str, job: &str) -> Result<Sealed, String> {
    let sealed = result::read(bytes).map_err(|fault| fault.to_string())?;
    let BenchmarkResult { metadata, run, source, .. } = &sealed.result;
    let theirs = &metadata.benchmark;
    if theirs != benchmark {
        return Err(format!(
            "it names the benchmark `{theirs}`, but this folder belongs to a run of `{benchmark}`; a job with \
             `mountInJob` may have written it"
        ));
    }
    let session = match run.reason {
        Reason::Schedule => instance::Session::Scheduled { uid: &run.session },
        _ => instance::Session::Once,
    };
    let name =
        instance::job_name(theirs, &source.run_digest, &metadata.case, &result::round(run), run.attempt, session);
    if name == job { Ok(sealed) } else { Err(of_another(&name, job)) }
}

/// Says that something belongs into another folder.
pub(super) fn of_another(name: &str, job: &str) -> String {
    format!(
        "it names the run `{name}`, but this folder belongs to `{job}`; a job with `mountInJob` may have written it"
    )
}

/// Looks for the result of the run of `benchmark` whose job is called `job`.
///
/// # Errors
/// When the volume cannot be read.
pub(super) fn result_of(experiments: &Path, benchmark: &str, job: &str) -> Result<Found<BenchmarkResult>> {
    let judge = |bytes: &[u8]| judge(bytes, benchmark, job).map(|sealed| sealed.result);
    look(experiments, job, RESULT, result::MAX_BYTES, judge)
}

/// Looks for the file `file` of the run whose job is called `job`, and judges its bytes.
pub(super) fn look<T>(
    experiments: &Path,
    job: &str,
    file: &str,
    limit: usize,
    judge: impl FnOnce(&[u8]) -> Result<T, String>,
) -> Result<Found<T>> {
    match RunFolder::open(experiments, job).and_then(|run| run.read(file, limit)) {
        Ok(None) => Ok(Found::Nothing),
        Ok(Some(bytes)) => Ok(judge(&bytes).map_or_else(Found::Foreign, Found::Own)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Found::Nothing),
        Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(Found::Foreign(error.to_string())),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", experiments.join(job).join(file).display())),
    }
}

impl ClusterStep {
    /// Returns the result of the run whose job is called `job`; anything else there is moved aside.
    ///
    /// # Errors
    /// When the volume cannot be read.
    pub(super) fn result_of(&self, job: &str) -> Result<Option<BenchmarkResult>> {
        result_of(&self.experiments, &self.benchmark, job).map(|found| self.own(job, RESULT, found))
    }

    /// Returns how far the run is whose job is called `job`; what is there and does not say that is moved aside.
    ///
    /// # Errors
    /// When the volume cannot be read.
    pub(super) fn attempt_of(&self, job: &str) -> Result<Option<Attempt>> {
        let found = Attempt::read(&self.experiments, &self.benchmark, job)?;
        Ok(self.own(job, attempt::FILE, found))
    }

    fn own<T>(&self, job: &str, file: &str, found: Found<T>) -> Option<T> {
        match found {
            Found::Own(own) => Some(own),
            Found::Nothing => None,
            Found::Foreign(why) => {
                self.put_aside(job, file, &why);
                None
            }
        }
    }

    fn put_aside(&self, job: &str, file: &str, why: &str) {
        let what = format!("{} does not belong to the steps: {why}", self.experiments.join(job).join(file).display());
        let aside = match RunFolder::open(&self.experiments, job).and_then(|run| run.put_aside(file)) {
            Ok(()) => "it was renamed to `*.foreign`".to_owned(),
            Err(error) => format!("it cannot be renamed to `*.foreign`: {error}"),
        };
        self.tell(&format!("note: {what}; {aside}"));
    }
}

#[cfg(test)]
mod tests;
