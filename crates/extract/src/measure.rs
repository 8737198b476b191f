//! From what a run left to its metrics, its checks and whether it counts.

mod check;
mod tool;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::BufRead;

use super::file;
use super::pattern::{self, Pattern};
use super::rules::{Check, From, LogPlace, MetricRule, Place, RuleScanned, Rules};
use super::scan::Scanned;
use super::series::{Reduced, Sample, Series, Unreadable, Window};
use super::source_unit;
use super::tool::Requests;
use kubebench_format::result::v1::{CheckOutcome, Direction, Kind, Metric, Native, Source, Stats, StatusReason};
use kubebench_format::result::{ReasonCode, labelled};
use kubebench_format::spec::v1::metric::{Better, Caution, DurationSource, ProcessSource, Reduce, WhichTrials};
use kubebench_stats as stats;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::grouped;
use kubebench_syntax::unit::{MetricSelector, MetricUnit};

/// Why a metric that only a run has is without a value.
pub(crate) const ONLY_A_RUN: &str = "only a run has this";

/// The log of one replica, read.
#[derive(Debug)]
pub struct Log {
    pub role: String,
    /// The replica.
    pub index: u32,
    /// The name of its artifact.
    pub artifact: String,
    /// Its result.
    pub scanned: RuleScanned,
}

/// What processes used, or why that is unknown.
pub type Used = Result<f64, String>;

/// What a run left behind, as far as the caller can pass it in.
pub trait Evidence {
    /// Opens a file below the run's output folder, or its result folder.
    ///
    /// # Errors
    /// Why it cannot be opened.
    fn open(&self, path: &str) -> Result<Box<dyn BufRead>, String>;

    /// Returns the name that the file at `path` has among the run's artifacts.
    fn name_of(&self, path: &str) -> String {
        path.to_owned()
    }

    /// Returns text of a log for a message: its beginning and its end, or all of it.
    fn excerpt(&self, artifact: &str) -> Option<String>;

    /// Returns what the processes used.
    ///
    /// # Errors
    /// Why that is unknown.
    fn process(&self, what: ProcessSource) -> Used;

    /// Returns how long something took, in seconds.
    ///
    /// # Errors
    /// Why that is unknown.
    fn duration(&self, what: DurationSource) -> Used;

    /// Returns how long the nodes called `name` of the measured Workflow took, in seconds.
    ///
    /// # Errors
    /// Why that is unknown.
    fn node(&self, name: &str) -> Result<Vec<f64>, String>;

    /// Returns what trials of the measured Experiment reached of `metric`.
    ///
    /// # Errors
    /// Why that is unknown.
    fn trials(&self, metric: &str, of: WhichTrials) -> Result<Vec<f64>, String>;

    /// Returns the text behind an address.
    ///
    /// # Errors
    /// Why there is none.
    fn fetch(&self, url: &str) -> Result<String, String>;

    /// Returns the values of a range query over the run's time: of each series, in the order of time.
    ///
    /// # Errors
    /// Why there are none.
    fn query(&self, query: &str) -> Result<Vec<f64>, String>;
}

/// What became of a run's evidence.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The metrics, as the spec orders them; those of one tool in the order of its output.
    pub metrics: Vec<Metric>,
    pub checks: Vec<CheckOutcome>,
    /// Why the run does not count.
    pub invalid: Vec<StatusReason>,
    /// What tools report about their own runs that makes their numbers less trustworthy. The run counts anyway, unless a check
    /// forbids it.
    pub cautions: Vec<Remark>,
    /// The reports of tools, by tool.
    pub native: BTreeMap<String, Native>,
}

/// What a tool reports about its own run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remark {
    /// Which of the known cautions it is.
    pub caution: Caution,
    /// It, as a reason of the result.
    pub reason: StatusReason,
}

