//! iperf3's JSON: `iperf3 -J`.
//!
//! What was received counts; what was sent may still have been in buffers. The intervals are samples of the sender's rate,
//! without those that `--omit` leaves out. Jitter and loss are of UDP only. With `--bidir` the way back has names with
//! `reverse_`. A run that failed has an `error` and an empty `end`.

use serde_json::Value;

use super::{Document, Headline, Report, Tool, ToolMetric, higher, lower, plain};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "iperf3",
    reads: "the JSON of `-J`",
    source: "https://github.com/esnet/iperf/blob/master/src/iperf_api.c",
    lines: None,
    document: Some(Document::Json { is_it: |root| root.get("start").is_some() || root.get("end").is_some(), read }),
    versions: "3.9 (UDP), 3.12",
    metrics: || [&RECEIVED, &SENT, &INTERVAL].into_iter().chain(SUMS.iter().map(|(_, metric)| metric)).collect(),
    labels: &[],
    example: "{name: iperf3, file: iperf3.json, metrics: [received_bits_per_second]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

const INTERVALS: &[Headline] = &[Headline::of("_median", Reduce::Median)];

static INTERVAL: ToolMetric =
    higher("interval_bits_per_second", "bit/s", "what was sent a second, interval by interval").of(INTERVALS);
static RECEIVED: ToolMetric = higher("received_bits_per_second", "bit/s", "what was received a second");
static SENT: ToolMetric = plain("sent_bits_per_second", "bit/s", "what was sent a second");

/// Where in the report each of the others is.
static SUMS: [(&str, ToolMetric); 9] = [
    ("/end/sum_sent/retransmits", lower("retransmits", "1", "retransmitted segments")),
    (
        "/end/sum_received_bidir_reverse/bits_per_second",
        higher(
            "reverse_received_bits_per_second",
            "bit/s",
            "what was received a second in the reverse direction, with `--bidir`",
        ),
    ),
    (
        "/end/sum_sent_bidir_reverse/retransmits",
        lower("reverse_retransmits", "1", "retransmitted segments in the reverse direction"),
    ),
    (
        "/end/sum_sent_bidir_reverse/bits_per_second",
        plain("reverse_sent_bits_per_second", "bit/s", "what was sent a second in the reverse direction"),
    ),
    ("/end/sum/jitter_ms", lower("jitter", "ms", "jitter, of UDP")),
    ("/end/sum/lost_percent", lower("lost_percent", "%", "datagrams that were lost, of UDP")),
    ("/end/sum/lost_packets", lower("lost_packets", "1", "datagrams that were lost, of UDP")),
    ("/end/cpu_utilization_percent/host_total", plain("cpu_local", "%", "use of the CPU on this host")),
    ("/end/cpu_utilization_percent/remote_total", plain("cpu_remote", "%", "use of the CPU on the other host")),
];

fn read(root: &Value, report: &mut Report) {
    if let Some(error) = root.get("error").and_then(Value::as_str) {
        report.invalid(format!("iperf3 says: {error}"));
    }
    let rates = [("/end/sum_received/bits_per_second", &RECEIVED), ("/end/sum_sent/bits_per_second", &SENT)];
    for (pointer, metric) in rates.into_iter().chain(SUMS.iter().map(|(pointer, metric)| (*pointer, metric))) {
        if let Some(value) = root.pointer(pointer) {
            report.push(metric, reading(value));
        }
    }
    // Up to 3.9, UDP has one sum: of the sender, with what the receiver missed.
    let is_sum =
        root.pointer("/end/sum_received").is_none() && root.pointer("/end/sum/sender") == Some(&Value::Bool(true));
    if let Some(sum) = root.pointer("/end/sum").filter(|_| is_sum) {
        let of = |key: &str| reading(sum.get(key).unwrap_or(&Value::Null));
        report.push(&SENT, of("bits_per_second"));
        let received = match of("lost_percent").value() {
            Some(lost) => of("bits_per_second").map(|sent| sent * (1.0 - lost / 100.0)),
            None => of("lost_percent"),
        };
        report.push(&RECEIVED, received);
    }
    let sums = list(root, "intervals").iter().filter_map(|interval| interval.get("sum"));
    for sum in sums.filter(|sum| sum.get("omitted").and_then(Value::as_bool) != Some(true)) {
        if let Some(rate) = sum.get("bits_per_second") {
            report.push(&INTERVAL, reading(rate));
        }
    }
    if root.pointer("/end/sum_received").is_none() && !is_sum {
        report.invalid("the report has no sums: the run did not end");
    }
}
