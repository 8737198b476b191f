//! Words for the states of a plan: what is wrong with a path, why it matters, and the one command that repairs it.

use std::collections::BTreeMap;

use kubebench_syntax::diag::{Diagnostic, Place, Severity, code};

use super::diff;
use super::drift::{Drift, Parts, cause_of_all};
use super::plan::{Change, EditedFiles, Mode, Plan, State};
use kubebench_syntax::path::join;

/// What to do about manifests that do not match their specs.
pub const COMPILE: &str = "run `kubebench compile` and commit the result";
const OVERWRITE: &str = "run `kubebench compile --overwrite-edited` to put the compiled text back";
const MANIFEST_EXTENSIONS: [&str; 4] = [".yaml", ".yml", ".json", ".jsonnet"];

impl Plan<'_> {
    /// Returns what has to be said about the plan: with [`Mode::Check`] about every difference, with [`Mode::Write`] about
    /// those that `compile` leaves alone.
    ///
    /// `output_dir` is the output directory relative to the project root, as messages show it; `parts` are the fragments of the specs.
    pub fn diagnostics(&self, mode: Mode, output_dir: &str, parts: &Parts<'_>) -> Vec<Diagnostic> {
        let speaker = Speaker { plan: self, drift: Drift::of(self, parts), mode, output_dir };
        let mut blocked = BTreeMap::<&str, Vec<&Change<'_>>>::new();
        let mut diagnostics = Vec::new();
        for change in &self.changes {
            if let State::NotRegular { by, .. } | State::Unreadable { by, .. } = &change.state {
                blocked.entry(by).or_default().push(change);
            } else {
                diagnostics.extend(speaker.finding(change));
            }
        }
        diagnostics.extend(blocked.into_iter().filter_map(|(by, changes)| speaker.blocker(by, &changes)));
        diagnostics
    }
}

struct Speaker<'a> {
    plan: &'a Plan<'a>,
    drift: Drift<'a>,
    mode: Mode,
    output_dir: &'a str,
}

