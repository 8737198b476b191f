//! `kubebench reparse`: the metrics of results again, from kept logs.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{Global, ReparseArgs, SelectArgs};
use super::project::{VERSION, start};
use super::report::counted;
use super::run::secrets;
use super::session::Session;
use crate::edge::{fs, terminal};
use crate::redact::Redactor;
use crate::result::{self, BenchmarkResult};
use crate::run;

/// Writes a new result beside each of `args.results`.
pub(super) fn run(global: &Global, args: &ReparseArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &SelectArgs::default())?;
    let secrets = secrets(args.secret_file.as_deref())?;
    let of_specs: Vec<String> =
        session.compilation.benchmarks.iter().flat_map(|compiled| run::secrets_in(&compiled.benchmark)).collect();
    let redactor = Redactor::new(secrets.values().chain(of_specs.iter().map(String::as_str)));
    let here = start(global)?;
    let mut failed = false;
    let mut written = 0;
    for path in &args.results {
        match one(&session, &redactor, &here.join(path)) {
            Ok(Some(path)) => {
                written += 1;
                terminal::print(&format!("{}\n", path.display()))?;
            }
            Ok(None) => session.tell(&format!("{}: read again already, with the same outcome", path.display())),
            Err(error) => {
                failed = true;
                terminal::tell(&format!("error: {}: {error:#}", path.display()));
            }
        }
    }
    session.tell(&format!("{} written", counted(written, "result")));
    Ok(if failed { ExitStatus::NoAnswer } else { ExitStatus::Yes })
}

fn one(session: &Session<'_>, redactor: &Redactor, path: &Path) -> Result<Option<PathBuf>> {
    let text = fs::read_text(path)?;
    let original = result::read(text.as_bytes()).map_err(|fault| anyhow::anyhow!("{fault}"))?.result;
    if original.source.reparsed.is_some() {
        bail!("this result was read again itself: name the one that the run wrote");
    }
    let rules = rules(session, &original)?;
    let made = run::reparse(&session.root, &original, &rules, redactor, VERSION)?;
    let results = path.ancestors().nth(3).context("the file does not lie in a folder of results")?;
    Ok(run::store_again(results, made)?.map(|stored| stored.path))
}

/// Returns today's rules of the benchmark that `original` is of.
fn rules(session: &Session<'_>, original: &BenchmarkResult) -> Result<String> {
    let metadata = &original.metadata;
    let compilation = &session.compilation;
    let of_name = || compilation.benchmarks.iter().filter(|compiled| compiled.benchmark.name == metadata.benchmark);
    let on_target = of_name().find(|compiled| compiled.benchmark.target.name == metadata.target);
    let Some(compiled) = on_target.or_else(|| of_name().next()) else {
        bail!("no spec without faults describes the benchmark `{}`", metadata.benchmark);
    };
    compilation.rules(compiled).context("the rules of the benchmark are missing")
}
