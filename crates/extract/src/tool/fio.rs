//! fio's JSON report.
//!
//! A direction in which nothing was done has zeros everywhere and no metric here. The label `job` is the name of the job;
//! clones of one (`numjobs` without `group_reporting`) have a number too, from 0, as the label `clone`.

use std::collections::BTreeMap;

use serde_json::Value;

use super::renamed::{Old, Renamed};
use super::{Document, Report, Tool, ToolMetric, higher, label, lower};
use crate::json_document::{list, reading};
use kubebench_format::spec::v1::metric::Caution;

pub(super) const TOOL: Tool = Tool {
    name: "fio",
    reads: "the JSON of `--output-format=json`, also after warnings",
    source: "https://fio.readthedocs.io/en/latest/fio_doc.html#json-output",
    lines: None,
    document: Some(Document::Json {
        is_it: |root| root.get("jobs").is_some() || root.get("client_stats").is_some(),
        read,
    }),
    versions: "2.17, 3.33",
    metrics: || METRICS.as_flattened().iter().map(|row| &row.metric).collect(),
    labels: &[
        label("job", "the name of the job"),
        label("clone", "its number among those of `numjobs`, from 0, without `group_reporting`"),
    ],
    example: "{name: fio, file: fio.json, metrics: [read_iops, read_clat_p99]}",
    attempts: None,
    cautions: &[Caution::QueueDepthCapped],
    renamed: Some(renamed),
};

/// A metric of a direction, and where it is in the report.
struct Row {
    direction: &'static str,
    /// The pointer into the direction's part.
    pointer: &'static str,
    /// The pointer in reports of fio 2, and what its value is multiplied by.
    older: Option<(&'static str, f64)>,
    metric: ToolMetric,
}

const fn row(
    direction: &'static str,
    pointer: &'static str,
    older: Option<(&'static str, f64)>,
    metric: ToolMetric,
) -> Row {
    Row { direction, pointer, older, metric }
}

/// fio 2 gives rates in KiB/s, and times in microseconds.
const KIB: f64 = 1024.0;
const US: f64 = 1000.0;
const P50: &str = "/clat_ns/percentile/50.000000";
const P99: &str = "/clat_ns/percentile/99.000000";
const OLD_P50: Option<(&str, f64)> = Some(("/clat/percentile/50.000000", US));
const OLD_P99: Option<(&str, f64)> = Some(("/clat/percentile/99.000000", US));
const OLD_MEAN: Option<(&str, f64)> = Some(("/clat/mean", US));
const OLD_BW: Option<(&str, f64)> = Some(("/bw", KIB));
const MEAN: &str = "mean latency from submission to completion";
/// Percentiles of whole latencies, with `lat_percentiles`.
const LAT_P50: &str = "/lat_ns/percentile/50.000000";
const LAT_P99: &str = "/lat_ns/percentile/99.000000";

/// The metrics of one direction.
macro_rules! rows {
    ($direction:literal) => {
        [
            row($direction, "/iops", None, higher(concat!($direction, "_iops"), "iops", "operations a second")),
            row($direction, "/bw_bytes", OLD_BW, higher(concat!($direction, "_bw_bytes"), "B/s", "bandwidth")),
            row($direction, "/clat_ns/mean", OLD_MEAN, lower(concat!($direction, "_clat_mean"), "ns", MEAN)),
            row($direction, P50, OLD_P50, lower(concat!($direction, "_clat_p50"), "ns", "median of the same")),
            row($direction, P99, OLD_P99, lower(concat!($direction, "_clat_p99"), "ns", "99th percentile of the same")),
            row($direction, LAT_P50, None, lower(concat!($direction, "_lat_p50"), "ns", "median of whole latencies")),
            row($direction, LAT_P99, None, lower(concat!($direction, "_lat_p99"), "ns", "99th percentile of the same")),
        ]
    };
}

/// All metrics.
static METRICS: [[Row; 7]; 3] = [rows!("read"), rows!("write"), rows!("trim")];

/// Returns the jobs. Those of a server are in `client_stats`, with one that adds up all of them.
fn jobs_of(root: &Value) -> &[Value] {
    if root.get("jobs").is_some() { list(root, "jobs") } else { list(root, "client_stats") }
}

fn names_of(jobs: &[Value]) -> Vec<String> {
    let name_of = |job: &Value| job.get("jobname").and_then(Value::as_str).unwrap_or_default().to_owned();
    jobs.iter().map(name_of).collect()
}

/// Returns the labels that distinguish the job at a place from others.
fn labels_of(index: usize, names: &[String]) -> BTreeMap<String, String> {
    let Some((name, before)) = names.get(index).zip(names.get(..index)) else { return BTreeMap::new() };
    let of_name = |names: &[String]| names.iter().filter(|other| *other == name).count();
    let clone = Some(of_name(before)).filter(|_| of_name(names) > 1);
    let clone = clone.map(|number| ("clone".to_owned(), number.to_string()));
    [("job".to_owned(), name.clone())].into_iter().chain(clone).collect()
}

/// Version 0.1 had the label only where there were several jobs, and counted clones over all of them.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    let names = names_of(old.document.map(jobs_of).unwrap_or_default());
    let Some(clone) = old.labels.get("clone") else {
        return old.with(&["job"], names.first().filter(|_| names.len() == 1).map(String::as_str));
    };
    let labels = labels_of(clone.parse().ok()?, &names);
    let name = old.name.to_owned();
    Some(if labels.is_empty() {
        Renamed::Unknown { name, labels: &["job", "clone"] }
    } else {
        Renamed::To { name, labels }
    })
}

fn read(root: &Value, report: &mut Report) {
    let jobs = jobs_of(root);
    if jobs.is_empty() {
        report.invalid("the report names no job");
    }
    if let Some(line) = report.before().lines().find(|line| line.starts_with("fio: terminating on signal")) {
        let reason = format!("the jobs did not finish: `{line}`");
        report.invalid(reason);
    }
    if report
        .before()
        .lines()
        .any(|line| line.starts_with("note: ") && line.contains("queue depth will be capped at 1"))
    {
        let said = "`iodepth` has no effect with a synchronous engine: the depth of the queue was 1";
        report.caution(Caution::QueueDepthCapped, said);
    }
    let names = names_of(jobs);
    for (index, (job, name)) in jobs.iter().zip(&names).enumerate() {
        let labels = labels_of(index, &names);
        if let Some(error) = job.get("error").and_then(Value::as_i64).filter(|error| *error != 0) {
            report.invalid(format!("job `{name}` ended with error {error}"));
        }
        for Row { direction, pointer, older, metric } in METRICS.as_flattened() {
            let Some(part) = job.get(direction) else { continue };
            // fio 2 does not count operations.
            let done = ["total_ios", "io_bytes"].iter().find_map(|key| part.get(key)?.as_u64());
            let newer = || Some(reading(part.pointer(pointer)?));
            let older =
                || older.and_then(|(older, scale)| Some(reading(part.pointer(older)?).map(|value| value * scale)));
            if let Some(value) = newer().or_else(older).filter(|_| done != Some(0)) {
                report.push_labeled(metric, &labels, value);
            }
        }
    }
}
