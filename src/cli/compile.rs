//! `kubebench compile`: specs in, a checked tree of manifests out.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};

use super::ExitStatus;
use super::args::{CompileArgs, Global};
use super::findings::{colored, counted, tell};
use super::project::start;
use super::session::Session;
use crate::app::files;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::manifest;
use kubebench_compiler::tree::diff::Style;
use kubebench_compiler::tree::header::{self, Header};
use kubebench_compiler::tree::{EditedFiles, Filter, Found, Mode, OnDisk, Plan, Scope, plan};
use kubebench_host::fs;
use kubebench_host::terminal::{self, Stream};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml;

/// Writes the tree, or says what would be written.
pub(super) fn run(global: &Global, args: &CompileArgs) -> Result<ExitStatus> {
    let writes = !args.check && !args.diff;
    // Taken before anything is read, so that two compilations never write from two states of the specs.
    let _guard = if writes {
        let root = fs::find_root(&start(global)?);
        Some(fs::lock(&root, || tell(global, "waiting for another compilation to finish"))?)
    } else {
        None
    };
    // It dies with the process: taking thousands of compiled specs apart first would only take time.
    let session: &Session<'_> = Box::leak(Box::new(Session::open_without_pods(global, &args.select)?));
    let mut diagnostics = session.diagnostics();
    let Some(project) = &session.compilation.project else { return session.report(diagnostics) };
    let output = project.settings.output.clone();
    let spec_dirs: Vec<PathBuf> = project.settings.spec_dirs.iter().map(PathBuf::from).collect();
    if let Err(reason) = fs::refuse_output_place(&session.root, Path::new(&output), &spec_dirs) {
        diagnostics.push(Diagnostic::in_file(
            &code::KB0323,
            PROJECT_FILE,
            format!("nothing can be written to `{output}`: {reason}"),
        ));
        return session.report(diagnostics);
    }
    let folder = session.root.join(&output);
    let on_disk = files::scan(&folder, &session.compilation.tree).map_err(|error| below(&session.root, &error))?;
    let refused = refused_claim_changes(session, &output, &on_disk);
    let mut faulty = session.compilation.faulty.clone();
    faulty.extend(refused.as_slice().iter().map(|fault| fault.path(&session.compilation.sources).to_owned()));
    diagnostics.extend(refused);
    let plan = plan(&session.compilation.tree, &on_disk, &scope(session, &on_disk, faulty));
    let edited = if args.overwrite_edited { EditedFiles::Overwrite } else { EditedFiles::Keep };
    if args.diff {
        let style = if colored(global, Stream::Output) { Style::Ansi } else { Style::Plain };
        terminal::print(&plan.diff(&output, style))?;
    }
    if !writes {
        return answer(session, &plan, &output, args, diagnostics);
    }
    let findings = plan.diagnostics(Mode::Write(edited), &output);
    let unanswered = unanswered(&findings);
    diagnostics.extend(findings);
    let refused = diagnostics.has_errors();
    if !refused {
        files::apply(&folder, &plan.operations(std::process::id(), edited))
            .map_err(|error| below(&session.root, &error))?;
    }
    let status = session.report(diagnostics)?.max(unanswered);
    session.tell(&if refused { "nothing was written".to_owned() } else { summary(session, &plan, &output, edited) });
    Ok(status)
}

/// Returns `error` with the paths of the project's files relative to its root, as all messages name them.
fn below(root: &Path, error: &Error) -> Error {
    anyhow!("{}", format!("{error:#}").replace(&format!("{}{}", root.display(), std::path::MAIN_SEPARATOR), ""))
}

/// The answer to "is the committed tree what the specs say?".
fn answer(
    session: &Session<'_>,
    plan: &Plan,
    output: &str,
    args: &CompileArgs,
    mut diagnostics: Diagnostics,
) -> Result<ExitStatus> {
    let faults = diagnostics.has_errors();
    let findings = if args.check { plan.diagnostics(Mode::Check, output) } else { Vec::new() };
    let unanswered = unanswered(&findings);
    diagnostics.extend(findings);
    let status = session.report(diagnostics)?.max(unanswered);
    if plan.is_clean() && !faults && status == ExitStatus::Yes {
        session.tell(&format!(
            "{output}/ is up to date: {} of {}",
            counted(plan.unchanged, "manifest"),
            session.specs_in_words()
        ));
    } else if !plan.is_clean() && status != ExitStatus::NoAnswer {
        let repaired = plan.summary(EditedFiles::Keep);
        let advice = if faults {
            "fix the errors in the specs; `kubebench compile` then updates the tree"
        } else if repaired.created + repaired.changed + repaired.removed == plan.changes.len() {
            "run `kubebench compile` and commit the result"
        } else if args.check {
            "the findings above say what to do about each file"
        } else {
            "`kubebench compile --check` says what to do about each file"
        };
        session.tell(&format!("{output}/ is not what the specs say: {advice}"));
        return Ok(ExitStatus::No);
    }
    Ok(status)
}

