//! What must be read from a run: `rules.json`, parsed into patterns, tools and places that are ready for use.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use super::naming::Naming;
use super::pattern::Pattern;
use super::pattern_budget;
use super::preset::{self, Preset};
use super::room::Room;
use super::scan::{LogScan, Scanned};
use super::series::Window;
use super::tool::{self, Tool};
use kubebench_contract::RulesFile;
use kubebench_format::spec::v1::metric::{
    self as wire, Better, Caution, Delimiter, DurationSource, ProcessSource, Reduce, Reports, Row, WhichTrials,
};
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::{MetricSelector, MetricUnit, Percentage};
use kubebench_syntax::yaml::Node;

/// What is measured, and what must be true.
#[derive(Clone, Debug)]
pub struct Rules {
    /// The digest of their text.
    pub digest: Digest,
    /// The metrics, as the spec orders them.
    pub metrics: Vec<MetricRule>,
    /// The checks, as the spec orders them.
    pub checks: Vec<Check>,
}

/// One metric, or the metrics of one tool.
#[derive(Clone, Debug)]
pub struct MetricRule {
    /// The name; a tool has its own.
    pub name: Option<String>,
    pub unit: Option<String>,
    /// Which way is better.
    pub better: Option<Better>,
    /// Whether it is the benchmark's primary metric.
    pub is_primary: bool,
    /// Whether a run without it is invalid.
    pub is_required: bool,
    /// Which of the values count.
    pub window: Window,
    /// How several values become one, where the spec says it.
    pub reduce: Option<Reduce>,
    /// Where they are read.
    pub from: From,
}

/// Where values are read.
#[derive(Clone, Debug)]
pub enum From {
    /// Lines of logs that match a pattern; `is_raw` where it sees launcher prefixes.
    Log {
        /// The pattern; that of a key for `keyValue`.
        pattern: Box<Pattern>,
        /// `log` or `keyValue`.
        parser: &'static str,
        /// The pattern or key, as in the spec.
        selector: String,
        /// Whose log.
        place: LogPlace,
        /// Whether the pattern sees lines as printed.
        is_raw: bool,
    },
    /// The output of a tool.
    Tool {
        tool: &'static Tool,
        /// Which of its metrics; none means all.
        metrics: Option<Vec<MetricSelector>>,
        /// What they are called in results.
        naming: Naming,
        /// The file that holds its output; none where a log does.
        file: Option<String>,
        /// Whose log.
        place: LogPlace,
        /// Which of several reports in its output.
        reports: Reports,
    },
    /// A value of a JSON file.
    Json {
        file: String,
        /// A JSON Pointer.
        pointer: String,
    },
    /// A value of every line of a JSON Lines file.
    JsonLines {
        file: String,
        /// A JSON Pointer into each line.
        pointer: String,
        /// The required values at other pointers.
        filter: BTreeMap<String, String>,
    },
    /// A column of a CSV file.
    Csv {
        file: String,
        /// The column's header.
        column: String,
        /// Which rows count.
        row: Row,
        /// What separates the cells.
        delimiter: Delimiter,
    },
    /// A sample of OpenMetrics text.
    OpenMetrics {
        /// Where the text is.
        text: Place,
        /// The name of the family or sample.
        name: String,
        /// Labels that it must have.
        labels: BTreeMap<String, String>,
    },
    /// A file with one number.
    File {
        /// The file.
        path: String,
    },
    /// What the processes used.
    Process(ProcessSource),
    /// How long something took.
    Duration(DurationSource),
    /// How long a node of a Workflow took.
    Node {
        /// Its step or task.
        name: String,
    },
    /// What trials of an Experiment reached.
    Trials {
        metric: String,
        /// Whose.
        of: WhichTrials,
    },
    /// A Prometheus range query.
    Prometheus {
        query: String,
        /// How the samples over time become one.
        reduce: Reduce,
        /// The unit of its values, where a preset says so.
        unit: Option<&'static str>,
    },
}