/// Reads every metric from `logs` and `evidence` and judges the checks.
///
/// `logs` are in the order of roles and replicas.
pub fn measure(rules: &Rules, logs: &[Log], restarts: u32, evidence: &dyn Evidence) -> Measured {
    let mut measured = Measured::default();
    let (mut requests, mut ends) = (Vec::new(), Vec::new());
    let allows_failures = rules.checks.iter().any(|check| matches!(check, Check::FailedRequests(_)));
    for (number, rule) in rules.metrics.iter().enumerate() {
        if let From::Tool { tool, .. } = rule.from {
            for reported in tool::metrics(number, rule, logs, evidence, &mut measured) {
                if reported.failed > 0.0 && !allows_failures {
                    measured.invalid.push(failed(tool.name, &reported));
                }
                requests.push(reported);
            }
        } else {
            measured.metrics.push(metric(number, rule, logs, evidence));
        }
        ends.push(measured.metrics.len());
    }
    colliding(&mut measured, &ends);
    missing(rules, &mut measured);
    for check in &rules.checks {
        let outcome = check::judge(check, &measured, &requests, restarts);
        if !outcome.passed {
            let message = format!("the check `{}` failed: {}", outcome.name, outcome.observed);
            measured.invalid.push(StatusReason { code: ReasonCode::CheckFailed, message });
        }
        measured.checks.push(outcome);
    }
    measured
}

fn failed(tool: &str, requests: &Requests) -> StatusReason {
    let said = requests.said();
    let message = format!(
        "{tool}: {said}, so its numbers do not describe the requested load; \
         `checks: [{{failedRequests: {{max: 1%}}}}]` allows some"
    );
    StatusReason { code: ReasonCode::ToolInvalid, message }
}

/// Says which metrics came from two rules, or twice from one: which of the values was meant is unknown. `ends` is where those of each rule
/// end.
fn colliding(measured: &mut Measured, ends: &[usize]) {
    let rule = |at: usize| ends.iter().position(|end| at < *end);
    let mut seen = BTreeMap::new();
    let mut again = BTreeMap::new();
    for (at, metric) in measured.metrics.iter().enumerate() {
        if let Some(first) = seen.insert((&metric.name, &metric.labels), at) {
            let is_of_one = rule(first) == rule(at);
            again.entry(labelled(&metric.name, &metric.labels)).or_insert((is_of_one, metric.source.parser.clone()));
        }
    }
    measured.invalid.extend(again.into_iter().map(|(metric, (is_of_one, parser))| StatusReason {
        code: ReasonCode::MetricCollision,
        message: if is_of_one {
            format!(
                "the rule of {parser} produces the metric `{metric}` twice, because `rename` or `labels` of its `tool` \
                 merge two series: give them different names"
            )
        } else {
            format!(
                "two rules produce the metric `{metric}`: distinguish them by `labels`, `prefix` or `rename` of \
                 `tool`, or by another name"
            )
        },
    }));
}

/// Says which metrics are missing without which the run does not count: those that the spec needs, or all.
fn missing(rules: &Rules, measured: &mut Measured) {
    for rule in rules.metrics.iter().filter(|rule| rule.is_primary || rule.is_required) {
        let names = match (&rule.name, &rule.from) {
            (Some(name), _) => vec![MetricSelector::of_series(name, &BTreeMap::new())],
            (None, From::Tool { metrics: Some(selectors), naming, .. }) => {
                selectors.iter().map(|selector| naming.selector(selector)).collect()
            }
            _ => Vec::new(),
        };
        for name in names {
            let mut found = measured.metrics.iter().filter(|metric| name.has(&metric.name, &metric.labels));
            if found.clone().any(|metric| metric.value.is_some()) {
                continue;
            }
            let why = found.find_map(|metric| metric.reason.clone()).unwrap_or_else(|| "it was not found".to_owned());
            let what = if rule.is_primary { "primary" } else { "required" };
            let message = format!("the {what} metric `{name}` has no value: {why}");
            measured.invalid.push(StatusReason { code: ReasonCode::MetricMissing, message });
        }
    }
    let is_said = measured.invalid.iter().any(|reason| reason.code == ReasonCode::MetricMissing);
    let is_silent = |metric: &Metric| metric.value.is_none() && metric.reason.as_deref() != Some(ONLY_A_RUN);
    if !is_said && !measured.metrics.is_empty() && measured.metrics.iter().all(is_silent) {
        let first = measured.metrics.first().and_then(|metric| Some((&metric.name, metric.reason.as_ref()?)));
        let why = first.map_or_else(String::new, |(name, reason)| format!("; `{name}`: {reason}"));
        let message = format!("no metric has a value{why}");
        measured.invalid.push(StatusReason { code: ReasonCode::MetricMissing, message });
    }
}

