//! `kubebench list`: the benchmarks of the project.

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::Output;
use super::{project, starts};
use crate::app::schedule::schedule;
use kubebench_compiler::model::Benchmark;
use kubebench_host::machine;
use kubebench_host::terminal::{self, Stream};
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::text::columns;

/// What people read above the columns. Programs that read the table have none.
const HEADER: [&str; 5] = ["BENCHMARK", "TARGET", "KIND", "RUNS", "SPEC"];

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
        let shown: Vec<&Benchmark> = benchmarks.iter().map(|compiled| &*compiled.benchmark).collect();
        terminal::print(&table(&shown, terminal::is_terminal(Stream::Output).then_some(HEADER)))?;
        let scheduled = benchmarks.iter().map(|compiled| &*compiled.benchmark);
        terminal::print(&starts::table(scheduled.zip(schedules.iter().map(Option::as_ref))))?;
    }
    // Specs with faults are missing above, so they are named.
    project::report_beside(global, &project, Output::Data, project.diagnostics())
}

fn table(benchmarks: &[&Benchmark], header: Option<[&str; 5]>) -> String {
    let digits = benchmarks.iter().map(|benchmark| benchmark.runs().to_string().len()).max().unwrap_or_default();
    let row = |benchmark: &&Benchmark| {
        [
            benchmark.name.clone(),
            benchmark.target.name.clone(),
            benchmark.cases.first().map_or("", |case| case.workload.key).to_owned(),
            format!("{:>digits$} runs", benchmark.runs()),
            benchmark.path.clone(),
        ]
    };
    let header = header.filter(|_| !benchmarks.is_empty()).map(|words| words.map(str::to_owned));
    let rows: Vec<[String; 5]> = header.into_iter().chain(benchmarks.iter().map(row)).collect();
    columns(&rows).iter().map(|line| format!("{line}\n")).collect()
}
