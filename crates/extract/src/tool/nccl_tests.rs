//! nccl-tests (and rccl-tests): the table that a collective's benchmark prints, or the JSON of `-J`.
//!
//! Sizes are bytes, times microseconds, bandwidths GB/s. Columns are found by the header, since they differ between
//! versions and tests. The greatest bandwidth need not be at the largest size. `#wrong` above 0 means that the collective
//! gave wrong data; `N/A` means that nobody looked. Built without MPI every process is a test of its own. The JSON holds the whole environment, of which nothing is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::{Line, LineParser, Lines, ONE, Report, Sample, Tool};
use crate::number;
use kubebench_format::spec::v1::metric::Better;

mod json;

pub(super) const TOOL: Tool = Tool {
    name: "nccl-tests",
    reads: "the table that `all_reduce_perf` and the others print, or the JSON of `-J`",
    source: "https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: Some(json::read),
    metrics: None,
};

/// In which buffer the result is put.
const PLACES: [&str; 2] = ["out_of_place", "in_place"];

#[derive(Default)]
struct Parser {
    test: Option<String>,
    tables: Vec<Table>,
    failures: Vec<String>,
}

/// What one run of a test measured.
#[derive(Default)]
struct Table {
    test: Option<String>,
    /// The header's words before those of the measurements.
    keys: Vec<String>,
    /// The header's words of each group of measurements.
    groups: Vec<Vec<String>>,
    rows: Vec<Row>,
    average: Option<Sample>,
    out_of_bounds: Option<Sample>,
    fault: Option<String>,
    /// Whether a line came after the average, without which that may be half a number.
    is_over: bool,
    /// Whether several processes printed tables of their own at a time: rows went into the last one begun.
    is_mixed: bool,
}

struct Row {
    size: u64,
    /// Data type, operation and root, where the test has them.
    kind: BTreeMap<String, String>,
    /// Time, bus bandwidth and wrong values of each place.
    places: [Option<Measured>; 2],
}

#[derive(Clone, Copy, Default)]
struct Measured {
    time: Option<Sample>,
    busbw: Option<Sample>,
    wrong: Option<Sample>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, _report: &mut Report) {
        let text = line.text.trim();
        if let Some(table) = self.tables.last_mut() {
            table.is_over = table.average.is_some();
        }
        let Some(comment) = text.strip_prefix('#') else {
            if text.contains("Test ") && text.contains(" failure ") {
                self.failures.push(format!("a test failed on line {}", line.number));
            } else if let Some(table) = self.tables.last_mut() {
                table.row(line);
            }
            return;
        };
        let comment = comment.trim();
        if let Some((_, test)) = comment.split_once("Collective test starting:") {
            self.test = Some(test.trim().to_owned());
        } else if comment.starts_with("size ") && comment.contains(" busbw") {
            self.tables.push(Table { test: self.test.clone(), ..header(comment) });
        } else if let (Some(table), Some((label, value))) = (self.tables.last_mut(), comment.split_once(':')) {
            table.footer(label.trim(), value.trim(), line);
        }
    }

    fn finish(&mut self, report: &mut Report) {
        for failure in &self.failures {
            report.invalid(failure.as_str());
        }
        if self.tables.iter().any(|table| table.is_mixed) {
            report.invalid("several processes printed tables of their own: build nccl-tests with `MPI=1`, so that they are one test");
        }
        if self.tables.iter().all(|table| table.rows.is_empty()) {
            report.invalid("the log holds no row of results");
        } else if self.tables.last().is_some_and(|table| !table.is_over) {
            report.invalid("the table was cut off: the line `Avg bus bandwidth`, or what follows it, is missing");
        }
        push_tables(&self.tables, report);
    }
}

/// Reads the line of the header that names the columns: keys of a row, then a group for each place.
fn header(comment: &str) -> Table {
    let mut table = Table::default();
    for word in comment.split_whitespace() {
        if word == "time" {
            table.groups.push(Vec::new());
        }
        match table.groups.last_mut() {
            Some(group) => group.push(word.to_owned()),
            None => table.keys.push(word.to_owned()),
        }
    }
    table
}