fn metric(number: usize, rule: &MetricRule, logs: &[Log], evidence: &dyn Evidence) -> Metric {
    let mut made = unread(rule, rule.name.clone().expected("a name of what no tool names"));
    let mut series = Series::new(rule.window).in_unit(rule.metric_unit());
    let mut reduce = rule.reduce.unwrap_or(Reduce::Last);
    let mut note = None;
    // The unit that the source itself has.
    let mut own = None;
    let single = |value: Result<f64, String>, series: &mut Series| {
        series.push(Sample::of(value?));
        Ok(())
    };
    let source = &mut made.source;
    let outcome = match &rule.from {
        From::Log { pattern, parser, selector, place, .. } => {
            source.parser = (*parser).to_owned();
            source.selector = Some(selector.clone());
            match of_log(number, pattern, what_matches(parser), place, logs, evidence) {
                Ok((found, artifact, no_number)) => {
                    source.artifact = Some(artifact);
                    source.rank = found.rank();
                    series = found;
                    note = no_number;
                    Ok(())
                }
                Err(reason) => Err(reason),
            }
        }
        From::Json { file, pointer } => {
            let read = |text| file::json(text, pointer, &mut series).map(|found| note = found);
            of_file(source, "json", file, pointer, evidence, read)
        }
        From::JsonLines { file, pointer, filter } => {
            let read = |text| file::json_lines(text, pointer, filter, &mut series).map(|found| note = found);
            of_file(source, "jsonLines", file, pointer, evidence, read)
        }
        From::Csv { file, column, row, delimiter } => {
            let read = |text| file::csv(text, column, *row, *delimiter, &mut series).map(|found| note = found);
            of_file(source, "csv", file, column, evidence, read)
        }
        From::File { path } => {
            let outcome = of_file(source, "file", path, "", evidence, |text| file::single(text, &mut series));
            source.selector = None;
            outcome
        }
        From::OpenMetrics { text, name, labels } => {
            source.parser = "openMetrics".to_owned();
            source.selector = Some(file::sample_name(name, labels));
            let found = match text {
                Place::File(path) => {
                    source.artifact = Some(evidence.name_of(path));
                    evidence.open(path).and_then(file::whole).map_err(|reason| format!("{path}: {reason}"))
                }
                Place::Url(url) => evidence.fetch(url),
            };
            let read = found.and_then(|text| file::open_metrics(&text, name, labels, &mut series));
            read.map(|(unit, found)| (own, note) = (unit, found))
        }
        From::Process(what) => {
            own = Some(source_unit::of_process(*what).to_owned());
            source.parser = "process".to_owned();
            source.selector = Some(process_word(*what).to_owned());
            single(evidence.process(*what), &mut series)
        }
        From::Duration(what) => {
            own = Some(source_unit::SECOND.to_owned());
            source.parser = "duration".to_owned();
            source.selector = Some(duration_word(*what).to_owned());
            single(evidence.duration(*what), &mut series)
        }
        From::Node { name } => {
            own = Some(source_unit::SECOND.to_owned());
            source.parser = "node".to_owned();
            source.selector = Some(name.clone());
            evidence.node(name).map(|values| values.into_iter().for_each(|value| series.push(Sample::of(value))))
        }
        From::Trials { metric, of } => {
            source.parser = "trials".to_owned();
            source.selector = Some(trials_word(metric, *of));
            let values = evidence.trials(metric, *of);
            values.map(|values| values.into_iter().for_each(|value| series.push(Sample::of(value))))
        }
        From::Prometheus { query, reduce: over_time, unit } => {
            own = unit.map(str::to_owned);
            source.parser = "prometheus".to_owned();
            source.selector = Some(query.clone());
            reduce = rule.reduce.unwrap_or(*over_time);
            evidence.query(query).map(|values| values.into_iter().for_each(|value| series.push(Sample::of(value))))
        }
        From::Tool { .. } => Ok(()),
    };
    let converted = match own {
        Some(own) => in_spec_unit(&mut made, &MetricUnit::of(&own), &series),
        None => Ok(Cow::Borrowed(&series)),
    };
    let outcome = outcome.and(converted.map(|series| fill(&mut made, &series, reduce)));
    made.reason = match (note, made.reason) {
        // If the value is not a number, that is the reason itself.
        (Some(note), Some(_)) if matches!(rule.from, From::Log { .. }) && series.unreadable().is_some() => Some(note),
        (Some(note), Some(reason)) => Some(format!("{note}; {reason}")),
        (note, reason) => note.or(reason),
    };
    if let Err(reason) = outcome {
        made.value = None;
        made.reason = Some(reason);
    }
    made
}

