//! What the runs of one benchmark on one target may use.

use super::at::At;
use super::{Held, amount, is_now};
use crate::check::within_budget;
use crate::model::{Benchmark, Budget};
use kubebench_contract::Prices;
use kubebench_syntax::diag::{Diagnostics, Place};
use kubebench_syntax::text::Span;

/// A bound, and where it is said.
type Bound = Option<(f64, Span)>;

/// Reports a budget that a change raises or takes away, and runs that could use more than that of the base at the prices of the base.
pub(super) fn hold(at: At<'_>, held: &mut Held<'_>) {
    let (before, now): (&Benchmark, &Benchmark) = (&at.before.benchmark, &at.now.benchmark);
    let mut weaker = |name: &str, before: Bound, own: Bound| {
        let Some((limit, _)) = before else { return };
        let now_is = match own {
            Some((own, _)) if own <= limit => return,
            Some((own, _)) => amount(own),
            None => "gone".to_owned(),
        };
        let place = own.map_or_else(|| at.field(&["budget"]), |(_, span)| Place::Span(span));
        let message = is_now(&format!("the budget `{name}`"), now_is, amount(limit));
        held.found.weaker(place, now, message);
    };
    weaker("gpuHours", before.budget.gpu_hours, now.budget.gpu_hours);
    weaker("cost", before.budget.cost, now.budget.cost);
    let strictest = |before: Bound, own: Bound| {
        let (limit, _) = before?;
        let (own, span) = own.unwrap_or((f64::INFINITY, now.name_span));
        Some((limit.min(own), span))
    };
    let budget = Budget {
        gpu_hours: strictest(before.budget.gpu_hours, now.budget.gpu_hours),
        cost: strictest(before.budget.cost, now.budget.cost),
    };
    let prices = prices(before.target.prices.as_ref(), now.target.prices.as_ref());
    let (mut by_base, mut own) = (Diagnostics::default(), Diagnostics::default());
    within_budget(now, &budget, prices.as_ref(), &mut by_base);
    within_budget(now, &now.budget, now.target.prices.as_ref(), &mut own);
    // What exceeds the benchmark's own budget is reported once.
    held.exceeded.extend(by_base.into_iter().filter(|fault| !own.as_slice().contains(fault)));
}

/// Returns the prices of the base, and those of the change for what has none there.
fn prices(before: Option<&Prices>, now: Option<&Prices>) -> Option<Prices> {
    let (Some(before), Some(now)) = (before, now) else { return before.or(now).cloned() };
    let mut hourly = now.hourly.clone();
    hourly.extend(before.hourly.clone());
    Some(Prices { hourly, ..before.clone() })
}
