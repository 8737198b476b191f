//! `kubebench run` as people use it: the program itself, with specs whose replicas are shells of this machine.
#![cfg(target_os = "linux")]

mod again;
mod engine;
mod environment;
mod kinds;
mod logs;
mod order;
mod origin;
mod places;
mod prometheus;
mod secrets;
mod signals;
mod spelling;
mod status;
mod suites;
mod tree;
mod units;
mod usage;

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus, Stdio};

use kubebench_format::result::v1::{Exit, Metric, Status};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_testing::watchdog::{self, until};
use serde_json::json;

use crate::support::project::{Folder, files_below};

/// Tests that mostly wait, all at once.
#[test]
fn what_takes_time() {
    let tests = [
        engine::no_container_is_left_whoever_dies,
        kinds::a_cluster_of_tensorflow,
        kinds::ranks_of_torchrun,
        kinds::the_master_decides,
        signals::processes_have_time_to_end,
        tree::after_a_normal_end,
        tree::after_a_timeout,
        tree::inherited_processes_stay,
        tree::when_a_supervisor_is_killed,
        tree::when_kubebench_is_killed,
        usage::samples_of_sums_never_fall,
        usage::samples_once_a_second,
    ];
    std::thread::scope(|scope| {
        for test in tests {
            scope.spawn(test);
        }
    });
}

const IMAGE: &str = "registry.example/none@sha256:0caad04c6b091e442a7197d216e749afd84e0779829f0a070d021bdb23171bbb";
/// The metric of benchmarks that measure nothing else.
const SECONDS: &str = "metrics: [{name: seconds, unit: s, better: lower, primary: true, from: {duration: run}}]";
/// A metric that the script prints as `loss 2.5`.
const LOSS: &str =
    "metrics: [{name: loss, unit: '1', better: lower, primary: true, from: {log: {pattern: 'loss (?P<value>\\S+)'}}}]";

/// The fields of a container that runs `script` in a shell, without the braces.
fn shell(script: &str) -> String {
    format!("image: {IMAGE}, resources: {{cpu: 1, memory: 1Gi}}, command: [sh, -c, {}]", json!(script))
}

/// A spec of the benchmark `b` with this workload and these further lines of `spec`.
fn spec(workload: &str, more: &[&str]) -> String {
    let timeout = if more.iter().any(|line| line.starts_with("timeout:")) { "" } else { "  timeout: 1h\n" };
    let lines: String = more.iter().map(|line| format!("  {line}\n")).collect();
    format!(
        "apiVersion: kubebench.dev/v1\nkind: Benchmark\nmetadata: {{name: b}}\nspec:\n{timeout}  workload: {{{workload}}}\n{lines}"
    )
}

/// A project whose benchmark runs `script` as its only replica.
fn job(script: &str, more: &[&str]) -> Folder {
    project(&format!("job: {{{}}}", shell(script)), more)
}

fn project(workload: &str, more: &[&str]) -> Folder {
    Folder::with([("specs/b.yaml", spec(workload, more))])
}

/// What a run of the program did.
struct Ran {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    /// The results that are there, in the order of the runs' starts.
    results: Vec<BenchmarkResult>,
}

impl Ran {
    fn code(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{:?}\n{}", self.status.signal(), self.stderr))
    }

    fn one(&self) -> &BenchmarkResult {
        assert_eq!(self.results.len(), 1, "{}", self.stderr);
        &self.results[0]
    }

    fn statuses(&self) -> Vec<Status> {
        self.results.iter().map(|result| result.run.status).collect()
    }

    /// Asserts how the only run ended and what the program's exit code was.
    fn ended(&self, status: Status, code: i32) -> &BenchmarkResult {
        assert_eq!((self.one().run.status, self.code()), (status, code), "{}{}", self.stdout, self.stderr);
        self.one()
    }
}

/// Runs the benchmark with these arguments.
fn run(folder: &Folder, arguments: &[&str]) -> Ran {
    finish(folder, start(folder, arguments))
}

/// Starts the benchmark.
fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let all: Vec<&str> = ["run", "specs"].iter().chain(arguments).copied().collect();
    folder.command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits for the end of the program and reads what it left.
fn finish(folder: &Folder, child: Child) -> Ran {
    let output = watchdog::output(child);
    let [stdout, stderr] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    Ran { status: output.status, stdout, stderr, results: results(&folder.path().join("results")) }
}

/// Reads every result below `folder`, each of which must be whole and in its place.
fn results(folder: &Path) -> Vec<BenchmarkResult> {
    if !folder.is_dir() {
        return Vec::new();
    }
    let mut found = Vec::new();
    for path in files_below(folder) {
        let read = result::read(&std::fs::read(&path).unwrap());
        let sealed = read.unwrap_or_else(|fault| panic!("{}: {fault}", path.display()));
        assert_eq!(path, folder.join(result::path(&sealed.result)));
        found.push((path.metadata().unwrap().modified().unwrap(), sealed.result));
    }
    found.sort_by_key(|(written, _)| *written);
    found.into_iter().map(|(_, result)| result).collect()
}

fn metric<'r>(result: &'r BenchmarkResult, name: &str) -> &'r Metric {
    result.metrics.iter().find(|metric| metric.name == name).unwrap_or_else(|| panic!("{name}: {:#?}", result.metrics))
}

fn exit<'r>(result: &'r BenchmarkResult, role: &str, index: u32) -> &'r Exit {
    let found = result.run.exits.iter().find(|exit| exit.role == role && exit.index == index);
    found.unwrap_or_else(|| panic!("{role}-{index}: {:#?}", result.run.exits))
}

/// The codes of the reasons for a run's status.
fn reasons(result: &BenchmarkResult) -> Vec<&str> {
    result.run.reasons.iter().map(|reason| reason.code.as_str()).collect()
}

/// The kept log of a replica of the only run.
fn log(folder: &Folder, name: &str) -> Vec<u8> {
    std::fs::read(only_run(folder).join("output/logs").join(name)).unwrap()
}

/// The folder of the only run.
fn only_run(folder: &Folder) -> PathBuf {
    let mut runs = std::fs::read_dir(folder.path().join(".kubebench/experiments")).unwrap();
    let first = runs.next().unwrap().unwrap().path();
    assert!(runs.next().is_none());
    first
}

/// The command lines of all living processes that were started for a run of this project, with their supervisors.
fn alive(folder: &Folder) -> Vec<(i32, String)> {
    let root = folder.path().canonicalize().unwrap();
    let mark = format!("KUBEBENCH_EXP_ROOT={}/", root.display()).into_bytes();
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        let environ = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_dead = std::fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| stat.contains(") Z "));
        if !is_dead && environ.windows(mark.len()).any(|window| window == mark) {
            let words = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push((pid, String::from_utf8_lossy(&words).replace('\0', " ")));
        }
    }
    found
}

/// Waits until the replica has made this file in its output folder.
fn until_made(folder: &Folder, name: &str) {
    let experiments = folder.path().join(".kubebench/experiments");
    until(name, || {
        let runs = std::fs::read_dir(&experiments).into_iter().flatten().flatten();
        runs.into_iter().any(|run| run.path().join("output").join(name).exists())
    });
}

fn send(pid: u32, signal: &str) {
    let status = std::process::Command::new("kill").args([&format!("-{signal}"), &pid.to_string()]).status().unwrap();
    assert!(status.success());
}
