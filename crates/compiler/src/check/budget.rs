//! KB0311: runs that could use more than the spec grants.

use crate::model::estimate::{Estimate, Step, estimate_at, gpus, hourly, steps};
use crate::model::{Benchmark, Budget, Case, Role};
use kubebench_contract::Prices;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::words::counted;

const NOTE: &str = "every run counts with its full timeout, as if it hung";

/// Reports bounds of a benchmark that its estimate exceeds, and a bound on money that cannot be checked.
pub(super) fn within(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    within_budget(benchmark, &benchmark.budget, benchmark.target.prices.as_ref(), diagnostics);
}

/// The same for another budget than its own, at these prices.
pub(crate) fn within_budget(
    benchmark: &Benchmark,
    budget: &Budget,
    prices: Option<&Prices>,
    diagnostics: &mut Diagnostics,
) {
    let Estimate { gpu_hours, cost, unpriced, .. } = estimate_at(benchmark, prices);
    if let Some((limit, span)) = budget.gpu_hours
        && exceeds(gpu_hours, limit)
    {
        let message = format!(
            "on `{}` the runs could use {} GPU-hours, and the budget is {}",
            benchmark.target.name,
            amount(gpu_hours),
            amount(limit)
        );
        diagnostics.push(explained(Diagnostic::at(&code::KB0311, span, message), benchmark, gpus, "GPU-hours"));
    }
    let Some((limit, span)) = budget.cost else { return };
    let target = &benchmark.target;
    match (cost, prices) {
        (Some(cost), Some(prices)) if exceeds(cost, limit) => {
            let (cost, limit, currency) = (amount(cost), amount(limit), &prices.currency);
            let message =
                format!("on `{}` the runs could cost {cost} {currency}, and the budget is {limit}", target.name);
            let rate = |role: &Role| hourly(prices, role) * f64::from(role.max_replicas);
            diagnostics.push(explained(Diagnostic::at(&code::KB0311, span, message), benchmark, rate, currency));
        }
        (Some(_), Some(_)) => {}
        (None, Some(_)) => {
            let missing = if unpriced.is_empty() { "what the pods use".to_owned() } else { quoted(&unpriced) };
            let message = format!(
                "the target `{}` has no price for {missing}, so this cost limit cannot be checked",
                target.name
            );
            diagnostics.push(
                Diagnostic::at(&code::KB0311, span, message)
                    .help(format!("add a price to `prices` of the target `{}`, or use `gpuHours`", target.name)),
            );
        }
        (_, None) => {
            let message = format!("the target `{}` has no prices, so this cost limit cannot be checked", target.name);
            diagnostics.push(Diagnostic::at(&code::KB0311, span, message).help(format!(
                "add `prices: {{currency: EUR, nvidia.com/gpu: 2.10}}` to the target `{}`, or use `gpuHours`",
                target.name
            )));
        }
    }
}

/// Adds where the sum comes from and what would lower it; `rate` is what the pods of a role use in an hour, in `unit`.
fn explained(fault: Diagnostic, benchmark: &Benchmark, rate: impl Fn(&Role) -> f64, unit: &str) -> Diagnostic {
    let mut fault = fault.note(arithmetic(benchmark));
    let mut timeouts = vec!["`timeout`".to_owned()];
    for Step { name, job, hours } in steps(benchmark) {
        let used = hours * rate(&job.role);
        if used > 0.0 {
            let share = format!("`{name}` alone could use {} {unit} (its timeout is {})", amount(used), job.timeout);
            fault = fault.note(share);
            timeouts.push(format!("`timeout` of `{name}`"));
        }
    }
    fault
        .note(NOTE)
        .help(format!("lower {}, `repeats` or the number of cases, or raise the budget", timeouts.join(", ")))
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
    let factors = |case: &Case| {
        format!("{} × {} × {}", counted(runs, "run"), case.timeout, counted(amount(gpus_of(case)), "GPU"))
    };
    let agree = benchmark.cases.iter().all(|case| factors(case) == factors(first));
    let cases = benchmark.cases.len();
    if agree {
        return format!("{} × {}", counted(cases, "case"), factors(first));
    }
    #[expect(clippy::cast_precision_loss, reason = "seconds of a timeout are far below 2^52")]
    let used = |case: &Case| case.timeout.seconds() as f64 * gpus_of(case);
    let largest = benchmark.cases.iter().fold(first, |most, case| if used(case) > used(most) { case } else { most });
    format!("{cases} cases; the largest is {}: {}", largest.name, factors(largest))
}

fn gpus_of(case: &Case) -> f64 {
    case.workload.roles.iter().map(gpus).sum()
}

/// Returns a number as people write it: two decimals at most.
fn amount(number: f64) -> String {
    // An empty sum of floats is minus zero.
    let text = format!("{:.2}", number + 0.0);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
