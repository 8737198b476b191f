//! A project that is read and compiled, and what of it was asked for.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;

use super::{Project, Selection, Selector, Texts};
use crate::app::base::Base;
use crate::app::files;
use crate::app::start::{Start, VERSION};
use kubebench_compiler::compile::{Compilation, Compiled, CompiledSuite, Workspace};
use kubebench_compiler::difference::{Side, Sides};
use kubebench_compiler::fixture;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::weakened::{Change, Held};
use kubebench_extract::rules::Rules;
use kubebench_host::fs;
use kubebench_results::compare::words::counted;
use kubebench_results::dataset::CurrentRules;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::digest::Digest;

/// A compiled project and what of it was asked for.
pub struct CompiledProject {
    /// The folder of the project.
    pub root: PathBuf,
    /// What its specs compile to, and what is wrong with them.
    pub compilation: Compilation,
    /// What was asked for.
    pub selection: Selection,
    /// The selected files that were read, those without a finding too.
    pub checked: Vec<String>,
    /// True when some file may be all right and it is unknown whether it is.
    pub unreadable: bool,
}

/// Whether a compilation keeps the pods of each benchmark after its manifests are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pods {
    /// For callers that look at benchmarks.
    Kept,
    /// For callers that ask for manifests and findings alone: of large projects they are half of what a compilation holds.
    Dropped,
}

impl CompiledProject {
    /// Reads and compiles the project; files that `selector` names are read outside the spec folders too.
    pub fn open(start: &Start, selector: &Selector, pods: Pods) -> Result<Self> {
        Self::open_held_to(None, start, selector, pods)
    }

    /// The same of a change, at the lint levels of its base where these are stricter.
    pub fn open_held_to(base: Option<&Base>, start: &Start, selector: &Selector, pods: Pods) -> Result<Self> {
        let project = Project::find(start)?;
        let paths = project.below_root(&selector.paths)?;
        let root = project.root.clone();
        let workspace = Workspace::open(project.file.clone(), VERSION).carrying(files::carrying(root));
        // The project file may be asked for, as pre-commit hooks do; it is read anyway, and is no spec.
        let asked = paths.iter().filter(|path| *path != PROJECT_FILE).cloned().collect();
        let Texts { inputs, found, unreadable } = project.read(&workspace.spec_dirs(), &asked)?;
        let read: Vec<String> = inputs.iter().map(|input| input.path.clone()).collect();
        let workspace = match base {
            Some(base) => workspace.held_to(&base.compilation),
            None => workspace,
        };
        let workspace = match pods {
            Pods::Kept => workspace,
            Pods::Dropped => workspace.letting_go_of_pods(),
        };
        let mut compilation = workspace.compile(inputs);
        // Which folders hold specs is unknown while the project file has errors.
        let is_of_project = |fault: &Diagnostic| fault.path(&compilation.sources) == PROJECT_FILE;
        let keeps = |fault: &Diagnostic| compilation.project.is_some() || !is_of_project(fault);
        let found = found
            .into_iter()
            .filter(keeps)
            .map(|fault| named_by_benchmark(fault, &compilation, &project.root))
            .collect();
        compilation.add(found);
        let selection = Selection::new(selector, with_users(paths, &compilation));
        if let Some(project) = &compilation.project {
            selection.check_targets(project)?;
            selection.check_labels(&compilation)?;
        }
        let checked = selection.specs(&compilation, &read).into_iter().map(str::to_owned).collect();
        Ok(Self { root: project.root, compilation, selection, checked, unreadable })
    }

    /// Returns it and its base as the two sides of a change.
    pub fn sides<'c>(&'c self, base: &'c Base) -> Sides<'c> {
        let head = Side::new(&self.compilation, Arc::new(files::carrying(self.root.clone())));
        Sides { base: base.side(), head, version: VERSION }
    }

    /// Returns the folders that Kubebench itself writes: those of manifests and of results.
    pub fn own_folders(&self) -> Vec<&str> {
        let settings = self.compilation.project.iter().map(|project| &project.settings);
        settings.flat_map(|settings| [settings.output.as_str(), &settings.results.directory]).collect()
    }

    /// Returns how much there is of it, in words.
    pub fn size(&self) -> String {
        let Compilation { benchmarks, tree, .. } = &self.compilation;
        let counts = [
            self.specs_in_words(),
            counted(benchmarks.len(), "benchmark and target pair"),
            counted(tree.len(), "manifest"),
        ];
        format!("project {}: {}", self.root.display(), counts.join(", "))
    }

    /// Returns true when a folder that the project names for specs is not there.
    pub fn lacks_a_spec_folder(&self) -> bool {
        let folders = self.compilation.project.iter().flat_map(|project| &project.settings.spec_dirs);
        folders.into_iter().any(|folder| !fs::exists(&self.root, folder))
    }

    /// Counts other files among those that were checked; `unreadable` is true when it is unknown whether one of them is all right.
    pub fn also_checked(&mut self, files: Vec<String>, unreadable: bool) {
        self.checked.extend(files);
        self.unreadable |= unreadable;
    }

    /// Returns the selected benchmarks.
    pub fn benchmarks(&self) -> Vec<&Compiled> {
        self.compilation.benchmarks.iter().filter(|compiled| self.selection.has(compiled)).collect()
    }

    /// Iterates over the suites that were asked for: by their own path and target, or with a benchmark that was.
    pub fn suites(&self) -> impl Iterator<Item = &CompiledSuite> {
        self.compilation.suites.iter().filter(|compiled| {
            let is_own = |asked: &&Compiled| compiled.suite.place_of(&asked.benchmark).is_some();
            self.selection.has_suite(compiled) || self.benchmarks().iter().any(is_own)
        })
    }

