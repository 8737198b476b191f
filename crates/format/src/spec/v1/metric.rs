//! What is measured: metrics with their sources, checks and gates.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::{Count, CountFromZero, Flag, Number, Percentage, Text};

pub use super::check::{Caution, Cautions, Check, FailedRequests};
pub use super::reduce::{Percentile, Reduce};

/// One metric, or the metrics of one tool.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Metric {
    /// The metric's name; left out with `from: {tool: …}`, which has its own names, and where a preset of Prometheus names it.
    #[serde(default)]
    #[schemars(extend("format" = "metric-name", "examples" = ["throughput"]))]
    pub name: Option<String>,
    /// The unit of its values.
    #[serde(default)]
    #[schemars(extend("format" = "metric-unit", "examples" = ["images/s"]))]
    pub unit: Option<Text>,
    /// Which way is better.
    #[serde(default)]
    #[schemars(extend("examples" = ["higher"]))]
    pub better: Option<Better>,
    /// Marks the metric that represents the benchmark; a single metric needs no mark.
    #[serde(default)]
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub primary: Option<Flag>,
    /// A run without this metric is invalid.
    #[serde(default)]
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub required: Option<Flag>,
    /// The source of the values: exactly one.
    #[schemars(extend("examples" = [{"log": {"pattern": "images/sec: (?P<value>\\S+)"}}]))]
    pub from: Source,
    /// Which of the values count.
    #[serde(default)]
    #[schemars(extend("examples" = [{"steps": [10, 100]}, {"skipFirst": 5}, {"lastN": 20}]))]
    pub window: Option<Window>,
    /// How several values are aggregated into one; `pN` is the N-th percentile, with 0 < N < 100 and linear interpolation between values.
    #[serde(default)]
    #[schemars(extend("default" = "last", "examples" = ["median"]))]
    pub reduce: Option<Reduce>,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// Which of the values count: exactly one rule.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::scalar::one_key)]
pub struct Window {
    /// Values of these training steps, both ends included.
    #[serde(default)]
    #[schemars(extend("minItems" = 2, "maxItems" = 2, "examples" = [[10, 100]]))]
    pub steps: Option<Vec<CountFromZero>>,
    /// All but the first N values.
    #[serde(default)]
    #[schemars(extend("examples" = [5]))]
    pub skip_first: Option<CountFromZero>,
    /// The last N values.
    #[serde(default)]
    #[schemars(extend("examples" = [20]))]
    pub last_n: Option<Count>,
}

/// The source of values: exactly one.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(transform = super::scalar::one_key)]
pub struct Source {
    /// Lines of a pod's log that match a pattern.
    #[serde(default)]
    #[schemars(extend("examples" = [{"pattern": "loss: (?P<value>\\S+)"}]))]
    pub log: Option<LogSource>,
    /// A value of a JSON file.
    #[serde(default)]
    #[schemars(extend("examples" = [{"file": "metrics.json", "pointer": "/train/throughput"}]))]
    pub json: Option<JsonSource>,
    /// A value of every line of a JSON Lines file.
    #[serde(default)]
    #[schemars(extend("examples" = [{"file": "steps.jsonl", "pointer": "/loss"}]))]
    pub json_lines: Option<JsonLinesSource>,
    /// A column of a CSV file.
    #[serde(default)]
    #[schemars(extend("examples" = [{"file": "steps.csv", "column": "loss"}]))]
    pub csv: Option<CsvSource>,
    /// `key=value` or `key: value` in a pod's log.
    #[serde(default)]
    #[schemars(extend("examples" = [{"key": "throughput"}]))]
    pub key_value: Option<KeyValueSource>,
    /// A sample of OpenMetrics text.
    #[serde(default)]
    #[schemars(extend("examples" = [{"file": "metrics.prom", "name": "train_samples_total"}]))]
    pub open_metrics: Option<OpenMetricsSource>,
    /// A file that holds one number.
    #[serde(default)]
    #[schemars(extend("examples" = [{"path": "throughput.txt"}]))]
    pub file: Option<FileSource>,
    /// What the processes used (local runs on Linux).
    #[serde(default)]
    #[schemars(extend("examples" = ["maxRss"]))]
    pub process: Option<ProcessSource>,
    /// How long something took.
    #[serde(default)]
    #[schemars(extend("examples" = ["run"]))]
    pub duration: Option<DurationSource>,
    /// A Prometheus range query over the run's time.
    #[serde(default)]
    #[schemars(extend("examples" = [{"query": "avg(DCGM_FI_DEV_GPU_UTIL{namespace=\"$namespace\",pod=~\"$pods\"})", "reduce": "mean"}]))]
    pub prometheus: Option<PrometheusSource>,
    /// How long a node of the measured Workflow took, in seconds.
    #[serde(default)]
    #[schemars(extend("examples" = [{"name": "train"}]))]
    pub node: Option<NodeSource>,
    /// The observed objective of the trials of the measured Experiment.
    #[serde(default)]
    #[schemars(extend("examples" = [{"metric": "accuracy"}]))]
    pub trials: Option<TrialsSource>,
    /// The output of a known tool.
    #[serde(default)]
    #[schemars(extend("examples" = [{"name": "torchtitan", "metrics": ["tps", "mfu"]}]))]
    pub tool: Option<ToolSource>,
}

