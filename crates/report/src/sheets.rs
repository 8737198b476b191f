//! The numbers behind plots and tables as CSV, for people who open them in a spreadsheet.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::plot::quantiles::Quantiles;
use kubebench_format::result::plain;
use kubebench_results::compare::model::SeriesHistory;
use kubebench_results::export::is_executed;
use kubebench_results::scaling::model::{Estimate, Front, FrontMetric, Group};

fn pairs(of: &BTreeMap<String, String>) -> String {
    of.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
}

/// Returns cases side by side along an axis.
pub(super) fn sides(groups: &[Group]) -> String {
    let mut text =
        "metric,labels,unit,params,environment,value,case,sessions,median,speedup,speedupLow,speedupHigh,efficiency,\
                    efficiencyLow,efficiencyHigh,cost,currency,costOf\n"
            .to_owned();
    for group in groups {
        let params = group.params.iter().map(|(name, value)| format!("{name}={}", plain(value)));
        let params = params.collect::<Vec<_>>().join("; ");
        for row in &group.rows {
            let cost = row.cost.as_ref();
            let fields = [
                cell(&group.metric),
                cell(&pairs(&group.labels)),
                cell(group.unit.as_deref().unwrap_or_default()),
                cell(&params),
                cell(&pairs(&row.environment)),
                cell(&row.value),
                cell(&row.case),
                row.sessions.to_string(),
                row.median.to_string(),
                estimate(row.speedup),
                estimate(row.efficiency),
                cost.map_or_else(String::new, |cost| (cost.amount / cost.per).to_string()),
                cost.map_or_else(String::new, |cost| cell(&cost.currency)),
                cost.map_or_else(String::new, |cost| cell(&cost.of)),
            ];
            text.push_str(&fields.join(","));
            text.push('\n');
        }
    }
    text
}

/// Returns three cells: the value, and the interval around it.
fn estimate(of: Option<Estimate>) -> String {
    let Some(Estimate { value, interval }) = of else { return ",,".to_owned() };
    interval.map_or_else(|| format!("{value},,"), |(low, high)| format!("{value},{low},{high}"))
}

/// Returns which cases are the best for two metrics.
pub(super) fn fronts(all: &[Front]) -> String {
    let mut text = "environment,case,caseName,metric,unit,value,low,high,otherMetric,otherUnit,otherValue,otherLow,otherHigh,dominatedBy\n"
        .to_owned();
    for front in all {
        let metric = |of: &FrontMetric| format!("{},{}", cell(&of.name), cell(of.unit.as_deref().unwrap_or_default()));
        for point in &front.points {
            let (one, other) = (Some(point.values.0), Some(point.values.1));
            text.push_str(&format!(
                "{},{},{},{},{},{},{},{}\n",
                cell(&pairs(&front.environment)),
                cell(&point.case),
                cell(&point.case_name),
                metric(&front.metrics.0),
                estimate(one),
                metric(&front.metrics.1),
                estimate(other),
                cell(&point.dominated_by.join("; "))
            ));
        }
    }
    text
}

/// Returns how values are distributed.
pub(super) fn curves(plots: &[Quantiles<'_>]) -> String {
    let mut text = "metric,unit,of,share,value\n".to_owned();
    for plot in plots {
        for curve in &plot.curves {
            let fixed = [cell(&plot.title), cell(plot.unit.unwrap_or_default()), cell(&curve.label)].join(",");
            for (share, value) in &curve.points {
                text.push_str(&format!("{fixed},{share},{value}\n"));
            }
        }
    }
    text
}

/// Returns the sessions of series.
pub(super) fn series<'a>(series: impl Iterator<Item = &'a SeriesHistory>) -> String {
    let mut text = "metric,labels,unit,environment,session,startedAt,commit,value,runs\n".to_owned();
    for history in series {
        let fixed = [
            cell(&history.metric),
            cell(&pairs(&history.labels)),
            cell(history.unit.as_deref().unwrap_or_default()),
            cell(&pairs(&history.environment)),
        ];
        for session in &history.sessions {
            text.push_str(&format!(
                "{},{},{},{},{},{}\n",
                fixed.join(","),
                cell(&session.session),
                session.started_at,
                session.commit.as_deref().map(cell).unwrap_or_default(),
                session.value,
                session.results.len()
            ));
        }
    }
    text
}

/// Returns a cell as RFC 4180 quotes it; one that a spreadsheet would execute gets an apostrophe, since people click on these files.
fn cell(text: &str) -> String {
    let text = if is_executed(text) { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into_owned() }
}
