//! A project as commands take it: opened by their arguments, and reported on by their options.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::{self, Findings, Output, refuse_report_places, tell};
use crate::app::base::Base;
use crate::app::project::{CompiledProject, Pods};
use kubebench_syntax::diag::Diagnostics;

/// Reads and compiles the project; with `paths`, files outside the spec folders are taken in too.
pub(super) fn open(global: &Global, select: &SelectArgs) -> Result<CompiledProject> {
    open_held_to(None, global, select, Pods::Kept)
}

/// The same of a change that is held to what its base demands.
pub(super) fn open_held_to(
    base: Option<&Base>,
    global: &Global,
    select: &SelectArgs,
    pods: Pods,
) -> Result<CompiledProject> {
    let project = CompiledProject::open_held_to(base, &global.start(), &select.selector(), pods)?;
    refuse_report_places(global, &project.root, &project.own_folders())?;
    tell_more(global, &project);
    Ok(project)
}

/// Says what was compiled, as far as `--verbose` asks for it.
pub(super) fn tell_more(global: &Global, project: &CompiledProject) {
    if global.verbose > 0 {
        tell(global, &project.size());
    }
    if global.verbose > 1 {
        for compiled in &project.compilation.benchmarks {
            let benchmark = &compiled.benchmark;
            let line = format!("{} on {}: {}", benchmark.path, benchmark.target.name, compiled.identity.digest);
            tell(global, &line);
        }
    }
}

/// Prints `diagnostics` and writes the reports; returns the status that they call for.
pub(super) fn report(global: &Global, project: &CompiledProject, diagnostics: Diagnostics) -> Result<ExitStatus> {
    report_beside(global, project, Output::Findings, diagnostics)
}

/// Like [`report`], for a command whose standard output holds `output`.
pub(super) fn report_beside(
    global: &Global,
    project: &CompiledProject,
    output: Output,
    diagnostics: Diagnostics,
) -> Result<ExitStatus> {
    let CompiledProject { compilation, checked, unreadable, .. } = project;
    let findings = Findings { diagnostics, sources: &compilation.sources, checked, unreadable: *unreadable };
    findings::report(global, output, findings)
}
