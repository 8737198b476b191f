//! Results that no benchmark would leave, sealed as if one had.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use kubebench_format::result::v1::{Direction, Kind, Metric, Source};
use kubebench_format::result::{self, BenchmarkResult};
use serde_json::{Value, json};

use crate::support::project::{Folder, files_below, repository};

/// Texts that some format or reader takes for something else.
pub(super) const TEXTS: &[&str] = &[
    "=cmd|' /C calc'!A0",
    "two\nlines",
    "two\r\nlines",
    "a \"quoted\" 'one', with a comma; and\ta tab",
    "back\\slash \\N \\. \\n",
    "right \u{202E}to left\u{202C} \u{200F}mark",
    "nul\0inside",
    "",
    " space at the ends ",
    "-1+2",
    "{\"json\": [1]}",
    "Ünïcödé 漢字 🚀",
    "%41 $HOME ${x} <b>&amp;</b>",
    "# EOF",
    "\u{1}\u{7f}\u{85}\u{2028}",
];

/// Numbers at the ends of what a double holds.
pub(super) const NUMBERS: &[f64] =
    &[1e308, -1e308, f64::MAX, f64::MIN_POSITIVE, 5e-324, 0.1 + 0.2, -3.5, 0.0, 1e16, 123_456_789.123_456_78];

/// A real result of this repository.
pub(super) fn real() -> BenchmarkResult {
    let files = files_below(&repository().join("results/wordpiece"));
    let file = files.iter().find(|file| file.to_str().is_some_and(|name| name.contains("-r1-"))).unwrap();
    result::read(&fs::read(file).unwrap()).unwrap().result
}

/// The real result as the run `number` of the session `session`.
pub(super) fn run(session: u32, number: u32) -> BenchmarkResult {
    let mut made = real();
    made.run.id = format!("{session:016x}{number:016x}");
    made.run.session = format!("session-{session}");
    made.run.repeat = number;
    made.run.started_at = format!("2026-03-{session:02}T00:00:{number:02}.125Z");
    made.run.finished_at = format!("2026-03-{session:02}T00:01:{number:02}Z");
    made
}

pub(super) fn metric(name: &str, value: Option<f64>) -> Metric {
    Metric {
        name: name.to_owned(),
        labels: BTreeMap::new(),
        unit: Some("s".to_owned()),
        direction: Direction::Lower,
        kind: Kind::Secondary,
        value,
        aggregation: "median".to_owned(),
        n: 1,
        non_finite: 0,
        samples: Vec::new(),
        stats: None,
        source: Source { parser: "log".to_owned(), ..Source::default() },
        reason: value.is_none().then(|| "nothing was found".to_owned()),
    }
}

/// A run for each of [`TEXTS`], in every place where a text of a user can be.
pub(super) fn hostile() -> Vec<BenchmarkResult> {
    let of_text = |(number, text): (u32, &&str)| {
        let text = (*text).to_owned();
        let mut made = run(1, number);
        made.metadata.case_name = text.clone();
        made.metadata.params = BTreeMap::from([
            (text.clone(), json!(text)),
            ("number".to_owned(), json!(1e308)),
            ("deep".to_owned(), json!({ "list": [1, null, text] })),
        ]);
        made.metadata.labels = BTreeMap::from([(text.clone(), text.clone()), ("team".to_owned(), "a".to_owned())]);
        made.metadata.target = text.clone();
        made.source.spec_path = text.clone();
        made.annotations = BTreeMap::from([("note".to_owned(), text.clone())]);
        made.metrics = NUMBERS.iter().enumerate().map(|(at, value)| metric(&format!("m-{at}"), Some(*value))).collect();
        let mut named = metric(&text, Some(1.5));
        named.labels = BTreeMap::from([(text.clone(), text.clone()), ("q".to_owned(), "p99".to_owned())]);
        named.unit = Some(text.clone());
        named.direction = Direction::Higher;
        named.samples = NUMBERS.iter().copied().map(Some).chain([None]).collect();
        named.source.selector = Some(text.clone());
        let mut missing = metric("missing", None);
        missing.reason = Some(text);
        missing.direction = Direction::None;
        made.metrics.extend([named, missing]);
        made
    };
    (1..).zip(TEXTS).map(of_text).collect()
}

/// A folder of the results `made`, sealed, each in its place below `results`.
pub(super) fn folder(made: impl IntoIterator<Item = BenchmarkResult>) -> (Folder, Vec<BenchmarkResult>) {
    let folder = Folder::with::<&str, &str>([]);
    fs::create_dir_all(folder.path().join("results")).unwrap();
    let mut sealed: Vec<_> = made.into_iter().map(result::seal).collect();
    sealed.sort_by_key(|sealed| result::path(&sealed.result));
    for sealed in &sealed {
        folder.write(&format!("results/{}", result::path(&sealed.result)), &sealed.bytes);
    }
    (folder, sealed.into_iter().map(|sealed| sealed.result).collect())
}

/// Exports all results of a folder that count, and returns where to.
pub(super) fn export(folder: &Folder, format: &str) -> PathBuf {
    let output = folder.run(&["export", "--format", format, "--out", &format!("out.{format}")]);
    assert_eq!(output.status.code(), Some(0), "{format}: {}", String::from_utf8_lossy(&output.stderr));
    folder.path().join(format!("out.{format}"))
}

/// The rows that were exported as JSON lines.
pub(super) fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The JSON lines of a folder of results.
pub(super) fn rows(folder: &Folder) -> Vec<Value> {
    lines(&export(folder, "jsonl"))
}
