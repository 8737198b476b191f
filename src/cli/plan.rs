//! `kubebench plan`: what would run, how often, how long at most, and what it may cost.

mod since;

use std::collections::BTreeSet;

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, PlanArgs};
use super::findings::Output;
use super::session::Session;
use kubebench_compiler::compile::{Compiled, CompiledSuite};
use kubebench_compiler::model::Suite;
use kubebench_compiler::model::estimate::{Estimate, estimate};
use kubebench_compiler::model::suite::Member;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;
use since::{Key, Since, key};

/// What a merge would do about a benchmark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    /// It runs (for `--since`: it is new).
    Runs,
    /// It runs again, because what it executes changed.
    RunsAgain,
    /// It runs on its schedule.
    Scheduled,
    /// Nothing that it executes changed.
    Unchanged,
}

impl Action {
    fn words(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::RunsAgain => "runs again",
            Self::Scheduled => "on schedule",
            Self::Unchanged => "unchanged",
        }
    }
}

struct Row<'c> {
    compiled: &'c Compiled,
    action: Action,
    estimate: Estimate,
}

/// Prints the plan.
pub(super) fn run(global: &Global, args: &PlanArgs) -> Result<ExitStatus> {
    let session = Session::open(global, &args.select)?;
    let diagnostics = session.diagnostics();
    if diagnostics.has_errors() {
        return session.report(diagnostics);
    }
    let since = args.since.as_deref().map(|revision| Since::read(&session, revision)).transpose()?;
    let benchmarks = session.benchmarks();
    let now: BTreeSet<Key> = benchmarks.iter().map(|compiled| key(compiled)).collect();
    let rows: Vec<Row<'_>> = benchmarks.into_iter().map(|compiled| row(compiled, since.as_ref())).collect();
    let removed: Vec<&Key> = since.iter().flat_map(Since::selected).filter(|old| !now.contains(*old)).collect();
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", as_json(&rows, &removed, since.as_ref())))?;
    } else {
        let suites: Vec<&CompiledSuite> = session.suites().collect();
        terminal::print(&table(&rows, &suites, &removed, args.since.as_deref()))?;
    }
    let status = session.report_beside(Output::of_answer(global.output_format), diagnostics)?;
    for note in since.iter().flat_map(Since::notes) {
        session.tell(&note);
    }
    Ok(status)
}

fn row<'c>(compiled: &'c Compiled, since: Option<&Since>) -> Row<'c> {
    let action = match since.and_then(|since| since.is_unchanged(compiled)) {
        Some(true) => Action::Unchanged,
        _ if compiled.benchmark.schedule.is_some() => Action::Scheduled,
        Some(_) => Action::RunsAgain,
        None => Action::Runs,
    };
    Row { compiled, action, estimate: estimate(&compiled.benchmark) }
}

