//! `kubebench history`: the sessions of every metric, and what changed when.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, HistoryArgs};
use super::evaluation;
use super::findings::{self, Findings};
use crate::app::evaluate::{Evaluation, Histories, Unreachable};
use crate::app::results::NamedResults;
use kubebench_host::terminal;
use kubebench_results::compare::model::History;
use kubebench_results::compare::render;
use kubebench_results::compare::v1;
use kubebench_syntax::diag::render::Format;

/// Prints the history of what was asked for.
pub(super) fn run(global: &Global, args: &HistoryArgs) -> Result<ExitStatus> {
    let folders: Vec<&Path> = args.results.as_ref().and_then(NamedResults::folder).into_iter().collect();
    let mut evaluation = evaluation::open(global, None, &folders)?;
    evaluation.unreachable = Unreachable::of(args.count_unreachable);
    let Histories { evaluation, baseline, series, open_elsewhere, unvalued, note, .. } =
        Histories::of(evaluation, &args.query())?;
    evaluation::tell_readings(global, &evaluation);
    let shown: BTreeSet<&str> = series.iter().map(|history| history.benchmark.as_str()).collect();
    let breaks = shown.into_iter().flat_map(|benchmark| {
        let is_shown =
            |metric: &str| series.iter().any(|history| history.benchmark == benchmark && history.metric == metric);
        evaluation.dataset.breaks(benchmark, is_shown)
    });
    let (signatures, of_signatures) = evaluation.signatures();
    let notes = note
        .into_iter()
        .chain(baseline.note())
        .chain(unvalued.notes)
        .chain(evaluation.note_of_faults())
        .chain(of_signatures)
        .chain(breaks)
        .collect();
    let Evaluation { mut left_out, diagnostics, sources, .. } = evaluation;
    left_out.extend(unvalued.left_out);
    let answer = History { series, open_elsewhere, left_out, signatures, notes };
    let is_bad = diagnostics.has_errors();
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(v1::History::from(&answer))?))?,
        _ => terminal::print(&render::human_history(&answer, args.last))?,
    }
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    let warned = findings::beside_answer(global, findings)?;
    Ok(if is_bad { ExitStatus::No } else { warned })
}