impl Speaker<'_> {
    fn finding(&self, change: &Change<'_>) -> Option<Diagnostic> {
        let path = join(self.output_dir, change.path);
        let finding = match (&change.state, self.mode) {
            (State::Missing, Mode::Check) => {
                let message = format!("manifest `{path}` is missing");
                let cause = self.drift.cause_of_missing(change);
                Diagnostic::in_file(&code::KB0501, &path, message).help(COMPILE).cause(cause)
            }
            (State::Stale, Mode::Check) => {
                let message = format!("manifest `{path}` does not match `{}`", change.source);
                Diagnostic::in_file(&code::KB0502, &path, message).help(COMPILE).cause(self.drift.cause(change))
            }
            (State::Edited { conflict: true }, Mode::Check) => {
                let message = format!("manifest `{path}` holds conflict markers of an unresolved merge");
                Diagnostic::in_file(&code::KB0503, &path, message)
                    .note("there is nothing to resolve by hand: the manifest is compiled from the merged specs")
                    .help(COMPILE)
            }
            (State::Edited { conflict: false }, Mode::Check | Mode::Write(EditedFiles::Keep)) => {
                let message = format!("manifest `{path}` was edited by hand");
                let reason = format!(
                    "`kubebench compile` does not overwrite the edit; make the change in `{}` instead",
                    change.source
                );
                let finding = Diagnostic::in_file(&code::KB0503, &path, message).note(reason).help(OVERWRITE);
                match diff::short(change) {
                    difference if difference.is_empty() => finding,
                    difference => {
                        finding.note(format!("lines of the file (-) and of the compiled manifest (+):\n{difference}"))
                    }
                }
            }
            (State::LineEndings, Mode::Check) => {
                self.line_endings(&path).cause(cause_of_all(change, "have CRLF line endings"))
            }
            (State::Foreign, _) => {
                let message = format!("`{path}` was not written by kubebench, but a manifest belongs there");
                Diagnostic::in_file(&code::KB0505, &path, message)
                    .note("kubebench overwrites only files that begin with its own header")
                    .help(format!(
                        "move it out of `{}` or {}, then run `kubebench compile`",
                        self.output_dir,
                        git_rm(&path)
                    ))
            }
            (State::ForeignElsewhere { kind }, _) => self.stranger(&path, kind),
            (State::Orphan, Mode::Check) => Diagnostic::in_file(&code::KB0504, &path, self.orphaned(&path, change))
                .note("Argo CD and Flux continue to apply whatever is left over")
                .cause(cause_of_all(change, "are left over"))
                .help("run `kubebench compile` to delete what is left over, and commit the result"),
            (State::EditedOrphan, Mode::Check | Mode::Write(EditedFiles::Keep)) => {
                Diagnostic::in_file(&code::KB0503, &path, self.orphaned(&path, change))
                    .note("it was edited by hand, so kubebench does not delete it")
                    .help(git_rm_sentence(&path))
            }
            (
                State::Missing
                | State::Stale
                | State::Edited { .. }
                | State::LineEndings
                | State::Orphan
                | State::EditedOrphan
                | State::NotRegular { .. }
                | State::Unreadable { .. },
                _,
            ) => return None,
        };
        Some(with_source(finding, change))
    }

    fn line_endings(&self, path: &str) -> Diagnostic {
        let folder = self.output_dir;
        let message = format!("manifest `{path}` has CRLF line endings");
        Diagnostic::in_file(&code::KB0506, path, message)
            .note("nothing else differs: git's `core.autocrlf` or an editor has changed them")
            .help(format!(
                "add the line `{folder}/** text eol=lf` to `.gitattributes`, then run `kubebench compile` and \
                 `git add --renormalize {}`",
                quoted(folder)
            ))
    }

    fn stranger(&self, path: &str, kind: &str) -> Diagnostic {
        let message = if kind == "file" {
            format!("`{path}` was not written by kubebench")
        } else {
            format!("`{path}` is a {kind}, which kubebench does not write")
        };
        let applied = MANIFEST_EXTENSIONS.iter().any(|extension| path.ends_with(extension));
        let note = if applied {
            "Argo CD and Flux apply every manifest in this folder"
        } else {
            "the output directory is for compiled manifests alone"
        };
        let help = format!("move it out of `{}` or {}", self.output_dir, git_rm(path));
        let mut finding = Diagnostic::in_file(&code::KB0505, path, message).note(note).help(help);
        if self.mode != Mode::Check {
            finding.severity = Severity::Warning;
        }
        finding
    }

    fn orphaned(&self, path: &str, change: &Change<'_>) -> String {
        if self.plan.live_sources.contains(change.source.as_ref()) {
            format!("manifest `{path}` is left over: `{}` no longer compiles to it", change.source)
        } else {
            format!("manifest `{path}` is left over: nothing is compiled from `{}` any more", change.source)
        }
    }

    fn blocker(&self, by: &str, changes: &[&Change<'_>]) -> Option<Diagnostic> {
        let change = changes.first()?;
        let path = if by.is_empty() { self.output_dir.to_owned() } else { join(self.output_dir, by) };
        let finding = match &change.state {
            State::Unreadable { reason, .. } => {
                let message = format!("cannot read `{path}`: {reason}");
                Diagnostic::in_file(&code::KB0114, &path, message)
                    .help(format!("check its permissions with `ls -ld {}`", quoted(&path)))
            }
            State::NotRegular { kind, .. } => {
                let message = if by == change.path {
                    format!("`{path}` is a {kind}, but a manifest belongs there")
                } else {
                    format!("`{path}` is a {kind}, but manifests belong below it")
                };
                Diagnostic::in_file(&code::KB0507, &path, message)
                    .note(
                        "kubebench writes regular files in real folders only, so that nothing outside the tree changes",
                    )
                    .help(format!("move it away or {}, then run `kubebench compile`", git_rm(&path)))
            }
            State::Missing
            | State::Stale
            | State::Edited { .. }
            | State::LineEndings
            | State::Foreign
            | State::Orphan
            | State::EditedOrphan
            | State::ForeignElsewhere { .. } => return None,
        };
        Some(with_source(finding, change))
    }
}

fn with_source(finding: Diagnostic, change: &Change<'_>) -> Diagnostic {
    let label = "the manifest is compiled from here";
    match change.source_span {
        Some(span) => finding.related(Place::Span(span), label),
        None if change.new.is_some() => finding.related(Place::File(change.source.to_string()), label),
        None => finding,
    }
}

fn git_rm(path: &str) -> String {
    format!("delete it (`rm -r {}`)", quoted(path))
}

fn git_rm_sentence(path: &str) -> String {
    format!("{}, or have it deleted by `kubebench compile --overwrite-edited`", git_rm(path))
}

/// Spells `path` as one word of a shell.
fn quoted(path: &str) -> String {
    let plain = |character: char| character.is_alphanumeric() || "/._-+:@%,".contains(character);
    if path.chars().all(plain) && !path.starts_with('-') {
        path.to_owned()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
