//! Bencher Metric Format: an object of benchmarks, each an object of measures.

use std::io::{self, Write as _};

use serde_json::{Map, Value as Json, json};

use super::latest::{Key, Latest};
use super::omissions::Omissions;
use super::{Exporter, Sink};
use kubebench_format::result::BenchmarkResult;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// Bencher takes no longer name of a benchmark.
const BENCHMARK: usize = 1024;
/// Nor of a measure.
const MEASURE: usize = 64;

pub(super) struct Bmf {
    sink: Sink,
    latest: Latest,
    left: Omissions,
}

impl Bmf {
    pub(super) fn new(sink: Sink) -> Self {
        Self { sink, latest: Latest::default(), left: Omissions::default() }
    }
}

/// Returns a name of at most `most` bytes; a longer one ends in its digest.
fn fitting(name: String, most: usize) -> String {
    if name.len() <= most {
        return name;
    }
    let digest = Digest::of(&name).short();
    let mut end = most - digest.len() - 1;
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}-{digest}", name.get(..end).expected("the end of a character"))
}

/// Returns the measure of a metric; its unit is part of it where the case has another metric of that name and labels.
fn measure(key: &Key, others: &Map<String, Json>) -> String {
    let name = fitting(key.shown(), MEASURE);
    if !others.contains_key(&name) {
        return name;
    }
    fitting(format!("{} {}", key.shown(), key.unit.as_deref().unwrap_or("1")), MEASURE)
}

impl Exporter for Bmf {
    fn add(&mut self, result: &BenchmarkResult) -> io::Result<()> {
        self.left.beside_rows(result);
        self.left.samples(result);
        self.latest.add(result);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> io::Result<Omissions> {
        let mut benchmarks = Map::new();
        for (place, last) in &self.latest.places {
            let mut measures = Map::new();
            for (key, measured) in &last.metrics {
                let Some(value) = measured.median() else {
                    self.left.add("metrics without a value", 1);
                    continue;
                };
                let mut metric = json!({ "value": value });
                if let (Some((least, most)), Some(metric)) = (measured.range(), metric.as_object_mut()) {
                    metric.insert("lower_value".to_owned(), json!(least));
                    metric.insert("upper_value".to_owned(), json!(most));
                }
                measures.insert(measure(key, &measures), metric);
            }
            let name = fitting(last.name(place), BENCHMARK);
            // Two cases that people cannot distinguish.
            let name = if benchmarks.contains_key(&name) {
                fitting(format!("{name} {}", place.case), BENCHMARK)
            } else {
                name
            };
            if measures.is_empty() {
                self.left.add("cases without a value", 1);
            } else {
                benchmarks.insert(name, Json::Object(measures));
            }
        }
        serde_json::to_writer_pretty(&mut self.sink, &Json::Object(benchmarks))?;
        self.sink.write_all(b"\n")?;
        self.sink.flush()?;
        Ok(self.left)
    }
}
