//! fio's JSON report.
//!
//! A direction in which nothing was done has zeros everywhere and no metric here. Several jobs without `group_reporting`
//! are told apart by the label `job`; clones of one (`numjobs`) have one name, and their place in the file too as `clone`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{ONE, Report, Sample, Tool, ToolMetric};
use crate::json_document::{list, number};
use kubebench_format::spec::v1::metric::Better;

pub(super) const TOOL: Tool = Tool {
    name: "fio",
    reads: "the JSON of `--output-format=json`, also after warnings",
    source: "https://fio.readthedocs.io/en/latest/fio_doc.html#json-output",
    lines: None,
    document: Some(read),
    metrics: Some(|| METRICS.iter().map(|(.., metric)| metric).collect()),
};

const fn metric(name: &'static str, unit: &'static str, better: Better) -> ToolMetric {
    ToolMetric { name, unit, better: Some(better), headlines: ONE }
}

/// Direction, and pointer into it, of every metric.
static METRICS: [(&str, &str, ToolMetric); 15] = [
    ("read", "/iops", metric("read_iops", "iops", Better::Higher)),
    ("read", "/bw_bytes", metric("read_bw_bytes", "B/s", Better::Higher)),
    ("read", "/clat_ns/mean", metric("read_clat_mean", "ns", Better::Lower)),
    ("read", "/clat_ns/percentile/50.000000", metric("read_clat_p50", "ns", Better::Lower)),
    ("read", "/clat_ns/percentile/99.000000", metric("read_clat_p99", "ns", Better::Lower)),
    ("write", "/iops", metric("write_iops", "iops", Better::Higher)),
    ("write", "/bw_bytes", metric("write_bw_bytes", "B/s", Better::Higher)),
    ("write", "/clat_ns/mean", metric("write_clat_mean", "ns", Better::Lower)),
    ("write", "/clat_ns/percentile/50.000000", metric("write_clat_p50", "ns", Better::Lower)),
    ("write", "/clat_ns/percentile/99.000000", metric("write_clat_p99", "ns", Better::Lower)),
    ("trim", "/iops", metric("trim_iops", "iops", Better::Higher)),
    ("trim", "/bw_bytes", metric("trim_bw_bytes", "B/s", Better::Higher)),
    ("trim", "/clat_ns/mean", metric("trim_clat_mean", "ns", Better::Lower)),
    ("trim", "/clat_ns/percentile/50.000000", metric("trim_clat_p50", "ns", Better::Lower)),
    ("trim", "/clat_ns/percentile/99.000000", metric("trim_clat_p99", "ns", Better::Lower)),
];

fn read(text: &str, report: &mut Report) {
    let root = report.document(text, |root| root.get("jobs").is_some() || root.get("client_stats").is_some());
    // The server's jobs stand in `client_stats`, with one that adds up all of them.
    let jobs = if root.get("jobs").is_some() { list(&root, "jobs") } else { list(&root, "client_stats") };
    if jobs.is_empty() {
        report.invalid("the report names no job");
    }
    let name_of = |job: &Value| job.get("jobname").and_then(Value::as_str).unwrap_or_default().to_owned();
    let names: Vec<String> = jobs.iter().map(name_of).collect();
    for (index, (job, name)) in jobs.iter().zip(&names).enumerate() {
        let mut labels = BTreeMap::new();
        if jobs.len() > 1 {
            labels.insert("job".to_owned(), name.clone());
        }
        if names.iter().filter(|other| *other == name).count() > 1 {
            labels.insert("clone".to_owned(), index.to_string());
        }
        if let Some(error) = job.get("error").and_then(Value::as_i64).filter(|error| *error != 0) {
            report.invalid(format!("job `{name}` ended with error {error}"));
        }
        for (direction, pointer, metric) in &METRICS {
            let Some(part) = job.get(direction) else { continue };
            let is_idle = part.get("total_ios").and_then(Value::as_u64) == Some(0);
            if let Some(value) = part.pointer(pointer).and_then(number).filter(|_| !is_idle) {
                report.push_labeled(metric, &labels, Sample::of(value));
            }
        }
    }
}