impl Table {
    fn row(&mut self, line: &Line<'_>) {
        let words: Vec<&str> = line.text.split_whitespace().collect();
        let Some((keys, mut measured)) = words.split_at_checked(self.keys.len()) else { return };
        let Some(size) = keys.first().and_then(|word| word.parse().ok()) else { return };
        let widths = self.groups.iter().map(Vec::len);
        let places: Vec<usize> = match self.groups.first() {
            Some(group) if self.groups.len() == 2 && measured.len() == group.len() => vec![1],
            Some(_) if measured.len() >= widths.sum() => (0..self.groups.len().min(2)).collect(),
            _ => return,
        };
        let mut row = Row { size, kind: BTreeMap::new(), places: [None, None] };
        for (name, word) in self.keys.iter().zip(keys) {
            if matches!(name.as_str(), "type" | "redop" | "root") {
                row.kind.insert(name.clone(), (*word).to_owned());
            }
        }
        for place in places {
            let Some(group) = self.groups.get(place) else { continue };
            let Some((words, rest)) = measured.split_at_checked(group.len()) else { return };
            measured = rest;
            let mut found = Measured::default();
            for (name, word) in group.iter().zip(words) {
                let value = number::parse(word).ok();
                let sample = value.map(|value| Sample { value, step: None, line: Some(line.number), rank: line.rank });
                match name.as_str() {
                    "time" => found.time = sample,
                    "busbw" => found.busbw = sample,
                    "#wrong" | "error" => found.wrong = sample,
                    _ => {}
                }
            }
            if let Some(slot) = row.places.get_mut(place) {
                *slot = Some(found);
            }
        }
        self.rows.push(row);
    }

    fn footer(&mut self, label: &str, text: &str, line: &Line<'_>) {
        let value = text.split_whitespace().next().and_then(|word| number::parse(word).ok());
        let sample = value.map(|value| Sample { value, step: None, line: Some(line.number), rank: line.rank });
        match label {
            "Out of bounds values" => self.out_of_bounds = sample,
            "Avg bus bandwidth" => {
                self.is_mixed |= self.average.is_some();
                self.average = sample;
            }
            _ => return,
        }
        if text.ends_with("FAILED") {
            self.fault = Some(format!("nccl-tests says `{label}: {text}`"));
        }
    }
}

fn push_tables(tables: &[Table], report: &mut Report) {
    let tests: BTreeSet<_> = tables.iter().map(|table| &table.test).collect();
    let mut faults = BTreeMap::new();
    for table in tables {
        let test = table.test.clone().filter(|_| tests.len() > 1);
        let labels: BTreeMap<String, String> = test.map(|test| ("test".to_owned(), test)).into_iter().collect();
        let mut push = |name: &str, unit: &str, better, labels: &BTreeMap<String, String>, sample| {
            report.push_named(name, unit, better, labels, ONE, sample);
        };
        if let Some(average) = table.average {
            push("avg_busbw", "GB/s", Some(Better::Higher), &labels, average);
        }
        let wrong: Vec<Sample> =
            table.rows.iter().flat_map(|row| &row.places).filter_map(|place| (*place)?.wrong).collect();
        let count: f64 = wrong.iter().map(|sample| sample.value).sum();
        if let Some(last) = wrong.last() {
            push("wrong", "1", Some(Better::Lower), &labels, Sample { value: count, ..*last });
        }
        if let Some(count) = table.out_of_bounds {
            push("out_of_bounds", "1", Some(Better::Lower), &labels, count);
        }
        push_rows(table, &labels, &mut push);
        let fault = (count > 0.0).then(|| format!("the collective gave {count} wrong values"));
        // After a restart the last table of a test is the one that counts.
        faults.insert(labels, fault.or_else(|| table.fault.clone()));
    }
    for fault in faults.into_values().flatten() {
        report.invalid(fault);
    }
}

type Push<'a> = dyn FnMut(&str, &str, Option<Better>, &BTreeMap<String, String>, Sample) + 'a;

fn push_rows(table: &Table, labels: &BTreeMap<String, String>, push: &mut Push<'_>) {
    let rows = &table.rows;
    let kinds: BTreeSet<_> = rows.iter().map(|row| &row.kind).collect();
    for kind in &kinds {
        // Only what differs between the rows tells them apart.
        let differs = |key: &&String| kinds.iter().any(|other| other.get(*key) != kind.get(*key));
        let mut labels = labels.clone();
        labels.extend(kind.iter().filter(|(key, _)| differs(key)).map(|(key, value)| (key.clone(), value.clone())));
        for (index, place) in PLACES.iter().enumerate() {
            let mut greatest: Option<Sample> = None;
            for row in rows.iter().filter(|row| row.kind == **kind) {
                let Some(measured) = row.places.get(index).copied().flatten() else { continue };
                if let Some(time) = measured.time {
                    push(&format!("time_at_{}_{place}", row.size), "us", Some(Better::Lower), &labels, time);
                }
                if let Some(busbw) = measured.busbw {
                    push(&format!("busbw_at_{}_{place}", row.size), "GB/s", Some(Better::Higher), &labels, busbw);
                    greatest = greatest.filter(|greatest| greatest.value >= busbw.value).or(Some(busbw));
                }
            }
            // The rows that are missing are those of large messages.
            if let Some(greatest) = greatest.filter(|_| table.average.is_some()) {
                push(&format!("max_busbw_{place}"), "GB/s", Some(Better::Higher), &labels, greatest);
            }
        }
    }
}