/// Returns "no answer" when a manifest could not be read, so that nobody takes the rest for the whole.
fn unanswered(findings: &[Diagnostic]) -> ExitStatus {
    if findings.iter().any(|fault| fault.code == &code::KB0114) { ExitStatus::NoAnswer } else { ExitStatus::Yes }
}

fn summary(session: &Session<'_>, plan: &Plan, output: &str, edited: EditedFiles) -> String {
    let summary = plan.summary(edited);
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
        session.specs_in_words()
    )
}

/// Returns what of the tree the selection may write and prune; manifests of `faulty` specs are left alone.
fn scope(session: &Session<'_>, on_disk: &OnDisk, mut faulty: BTreeSet<String>) -> Scope {
    let selection = session.selection();
    if session.lacks_a_spec_folder() {
        // What the folder would hold is unknown, and so is what is left over.
        let read: BTreeSet<&str> = session.compilation.sources.iter().map(|(_, source)| source.path.as_str()).collect();
        faulty.extend(compiled_from(on_disk).filter(|source| !read.contains(source.as_str())));
    }
    if !faulty.is_empty() {
        // What all benchmarks share depends on all of them.
        faulty.insert(PROJECT_FILE.to_owned());
    }
    let targets = if selection.targets.is_empty() {
        Filter::All
    } else {
        Filter::Only(selection.targets.iter().cloned().collect())
    };
    if selection.is_only_targets() {
        return Scope { targets, sources: Filter::Except(faulty) };
    }
    let mut sources: BTreeSet<String> =
        session.benchmarks().into_iter().map(|compiled| compiled.benchmark.path.clone()).collect();
    sources.extend(selection.paths.iter().flatten().cloned());
    if selection.paths.is_some() {
        // A spec that was deleted leaves its manifests, which still name it.
        sources.extend(compiled_from(on_disk).filter(|source| selection.has_path(source)));
    }
    sources.retain(|path| !faulty.contains(path));
    Scope { targets, sources: Filter::Only(sources) }
}

/// Returns the specs that manifests other than the wanted ones say they are compiled from, deleted specs among them.
fn compiled_from(on_disk: &OnDisk) -> impl Iterator<Item = String> {
    on_disk.entries.values().filter_map(|found| match found {
        Found::File(bytes) => match header::parse(bytes) {
            Header::Own { source, .. } => Some(source),
            Header::None => None,
        },
        Found::AsWanted | Found::Large(_) | Found::Symlink | Found::Other(_) | Found::Unreadable(_) => None,
    })
}

/// Judges every claim against the committed one, because Kubernetes would refuse some changes.
fn refused_claim_changes(session: &Session<'_>, output: &str, on_disk: &OnDisk) -> Diagnostics {
    let mut refused = Diagnostics::default();
    let of_benchmarks = session
        .benchmarks()
        .into_iter()
        .map(|compiled| &compiled.benchmark)
        .filter(|benchmark| benchmark.suite.is_none())
        .map(|benchmark| (&benchmark.target, &benchmark.name, &benchmark.claim));
    let of_suites = session.suites().map(|compiled| &compiled.suite);
    let of_suites = of_suites.map(|suite| (&suite.target, &suite.name, &suite.claim));
    for (target, owner, claim) in of_benchmarks.chain(of_suites) {
        let path = manifest::claim_path(target, owner);
        let Some(Found::File(bytes)) = on_disk.entries.get(&path) else { continue };
        let source = Source::new(path.as_str(), bytes);
        if let Some(committed) = yaml::read(SourceId::default(), &source).root {
            refused.extend(manifest::refused_changes(claim, owner, &format!("{output}/{path}"), &committed.to_json()));
        }
    }
    refused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_disk_names_the_file_as_the_project_does() {
        let root = Path::new("home").join("ada");
        let place = root.join("generated");
        let error = anyhow!("permission denied").context(format!("cannot write `{}`", place.display()));
        assert_eq!(below(&root, &error).to_string(), "cannot write `generated`: permission denied");
    }
}
