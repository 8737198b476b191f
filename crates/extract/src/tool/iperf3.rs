//! iperf3's JSON: `iperf3 -J`.
//!
//! What was received counts; what was sent may still have been in buffers. The intervals are samples of the sender's rate,
//! without those that `--omit` leaves out. Jitter and loss are of UDP only. With `--bidir` the way back has names with
//! `reverse_`. A run that failed has an `error` and an empty `end`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Headline, Report, Sample, Tool};
use crate::json_document::{list, number};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "iperf3",
    reads: "the JSON of `-J`",
    source: "https://github.com/esnet/iperf/blob/master/src/iperf_api.c",
    lines: None,
    document: Some(read),
    metrics: None,
};

const INTERVALS: &[Headline] = &[Headline { suffix: "_median", reduce: Reduce::Median }];

const SUMS: [(&str, &str, &str, Option<Better>); 10] = [
    ("received_bits_per_second", "/end/sum_received/bits_per_second", "bit/s", Some(Better::Higher)),
    ("sent_bits_per_second", "/end/sum_sent/bits_per_second", "bit/s", None),
    ("retransmits", "/end/sum_sent/retransmits", "1", Some(Better::Lower)),
    (
        "reverse_received_bits_per_second",
        "/end/sum_received_bidir_reverse/bits_per_second",
        "bit/s",
        Some(Better::Higher),
    ),
    ("reverse_sent_bits_per_second", "/end/sum_sent_bidir_reverse/bits_per_second", "bit/s", None),
    ("jitter", "/end/sum/jitter_ms", "ms", Some(Better::Lower)),
    ("lost_percent", "/end/sum/lost_percent", "%", Some(Better::Lower)),
    ("lost_packets", "/end/sum/lost_packets", "1", Some(Better::Lower)),
    ("cpu_local", "/end/cpu_utilization_percent/host_total", "%", None),
    ("cpu_remote", "/end/cpu_utilization_percent/remote_total", "%", None),
];

fn read(text: &str, report: &mut Report) {
    let root = report.document(text, |root| root.get("start").is_some() || root.get("end").is_some());
    if let Some(error) = root.get("error").and_then(Value::as_str) {
        report.invalid(format!("iperf3 says: {error}"));
    }
    for (name, pointer, unit, better) in SUMS {
        if let Some(value) = root.pointer(pointer).and_then(number) {
            report.push_one(name, unit, better, value);
        }
    }
    let sums = list(&root, "intervals").iter().filter_map(|interval| interval.get("sum"));
    for sum in sums.filter(|sum| sum.get("omitted").and_then(Value::as_bool) != Some(true)) {
        if let Some(rate) = sum.get("bits_per_second").and_then(number) {
            let name = "interval_bits_per_second";
            report.push_named(name, "bit/s", Some(Better::Higher), &BTreeMap::new(), INTERVALS, Sample::of(rate));
        }
    }
    if root.pointer("/end/sum_received").is_none() {
        report.invalid("the report has no sums: the run did not end");
    }
}
