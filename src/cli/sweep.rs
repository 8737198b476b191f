//! `kubebench compare --by`: cases side by side along one axis.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{CompareArgs, Global, HistoryArgs};
use super::findings::{self, Findings};
use super::history::{Asked, told};
use super::judging::{Judging, refuse_unknown};
use super::project::from_start;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::sweep::{Axis, Request, axes, fronts, render, sweep, values};
use kubebench_syntax::diag::render::{Format, listed, on_one_line};

/// Compares along `by`, prints, and returns 1 where a file could not be trusted or nothing could be compared.
pub(super) fn run(global: &Global, args: &CompareArgs, by: &str) -> Result<ExitStatus> {
    let all = HistoryArgs {
        benchmark: args.benchmark.clone(),
        case: Vec::new(),
        metric: Vec::new(),
        all: true,
        last: 0,
        results: args.results.clone(),
    };
    let Asked { judging, series, .. } = told(global, &all)?;
    let Judging { archive, left_out, diagnostics, sources, .. } = judging;
    let found = Axis::find(by, &archive, &series).map(|axis| (values(&archive, &series, &axis), axis));
    let Some((known, axis)) = found.filter(|(known, _)| !known.is_empty()) else {
        let known = axes(&archive, &series);
        let known = if known.is_empty() {
            "none: nothing differs".to_owned()
        } else {
            listed(known.iter().map(String::as_str))
        };
        let labels: BTreeSet<&String> =
            archive.rows().iter().filter_map(|row| archive.subject(row).labels.get(by)).collect();
        let mut labels = labels.into_iter();
        if let (Some(first), Some(second)) = (labels.next(), labels.next()) {
            let (first, second) = (on_one_line(first), on_one_line(second));
            bail!(
                "`{by}` is a label: benchmarks are compared by it two at a time, `kubebench compare label:{by}={first} label:{by}={second}`; \
                 the axes along which results differ are {known}"
            );
        }
        bail!("no result has a parameter or fact `{by}`; the axes along which results differ are {known}");
    };
    if let Some(base) = args.base.as_ref().filter(|base| !known.contains(*base)) {
        let mut known: Vec<String> = known.into_iter().collect();
        known.sort_by(|one, other| number(one).total_cmp(&number(other)));
        bail!(
            "there is no result of {by}={base} to hold the others against; there are {}",
            listed(known.iter().map(String::as_str))
        );
    }
    refuse_unknown(&args.metric, || series.iter().map(|told| told.metric.as_str()))?;
    let pareto = args.pareto.as_deref().map(pair).transpose()?;
    let mut answer = sweep(Request {
        archive: &archive,
        told: &series,
        axis: &axis,
        base: args.base.as_deref(),
        metrics: &args.metric.iter().cloned().collect(),
        allowed: &args.allow.iter().cloned().collect(),
    });
    answer.fronts = fronts(&archive, &series, pareto);
    if let (Some((first, second)), true) = (pareto, answer.fronts.is_empty()) {
        bail!(
            "no benchmark has two cases on the same hardware with both {first} and {second}; write metrics of which it is known which way \
             is better, with their labels where several have the name, such as `latency{{percentile=99}}`"
        );
    }
    answer.left_out = left_out;
    let is_answered = !answer.groups.is_empty() && !diagnostics.has_errors();
    if let Some(path) = &args.markdown {
        fs::write_report(&from_start(global, path), &render::markdown(&answer))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    match global.output_format {
        Format::Human => terminal::print(&render::human(&answer))?,
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(&answer)?))?,
        _ => {
            findings::report(global, findings::Output::Findings, findings)?;
            return Ok(if is_answered { ExitStatus::Yes } else { ExitStatus::No });
        }
    }
    findings::write_reports(global, findings)?;
    Ok(if is_answered { ExitStatus::Yes } else { ExitStatus::No })
}

/// Reads `A,B`; a comma within braces is one of labels.
fn pair(text: &str) -> Result<(&str, &str)> {
    let mut depth = 0_usize;
    let comma = text.char_indices().find(|(_, letter)| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        *letter == ',' && depth == 0
    });
    match comma.map(|(at, _)| text.split_at(at)) {
        Some((first, second)) if !first.is_empty() && second.len() > 1 => Ok((first, second.trim_start_matches(','))),
        _ => bail!("`--pareto {text}` does not name two metrics; write `--pareto latency,throughput`"),
    }
}

/// The place of a value of an axis among numbers; texts come last, in their order.
fn number(value: &str) -> f64 {
    value.parse().unwrap_or(f64::INFINITY)
}
