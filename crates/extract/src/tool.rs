//! The outputs of known tools, one file each.
//!
//! A parser says which metrics its tool reports and finds their values; windows, reductions, ranks and what becomes of the
//! values are the engine's. A tool is here only when a parser was held against output of the real tool.

mod aiperf;
mod bmf;
mod criterion;
mod deepspeed;
mod direction;
mod fio;
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
mod mllog;
mod mlperf_loadgen;
mod nccl_tests;
mod nemo;
mod openmetrics;
mod pytest_benchmark;
mod python_literal;
mod pytorch_imagenet;
mod pytorch_mnist;
mod serving_block;
mod sglang_bench_stdout;
mod sysbench;
mod tf_cnn_benchmarks;
mod torchtitan;
mod vllm_serve_stdout;
mod vllm_throughput_stdout;
mod wrk;

use std::collections::BTreeMap;

use super::json_document::{self, Documents};
use super::line::Line;
use super::series::{Sample, Series, Window};
use kubebench_format::spec::v1::metric::{Better, Reduce};
use kubebench_syntax::invariant::Invariant as _;

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
    /// How a document of its is read, if it writes documents: the whole text, from its first `{` or `[` on.
    pub document: Option<fn(&str, &mut Report)>,
    /// All metrics that it can report, where none takes its name from the output.
    pub metrics: Option<fn() -> Vec<&'static ToolMetric>>,
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

    /// Is told that the log ended.
    fn finish(&mut self, _report: &mut Report) {}
}

/// A metric that a tool always reports under the same name.
#[derive(Clone, Copy, Debug)]
pub struct ToolMetric {
    /// The name of the series, such as `tps`.
    pub name: &'static str,
    /// The unit; `1` for a pure number.
    pub unit: &'static str,
    /// Which way is better, where that is beyond doubt.
    pub better: Option<Better>,
    /// What it becomes when nobody asks for another reduction.
    pub headlines: &'static [Headline],
}

impl ToolMetric {
    /// Returns the names by which the metric can be asked for: that of each headline, and that of the series.
    pub fn names(&self) -> impl Iterator<Item = String> {
        let series = self.headlines.first().filter(|headline| !headline.suffix.is_empty()).map(|_| "");
        let suffixes = self.headlines.iter().map(|headline| headline.suffix).chain(series);
        suffixes.map(|suffix| format!("{}{suffix}", self.name))
    }
}

/// One way in which a series becomes a metric of its own: `tps` with `_last` is `tps_last`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headline {
    /// What is added to the name; nothing for metrics that have one value.
    pub suffix: &'static str,
    /// How the values become one.
    pub reduce: Reduce,
}

/// For a metric with one value; of several, such as after a restart, the last.
pub(crate) const ONE: &[Headline] = &[Headline { suffix: "", reduce: Reduce::Last }];
/// For a series whose last value speaks for it.
pub(crate) const LAST: &[Headline] = &[Headline { suffix: "_last", reduce: Reduce::Last }];
/// For a series of times or rates of single steps.
pub(crate) const LAST_AND_MEDIAN: &[Headline] =
    &[Headline { suffix: "_last", reduce: Reduce::Last }, Headline { suffix: "_median", reduce: Reduce::Median }];

/// A metric found in a tool's output.
#[derive(Clone, Debug)]
pub struct Found {
    /// The name of the series.
    pub name: String,
    /// The unit as the tool declares it.
    pub unit: String,
    /// Which way is better, where the tool says.
    pub better: Option<Better>,
    /// What tells it from others of its name: a rate, a job, a parameter.
    pub labels: BTreeMap<String, String>,
    /// What it becomes when nobody asks for another reduction.
    pub headlines: &'static [Headline],
    /// The values.
    pub series: Series,
}

/// More reasons of one output say no more.
const MAX_REASONS: usize = 100;

/// What a tool's output says.
#[derive(Clone, Debug, Default)]
pub struct Report {
    window: Window,
    found: Vec<Found>,
    places: BTreeMap<String, BTreeMap<BTreeMap<String, String>, usize>>,
    invalid: Vec<String>,
    withholds_document: bool,
    /// The line at which the document begins.
    first_line: usize,
}

