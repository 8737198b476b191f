//! `kubebench history`: the sessions of every metric, and what changed when.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, HistoryArgs};
use super::findings::{self, Findings};
use super::gate::read_acks;
use super::project::{Project, VERSION};
use super::reading::{self, Reading, Results, thresholds};
use crate::archive::{Archive, partitions};
use crate::compare::v1::{History, Kind, LeftOut, SCHEMA_VERSION, Told};
use crate::compare::{HistoryRequest, history, render};
use crate::compile::Workspace;
use crate::diag::Diagnostics;
use crate::diag::render::Format;
use crate::edge::git::Commits;
use crate::edge::terminal;
use crate::text::SourceMap;

/// What was asked for, and what was found on the way.
pub(super) struct Asked {
    /// The results.
    pub(super) archive: Archive,
    /// The series.
    pub(super) series: Vec<Told>,
    /// The folder of the project.
    pub(super) root: PathBuf,
    /// The benchmarks that have results.
    pub(super) benchmarks: BTreeSet<String>,
    /// Result files that did not count, and why.
    pub(super) left_out: Vec<LeftOut>,
    /// The same as findings.
    pub(super) diagnostics: Diagnostics,
    /// The texts of what is at fault.
    pub(super) sources: SourceMap,
}

/// Prints the history of what was asked for.
pub(super) fn run(global: &Global, args: &HistoryArgs) -> Result<ExitStatus> {
    let Asked { series, left_out, diagnostics, sources, .. } = told(global, args)?;
    let answer = History { schema_version: SCHEMA_VERSION, series, left_out, notes: Vec::new() };
    let is_bad = diagnostics.has_errors();
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(&answer)?))?,
        _ => terminal::print(&render::human_history(&answer, args.last))?,
    }
    findings::write_reports(global, Findings { diagnostics, sources: &sources, checked: &[], unreadable: false })?;
    Ok(if is_bad { ExitStatus::No } else { ExitStatus::Yes })
}

/// Returns the history of what was asked for.
pub(super) fn told(global: &Global, args: &HistoryArgs) -> Result<Asked> {
    let project = Project::find(global)?;
    let workspace = Workspace::open(project.file.clone(), VERSION);
    let settings = workspace.project().map(|project| project.settings.clone());
    let across = settings.as_ref().map(|settings| settings.compare_across.clone()).unwrap_or_default();
    let output = settings.as_ref().map_or_else(|| "generated".to_owned(), |settings| settings.output.clone());
    let (mut sources, thresholds) = thresholds(global);
    let place = Results::of(global, args.results.as_deref(), &project.root, &workspace.results_dir())?;
    let Reading { archive, left_out, mut diagnostics } = reading::read(global, &place, &mut sources);
    let acks = read_acks(&project.root, &mut sources, &mut diagnostics);
    let commits = Commits::open(&project.root, &output)?;
    let branch = commits.as_ref().and_then(Commits::default_branch);
    let lineage = match (&commits, &branch) {
        (Some(commits), Some(branch)) => Some(commits.of_branch(branch)?),
        _ => None,
    };
    let is_wanted = |benchmark: &str| args.benchmark.is_empty() || args.benchmark.iter().any(|name| name == benchmark);
    let rows = archive.rows().iter().enumerate().filter(|(_, row)| is_wanted(&archive.subject(row).benchmark));
    let rows: Vec<usize> = rows.map(|(at, _)| at).collect();
    let all = partitions(&archive, rows.into_iter(), &across);
    let newest = archive.rows().iter().map(|row| row.started_at.as_str()).max().unwrap_or_default();
    let shares: BTreeMap<(String, String), f64> =
        thresholds.iter().map(|(key, (share, _))| (key.clone(), *share)).collect();
    let mut series = history(HistoryRequest {
        archive: &archive,
        partitions: &all,
        thresholds: &shares,
        acks: &acks,
        lineage: lineage.as_ref(),
        as_of: newest,
    });
    series.retain(|told| is_asked(told, args));
    let benchmarks = archive.rows().iter().map(|row| archive.subject(row).benchmark.clone()).collect();
    Ok(Asked { archive, series, root: project.root, benchmarks, left_out, diagnostics, sources })
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
