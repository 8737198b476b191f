//! Every parser against a sample of our own making, and against captures of the real tools where they are present.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kubebench_extract::log_files::Kept;
use kubebench_extract::rules::Rules;
use kubebench_extract::scan::LogScan;
use kubebench_extract::series::{Series, Window};
use kubebench_extract::tool::renamed::{Old, Renamed, renamed};
use kubebench_extract::tool::{Headline, Report, Requests, TOOLS, Tool, tool};
use kubebench_format::spec::v1::metric::Reports;
use serde_json::Value;

use crate::support::judges;

fn read(tool: &'static Tool, text: &[u8], window: Window) -> Report {
    read_reports(tool, text, window, Reports::Last)
}

pub(super) fn read_reports(tool: &'static Tool, text: &[u8], window: Window, reports: Reports) -> Report {
    let mut scan = LogScan::new();
    scan.read_as(tool, window, reports);
    text.chunks(4096).for_each(|piece| scan.feed(piece));
    scan.finish().tools.remove(0).report
}

/// Which values of a series a headline is made of.
type Part = for<'a> fn(&Headline, &'a Series) -> Cow<'a, Series>;

/// What is expected of captures was written down before headlines left out the first steps.
fn whole<'a>(_: &Headline, series: &'a Series) -> Cow<'a, Series> {
    Cow::Borrowed(series)
}

/// Returns the headline metrics of a report by name; labels follow in braces as in OpenMetrics.
fn headlines(report: &Report, part: Part) -> BTreeMap<String, (Option<f64>, String)> {
    let mut all = BTreeMap::new();
    for found in report.found() {
        for headline in found.metric.headlines {
            let value = part(headline, &found.series).reduce(headline.reduce).value;
            let name = format!("{}{}", found.name, headline.suffix);
            all.insert(labelled(&name, &found.labels), (value, found.unit.clone()));
        }
    }
    all
}

/// By which names a file of expectations calls metrics.
enum Names {
    /// Those of today.
    Current,
    /// Those of version 0.1.0, some of which need the tool's output to be translated.
    Old(Option<Value>),
}

impl Names {
    /// The names in a file next to a capture.
    fn beside(capture: &Path) -> Self {
        Self::Old(serde_json::from_slice(&std::fs::read(capture).unwrap()).ok())
    }

    /// Returns what a metric is called now; nothing where that says no more what it was made of. A metric with labels that the old
    /// name does not give is the only one of that name in `found`.
    fn current(&self, tool: &Tool, shown: &str, found: &BTreeMap<String, (Option<f64>, String)>) -> Option<String> {
        let Self::Old(document) = self else { return Some(shown.to_owned()) };
        let labels = BTreeMap::new();
        let old = Old { name: shown, labels: &labels, document: document.as_ref() };
        match renamed(tool.name, 1, &old) {
            None => Some(shown.to_owned()),
            // What is expected was made of the steps in the old name.
            Some(Renamed::To { .. }) if tool.name == "maxtext" => None,
            Some(Renamed::To { name, labels }) => Some(labelled(&name, &labels)),
            Some(Renamed::Unknown { name, .. }) => {
                let start = format!("{name}{{");
                let mut alike = found.keys().filter(|key| **key == name || key.starts_with(&start));
                let only = alike.next().cloned();
                assert_eq!(alike.next(), None, "{shown}");
                only.or(Some(name))
            }
        }
    }
}

fn labelled(name: &str, labels: &BTreeMap<String, String>) -> String {
    let labels: Vec<String> = labels.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{}}}", labels.join(",")) }
}