/// Returns values that a source reports in a unit of its `own` in the unit of the spec, where that says one.
fn in_spec_unit<'s>(made: &mut Metric, own: &MetricUnit, series: &'s Series) -> Result<Cow<'s, Series>, String> {
    let Some(unit) = made.unit.as_deref().map(MetricUnit::of) else { return Ok(Cow::Borrowed(series)) };
    let source = &mut made.source;
    match own.conversion_of_source_to(&unit) {
        Some(conversion) if conversion.is_none() => Ok(Cow::Borrowed(series)),
        Some(conversion) => {
            source.converted_from.push(own.text().to_owned());
            Ok(Cow::Owned(series.converted(conversion)))
        }
        None => Err(format!(
            "{} reports it in `{own}`, which cannot be converted to the metric's unit `{unit}`",
            source.parser
        )),
    }
}

/// Returns a metric of `rule` without a value yet.
fn unread(rule: &MetricRule, name: String) -> Metric {
    Metric {
        name,
        labels: BTreeMap::new(),
        unit: rule.unit.clone(),
        direction: direction(rule.better),
        kind: if rule.is_primary { Kind::Primary } else { Kind::Secondary },
        value: None,
        aggregation: rule.reduce.unwrap_or(Reduce::Last).to_string(),
        n: 0,
        non_finite: 0,
        samples: Vec::new(),
        stats: None,
        source: Source { window: window(rule.window), ..Source::default() },
        reason: None,
    }
}

/// Says what of a metric matches lines.
fn what_matches(parser: &str) -> &'static str {
    if parser == "keyValue" { "the key" } else { "the pattern" }
}

/// Returns the values of a pattern: those of the first log, by role and replica, that has any.
fn of_log(
    number: usize,
    pattern: &Pattern,
    what: &str,
    place: &LogPlace,
    logs: &[Log],
    evidence: &dyn Evidence,
) -> Result<(Series, String, Option<String>), String> {
    let mut lines = 0;
    let mut read = Vec::new();
    for log in logs.iter().filter(|log| place.has(&log.role, log.index)) {
        let slot = log.scanned.patterns.iter().position(|rule| *rule == number);
        let Some(found) = slot.and_then(|slot| log.scanned.scanned.patterns.get(slot)) else { continue };
        if !found.series.is_empty() {
            let note = found.series.unreadable().map(|Unreadable { line, reason, .. }| {
                let line = line.expected("a line of a value of a log");
                format!("{}:{line}: {what} matched, but {reason}", log.artifact)
            });
            let Scanned { lines, ends_open, .. } = log.scanned.scanned;
            let is_last = ends_open && found.series.last_line() == Some(lines);
            let note =
                note.or_else(|| is_last.then(|| format!("the log ends in line {lines}, whose value may be truncated")));
            let mut series = found.series.clone();
            series.settle();
            return Ok((series, log.artifact.clone(), note));
        }
        lines += log.scanned.scanned.lines;
        read.push(log);
    }
    if read.is_empty() {
        return Err("no log was read for it".to_owned());
    }
    if let Some(log) = read.iter().find(|log| log.scanned.scanned.is_utf_16) {
        return Err(format!("{} is UTF-16: print UTF-8", log.artifact));
    }
    let near = read.iter().find_map(|log| {
        let text = evidence.excerpt(&log.artifact)?;
        let (number, line) = pattern::nearest(pattern, &text)?;
        // If the middle was left out, the line number is unknown.
        let is_whole = text.lines().count() as u64 == log.scanned.scanned.lines;
        let number = if is_whole { format!(" {number}") } else { String::new() };
        Some(format!("; nearest line{number}: {}", quoted(line)))
    });
    Err(format!("{what} matched 0 of {} lines{}", grouped(lines), near.unwrap_or_default()))
}