/// Lines of a pod's log that match a pattern.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct LogSource {
    /// A regular expression with the named group `value`, and `step` where steps are counted.
    #[schemars(extend("format" = "metric-pattern", "examples" = ["step (?P<step>[0-9]+) loss (?P<value>\\S+)"]))]
    pub pattern: String,
    /// The role whose log is read; without it, every role's.
    #[serde(default)]
    #[schemars(extend("examples" = ["worker"]))]
    pub role: Option<String>,
    /// The replica whose log is read; without it, the lowest that printed a match.
    #[serde(default)]
    #[schemars(extend("examples" = [0]))]
    pub index: Option<CountFromZero>,
    /// Lets the pattern see lines as printed, with terminal codes and launcher prefixes.
    #[serde(default)]
    #[schemars(extend("default" = false, "examples" = [true]))]
    pub raw: Option<Flag>,
}

/// A value of a JSON file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JsonSource {
    /// The file, under the run's output directory.
    #[schemars(extend("format" = "relative-path", "examples" = ["metrics.json"]))]
    pub file: String,
    /// A JSON Pointer (RFC 6901) to the value: `/` before every key or index, `~1` for a `/` inside a key, `~0` for a `~`.
    #[schemars(extend("format" = "json-pointer", "examples" = ["/train/throughput"]))]
    pub pointer: String,
}

/// A value of every line of a JSON Lines file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JsonLinesSource {
    /// The file, under the run's output directory.
    #[schemars(extend("format" = "relative-path", "examples" = ["steps.jsonl"]))]
    pub file: String,
    /// A JSON Pointer to the value in each line: `/` before every key or index.
    #[schemars(extend("format" = "json-pointer", "examples" = ["/loss"]))]
    pub pointer: String,
    /// Only lines in which the values at these JSON Pointers, written as text, are these.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"/event": "step"}], "propertyNames" = {"format": "json-pointer"}))]
    pub r#where: std::collections::BTreeMap<String, Text>,
}

/// A column of a CSV file.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CsvSource {
    /// The file, under the run's output directory.
    #[schemars(extend("format" = "relative-path", "examples" = ["steps.csv"]))]
    pub file: String,
    /// The column's header.
    #[schemars(extend("examples" = ["loss"]))]
    pub column: Text,
    /// Which rows count.
    #[serde(default)]
    #[schemars(extend("default" = "all", "examples" = ["last"]))]
    pub row: Option<Row>,
    /// What separates the cells.
    #[serde(default)]
    #[schemars(extend("default" = "auto", "examples" = ["|"]))]
    pub delimiter: Option<Delimiter>,
}

/// What separates the cells of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[schemars(inline)]
pub enum Delimiter {
    /// A comma.
    #[serde(rename = ",")]
    Comma,
    /// A semicolon.
    #[serde(rename = ";")]
    Semicolon,
    /// A vertical bar, as in the performance logs of ReFrame.
    #[serde(rename = "|")]
    Bar,
    /// A tab.
    #[serde(rename = "tab")]
    Tab,
    /// The first of comma, tab, `|` and `;` with which the header contains the column.
    #[serde(rename = "auto")]
    Auto,
}

