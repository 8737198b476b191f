//! `kubebench plan`: what would run, how often, how long at most, and what it may cost.

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, PlanArgs};
use super::findings::{Output, tell};
use super::project;
use crate::app::plan::{Action, Plan, Row, Since};
use crate::app::project::CompiledProject;
use kubebench_compiler::compile::{Compiled, CompiledSuite};
use kubebench_compiler::model::Suite;
use kubebench_compiler::model::suite::Member;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::{Format, Report, Style, render};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity};

/// Prints the plan.
pub(super) fn run(global: &Global, args: &PlanArgs) -> Result<ExitStatus> {
    let project = project::open(global, &args.select)?;
    let diagnostics = project.diagnostics();
    if diagnostics.has_errors() {
        return project::report(global, &project, diagnostics);
    }
    let plan = Plan::of(&project, args.since.as_deref())?;
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", as_json(&plan)))?;
    } else {
        let suites: Vec<&CompiledSuite> = project.suites().collect();
        terminal::print(&table(&plan, &suites))?;
        terminal::print(&privileges(&project, &diagnostics))?;
    }
    let status = project::report_beside(global, &project, Output::of_answer(global.output_format), diagnostics)?;
    for note in plan.since.iter().flat_map(Since::notes) {
        tell(global, &note);
    }
    Ok(status)
}

/// Says what the benchmarks may do that a plain one may not, a line each.
fn privileges(project: &CompiledProject, diagnostics: &Diagnostics) -> String {
    let found: Vec<Diagnostic> =
        diagnostics.as_slice().iter().filter(|finding| finding.severity == Severity::Info).cloned().collect();
    if found.is_empty() {
        return String::new();
    }
    let (sources, checked) = (&project.compilation.sources, &[]);
    let report = Report { diagnostics: &found, sources, checked, style: Style::Plain };
    format!("beyond what a plain benchmark may do:\n{}", render(Format::Concise, &report))
}

fn words(action: Action) -> &'static str {
    match action {
        Action::Runs => "runs",
        Action::RunsAgain => "runs again",
        Action::Scheduled => "on schedule",
        Action::Unchanged => "unchanged",
    }
}

fn table(plan: &Plan<'_>, suites: &[&CompiledSuite]) -> String {
    let shown = plan.running();
    let header =
        ["BENCHMARK", "TARGET", "ACTION", "CASES", "RUNS", "AT MOST", "GPUS", "GPU-HOURS", "COST"].map(str::to_owned);
    let mut lines = vec![header];
    for row in &shown {
        let Row { compiled: Compiled { benchmark, .. }, action, estimate } = row;
        lines.push([
            benchmark.name.clone(),
            benchmark.target.name.clone(),
            words(*action).to_owned(),
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
    for (target, name) in &plan.removed {
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

fn as_json(plan: &Plan<'_>) -> serde_json::Value {
    let benchmarks: Vec<serde_json::Value> = plan
        .rows
        .iter()
        .map(|Row { compiled: Compiled { benchmark, identity, .. }, action, estimate }| {
            json!({
                "name": benchmark.name,
                "target": benchmark.target.name,
                "spec": benchmark.path,
                "suite": benchmark.suite,
                "action": words(*action).replace(' ', "-"),
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
        plan.removed.iter().map(|(target, name)| json!({ "name": name, "target": target })).collect();
    let not_compared: Vec<serde_json::Value> = plan
        .since
        .iter()
        .flat_map(|since| &since.not_compared)
        .map(|fault| json!({ "spec": fault.path, "code": fault.code, "message": fault.message }))
        .collect();
    json!({ "schemaVersion": 1, "benchmarks": benchmarks, "removed": removed, "notCompared": not_compared })
}