/// Compares the output in `path` with the file of the same name with `.expect.json`: the values of `metrics`, names that
/// are `absent`, the names of `cautions`, and what the reason says why the run is `invalid`.
fn judge(name: &str, path: &Path, part: Part, names: &Names) {
    let tool = tool(name).unwrap_or_else(|| panic!("no tool `{name}`"));
    let expect = std::fs::read_to_string(format!("{}.expect.json", path.display())).unwrap();
    let expect: Value = serde_json::from_str(&expect).unwrap();
    let reports = Reports::ALL.into_iter().find(|reports| expect["report"] == reports.name()).unwrap_or_default();
    let report = read_reports(tool, &std::fs::read(path).unwrap(), Window::All, reports);
    let found = headlines(&report, part);
    for (metric, wanted) in expect["metrics"].as_object().unwrap() {
        let Some(metric) = names.current(tool, metric, &found) else { continue };
        let (value, unit) =
            found.get(&metric).unwrap_or_else(|| panic!("{}: no `{metric}` in {found:#?}", path.display()));
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
    for name in texts(&expect["absent"]).filter_map(|name| names.current(tool, name, &BTreeMap::new())) {
        assert!(!found.contains_key(&name), "{}: `{name}` is {:?}", path.display(), found[&name]);
    }
    if let Some(wanted) = expect["cautions"].as_array() {
        let found: Vec<&str> = report.cautions().iter().map(|one| one.caution.name()).collect();
        assert_eq!(found, wanted.iter().map(|name| name.as_str().unwrap()).collect::<Vec<_>>(), "{}", path.display());
    }
    // Where the file says `"invalid": []`, the run counts.
    let failed = report.failures().iter().filter(|requests| requests.share() > 0.0).map(Requests::said);
    let reasons: Vec<String> = report.reasons().iter().cloned().chain(failed).collect();
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

pub(super) fn samples(folder: &Path) -> Vec<PathBuf> {
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
            judge(tool.name, &file, Headline::part_of, &Names::Current);
        }
    }
}

/// The captures' folders are named like the tools, with `_` for `-`; two hold no output of a tool of their own.
#[test]
fn captures_of_the_real_tools() {
    let Some(root) = judges::published("captures_of_the_real_tools", "fixtures") else { return };
    let mut counted = 0;
    for tool in TOOLS {
        for file in samples(&root.join(tool.name.replace('-', "_"))) {
            judge(tool.name, &file, whole, &Names::beside(&file));
            counted += 1;
        }
    }
    // torchrun is a launcher: the Trainer printed this.
    for file in samples(&root.join("torchrun")) {
        judge("hf-trainer", &file, whole, &Names::beside(&file));
        counted += 1;
    }
    println!("{counted} captures of real tools");
    assert!(counted > 0);
}

/// What is kept in addition to the metrics goes into a repository: not a dump of an environment, and no key of an API.
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
        scan.read_as(tool(name).unwrap(), Window::All, Reports::Last);
        scan.feed(text.as_bytes());
        assert_eq!(scan.finish().tools[0].native.is_some(), is_kept, "{name}: {text}");
    }
}

/// Megatron-DeepSpeed's log is output of two tools.
#[test]
fn a_capture_of_deepspeed_is_one_of_megatron() {
    let Some(root) = judges::published("a_capture_of_deepspeed_is_one_of_megatron", "fixtures/deepspeed") else {
        return;
    };
    let log = std::fs::read(root.join("superbench_megatron_deepspeed_hostprefix.log")).unwrap();
    let report = read(tool("megatron").unwrap(), &log, Window::All);
    let elapsed = report.found().iter().find(|found| found.name == "elapsed_time_per_iteration").unwrap();
    assert_eq!(elapsed.series.values().collect::<Vec<_>>(), [76015.3, 75254.0, 75249.6, 75182.4, 74494.9]);
}

