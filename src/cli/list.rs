//! `kubebench list`: the benchmarks of the project.

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::Output;
use super::{project, starts};
use crate::app::schedule::schedule;
use kubebench_host::{machine, terminal};
use kubebench_syntax::diag::render::Format;

/// Prints one line for each benchmark and target.
pub(super) fn run(global: &Global, args: &SelectArgs) -> Result<ExitStatus> {
    let project = project::open(global, args)?;
    let benchmarks = project.benchmarks();
    let now = machine::second();
    let schedules: Vec<_> = benchmarks.iter().map(|compiled| schedule(&compiled.benchmark, &now)).collect();
    if global.output_format == Format::Json {
        let list: Vec<serde_json::Value> = benchmarks
            .iter()
            .zip(&schedules)
            .map(|(compiled, schedule)| {
                let benchmark = &compiled.benchmark;
                json!({
                    "name": benchmark.name,
                    "target": benchmark.target.name,
                    "spec": benchmark.path,
                    "suite": benchmark.suite,
                    "extends": project.compilation.fragments_of(&benchmark.path).map(|(name, _)| name).collect::<Vec<_>>(),
                    "labels": benchmark.labels,
                    "schedule": schedule,
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
        let scheduled = benchmarks.iter().map(|compiled| &*compiled.benchmark);
        terminal::print(&starts::table(scheduled.zip(schedules.iter().map(Option::as_ref))))?;
    }
    // Specs with faults are missing above, so they are named.
    project::report_beside(global, &project, Output::Data, project.diagnostics())
}
