//! An exposition in the text format of OpenMetrics or Prometheus.
//!
//! Every sample is a metric with its labels, except buckets of histograms and times of creation. An exposition that ends
//! without `# EOF` is complete in Prometheus' format and truncated in OpenMetrics', which differ in nothing but that line;
//! both are read. Of several expositions in one text the last counts. Lines that are not samples are skipped,
//! unless they begin with the name of a family.

use std::collections::BTreeMap;

use super::{Line, LineParser, Lines, Reading, Report, Sample, Tool, ToolMetric, label, plain};
use crate::open_metrics::Reader;
use kubebench_syntax::invariant::Invariant as _;

pub(super) const TOOL: Tool = Tool {
    name: "openmetrics",
    reads: "the text format of OpenMetrics or Prometheus",
    source: "https://prometheus.io/docs/specs/om/open_metrics_spec/",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: None,
    versions: "OpenMetrics 1.0 and the text format of Prometheus",
    metrics: || vec![&METRIC],
    labels: &[label("{label}", "the labels of the sample")],
    example: "{name: openmetrics, file: metrics.txt, metrics: [queue_depth]}",
    attempts: None,
    cautions: &[],
    renamed: None,
};

static METRIC: ToolMetric = plain("{sample}", "", "a sample, but for buckets of histograms").in_unit_of_output();

#[derive(Default)]
struct Parser {
    reader: Reader,
    has_sample: bool,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        let sample = match self.reader.line(line.number, line.text) {
            Ok(Some(sample)) => sample,
            Ok(None) => return,
            Err(reason) => {
                // Other words in a log are not an error of the exposition.
                let name = line.text.split(['{', ' ']).next().expected("a first part of every split");
                if self.reader.knows(name) {
                    report.invalid(reason);
                }
                return;
            }
        };
        // Other words in a log are not a sample.
        if sample.value.is_err() && !self.reader.knows(&sample.name) {
            return;
        }
        self.has_sample = true;
        let kind = self.reader.kind_of(&sample.name);
        let is_distribution = kind.is_some_and(|kind| matches!(kind, "histogram" | "gaugehistogram"));
        let is_created = kind.is_some_and(|kind| kind != "gauge") && sample.name.ends_with("_created");
        if is_created || is_distribution && sample.name.ends_with("_bucket") {
            return;
        }
        let labels: BTreeMap<String, String> = sample.labels;
        let place = Sample { value: f64::NAN, step: None, line: Some(sample.line), rank: line.rank };
        let value = Reading::of(place, sample.value);
        report.push_in(&METRIC, &sample.name, &self.reader.unit_of(&sample.name), &labels, value);
    }

    fn finish(&mut self, report: &mut Report) {
        if !self.has_sample {
            report.invalid("the text holds no sample");
        }
    }
}
