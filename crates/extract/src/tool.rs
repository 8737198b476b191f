//! The outputs of known tools, one file each.
//!
//! A parser says which metrics its tool reports and finds their values; windows, reductions, ranks and the handling of the
//! values are the engine's. Its `versions` say with which output its parser was tested.

mod aiperf;
mod bmf;
mod criterion;
mod deepspeed;
pub mod editor;
mod fio;
mod form;
mod github_action_custom;
mod go_bench;
mod google_benchmark;
mod guidellm;
mod hf_trainer;
mod horovod;
mod hyperfine;
mod inference_perf;
mod iperf3;
mod katib;
mod llmd_benchmark_report;
mod maxtext;
mod megatron;
mod metric;
mod mllog;
mod mlperf_loadgen;
mod nccl_tests;
mod nemo;
mod openmetrics;
mod page;
mod pytest_benchmark;
mod python_literal;
mod pytorch_imagenet;
mod pytorch_mnist;
pub mod renamed;
mod report;
mod serving_block;
mod sglang_bench_stdout;
mod sysbench;
mod tf_cnn_benchmarks;
mod torchtitan;
mod vllm_serve_stdout;
mod vllm_throughput_stdout;
mod wrk;

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::line::Line;
use super::number;
use super::series::{Reading, Sample};

use kubebench_format::spec::v1::metric::Caution;
pub use metric::{Headline, Over, ToolLabel, ToolMetric};
use metric::{LAST, LAST_AND_MEDIAN, ONE, higher, label, lower, plain};
pub use page::{document, list};
pub use report::{Cautioned, Found, Report, Requests};

/// The tools, by name.
pub const TOOLS: &[Tool] = &[
    aiperf::TOOL,
    bmf::TOOL,
    criterion::TOOL,
    deepspeed::TOOL,
    fio::TOOL,
    github_action_custom::TOOL,
    go_bench::TOOL,
    google_benchmark::TOOL,
    guidellm::TOOL,
    hf_trainer::TOOL,
    horovod::TOOL,
    hyperfine::TOOL,
    inference_perf::TOOL,
    iperf3::TOOL,
    katib::TOOL,
    llmd_benchmark_report::TOOL,
    maxtext::TOOL,
    megatron::TOOL,
    mllog::TOOL,
    mlperf_loadgen::TOOL,
    nccl_tests::TOOL,
    nemo::TOOL,
    openmetrics::TOOL,
    pytest_benchmark::TOOL,
    pytorch_imagenet::TOOL,
    pytorch_mnist::TOOL,
    sglang_bench_stdout::TOOL,
    sysbench::TOOL,
    tf_cnn_benchmarks::TOOL,
    torchtitan::TOOL,
    vllm_serve_stdout::TOOL,
    vllm_throughput_stdout::TOOL,
    wrk::TOOL,
];

/// A tool whose output can be read.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The name in specs, in kebab case.
    pub name: &'static str,
    /// What is read, for people: `the JSON of --output-format=json`.
    pub reads: &'static str,
    /// Where the format is described, or the source that prints it.
    pub source: &'static str,
    /// How lines of its log are read, if it has a log.
    pub lines: Option<Lines>,
    /// How a document of its is read, if it writes documents.
    pub document: Option<Document>,
    /// Which versions of the tool samples and captures of it prove that are read, for people.
    pub versions: &'static str,
    /// All metrics that it can report. Of several whose form a name has, the first is meant.
    pub metrics: fn() -> Vec<&'static ToolMetric>,
    /// The labels that distinguish metrics of one name, where there may be several.
    pub labels: &'static [ToolLabel],
    /// How a spec requests some of them: `{name: fio, file: fio.json, metrics: [read_iops]}`.
    pub example: &'static str,
    /// What it calls its failed attempts, if it counts them: `requests`.
    pub attempts: Option<&'static str>,
    /// What it may report about its own run that makes its numbers less trustworthy.
    pub cautions: &'static [Caution],
    /// The current names of metrics that an older version recorded under other names.
    pub renamed: Option<fn(&renamed::Old<'_>) -> Option<renamed::Renamed>>,
}

