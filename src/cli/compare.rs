//! `kubebench compare`: two sides of what was measured, or cases side by side along one axis.

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{CompareArgs, Global};
use super::evaluation;
use super::findings::{self, Findings};
use crate::app::evaluate::{CompareQuery, Histories, HistoryQuery, MetricQuery, Scaling, ScalingQuery, SidesCompared};
use crate::app::results::NamedResults;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::compare::{render, v1};
use kubebench_results::scaling;
use kubebench_syntax::diag::render::{Format, on_one_line};

/// Compares, prints, and returns 1 where a file could not be trusted, a side is empty or lacks hardware or a metric of a case, or nothing
/// was compared.
pub(super) fn run(global: &Global, args: &CompareArgs) -> Result<ExitStatus> {
    match (&args.by, &args.baseline, &args.candidate) {
        (Some(axis), ..) => along(global, args, axis),
        (None, Some(baseline), Some(candidate)) => sides(global, args, [baseline, candidate]),
        _ => bail!("compare needs two sides"),
    }
}

fn sides(global: &Global, args: &CompareArgs, [baseline, candidate]: [&str; 2]) -> Result<ExitStatus> {
    let start = global.start();
    let query = CompareQuery {
        sides: [CompareQuery::side(&start, baseline)?, CompareQuery::side(&start, candidate)?],
        benchmarks: args.benchmark.clone(),
        metrics: args.metric.clone(),
        allowed: args.allow.clone(),
        results: args.results.clone(),
    };
    let evaluation = evaluation::open(global, args.markdown.as_deref(), &query.folders())?;
    let subject = evaluation.subject();
    let compared = SidesCompared::of(evaluation, &start, &query)?;
    let status = if compared.is_whole() { ExitStatus::Yes } else { ExitStatus::No };
    let SidesCompared { answer, problems, findings, sources } = compared;
    if global.output_format == Format::Human {
        for fault in problems.as_slice() {
            let help = fault.help.iter().map(|help| format!("; {help}")).collect::<String>();
            terminal::tell(&on_one_line(&format!("{}: {}{help}", fault.code.id, fault.message)));
        }
    }
    let mut diagnostics = problems;
    diagnostics.extend(findings);
    let answer = Answer {
        human: &|| render::human_comparison(&answer),
        markdown: &|| render::markdown_comparison(&answer, &subject),
        json: &|| Ok(serde_json::to_value(v1::Comparison::from(&answer))?),
    };
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    let warned = print(global, args, &answer, findings)?;
    Ok(if status == ExitStatus::Yes { warned } else { status })
}

fn along(global: &Global, args: &CompareArgs, axis: &str) -> Result<ExitStatus> {
    let query = HistoryQuery {
        benchmarks: args.benchmark.clone(),
        metrics: MetricQuery::All,
        results: args.results.clone(),
        ..HistoryQuery::default()
    };
    let folders: Vec<_> = args.results.as_ref().and_then(NamedResults::folder).into_iter().collect();
    let histories = Histories::of(evaluation::open(global, None, &folders)?, &query)?;
    evaluation::tell_readings(global, &histories.evaluation);
    let scaling = ScalingQuery {
        axis: axis.to_owned(),
        base: args.base.clone(),
        metrics: args.metric.clone(),
        allowed: args.allow.clone(),
        pareto: args.pareto.clone(),
    };
    let subject = histories.evaluation.subject();
    let Scaling { answer, diagnostics, sources } = Scaling::of(histories, &scaling)?;
    let status = if !answer.groups.is_empty() && !diagnostics.has_errors() { ExitStatus::Yes } else { ExitStatus::No };
    let answer = Answer {
        human: &|| scaling::render::human(&answer),
        markdown: &|| scaling::render::markdown(&answer, &subject),
        json: &|| Ok(serde_json::to_value(scaling::v1::Swept::from(&answer))?),
    };
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    let warned = print(global, args, &answer, findings)?;
    Ok(if status == ExitStatus::Yes { warned } else { status })
}

/// A comparison in the forms in which it is printed.
struct Answer<'a> {
    human: &'a dyn Fn() -> String,
    markdown: &'a dyn Fn() -> String,
    json: &'a dyn Fn() -> Result<serde_json::Value>,
}

/// Prints the answer, and returns whether there is a warning that is denied.
fn print(global: &Global, args: &CompareArgs, answer: &Answer<'_>, findings: Findings<'_>) -> Result<ExitStatus> {
    if let Some(path) = &args.markdown {
        fs::write_report(&global.start().path(path), &(answer.markdown)())
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match global.output_format {
        Format::Human => terminal::print(&(answer.human)())?,
        Format::Json => terminal::print(&format!("{:#}\n", (answer.json)()?))?,
        _ => {}
    }
    findings::about_answer(global, findings)
}
