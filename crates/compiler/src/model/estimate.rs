//! What a benchmark may use at most: runs, time, GPU-hours and money, everything taken at its full timeout and size.

use std::collections::{BTreeMap, BTreeSet};

use super::{Benchmark, Case, Role, StepJob};
use kubebench_contract::Prices;
use kubebench_syntax::unit::is_accelerator;

/// Upper bounds for one Workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// Runs, warm-ups included.
    pub runs: u64,
    /// Hours from the start of `prepare` to the last run's end, if nothing queues.
    pub hours: f64,
    /// The most accelerators that its runs hold at once, by resource name.
    pub accelerators: BTreeMap<String, u64>,
    /// Accelerators times hours.
    pub gpu_hours: f64,
    /// Money, in the target's currency; none if the target's prices are not sufficient.
    pub cost: Option<f64>,
    /// Resources whose missing price leaves the cost unknown; empty where the target has no prices at all.
    pub unpriced: Vec<String>,
}

/// What memory is counted and priced by: one GiB.
pub const MEMORY_UNIT: f64 = 1_073_741_824.0;

/// Returns the upper bounds of `benchmark`.
pub fn estimate(benchmark: &Benchmark) -> Estimate {
    estimate_at(benchmark, benchmark.target.prices.as_ref())
}

/// Returns them at these prices.
pub(crate) fn estimate_at(benchmark: &Benchmark, prices: Option<&Prices>) -> Estimate {
    let uses: Vec<(f64, &Role)> = uses(benchmark).collect();
    let (cost, unpriced) = prices.map(|prices| cost(prices, &uses)).unwrap_or_default();
    Estimate {
        runs: benchmark.runs(),
        hours: elapsed(benchmark),
        accelerators: at_once(benchmark),
        gpu_hours: total(uses.iter().map(|(hours, role)| hours * gpus(role))),
        cost,
        unpriced,
    }
}

/// Returns the accelerators of the largest case, as often as runs are made at once.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "accelerators are whole, and quantities saturate"
)]
fn at_once(benchmark: &Benchmark) -> BTreeMap<String, u64> {
    let lanes = lanes(benchmark);
    let mut most: BTreeMap<String, u64> = BTreeMap::new();
    for case in &benchmark.cases {
        let mut held: BTreeMap<&str, u64> = BTreeMap::new();
        for role in &case.workload.roles {
            for (name, amount) in role.amounts().filter(|(name, _)| is_accelerator(name)) {
                let own = (amount.as_f64() as u64).saturating_mul(u64::from(role.max_replicas));
                let sum = held.entry(name).or_default();
                *sum = sum.saturating_add(own);
            }
        }
        for (name, amount) in held.into_iter().filter(|(_, amount)| *amount > 0) {
            let known = most.entry(name.to_owned()).or_default();
            *known = amount.saturating_mul(lanes).max(*known);
        }
    }
    most
}

/// Returns the accelerators of all pods of `role`, at its largest.
pub(crate) fn gpus(role: &Role) -> f64 {
    role.accelerators() * f64::from(role.max_replicas)
}

/// A Job outside the runs, and the total hours that it may take.
pub(crate) struct Step<'a> {
    /// `prepare` or `postprocess`.
    pub name: &'static str,
    /// The Job; of the cases' Jobs the one with the longest timeout.
    pub job: &'a StepJob,
    /// The hours of all its runs together.
    pub hours: f64,
}

/// Returns the Jobs outside the runs.
pub(crate) fn steps(benchmark: &Benchmark) -> Vec<Step<'_>> {
    let of_job = |job: &StepJob| hours(job.timeout.seconds());
    let prepare = benchmark.prepare.iter().map(|job| Step { name: "prepare", job, hours: of_job(job) });
    let each: Vec<&StepJob> = benchmark.cases.iter().filter_map(|case| case.postprocess.as_ref()).collect();
    let all = runs_a_case(benchmark) * total(each.iter().map(|job| of_job(job)));
    let longest = each.iter().max_by_key(|job| job.timeout.seconds());
    prepare.chain(longest.map(|job| Step { name: "postprocess", job, hours: all })).collect()
}

/// Returns every role with the hours that all its pods together may be there.
fn uses(benchmark: &Benchmark) -> impl Iterator<Item = (f64, &Role)> {
    let runs = runs_a_case(benchmark);
    let job = |times: f64, job: &StepJob| times * hours(job.timeout.seconds());
    let of_case = move |case: &Case| runs * hours(case.timeout.seconds() + until_ready(case));
    let prepare = benchmark.prepare.iter().map(move |step| (job(1.0, step), &step.role));
    let postprocess = benchmark.cases.iter().filter_map(|case| case.postprocess.as_ref());
    let postprocess = postprocess.map(move |step| (job(runs, step), &step.role));
    let workloads =
        benchmark.cases.iter().flat_map(move |case| case.workload.roles.iter().map(move |role| (of_case(case), role)));
    prepare.chain(workloads).chain(postprocess)
}

#[expect(clippy::cast_precision_loss, reason = "runs are at most a thousand")]
fn elapsed(benchmark: &Benchmark) -> f64 {
    let of_job = |job: Option<&StepJob>| job.map_or(0.0, |job| hours(job.timeout.seconds()));
    let of_runs = total(benchmark.cases.iter().map(|case| {
        let of_run = hours(case.timeout.seconds() + until_ready(case));
        runs_a_case(benchmark) * (of_run + of_job(case.postprocess.as_ref()))
    }));
    of_job(benchmark.prepare.as_ref()) + of_runs / lanes(benchmark) as f64
}

/// Returns how many runs are made at once.
fn lanes(benchmark: &Benchmark) -> u64 {
    u64::from(benchmark.parallelism).min(benchmark.runs()).max(1)
}

/// Returns how long the server of a run may take, in seconds; each run may need its own.
fn until_ready(case: &Case) -> u64 {
    case.workload.serving.as_ref().map_or(0, |serving| serving.served.ready_seconds)
}

fn runs_a_case(benchmark: &Benchmark) -> f64 {
    f64::from(benchmark.repeats + benchmark.warmups)
}

/// Returns the cost, or what has no price.
fn cost(prices: &Prices, uses: &[(f64, &Role)]) -> (Option<f64>, Vec<String>) {
    let amounts = uses.iter().flat_map(|(_, role)| role.amounts()).filter(|(_, amount)| amount.as_f64() > 0.0);
    let used: BTreeSet<&str> = amounts.map(|(name, _)| name).collect();
    let missing: Vec<String> = prices.lacking(used.iter().copied()).into_iter().map(str::to_owned).collect();
    let of_role = |(hours, role): &(f64, &Role)| hours * hourly(prices, role) * f64::from(role.max_replicas);
    let cost = (!used.is_empty() && missing.is_empty()).then(|| total(uses.iter().map(of_role)));
    (cost, missing)
}

/// Returns the price of an hour of one pod.
pub(crate) fn hourly(prices: &Prices, role: &Role) -> f64 {
    let priced = role.amounts().filter_map(|(name, amount)| Some((name, amount.as_f64(), prices.hourly.get(name)?)));
    total(priced.map(|(name, amount, price)| price * if name == "memory" { amount / MEMORY_UNIT } else { amount }))
}

#[expect(clippy::cast_precision_loss, reason = "a timeout is at most ten years of seconds")]
fn hours(seconds: u64) -> f64 {
    seconds as f64 / 3600.0
}

/// The sum, which is a plain zero for nothing: the standard library's is minus zero.
fn total(amounts: impl Iterator<Item = f64>) -> f64 {
    amounts.fold(0.0, |sum, amount| sum + amount)
}
