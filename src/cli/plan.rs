//! `kubebench plan`: what would run, how often, how long at most, and what it may cost.

mod answer;
mod changes;
mod permissions;

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};

use super::ExitStatus;
use super::args::{Global, PlanArgs};
use super::findings::{self, Findings, Output, counted, tell};
use super::{project, starts};
use crate::app::evaluate::{ACKS, subject};
use crate::app::places;
use crate::app::plan::{
    Action, Amount, Group, Lock, Mistake, Permission, Plan, Row, Since, comment, groups, hours, names,
};
use crate::app::project::Pods;
use crate::app::tree::GeneratedTree;
use kubebench_compiler::compile::{Compiled, CompiledSuite};
use kubebench_compiler::model::Suite;
use kubebench_compiler::model::suite::Member;
use kubebench_host::{fs, machine, terminal};
use kubebench_syntax::diag::render::{Format, place};
use kubebench_syntax::diag::{Diagnostics, Severity};
use kubebench_syntax::text::first_of;

/// Prints the plan.
pub(super) fn run(global: &Global, args: &PlanArgs) -> Result<ExitStatus> {
    let base = global.base(args.since.as_deref())?;
    let project = project::open_held_to(base.as_ref(), global, &args.select, Pods::Kept)?;
    let mut diagnostics = project.diagnostics();
    if let Some(path) = &args.markdown {
        let own = project.own_folders();
        let kept: Vec<&str> = own.into_iter().chain([ACKS]).collect();
        places::refuse("comment", &global.start().path(path), &project.root, &kept)?;
    }
    let write_comment = |plan: Result<&Plan<'_>, &[Mistake]>, stale: Option<&str>| -> Result<()> {
        let Some(path) = &args.markdown else { return Ok(()) };
        let name = project.compilation.project.as_ref().and_then(|project| project.settings.name.clone());
        let text = comment(plan, stale, &subject(&project.root, name));
        fs::write_report(&global.start().path(path), &text).with_context(|| format!("cannot write {}", path.display()))
    };
    if diagnostics.has_errors() {
        let sources = &project.compilation.sources;
        let errors = diagnostics.as_slice().iter().filter(|finding| finding.severity == Severity::Error);
        let mistakes: Vec<Mistake> = errors
            .map(|finding| Mistake {
                place: place(finding, sources),
                code: finding.code.id,
                message: finding.message.clone(),
            })
            .collect();
        write_comment(Err(&mistakes), None)?;
        let output = Output::without_answer(global.output_format);
        return project::report_beside(global, &project, output, diagnostics);
    }
    let plan = Plan::of(&project, base.as_ref(), &machine::second());
    if args.markdown.is_some() {
        // What keeps manifests from being written is for `compile` to report.
        let tree = GeneratedTree::read(&project, &mut Diagnostics::default())?;
        let stale = tree.as_ref().filter(|tree| !tree.plan().is_clean()).map(|tree| tree.output.as_str());
        write_comment(Ok(&plan), stale)?;
    }
    if global.output_format == Format::Json {
        terminal::print(&format!("{:#}\n", serde_json::to_value(answer::of(&plan))?))?;
    } else if global.output_format.is_lines() {
        let suites: Vec<&CompiledSuite> = project.suites().collect();
        terminal::print(&table(&plan, &suites))?;
        let shown = plan.running();
        terminal::print(&starts::table(shown.iter().map(|row| (&*row.compiled.benchmark, row.schedule.as_ref()))))?;
        terminal::print(&changes::without_run(&plan))?;
        terminal::print(&permissions::table(&plan.permissions))?;
    }
    let new = plan.permissions.iter().filter(|permission| permission.is_new());
    let faults = diagnostics.clone().into_iter().filter(|finding| finding.severity != Severity::Info).collect();
    diagnostics.extend(new.clone().map(|permission| permission.finding.clone()));
    let status = match global.output_format {
        // People have just read what those of level info say.
        Format::Human | Format::Concise | Format::Github | Format::Json => {
            project::report_beside(global, &project, Output::Data, faults)?
        }
        Format::Gitlab | Format::Sarif | Format::Junit => project::report(global, &project, diagnostics.clone())?,
    };
    let sources = &project.compilation.sources;
    let all = Findings { diagnostics, sources, checked: &project.checked, unreadable: project.unreadable };
    findings::write_reports(global, all)?;
    for note in plan.since.iter().flat_map(Since::notes) {
        tell(global, &note);
    }
    let fails = |permission: &Permission| args.fail_on.is_some_and(|least| permission.level() <= least);
    let failing = new.filter(|permission| fails(permission)).count();
    if failing > 0 {
        let has = if failing == 1 { "has" } else { "have" };
        tell(global, &format!("{} {has} the level of `--fail-on` or a higher one", counted(failing, "permission")));
        return Ok(status.max(ExitStatus::No));
    }
    Ok(status)
}

