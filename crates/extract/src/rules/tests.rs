use serde_json::json;

use super::*;
use crate::log_files::Kept;
use crate::measure::{Log, measure};
use kubebench_format::result::v1::Metric;
use kubebench_testing::snapshot::{assert_text, str};

#[test]
fn what_no_tool_names_has_a_name() {
    let read = |metric: serde_json::Value| {
        let file = json!({"schemaVersion": 1, "benchmark": "x", "metrics": [metric], "checks": []});
        Rules::read(&file.to_string()).map(|rules| rules.metrics.len())
    };
    assert_eq!(read(json!({"name": "t", "from": {"duration": "run"}})), Ok(1));
    assert_eq!(read(json!({"from": {"tool": {"name": "fio"}}})), Ok(1));
    assert_eq!(read(json!({"from": {"duration": "run"}})), Err("a metric has no name".to_owned()));
}

/// Reads `metrics` from logs of this many lines `v=1`, `v=2`, …, which have room for 5000 values together.
fn measured(metrics: &serde_json::Value, logs: &[u32]) -> Vec<Metric> {
    let file = json!({"schemaVersion": 1, "benchmark": "x", "metrics": metrics, "checks": []});
    let rules = Rules::read(&file.to_string()).unwrap();
    let room = Room::of(5_000);
    let read = |(lines, index): (&u32, u32)| {
        let mut scan = rules.scan("worker", index, &room);
        (1..=*lines).for_each(|line| scan.feed(format!("v={line}\n").as_bytes()));
        Log { role: "worker".to_owned(), index, artifact: format!("worker-{index}.log"), scanned: scan.finish() }
    };
    let logs: Vec<Log> = logs.iter().zip(0..).map(read).collect();
    measure(&rules, &logs, 0, &Kept::new(|_| Err("there is none".to_owned()))).metrics
}

#[test]
fn all_logs_of_a_run_have_room_together() {
    let metrics = json!([
        {"name": "last", "from": {"log": {"pattern": "^v=(?P<value>\\S+)$"}}},
        {"name": "median", "reduce": "median", "from": {"keyValue": {"key": "v"}}},
        {"name": "latest", "reduce": "median", "window": {"lastN": 100}, "from": {"keyValue": {"key": "v"}}},
    ]);
    let kept = measured(&metrics, &[2_000, 50]);
    let of = |metrics: &[Metric]| -> Vec<_> {
        metrics.iter().map(|metric| (metric.value, metric.n, metric.samples.len(), metric.stats.is_some())).collect()
    };
    assert_eq!(
        of(&kept),
        [(Some(2_000.0), 2_000, 2_000, true), (Some(1_000.5), 2_000, 2_000, true), (Some(1_950.5), 100, 100, true)]
    );
    assert!(kept.iter().all(|metric| metric.reason.is_none()));
    // It is the second log that has too many, after the first was read.
    let let_go = measured(&metrics, &[2_000, 9_000]);
    assert_eq!(
        of(&let_go),
        [(Some(2_000.0), 2_000, 0, false), (None, 2_000, 0, false), (Some(1_950.5), 100, 100, true)]
    );
    assert_text(
        let_go[0].reason.clone().unwrap(),
        str! {"none of 2,000 values is kept: at most 5,000 are kept for all logs of a run, or for a file, so there are no samples and no quantiles"},
    );
    assert_text(
        let_go[1].reason.clone().unwrap(),
        str! {"none of 2,000 values is kept: at most 5,000 are kept for all logs of a run, or for a file; choose fewer by `role`, `index` or `window`, or reduce them by `first`, `last`, `min`, `max`, `mean` or `sum`, which keep none"},
    );
    assert_eq!(let_go[2].reason, None);
}

#[test]
fn patterns_have_a_budget_together() {
    let read = |pattern: &str, count: u32| {
        let metric =
            |number| json!({"name": format!("m{number}"), "from": {"log": {"pattern": format!("{pattern}x{number}")}}});
        let metrics: Vec<_> = (0..count).map(metric).collect();
        Rules::read(&json!({"schemaVersion": 1, "benchmark": "x", "metrics": metrics, "checks": []}).to_string())
            .map(|rules| rules.metrics.len())
    };
    assert_eq!(read(r"(?P<value>[0-9.]+)", 300), Ok(300));
    assert_eq!(read(r"(?P<value>\w{20})", 3), Ok(3));
    assert_text(
        read(r"(?P<value>\w{150})", 300).unwrap_err(),
        str! {[r#"the patterns of the metrics are too large together: they compile to about 152,656,990 instructions, of 2,000,000 at most; `\w`, `\d` and `\pL` hold all alphabets: write `[0-9a-z_]{32}` or `(?-u:\w){32}` instead of `\w{32}`, `\S+` where the length does not matter, and smaller counts"#]},
    );
    assert_text(
        read(r"(?P<value>(?:\w{1000}){1000})", 1).unwrap_err(),
        str! {[r#"the patterns of the metrics are too large together: they compile to about 3,389,001,505 instructions, of 2,000,000 at most; `\w`, `\d` and `\pL` hold all alphabets: write `[0-9a-z_]{32}` or `(?-u:\w){32}` instead of `\w{32}`, `\S+` where the length does not matter, and smaller counts"#]},
    );
}
