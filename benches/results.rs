//! How fast committed results are judged and shown, as ratios to the bare reading of the same bytes.
//!
//! `cargo bench --bench results` makes 10,000 and 100,000 synthetic results (50 benchmarks, 4 cases, sessions of 5 runs, 2 metrics), and as
//! many with 8 metrics, and prints one table each. Every figure is the median of 3 whole processes, so that start-up counts too; the disk's cache is warm.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark does I/O and prints")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark that cannot run ends")]
#![expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]

mod process;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use process::{Figure, files, median, megabytes, run, size};
use rayon::prelude::*;

const RUNS: usize = 3;
const BENCHMARKS: usize = 50;

fn main() {
    println!("{RUNS} runs of whole processes, medians; {} threads", rayon::current_num_threads());
    let scratch = tempfile::tempdir().expect("a temporary folder");
    for (name, sessions, metrics) in [("small", 10, 2), ("large", 100, 2), ("wide", 100, 8)] {
        let root = scratch.path().join(name);
        measure(&root, sessions, metrics);
        fs::remove_dir_all(root).expect("a removed folder");
    }
}

fn measure(root: &Path, sessions: usize, metrics: usize) {
    make(root, sessions, metrics);
    let results = root.join("mock");
    let all = files(&results);
    let bare = median(RUNS, || {
        let start = Instant::now();
        let bytes: usize = all.par_iter().map(|path| fs::read(path).expect("a readable file").len()).sum();
        assert!(bytes > 0);
        Figure { time: start.elapsed(), peak: 0 }
    });
    let cache = root.join("cache");
    let forget = || drop(fs::remove_dir_all(&cache));
    let kubebench = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        command.args(arguments).args(["--results", "mock", "-q"]).current_dir(root).env("XDG_CACHE_HOME", &cache);
        // 1 is an answer, too: a regression is open.
        run(&mut command, 1)
    };
    let gate = ["gate", "--on-inconclusive", "pass"];
    let figures = [
        (
            "gate, without the index",
            median(RUNS, || {
                forget();
                kubebench(&gate)
            }),
        ),
        ("gate", median(RUNS, || kubebench(&gate))),
        (
            "compare",
            median(RUNS, || kubebench(&["compare", "env:cpu", "env:engine=process", "--benchmark", "bench00"])),
        ),
        ("history", median(RUNS, || kubebench(&["history"]))),
        (
            "report, without the index",
            median(RUNS, || {
                forget();
                kubebench(&["report", "--out", "site"])
            }),
        ),
        ("report", median(RUNS, || kubebench(&["report", "--out", "site"]))),
    ];
    println!(
        "\n{} results of {metrics} metrics, {:.0} MB; bare reading {:.2} s",
        all.len(),
        megabytes(&all),
        bare.time.as_secs_f64()
    );
    for (name, figure) in figures {
        println!(
            "{name:<28} {:>7.2} s  {:>6.0} MB peak  {:>6.1} x bare",
            figure.time.as_secs_f64(),
            figure.peak as f64 / 1024.0,
            figure.time.as_secs_f64() / bare.time.as_secs_f64()
        );
    }
    let site = files(&root.join("site"));
    let largest =
        site.iter().filter(|path| path.extension().is_some_and(|end| end == "html")).map(|path| size(path)).max();
    println!(
        "the site: {} files, {:.0} MB, the largest page {} kB",
        site.len(),
        megabytes(&site),
        largest.unwrap_or(0) / 1000
    );
}

/// Makes the results of every benchmark apart, since `mock` writes to an empty folder only.
fn make(root: &Path, sessions: usize, metrics: usize) {
    fs::create_dir_all(root.join("specs")).expect("a folder");
    fs::create_dir_all(root.join("mock")).expect("a folder");
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: bench}\nspec:\n  lints: {KB0401: 'off', KB0402: 'off'}\n  targets: {cpu: {namespace: bench}}\n";
    fs::write(root.join("kubebench.yaml"), project).expect("a written file");
    let change = sessions * 3 / 5;
    let mut values = format!(
        "metrics:\n  throughput: {{value: 1450000, noise: 1%, runNoise: 1%, changes: [{{session: {change}, by: -6%}}]}}\n"
    );
    values.extend(names(metrics).map(|name| format!("  {name}: {{value: 1.9, noise: 3%, runNoise: 2%}}\n")));
    fs::write(root.join("values.yaml"), values).expect("a written file");
    for index in 0..BENCHMARKS {
        let spec = format!("specs/bench{index:02}.yaml");
        fs::write(root.join(&spec), text(index, metrics)).expect("a written file");
        let mut mock = Command::new(env!("CARGO_BIN_EXE_kubebench"));
        let sessions = sessions.to_string();
        mock.args(["mock", "--spec", &spec, "--values", "values.yaml", "--sessions", &sessions, "--out", "made", "-q"]);
        run(mock.current_dir(root), 0);
        let name = format!("bench{index:02}");
        fs::rename(root.join("made").join(&name), root.join("mock").join(&name)).expect("a moved folder");
        fs::remove_dir_all(root.join("made")).expect("a removed folder");
    }
}

/// The metrics besides the one that is gated.
fn names(metrics: usize) -> impl Iterator<Item = String> {
    (1..metrics).map(|number| format!("latency-{number}"))
}

fn text(index: usize, metrics: usize) -> String {
    let others: String = names(metrics)
        .map(|name| {
            format!("    - {{name: {name}, unit: ms, better: lower, from: {{log: {{pattern: '{name} (?P<value>\\S+)'}}}}}}\n")
        })
        .collect();
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: bench{index:02}}}\nspec:\n  repeats: 5\n  timeout: 1h\n  matrix: {{axes: {{batch: [64, 128], nodes: [1, 2]}}}}\n  workload: {{job: {{image: registry.example/train:1, command: [train]}}}}\n  metrics:\n    - {{name: throughput, unit: tokens/s, better: higher, primary: true, from: {{log: {{pattern: 'throughput (?P<value>\\S+)'}}}}}}\n{others}  gates: [{{metric: throughput, maxRegression: 3%}}]\n"
    )
}
