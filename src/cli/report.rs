//! `kubebench report`: committed results as a site, or as Markdown.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{Global, ReportArgs, ReportFormat};
use super::evaluation;
use super::findings::{self, Findings, Output, counted, tell};
use crate::app::evaluate::{ACKS, Evaluation, Report, Unreachable};
use crate::app::places;
use crate::app::results::NamedResults;
use kubebench_host::terminal;

/// Writes the report, and returns 1 where files did not count.
pub(super) fn run(global: &Global, args: &ReportArgs) -> Result<ExitStatus> {
    let start = global.start();
    let out = args.out.as_deref().map(|out| start.path(out));
    if out.is_none() && args.format == ReportFormat::Html {
        bail!("name the folder of the site with `--out DIR`, or write `--format markdown`");
    }
    let mut evaluation = evaluation::open(global, None, &[])?;
    evaluation.unreachable = Unreachable::of(args.count_unreachable);
    // A page by what specs do not say would be taken for one by what they say.
    if let Some(refused) = evaluation::report_faults(global, &evaluation) {
        return refused;
    }
    if let Some(out) = &out {
        refuse_place(global, args, out, &evaluation)?;
    }
    let report = Report::of(evaluation, &args.query())?;
    evaluation::tell_readings(global, &report.evaluation);
    write(global, args.format, out.as_deref(), &report)?;
    let Evaluation { diagnostics, sources, .. } = report.evaluation;
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    findings::report(global, if out.is_none() { Output::Data } else { Output::Findings }, findings)
}

/// Refuses to write the report between the files of the project, or over what it is about.
fn refuse_place(global: &Global, args: &ReportArgs, out: &Path, evaluation: &Evaluation) -> Result<()> {
    places::refuse_around("pages", out, &evaluation.root)?;
    let named = args.results.as_ref().and_then(NamedResults::folder);
    let read = named.map(|folder| std::path::absolute(global.start().path(folder))).transpose();
    let read =
        read.context("cannot resolve the folder of results")?.map(|folder| folder.to_string_lossy().into_owned());
    let own = [ACKS, &evaluation.directory, &evaluation.output, "specs", ".git"];
    let kept: Vec<&str> = own.into_iter().chain(read.as_deref()).collect();
    places::refuse("report", out, &evaluation.root, &kept)
}

fn write(global: &Global, format: ReportFormat, out: Option<&Path>, report: &Report) -> Result<()> {
    match (format, out) {
        (ReportFormat::Markdown, None) => terminal::print(&report.markdown()),
        (ReportFormat::Markdown, Some(out)) => report.write_markdown(out),
        (ReportFormat::Html, Some(out)) => {
            report.write_site(out, || tell(global, "another report is being written there; waiting for it"))?;
            let results = counted(report.results(), "result");
            tell(global, &format!("{results} shown in {}", out.join("index.html").display()));
            Ok(())
        }
        (ReportFormat::Html, None) => Ok(()),
    }
}
