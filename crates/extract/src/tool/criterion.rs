//! criterion.rs: `estimates.json` of one benchmark, in nanoseconds an iteration.
//!
//! The benchmark's name is not in the file but in that of its folder and in `benchmark.json` beside it, which holds no
//! measurement. Before 0.4 the keys were spelled `Mean`, `StdDev`.

use serde_json::Value;

use super::{Report, Tool};
use crate::json_document::number;
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "criterion",
    reads: "`target/criterion/NAME/new/estimates.json`",
    source: "https://github.com/bheisler/criterion.rs/blob/master/src/estimate.rs",
    lines: None,
    document: Some(read),
    metrics: None,
};

const STATISTICS: [(&str, &str, Option<Better>); 5] = [
    ("mean", "Mean", Some(Better::Lower)),
    ("median", "Median", Some(Better::Lower)),
    // Where the number of iterations grows from sample to sample, criterion's own headline.
    ("slope", "Slope", Some(Better::Lower)),
    ("std_dev", "StdDev", None),
    ("median_abs_dev", "MedianAbsDev", None),
];

fn read(text: &str, report: &mut Report) {
    let root = report
        .document(text, |root| STATISTICS.iter().any(|(name, older, _)| root.get(name).or(root.get(older)).is_some()));
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
            if let Some(value) = estimate.pointer(pointer).and_then(number) {
                report.push_one(&name, "ns", better, value);
            }
        }
    }
    if report.found().is_empty() && root.get("full_id").is_none_or(Value::is_null) {
        report.invalid("the document holds no estimates: name the file `estimates.json` of a benchmark");
    }
}
