//! `kubebench render`: the jobs as plain manifests, for `kubectl` and for reading.

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, RenderArgs};
use super::session::Session;
use crate::diag::did_you_mean;
use crate::edge::terminal;
use crate::manifest::{Run, standalone};
use crate::yaml;

/// Prints the objects of the first measured run of every selected case.
pub(super) fn run(global: &Global, args: &RenderArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &args.select)?;
    let diagnostics = session.diagnostics();
    if diagnostics.has_errors() {
        return Ok(session.refuse(diagnostics));
    }
    let mut documents = Vec::new();
    let mut known = Vec::new();
    for compiled in session.benchmarks() {
        for case in &compiled.benchmark.cases {
            known.push(case.id.as_str());
            if args.case.as_ref().is_some_and(|wanted| *wanted != case.id) {
                continue;
            }
            let first = |run: &&Run| run.case == case.id && !run.warmup;
            let Some(run) = compiled.identity.runs.iter().find(first) else { continue };
            documents.extend(standalone(&compiled.benchmark, case, &run.job).iter().map(yaml::write));
        }
    }
    if let (Some(wanted), true) = (&args.case, documents.is_empty()) {
        let hint = did_you_mean(wanted, known.iter().copied())
            .map_or_else(|| format!("cases are {}", known.join(", ")), |close| format!("did you mean `{close}`?"));
        bail!("there is no case `{wanted}`; {hint}");
    }
    terminal::print(&documents.join("---\n"))?;
    Ok(ExitStatus::Yes)
}
