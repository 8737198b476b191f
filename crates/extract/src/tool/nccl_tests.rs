//! nccl-tests (and rccl-tests): the table that a collective's benchmark prints, or the JSON of `-J`.
//!
//! Sizes are bytes, times microseconds, bandwidths GB/s. Columns are found by the header, since they differ between
//! versions and tests. The greatest bandwidth need not be at the largest size. `#wrong` above 0 means that the collective
//! gave wrong data; `N/A` means not checked. Built without MPI every process is a separate test: that of the lowest rank counts
//! where a launcher names ranks. The JSON holds the whole environment, of which nothing is kept.

use std::collections::{BTreeMap, BTreeSet};

use super::renamed::{Old, Renamed};
use super::{Document, Line, LineParser, Lines, Reading, Report, Tool, ToolMetric, higher, label, lower, read_on};
use crate::number;

mod json;

pub(super) const TOOL: Tool = Tool {
    name: "nccl-tests",
    reads: "the table that `all_reduce_perf` and the others print, or the JSON of `-J`",
    source: "https://github.com/NVIDIA/nccl-tests/blob/master/src/common.cu",
    lines: Some(Lines { needles: &[], parser: || Box::new(Parser::default()) }),
    document: Some(Document::Text(json::read)),
    versions: "tables with and without `root`, and the JSON of `-J`",
    metrics: || vec![&AVERAGE, &GREATEST, &BANDWIDTH, &TIME, &CPU_TIME, &WRONG, &OUT_OF_BOUNDS],
    labels: &[
        label("test", "the test, such as `all_reduce_perf`, where the output names it"),
        label("type", "the data type, of sizes"),
        label("redop", "the operation, of sizes, where there is one"),
        label("root", "the root, of sizes, where there is one"),
    ],
    example: "{name: nccl-tests, metrics: [avg_busbw]}",
    attempts: None,
    cautions: &[],
    renamed: Some(renamed),
};

/// Version 0.1 had labels only where they differed within one output.
fn renamed(old: &Old<'_>) -> Option<Renamed> {
    let is_of_row = old.name.contains("_at_") || old.name.starts_with("max_busbw");
    let of_row: &[&str] = &["test", "type", "redop", "root"];
    let labels: &[&str] = if is_of_row { of_row } else { &["test"] };
    let is_new = |label: &&str| old.labels.contains_key(*label);
    let has_all = if is_of_row { is_new(&"type") } else { is_new(&"test") };
    (!has_all).then(|| Renamed::Unknown { name: old.name.to_owned(), labels })
}

static AVERAGE: ToolMetric = higher("avg_busbw", "GB/s", "mean bus bandwidth of all rows");
static GREATEST: ToolMetric =
    higher("max_busbw_{out_of_place|in_place}", "GB/s", "greatest bus bandwidth of all sizes");
static BANDWIDTH: ToolMetric =
    higher("busbw_at_{N}_{out_of_place|in_place}", "GB/s", "bus bandwidth at a size in bytes");
static TIME: ToolMetric = lower("time_at_{N}_{out_of_place|in_place}", "us", "time at a size in bytes");
static CPU_TIME: ToolMetric = lower("cputime_at_{N}_{out_of_place|in_place}", "us", "time of the CPU, with `-C 1`");
static WRONG: ToolMetric = lower("wrong", "1", "wrong values");
static OUT_OF_BOUNDS: ToolMetric = lower("out_of_bounds", "1", "values out of bounds");

/// The columns in which rows of a table differ, apart from the size.
const KINDS: [&str; 3] = ["type", "redop", "root"];

/// In which buffer the result is put.
const PLACES: [&str; 2] = ["out_of_place", "in_place"];

