//! The logs that a run left, read again by the rules of today.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::project::CompiledProject;
use super::record::unread;
use super::start::VERSION;
use kubebench_compiler::compile::Compiled;
use kubebench_executor::local::{Engine, Secrets, refusals};
use kubebench_executor::run;
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_host::fs::{self, Content};
use kubebench_syntax::diag::code;

/// Reads a result, and returns it with its whole path.
pub fn original(file: Result<PathBuf, Content>) -> Result<(PathBuf, BenchmarkResult)> {
    let read = file.and_then(|path| fs::read_result(&path, result::MAX_BYTES).map(|bytes| (path, bytes)));
    let (path, bytes) = read.map_err(|content| anyhow!("{}", unread(content)))?;
    let sealed = result::read(&bytes).map_err(|fault| anyhow!("{fault}"))?;
    Ok((std::path::absolute(path)?, sealed.result))
}

/// Writes a new result next to the one at `path`; nothing where its logs were read with the same outcome already.
pub fn read_again(
    project: &CompiledProject,
    secrets: &Secrets,
    variables: &BTreeMap<String, String>,
    path: &Path,
    original: &BenchmarkResult,
) -> Result<Option<PathBuf>> {
    if original.source.reparsed.is_some() {
        bail!("this result was written by `kubebench reparse`: name the one that the run wrote");
    }
    let compiled = benchmark(project, original)?;
    // A secret that is not known cannot be taken out of the log's lines.
    let missing = refusals(&compiled.benchmark, Engine::default(), secrets);
    if let Some(fault) = missing.as_slice().iter().find(|fault| *fault.code == code::KB0351) {
        bail!("{}, and the log may contain it; pass it as you did for the run, so that it is redacted", fault.message);
    }
    let redactor = run::redactor(&compiled.benchmark, secrets, variables);
    let made = run::reparse(&project.root, original, &compiled.rules, &redactor, VERSION)?;
    let results = path.ancestors().nth(3).filter(|results| results.join(result::path(original)) == path);
    let place = || format!("it is not where `run` put it: in a folder of results, at {}", result::path(original));
    let results = results.with_context(place)?;
    run::store_again(results, made)
}

/// Returns today's benchmark that `original` is of.
fn benchmark<'a>(project: &'a CompiledProject, original: &BenchmarkResult) -> Result<&'a Compiled> {
    let metadata = &original.metadata;
    let benchmarks = &project.compilation.benchmarks;
    let of_name = || benchmarks.iter().filter(|compiled| compiled.benchmark.name == metadata.benchmark);
    let on_target = of_name().find(|compiled| compiled.benchmark.target.name == metadata.target);
    match on_target.or_else(|| of_name().next()) {
        Some(compiled) => Ok(compiled),
        None => bail!("no spec without errors describes the benchmark `{}`", metadata.benchmark),
    }
}
