//! How findings reach the reader: on the screen, in the files that `--report` names, in the exit status.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::ExitStatus;
use super::args::{Color, Global};
use crate::app::places;
use kubebench_compiler::tree::diff;
use kubebench_host::fs;
use kubebench_host::terminal::{self, Stream};
pub(super) use kubebench_results::compare::words::counted;
use kubebench_syntax::diag::group;
use kubebench_syntax::diag::limit::limited;
use kubebench_syntax::diag::render::{self, Format, FromTop, Report, Style};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::SourceMap;

/// What a command found, and all that its status depends on.
pub(super) struct Findings<'a> {
    /// The findings.
    pub(super) diagnostics: Diagnostics,
    /// The texts that they point into.
    pub(super) sources: &'a SourceMap,
    /// The files that were checked, those without a finding too.
    pub(super) checked: &'a [String],
    /// True when some file may be all right and it is unknown whether it is.
    pub(super) unreadable: bool,
}

/// What standard output holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Output {
    /// Findings, perhaps below an answer for people.
    Findings,
    /// Data for another program, which findings would spoil.
    Data,
}

impl Output {
    /// Returns what a command prints that has no answer, because of what it found: a document of findings if that was asked for.
    pub(super) fn without_answer(format: Format) -> Self {
        if format.is_lines() { Self::Data } else { Self::Findings }
    }

    /// The same of a command that answers only people and readers of JSON, and lists findings for all others.
    pub(super) fn without_verdict(format: Format) -> Self {
        if format == Format::Human { Self::Data } else { Self::Findings }
    }
}

/// Prints findings, writes every report that was asked for, and returns the status that they call for.
pub(super) fn report(global: &Global, output: Output, findings: Findings<'_>) -> Result<ExitStatus> {
    let Findings { diagnostics, sources, checked, unreadable } = findings;
    let mut sorted = diagnostics.into_sorted(sources);
    // The tree follows from the specs, so what is wrong with those comes first.
    sorted.sort_by_key(|fault| fault.code.id.starts_with("KB05"));
    let shown = limited(&sorted, sources);
    let plain = Report { diagnostics: &shown, sources, checked, style: Style::Plain };
    // What is right is for `plan` to show, and for those who read everything.
    let faults: Vec<Diagnostic> = shown.iter().filter(|finding| !is_for_plan(finding)).cloned().collect();
    let on_screen = Report { diagnostics: if global.output_format.is_lines() { &faults } else { &shown }, ..plain };
    let styled =
        |stream| Report { style: if colored(global, stream) { Style::Colored } else { Style::Plain }, ..on_screen };
    match output {
        Output::Findings => terminal::print(&rendered(global, global.output_format, &styled(Stream::Output)))?,
        Output::Data if faults.is_empty() => {}
        Output::Data => {
            // A whole document would not be alone among the other messages there.
            let format = if global.output_format.is_lines() { global.output_format } else { Format::Human };
            terminal::tell_styled(rendered(global, format, &styled(Stream::Error)).trim_end());
        }
    }
    write_sorted(global, &plain)?;
    summarize(global, &sorted, sources);
    let errors = sorted.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Ok(if unreadable {
        ExitStatus::NoAnswer
    } else if errors || (global.deny_warnings && sorted.iter().any(is_fault)) {
        ExitStatus::No
    } else {
        ExitStatus::Yes
    })
}

/// Writes every report that was asked for, and prints nothing.
pub(super) fn write_reports(global: &Global, findings: Findings<'_>) -> Result<()> {
    let Findings { diagnostics, sources, checked, unreadable: _ } = findings;
    let sorted = diagnostics.into_sorted(sources);
    let shown = limited(&sorted, sources);
    write_sorted(global, &Report { diagnostics: &shown, sources, checked, style: Style::Plain })
}

/// Prints the findings about an answer: with it where it is printed for people or as JSON, else instead of it. Returns whether there is a
/// warning that is denied.
pub(super) fn about_answer(global: &Global, findings: Findings<'_>) -> Result<ExitStatus> {
    if matches!(global.output_format, Format::Human | Format::Json) {
        return beside_answer(global, findings);
    }
    let is_denied = global.deny_warnings && findings.diagnostics.has_warnings();
    report(global, Output::Findings, findings)?;
    Ok(if is_denied { ExitStatus::No } else { ExitStatus::Yes })
}