#[derive(Default)]
struct Parser {
    test: Option<String>,
    /// The rank that printed the tables.
    rank: u32,
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
    average: Option<Reading>,
    out_of_bounds: Option<Reading>,
    fault: Option<String>,
    /// The first row that could not be read.
    misread: Option<String>,
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

impl Row {
    /// Reads a word that says what was reduced, how, and from where. A test without an operation or a root prints `none` and -1.
    fn take_kind(&mut self, name: &str, word: &str) {
        if KINDS.contains(&name) && !matches!(word, "" | "none" | "-1") {
            self.kind.insert(name.to_owned(), word.to_owned());
        }
    }
}

#[derive(Clone, Default)]
struct Measured {
    time: Option<Reading>,
    /// In the place of the time, with `-C 1`.
    cpu_time: Option<Reading>,
    busbw: Option<Reading>,
    wrong: Option<Reading>,
}

impl LineParser for Parser {
    fn line(&mut self, line: &Line<'_>, _report: &mut Report) {
        let text = line.text.trim();
        if !text.starts_with('#') && text.contains("Test ") && text.contains(" failure ") {
            self.failures.push(format!("a test failed on line {}", line.number));
        }
        let rank = line.rank.unwrap_or_default();
        if !self.tables.is_empty() && rank > self.rank {
            return;
        }
        if let Some(table) = self.tables.last_mut() {
            table.is_over = table.average.is_some();
        }
        let Some(comment) = text.strip_prefix('#') else {
            if let Some(table) = self.tables.last_mut() {
                table.row(line);
            }
            return;
        };
        let comment = comment.trim();
        if let Some((_, test)) = comment.split_once("Collective test starting:") {
            self.test = Some(test.trim().to_owned());
        } else if comment.starts_with("size ") && comment.contains(" busbw") {
            if rank < self.rank {
                self.tables.clear();
            }
            self.rank = rank;
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
            report.invalid(
                "several processes each printed a table: build nccl-tests with `MPI=1`, so that they run as one test",
            );
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
        if matches!(word, "time" | "cputime") {
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
        let mut words: Vec<&str> = line.text.split_whitespace().collect();
        // Old versions leave the column blank where a test has no operation.
        if let Some(at) = self.keys.iter().position(|key| key == "redop")
            && words.get(at).is_some_and(|word| number::parse(word).is_ok())
        {
            words.insert(at, "");
        }
        let Some(size) = words.first().and_then(|word| word.parse().ok()) else { return };
        let Some((keys, mut measured)) = words.split_at_checked(self.keys.len()) else {
            return self.misread(line);
        };
        let widths = self.groups.iter().map(Vec::len);
        let places: Vec<usize> = match self.groups.first() {
            Some(group) if self.groups.len() == 2 && measured.len() == group.len() => vec![1],
            Some(_) if measured.len() >= widths.sum() => (0..self.groups.len().min(2)).collect(),
            _ => return self.misread(line),
        };
        let mut row = Row { size, kind: BTreeMap::new(), places: [None, None] };
        for (name, word) in self.keys.iter().zip(keys) {
            row.take_kind(name, word);
        }
        for place in places {
            let Some(group) = self.groups.get(place) else { continue };
            let Some((words, rest)) = measured.split_at_checked(group.len()) else { return };
            measured = rest;
            // A test that cannot work in place prints nothing else there.
            if words.iter().all(|word| *word == "N/A") {
                continue;
            }
            let mut found = Measured::default();
            for (name, word) in group.iter().zip(words) {
                let reading = read_on(line, None, word);
                match name.as_str() {
                    "time" => found.time = Some(reading),
                    "cputime" => found.cpu_time = Some(reading),
                    "busbw" => found.busbw = Some(reading),
                    // `N/A` where nothing was checked.
                    "#wrong" | "error" => found.wrong = Some(reading).filter(|_| *word != "N/A"),
                    _ => {}
                }
            }
            if let Some(slot) = row.places.get_mut(place) {
                *slot = Some(found);
            }
        }
        self.rows.push(row);
    }

    /// Remembers a line that begins as a row does and has other columns than the header says.
    fn misread(&mut self, line: &Line<'_>) {
        if line.is_whole {
            let columns = self.keys.len() + self.groups.iter().map(Vec::len).sum::<usize>();
            self.misread.get_or_insert_with(|| {
                format!("line {} is not a row of the {columns} columns that the header names", line.number)
            });
        }
    }

    fn footer(&mut self, label: &str, text: &str, line: &Line<'_>) {
        let Some(word) = text.split_whitespace().next() else { return };
        let reading = read_on(line, None, word);
        match label {
            "Out of bounds values" => self.out_of_bounds = Some(reading),
            "Avg bus bandwidth" => {
                self.is_mixed |= self.average.is_some();
                self.average = Some(reading);
            }
            _ => return,
        }
        if text.ends_with("FAILED") {
            self.fault = Some(format!("nccl-tests says `{label}: {text}`"));
        }
    }
}

fn push_tables(tables: &[Table], report: &mut Report) {
    let mut faults = BTreeMap::new();
    // Of several tables of one test, such as after a restart, the last counts: no row of another completes it.
    let is_last = |index: usize, table: &Table| tables.iter().skip(index + 1).all(|later| later.test != table.test);
    for (_, table) in tables.iter().enumerate().filter(|(index, table)| is_last(*index, table)) {
        let test = table.test.clone();
        let labels: BTreeMap<String, String> = test.map(|test| ("test".to_owned(), test)).into_iter().collect();
        let mut push = |metric, name: &str, labels: &BTreeMap<String, String>, sample| {
            report.push_named(metric, name, labels, sample);
        };
        if let Some(average) = &table.average {
            push(&AVERAGE, AVERAGE.name, &labels, average.clone());
        }
        let wrong = || table.rows.iter().flat_map(|row| &row.places).filter_map(|place| place.as_ref()?.wrong.as_ref());
        let count: f64 = wrong().filter_map(Reading::value).sum();
        let unread = wrong().find(|reading| reading.value().is_none());
        if let Some(unread) = unread {
            push(&WRONG, WRONG.name, &labels, unread.clone());
        } else if let Some(last) = wrong().next_back() {
            push(&WRONG, WRONG.name, &labels, last.clone().map(|_| count));
        }
        if let Some(count) = &table.out_of_bounds {
            push(&OUT_OF_BOUNDS, OUT_OF_BOUNDS.name, &labels, count.clone());
        }
        push_rows(table, &labels, &mut push);
        let fault = (count > 0.0).then(|| format!("the collective gave {count} wrong values"));
        faults.insert(labels, fault.or_else(|| table.fault.clone()).or_else(|| table.misread.clone()));
    }
    for fault in faults.into_values().flatten() {
        report.invalid(fault);
    }
}

type Push<'a> = dyn FnMut(&'static ToolMetric, &str, &BTreeMap<String, String>, Reading) + 'a;

fn push_rows(table: &Table, labels: &BTreeMap<String, String>, push: &mut Push<'_>) {
    let rows = &table.rows;
    let kinds: BTreeSet<_> = rows.iter().map(|row| &row.kind).collect();
    for kind in &kinds {
        let mut labels = labels.clone();
        labels.extend((*kind).clone());
        for (index, place) in PLACES.iter().enumerate() {
            // One that cannot be read might be the greatest.
            let mut greatest: Option<&Reading> = None;
            for row in rows.iter().filter(|row| row.kind == **kind) {
                let Some(measured) = row.places.get(index).and_then(Option::as_ref) else { continue };
                let times = [(&TIME, "time", &measured.time), (&CPU_TIME, "cputime", &measured.cpu_time)];
                for (metric, name, time) in times {
                    if let Some(time) = time {
                        let name = format!("{name}_at_{}_{place}", row.size);
                        push(metric, &name, &labels, time.clone());
                    }
                }
                if let Some(busbw) = &measured.busbw {
                    let name = format!("busbw_at_{}_{place}", row.size);
                    push(&BANDWIDTH, &name, &labels, busbw.clone());
                    let rank = |reading: &Reading| reading.value().unwrap_or(f64::INFINITY);
                    greatest = greatest.filter(|greatest| rank(greatest) >= rank(busbw)).or(Some(busbw));
                }
            }
            // The rows that are missing are those of large messages.
            if let Some(greatest) = greatest.cloned().filter(|_| table.average.is_some()) {
                push(&GREATEST, &format!("max_busbw_{place}"), &labels, greatest);
            }
        }
    }
}
