//! `kubebench compile`: specs in, a checked tree of manifests out.

use anyhow::Result;

use super::ExitStatus;
use super::args::{CompileArgs, Global};
use super::findings::{Output, counted, style_of_diff, tell};
use super::project;
use crate::app::project::{CompiledProject, Pods};
use crate::app::schemas;
use crate::app::tree::GeneratedTree;
use kubebench_compiler::tree::COMPILE;
use kubebench_compiler::tree::{EditedFiles, Mode, Plan};
use kubebench_compiler::weakened::Held;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_syntax::diag::group::first_listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};

/// Writes the tree, or says what would be written.
pub(super) fn run(global: &Global, args: &CompileArgs) -> Result<ExitStatus> {
    let writes = !args.check && !args.diff;
    // Taken before anything is read, so that two compilations never write from two states of the specs.
    let _guard = if writes {
        let root = fs::find_root(&global.start().folder()?);
        Some(fs::lock(&root, || tell(global, "waiting for another compilation to finish"))?)
    } else {
        None
    };
    let base = global.base(args.change.since.as_deref())?;
    // It dies with the process: taking thousands of compiled specs apart first would only take time.
    // What runs may use is what their pods use.
    let pods = if base.is_some() { Pods::Kept } else { Pods::Dropped };
    let project = project::open_held_to(base.as_ref(), global, &args.select, pods)?;
    let project: &CompiledProject = Box::leak(Box::new(project));
    let mut diagnostics = project.diagnostics();
    if args.check {
        diagnostics.extend(project.shared_with_neighbors());
    }
    if let Some(base) = &base {
        let Held { mut weakened, gone, exceeded, unknown, .. } = project.held_to(base);
        weakened.extend(gone);
        diagnostics.extend(args.change.on_weakened.at_level(weakened));
        diagnostics.extend(unknown);
        diagnostics.extend(exceeded);
    }
    let Some(tree) = GeneratedTree::read(project, &mut diagnostics)? else {
        return project::report(global, project, diagnostics);
    };
    let update = Update { global, project, tree: &tree, plan: tree.plan() };
    if args.diff {
        let style = style_of_diff(global);
        terminal::print(&update.plan.diff(&tree.output, style))?;
    }
    let output = if args.diff { Output::Data } else { Output::Findings };
    if writes { write(&update, args, diagnostics) } else { answer(&update, args, output, diagnostics) }
}

/// The tree, and what is to be done to it.
struct Update<'a> {
    global: &'a Global,
    project: &'a CompiledProject,
    tree: &'a GeneratedTree<'a>,
    plan: Plan<'a>,
}

fn write(update: &Update<'_>, args: &CompileArgs, mut diagnostics: Diagnostics) -> Result<ExitStatus> {
    let Update { global, project, tree, plan } = update;
    let edited = if args.overwrite_edited { EditedFiles::Overwrite } else { EditedFiles::Keep };
    let findings = plan.diagnostics(Mode::Write(edited), &tree.output, &project.compilation.parts());
    let unanswered = unanswered(&findings);
    diagnostics.extend(findings);
    let refused = diagnostics.has_errors();
    diagnostics.extend(schemas::stale(&project.root, Severity::Warning));
    diagnostics.extend(tree.ignored(Severity::Warning));
    let shared = project.shared_with_neighbors();
    diagnostics.extend(shared.into_iter().map(|fault| Diagnostic { severity: Severity::Warning, ..fault }));
    if !refused {
        tree.apply(plan, edited)?;
    }
    let status = project::report(global, project, diagnostics)?.max(unanswered);
    if refused {
        tell(global, "nothing was written");
    } else {
        tell(global, &summary(update, edited));
        tell_of_others(update);
    }
    Ok(status)
}

/// Says which other specs have manifests that are not what they should be, such as the suite of a spec that was asked for.
fn tell_of_others(update: &Update<'_>) {
    if update.project.selection.is_everything() {
        return;
    }
    let others = update.tree.left_stale();
    if !others.is_empty() {
        let names = first_listed(others.iter().map(String::as_str));
        let text =
            format!("note: manifests of {names} are stale as well; `kubebench compile` without a path updates all");
        tell(update.global, &text);
    }
}

/// The answer to "is the committed tree what the specs say?".
fn answer(update: &Update<'_>, args: &CompileArgs, stdout: Output, mut diagnostics: Diagnostics) -> Result<ExitStatus> {
    let Update { global, project, tree, plan } = update;
    let output = &tree.output;
    let faults = diagnostics.has_errors();
    let parts = project.compilation.parts();
    let findings = if args.check { plan.diagnostics(Mode::Check, output, &parts) } else { Vec::new() };
    let unanswered = unanswered(&findings);
    diagnostics.extend(findings);
    if args.check {
        diagnostics.extend(schemas::stale(&project.root, Severity::Error));
        diagnostics.extend(tree.ignored(Severity::Error));
    }
    let status = project::report_beside(global, project, stdout, diagnostics)?.max(unanswered);
    if plan.is_clean() && !faults && status == ExitStatus::Yes {
        let (manifests, specs) = (counted(plan.unchanged, "manifest"), project.specs_in_words());
        tell(global, &format!("{output}/ is up to date: {manifests} of {specs}"));
    } else if !plan.is_clean() && status != ExitStatus::NoAnswer {
        let repaired = plan.summary(EditedFiles::Keep);
        let advice = if faults {
            "fix the errors in the specs; `kubebench compile` then updates the tree"
        } else if repaired.created + repaired.changed + repaired.removed == plan.changes.len() {
            COMPILE
        } else if args.check {
            "the findings above say what to do about each file"
        } else {
            "`kubebench compile --check` says what to do about each file"
        };
        tell(global, &format!("{output}/ does not match the specs: {advice}"));
        return Ok(ExitStatus::No);
    }
    Ok(status)
}

/// Returns "no answer" when a manifest could not be read, so that the rest is not taken for the whole.
fn unanswered(findings: &[Diagnostic]) -> ExitStatus {
    if findings.iter().any(|fault| fault.code == &code::KB0114) { ExitStatus::NoAnswer } else { ExitStatus::Yes }
}

fn summary(update: &Update<'_>, edited: EditedFiles) -> String {
    let Update { project, tree, plan, .. } = update;
    let (summary, output) = (plan.summary(edited), &tree.output);
    let conflicts = match summary.conflicts {
        0 => String::new(),
        count => format!("; {} with conflict markers compiled again", counted(count, "manifest")),
    };
    format!(
        "{output}/: {} created, {} changed, {} removed, {} unchanged ({}){conflicts}",
        summary.created,
        summary.changed,
        summary.removed,
        summary.unchanged,
        project.specs_in_words()
    )
}
