//! What tools are said to bring is what they bring, in the unit and of the direction that is said.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kubebench_extract::series::Window;
use kubebench_extract::tool::{Found, Report, TOOLS, Tool, ToolMetric};
use kubebench_format::spec::v1::metric::{Caution, Reports};

use super::tools::{read_reports, samples};
use crate::support::judges;
use crate::support::project::repository;

/// Metrics that no sample and no capture has, by tool, and why they are there nevertheless.
const UNSEEN: &[(&str, &[&str], &str)] = &[
    ("aiperf", &["{kind}goodput"], "only where goals are asked for"),
    (
        "bmf",
        &["{benchmark}.build-time", "{benchmark}.throughput"],
        "measures that are built into Bencher, as its documents say",
    ),
    ("deepspeed", &["grad_norm"], "of Megatron-DeepSpeed's lines, seen in Megatron's"),
    (
        "fio",
        &[
            "read_lat_p50",
            "read_lat_p99",
            "trim_bw_bytes",
            "trim_clat_mean",
            "trim_clat_p50",
            "trim_clat_p99",
            "trim_iops",
            "trim_lat_p50",
            "trim_lat_p99",
        ],
        "the parts of all three directions have one form",
    ),
    (
        "google-benchmark",
        &["{benchmark}.{real_coefficient|cpu_coefficient}", "{benchmark}_{aggregate}.bytes_per_second"],
        "only where a complexity is asked for, and of repetitions with bytes",
    ),
    (
        "hf-trainer",
        &[
            "loss",
            "num_input_tokens_seen",
            "num_input_tokens_seen",
            "num_tokens",
            "train_tokens_per_second",
            "train_{kind}_mem_{what}",
            "train_{metric}",
            "{metric}",
            "{split}_mem_{what}",
            "{split}_samples",
            "{split}_tokens_per_second",
            "{split}_tokens_per_second",
        ],
        "only with options of the Trainer that count tokens and memory, and of scripts that log more",
    ),
    ("megatron", &["samples_per_second"], "of Megatron-DeepSpeed's lines, seen in DeepSpeed's"),
    ("mlperf-loadgen", &["early_stopping_latency_p{N}", "samples_per_query"], "of scenarios without a capture"),
    ("mllog", &["throughput"], "of image classification, which one of the captures begins"),
    ("nemo", &["grad_norm"], "only where a callback logs it"),
    (
        "sglang-bench-stdout",
        &[
            "failed",
            "request_goodput",
            "rtfx",
            "spec_decode_acceptance_length",
            "spec_decode_acceptance_rate",
            "spec_decode_draft_tokens",
            "spec_decode_num_drafts",
            "std_latency",
            "std_{ttft|tpot|itl|e2el|e2e_latency}_ms",
        ],
        "rows of vLLM, whose block SGLang's is",
    ),
    (
        "vllm-serve-stdout",
        &[
            "accept_length",
            "concurrency",
            "input_throughput",
            "max_concurrent_requests",
            "max_output_tokens_per_s",
            "rtfx",
            "spec_decode_acceptance_length",
            "spec_decode_acceptance_rate",
            "spec_decode_draft_tokens",
            "spec_decode_num_drafts",
            "std_latency",
            "std_{ttft|tpot|itl|e2el|e2e_latency}_ms",
            "total_input_text_tokens",
            "total_input_vision_tokens",
            "total_output_tokens_retokenized",
            "{mean|median|min|max|pN}_latency",
        ],
        "rows of SGLang, whose block vLLM's is, and those of newer versions and of options",
    ),
];

/// Returns what a tool printed in samples and, where they are there, in captures.
fn outputs(tool: &Tool) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tools");
    let mut files = samples(&root.join(tool.name));
    if let Some(captures) = judges::published("what_tools_bring", "fixtures") {
        files.extend(samples(&captures.join(tool.name.replace('-', "_"))));
        if tool.name == "hf-trainer" {
            files.extend(samples(&captures.join("torchrun")));
        }
    }
    files
}

fn is_of(metric: &ToolMetric, found: &Found) -> bool {
    metric.fits(&found.name)
        && metric.unit.is_none_or(|unit| unit == found.unit)
        && metric.better == found.metric.better
        && metric.headlines == found.metric.headlines
}

