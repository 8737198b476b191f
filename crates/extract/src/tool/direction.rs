//! Which way is better, read from the names that benchmarks of serving share.

use kubebench_format::spec::v1::metric::Better;

/// What is waited for, or fails.
const LOWER: [&str; 10] = [
    "latency",
    "time_to_first",
    "time_to_second",
    "time_per_output_token",
    "ttft",
    "tpot",
    "itl",
    "e2el",
    "error_rate",
    "failure",
];
/// What is got done in a time.
const HIGHER: [&str; 7] =
    ["throughput", "goodput", "_per_second", "_per_sec", "input_token_rate", "output_token_rate", "total_token_rate"];

/// Returns the direction of a metric called `name`, where its name leaves no doubt.
pub(super) fn of_name(name: &str) -> Option<Better> {
    if LOWER.iter().any(|part| name.contains(part)) {
        return Some(Better::Lower);
    }
    HIGHER.iter().any(|part| name.contains(part)).then_some(Better::Higher)
}

/// Returns the direction of a statistic of a metric: none for how far its values spread, or how many there are.
pub(super) fn of_statistic(name: &str, statistic: &str) -> Option<Better> {
    let is_location =
        statistic.starts_with(['p', 'P']) || matches!(statistic, "mean" | "avg" | "median" | "min" | "max");
    of_name(name).filter(|_| is_location)
}