fn of_file(
    source: &mut Source,
    parser: &str,
    path: &str,
    selector: &str,
    evidence: &dyn Evidence,
    read: impl FnOnce(Box<dyn BufRead>) -> Result<(), String>,
) -> Result<(), String> {
    source.parser = parser.to_owned();
    source.artifact = Some(evidence.name_of(path));
    source.selector = Some(selector.to_owned());
    evidence.open(path).and_then(read).map_err(|reason| format!("{path}: {reason}"))
}

/// Fills in what the values determine.
fn fill(metric: &mut Metric, series: &Series, reduce: Reduce) {
    let Reduced { value, line, n, non_finite, reason } = series.reduce(reduce);
    let finite = |value: f64| Some(value).filter(|value| value.is_finite());
    metric.value = value;
    metric.aggregation = reduce.to_string();
    metric.n = n;
    metric.non_finite = non_finite;
    metric.source.line = line;
    metric.unit = metric.unit.take().or_else(|| series.printed_unit().map(str::to_owned));
    metric.source.converted_from.extend(series.converted_from().map(str::to_owned));
    metric.reason = reason;
    if n > 1 && !series.is_let_go() {
        let kept = kubebench_format::result::spread(series.count(), 10_000).filter_map(|index| series.value(index));
        metric.samples = kept.map(finite).collect();
        metric.stats = summary(series);
    }
}

fn summary(series: &Series) -> Option<Stats> {
    let values = || series.values();
    if values().any(|value| !value.is_finite()) {
        return None;
    }
    let [min, p01, p10, median, p90, p99, max] = stats::quantiles(values(), [0.0, 0.01, 0.1, 0.5, 0.9, 0.99, 1.0]);
    let made = Stats {
        mean: stats::mean(values()),
        stddev: stats::deviation(values()),
        median,
        mad: stats::median_deviation(values()),
        min,
        max,
        p01,
        p10,
        p90,
        p99,
    };
    [made.mean, made.stddev, made.mad].iter().all(|value| value.is_finite()).then_some(made)
}

fn direction(better: Option<Better>) -> Direction {
    match better {
        Some(Better::Higher) => Direction::Higher,
        Some(Better::Lower) => Direction::Lower,
        None => Direction::None,
    }
}

fn window(window: Window) -> Option<String> {
    match window {
        Window::All => None,
        Window::Steps(from, to) => Some(format!("steps {from} to {to}")),
        Window::SkipFirst(count) => Some(format!("without the first {count}")),
        Window::LastN(count) => Some(format!("the last {count}")),
    }
}

/// Returns the word of specs for what processes use.
pub fn process_word(what: ProcessSource) -> &'static str {
    match what {
        ProcessSource::CpuSeconds => "cpuSeconds",
        ProcessSource::MaxRss => "maxRss",
        ProcessSource::ReadBytes => "readBytes",
        ProcessSource::WriteBytes => "writeBytes",
    }
}

/// Returns the word of specs for what took how long.
pub fn duration_word(what: DurationSource) -> &'static str {
    match what {
        DurationSource::Queue => "queue",
        DurationSource::Startup => "startup",
        DurationSource::Run => "run",
        DurationSource::Ready => "ready",
    }
}

/// Returns how results name what trials reached of `metric`.
pub fn trials_word(metric: &str, of: WhichTrials) -> String {
    match of {
        WhichTrials::Best => format!("{metric} of best"),
        WhichTrials::All => format!("{metric} of all"),
    }
}

/// Quotes a line of a log for a message: not longer than people read.
fn quoted(line: &str) -> String {
    let line = line.trim();
    let short: String = line.chars().take(160).filter(|letter| !letter.is_control()).collect();
    if short.len() < line.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
