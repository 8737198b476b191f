//! What must be true for a run to count, and what was found.

use super::Measured;
use crate::rules::Check;
use crate::tool::Requests;
use kubebench_format::result::v1::{CheckOutcome, Metric};

/// Evaluates `check` by what was measured.
pub(super) fn judge(check: &Check, measured: &Measured, requests: &[Requests], restarts: u32) -> CheckOutcome {
    let metrics = &measured.metrics;
    match check {
        Check::Cautions(forbidden) => {
            let names: Vec<&str> = forbidden.iter().map(|caution| caution.name()).collect();
            let found = measured.cautions.iter().filter(|remark| forbidden.contains(&remark.caution));
            let said: Vec<&str> = found.map(|remark| remark.reason.message.as_str()).collect();
            let observed = if said.is_empty() { "no tool says so".to_owned() } else { said.join("; ") };
            CheckOutcome { name: format!("no caution of {}", names.join(", ")), passed: said.is_empty(), observed }
        }
        Check::FailedRequests(max) => {
            let name = format!("failedRequests ≤ {max}");
            let Some(worst) = requests.iter().max_by(|one, other| one.share().total_cmp(&other.share())) else {
                let observed = "no tool of this benchmark reported its requests".to_owned();
                return CheckOutcome { name, passed: false, observed };
            };
            CheckOutcome { name, passed: worst.share() <= max.fraction(), observed: worst.said() }
        }
        Check::Restarts(limit) => CheckOutcome {
            name: format!("restarts ≤ {limit}"),
            passed: restarts <= *limit,
            observed: format!("{restarts} restarts"),
        },
        Check::Metric { metric: metric_of, finite, min, max } => {
            let mut wanted = Vec::new();
            wanted.extend(finite.then(|| "finite".to_owned()));
            wanted.extend(min.map(|min| format!("≥ {min}")));
            wanted.extend(max.map(|max| format!("≤ {max}")));
            let label = format!("{metric_of} {}", wanted.join(", "));
            let found: Vec<&Metric> =
                metrics.iter().filter(|metric| metric_of.has(&metric.name, &metric.labels)).collect();
            if found.is_empty() {
                return CheckOutcome { name: label, passed: false, observed: "the metric was not found".to_owned() };
            }
            let mut observed = Vec::new();
            let mut passed = true;
            for metric in found {
                let in_bounds = |value: f64| min.is_none_or(|min| value >= min) && max.is_none_or(|max| value <= max);
                let bounded = min.is_none() && max.is_none() || metric.value.is_some_and(in_bounds);
                let is_finite = !finite || metric.n > 0 && metric.non_finite == 0;
                passed &= bounded && is_finite;
                observed.push(match (metric.value, &metric.reason) {
                    _ if *finite && metric.non_finite > 0 => {
                        format!("{} of {} values are not finite", metric.non_finite, metric.n)
                    }
                    (Some(value), _) => format!("{value}"),
                    (None, Some(reason)) => reason.clone(),
                    (None, None) => "no value".to_owned(),
                });
            }
            CheckOutcome { name: label, passed, observed: observed.join("; ") }
        }
    }
}
