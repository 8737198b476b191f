//! criterion.rs: `estimates.json` of one benchmark, in nanoseconds an iteration.
//!
//! The benchmark's name is not in the file but in that of its folder and in `benchmark.json` next to it, which has no
//! measurement. Before 0.4 the keys were spelled `Mean`, `StdDev`.

use serde_json::Value;

use super::{Document, Report, Tool, ToolMetric, lower, plain};
use crate::json_document::reading;

pub(super) const TOOL: Tool = Tool {
    name: "criterion",
    reads: "`target/criterion/NAME/new/estimates.json`",
    source: "https://github.com/bheisler/criterion.rs/blob/master/src/estimate.rs",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| {
            STATISTICS.iter().any(|(older, [metric, ..])| root.get(metric.name).or(root.get(older)).is_some())
        },
        read,
    }),
    versions: "0.5, and keys of before 0.4",
    metrics: || STATISTICS.iter().flat_map(|(_, metrics)| metrics).collect(),
    labels: &[],
    example: "{name: criterion, file: sort/new/estimates.json, metrics: [median]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

/// Each with the key of older versions, and the bounds of its confidence interval.
static STATISTICS: [(&str, [ToolMetric; 3]); 5] = [
    ("Mean", of_time("mean", "mean_ci_lower", "mean_ci_upper", "mean time of an iteration")),
    ("Median", of_time("median", "median_ci_lower", "median_ci_upper", "median time of an iteration")),
    ("Slope", of_time("slope", "slope_ci_lower", "slope_ci_upper", "criterion's own headline where iterations grow")),
    ("StdDev", of_spread("std_dev", "std_dev_ci_lower", "std_dev_ci_upper", "standard deviation")),
    (
        "MedianAbsDev",
        of_spread("median_abs_dev", "median_abs_dev_ci_lower", "median_abs_dev_ci_upper", "median deviation"),
    ),
];

const fn of_time(
    name: &'static str,
    below: &'static str,
    above: &'static str,
    meaning: &'static str,
) -> [ToolMetric; 3] {
    let [_, low, high] = of_spread(name, below, above, meaning);
    [lower(name, "ns", meaning), low, high]
}

const fn of_spread(
    name: &'static str,
    below: &'static str,
    above: &'static str,
    meaning: &'static str,
) -> [ToolMetric; 3] {
    let bound = "a bound of its confidence interval";
    [plain(name, "ns", meaning), plain(below, "ns", bound), plain(above, "ns", bound)]
}

fn read(root: &Value, report: &mut Report) {
    let has = |name: &str, older: &str| root.get(name).or_else(|| root.get(older)).is_some();
    if has("mean", "Mean") && !has("std_dev", "StdDev") {
        let reason = "these are the estimates of a change, which are fractions: name `new/estimates.json`";
        return report.invalid(reason);
    }
    for (older, [metric, below, above]) in &STATISTICS {
        let Some(estimate) = root.get(metric.name).or_else(|| root.get(older)).filter(|estimate| estimate.is_object())
        else {
            continue;
        };
        let parts = [
            (metric, "/point_estimate"),
            (below, "/confidence_interval/lower_bound"),
            (above, "/confidence_interval/upper_bound"),
        ];
        for (metric, pointer) in parts {
            if let Some(value) = estimate.pointer(pointer) {
                report.push(metric, reading(value));
            }
        }
    }
    if report.found().is_empty() && root.get("full_id").is_none_or(Value::is_null) {
        report.invalid("the document holds no estimates: name the file `estimates.json` of a benchmark");
    }
}