fn table(rows: &[Row<'_>], suites: &[&CompiledSuite], removed: &[&Key], since: Option<&str>) -> String {
    let shown: Vec<&Row<'_>> = rows.iter().filter(|row| since.is_none() || row.action != Action::Unchanged).collect();
    let header =
        ["BENCHMARK", "TARGET", "ACTION", "CASES", "RUNS", "AT MOST", "GPUS", "GPU-HOURS", "COST"].map(str::to_owned);
    let mut lines = vec![header];
    for row in &shown {
        let Row { compiled: Compiled { benchmark, .. }, action, estimate } = row;
        lines.push([
            benchmark.name.clone(),
            benchmark.target.name.clone(),
            action.words().to_owned(),
            benchmark.cases.len().to_string(),
            estimate.runs.to_string(),
            hours(estimate.hours),
            estimate.accelerators.values().sum::<u64>().to_string(),
            format!("{:.1}", estimate.gpu_hours),
            money(estimate.cost, benchmark.target.prices.as_ref().map(|prices| prices.currency.as_str())),
        ]);
    }
    let widths: Vec<usize> = (0..9)
        .map(|column| {
            lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max().unwrap_or_default()
        })
        .collect();
    let mut text = String::new();
    if shown.is_empty() {
        text.push_str("nothing would run\n");
    } else {
        for line in &lines {
            let cells: Vec<String> = line
                .iter()
                .zip(&widths)
                .enumerate()
                .map(
                    |(column, (cell, width))| {
                        if column < 3 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
                    },
                )
                .collect();
            text.push_str(cells.join("  ").trim_end());
            text.push('\n');
        }
        let runs: u64 = shown.iter().map(|row| row.estimate.runs).sum();
        let gpu_hours: f64 = shown.iter().map(|row| row.estimate.gpu_hours).sum();
        text.push_str(&format!(
            "total: {runs} {}, {gpu_hours:.1} GPU-hours at most (every run taken at its full timeout)\n",
            if runs == 1 { "run" } else { "runs" }
        ));
    }
    text.extend(suites.iter().filter_map(|compiled| of_suite(&compiled.suite, &shown)));
    for Row { compiled: Compiled { benchmark, .. }, estimate, .. } in &shown {
        if !estimate.unpriced.is_empty() {
            let (name, target, missing) = (&benchmark.name, &benchmark.target.name, estimate.unpriced.join(", "));
            text.push_str(&format!("note: the cost of {name} is not known: {target} has no price for {missing}\n"));
        }
    }
    for (target, name) in removed {
        text.push_str(&format!("removed: {name} on {target}; its claim and results stay\n"));
    }
    let again: Vec<&str> = shown
        .iter()
        .filter(|row| row.action == Action::RunsAgain)
        .map(|row| row.compiled.benchmark.name.as_str())
        .collect();
    if !again.is_empty() {
        text.push_str(&format!(
            "note: {} may be running now; the new Workflow supersedes the old one, whose unfinished runs are lost\n",
            again.join(", ")
        ));
    }
    text
}

/// Says what of a suite would run, in which order and how long at most; nothing where none of its benchmarks would.
fn of_suite(suite: &Suite, shown: &[&Row<'_>]) -> Option<String> {
    let row = |member: &Member| {
        shown.iter().find(|row| {
            let benchmark = &row.compiled.benchmark;
            benchmark.name == member.benchmark && benchmark.target.name == suite.target.name
        })
    };
    let running: Vec<_> = suite.members.iter().filter_map(|member| Some((member, row(member)?))).collect();
    if running.is_empty() {
        return None;
    }
    let name = |(member, _): &(&Member, _)| match member.needs.as_slice() {
        [] => member.benchmark.clone(),
        needs => format!("{} (needs {})", member.benchmark, needs.join(", ")),
    };
    let names = running.iter().map(name).collect::<Vec<_>>().join(", ");
    let most = hours(running.iter().map(|(_, row)| row.estimate.hours).sum());
    Some(format!("suite {} on {}, one after another in {most} at most: {names}\n", suite.name, suite.target.name))
}

fn hours(hours: f64) -> String {
    if hours < 1.0 { format!("{:.0} min", hours * 60.0) } else { format!("{hours:.1} h") }
}

fn money(cost: Option<f64>, currency: Option<&str>) -> String {
    match (cost, currency) {
        (Some(cost), Some(currency)) => format!("{cost:.2} {currency}"),
        _ => "-".to_owned(),
    }
}

fn as_json(rows: &[Row<'_>], removed: &[&Key], since: Option<&Since>) -> serde_json::Value {
    let benchmarks: Vec<serde_json::Value> = rows
        .iter()
        .map(|Row { compiled: Compiled { benchmark, identity }, action, estimate }| {
            json!({
                "name": benchmark.name,
                "target": benchmark.target.name,
                "spec": benchmark.path,
                "suite": benchmark.suite,
                "action": action.words().replace(' ', "-"),
                "runDigest": identity.digest.to_string(),
                "cases": benchmark.cases.len(),
                "runs": estimate.runs,
                "maxHours": estimate.hours,
                "accelerators": estimate.accelerators,
                "gpuHours": estimate.gpu_hours,
                "cost": estimate.cost,
                "unpriced": estimate.unpriced,
                "currency": benchmark.target.prices.as_ref().map(|prices| prices.currency.as_str()),
            })
        })
        .collect();
    let removed: Vec<serde_json::Value> =
        removed.iter().map(|(target, name)| json!({ "name": name, "target": target })).collect();
    let not_compared: Vec<serde_json::Value> = since
        .iter()
        .flat_map(|since| &since.not_compared)
        .map(|fault| json!({ "spec": fault.path, "code": fault.code, "message": fault.message }))
        .collect();
    json!({ "schemaVersion": 1, "benchmarks": benchmarks, "removed": removed, "notCompared": not_compared })
}
