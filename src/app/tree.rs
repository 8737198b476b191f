//! The folder of generated files, brought to what specs compile to.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Error, Result, anyhow};

use super::files;
use super::project::CompiledProject;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::manifest;
use kubebench_compiler::tree::header::{self, Header};
use kubebench_compiler::tree::{EditedFiles, Filter, Found, OnDisk, Plan, Scope, plan};
use kubebench_git::Ignored;
use kubebench_host::fs;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::{Source, SourceId, shell_word};
use kubebench_syntax::yaml;

/// The folder of generated files, and what belongs in it.
pub struct GeneratedTree<'p> {
    project: &'p CompiledProject,
    /// The folder, below the project's.
    pub output: String,
    on_disk: OnDisk,
    scope: Scope,
    /// All that is known to be right.
    whole: Scope,
}

impl<'p> GeneratedTree<'p> {
    /// Reads what is on disk. What keeps the selected manifests from being written is added to `diagnostics`; nothing where no folder can
    /// be written at all.
    pub fn read(project: &'p CompiledProject, diagnostics: &mut Diagnostics) -> Result<Option<Self>> {
        let Some(settings) = project.compilation.project.as_ref().map(|project| &project.settings) else {
            return Ok(None);
        };
        let (root, output) = (project.root.as_path(), settings.output.clone());
        let spec_dirs: Vec<PathBuf> = settings.spec_dirs.iter().map(PathBuf::from).collect();
        if let Err(reason) = fs::refuse_output_place(root, Path::new(&output), &spec_dirs) {
            let message = format!("nothing can be written to `{output}`: {reason}");
            diagnostics.push(Diagnostic::in_file(&code::KB0323, PROJECT_FILE, message));
            return Ok(None);
        }
        let on_disk =
            files::scan(&root.join(&output), &project.compilation.tree).map_err(|error| below(root, &error))?;
        let refused = refused_claim_changes(project, &output, &on_disk);
        let mut faulty = project.compilation.faulty.clone();
        faulty.extend(refused.as_slice().iter().map(|fault| fault.path(&project.compilation.sources).to_owned()));
        diagnostics.extend(refused);
        let whole = Scope { targets: Filter::All, sources: Filter::Except(faulty.clone()) };
        let scope = scope(project, &on_disk, faulty);
        Ok(Some(Self { project, output, on_disk, scope, whole }))
    }

    /// Returns a finding of level `severity` if git ignores manifests: they would be in no commit, and nothing would apply them.
    pub fn ignored(&self, severity: Severity) -> Option<Diagnostic> {
        let ignored = Ignored::of(&self.project.root)?;
        let paths = self.project.compilation.tree.iter().map(|(path, _)| format!("{}/{path}", self.output));
        let found: Vec<String> = paths.filter(|path| ignored.has(path)).collect();
        let first = found.first()?;
        let message = match found.len() {
            1 => format!("git ignores the manifest `{first}`"),
            count => format!("git ignores {count} manifests, such as `{first}`"),
        };
        let finding = Diagnostic::in_file(&code::KB0509, PROJECT_FILE, message)
            .note("git adds no ignored file to a commit, so Argo CD or Flux would not find it")
            .help(format!("remove the pattern that `git check-ignore -v {}` shows", shell_word(first)));
        Some(Diagnostic { severity, ..finding })
    }

    /// Returns what is to be done.
    pub fn plan(&self) -> Plan<'_> {
        plan(&self.project.compilation.tree, &self.on_disk, &self.scope)
    }

    /// Returns the sources of manifests that are not what they should be although nothing is to be done about them here, because they were
    /// not asked for.
    pub fn left_stale(&self) -> BTreeSet<String> {
        let done = self.plan();
        let done: BTreeSet<&str> = done.changes.iter().map(|change| change.path).collect();
        let whole = plan(&self.project.compilation.tree, &self.on_disk, &self.whole);
        let others = whole.changes.iter().filter(|change| !done.contains(change.path) && !change.source.is_empty());
        others.map(|change| change.source.to_string()).collect()
    }

    /// Does what `plan` says.
    pub fn apply(&self, plan: &Plan<'_>, edited: EditedFiles) -> Result<()> {
        let operations = plan.operations(std::process::id(), edited);
        let root = self.project.root.as_path();
        files::apply(&root.join(&self.output), &operations).map_err(|error| below(root, &error))
    }
}

/// Returns `error` with the paths of the project's files relative to its root, as all messages name them.
fn below(root: &Path, error: &Error) -> Error {
    anyhow!("{}", format!("{error:#}").replace(&format!("{}{}", root.display(), std::path::MAIN_SEPARATOR), ""))
}

/// Returns what of the tree the selection may write and prune; manifests of `faulty` specs are left alone.
fn scope(project: &CompiledProject, on_disk: &OnDisk, mut faulty: BTreeSet<String>) -> Scope {
    let selection = &project.selection;
    if project.lacks_a_spec_folder() {
        // What the folder would hold is unknown, and so is what is left over.
        let read: BTreeSet<&str> = project.compilation.sources.iter().map(|(_, source)| source.path.as_str()).collect();
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
        project.benchmarks().into_iter().map(|compiled| compiled.benchmark.path.clone()).collect();
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

/// Compares every claim with the committed one, because Kubernetes would refuse some changes.
fn refused_claim_changes(project: &CompiledProject, output: &str, on_disk: &OnDisk) -> Diagnostics {
    let mut refused = Diagnostics::default();
    let of_benchmarks = project
        .benchmarks()
        .into_iter()
        .map(|compiled| &compiled.benchmark)
        .filter(|benchmark| benchmark.suite.is_none())
        .map(|benchmark| (&benchmark.target, &benchmark.name, &benchmark.claim));
    let of_suites = project.suites().map(|compiled| &compiled.suite);
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