/// Tools that print steps are windowed by them: the tool, its sample, the steps, the series and its values inside.
#[test]
fn steps_of_a_window_are_those_that_the_tool_printed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    let cases: [(&str, &str, (u64, u64), &str, &[f64]); 12] = [
        ("deepspeed", "restarted.log", (30, 40), "curr_samples_per_sec", &[430.5, 440.0]),
        ("hf-trainer", "trainer_state.json", (20, 20), "loss", &[2.125]),
        ("horovod", "gpus.log", (0, 1), "iter_img_per_sec_per_gpu", &[210.5, 211.5]),
        ("katib", "both_forms.log", (100, 100), "loss", &[2.5]),
        ("maxtext", "ramp_up_profiler_restart.log", (23, 24), "tflops_per_device", &[210.5, 2000.5, 208.5]),
        ("megatron", "bridge.log", (20, 20), "throughput_per_gpu", &[600.5]),
        ("mllog", "aborted_among_other_output.log", (1, 2), "eval_accuracy", &[0.25, 0.5]),
        ("nemo", "first_generation_bar.log", (2000, 2006), "train_step_timing", &[1.25]),
        ("nemo", "second_generation.log", (11, 12), "train_step_timing", &[3.5, 3.25]),
        ("pytorch-imagenet", "two_ranks_old_and_new.log", (101, 300), "time", &[0.5, 3.5, 0.75]),
        ("pytorch-mnist", "counts_and_percentages.log", (2, 2), "train_loss", &[0.125]),
        ("tf-cnn-benchmarks", "four_ranks.log", (20, 20), "images_per_sec", &[72.5]),
    ];
    for (name, file, (from, to), series, values) in cases {
        let text = std::fs::read(root.join(name).join(file)).unwrap();
        let report = read(tool(name).unwrap(), &text, Window::Steps(from, to));
        let found = report.found().iter().find(|found| found.name == series).unwrap();
        assert_eq!(found.series.values().collect::<Vec<_>>(), values, "{name}: {series} of steps {from} to {to}");
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
    let captures = judges::published("nothing_panics_on_broken_output", "fixtures");
    for tool in TOOLS {
        let mut files = samples(&root.join("tests/data/tools").join(tool.name));
        files.extend(captures.iter().flat_map(|captures| samples(&captures.join(tool.name.replace('-', "_")))));
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

/// Returns the text with another last digit in each decimal.
fn other_numbers(text: &str) -> String {
    let decimals = regex::Regex::new(r"(\d+\.\d*)(\d)").unwrap();
    let other = |found: &regex::Captures<'_>| format!("{}{}", &found[1], (found[2].parse::<u32>().unwrap() + 1) % 10);
    decimals.replace_all(text, other).into_owned()
}

/// Two reports in one log, such as before and after a restart: what a report says once is what the last one says.
#[test]
fn the_last_report_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    let mut compared = 0;
    for tool in TOOLS {
        for file in samples(&root.join(tool.name)) {
            let first = std::fs::read_to_string(&file).unwrap();
            let second = other_numbers(&first);
            let both = read(tool, format!("{}\n{second}", first.trim_end()).as_bytes(), Window::All);
            if file.extension().is_some_and(|extension| extension == "yaml") {
                assert!(both.reasons().iter().any(|reason| reason.contains("a second time")), "{}", file.display());
                continue;
            }
            let alone = read(tool, second.as_bytes(), Window::All);
            // A median over all steps is one over those of both.
            let is_single = |name: &str| !name.contains("_median_steps_") && !name.ends_with("_count");
            for found in alone.found().iter().filter(|found| found.series.count() == 1 && is_single(&found.name)) {
                if found.metric.headlines.iter().any(|headline| headline.suffix.ends_with("median")) {
                    continue;
                }
                let known = both.found().iter().find(|other| other.name == found.name && other.labels == found.labels);
                let last = known.and_then(|known| known.series.last());
                let (last, wanted) = (last.unwrap_or_default(), found.series.last().unwrap());
                assert!(last.total_cmp(&wanted).is_eq(), "{}: {} is {last}, not {wanted}", file.display(), found.name);
                compared += 1;
            }
        }
    }
    assert!(compared > 300, "{compared}");
}

/// Colors and line ends of Windows change no value, nor does a collector of logs that makes one blank of several.
#[test]
fn how_lines_are_decorated_does_not_matter() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    for tool in TOOLS {
        for file in samples(&root.join(tool.name)) {
            let text = std::fs::read_to_string(&file).unwrap().replace("\r\n", "\n");
            let plain = headlines(&read(tool, text.as_bytes(), Window::All), whole);
            let colored: Vec<String> = text.split('\n').map(|line| format!("\x1b[32m{line}\x1b[0m\x1b[K")).collect();
            let is_blank = |letter: char| matches!(letter, ' ' | '\t');
            let squeezed =
                |line: &str| line.split(is_blank).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
            let squeezed: Vec<String> = text.split('\n').map(squeezed).collect();
            let is_log = file.extension().is_some_and(|extension| extension == "log" || extension == "txt");
            let of_lines = is_log.then(|| squeezed.join("\n"));
            for decorated in [colored.join("\n"), text.replace('\n', "\r\n")].into_iter().chain(of_lines) {
                let found = headlines(&read(tool, decorated.as_bytes(), Window::All), whole);
                assert_eq!(found, plain, "{}", file.display());
            }
        }
    }
}

/// A killed run leaves half a document: it never passes for a whole one.
#[test]
fn half_a_document_does_not_count() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    for tool in TOOLS.iter().filter(|tool| tool.document.is_some() && tool.name != "hf-trainer") {
        for file in samples(&root.join(tool.name)) {
            let text = std::fs::read(&file).unwrap();
            let is_json = file.extension().is_some_and(|extension| extension == "json");
            for cut in (1..text.trim_ascii_end().len()).step_by(11).filter(|_| is_json) {
                let report = read(tool, &text[..cut], Window::All);
                // Of several documents the last may have been whole.
                let several = text[..cut].contains(&b'}') && tool.lines.is_some();
                assert!(several || !report.reasons().is_empty(), "{} cut at {cut}", file.display());
            }
        }
    }
}