impl MetricRule {
    /// Returns the unit as something that values can be converted into.
    pub(crate) fn metric_unit(&self) -> Option<MetricUnit> {
        self.unit.as_deref().map(MetricUnit::of)
    }
}

impl From {
    /// Returns true for values that are in no log and no file, but only in a run.
    pub(crate) fn is_of_a_run(&self) -> bool {
        matches!(
            self,
            Self::Process(_)
                | Self::Duration(_)
                | Self::Node { .. }
                | Self::Trials { .. }
                | Self::Prometheus { .. }
                | Self::OpenMetrics { text: Place::Url(_), .. }
        )
    }

    /// Returns the file that is read.
    pub fn file(&self) -> Option<&str> {
        match self {
            Self::Json { file, .. }
            | Self::JsonLines { file, .. }
            | Self::Csv { file, .. }
            | Self::File { path: file }
            | Self::Tool { file: Some(file), .. }
            | Self::OpenMetrics { text: Place::File(file), .. } => Some(file),
            _ => None,
        }
    }

    /// Returns true for what is read in logs.
    pub fn is_of_a_log(&self) -> bool {
        matches!(self, Self::Log { .. } | Self::Tool { file: None, .. })
    }
}

/// Whose log is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogPlace {
    /// The role; none means every role.
    pub role: Option<String>,
    /// The replica; none means the lowest that has something.
    pub index: Option<u32>,
}

/// Where a text is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a file below the run's output folder.
    File(String),
    /// From an address that is requested at the end of the run.
    Url(String),
}

/// What must be true for a run to count.
#[derive(Clone, Debug, PartialEq)]
pub enum Check {
    /// Bounds of a metric.
    Metric {
        metric: MetricSelector,
        /// Whether every value must be finite.
        finite: bool,
        /// The least value.
        min: Option<f64>,
        /// The greatest value.
        max: Option<f64>,
    },
    /// How often containers may have been restarted.
    Restarts(u32),
    /// How many of the attempted requests of a load generator may have failed.
    FailedRequests(Percentage),
    /// What no tool may report about its own run.
    Cautions(Vec<Caution>),
}

impl Rules {
    /// Reads the text of `rules.json`.
    ///
    /// # Errors
    /// Why it cannot be read. The compiler wrote it, so an error comes from another version or from an edit.
    pub fn read(text: &str) -> Result<Self, String> {
        Self::of(&RulesFile::read(text).map_err(|fault| fault.to_string())?, Digest::of(text))
    }

    /// Makes the rules of a file ready for use, whose text has this `digest`.
    ///
    /// # Errors
    /// Why they cannot be used.
    pub fn of(file: &RulesFile, digest: Digest) -> Result<Self, String> {
        let wires: Vec<wire::Metric> = file.metrics.iter().map(read_as).collect::<Result<_, _>>()?;
        pattern_budget::check(&wires).map_err(|fault| format!("{fault}; {}", fault.help()))?;
        let metrics = wires.into_iter().map(metric).collect::<Result<_, _>>()?;
        let checks = file.checks.iter().map(|found| Ok(check(read_as(found)?))).collect::<Result<_, String>>()?;
        Ok(Self { digest, metrics, checks })
    }

    /// Returns rules without any requirements.
    pub fn none() -> Self {
        Self { digest: Digest::of(""), metrics: Vec::new(), checks: Vec::new() }
    }

    /// Makes a scan of the log of `role`'s replica `index` for everything that is wanted of it. The logs of a run share
    /// `room`.
    pub fn scan(&self, role: &str, index: u32, room: &Room) -> RuleScan {
        let mut made = RuleScan { scan: LogScan::within(room), patterns: Vec::new(), tools: Vec::new() };
        for (number, rule) in self.metrics.iter().enumerate() {
            match &rule.from {
                From::Log { pattern, place, is_raw, .. } if place.has(role, index) => {
                    if *is_raw {
                        made.scan.look_for_raw(pattern, rule.window);
                    } else {
                        made.scan.look_for(pattern, rule.window);
                    }
                    made.patterns.push(number);
                }
                From::Tool { tool, place, file: None, reports, .. } if place.has(role, index) => {
                    made.scan.read_as(tool, rule.window, *reports);
                    made.tools.push(number);
                }
                _ => {}
            }
        }
        made
    }
}

