//! The format of Go's benchmarks, which benchstat reads: a line for each run, with all its metrics.
//!
//! Lines `key: value` hold until the next one of that key. benchstat makes a table for each of their combinations, so they
//! contain only what must not be mixed, and the commit, by which people compare.

use std::collections::BTreeMap;
use std::io::{self, Write as _};

use super::omissions::Omissions;
use super::text::{encoded, is_hidden, number};
use super::{Exporter, Sink};
use kubebench_format::result::v1::{Direction, Metric, Status};
use kubebench_format::result::{BenchmarkResult, plain};
use kubebench_syntax::invariant::Invariant as _;

pub(super) struct Benchfmt {
    sink: Sink,
    /// What holds now.
    config: BTreeMap<&'static str, String>,
    /// The units whose better side was said.
    units: BTreeMap<String, Direction>,
    left: Omissions,
}

impl Benchfmt {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, config: BTreeMap::new(), units: BTreeMap::new(), left: Omissions::default() }
    }

    fn configure(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        let BenchmarkResult { metadata, run, source, environment, .. } = result;
        let cpus: Vec<&str> = environment.nodes.iter().filter_map(|node| node.cpu_model.as_deref()).collect();
        let marked = |mark: &str, holds: bool| holds.then(|| mark.to_owned());
        let status = serde_json::to_value(run.status).ok().and_then(|status| status.as_str().map(str::to_owned));
        let status = status.expected("a word for each status");
        let lines = [
            ("pkg", Some(metadata.benchmark.clone())),
            ("target", Some(metadata.target.clone())),
            ("cpu", cpus.first().map(|&cpu| cpu.to_owned())),
            ("fingerprint", Some(environment.fingerprint.clone())),
            ("commit", source.commit.clone()),
            ("warmup", marked("true", run.warmup)),
            ("status", (run.status != Status::Succeeded).then_some(status)),
            ("synthetic", marked("true", result.synthetic)),
        ];
        for (key, value) in lines {
            let value = value.map(|value| encoded(value.trim(), is_hidden)).filter(|value| !value.is_empty());
            if self.config.get(key) == value.as_ref() {
                continue;
            }
            if let Some(value) = value {
                writeln!(self.sink, "{key}: {value}")?;
                self.config.insert(key, value);
            } else {
                writeln!(self.sink, "{key}:")?;
                self.config.remove(key);
            }
        }
        Ok(())
    }

    /// Says once which way a unit is better.
    fn declare(&mut self, unit: &str, direction: Direction) -> io::Result<()> {
        let better = match direction {
            Direction::Higher => "higher",
            Direction::Lower => "lower",
            Direction::None => return Ok(()),
        };
        match self.units.get(unit) {
            Some(known) if *known != direction => {
                self.left.add("directions that differ from those of another benchmark", 1);
            }
            Some(_) => {}
            None => {
                self.units.insert(unit.to_owned(), direction);
                writeln!(self.sink, "Unit {unit} better={better}")?;
            }
        }
        Ok(())
    }
}

impl Exporter for Benchfmt {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        self.left.samples(result);
        let mut lines: BTreeMap<&BTreeMap<String, String>, Vec<(&Metric, f64)>> = BTreeMap::new();
        for metric in &result.metrics {
            match metric.value {
                Some(value) => lines.entry(&metric.labels).or_default().push((metric, value)),
                None => self.left.add("metrics without a value", 1),
            }
        }
        if lines.is_empty() {
            self.left.add("runs without a value", 1);
            return Ok(());
        }
        self.configure(result)?;
        for (labels, metrics) in lines {
            let mut line = format!("{} 1", name(result, labels));
            for (metric, value) in metrics {
                let unit = unit(metric);
                self.declare(&unit, metric.direction)?;
                line.push_str(&format!(" {} {unit}", number(value)));
            }
            writeln!(self.sink, "{line}")?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        self.sink.flush()?;
        Ok(self.left)
    }
}

/// Returns the name of a line: the benchmark, its parameters and the labels, and the number of processors.
fn name(result: &BenchmarkResult, labels: &BTreeMap<String, String>) -> String {
    let BenchmarkResult { metadata, environment, .. } = result;
    let mut letters = metadata.benchmark.chars();
    let first: String = letters.next().map(|first| first.to_ascii_uppercase()).into_iter().collect();
    let mut name = format!("Benchmark{first}{}", letters.as_str());
    let params = metadata.spelled_params();
    let params = params.iter().map(|(key, value)| (key, plain(value)));
    for (key, value) in params.chain(labels.iter().map(|(key, value)| (key, value.clone()))) {
        name.push_str(&format!("/{}={}", part(key), part(&value)));
    }
    // Always there: what ends in a dash and digits would be taken for it.
    let cpus = environment.nodes.first().and_then(|node| node.cpu_count).unwrap_or(1);
    format!("{name}-{cpus}")
}

fn part(text: &str) -> String {
    encoded(text, |c| is_hidden(c) || c.is_whitespace() || matches!(c, '/' | '='))
}

/// Returns the unit of a metric with its name before it: benchstat distinguishes metrics by units alone.
fn unit(metric: &Metric) -> String {
    let is_bad = |c: char| is_hidden(c) || c.is_whitespace();
    match metric.unit.as_deref() {
        None | Some("1" | "") => encoded(&metric.name, is_bad),
        Some(unit) => format!("{}-{}", encoded(&metric.name, is_bad), encoded(unit, is_bad)),
    }
}
