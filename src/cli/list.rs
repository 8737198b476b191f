//! `kubebench list`: the benchmarks of the project.

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::Output;
use super::project;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Prints one line for each benchmark and target.
pub(super) fn run(global: &Global, args: &SelectArgs) -> Result<ExitStatus> {
    let project = project::open(global, args)?;
    let benchmarks = project.benchmarks();
    if global.output_format == Format::Json {
        let list: Vec<serde_json::Value> = benchmarks
            .iter()
            .map(|compiled| {
                let benchmark = &compiled.benchmark;
                json!({
                    "name": benchmark.name,
                    "target": benchmark.target.name,
                    "spec": benchmark.path,
                    "suite": benchmark.suite,
                    "labels": benchmark.labels,
                    "runDigest": compiled.identity.digest.to_string(),
                    "cases": benchmark.cases.iter().map(|case| json!({ "id": case.id, "name": case.name })).collect::<Vec<_>>(),
                    "runs": benchmark.runs(),
                })
            })
            .collect();
        terminal::print(&format!("{:#}\n", json!({ "schemaVersion": 1, "benchmarks": list })))?;
    } else {
        let width = |of: fn(&kubebench_compiler::model::Benchmark) -> usize| {
            benchmarks.iter().map(|compiled| of(&compiled.benchmark)).max().unwrap_or_default()
        };
        let (names, targets) =
            (width(|benchmark| benchmark.name.len()), width(|benchmark| benchmark.target.name.len()));
        let lines: String = benchmarks
            .iter()
            .map(|compiled| {
                let benchmark = &compiled.benchmark;
                let workload = benchmark.cases.first().map_or("", |case| case.workload.key);
                format!(
                    "{:<names$}  {:<targets$}  {workload:<10}  {:>4} runs  {}\n",
                    benchmark.name,
                    benchmark.target.name,
                    benchmark.runs(),
                    benchmark.path
                )
            })
            .collect();
        terminal::print(&lines)?;
    }
    // Specs with faults are missing above, so they are named.
    project::report_beside(global, &project, Output::of_answer(global.output_format), project.diagnostics())
}
