//! What benchmarks take together, at most.

use std::collections::BTreeMap;

use super::Row;

/// What the runs of benchmarks take if each takes its full timeout.
#[derive(Default)]
pub struct Amount<'p> {
    pub runs: u64,
    pub hours: f64,
    pub gpu_hours: f64,
    /// Money, by currency.
    pub costs: BTreeMap<&'p str, f64>,
    /// How many benchmarks have no known cost.
    pub unpriced: usize,
}

impl<'p> Amount<'p> {
    /// Adds up what these take.
    pub fn of(rows: &[&'p Row<'_>]) -> Self {
        let mut amount = Self::default();
        for row in rows {
            amount.runs += row.estimate.runs;
            amount.hours += row.estimate.hours;
            amount.gpu_hours += row.estimate.gpu_hours;
            let currency = row.compiled.benchmark.target.prices.as_ref().map(|prices| prices.currency.as_str());
            match (row.estimate.cost, currency) {
                (Some(cost), Some(currency)) => *amount.costs.entry(currency).or_default() += cost,
                _ => amount.unpriced += 1,
            }
        }
        amount
    }
}

/// Returns how long something takes, as people write it.
pub fn hours(hours: f64) -> String {
    if hours < 1.0 { format!("{:.0} min", hours * 60.0) } else { format!("{hours:.1} h") }
}
