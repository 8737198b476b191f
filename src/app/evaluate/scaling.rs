//! Cases side by side along one axis.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::{Evaluation, Histories, refuse_unknown};
use kubebench_results::order::AxisOrder;
use kubebench_results::scaling::model::ScalingReport;
use kubebench_results::scaling::{Axis, Request, along, axes, fronts, values};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::diag::render::{listed, on_one_line};
use kubebench_syntax::text::SourceMap;
use kubebench_syntax::unit::MetricSelector;

/// Along what cases are compared.
pub struct ScalingQuery {
    /// A parameter, or a fact of the hardware.
    pub axis: String,
    /// The value that the others are compared with; without it, the smallest number, version or name.
    pub base: Option<String>,
    /// Metrics by name; empty means all.
    pub metrics: Vec<MetricSelector>,
    /// Facts that may differ.
    pub allowed: Vec<String>,
    /// Two metrics that pull apart, such as `latency,throughput`; without them, the two primary ones.
    pub pareto: Option<String>,
}

/// What came of it.
pub struct Scaling {
    /// The comparison.
    pub answer: ScalingReport,
    /// The files that do not count.
    pub diagnostics: Diagnostics,
    /// The texts into which these point.
    pub sources: SourceMap,
}

impl Scaling {
    /// Compares along an axis.
    pub fn of(histories: Histories, query: &ScalingQuery) -> Result<Self> {
        let Histories { evaluation, series, .. } = histories;
        let Evaluation { dataset, left_out, diagnostics, sources, .. } = evaluation;
        let by = query.axis.as_str();
        let found = Axis::find(by, &dataset, &series).map(|axis| (values(&dataset, &series, &axis), axis));
        let Some((known, axis)) = found.filter(|(known, _)| !known.is_empty()) else {
            let known = axes(&dataset, &series);
            let known = if known.is_empty() {
                "none: nothing differs".to_owned()
            } else {
                listed(known.iter().map(String::as_str))
            };
            let labels: BTreeSet<&String> =
                dataset.rows().iter().filter_map(|row| dataset.subject(row).labels.get(by)).collect();
            let mut labels = labels.into_iter();
            if let (Some(first), Some(second)) = (labels.next(), labels.next()) {
                let (first, second) = (on_one_line(first), on_one_line(second));
                bail!(
                    "`{by}` is a label, and labels are compared two at a time: \
                     `kubebench compare label:{by}={first} label:{by}={second}`; the axes along which results differ \
                     are {known}"
                );
            }
            bail!("no result has a parameter or fact `{by}`; the axes along which results differ are {known}");
        };
        if let Some(base) = query.base.as_ref().filter(|base| !known.contains(*base)) {
            let known = AxisOrder::sorted(known.iter().map(String::as_str));
            bail!("no result has {by}={base} to compare the others with; results have {}", listed(known.into_iter()));
        }
        refuse_unknown(&query.metrics, || series.iter().map(|history| (history.metric.as_str(), &history.labels)))?;
        let pareto = query.pareto.as_deref().map(pair).transpose()?;
        let mut answer = along(Request {
            dataset: &dataset,
            histories: &series,
            axis: &axis,
            base: query.base.as_deref(),
            metrics: &query.metrics,
            allowed: &query.allowed.iter().cloned().collect(),
        });
        answer.fronts = fronts(&dataset, &series, pareto);
        if let (Some((first, second)), true) = (pareto, answer.fronts.is_empty()) {
            bail!(
                "no benchmark has two cases on the same hardware with both {first} and {second}; name metrics with a \
                 known direction (`better`), with labels where several share a name, such as `latency{{percentile=99}}`"
            );
        }
        answer.left_out = left_out;
        Ok(Self { answer, diagnostics, sources })
    }
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