/// Which rows count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Row {
    /// The first row after the header.
    First,
    /// The last row.
    Last,
    /// Every row.
    All,
}

/// `key=value` or `key: value` in a pod's log.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyValueSource {
    /// The key.
    #[schemars(extend("examples" = ["throughput"]))]
    pub key: Text,
    /// The role whose log is read; without it, every role's.
    #[serde(default)]
    #[schemars(extend("examples" = ["worker"]))]
    pub role: Option<String>,
    /// The replica whose log is read; without it, the lowest that printed a match.
    #[serde(default)]
    #[schemars(extend("examples" = [0]))]
    pub index: Option<CountFromZero>,
}

/// A sample of OpenMetrics text: from a file or from a URL.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct OpenMetricsSource {
    /// The file, under the run's output directory.
    #[serde(default)]
    #[schemars(extend("format" = "relative-path", "examples" = ["metrics.prom"]))]
    pub file: Option<String>,
    /// The address that serves the text at the end of the run.
    #[serde(default)]
    #[schemars(extend("examples" = ["http://localhost:8000/metrics"]))]
    pub url: Option<Text>,
    /// The name of the metric family or sample.
    #[schemars(extend("examples" = ["train_samples_total"]))]
    pub name: Text,
    /// Labels that the sample must have.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"phase": "train"}]))]
    pub labels: std::collections::BTreeMap<String, Text>,
}

/// A file that holds one number.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileSource {
    /// The file, under the run's output directory.
    #[schemars(extend("format" = "relative-path", "examples" = ["throughput.txt"]))]
    pub path: String,
}

/// What the processes used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum ProcessSource {
    /// CPU time in seconds.
    CpuSeconds,
    /// Peak resident memory in bytes.
    MaxRss,
    /// Bytes read from storage.
    ReadBytes,
    /// Bytes written to storage.
    WriteBytes,
}

/// A time to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum DurationSource {
    /// From the job's creation to the scheduling of its last pod.
    Queue,
    /// From scheduling to the start of the last container.
    Startup,
    /// From the start of the first main container to the job's end.
    Run,
    /// From the creation of the server to its first answer.
    Ready,
}

/// A Prometheus range query over the run's time.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusSource {
    /// PromQL; `$namespace`, `$pods`, `$nodes` and `$duration` are the run's.
    #[serde(default)]
    #[schemars(extend("examples" = ["avg(DCGM_FI_DEV_GPU_UTIL{namespace=\"$namespace\",pod=~\"$pods\"})"]))]
    pub query: Option<String>,
    /// A query that Kubebench knows, instead of `query`; it gives the metric's name, unit and direction.
    #[serde(default)]
    #[schemars(extend("format" = "dns1123-label", "examples" = ["dcgm-energy"]))]
    pub preset: Option<String>,
    /// How the samples over time are aggregated into one, as in `reduce` of the metric; without it, `mean` or the default of the preset.
    #[serde(default)]
    #[schemars(extend("examples" = ["max"]))]
    pub reduce: Option<Reduce>,
}

/// How long a node of the measured Workflow took, in seconds: a value for each turn of a loop and each attempt, in the order of their
/// starts.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeSource {
    /// The step or task, as the Workflow names it; in a set of containers, the container.
    #[schemars(extend("examples" = ["train"]))]
    pub name: Text,
}

/// The observed objective of the trials of the measured Experiment.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrialsSource {
    /// The objective of the Experiment, or one of its additional metrics.
    #[schemars(extend("examples" = ["accuracy"]))]
    pub metric: Text,
    /// Whose value it is.
    #[serde(default)]
    #[schemars(extend("default" = "best", "examples" = ["all"]))]
    pub of: Option<WhichTrials>,
}

/// Which trials of an Experiment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum WhichTrials {
    /// The best one, according to Katib.
    Best,
    /// Every trial for which the metric was observed: one value each.
    All,
}