    /// Returns what its base demands of a change.
    pub fn held_to<'c>(&'c self, base: &'c Base) -> Held<'c> {
        let change = Change { base: &base.compilation, head: &self.compilation };
        let mut held = change.held(|compiled| self.selection.has(compiled));
        for folder in &base.gone {
            let place =
                if folder.is_empty() { "at the top of the repository".to_owned() } else { format!("in `{folder}`") };
            let message =
                format!("the project that the base has {place} is gone, and this one starts without its gates");
            let fault = Diagnostic::in_file(&code::KB0463, PROJECT_FILE, message);
            held.weakened.push(
                fault.note(
                    "a project that moves keeps its gates if its file, its name or half of its files are the same",
                ),
            );
        }
        held
    }

    /// Returns the findings about what is selected, and about the project as a whole.
    pub fn diagnostics(&self) -> Diagnostics {
        let concerns = self.selection.concerns(&self.compilation);
        let mut selected = Diagnostics::default();
        for diagnostic in &self.compilation.diagnostics {
            let path = diagnostic.path(&self.compilation.sources);
            let belongs = if path == PROJECT_FILE { !self.is_of_another_target(diagnostic) } else { concerns(path) };
            if belongs {
                selected.push(diagnostic.clone());
            }
        }
        selected
    }

    /// Returns true for a lint about a target on which nothing that was asked for runs.
    fn is_of_another_target(&self, finding: &Diagnostic) -> bool {
        let mut targets = self.compilation.project.iter().flat_map(|project| &project.targets);
        let Some(target) = targets.find(|target| finding.place == Place::Span(target.span)) else { return false };
        finding.code.configurable
            && !self.selection.is_everything()
            && !self.benchmarks().iter().any(|compiled| compiled.benchmark.target.name == target.name)
    }

    /// Compares what the kept logs of the selected specs yield with what the specs expect of them.
    pub fn check_fixtures(&self) -> Diagnostics {
        let settings = self.compilation.project.as_ref().map(|project| &project.settings);
        let folders: Vec<&str> = settings
            .into_iter()
            .flat_map(|settings| settings.spec_dirs.iter().chain([&settings.output]))
            .map(String::as_str)
            .collect();
        let root = self.root.clone();
        let open = move |path: &str| files::open_kept(&root, path);
        let mut found = Diagnostics::default();
        let mut seen = BTreeSet::new();
        for compiled in self.benchmarks().into_iter().filter(|compiled| !compiled.benchmark.fixtures.is_empty()) {
            let Ok(rules) = Rules::read(&compiled.rules) else { continue };
            // A spec on several targets has the same rules on most of them.
            if seen.insert((compiled.benchmark.path.as_str(), compiled.rules.as_str())) {
                fixture::check(&compiled.benchmark, &rules, &folders, &open, &mut found);
            }
        }
        found
    }

    /// Returns the digests of the rules that specs have now, by benchmark and target.
    pub fn current_rules(&self) -> CurrentRules {
        let rules = |compiled: &Compiled| {
            let (name, target) = (compiled.benchmark.name.clone(), Arc::clone(&compiled.benchmark.target));
            let digest = Digest::of(&compiled.rules).to_string();
            let names: Vec<String> = target.formerly.iter().chain([&target.name]).cloned().collect();
            names.into_iter().map(move |target| ((name.clone(), target), digest.clone()))
        };
        self.compilation.benchmarks.iter().flat_map(rules).collect()
    }

    /// Returns how many of the selected specs were read, in words.
    pub fn specs_in_words(&self) -> String {
        counted(self.checked.iter().filter(|path| *path != PROJECT_FILE).count(), "spec")
    }
}

/// Returns the digests of the rules of the project around `start`; none where no project compiles, since results are checked without
/// one too.
pub fn rules_around(start: &Start) -> CurrentRules {
    let project = CompiledProject::open(start, &Selector::default(), Pods::Kept);
    project.map_or_else(|_| CurrentRules::default(), |project| project.current_rules())
}

/// Returns the spec that is most likely meant by `path`, which is not there: one of that name in another folder, or one
/// whose path is much like it.
fn nearest<'c>(path: &str, benchmarks: &'c [Compiled]) -> Option<&'c str> {
    let specs = || benchmarks.iter().map(|compiled| compiled.benchmark.path.as_str());
    let name = |path: &str| Path::new(path).file_name().map(std::ffi::OsStr::to_owned);
    specs().find(|spec| name(spec) == name(path)).or_else(|| did_you_mean(path, specs()))
}

/// Returns `paths` and, for fragments among them, the specs that extend these.
fn with_users(mut paths: BTreeSet<String>, compilation: &Compilation) -> BTreeSet<String> {
    let is_asked = |file: &str| paths.iter().any(|asked| Path::new(file).starts_with(asked));
    let fragments = compilation.fragments.iter().filter(|(_, file)| is_asked(file));
    let users: Vec<String> =
        fragments.filter_map(|(_, file)| compilation.named_by.get(file)).flatten().cloned().collect();
    paths.extend(users);
    paths
}

/// Names the spec of a benchmark whose name was given instead of a path, or the spec that is called nearly like it.
fn named_by_benchmark(fault: Diagnostic, compilation: &Compilation, root: &Path) -> Diagnostic {
    let mut benchmarks = compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let Place::File(path) = &fault.place else { return fault };
    match benchmarks.find(|benchmark| benchmark.name == *path) {
        Some(benchmark) => {
            let help = format!("the benchmark `{path}` is in {}: write that path", benchmark.path);
            fault.help(help)
        }
        None => match nearest(path, &compilation.benchmarks) {
            Some(near) if fault.code == &code::KB0114 && !fs::exists(root, path) => {
                fault.help(format!("did you mean `{near}`?"))
            }
            _ => fault,
        },
    }
}
