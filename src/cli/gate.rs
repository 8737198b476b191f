//! `kubebench gate`: does the newest session pass what the specs demand?

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{GateArgs, Global};
use super::findings::{self, Findings, Output, counted, tell};
use super::recorded::teller;
use super::{evaluation, project};
use crate::app::evaluate::{ACKS, Evaluation, GateQuery, GatesEvaluated, Unreachable, subject};
use crate::app::places;
use crate::app::project::Pods;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_results::compare::model::{GateReport, Outcome};
use kubebench_results::compare::render::{Detail, Subject, View};
use kubebench_results::compare::words::nothing_to_evaluate;
use kubebench_results::compare::{render, v1};
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};

/// Evaluates the gates, prints, and returns whether the candidate passes.
pub(super) fn run(global: &Global, args: &GateArgs) -> Result<ExitStatus> {
    let base = global.base(args.change.since.as_deref())?;
    let project = project::open_held_to(base.as_ref(), global, &args.select, Pods::Kept)?;
    let found = project.diagnostics();
    let start = global.start();
    let query = args.query();
    if found.has_errors() {
        if let (Some(path), Some(compiled)) = (&args.markdown, &project.compilation.project) {
            let settings = &compiled.settings;
            let kept = [ACKS, &settings.results.directory, &settings.output];
            places::refuse("comment", &start.path(path), &project.root, &kept)?;
            let subject = subject(&project.root, settings.name.clone());
            let why = "the specs or the project file have errors, which `kubebench validate` lists";
            write_comment(global, path, &render::markdown_without_answer(why, &subject))?;
        }
        let output = Output::without_verdict(global.output_format);
        return project::report_beside(global, &project, output, found);
    }
    let mut evaluation = Evaluation::of(&start, project)?;
    if let Some(base) = base {
        evaluation.hold(base);
    }
    evaluation::refuse_places(global, &evaluation, args.markdown.as_deref(), &query.folders())?;
    let subject = evaluation.subject();
    let said = evaluate(global, args, &query, evaluation, &subject);
    if let (Err(error), Some(path)) = (&said, &args.markdown) {
        // Why there is no answer is the fault that counts, whether that can be written or not.
        let comment = render::markdown_without_answer(&format!("{error:#}"), &subject);
        drop(write_comment(global, path, &comment));
    }
    said
}

fn evaluate(
    global: &Global,
    args: &GateArgs,
    query: &GateQuery,
    mut evaluation: Evaluation,
    subject: &Subject,
) -> Result<ExitStatus> {
    evaluation.unreachable = Unreachable::of(args.count_unreachable);
    if args.fetch {
        evaluation.fetch(query.results.as_ref(), teller(global))?;
    }
    evaluation.read_if_any(query.results.as_ref())?;
    evaluation::tell_readings(global, &evaluation);
    let is_empty = evaluation.rules.is_empty() && (evaluation.expected.is_empty() || evaluation.has_no_results());
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
        if let Some(path) = &args.markdown {
            let why = "an acknowledgement has errors, which `kubebench validate` lists";
            write_comment(global, path, &render::markdown_without_answer(why, subject))?;
        }
        let findings = Findings { diagnostics: found, sources: &evaluation.sources, checked: &[], unreadable: true };
        return findings::report(global, Output::without_verdict(global.output_format), findings);
    }
    let GatesEvaluated { answer, diagnostics, sources, untrusted, links } =
        GatesEvaluated::of(evaluation, &acks, &global.start(), query)?;
    if let Some(path) = &args.markdown {
        write_comment(global, path, &render::markdown_gated(&answer, subject, &links))?;
    }
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    let warned = print(global, &answer, findings)?;
    Ok(match answer.outcome {
        Outcome::NoAnswer => {
            terminal::tell(&format!(
                "error: cannot decide: {} under test cannot be trusted; fix or remove them, or pass --skip-bad",
                counted(untrusted, "result file")
            ));
            ExitStatus::NoAnswer
        }
        Outcome::Passed | Outcome::NothingToEvaluate => warned,
        Outcome::Failed | Outcome::NoHistory => ExitStatus::No,
    })
}

fn write_comment(global: &Global, path: &Path, comment: &str) -> Result<()> {
    fs::write_report(&global.start().path(path), comment).with_context(|| format!("cannot write {}", path.display()))
}

/// Returns what a job is annotated with whose gate passes because not everything could be decided.
fn unsettled(said: String) -> Diagnostic {
    let mut notice = Diagnostic::in_file(&code::KB0462, PROJECT_FILE, said)
        .note("the gate passes; with `--on-inconclusive fail`, it fails for inconclusive series");
    notice.severity = Severity::Info;
    notice
}

/// Of a pipe as wide: the same bytes wherever it ends.
const WIDTH: usize = 100;

/// Returns text for the log of a job on GitHub, in which no line is a command.
fn in_log(text: &str) -> String {
    let line = |line: &str| {
        let is_command = line.trim_start().starts_with("::");
        [if is_command { "| " } else { "" }, &line.replace("##[", "## ["), "\n"].concat()
    };
    text.lines().map(line).collect()
}

/// Prints the answer, and returns whether there is a warning that is denied.
fn print(global: &Global, answer: &GateReport, findings: Findings<'_>) -> Result<ExitStatus> {
    let view = View {
        width: terminal::columns(terminal::Stream::Output).unwrap_or(WIDTH),
        detail: if global.verbose > 0 { Detail::Full } else { Detail::Short },
    };
    match global.output_format {
        Format::Human => terminal::print(&render::human_gated(answer, view))?,
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(v1::Gated::from(answer))?))?,
        _ if answer.outcome == Outcome::NothingToEvaluate => {
            tell(global, &format!("note: nothing to evaluate: {}", nothing_to_evaluate(answer)));
        }
        Format::Github => {
            terminal::print(&in_log(&render::human_gated(answer, view)))?;
            if let Some(said) = render::unsettled(answer) {
                findings::annotate(global, &unsettled(said), findings.sources)?;
            }
        }
        _ => tell(global, &format!("note: {}", render::last_line(answer))),
    }
    let Findings { diagnostics, sources, checked, unreadable } = findings;
    // In a job, `compile --check --since` has annotated what a change weakens.
    let is_annotated = |finding: &Diagnostic| {
        global.output_format == Format::Github && finding.code == &code::KB0463 && finding.severity == Severity::Info
    };
    let diagnostics = diagnostics.into_iter().filter(|finding| !is_annotated(finding)).collect();
    findings::about_answer(global, Findings { diagnostics, sources, checked, unreadable })
}

#[cfg(test)]
mod tests {
    use super::in_log;

    #[test]
    fn no_line_of_a_log_is_a_command() {
        let text = "regressed: a\n  ::error::b\n::set-env name=c::d\n##[group]e: ::f\n";
        assert_eq!(in_log(text), "regressed: a\n|   ::error::b\n| ::set-env name=c::d\n## [group]e: ::f\n");
    }
}
