//! Go's benchmark lines: `BenchmarkName-8   3000000   44.6 ns/op   336.59 MB/s`.
//!
//! The lines of a name that `-count` repeats are samples: their median is the headline. The suffix is the number of CPUs
//! and part of the name. `ns/op` has the bare name, every other unit a name of its own (`Name.MB/s`). The package is the label
//! `pkg`. What a benchmark prints splits its line: the result that follows without a name is of the name before it.

use std::collections::BTreeMap;

use super::{
    Headline, Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, higher, label, lower, plain, read_on,
};
use kubebench_format::spec::v1::metric::Reduce;

pub(super) const TOOL: Tool = Tool {
    name: "go-bench",
    reads: "the lines `BenchmarkName N value unit …` of `go test -bench`",
    source: "https://go.googlesource.com/proposal/+/master/design/14313-benchmark-format.md",
    lines: Some(Lines {
        needles: &["Benchmark", " ns/op", "FAIL", "pkg:", "panic:"],
        parser: || Box::new(Parser::default()),
    }),
    document: None,
    versions: "the format, which has no versions",
    metrics: || METRICS.iter().collect(),
    labels: &[label("pkg", "the package, where the output names it")],
    example: "{name: go-bench, metrics: [Sort-8.median]}",
    attempts: None,
    cautions: &[],
    renamed: Some(|old| old.with(&["pkg"], None)),
};

const REPEATED: &[Headline] = &[Headline::of(".median", Reduce::Median)];

#[derive(Default)]
struct Parser {
    package: Option<String>,
    /// The name that was printed without a result behind it: what the benchmark prints comes between the two.
    pending: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    package: Option<String>,
    name: String,
    unit: String,
    reading: Reading,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, report: &mut Report) {
        if let Some(package) = line.text.strip_prefix("pkg:") {
            self.package = Some(package.trim().to_owned());
        } else if let Some(failed) = line.text.trim_start().strip_prefix("--- FAIL: ") {
            let name = failed.split_whitespace().next().unwrap_or_default();
            report.invalid(format!("`{name}` failed"));
        } else if line.text == "FAIL" || line.text.starts_with("FAIL\t") {
            report.invalid("`go test` reports `FAIL`");
        } else if line.text.starts_with("panic: ") {
            report.invalid("a benchmark panicked");
        } else {
            self.benchmark(line, report);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        if self.rows.is_empty() {
            report.invalid("the output holds no benchmark");
        }
        for row in &self.rows {
            let labels: BTreeMap<String, String> =
                row.package.iter().map(|package| ("pkg".to_owned(), package.clone())).collect();
            let metric = metric_of(&row.unit);
            let name = metric.name.replace("{benchmark}", &row.name).replace("{unit}", &row.unit);
            report.push_in(metric, &name, &row.unit, &labels, row.reading.clone());
        }
    }
}

impl Parser {
    fn benchmark(&mut self, line: &Line<'_>, report: &mut Report) {
        // `MB/` may have been `MB/s`.
        let last = line.text.split_whitespace().next_back().unwrap_or_default();
        let text = if metric_of(last).better.is_some() { line.text } else { line.whole_words() };
        let words: Vec<&str> = text.split_whitespace().collect();
        let name = words.first().and_then(|word| word.strip_prefix("Benchmark"));
        // `Benchmarking` is a word; the name of a benchmark continues with anything but a lower-case letter.
        match (name.filter(|name| !name.starts_with(char::is_lowercase)), words.as_slice()) {
            (Some(name), [_, count, values @ ..]) if is_count(count) || values.get(1) == Some(&"ns/op") => {
                self.pending = None;
                self.result(name, values, line);
            }
            (Some(name), words) => {
                self.pending = Some(name.to_owned());
                self.split_result(words, line);
            }
            (None, words) if self.pending.is_some() => self.split_result(words, line),
            (None, [count, _, "ns/op", ..]) if is_count(count) => {
                report.invalid(format!("line {} holds a result, but no benchmark name precedes it", line.number));
            }
            (None, _) => {}
        }
    }

    /// Reads the result of the pending benchmark, which follows the benchmark's own output: `cache warmed 2408 333937 ns/op`.
    fn split_result(&mut self, words: &[&str], line: &Line<'_>) {
        let Some(count) = words.iter().position(|word| *word == "ns/op").and_then(|time| time.checked_sub(2)) else {
            return;
        };
        let is_result = words.get(count).is_some_and(|count| is_count(count));
        if is_result
            && let Some(name) = self.pending.take()
            && let Some(values) = words.get(count + 1..)
        {
            self.result(&name, values, line);
        }
    }

    fn result(&mut self, name: &str, values: &[&str], line: &Line<'_>) {
        for pair in values.chunks_exact(2) {
            let [value, unit] = pair else { return };
            let reading = read_on(line, None, value);
            // Output of the benchmark itself may begin like its row.
            if reading.value().is_none() && !unit.contains('/') {
                return;
            }
            self.rows.push(Row {
                package: self.package.clone(),
                name: name.to_owned(),
                unit: (*unit).to_owned(),
                reading,
            });
        }
    }
}

fn is_count(word: &str) -> bool {
    word.parse::<u64>().is_ok()
}

static METRICS: [ToolMetric; 5] = [
    lower("{benchmark}.B/op", "B/op", "bytes that an operation allocates, with `-benchmem`").of(REPEATED),
    lower("{benchmark}.allocs/op", "allocs/op", "allocations of an operation, with `-benchmem`").of(REPEATED),
    higher("{benchmark}.MB/s", "MB/s", "throughput, with `b.SetBytes`").of(REPEATED),
    plain("{benchmark}.{unit}", "", "what `b.ReportMetric` reports").of(REPEATED).in_unit_of_output(),
    lower("{benchmark}", "ns/op", "time of an operation").of(REPEATED),
];

/// Returns the metric of what is measured in `unit`.
fn metric_of(unit: &str) -> &'static ToolMetric {
    let [bytes, allocations, rate, own, time] = &METRICS;
    match unit {
        "ns/op" => time,
        "B/op" => bytes,
        "allocs/op" => allocations,
        "MB/s" => rate,
        _ => own,
    }
}
