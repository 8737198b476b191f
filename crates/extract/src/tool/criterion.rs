//! criterion.rs: `estimates.json` of one benchmark, in nanoseconds an iteration.
//!
//! The benchmark's name is not in the file but in that of its folder and in `benchmark.json` beside it, which holds no
//! measurement. Before 0.4 the keys were spelled `Mean`, `StdDev`.

use serde_json::Value;

use super::{Document, Report, Tool};
use crate::json_document::reading;
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "criterion",
    reads: "`target/criterion/NAME/new/estimates.json`",
    source: "https://github.com/bheisler/criterion.rs/blob/master/src/estimate.rs",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| STATISTICS.iter().any(|(name, older, _)| root.get(name).or(root.get(older)).is_some()),
        read,
    }),
    metrics: None,
    renamed: None,
};

const STATISTICS: [(&str, &str, Option<Better>); 5] = [
    ("mean", "Mean", Some(Better::Lower)),
    ("median", "Median", Some(Better::Lower)),
    // Where the number of iterations grows from sample to sample, criterion's own headline.
    ("slope", "Slope", Some(Better::Lower)),
    ("std_dev", "StdDev", None),
    ("median_abs_dev", "MedianAbsDev", None),
];

fn read(root: &Value, report: &mut Report) {
    let has = |name: &str, older: &str| root.get(name).or_else(|| root.get(older)).is_some();
    if has("mean", "Mean") && !has("std_dev", "StdDev") {
        let reason = "these are the estimates of a change, which are fractions: name `new/estimates.json`";
        return report.invalid(reason);
    }
    for (name, older, better) in STATISTICS {
        let Some(estimate) = root.get(name).or_else(|| root.get(older)).filter(|estimate| estimate.is_object()) else {
            continue;
        };
        let parts = [
            (name.to_owned(), "/point_estimate", better),
            (format!("{name}_ci_lower"), "/confidence_interval/lower_bound", None),
            (format!("{name}_ci_upper"), "/confidence_interval/upper_bound", None),
        ];
        for (name, pointer, better) in parts {
            if let Some(value) = estimate.pointer(pointer) {
                report.push_one(&name, "ns", better, reading(value));
            }
        }
    }
    if report.found().is_empty() && root.get("full_id").is_none_or(Value::is_null) {
        report.invalid("the document holds no estimates: name the file `estimates.json` of a benchmark");
    }
}
