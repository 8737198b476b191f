//! `kubebench reparse`: the metrics of results again, from kept logs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::ExitStatus;
use super::args::{Global, ReparseArgs, SelectArgs};
use super::findings::counted;
use super::project::{VERSION, from_start, start};
use super::record::{found, shown, unread};
use super::run::secrets;
use super::session::Session;
use kubebench_compiler::compile::Compiled;
use kubebench_executor::local::{Engine, Secrets, refusals};
use kubebench_executor::run;
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_host::fs::{self, Content};
use kubebench_host::machine;
use kubebench_host::terminal;
use kubebench_syntax::diag::code;

/// Writes a new result beside each of `args.results`, and of those below folders.
pub(super) fn run(global: &Global, args: &ReparseArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &SelectArgs::default())?;
    let secrets = secrets(args.secret_file.as_deref(), &start(global)?)?;
    let base = machine::variables(|name| args.pass_env.iter().any(|wanted| wanted == name));
    let files = found(global, &args.results);
    if files.is_empty() {
        bail!("there is no result file at {}", shown(&args.results));
    }
    let named: Vec<String> = args.results.iter().map(|path| from_start(global, path).display().to_string()).collect();
    let mut failed = false;
    let mut written = 0;
    for (shown, file) in files {
        let outcome = match original(file) {
            // Of a folder, what the runs wrote.
            Ok((_, result)) if result.source.reparsed.is_some() && !named.contains(&shown) => continue,
            Ok((path, result)) => one(&session, (&secrets, &base), &path, &result),
            Err(error) => Err(error),
        };
        match outcome {
            Ok(Some(path)) => {
                written += 1;
                terminal::print(&format!("{}\n", path.display()))?;
            }
            Ok(None) => session.tell(&format!("{shown}: read again already, with the same outcome")),
            Err(error) => {
                failed = true;
                terminal::tell(&format!("error: {shown}: {error:#}"));
            }
        }
    }
    session.tell(&format!("{} written", counted(written, "result")));
    Ok(if failed { ExitStatus::NoAnswer } else { ExitStatus::Yes })
}

type Known<'a> = (&'a Secrets, &'a BTreeMap<String, String>);

/// Reads a result, and returns it with its whole path.
fn original(file: Result<PathBuf, Content>) -> Result<(PathBuf, BenchmarkResult)> {
    let read = file.and_then(|path| fs::read_result(&path, result::MAX_BYTES).map(|bytes| (path, bytes)));
    let (path, bytes) = read.map_err(|content| anyhow!(unread(content).1))?;
    let sealed = result::read(&bytes).map_err(|fault| anyhow!("{fault}"))?;
    Ok((std::path::absolute(path)?, sealed.result))
}

fn one(
    session: &Session<'_>,
    (secrets, base): Known<'_>,
    path: &Path,
    original: &BenchmarkResult,
) -> Result<Option<PathBuf>> {
    if original.source.reparsed.is_some() {
        bail!("this result was read again itself: name the one that the run wrote");
    }
    let compiled = benchmark(session, original)?;
    // A secret that is not known cannot be taken out of the log's lines.
    let missing = refusals(&compiled.benchmark, Engine::default(), secrets);
    if let Some(fault) = missing.as_slice().iter().find(|fault| *fault.code == code::KB0351) {
        bail!("{}, and the log may hold it; give it as the run did, so that it is redacted", fault.message);
    }
    let rules = session.compilation.rules(compiled).context("the rules of the benchmark are missing")?;
    let redactor = run::redactor(&compiled.benchmark, secrets, base);
    let made = run::reparse(&session.root, original, &rules, &redactor, VERSION)?;
    let results = path.ancestors().nth(3).filter(|results| results.join(result::path(original)) == path);
    let place = || format!("it is not where `run` put it: below a folder of results, in {}", result::path(original));
    let results = results.with_context(place)?;
    run::store_again(results, made)
}

/// Returns today's benchmark that `original` is of.
fn benchmark<'a>(session: &'a Session<'_>, original: &BenchmarkResult) -> Result<&'a Compiled> {
    let metadata = &original.metadata;
    let benchmarks = &session.compilation.benchmarks;
    let of_name = || benchmarks.iter().filter(|compiled| compiled.benchmark.name == metadata.benchmark);
    let on_target = of_name().find(|compiled| compiled.benchmark.target.name == metadata.target);
    match on_target.or_else(|| of_name().next()) {
        Some(compiled) => Ok(compiled),
        None => bail!("no spec without faults describes the benchmark `{}`", metadata.benchmark),
    }
}
