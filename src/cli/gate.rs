//! `kubebench gate`: does the newest session pass what the specs demand?

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{GateArgs, Global};
use super::findings::{self, Findings, Output, counted};
use super::recorded::teller;
use super::{evaluation, project};
use crate::app::evaluate::{Evaluation, GatesEvaluated, Unreachable};
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::compare::model::{GateReport, Outcome};
use kubebench_results::compare::{render, v1};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::diag::render::Format;

/// Evaluates the gates, prints, and returns whether the candidate passes.
pub(super) fn run(global: &Global, args: &GateArgs) -> Result<ExitStatus> {
    let project = project::open(global, &args.select)?;
    let found = project.diagnostics();
    if found.has_errors() {
        return project::report(global, &project, found);
    }
    let start = global.start();
    let query = args.query();
    let mut evaluation = Evaluation::of(&start, project)?;
    evaluation::refuse_places(global, &evaluation, args.markdown.as_deref(), &query.folders())?;
    evaluation.unreachable = Unreachable::of(args.count_unreachable);
    if args.fetch {
        evaluation.fetch(query.results.as_ref(), teller(global))?;
    }
    evaluation.read_if_any(query.results.as_ref())?;
    evaluation::tell_readings(global, &evaluation);
    let is_empty = evaluation.expected.is_empty() || evaluation.rules.is_empty() && evaluation.has_no_results();
    if is_empty && !args.allow_empty {
        let lacks = if evaluation.expected.is_empty() { "no spec" } else { "no spec with a gate, and no result" };
        bail!(
            "{} has {lacks}: is this the folder of the project (`-C`)? Pass `--allow-empty` if it is",
            evaluation.root.display()
        );
    }
    let mut found = Diagnostics::default();
    let acks = evaluation.acks(&mut found)?;
    if found.has_errors() {
        // An acknowledgement that cannot be read could be the one that lets the gate pass, or not.
        let findings = Findings { diagnostics: found, sources: &evaluation.sources, checked: &[], unreadable: true };
        return findings::report(global, Output::Findings, findings);
    }
    let GatesEvaluated { answer, diagnostics, sources, untrusted } =
        GatesEvaluated::of(evaluation, &acks, &start, &query)?;
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    print(global, args, &answer, findings)?;
    Ok(match answer.outcome {
        Outcome::NoAnswer => {
            terminal::tell(&format!(
                "error: cannot decide: {} under test cannot be trusted; fix or remove them, or pass --skip-bad",
                counted(untrusted, "result file")
            ));
            ExitStatus::NoAnswer
        }
        Outcome::Passed | Outcome::NothingToEvaluate => ExitStatus::Yes,
        Outcome::Failed | Outcome::NoHistory => ExitStatus::No,
    })
}

fn print(global: &Global, args: &GateArgs, answer: &GateReport, findings: Findings<'_>) -> Result<()> {
    if let Some(path) = &args.markdown {
        fs::write_report(&global.start().path(path), &render::markdown_gated(answer))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match global.output_format {
        Format::Human => terminal::print(&render::human_gated(answer))?,
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(v1::Gated::from(answer))?))?,
        _ => return findings::report(global, Output::Findings, findings).map(drop),
    }
    findings::write_reports(global, findings)
}