/// The output of a known tool.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ToolSource {
    /// The tool, in kebab case.
    #[schemars(extend("format" = "dns1123-label", "examples" = ["torchtitan"]))]
    pub name: String,
    /// Which of its metrics to read; without it, all.
    #[serde(default)]
    #[schemars(extend("minItems" = 1, "uniqueItems" = true, "examples" = [["tps", "mfu"]]))]
    pub metrics: Option<Vec<String>>,
    /// Other names for metrics, by the names that the tool gives them.
    #[serde(default)]
    #[schemars(extend("default" = {}, "additionalProperties" = {"type": "string", "format": "metric-name"}, "examples" = [{"read_iops": "seq-read-iops"}]))]
    pub rename: std::collections::BTreeMap<String, String>,
    /// A prefix for the names of all other metrics.
    #[serde(default)]
    #[schemars(extend("format" = "metric-name", "examples" = ["seq-"]))]
    pub prefix: Option<String>,
    /// Labels to add to all of them.
    #[serde(default)]
    #[schemars(extend("default" = {}, "examples" = [{"file": "seq"}], "propertyNames" = {"format": "metric-label"}))]
    pub labels: std::collections::BTreeMap<String, Text>,
    /// The file that the tool writes, under the run's output directory; without it, a log is read.
    #[serde(default)]
    #[schemars(extend("format" = "relative-path", "examples" = ["fio.json"]))]
    pub file: Option<String>,
    /// The role whose log is read; without it, every role's.
    #[serde(default)]
    #[schemars(extend("examples" = ["worker"]))]
    pub role: Option<String>,
    /// The replica whose log is read; without it, the lowest that printed a value.
    #[serde(default)]
    #[schemars(extend("examples" = [0]))]
    pub index: Option<CountFromZero>,
    /// Which of the values count.
    #[serde(default)]
    #[schemars(extend("examples" = [{"steps": [10, 100]}]))]
    pub window: Option<Window>,
    /// Which of the tool's reports counts when its output holds several.
    #[serde(default)]
    #[schemars(extend("default" = "last", "examples" = ["each"]))]
    pub report: Option<Reports>,
}

/// Which of several reports in the output of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Reports {
    /// The last.
    #[default]
    Last,
    /// The first.
    First,
    /// Each: labels distinguish their metrics, by the requested settings or else by their order.
    Each,
}

impl Reports {
    /// Each of them.
    pub const ALL: [Self; 3] = [Self::Last, Self::First, Self::Each];

    /// Returns the word for it in specs and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Last => "last",
            Self::First => "first",
            Self::Each => "each",
        }
    }
}

/// The rules of `kubebench gate`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Gate {
    /// The metric that is compared.
    #[schemars(extend("examples" = ["throughput"]))]
    pub metric: String,
    /// The largest regression against the history that passes.
    #[serde(default)]
    #[schemars(extend("examples" = ["3%"]))]
    pub max_regression: Option<Percentage>,
    /// The minimum value.
    #[serde(default)]
    #[schemars(extend("examples" = [1000]))]
    pub min: Option<Number>,
    /// The maximum value.
    #[serde(default)]
    #[schemars(extend("examples" = [0.5]))]
    pub max: Option<Number>,
    /// What the newest session is compared with; without it, the accepted level of the default branch.
    #[serde(default)]
    #[schemars(extend("examples" = [{"tag": "v1.4"}]))]
    pub baseline: Option<GateBaseline>,
    /// Whether a first hit waits for a second session of the same revision.
    #[serde(default)]
    #[schemars(extend("examples" = ["required"]))]
    pub confirm: Option<Confirm>,
}

/// What a gate compares the newest session with: exactly one of these.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1))]
pub struct GateBaseline {
    /// The accepted level of the commits that this branch reaches.
    #[serde(default)]
    #[schemars(extend("examples" = ["release-1"]))]
    pub branch: Option<Text>,
    /// The accepted level of the commits that this tag reaches.
    #[serde(default)]
    #[schemars(extend("examples" = ["v1.4"]))]
    pub tag: Option<Text>,
    /// A fixed value, such as an SLO. Its noise is unknown, so `maxRegression` is a limit.
    #[serde(default)]
    #[schemars(extend("examples" = [1450.0]))]
    pub value: Option<Number>,
}

/// Whether a first hit waits for a second session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Confirm {
    /// It does.
    Required,
}
