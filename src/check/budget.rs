//! KB0311: runs that could use more than the spec grants.

use crate::diag::{Diagnostic, Diagnostics, code};
use crate::model::estimate::{Estimate, estimate, gpus};
use crate::model::{Benchmark, Case};

const NOTE: &str = "every run is taken at its full timeout, so this is what hanging runs would use";
const HELP: &str = "lower `timeout`, `repeats` or the number of cases, or raise the budget";

/// Reports bounds that the estimate exceeds, and a bound on money that cannot be checked.
pub(super) fn within(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let Estimate { gpu_hours, cost, unpriced, .. } = estimate(benchmark);
    if let Some((limit, span)) = benchmark.budget.gpu_hours
        && exceeds(gpu_hours, limit)
    {
        let message =
            format!("the runs could use {} GPU-hours, and the budget is {}", amount(gpu_hours), amount(limit));
        let fault = Diagnostic::at(&code::KB0311, span, message).note(arithmetic(benchmark)).note(NOTE);
        diagnostics.push(fault.help(HELP));
    }
    let Some((limit, span)) = benchmark.budget.cost else { return };
    let target = &benchmark.target;
    match (cost, &target.prices) {
        (Some(cost), Some(prices)) if exceeds(cost, limit) => {
            let (cost, limit, currency) = (amount(cost), amount(limit), &prices.currency);
            let message =
                format!("on `{}` the runs could cost {cost} {currency}, and the budget is {limit}", target.name);
            let fault = Diagnostic::at(&code::KB0311, span, message).note(arithmetic(benchmark)).note(NOTE);
            diagnostics.push(fault.help(HELP));
        }
        (Some(_), Some(_)) => {}
        (None, Some(_)) => {
            let missing = if unpriced.is_empty() { "what the pods use".to_owned() } else { quoted(&unpriced) };
            let message = format!(
                "the target `{}` has no price for {missing}, so nothing can hold the runs to this cost",
                target.name
            );
            diagnostics.push(
                Diagnostic::at(&code::KB0311, span, message)
                    .help(format!("add it to `prices` of the target `{}`, or use `gpuHours`", target.name)),
            );
        }
        (_, None) => {
            let message =
                format!("the target `{}` has no prices, so nothing can hold the runs to this cost", target.name);
            diagnostics.push(Diagnostic::at(&code::KB0311, span, message).help(format!(
                "add `prices: {{currency: EUR, nvidia.com/gpu: 2.10}}` to the target `{}`, or use `gpuHours`",
                target.name
            )));
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(" and ")
}

/// Sums of fractions may miss a whole number by a rounding error.
fn exceeds(sum: f64, limit: f64) -> bool {
    sum > limit * (1.0 + 1e-9)
}

/// Returns the factors: of all cases where they agree, else of the case that uses the most.
fn arithmetic(benchmark: &Benchmark) -> String {
    let Some(first) = benchmark.cases.first() else { return String::new() };
    let runs = benchmark.repeats + benchmark.warmups;
    let factors =
        |case: &Case| format!("{} × {} × {}", count(runs, "run"), case.timeout, count(amount(gpus_of(case)), "GPU"));
    let mut jobs = benchmark.prepare.iter().chain(benchmark.cases.iter().filter_map(|case| case.postprocess.as_ref()));
    let beside = if jobs.any(|job| gpus(&job.role) > 0.0) { ", and the Jobs beside the runs" } else { "" };
    let agree = benchmark.cases.iter().all(|case| factors(case) == factors(first));
    let cases = benchmark.cases.len();
    if agree {
        return format!("{} × {}{beside}", count(cases, "case"), factors(first));
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds of a timeout are far below 2^52")]
    let used = |case: &Case| case.timeout.seconds() as f64 * gpus_of(case);
    let largest = benchmark.cases.iter().fold(first, |most, case| if used(case) > used(most) { case } else { most });
    format!("{cases} cases; the largest is {}: {}{beside}", largest.name, factors(largest))
}

fn gpus_of(case: &Case) -> f64 {
    case.workload.roles.iter().map(gpus).sum()
}

fn count(number: impl std::fmt::Display, noun: &str) -> String {
    let number = number.to_string();
    let plural = if number == "1" { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Returns a number as people write it: two decimals at most.
fn amount(number: f64) -> String {
    let text = format!("{number:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
