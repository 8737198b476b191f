//! Values in files that a run leaves: JSON, JSON Lines, CSV, OpenMetrics, or one number.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead, Read};

use serde_json::Value as Json;

use super::lines::refuse_utf_16;
use super::scan::{LogScan, ToolOutcome};
use super::series::{Reading, Sample, Series, Window};
use super::tool::Tool;
use super::unit_word::UnitWord;
use super::{json_document, number, open_metrics, unit_word};
use kubebench_format::spec::v1::metric::Reports;

mod table;

pub use table::csv;

/// A document that is larger is not read.
const MAX_DOCUMENT: u64 = 64 << 20;
/// A line of JSON, or a row of a table, that is longer is not read.
const MAX_LINE: u64 = 16 << 20;

/// What people should know of values that were read.
pub type Note = Option<String>;

/// Values that should be numbers and are not. Each is recorded as a value that is not finite: without it, the others would
/// count in its place.
#[derive(Default)]
struct Strange {
    first: Option<String>,
    count: u64,
}

impl Strange {
    fn or_nan(&mut self, read: Result<f64, String>, place: impl FnOnce() -> String) -> f64 {
        read.unwrap_or_else(|reason| {
            self.count += 1;
            self.first.get_or_insert_with(|| format!("{}: {reason}", place()));
            f64::NAN
        })
    }

    fn note(self) -> Note {
        let first = self.first?;
        Some(if self.count == 1 { first } else { format!("{first}, the first of {} such values", self.count) })
    }
}

/// Reads a file that contains one number and nothing else.
///
/// # Errors
/// Why there is none.
pub fn single(mut text: impl BufRead, series: &mut Series) -> Result<(), String> {
    let mut content = String::new();
    refuse_utf_16(text.fill_buf().map_err(|error| format!("it cannot be read: {error}"))?)?;
    text.by_ref().take(4096).read_to_string(&mut content).map_err(|error| format!("it cannot be read: {error}"))?;
    let read = series.number(without_mark(&content), None);
    series.push(Sample::of(read.map_err(|reason| format!("expected one number; {reason}"))?));
    Ok(())
}

/// Reads the value, or the values of the list, at `pointer` of a JSON document.
///
/// # Errors
/// Why there is none.
pub fn json(text: impl BufRead, pointer: &str, series: &mut Series) -> Result<Note, String> {
    let root = document(&whole(text)?)?;
    let found =
        root.pointer(pointer).ok_or_else(|| format!("there is nothing at `{pointer}`{}", nearest(&root, pointer)))?;
    let mut strange = Strange::default();
    let key = key_of(pointer);
    let named = unit_word::before(&key);
    let Some(list) = found.as_array() else {
        let read = number_of(found, series, named);
        if !found.is_null() {
            read.clone().map_err(|reason| format!("at `{pointer}`: {reason}"))?;
        }
        series.push(Sample::of(strange.or_nan(read, || format!("at `{pointer}`"))));
        return Ok(strange.note());
    };
    for (value, index) in list.iter().zip(0..) {
        let read = number_of(value, series, named);
        series.push(Sample::of(strange.or_nan(read, || format!("at `{pointer}/{index}`"))));
    }
    if list.is_empty() { Err(format!("the list at `{pointer}` is empty")) } else { Ok(strange.note()) }
}

