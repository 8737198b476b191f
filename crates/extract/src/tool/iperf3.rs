//! iperf3's JSON: `iperf3 -J`.
//!
//! What was received counts; what was sent may still have been in buffers. The intervals are samples of the sender's rate,
//! without those that `--omit` leaves out. Jitter and loss are of UDP only. With `--bidir` the way back has names with
//! `reverse_`. A run that failed has an `error` and an empty `end`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Document, Headline, Report, Tool};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::{Better, Reduce};

pub(super) const TOOL: Tool = Tool {
    name: "iperf3",
    reads: "the JSON of `-J`",
    source: "https://github.com/esnet/iperf/blob/master/src/iperf_api.c",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("start").is_some() || root.get("end").is_some(), read }),
    metrics: None,
    renamed: None,
};

const INTERVALS: &[Headline] = &[Headline::of("_median", Reduce::Median)];

const SUMS: [(&str, &str, &str, Option<Better>); 11] = [
    ("received_bits_per_second", "/end/sum_received/bits_per_second", "bit/s", Some(Better::Higher)),
    ("sent_bits_per_second", "/end/sum_sent/bits_per_second", "bit/s", None),
    ("retransmits", "/end/sum_sent/retransmits", "1", Some(Better::Lower)),
    (
        "reverse_received_bits_per_second",
        "/end/sum_received_bidir_reverse/bits_per_second",
        "bit/s",
        Some(Better::Higher),
    ),
    ("reverse_retransmits", "/end/sum_sent_bidir_reverse/retransmits", "1", Some(Better::Lower)),
    ("reverse_sent_bits_per_second", "/end/sum_sent_bidir_reverse/bits_per_second", "bit/s", None),
    ("jitter", "/end/sum/jitter_ms", "ms", Some(Better::Lower)),
    ("lost_percent", "/end/sum/lost_percent", "%", Some(Better::Lower)),
    ("lost_packets", "/end/sum/lost_packets", "1", Some(Better::Lower)),
    ("cpu_local", "/end/cpu_utilization_percent/host_total", "%", None),
    ("cpu_remote", "/end/cpu_utilization_percent/remote_total", "%", None),
];

fn read(root: &Value, report: &mut Report) {
    if let Some(error) = root.get("error").and_then(Value::as_str) {
        report.invalid(format!("iperf3 says: {error}"));
    }
    for (name, pointer, unit, better) in SUMS {
        if let Some(value) = root.pointer(pointer) {
            report.push_one(name, unit, better, reading(value));
        }
    }
    // Up to 3.9, UDP has one sum: of the sender, with what the receiver missed.
    let is_sum =
        root.pointer("/end/sum_received").is_none() && root.pointer("/end/sum/sender") == Some(&Value::Bool(true));
    if let Some(sum) = root.pointer("/end/sum").filter(|_| is_sum) {
        let of = |key: &str| reading(sum.get(key).unwrap_or(&Value::Null));
        report.push_one("sent_bits_per_second", "bit/s", None, of("bits_per_second"));
        let received = match of("lost_percent").value() {
            Some(lost) => of("bits_per_second").map(|sent| sent * (1.0 - lost / 100.0)),
            None => of("lost_percent"),
        };
        report.push_one("received_bits_per_second", "bit/s", Some(Better::Higher), received);
    }
    let sums = list(root, "intervals").iter().filter_map(|interval| interval.get("sum"));
    for sum in sums.filter(|sum| sum.get("omitted").and_then(Value::as_bool) != Some(true)) {
        if let Some(rate) = sum.get("bits_per_second") {
            let name = "interval_bits_per_second";
            report.push_named(name, "bit/s", Some(Better::Higher), &BTreeMap::new(), INTERVALS, reading(rate));
        }
    }
    if root.pointer("/end/sum_received").is_none() && !is_sum {
        report.invalid("the report has no sums: the run did not end");
    }
}