/// Writes every report that was asked for, and prints on standard error what warns of more than the answer says.
pub(super) fn beside_answer(global: &Global, findings: Findings<'_>) -> Result<ExitStatus> {
    let Findings { diagnostics, sources, checked, unreadable: _ } = findings;
    let sorted = diagnostics.into_sorted(sources);
    let shown = limited(&sorted, sources);
    let warnings: Vec<Diagnostic> =
        shown.iter().filter(|finding| finding.severity == Severity::Warning).cloned().collect();
    if !warnings.is_empty() {
        let style = if colored(global, Stream::Error) { Style::Colored } else { Style::Plain };
        let report = Report { diagnostics: &warnings, sources, checked, style };
        terminal::tell_styled(render::render(Format::Human, &report).trim_end());
        summarize(global, &warnings, sources);
    }
    write_sorted(global, &Report { diagnostics: &shown, sources, checked, style: Style::Plain })?;
    Ok(if global.deny_warnings && !warnings.is_empty() { ExitStatus::No } else { ExitStatus::Yes })
}

/// Returns the text of a report, for a CI system with paths from the top of the repository.
fn rendered(global: &Global, format: Format, report: &Report<'_>) -> String {
    if !format.is_of_repository() {
        return render::render(format, report);
    }
    render::render(format, &FromTop::of(report, &places::folder_of_project(&global.start())).report())
}

/// Prints a finding that no report has as an annotation of a job on GitHub.
pub(super) fn annotate(global: &Global, finding: &Diagnostic, sources: &SourceMap) -> Result<()> {
    let diagnostics = std::slice::from_ref(finding);
    let report = Report { diagnostics, sources, checked: &[], style: Style::Plain };
    terminal::print(&rendered(global, Format::Github, &report))
}

fn write_sorted(global: &Global, report: &Report<'_>) -> Result<()> {
    for target in &global.report {
        fs::write_report(&target.path, &rendered(global, target.format, report))
            .with_context(|| format!("cannot write the report {}", target.path.display()))?;
    }
    Ok(())
}

fn summarize(global: &Global, sorted: &[Diagnostic], sources: &SourceMap) {
    let Some(worst) = sorted.iter().min_by_key(|diagnostic| diagnostic.severity) else { return };
    // What was printed as one is counted as one.
    let groups = match global.output_format {
        Format::Human | Format::Github => group::groups(sorted),
        _ => Vec::new(),
    };
    let of = |(severity, word): (Severity, &str)| {
        let all = sorted.iter().filter(|finding| finding.severity == severity).count();
        let own = groups.iter().filter(|group| group.severity() == Some(severity));
        let printed = if groups.is_empty() { all } else { own.map(group::Group::printed).sum() };
        match all {
            0 => None,
            all if printed == all => Some(counted(all, word)),
            _ => {
                let own = sorted.iter().filter(|finding| finding.severity == severity);
                Some(format!("{} {}", counted(printed, word), group::extent(own, sources)))
            }
        }
    };
    let mut words: Vec<String> =
        [(Severity::Error, "error"), (Severity::Warning, "warning")].into_iter().filter_map(of).collect();
    let infos = sorted.iter().filter(|finding| is_for_plan(finding)).count();
    // Documents have them.
    let infos = if global.output_format.is_lines() { infos } else { 0 };
    words.extend((infos > 0).then(|| format!("{} of level info", counted(infos, "finding"))));
    let more = match worst.severity {
        Severity::Info if infos == 0 => return,
        Severity::Info => "`kubebench plan` shows them".to_owned(),
        Severity::Error | Severity::Warning => {
            let codes = sorted.iter().filter(|finding| is_fault(finding)).map(|finding| finding.code.id);
            let codes: BTreeSet<&str> = codes.collect();
            let of_several = if codes.len() == 1 { "" } else { " about that code" };
            format!("`kubebench explain {}` says more{of_several}", worst.code.id)
        }
    };
    tell(global, &format!("{}; {more}", words.join(", ")));
}

/// Returns whether a finding is for those who review what a benchmark may do. What a change weakens is for everybody.
fn is_for_plan(finding: &Diagnostic) -> bool {
    !is_fault(finding) && finding.code != &code::KB0463
}

/// Returns whether something is wrong, or probably is.
fn is_fault(finding: &Diagnostic) -> bool {
    finding.severity != Severity::Info
}

/// Refuses reports that would overwrite what they are about: specs, the project file, and what is in the `kept` folders.
pub(super) fn refuse_report_places(global: &Global, root: &Path, kept: &[&str]) -> Result<()> {
    global.report.iter().try_for_each(|target| places::refuse("report", &target.path, root, kept))
}

/// Says something on standard error, unless asked to be quiet.
pub(super) fn tell(global: &Global, text: &str) {
    if !global.quiet {
        terminal::tell(text);
    }
}

/// Returns how a diff is printed: as a patch for programs, and so that no file steers a terminal.
pub(super) fn style_of_diff(global: &Global) -> diff::Style {
    match (colored(global, Stream::Output), terminal::is_terminal(Stream::Output)) {
        (true, _) => diff::Style::Ansi,
        (false, true) => diff::Style::Visible,
        (false, false) => diff::Style::Plain,
    }
}

/// Returns whether a stream gets colors.
pub(super) fn colored(global: &Global, stream: Stream) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal::wants_color(stream),
    }
}
