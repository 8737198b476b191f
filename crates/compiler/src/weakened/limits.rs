//! What the runs of one benchmark on one target may use.

use super::{Held, amount, weakening};
use crate::check::within_budget;
use crate::model::{Benchmark, Budget};
use kubebench_syntax::diag::Place;
use kubebench_syntax::text::Span;

/// A bound, and where it is said.
type Bound = Option<(f64, Span)>;

/// Reports a budget that a change raises or takes away, and runs that could use more than that of the base.
pub(super) fn hold(before: &Benchmark, now: &Benchmark, held: &mut Held<'_>) {
    let mut of_base = |name: &str, before: Bound, own: Bound| -> Bound {
        let (limit, _) = before?;
        let span = own.map_or(now.name_span, |(_, span)| span);
        let now = match own {
            Some((own, _)) if own <= limit => return None,
            Some((own, _)) => amount(own),
            None => "gone".to_owned(),
        };
        let message = format!("the budget `{name}` is {now}; at the base {}", amount(limit));
        held.weakened.push(weakening(Place::Span(span), message));
        Some((limit, span))
    };
    let budget = Budget {
        gpu_hours: of_base("gpuHours", before.budget.gpu_hours, now.budget.gpu_hours),
        cost: of_base("cost", before.budget.cost, now.budget.cost),
    };
    within_budget(now, &budget, &mut held.exceeded);
}
