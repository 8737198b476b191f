//! hyperfine's JSON: a result for each command, in seconds.
//!
//! Metrics are named by the number of the result, from 0: commands are long, and parameters are texts. The times of the
//! runs are the samples; where a file lacks them, the statistics are taken as they stand. A command that failed ended the
//! whole benchmark, unless hyperfine was told to ignore failures; then `N.failed_runs` counts them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Headline, Report, Tool};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "hyperfine",
    reads: "the JSON of `--export-json`",
    source: "https://github.com/sharkdp/hyperfine/blob/master/src/benchmark/benchmark_result.rs",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("results").is_some(), read }),
    metrics: None,
};

const TIMES: &[Headline] = &[
    Headline::of(".mean", Reduce::Mean),
    Headline::of(".median", Reduce::Median),
    Headline::of(".min", Reduce::Min),
    Headline::of(".max", Reduce::Max),
];

fn read(root: &Value, report: &mut Report) {
    let results = list(root, "results");
    for (index, result) in results.iter().enumerate() {
        push_result(index, result, report);
    }
    if results.is_empty() {
        report.invalid("the report holds no result");
    }
}

fn push_result(index: usize, result: &Value, report: &mut Report) {
    let times = list(result, "times");
    for time in times {
        let name = index.to_string();
        report.push_named(&name, "s", Some(Better::Lower), &BTreeMap::new(), TIMES, reading(time));
    }
    let statistics: &[(&str, Option<Better>)] = if times.is_empty() {
        const LOWER: Option<Better> = Some(Better::Lower);
        &[
            ("mean", LOWER),
            ("median", LOWER),
            ("min", LOWER),
            ("max", LOWER),
            ("stddev", None),
            ("user", None),
            ("system", None),
        ]
    } else {
        &[("stddev", None), ("user", None), ("system", None)]
    };
    for (key, better) in statistics {
        // One run has no deviation.
        if let Some(value) = result.get(key).filter(|value| !value.is_null()) {
            report.push_one(&format!("{index}.{key}"), "s", *better, reading(value));
        }
    }
    let codes = list(result, "exit_codes");
    if !codes.is_empty() {
        // A command that a signal ended has no code.
        let failed = codes.iter().filter(|code| code.as_i64() != Some(0)).count();
        report.push_one(&format!("{index}.failed_runs"), "1", Some(Better::Lower), failed as f64);
        report.attempts("runs", failed as f64, codes.len() as f64);
    }
}
