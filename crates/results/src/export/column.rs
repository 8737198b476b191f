//! The columns of a tidy table: one row is one metric of one run, with all that says what it is.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value as Json;

use kubebench_format::result::BenchmarkResult;
use kubebench_format::result::v1::{Metric, Stats};
use kubebench_syntax::digest::Canonical;
use kubebench_syntax::invariant::Invariant as _;

/// What a column holds; any cell may be empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Text,
    /// JSON, compact, its keys sorted.
    Json,
    /// A whole number from 0.
    Count,
    /// A double.
    Number,
    /// Yes or no.
    Flag,
    /// A time in UTC, to the second.
    Time,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell<'a> {
    /// There is none.
    Empty,
    /// Of [`Type::Text`].
    Text(Cow<'a, str>),
    /// Of [`Type::Json`].
    Json(String),
    /// Of [`Type::Count`].
    Count(u64),
    /// Of [`Type::Number`].
    Number(f64),
    /// Of [`Type::Flag`].
    Flag(bool),
    /// Of [`Type::Time`], as `2026-01-02T03:04:05.678Z`.
    Time(&'a str),
}

/// A column, and how it is read out of what a row is of.
pub struct Column<T: 'static> {
    /// Its name: no word that SQL keeps for itself.
    pub name: &'static str,
    /// What it holds.
    pub of: Type,
    /// What it says, for the documents.
    pub about: &'static str,
    /// Reads it.
    pub get: for<'a> fn(&'a T) -> Cell<'a>,
}

const fn column<T>(name: &'static str, of: Type, about: &'static str, get: for<'a> fn(&'a T) -> Cell<'a>) -> Column<T> {
    Column { name, of, about, get }
}