/// Reads the value at `pointer` of every line that is JSON and matches `filter`; other lines are ignored.
///
/// # Errors
/// Why there is none.
pub fn json_lines(
    mut text: impl BufRead,
    pointer: &str,
    filter: &BTreeMap<String, String>,
    series: &mut Series,
) -> Result<Note, String> {
    let (mut lines, mut documents, mut passed) = (0_u64, 0_u64, 0_u64);
    let mut strange = Strange::default();
    let key = key_of(pointer);
    let named = unit_word::before(&key);
    // The first line that is cut, how many there are, and the last one that no value follows.
    let mut torn: Option<(u64, u64)> = None;
    let mut open_end = None;
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let mut part = text.by_ref().take(MAX_LINE + 1);
        part.read_until(b'\n', &mut line).map_err(|error| format!("line {number} cannot be read: {error}"))?;
        if line.is_empty() {
            break;
        }
        if line.len() as u64 > MAX_LINE {
            return Err(format!("line {number} is longer than {} MiB", MAX_LINE >> 20));
        }
        lines += u64::from(!line.trim_ascii().is_empty());
        if number == 1 {
            refuse_utf_16(&line)?;
        }
        let text = String::from_utf8_lossy(&line);
        let text = without_mark(&text);
        let Ok(root) = document(text) else {
            if json_document::starts_a_document(&line) {
                torn.get_or_insert((number, 0)).1 += 1;
                let part = json_document::documents(text).values.pop().unwrap_or_default();
                if filter
                    .iter()
                    .all(|(pointer, wanted)| part.pointer(pointer).is_none_or(|found| spelled(found) == *wanted))
                {
                    open_end = Some(number);
                }
            }
            continue;
        };
        documents += u64::from(root.is_object());
        let has = |(pointer, wanted): (&String, &String)| {
            root.pointer(pointer).is_some_and(|found| spelled(found) == *wanted)
        };
        if !filter.iter().all(has) {
            continue;
        }
        passed += 1;
        let Some(found) = root.pointer(pointer) else { continue };
        let value = strange.or_nan(number_of(found, series, named), || format!("line {number}"));
        let step = ["/step", "/global_step", "/iteration"]
            .iter()
            .find_map(|step| number::whole(root.pointer(step)?.as_f64()?));
        series.push(Sample { value, step, line: Some(number), rank: None });
        open_end = None;
    }
    // An older value must not replace one that is unreadable.
    if let Some(number) = open_end.filter(|_| !series.is_empty()) {
        series.push(Sample { value: f64::NAN, step: None, line: Some(number), rank: None });
    }
    if !series.is_empty() {
        let torn = torn.map(|(first, count)| match count {
            1 => format!("line {first} is truncated, or not JSON"),
            _ => format!("{count} lines are truncated, or not JSON (the first is line {first})"),
        });
        return Ok(joined(strange.note(), torn));
    }
    let among = if filter.is_empty() { String::new() } else { format!(", {passed} pass `where`") };
    Err(format!("no line has a value at `{pointer}`: of {lines} lines {documents} are JSON objects{among}"))
}

fn joined(first: Note, second: Note) -> Note {
    let notes: Vec<String> = first.into_iter().chain(second).collect();
    (!notes.is_empty()).then(|| notes.join("; "))
}

/// Reads the samples of OpenMetrics text that have this name and at least these labels.
///
/// # Errors
/// Why there is none.
pub fn open_metrics(
    text: &str,
    name: &str,
    labels: &BTreeMap<String, String>,
    series: &mut Series,
) -> Result<(Option<String>, Note), String> {
    let mut reader = open_metrics::Reader::default();
    let (mut names, mut matched) = (Vec::new(), BTreeSet::new());
    let mut malformed = None;
    for (line, number) in text.lines().zip(1..) {
        match reader.line(number, line) {
            Ok(Some(sample)) if sample.name == name => {
                if labels.iter().all(|(key, value)| sample.labels.get(key) == Some(value)) {
                    let place = Sample { value: f64::NAN, step: None, line: Some(number), rank: None };
                    series.read(Reading::of(place, sample.value));
                    matched.insert(sample.labels);
                } else {
                    names.push(sample_name(name, &sample.labels));
                }
            }
            Ok(_) => {}
            // Labels that cannot be read may be those that are wanted.
            Err(reason) if line.trim_start().strip_prefix(name).is_some_and(|rest| rest.starts_with('{')) => {
                let place = Sample { value: f64::NAN, step: None, line: Some(number), rank: None };
                series.read(Reading::of(place, Err(reason)));
            }
            Err(reason) => malformed = malformed.or(Some(reason)),
        }
    }
    if !series.is_empty() {
        let several = (matched.len() > 1)
            .then(|| format!("{} sets of labels have this name: choose one of them with `labels`", matched.len()));
        let unreadable = series.unreadable().map(|found| match found.line {
            Some(line) => format!("line {line}: {}", found.reason),
            None => found.reason.clone(),
        });
        return Ok((reader.declared_unit(name), joined(unreadable, several)));
    }
    let wanted = sample_name(name, labels);
    Err(match malformed {
        _ if !names.is_empty() => format!("there is no sample `{wanted}`; there are {}", listed(&names)),
        Some(reason) => format!("there is no sample `{wanted}`; {reason}"),
        None => format!("there is no sample `{wanted}`"),
    })
}

