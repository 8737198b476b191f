//! How fast a project compiles, as ratios to the bare reading and parsing of the same bytes.
//!
//! `cargo bench --bench compile` makes projects of 1,000 and 10,000 specs of mixed kinds and prints one table each.
//! Every figure is the median of several whole processes, so that start-up counts too.

#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a benchmark does I/O and prints")]
#![expect(clippy::expect_used, clippy::indexing_slicing, reason = "a benchmark that cannot run ends")]
#![expect(clippy::cast_precision_loss, reason = "sizes and times are far below 2^52")]

mod process;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use process::{Figure, files, median, megabytes, run};
use rayon::prelude::*;
use serde_yaml::granit_parser::Parser;

const RUNS: usize = 7;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    if let (Some(flag), Some(folder)) = (args.next(), args.next())
        && flag == "--bare"
    {
        return bare(Path::new(&folder));
    }
    let scratch = tempfile::tempdir().expect("a temporary folder");
    println!("{RUNS} runs of whole processes, medians; {} threads", rayon::current_num_threads());
    let small = measure(scratch.path(), 1_000);
    let large = measure(scratch.path(), 10_000);
    println!("check 10,000 : check 1,000 = {:.1} (10 is linear)", large.as_secs_f64() / small.as_secs_f64());
}

/// Reads and parses every file below `folder`, and does nothing else.
fn bare(folder: &Path) {
    let events: usize = files(folder)
        .par_iter()
        .map(|path| {
            let text = fs::read_to_string(path).expect("a readable file");
            Parser::new_from_str(&text).flatten().count()
        })
        .sum();
    assert!(events > 0);
}

fn measure(scratch: &Path, count: usize) -> Duration {
    let root = scratch.join(count.to_string());
    write_project(&root, count);
    let this = std::env::current_exe().expect("this program");
    let kubebench = env!("CARGO_BIN_EXE_kubebench");
    let root_arg = root.to_str().expect("a UTF-8 path");
    let specs = root.join("specs");
    let cold = median(RUNS, || {
        drop(fs::remove_dir_all(root.join("generated")));
        run(Command::new(kubebench).args(["-C", root_arg, "-q", "compile"]), 0)
    });
    let check = median(RUNS, || run(Command::new(kubebench).args(["-C", root_arg, "-q", "compile", "--check"]), 0));
    let validate = median(RUNS, || run(Command::new(kubebench).args(["-C", root_arg, "-q", "validate"]), 0));
    let bare_specs = median(RUNS, || run(Command::new(&this).arg("--bare").arg(&specs), 0));
    let bare_all = median(RUNS, || run(Command::new(&this).arg("--bare").arg(&root), 0));
    println!(
        "\n{count} specs: {:.1} MB of specs, {:.1} MB with manifests",
        megabytes(&files(&specs)),
        megabytes(&files(&root))
    );
    for (name, figure) in [
        ("bare read + parse, specs", bare_specs),
        ("bare read + parse, specs and manifests", bare_all),
        ("validate", validate),
        ("compile --check (warm)", check),
        ("compile (cold)", cold),
    ] {
        println!(
            "{name:<40} {:>8.1} ms  {:>7.1} MB peak",
            figure.time.as_secs_f64() * 1e3,
            figure.peak as f64 / 1024.0
        );
    }
    let ratio = |bare: Figure| check.time.as_secs_f64() / bare.time.as_secs_f64();
    println!(
        "ratio check : bare = {:.2} (all bytes that check reads), {:.2} (specs alone)",
        ratio(bare_all),
        ratio(bare_specs)
    );
    check.time
}

fn write_project(root: &Path, count: usize) {
    fs::create_dir_all(root.join("specs")).expect("a folder");
    let project = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata:\n  name: bench\nspec:\n  lints: {KB0417: \"off\"}\n  targets:\n    main: {namespace: bench}\n";
    fs::write(root.join("kubebench.yaml"), project).expect("a written file");
    for index in 0..count {
        let folder = root.join("specs").join(format!("team-{:02}", index % 50));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("bench-{index}.yaml")), spec(index)).expect("a written file");
    }
}

fn spec(index: usize) -> String {
    let workload = match index % 4 {
        0 => {
            "job:\n      image: registry.example/fio:3.39\n      command: [fio, --rw=randread, \"--bs=${{ matrix.size }}k\"]\n      resources: {cpu: 4, memory: 8Gi}"
        }
        1 => {
            "pytorchJob:\n      image: registry.example/train:1.4\n      command: [torchrun, train.py]\n      args: [--batch-size, \"${{ matrix.size }}\", --epochs, \"2\"]\n      env: {NCCL_DEBUG: WARN, HF_TOKEN: {secret: {name: hf, key: token}}}\n      resources: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}\n      master: {}\n      worker: {replicas: 3}"
        }
        2 => {
            "tfJob:\n      image: registry.example/tf:2.19\n      command: [python3, tf_cnn_benchmarks.py]\n      args: [\"--batch_size=${{ matrix.size }}\"]\n      resources: {cpu: 4, memory: 8Gi}\n      ps: {replicas: 2}\n      worker: {replicas: 4}"
        }
        _ => {
            "mpiJob:\n      image: registry.example/nccl-tests:2.13\n      slotsPerWorker: 8\n      sshAuthMountPath: /home/mpiuser/.ssh\n      pod: {securityContext: {runAsUser: 1000}}\n      resources: {cpu: 8, memory: 64Gi}\n      launcher:\n        command: [mpirun, -n, \"16\", all_reduce_perf, -b, \"${{ matrix.size }}\"]\n      worker: {replicas: 2, resources: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 8}}"
        }
    };
    format!(
        "# yaml-language-server: $schema=../../schema/benchmark.v1.json\napiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata:\n  name: bench-{index}\n  labels: {{team: t{}}}\nspec:\n  description: Generated for the speed benchmark\n  repeats: 3\n  timeout: 1h\n  matrix:\n    axes: {{size: [64, 128]}}\n  workload:\n    {workload}\n  metrics:\n    - name: throughput\n      unit: samples/s\n      better: higher\n      primary: true\n      from: {{log: {{pattern: 'throughput: (?P<value>\\S+)'}}}}\n  gates:\n    - {{metric: throughput, maxRegression: 3%}}\n",
        index % 50
    )
}