/// What a row says of its run.
pub const RUN: &[Column<BenchmarkResult>] = &[
    column("path", Type::Text, "place of the result below the results folder", |of| {
        Cell::Text(Cow::Owned(kubebench_format::result::path(of)))
    }),
    column("digest", Type::Text, "digest of the result", |of| text(&of.digest)),
    column("synthetic", Type::Flag, "whether nothing ran and the numbers were generated", |of| {
        Cell::Flag(of.synthetic)
    }),
    column("benchmark", Type::Text, "the benchmark", |of| text(&of.metadata.benchmark)),
    column("case_id", Type::Text, "identity of the case", |of| text(&of.metadata.case)),
    column("case_name", Type::Text, "the case as shown to people", |of| text(&of.metadata.case_name)),
    column("params", Type::Json, "the value of each axis, as the spec spells it", |of| {
        json(&of.metadata.spelled_params())
    }),
    column("labels", Type::Json, "the benchmark's labels", |of| json(&of.metadata.labels)),
    column("target", Type::Text, "the target whose settings applied", |of| text(&of.metadata.target)),
    column("run_id", Type::Text, "the run", |of| text(&of.run.id)),
    column("session", Type::Text, "the session: runs on the same machine in the same hour", |of| text(&of.run.session)),
    column("repeat", Type::Count, "from 1; warm-ups are counted separately", |of| Cell::Count(of.run.repeat.into())),
    column("attempt", Type::Count, "from 1", |of| Cell::Count(of.run.attempt.into())),
    column("warmup", Type::Flag, "marks a warm-up", |of| Cell::Flag(of.run.warmup)),
    column("started_by", Type::Text, "`manual`, `change`, `schedule`", |of| word(&of.run.reason)),
    column("started_at", Type::Time, "when the job was created", |of| Cell::Time(&of.run.started_at)),
    column("finished_at", Type::Time, "when it ended", |of| Cell::Time(&of.run.finished_at)),
    column("duration_seconds", Type::Number, "from the one to the other", |of| Cell::Number(of.run.duration_seconds)),
    column("queue_seconds", Type::Number, "time in the queue", |of| number(of.run.timings.queue_seconds)),
    column("startup_seconds", Type::Number, "time to start", |of| number(of.run.timings.startup_seconds)),
    column("run_seconds", Type::Number, "time that it ran", |of| number(of.run.timings.run_seconds)),
    column("ready_seconds", Type::Number, "time until a server answered", |of| number(of.run.timings.ready_seconds)),
    column("status", Type::Text, "marks what did not succeed", |of| word(&of.run.status)),
    column("reasons", Type::Json, "why it did not succeed", |of| json(&of.run.reasons)),
    column("restarts", Type::Count, "restarts of its containers", |of| Cell::Count(of.run.restarts.into())),
    column("spec_path", Type::Text, "the spec", |of| text(&of.source.spec_path)),
    column("spec_digest", Type::Text, "digest of the spec", |of| text(&of.source.spec_digest)),
    column("run_digest", Type::Text, "identity of what was executed", |of| text(&of.source.run_digest)),
    column("workload_digest", Type::Text, "the same, without images and repeats", |of| {
        maybe(of.source.workload_digest.as_ref())
    }),
    column("spec_run", Type::Count, "`spec.run`", |of| Cell::Count(of.source.run.into())),
    column(
        "source_commit",
        Type::Text,
        "the commit that was checked out, or that brought the run to the cluster",
        |of| maybe(of.source.commit.as_ref()),
    ),
    column("dirty", Type::Flag, "whether files differed from it", |of| of.source.dirty.map_or(Cell::Empty, Cell::Flag)),
    column("rules_digest", Type::Text, "digest of the extraction rules", |of| text(&of.source.rules_digest)),
    column("reparsed_of", Type::Text, "the result whose logs were read again", |of| {
        maybe(of.source.reparsed.as_ref().map(|reparsed| &reparsed.of))
    }),
    column("reparsed_version", Type::Text, "the Kubebench that wrote that result", |of| {
        maybe(of.source.reparsed.as_ref().map(|reparsed| &reparsed.original_version))
    }),
    column("fingerprint", Type::Text, "identity of what it ran on", |of| text(&of.environment.fingerprint)),
    column("fingerprint_keys", Type::Json, "the facts in the fingerprint", |of| json(&of.environment.fingerprint_keys)),
    column("cluster", Type::Text, "the cluster, or `local`", |of| text(&of.environment.cluster.name)),
    column("engine", Type::Text, "what ran the processes", |of| text(&of.environment.cluster.engine)),
    column("cluster_version", Type::Text, "version of Kubernetes", |of| maybe(of.environment.cluster.version.as_ref())),
    column("nodes", Type::Json, "the machines", |of| json(&of.environment.nodes)),
    column("images", Type::Json, "the images that ran", |of| json(&of.environment.images)),
    column("software", Type::Json, "versions of software", |of| json(&of.environment.software)),
    column("server", Type::Json, "the server that it put under load", |of| json(&of.server)),
    column("inputs", Type::Json, "its inputs", |of| json(&of.inputs)),
    column("gpu_hours", Type::Number, "accelerators times hours", |of| {
        number(of.usage.as_ref().and_then(|usage| usage.gpu_hours))
    }),
    column("energy_joules", Type::Number, "energy that its GPUs used", |of| {
        number(of.usage.as_ref().and_then(|usage| usage.energy_joules))
    }),
    column("cost", Type::Number, "what it cost", |of| number(of.cost.as_ref().map(|cost| cost.amount))),
    column("currency", Type::Text, "in which currency", |of| maybe(of.cost.as_ref().map(|cost| &cost.currency))),
    column("recorder_version", Type::Text, "the Kubebench that wrote the result", |of| text(&of.recorder.version)),
    column("recorder_method", Type::Text, "how the run was followed", |of| text(&of.recorder.method)),
    column("annotations", Type::Json, "free texts", |of| json(&of.annotations)),
];