/// The scan of one log, and which rule each of its parts is for.
pub struct RuleScan {
    scan: LogScan,
    patterns: Vec<usize>,
    tools: Vec<usize>,
}

/// What one log gave, by rule.
#[derive(Debug)]
pub struct RuleScanned {
    /// What was found.
    pub scanned: Scanned,
    /// The rule of each pattern.
    pub patterns: Vec<usize>,
    /// The rule of each tool.
    pub tools: Vec<usize>,
}

impl RuleScan {
    /// Makes a scan that looks for nothing.
    pub fn of_nothing() -> Self {
        Self { scan: LogScan::new(), patterns: Vec::new(), tools: Vec::new() }
    }

    /// Returns the room that its values share with those of other logs.
    pub fn room(&self) -> &Room {
        self.scan.room()
    }

    /// Reads the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.scan.feed(bytes);
    }

    /// Returns the last value of rule `rule` so far.
    pub fn last_value(&self, rule: usize) -> Option<f64> {
        self.scan.last_value(self.patterns.iter().position(|number| *number == rule)?)
    }

    /// Ends the log.
    pub fn finish(self) -> RuleScanned {
        RuleScanned { scanned: self.scan.finish(), patterns: self.patterns, tools: self.tools }
    }
}

impl LogPlace {
    /// Returns true when the log of `role`'s replica `index` is meant.
    pub(crate) fn has(&self, role: &str, index: u32) -> bool {
        self.role.as_deref().is_none_or(|wanted| wanted == role) && self.index.is_none_or(|wanted| wanted == index)
    }
}

fn read_as<T: DeserializeOwned>(rule: &Json) -> Result<T, String> {
    Node::from(rule).read_as().map_err(|error| format!("the rules cannot be read: {error}"))
}

fn metric(wire: wire::Metric) -> Result<MetricRule, String> {
    let wire::Metric { name, unit, better, primary, required, from, window, reduce } = wire;
    let tool_window = from.tool.as_ref().and_then(|tool| tool.window.as_ref());
    let window = Window::of(window.as_ref().or(tool_window));
    let preset = from.prometheus.as_ref().and_then(|source| source.preset.as_deref()).map(preset).transpose()?;
    let name = name.or_else(|| preset.map(|preset| preset.name.to_owned()));
    if name.is_none() && from.tool.is_none() {
        return Err("a metric has no name".to_owned());
    }
    let unit = unit.map(|text| text.0).or_else(|| preset.map(|preset| preset.unit.to_owned()));
    Ok(MetricRule {
        name,
        from: source(from, unit.as_deref().map(MetricUnit::of).as_ref())?,
        unit,
        better: better.or_else(|| preset.map(|preset| preset.better)),
        is_primary: primary.is_some_and(|flag| flag.0),
        is_required: required.is_some_and(|flag| flag.0),
        window,
        reduce,
    })
}

fn preset(name: &str) -> Result<&'static Preset, String> {
    preset::preset(name).ok_or_else(|| format!("there is no preset `{name}`"))
}