/// Where a killed run left half a line, the metrics whose values it may have held say so.
#[test]
fn half_a_line_is_said_to_be_left_out() {
    let cases: [(&str, &str, &[&str]); 5] = [
        ("hf-trainer", "{'loss': 2.5, 'epoch': 0.5}\n{'loss': 2.25, 'epo", &["loss"]),
        ("hf-trainer", "{'loss': 2.5, 'epoch': 0.5}\n{'loss': 2.25, 'epoch': 0.5}", &[]),
        ("hf-trainer", "{'loss': 2.5, 'epoch': 0.5}\ndone", &[]),
        ("horovod", "Total img/sec on 4 GPU(s): 80.5 +-1.5\nTotal img/sec on 4 GPU(s): 8", &["total_img_per_sec"]),
        (
            "tf-cnn-benchmarks",
            "1\timages/sec: 4.5 +/- 0.0 (jitter = 0.0)\t7.250\n2\timages/sec: 4.6 +/- 0.0 (jitter = 0.0)\t7.2",
            &["total_loss"],
        ),
    ];
    for (name, text, wanted) in cases {
        let report = read(tool(name).unwrap(), text.as_bytes(), Window::All);
        let noted: Vec<&str> = report
            .found()
            .iter()
            .filter(|found| {
                report
                    .cut_note(found)
                    .is_some_and(|note| note.contains("the log ends in line 2, which may be truncated"))
            })
            .map(|found| found.name.as_str())
            .collect();
        assert_eq!(noted, wanted, "{text}");
    }
}

/// A killed run leaves half a line: no metric may have a value that neither the lines before nor the whole line give.
#[test]
fn half_a_line_is_no_other_number() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    // These say that their output was cut off, so that none of its values counts.
    let with_an_end = ["nccl-tests", "sglang-bench-stdout", "vllm-serve-stdout", "vllm-throughput-stdout"];
    // Its lines end with a number, and nothing says whether it is whole.
    let may_be_half = |tool: &&Tool| tool.name == "openmetrics";
    for tool in TOOLS.iter().filter(|tool| tool.lines.is_some() && !may_be_half(tool)) {
        for file in &samples(&root.join(tool.name)) {
            let text = std::fs::read(file).unwrap();
            let may_end_early = with_an_end.contains(&tool.name) || text.starts_with(b"{");
            let mut from = 0;
            for line in text.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
                let to = from + line.len();
                let [before, after] = [from, to].map(|end| headlines(&read(tool, &text[..end], Window::All), whole));
                for cut in from..to {
                    let report = read(tool, &text[..cut], Window::All);
                    let counts = report.reasons().is_empty() && report.failures().iter().all(|all| all.failed == 0.0);
                    if may_end_early && !counts {
                        continue;
                    }
                    for (metric, value) in headlines(&report, whole) {
                        let is_known = before.get(&metric) == Some(&value) || after.get(&metric) == Some(&value);
                        let half = String::from_utf8_lossy(&text[from..cut]);
                        assert!(is_known, "{}: {metric} is {value:?} after `{half}`", file.display());
                    }
                }
                from = to;
            }
        }
    }
}

/// A tool may report more than a result can hold; what is left out is counted, and it takes no longer than it must.
#[test]
fn a_flood_of_metrics_is_cut_and_said() {
    let rows = |count: u32| (0..count).map(|row| format!("x{{row=\"{row}\"}} {row}\n")).collect::<String>();
    let text = format!("# TYPE x gauge\n{}# EOF\n", rows(20_000));
    let rules = Rules::of_tool(tool("openmetrics").unwrap(), Reports::Last, None);
    let mut kept = Kept::new(|_| Err("there is none".to_owned()));
    kept.read(&rules, ("job", 0), "job-0.log", text.as_bytes()).unwrap();
    let measured = kept.measure(&rules);
    assert_eq!(measured.metrics.len(), 1000);
    let said = measured.metrics.last().unwrap().reason.as_deref();
    assert_eq!(said, Some("19,000 more metrics of openmetrics are left out after this one"));
    assert!(measured.metrics.iter().rev().skip(1).all(|metric| metric.reason.is_none()));
}

/// What programs print instead of a number that they do not have, or that is another thing.
const UNREADABLE: [&str; 4] = ["n/a", "--", "x.xx", "41/60"];

/// Of how many numbers of an output it is tried.
const MOST_OF_A_FILE: usize = 40;