/// Spells a sample's name and labels as the format does.
pub(crate) fn sample_name(name: &str, labels: &BTreeMap<String, String>) -> String {
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}={value:?}")).collect();
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", labels.join(",")) }
}

/// Reads the output of a tool.
///
/// # Errors
/// Why it cannot be read.
pub fn tool(
    tool: &'static Tool,
    window: Window,
    reports: Reports,
    mut text: impl BufRead,
) -> Result<ToolOutcome, String> {
    let mut scan = LogScan::new();
    scan.read_as(tool, window, reports);
    loop {
        let bytes = text.fill_buf().map_err(|error| format!("it cannot be read: {error}"))?;
        let taken = bytes.len();
        if taken == 0 {
            return scan.finish().tools.pop().ok_or_else(|| "nothing was read".to_owned());
        }
        scan.feed(bytes);
        text.consume(taken);
    }
}

/// Reads a whole text.
///
/// # Errors
/// Why it cannot be read.
pub fn whole(text: impl BufRead) -> Result<String, String> {
    let mut bytes = Vec::new();
    text.take(MAX_DOCUMENT + 1).read_to_end(&mut bytes).map_err(|error| format!("it cannot be read: {error}"))?;
    if bytes.len() as u64 > MAX_DOCUMENT {
        return Err(format!("it is larger than {} MiB", MAX_DOCUMENT >> 20));
    }
    refuse_utf_16(&bytes)?;
    Ok(without_mark(&String::from_utf8_lossy(&bytes)).to_owned())
}

/// Returns a text without its byte order mark, which some programs put at the beginning of UTF-8.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads JSON, and what Python's `json` writes for numbers that JSON does not have.
fn document(text: &str) -> Result<Json, String> {
    serde_json::from_str(text).or_else(|_| {
        let found = json_document::documents(text);
        found.flaw.clone().map_or_else(|| Ok(found.last(|_| true)), Err)
    })
}

/// Reads a value whose key may include its unit, `named`.
fn number_of(value: &Json, series: &mut Series, named: Option<UnitWord<'_>>) -> Result<f64, String> {
    match value {
        Json::Number(number) if named.is_some() => series.number(&number.to_string(), named),
        Json::Number(number) => number.as_f64().ok_or_else(|| format!("`{number}` is not a 64-bit number")),
        Json::String(text) => series.number(text, named),
        other => Err(format!("{} is not a number", kind(other))),
    }
}

/// Returns the last key of `pointer` that is not a list index, with what precedes it.
fn key_of(pointer: &str) -> String {
    let key = pointer.trim_end_matches(|letter: char| letter == '/' || letter.is_ascii_digit());
    key.replace("~1", "/").replace("~0", "~")
}

fn kind(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "true or false",
        Json::Number(_) => "a number",
        Json::String(_) => "a text",
        Json::Array(_) => "a list",
        Json::Object(_) => "an object",
    }
}

fn spelled(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Says what there is as far as the pointer leads.
fn nearest(root: &Json, pointer: &str) -> String {
    let mut at = root;
    let mut path = String::new();
    for step in pointer.split('/').skip(1) {
        let next = format!("{path}/{step}");
        let Some(found) = root.pointer(&next) else { break };
        (at, path) = (found, next);
    }
    let keys: Vec<String> = at.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect();
    let place = if path.is_empty() { "at the top".to_owned() } else { format!("at `{path}`") };
    if keys.is_empty() {
        format!("; {place} is {}", kind(at))
    } else {
        format!("; {place} there are {}", listed(&keys))
    }
}

/// Names at most eight of `names`.
pub(super) fn listed(names: &[String]) -> String {
    let mut words: Vec<String> = names.iter().take(8).map(|name| format!("`{name}`")).collect();
    if names.len() > words.len() {
        words.push(format!("{} more", names.len() - words.len()));
    }
    words.join(", ")
}

#[cfg(test)]
mod tests;