fn source(wire: wire::Source, unit: Option<&MetricUnit>) -> Result<From, String> {
    let texts = |labels: BTreeMap<String, kubebench_format::spec::v1::scalar::Text>| {
        labels.into_iter().map(|(key, text)| (key, text.0)).collect::<BTreeMap<_, _>>()
    };
    let place = |role, index: Option<kubebench_format::spec::v1::scalar::CountFromZero>| LogPlace {
        role,
        index: index.map(|index| index.0),
    };
    let wire::Source {
        log,
        json,
        json_lines,
        csv,
        key_value,
        open_metrics,
        file,
        process,
        duration,
        prometheus,
        node,
        trials,
        tool,
    } = wire;
    if let Some(wire::LogSource { pattern, role, index, raw }) = log {
        return Ok(From::Log {
            pattern: Box::new(Pattern::new(&pattern)?.in_unit(unit.cloned())),
            parser: "log",
            selector: pattern,
            place: place(role, index),
            is_raw: raw.is_some_and(|flag| flag.0),
        });
    }
    if let Some(wire::KeyValueSource { key, role, index }) = key_value {
        return Ok(From::Log {
            pattern: Box::new(Pattern::of_key(&key.0)?.in_unit(unit.cloned())),
            parser: "keyValue",
            selector: key.0,
            place: place(role, index),
            is_raw: false,
        });
    }
    if let Some(source) = tool {
        let naming = Naming::of(&source);
        let wire::ToolSource { name, metrics, file, role, index, report, .. } = source;
        let metrics = metrics.map(|names| names.iter().map(|name| MetricSelector::of(name)).collect());
        let tool = tool::tool(&name).ok_or_else(|| format!("there is no tool `{name}`"))?;
        let reports = report.unwrap_or_default();
        return Ok(From::Tool { tool, metrics, naming, file, place: place(role, index), reports });
    }
    if let Some(wire::JsonSource { file, pointer }) = json {
        return Ok(From::Json { file, pointer });
    }
    if let Some(wire::JsonLinesSource { file, pointer, r#where }) = json_lines {
        return Ok(From::JsonLines { file, pointer, filter: texts(r#where) });
    }
    if let Some(wire::CsvSource { file, column, row, delimiter }) = csv {
        let (row, delimiter) = (row.unwrap_or(Row::All), delimiter.unwrap_or(Delimiter::Auto));
        return Ok(From::Csv { file, column: column.0, row, delimiter });
    }
    if let Some(wire::OpenMetricsSource { file, url, name, labels }) = open_metrics {
        let text = match (file, url) {
            (Some(file), _) => Place::File(file),
            (None, Some(url)) => Place::Url(url.0),
            (None, None) => return Err("`openMetrics` names neither a file nor an address".to_owned()),
        };
        return Ok(From::OpenMetrics { text, name: name.0, labels: texts(labels) });
    }
    if let Some(wire::FileSource { path }) = file {
        return Ok(From::File { path });
    }
    if let Some(wire::PrometheusSource { query, preset: name, reduce }) = prometheus {
        let known = name.as_deref().map(preset).transpose()?;
        let query = query.or_else(|| known.map(|known| known.query.to_owned()));
        let reduce = reduce.or_else(|| known.map(|known| known.reduce)).unwrap_or(Reduce::Mean);
        let unit = known.map(|known| known.unit);
        return Ok(From::Prometheus { query: query.ok_or("`prometheus` names no query")?, reduce, unit });
    }
    if let Some(wire::NodeSource { name }) = node {
        return Ok(From::Node { name: name.0 });
    }
    if let Some(wire::TrialsSource { metric, of }) = trials {
        return Ok(From::Trials { metric: metric.0, of: of.unwrap_or(WhichTrials::Best) });
    }
    match (process, duration) {
        (Some(process), _) => Ok(From::Process(process)),
        (None, Some(duration)) => Ok(From::Duration(duration)),
        (None, None) => Err("a metric names no source".to_owned()),
    }
}

fn check(wire: wire::Check) -> Check {
    let wire::Check { metric, finite, min, max, restarts, failed_requests, cautions } = wire;
    if let Some(cautions) = cautions {
        return Check::Cautions(cautions.forbid);
    }
    if let Some(failed) = failed_requests {
        return Check::FailedRequests(failed.max.0);
    }
    match metric {
        Some(metric) => Check::Metric {
            metric: MetricSelector::of(&metric),
            finite: finite.is_some_and(|flag| flag.0),
            min: min.map(|number| number.0),
            max: max.map(|number| number.0),
        },
        None => Check::Restarts(restarts.map_or(u32::MAX, |count| count.0)),
    }
}

#[cfg(test)]
mod tests;