/// How a document is read.
#[derive(Clone, Copy, Debug)]
pub enum Document {
    /// JSON: each document in the output that `is_it` is a report of the tool.
    Json {
        /// Whether a document is what the tool writes.
        is_it: fn(&Json) -> bool,
        read: fn(&Json, &mut Report),
    },
    /// What else the tool writes: the whole text, from its first `{` or `[` on.
    Text(fn(&str, &mut Report)),
}

/// How lines of a log are read.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    /// Texts of which a line must hold one to be worth reading; none: every line is.
    pub needles: &'static [&'static str],
    /// Makes a parser for one log.
    pub parser: fn() -> Box<dyn LineParser>,
}

/// Reads the lines of one log, in order.
pub trait LineParser: Send {
    /// Reads a line that holds one of the needles.
    fn line(&mut self, line: &Line<'_>, report: &mut Report);

    /// Is called when the log has ended.
    fn finish(&mut self, _report: &mut Report) {}
}

/// Reads `text`, which is where a value is expected on `line`.
fn read_on(line: &Line<'_>, step: Option<u64>, text: &str) -> Reading {
    take_on(line, step, number::parse(text))
}

/// Takes a number that was read on `line`, or why it could not be.
fn take_on(line: &Line<'_>, step: Option<u64>, read: Result<f64, String>) -> Reading {
    let reading = Reading::of(line.place(step), read);
    if line.is_whole { reading } else { reading.of_open_line() }
}

/// Reads `text`, which a tool prints with `decimals` digits after the point: with fewer it was cut off.
fn fixed_on(line: &Line<'_>, step: Option<u64>, text: &str, decimals: usize) -> Reading {
    let read = number::fixed(text, decimals).ok_or_else(|| {
        let is_short = |_| format!("`{text}` was cut off: it is printed with {decimals} decimals");
        number::parse(text).map_or_else(|reason| reason, is_short)
    });
    take_on(line, step, read)
}

/// Makes the sample of a value that is on `line`.
fn sample_on(line: &Line<'_>, step: Option<u64>, value: f64) -> Sample {
    Sample { value, ..line.place(step) }
}

impl Tool {
    /// Returns whether all names of its metrics are known before it runs.
    pub fn is_fixed(&self) -> bool {
        (self.metrics)().iter().all(|metric| !metric.is_open())
    }

    /// Returns the names by which metrics can be requested, except those of which the output provides a part.
    pub fn fixed_names(&self) -> Vec<String> {
        (self.metrics)().iter().filter(|metric| !metric.is_open()).flat_map(|metric| metric.names()).collect()
    }

    /// Returns whether a metric can be requested as `name`.
    pub fn reports(&self, name: &str) -> bool {
        (self.metrics)().iter().any(|metric| metric.is_asked_by(name))
    }

    /// Returns the unit of the metric `name`, unless the output declares it.
    pub fn unit_of(&self, name: &str) -> Option<&'static str> {
        (self.metrics)().into_iter().find(|metric| metric.is_asked_by(name))?.unit
    }

    /// Returns what a metric is called now that an older version called `old`.
    pub fn name_now(&self, old: &str) -> Option<String> {
        let labels = BTreeMap::new();
        let now = self.renamed?(&renamed::Old { name: old, labels: &labels, document: None })?;
        let (renamed::Renamed::To { name, .. } | renamed::Renamed::Unknown { name, .. }) = now;
        Some(name).filter(|name| name != old && self.reports(name))
    }

    /// Returns whether a metric is called `name` in results when all are requested.
    pub fn brings(&self, name: &str) -> bool {
        (self.metrics)().iter().any(|metric| metric.is_brought_as(name))
    }
}

/// Returns the metric of `metrics` that is called `name`, or has that form.
fn find(metrics: &'static [ToolMetric], name: &str) -> Option<&'static ToolMetric> {
    metrics.iter().find(|metric| metric.fits(name))
}

/// Returns the tool of that name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