#[test]
fn what_tools_bring_is_in_their_tables() {
    let mut faults = Vec::new();
    for tool in TOOLS {
        let metrics = (tool.metrics)();
        let labels: Vec<&str> = tool.labels.iter().map(|label| label.name).collect();
        // Reports of which the same was asked have a number, whatever the tool.
        let is_known =
            |label: &String| label == "report" || labels.iter().any(|known| *known == label || known.starts_with('{'));
        for file in outputs(tool) {
            let report = read_reports(tool, &std::fs::read(&file).unwrap(), Window::All, Reports::Each);
            for found in report.found() {
                if !metrics.iter().any(|metric| is_of(metric, found)) {
                    faults.push(format!(
                        "{}: {} [{}] {:?}",
                        file.display(),
                        found.name,
                        found.unit,
                        found.metric.better
                    ));
                }
                let unknown = found.labels.keys().filter(|label| !is_known(label));
                faults.extend(unknown.map(|label| format!("{}: label {label}", file.display())));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn what_is_in_the_tables_is_brought() {
    if judges::published("what_is_in_the_tables_is_brought", "fixtures").is_none() {
        return;
    }
    let mut unseen = Vec::new();
    for tool in TOOLS {
        let reports: Vec<_> = outputs(tool)
            .iter()
            .map(|file| read_reports(tool, &std::fs::read(file).unwrap(), Window::All, Reports::Each))
            .collect();
        let all = || reports.iter().flat_map(Report::found);
        let metrics = (tool.metrics)();
        unseen.extend(
            metrics
                .iter()
                .filter(|metric| !all().any(|found| is_of(metric, found)))
                .map(|metric| (tool.name, metric.name)),
        );
    }
    unseen.sort_unstable();
    let known = UNSEEN.iter().flat_map(|(tool, metrics, _)| metrics.iter().map(|metric| (*tool, *metric)));
    let mut known: Vec<_> = known.collect();
    known.sort_unstable();
    assert_eq!(unseen, known, "what is never read, and what is known to be");
    assert!(UNSEEN.iter().all(|(_, _, why)| !why.is_empty()));
}

#[test]
fn tools_that_count_failures_say_so() {
    for tool in TOOLS {
        let mut counted = None;
        for file in outputs(tool) {
            let report = read_reports(tool, &std::fs::read(&file).unwrap(), Window::All, Reports::Each);
            counted = counted.or(report.failures().first().map(|attempts| attempts.what));
        }
        assert_eq!(counted, tool.attempts, "{}", tool.name);
    }
}

#[test]
fn tools_that_warn_of_their_runs_say_so() {
    for tool in TOOLS {
        let mut seen = BTreeSet::new();
        for file in samples(&repository().join("tests/data/tools").join(tool.name)) {
            let report = read_reports(tool, &std::fs::read(&file).unwrap(), Window::All, Reports::Each);
            seen.extend(report.cautions().iter().map(|one| one.caution));
        }
        assert_eq!(seen, tool.cautions.iter().copied().collect(), "{}", tool.name);
    }
    let known: BTreeSet<Caution> = TOOLS.iter().flat_map(|tool| tool.cautions).copied().collect();
    assert_eq!(known, BTreeSet::from(Caution::ALL), "what a spec can forbid, and what some tool says");
    let documented = std::fs::read_to_string(repository().join("docs/reference/extraction.md")).unwrap();
    for caution in Caution::ALL {
        assert!(documented.contains(&format!("| `{}` |", caution.name())), "{}", caution.name());
    }
}

/// Of metrics of one name in one table, the first is the one that is meant: the others differ in what an output says.
#[test]
fn examples_ask_for_what_there_is() {
    for tool in TOOLS {
        let inside = tool.example.strip_prefix(&format!("{{name: {}", tool.name)).unwrap_or_default();
        assert!(inside.ends_with('}'), "{}: {}", tool.name, tool.example);
        let Some((_, names)) = inside.split_once("metrics: [") else { continue };
        for name in names.trim_end_matches("]}").split(", ") {
            let is_known = (tool.metrics)().iter().any(|metric| metric.is_asked_by(name));
            assert!(is_known, "{}: `{name}`", tool.name);
        }
    }
}
