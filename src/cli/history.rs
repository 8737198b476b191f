//! `kubebench history`: the sessions of every metric, and what changed when.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, HistoryArgs};
use super::findings::{self, Findings};
use super::judging::{Judging, Usual};
use kubebench_format::result::Ack;
use kubebench_host::terminal;
use kubebench_results::archive::partitions;
use kubebench_results::compare::v1::{History, Kind, SCHEMA_VERSION, Told};
use kubebench_results::compare::{HistoryRequest, history, render};
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::diag::{Diagnostics, nearest};

/// What was asked for, and what it was told from.
pub(super) struct Asked<'a> {
    /// The project with its results.
    pub(super) judging: Judging<'a>,
    /// Its acknowledgements.
    pub(super) acks: Vec<Ack>,
    /// The commits whose sessions are the baseline.
    pub(super) usual: Usual,
    /// The series.
    pub(super) series: Vec<Told>,
}

/// Prints the history of what was asked for.
pub(super) fn run(global: &Global, args: &HistoryArgs) -> Result<ExitStatus> {
    let Asked { judging, series, .. } = told(global, args)?;
    let notes = judging.note_of_faults().into_iter().collect();
    let Judging { left_out, diagnostics, sources, .. } = judging;
    let answer = History { schema_version: SCHEMA_VERSION, series, left_out, notes };
    let is_bad = diagnostics.has_errors();
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(&answer)?))?,
        _ => terminal::print(&render::human_history(&answer, args.last))?,
    }
    findings::write_reports(global, Findings { diagnostics, sources: &sources, checked: &[], unreadable: false })?;
    Ok(if is_bad { ExitStatus::No } else { ExitStatus::Yes })
}

/// Returns the history of what was asked for.
pub(super) fn told<'a>(global: &'a Global, args: &HistoryArgs) -> Result<Asked<'a>> {
    let mut judging = Judging::open(global)?;
    let folders: Vec<&Path> = args.results.as_deref().into_iter().collect();
    judging.refuse_places(None, &folders)?;
    judging.read(args.results.as_deref())?;
    judging.keep(&args.benchmark)?;
    judging.refuse_unknown(&args.metric)?;
    let mut found = Diagnostics::default();
    let acks = judging.acks(&mut found);
    judging.diagnostics.extend(found);
    let usual = Usual::of(judging.commits()?.as_ref())?;
    let archive = &judging.archive;
    let is_wanted = |benchmark: &String| args.benchmark.is_empty() || args.benchmark.contains(benchmark);
    let rows = archive.places(|row| is_wanted(&archive.subject(row).benchmark));
    let mut series = history(HistoryRequest {
        archive,
        partitions: &partitions(archive, rows.into_iter(), &judging.across),
        policies: &judging.policies,
        acks: &acks,
        lineage: usual.lineage(),
        as_of: &judging.as_of(),
    });
    refuse_unknown_cases(&args.case, &series)?;
    series.retain(|told| is_asked(told, args));
    Ok(Asked { judging, acks, usual, series })
}

/// Refuses cases that no result is of.
fn refuse_unknown_cases(cases: &[String], series: &[Told]) -> Result<()> {
    let names = |told: &Told| [told.case.clone(), told.case_name.clone()];
    let known: BTreeSet<String> = series.iter().flat_map(names).filter(|name| !name.is_empty()).collect();
    let Some(unknown) = cases.iter().find(|case| !known.contains(*case)) else { return Ok(()) };
    let near = nearest(unknown, known.iter().map(String::as_str));
    bail!("no result is of the case `{unknown}`{near}; `kubebench history` lists them")
}

/// Returns whether a series was asked for: by name, or because it stands for its benchmark.
fn is_asked(told: &Told, args: &HistoryArgs) -> bool {
    let by_metric = if args.metric.is_empty() {
        args.all || told.kind == Kind::Primary
    } else {
        args.metric.contains(&told.metric)
    };
    by_metric && (args.case.is_empty() || args.case.iter().any(|case| *case == told.case || *case == told.case_name))
}
