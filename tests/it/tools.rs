//! Every parser against a sample of our own making, and against captures of the real tools where they are present.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kubebench::ingest::scan::LogScan;
use kubebench::ingest::series::Window;
use kubebench::ingest::tool::{Report, TOOLS, Tool, tool};
use serde_json::Value;

fn read(tool: &'static Tool, text: &[u8], window: Window) -> Report {
    let mut scan = LogScan::new();
    scan.read_as(tool, window);
    text.chunks(4096).for_each(|piece| scan.feed(piece));
    scan.finish().tools.remove(0).report
}

/// Returns the headline metrics of a report by name; labels follow in braces as in OpenMetrics.
fn headlines(report: &Report) -> BTreeMap<String, (Option<f64>, String)> {
    let mut all = BTreeMap::new();
    for found in report.found() {
        let labels: Vec<String> = found.labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        for headline in found.headlines {
            let value = found.series.reduce(headline.reduce).value;
            all.insert(format!("{}{}{labels}", found.name, headline.suffix), (value, found.unit.clone()));
        }
    }
    all
}

/// Holds the output in `path` against the values in the file of the same name with `.expect.json`.
fn judge(name: &str, path: &Path) {
    let tool = tool(name).unwrap_or_else(|| panic!("no tool `{name}`"));
    let expect = std::fs::read_to_string(format!("{}.expect.json", path.display())).unwrap();
    let expect: Value = serde_json::from_str(&expect).unwrap();
    let report = read(tool, &std::fs::read(path).unwrap(), Window::All);
    let found = headlines(&report);
    for (metric, wanted) in expect["metrics"].as_object().unwrap() {
        let (value, unit) =
            found.get(metric).unwrap_or_else(|| panic!("{}: no `{metric}` in {found:#?}", path.display()));
        let wanted_unit = wanted["unit"].as_str().unwrap().trim_end_matches(" as declared");
        assert_eq!(unit, wanted_unit, "{}: unit of {metric}", path.display());
        match (value, wanted["value"].as_f64()) {
            (Some(value), Some(wanted)) => {
                let near = (value - wanted).abs() <= 1e-9 * wanted.abs();
                assert!(near, "{}: {metric} is {value}, not {wanted}", path.display());
            }
            (value, wanted) => assert_eq!(*value, wanted, "{}: {metric}", path.display()),
        }
    }
    for name in texts(&expect["absent"]) {
        assert!(!found.contains_key(name), "{}: `{name}` is {:?}", path.display(), found[name]);
    }
    // Where the file says `"invalid": []`, the run counts.
    let reasons = report.reasons();
    for part in texts(&expect["invalid"]) {
        assert!(reasons.iter().any(|reason| reason.contains(part)), "{}: no `{part}` in {reasons:#?}", path.display());
    }
    let counts = expect["invalid"].as_array().is_some_and(Vec::is_empty);
    assert!(!counts || reasons.is_empty(), "{}: {reasons:#?}", path.display());
}

/// Returns a text, or those of a list.
fn texts(list: &Value) -> impl Iterator<Item = &str> {
    list.as_str().into_iter().chain(list.as_array().into_iter().flatten().map(|text| text.as_str().unwrap()))
}

fn samples(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path());
    let is_sample = |path: &PathBuf| PathBuf::from(format!("{}.expect.json", path.display())).exists();
    let mut files: Vec<PathBuf> = files.filter(is_sample).collect();
    files.sort();
    files
}

#[test]
fn samples_of_our_own() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    for tool in TOOLS {
        let files = samples(&root.join(tool.name));
        assert!(!files.is_empty(), "no sample of {} in tests/data/tools", tool.name);
        for file in files {
            judge(tool.name, &file);
        }
    }
}

/// The captures' folders are named like the tools, with `_` for `-`; two hold no output of a tool of their own.
#[test]
fn captures_of_the_real_tools() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures");
    if !root.is_dir() {
        println!("SKIPPED captures of real tools: there is no ../shared/fixtures");
        return;
    }
    let mut counted = 0;
    for tool in TOOLS {
        for file in samples(&root.join(tool.name.replace('-', "_"))) {
            judge(tool.name, &file);
            counted += 1;
        }
    }
    println!("{counted} captures of real tools");
    assert!(counted > 0);
}

/// What is kept beside the metrics goes into a repository: not a dump of an environment, and no key of an API.
#[test]
fn documents_that_may_hold_secrets_are_not_kept() {
    let cases = [
        ("nccl-tests", r#"{"env": {"HOME": "/"}, "results": [{"size": 8, "in_place": {"time": 1.5}}]}"#, false),
        ("aiperf", r#"{"request_count": {"unit": "requests", "avg": 2}, "run_info": {"cli": "--api-key k"}}"#, false),
        ("aiperf", r#"{"request_count": {"unit": "requests", "avg": 2}, "run_info": {"cli": "--api"}}"#, true),
        ("guidellm", r#"{"benchmarks": [{"metrics": {}}], "config": {"backend": {"api_key": "k"}}}"#, false),
        ("guidellm", r#"{"benchmarks": [{"metrics": {}}], "config": {"backend": {"api_key": null}}}"#, true),
    ];
    for (name, text, is_kept) in cases {
        let mut scan = LogScan::new();
        scan.read_as(tool(name).unwrap(), Window::All);
        scan.feed(text.as_bytes());
        assert_eq!(scan.finish().tools[0].native.is_some(), is_kept, "{name}: {text}");
    }
}

#[test]
fn names_are_unique_and_sorted() {
    assert!(TOOLS.is_sorted_by(|a, b| a.name < b.name));
}

/// No output may make a parser panic: every capture cut at many places, and with bytes changed.
#[test]
fn nothing_panics_on_broken_output() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for tool in TOOLS {
        let mut files = samples(&root.join("tests/data/tools").join(tool.name));
        files.extend(samples(&root.join("../shared/fixtures").join(tool.name.replace('-', "_"))));
        for file in files {
            let bytes = std::fs::read(file).unwrap();
            let pieces = 40.min(bytes.len());
            for piece in 0..pieces {
                let cut = bytes.len() * piece / pieces;
                read(tool, &bytes[..cut], Window::All);
                read(tool, &bytes[cut..], Window::LastN(2));
            }
            for step in [3, 7, 31] {
                let mut changed = bytes.clone();
                changed.iter_mut().step_by(step * 13).for_each(|byte| *byte ^= 0x55);
                read(tool, &changed, Window::Steps(1, 3));
            }
        }
    }
}
