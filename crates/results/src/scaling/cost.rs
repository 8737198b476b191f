//! What a unit of work costs: by what the machines of a run cost while they were held, and how much they did meanwhile.

use std::collections::BTreeSet;

use super::cell::Cell;
use super::model::{Direction, UnitCost};
use crate::dataset::{Dataset, MetricKey, Row};
use kubebench_stats as stats;

/// What runs cost that have no prices.
pub(super) const GPU_HOURS: &str = "GPU-hours";
/// How many units of work a cost of a rate is for.
const MANY: f64 = 1e6;
/// Results round what a run cost to a millionth: of less than this, that would be more than half a percent.
const LEAST_AMOUNT: f64 = 1e-4;

/// What a metric says of work.
#[derive(Clone, Debug, PartialEq)]
enum Work {
    /// The amount per hour, for a value of 1.
    Rate { hourly: f64, of: String },
    /// The hours for one, for a value of 1.
    Time { hours: f64 },
}

/// Returns the hours of a unit of time.
fn hours(unit: &str) -> Option<f64> {
    let seconds = match unit {
        "h" => 3600.0,
        "min" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" | "μs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    };
    Some(seconds / 3600.0)
}

/// Returns whether a metric is one of each of several machines, by its unit, such as tokens/s/gpu, or by its name, such as tokens-per-gpu: it
/// does not say what all of them do.
pub(super) fn is_of_each(metric: &str, unit: Option<&str>) -> bool {
    const MACHINES: [&str; 11] =
        ["gpu", "device", "accelerator", "chip", "core", "node", "worker", "replica", "rank", "process", "pod"];
    let name: String = metric.to_lowercase().chars().filter(|letter| letter.is_alphanumeric()).collect();
    if MACHINES.iter().any(|machine| name.contains(&format!("per{machine}"))) {
        return true;
    }
    let unit = unit.unwrap_or_default().to_lowercase();
    unit.split('/').skip(1).any(|part| MACHINES.contains(&part.trim_end_matches('s')))
}

fn work(cell: &Cell<'_>) -> Option<Work> {
    let unit = cell.history.unit.as_deref()?;
    if is_of_each(&cell.history.metric, Some(unit)) {
        return None;
    }
    match cell.history.direction {
        Direction::Higher => {
            let (of, time) = unit.rsplit_once('/')?;
            let is_whole = !of.is_empty() && !of.contains('/');
            Some(Work::Rate { hourly: 1.0 / hours(time)?, of: of.to_owned() }).filter(|_| is_whole)
        }
        Direction::Lower => Some(Work::Time { hours: hours(unit)? }),
        Direction::None => None,
    }
}

/// Returns what a unit of work costs; nothing where the metric says nothing of work, and why where something is missing.
pub(super) fn cost(dataset: &Dataset, cell: &Cell<'_>) -> Result<Option<UnitCost>, String> {
    let Some(work) = work(cell) else { return Ok(None) };
    let all = || cell.runs.iter().flatten();
    let currencies: BTreeSet<&str> = all().filter_map(|row| Some(row.cost.as_ref()?.1.as_str())).collect();
    if currencies.len() > 1 {
        return Err(format!(
            "no cost: its runs are priced in {}",
            currencies.into_iter().collect::<Vec<_>>().join(" and ")
        ));
    }
    let currency = currencies.into_iter().next();
    let amount = |row: &Row| match currency {
        Some(_) => row.cost.as_ref().map(|(amount, _)| *amount),
        None => row.gpu_hours,
    };
    if !all().any(|row| amount(row).is_some_and(|amount| amount > 0.0)) {
        return Ok(None);
    }
    let key = (cell.history.metric.as_str(), &cell.history.labels, &cell.history.unit);
    let of_run = |row: &&Row| {
        let is_it = |metric: &MetricKey| (metric.name.as_str(), &metric.labels, &metric.unit) == key;
        let value = dataset.metrics(row).find(|(definition, _)| is_it(&MetricKey::of(definition)))?.1?;
        let hourly =
            amount(row).filter(|amount| *amount >= LEAST_AMOUNT)? / row.held_hours.filter(|held| *held > 0.0)?;
        Some(match &work {
            Work::Rate { hourly: rate, .. } => MANY * hourly / (rate * value),
            Work::Time { hours } => hourly * hours * value,
        })
        .filter(|cost| value > 0.0 && cost.is_finite())
    };
    let of_session = |rows: &Vec<&Row>| {
        let costs: Option<Vec<f64>> = rows.iter().map(of_run).collect();
        Some(stats::quantile(costs?.into_iter(), 0.5))
    };
    let sessions: Option<Vec<f64>> = cell.runs.iter().map(of_session).collect();
    let Some(sessions) = sessions else {
        return Err("no cost: some of its runs have no known cost or machine time".to_owned());
    };
    let (per, of) = match work {
        Work::Rate { of, .. } => (MANY, of),
        Work::Time { .. } => (1.0, cell.metric()),
    };
    let currency = currency.unwrap_or(GPU_HOURS).to_owned();
    Ok(Some(UnitCost { amount: stats::quantile(sessions.into_iter(), 0.5), currency, per, of }))
}
