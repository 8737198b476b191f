//! What a benchmark may use at most: runs, time, GPU-hours and money, every run taken at its full timeout.

use super::{Benchmark, Case, Role};

/// Upper bounds for one Workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Runs, warm-ups included.
    pub runs: u64,
    /// Hours from the first run's start to the last one's end, if nothing queues.
    pub hours: f64,
    /// Accelerators times hours.
    pub gpu_hours: f64,
    /// Money, in the target's currency; none where the target has no prices.
    pub cost: Option<f64>,
}

const MEMORY_UNIT: f64 = (1_u64 << 30) as f64;

/// Returns the upper bounds of `benchmark`.
#[expect(clippy::cast_precision_loss, reason = "counts of runs are far below 2^52")]
pub fn estimate(benchmark: &Benchmark) -> Estimate {
    let runs_a_case = f64::from(benchmark.repeats + benchmark.warmups);
    let hours_of = |case: &Case| runs_a_case * case.timeout.seconds() as f64 / 3600.0;
    let gpu_hours =
        total(benchmark.cases.iter().map(|case| hours_of(case) * total(case.workload.roles.iter().map(gpus))));
    let cost = benchmark.target.prices.as_ref().map(|prices| {
        let hourly = |role: &Role| {
            let priced = role
                .requests
                .iter()
                .filter_map(|(name, amount)| Some((name, amount.as_f64(), prices.hourly.get(name)?)));
            let of_pod = total(
                priced
                    .map(|(name, amount, price)| price * if name == "memory" { amount / MEMORY_UNIT } else { amount }),
            );
            of_pod * f64::from(role.replicas)
        };
        total(benchmark.cases.iter().map(|case| hours_of(case) * total(case.workload.roles.iter().map(hourly))))
    });
    let total_hours = total(benchmark.cases.iter().map(hours_of));
    let runs = benchmark.runs();
    let lanes = u64::from(benchmark.parallelism).min(runs).max(1);
    Estimate { runs, hours: total_hours / lanes as f64, gpu_hours, cost }
}

/// The sum, which is a plain zero for nothing: the standard library's is minus zero.
fn total(amounts: impl Iterator<Item = f64>) -> f64 {
    amounts.fold(0.0, |sum, amount| sum + amount)
}

fn gpus(role: &Role) -> f64 {
    role.accelerators() * f64::from(role.replicas)
}