impl Report {
    /// Makes an empty report whose series count the values inside `window`.
    pub(crate) fn new(window: Window) -> Self {
        Self { window, first_line: 1, ..Self::default() }
    }

    /// Says at which line the document begins.
    pub(crate) fn begins_at(&mut self, line: usize) {
        self.first_line = line;
    }

    /// Takes in a value of `metric`.
    pub(crate) fn push(&mut self, metric: &'static ToolMetric, sample: Sample) {
        self.push_labeled(metric, &BTreeMap::new(), sample);
    }

    /// Takes in a value of `metric`, of which there are several that `labels` tell apart.
    pub(crate) fn push_labeled(
        &mut self,
        metric: &'static ToolMetric,
        labels: &BTreeMap<String, String>,
        sample: Sample,
    ) {
        let ToolMetric { name, unit, better, headlines } = *metric;
        self.entry(name, unit, better, labels, headlines).push(sample);
    }

    /// Takes in a value of a metric whose name the output brings.
    pub(crate) fn push_named(
        &mut self,
        name: &str,
        unit: &str,
        better: Option<Better>,
        labels: &BTreeMap<String, String>,
        headlines: &'static [Headline],
        sample: Sample,
    ) {
        self.entry(name, unit, better, labels, headlines).push(sample);
    }

    /// Takes in the one value of a metric whose name the output brings.
    pub(crate) fn push_one(&mut self, name: &str, unit: &str, better: Option<Better>, value: f64) {
        self.push_named(name, unit, better, &BTreeMap::new(), ONE, Sample::of(value));
    }

    /// Says that by the tool's own word, or by what it must hold, the run does not count.
    pub(crate) fn invalid(&mut self, reason: impl Into<String>) {
        let reason = reason.into();
        if self.invalid.len() < MAX_REASONS && !self.invalid.contains(&reason) {
            self.invalid.push(reason);
        }
    }

    /// Reads the JSON documents in `text`; a text that is cut off, or is none, does not count.
    fn documents(&mut self, text: &str) -> Documents {
        let found = json_document::documents_from(text, self.first_line);
        if let Some(flaw) = &found.flaw {
            self.invalid(flaw.as_str());
        }
        found
    }

    /// Reads the JSON document in `text`; of several the last that is what the tool writes.
    fn document(&mut self, text: &str, is_it: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        self.documents(text).last(is_it)
    }

    /// Says that the document must not be kept beside the metrics: it may hold secrets.
    pub(crate) fn withhold_document(&mut self) {
        self.withholds_document = true;
    }

    /// Returns true when the document must not be kept.
    pub(crate) fn withholds_document(&self) -> bool {
        self.withholds_document
    }

    /// Returns what was found, in the order of its first value.
    pub fn found(&self) -> &[Found] {
        &self.found
    }

    /// Returns why the run does not count, as far as the tool says so.
    pub fn reasons(&self) -> &[String] {
        &self.invalid
    }

    fn entry(
        &mut self,
        name: &str,
        unit: &str,
        better: Option<Better>,
        labels: &BTreeMap<String, String>,
        headlines: &'static [Headline],
    ) -> &mut Series {
        let known = self.places.get(name).and_then(|places| places.get(labels)).copied();
        let index = known.unwrap_or_else(|| {
            self.found.push(Found {
                name: name.to_owned(),
                unit: unit.to_owned(),
                better,
                labels: labels.clone(),
                headlines,
                // A window is about a series; what a tool reports once has none.
                series: Series::new(if headlines == ONE { Window::All } else { self.window }),
            });
            let index = self.found.len() - 1;
            self.places.entry(name.to_owned()).or_default().insert(labels.clone(), index);
            index
        });
        &mut self.found.get_mut(index).expected("the index that was found or made above").series
    }
}

/// Makes the sample of a value that stands on `line`.
fn sample_on(line: &Line<'_>, step: Option<u64>, value: f64) -> Sample {
    Sample { value, step, line: Some(line.number), rank: line.rank }
}

/// Returns the tool of that name.
pub fn tool(name: &str) -> Option<&'static Tool> {
    TOOLS.iter().find(|tool| tool.name == name)
}