/// Returns where numbers are in `text` that are words of their own or parts of `key=value`, `"key": value` and the like.
fn numbers(text: &str) -> Vec<std::ops::Range<usize>> {
    let number = regex::Regex::new(r"[0-9][0-9,]*(\.[0-9]+)?([eE][-+]?[0-9]+)?").unwrap();
    let is_free =
        |letter: Option<char>| letter.is_none_or(|letter| !(letter.is_alphanumeric() || "._-+".contains(letter)));
    let ends = |letter: Option<char>| {
        is_free(letter) || matches!(letter, Some('s' | 'm' | 'u' | 'k' | 'G' | 'K' | 'M' | 'B' | '%'))
    };
    let found = number.find_iter(text).map(|found| found.range());
    found
        .filter(|range| is_free(text[..range.start].chars().next_back()) && ends(text[range.end..].chars().next()))
        .collect()
}

/// What had the value of a number that was made unreadable has none then, or the run does not count. It is not skipped,
/// and no other value takes its place.
#[test]
fn a_value_that_cannot_be_read_is_no_other_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    assert!(unreadable_values_caught(|tool| samples(&root.join(tool.name))) > 1000);
}

#[test]
fn a_value_of_a_capture_that_cannot_be_read_is_no_other_value() {
    let Some(root) = judges::published("a_value_of_a_capture_that_cannot_be_read", "fixtures") else { return };
    assert!(unreadable_values_caught(|tool| samples(&root.join(tool.name.replace('-', "_")))) > 1000);
}

/// Makes one number after the other unreadable in each of the outputs, and returns how many of them were noticed.
#[expect(clippy::print_stdout, reason = "how much of each tool was tried")]
fn unreadable_values_caught(outputs: impl Fn(&Tool) -> Vec<PathBuf>) -> usize {
    let mut faults = Vec::new();
    let mut caught = 0;
    // Katib's names are known by their numbers alone; NeMo's bar is read when what it shows changes.
    let is_of_another_kind = |tool: &&Tool| ["katib", "nemo"].contains(&tool.name);
    for tool in TOOLS.iter().filter(|tool| !is_of_another_kind(tool)) {
        let (files, earlier) = (outputs(tool), caught);
        for file in &files {
            let text = std::fs::read_to_string(file).unwrap();
            let whole_report = read(tool, text.as_bytes(), Window::All);
            let before = headlines(&whole_report, whole);
            // Other numbers are parts of names, steps and settings.
            let values: Vec<f64> = whole_report.found().iter().flat_map(|found| found.series.values()).collect();
            let is_value = |range: &std::ops::Range<usize>| {
                let token = text[range.clone()].trim_end_matches(',').replace(',', "");
                token.len() > 2 && token.parse().is_ok_and(|number: f64| values.contains(&number))
            };
            let all: Vec<_> = numbers(&text).into_iter().filter(is_value).collect();
            for (range, number) in all.iter().cloned().zip(0..).step_by(all.len() / MOST_OF_A_FILE + 1) {
                // Of a long file, each number with one of the words.
                let is_long = all.len() > MOST_OF_A_FILE;
                for (word, _) in
                    UNREADABLE.iter().zip(0..).filter(|(_, of)| !is_long || number % UNREADABLE.len() == *of)
                {
                    let is_json = text.starts_with(['{', '[']) && !text[..range.start].ends_with('"');
                    let word = if is_json { format!("\"{word}\"") } else { (*word).to_owned() };
                    let changed = format!("{}{word}{}", &text[..range.start], &text[range.end..]);
                    let report = read(tool, changed.as_bytes(), Window::All);
                    let after = headlines(&report, whole);
                    if after == before {
                        continue;
                    }
                    let failed = |report: &Report| report.failures().iter().map(|all| all.failed).sum::<f64>();
                    let new_reason = report.reasons().iter().any(|reason| !whole_report.reasons().contains(reason))
                        || failed(&report) > failed(&whole_report);
                    // What is a part of a name, or a step, gives other metrics.
                    let is_name = after.keys().any(|name| !before.contains_key(name));
                    let wrong = before.iter().find(|(name, value)| match after.get(*name) {
                        Some(now) => now.0.is_some() && now != *value,
                        None => true,
                    });
                    match wrong {
                        Some((name, value)) if !new_reason && !is_name => {
                            let line = text[..range.start].matches('\n').count() + 1;
                            let now = after.get(name);
                            faults.push(format!(
                                "{}:{line}: `{}` -> {word}: {name} was {value:?}, is {now:?}",
                                file.display(),
                                &text[range.clone()]
                            ));
                        }
                        _ => caught += 1,
                    }
                }
            }
        }
        println!("{}: {} of {} outputs", tool.name, caught - earlier, files.len());
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    caught
}