/// What a row says of its metric.
pub const METRIC: &[Column<Metric>] = &[
    column("metric", Type::Text, "the metric", |of| text(&of.name)),
    column("metric_labels", Type::Json, "labels that distinguish it from metrics of the same name", |of| {
        json(&of.labels)
    }),
    column("unit", Type::Text, "its unit; `1` for a pure number", |of| maybe(of.unit.as_ref())),
    column("direction", Type::Text, "which way is better: `higher`, `lower`, `none`", |of| word(&of.direction)),
    column("kind", Type::Text, "`primary`, `secondary`, `info`", |of| word(&of.kind)),
    column("value", Type::Number, "the value", |of| number(of.value)),
    column("aggregation", Type::Text, "how several values were aggregated", |of| text(&of.aggregation)),
    column("n", Type::Count, "how many values counted", |of| Cell::Count(of.n)),
    column("non_finite", Type::Count, "how many of them are not finite", |of| Cell::Count(of.non_finite)),
    column("mean", Type::Number, "their mean", |of| stat(of, |stats| stats.mean)),
    column("stddev", Type::Number, "their standard deviation", |of| stat(of, |stats| stats.stddev)),
    column("median", Type::Number, "their median", |of| stat(of, |stats| stats.median)),
    column("mad", Type::Number, "the median absolute deviation", |of| stat(of, |stats| stats.mad)),
    column("min", Type::Number, "the minimum", |of| stat(of, |stats| stats.min)),
    column("max", Type::Number, "the maximum", |of| stat(of, |stats| stats.max)),
    column("p01", Type::Number, "1st percentile", |of| stat(of, |stats| stats.p01)),
    column("p10", Type::Number, "10th percentile", |of| stat(of, |stats| stats.p10)),
    column("p90", Type::Number, "90th percentile", |of| stat(of, |stats| stats.p90)),
    column("p99", Type::Number, "99th percentile", |of| stat(of, |stats| stats.p99)),
    column("parser", Type::Text, "kind of source, or tool", |of| text(&of.source.parser)),
    column("artifact", Type::Text, "the log or file", |of| maybe(of.source.artifact.as_ref())),
    column("source_line", Type::Count, "its line, from 1", |of| of.source.line.map_or(Cell::Empty, Cell::Count)),
    column("source_rank", Type::Count, "the rank of several in one log", |of| {
        of.source.rank.map_or(Cell::Empty, |rank| Cell::Count(rank.into()))
    }),
    column("selector", Type::Text, "pattern, pointer, column, key or query", |of| maybe(of.source.selector.as_ref())),
    column("source_window", Type::Text, "which of the values counted", |of| maybe(of.source.window.as_ref())),
    column("metric_reason", Type::Text, "why there is no value", |of| maybe(of.reason.as_ref())),
];

/// What the tables of databases say of a run beyond [`RUN`], so that runs, metrics and samples are the whole result.
pub const REST: &[Column<BenchmarkResult>] = &[
    column("exits", Type::Json, "how its processes ended", |of| json(&of.run.exits)),
    column("checks", Type::Json, "the checks that had to pass", |of| json(&of.validity.checks)),
    column("artifacts", Type::Json, "files that it left", |of| json(&of.artifacts)),
    column("monitoring", Type::Json, "what was sampled", |of| json(&of.monitoring)),
    column("usage", Type::Json, "the resources that it occupied", |of| json(&of.usage)),
    column("costs", Type::Json, "how the cost was found", |of| json(&of.cost)),
    column("workflow", Type::Json, "the measured Workflow", |of| json(&of.workflow)),
    column("experiment", Type::Json, "the measured Experiment", |of| json(&of.experiment)),
    column("native", Type::Json, "reports of tools", |of| json(&of.native)),
];

fn text(text: &str) -> Cell<'_> {
    Cell::Text(Cow::Borrowed(text))
}

fn maybe(text: Option<&String>) -> Cell<'_> {
    text.map_or(Cell::Empty, |text| Cell::Text(Cow::Borrowed(text)))
}

fn number<'a>(number: Option<f64>) -> Cell<'a> {
    number.map_or(Cell::Empty, Cell::Number)
}

fn stat(metric: &Metric, of: fn(&Stats) -> f64) -> Cell<'_> {
    number(metric.stats.as_ref().map(of))
}

/// JSON of a value; nothing where it is `null`.
fn json<'a>(value: &impl Serialize) -> Cell<'a> {
    match serde_json::to_value(value).expected("JSON of our own types") {
        Json::Null => Cell::Empty,
        value => Cell::Json(serde_json::to_string(&Canonical::of(&value)).expected("canonical JSON of a JSON value")),
    }
}

/// A word of the format, such as `timedOut`.
fn word<'a>(value: &impl Serialize) -> Cell<'a> {
    match serde_json::to_value(value).expected("JSON of our own types") {
        Json::String(word) => Cell::Text(Cow::Owned(word)),
        _ => Cell::Empty,
    }
}