/// How many Workflows of a lock are named.
const NAMED: usize = 12;

fn table(plan: &Plan<'_>, suites: &[&CompiledSuite]) -> String {
    let shown = plan.running();
    let header = ["BENCHMARK", "TARGET", "ACTION", "CASES", "RUNS", "MAX TIME", "MAX GPUS", "GPU-HOURS", "COST"]
        .map(str::to_owned);
    let mut lines = vec![header];
    let groups = groups(&shown);
    for row in groups.iter().flat_map(|group| &group.rows) {
        let Row { compiled: Compiled { benchmark, .. }, estimate, .. } = row;
        lines.push([
            benchmark.name.clone(),
            benchmark.target.name.clone(),
            row.words().to_owned(),
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
        // The causes of a group are below its last benchmark.
        let of_group = |group: &Group<'_>| {
            let Group { rows, .. } = group;
            let before = std::iter::repeat_n(Vec::new(), rows.len().saturating_sub(1));
            before.chain(std::iter::once(changes::causes(group)))
        };
        let causes = std::iter::once(Vec::new()).chain(groups.iter().flat_map(of_group));
        for (line, causes) in lines.iter().zip(causes) {
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
            text.extend(causes.into_iter().map(|cause| format!("    {cause}\n")));
        }
        text.push_str(&total(&shown));
    }
    text.extend(plan.locks.iter().map(of_lock));
    text.extend(suites.iter().filter_map(|compiled| of_suite(&compiled.suite, &shown)));
    let mut unpriced: BTreeMap<(&str, String), Vec<&str>> = BTreeMap::new();
    for Row { compiled: Compiled { benchmark, .. }, estimate, .. } in &shown {
        if !estimate.unpriced.is_empty() {
            let of = unpriced.entry((&benchmark.target.name, estimate.unpriced.join(", "))).or_default();
            of.push(&benchmark.name);
        }
    }
    for ((target, missing), names) in unpriced {
        let names = first_of(&names, NAMED);
        text.push_str(&format!("note: the cost of {names} is unknown: {target} has no price for {missing}\n"));
    }
    text.extend(plan.removed().map(changes::removed));
    let again: Vec<&Row<'_>> = shown.iter().copied().filter(|row| row.action == Action::RunsAgain).collect();
    if !again.is_empty() {
        let names = names(&again);
        let (is, its) = if names.len() == 1 { ("is", "its Workflow is") } else { ("are", "their Workflows are") };
        text.push_str(&format!(
            "note: if {} {is} running at the merge, {its} stopped and unfinished runs are lost\n",
            first_of(&names, NAMED)
        ));
    }
    text
}

/// Says how many of the Workflows that would start run at once.
fn of_lock(lock: &Lock) -> String {
    let (targets, count) = (lock.targets.join(" and "), lock.workflows.len());
    let suffix = if lock.targets.len() == 1 { format!(" on {targets}") } else { String::new() };
    let names: Vec<&str> = lock.workflows.iter().map(|name| name.strip_suffix(&suffix).unwrap_or(name)).collect();
    let names = first_of(&names, NAMED);
    match lock.limit {
        Some(limit) if (limit as usize) < count => {
            let at_once = if limit == 1 { "one Workflow runs".to_owned() } else { format!("{limit} Workflows run") };
            format!("on {targets} {at_once} at a time: {names}\n")
        }
        _ => format!("on {targets} {count} Workflows run at once: {names}\n"),
    }
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

/// Says what all that is shown takes together.
fn total(shown: &[&Row<'_>]) -> String {
    let Amount { runs, hours: most, gpu_hours, costs, unpriced } = Amount::of(shown);
    let mut parts = vec![counted(runs, "run"), hours(most), format!("{gpu_hours:.1} GPU-hours")];
    parts.extend(costs.iter().map(|(currency, cost)| money(Some(*cost), Some(currency))));
    let unknown = if unpriced > 0 && !costs.is_empty() {
        format!("; {} without a known cost", counted(unpriced, "benchmark"))
    } else {
        String::new()
    };
    format!("total: {} at most (if every run takes its full timeout){unknown}\n", parts.join(", "))
}

fn money(cost: Option<f64>, currency: Option<&str>) -> String {
    match (cost, currency) {
        (Some(cost), Some(currency)) => format!("{cost:.2} {currency}"),
        _ => "-".to_owned(),
    }
}
