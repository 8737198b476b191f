//! A project that is read and compiled, and what of it was asked for.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::{self, Findings, Output, counted, refuse_report_places, tell};
use super::project::{Project, Texts, VERSION};
use super::selection::Selection;
use crate::app::files;
use kubebench_compiler::compile::{Compilation, Compiled, CompiledSuite, Workspace};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs;
use kubebench_results::archive::CurrentRules;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::digest::Digest;

/// A compiled project and what of it was asked for.
pub(super) struct Session<'a> {
    global: &'a Global,
    pub(super) root: PathBuf,
    pub(super) compilation: Compilation,
    selection: Selection,
    /// Selected paths that were read, for counts and for reports that count what passed.
    checked: Vec<String>,
    unreadable: bool,
}

impl<'a> Session<'a> {
    /// Reads and compiles the project; with `paths`, files outside the spec folders are taken in too.
    pub(super) fn open(global: &'a Global, select: &SelectArgs) -> Result<Self> {
        Self::open_as(global, select, |workspace| workspace)
    }

    /// The same for a command that asks for manifests and findings alone.
    pub(super) fn open_without_pods(global: &'a Global, select: &SelectArgs) -> Result<Self> {
        Self::open_as(global, select, Workspace::letting_go_of_pods)
    }

    fn open_as(global: &'a Global, select: &SelectArgs, change: fn(Workspace) -> Workspace) -> Result<Self> {
        if let Some(jobs) = global.jobs {
            // A second call in one process keeps the first pool, which changes nothing but speed.
            drop(rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global());
        }
        let project = Project::find(global)?;
        let paths = project.below_root(&select.paths)?;
        let root = project.root.clone();
        let workspace =
            Workspace::open(project.file.clone(), VERSION).carrying(move |path| files::read_carried(&root, path));
        // The project file may be asked for, as pre-commit hooks do; it is read anyway, and is no spec.
        let asked = paths.iter().filter(|path| *path != PROJECT_FILE).cloned().collect();
        let Texts { inputs, found, unreadable } = project.read(&workspace.spec_dirs(), &asked)?;
        let read: Vec<String> = inputs.iter().map(|input| input.path.clone()).collect();
        let mut compilation = change(workspace).compile(inputs);
        // Which folders hold specs is unknown while the project file is at fault.
        let is_of_project = |fault: &Diagnostic| fault.path(&compilation.sources) == PROJECT_FILE;
        let keeps = |fault: &Diagnostic| compilation.project.is_some() || !is_of_project(fault);
        let found = found
            .into_iter()
            .filter(keeps)
            .map(|fault| named_by_benchmark(fault, &compilation, &project.root))
            .collect();
        compilation.add(found);
        let selection = Selection::new(select, paths);
        if let Some(project) = &compilation.project {
            selection.check_targets(project)?;
            selection.check_labels(&compilation)?;
        }
        let settings = compilation.project.as_ref().map(|project| &project.settings);
        let kept: Vec<&str> =
            settings.iter().flat_map(|settings| [settings.output.as_str(), &settings.results.directory]).collect();
        refuse_report_places(global, &project.root, &kept)?;
        let checked = selection.specs(&compilation, &read).into_iter().map(str::to_owned).collect();
        let session = Self { global, root: project.root, compilation, selection, checked, unreadable };
        session.tell_more();
        Ok(session)
    }

    fn tell_more(&self) {
        if self.global.verbose > 0 {
            let Compilation { benchmarks, tree, .. } = &self.compilation;
            let counts = [
                self.specs_in_words(),
                counted(benchmarks.len(), "benchmark and target pair"),
                counted(tree.len(), "manifest"),
            ];
            self.tell(&format!("project {}: {}", self.root.display(), counts.join(", ")));
        }
        if self.global.verbose > 1 {
            for compiled in &self.compilation.benchmarks {
                let benchmark = &compiled.benchmark;
                self.tell(&format!("{} on {}: {}", benchmark.path, benchmark.target.name, compiled.identity.digest));
            }
        }
    }

    /// Returns true when a folder that the project names for specs is not there.
    pub(super) fn lacks_a_spec_folder(&self) -> bool {
        let folders = self.compilation.project.iter().flat_map(|project| &project.settings.spec_dirs);
        folders.into_iter().any(|folder| !fs::exists(&self.root, folder))
    }

    /// Counts other files among those that were checked; `unreadable` is true when nobody can tell about one of them.
    pub(super) fn also_checked(&mut self, files: Vec<String>, unreadable: bool) {
        self.checked.extend(files);
        self.unreadable |= unreadable;
    }

    /// Returns what was asked for.
    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the selected benchmarks.
    pub(super) fn benchmarks(&self) -> Vec<&Compiled> {
        self.compilation.benchmarks.iter().filter(|compiled| self.selection.has(compiled)).collect()
    }

    /// Iterates over the suites that were asked for: by their own path and target, or with a benchmark that was.
    pub(super) fn suites(&self) -> impl Iterator<Item = &CompiledSuite> {
        self.compilation.suites.iter().filter(|compiled| {
            let is_own = |asked: &&Compiled| compiled.suite.place_of(&asked.benchmark).is_some();
            self.selection.has_suite(compiled) || self.benchmarks().iter().any(is_own)
        })
    }

    /// Returns the findings about what is selected, and about the project as a whole.
    pub(super) fn diagnostics(&self) -> Diagnostics {
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

    /// Prints `diagnostics` and writes the reports; returns the status that they call for.
    pub(super) fn report(&self, diagnostics: Diagnostics) -> Result<ExitStatus> {
        self.report_beside(Output::Findings, diagnostics)
    }

    /// Like [`report`](Self::report), for a command whose standard output holds `output`.
    pub(super) fn report_beside(&self, output: Output, diagnostics: Diagnostics) -> Result<ExitStatus> {
        let Self { compilation: Compilation { sources, .. }, checked, unreadable, .. } = self;
        findings::report(self.global, output, Findings { diagnostics, sources, checked, unreadable: *unreadable })
    }

    /// Says something on standard error, unless asked to be quiet.
    pub(super) fn tell(&self, text: &str) {
        tell(self.global, text);
    }

    /// Returns how many of the selected specs were read, in words.
    pub(super) fn specs_in_words(&self) -> String {
        counted(self.checked.iter().filter(|path| *path != PROJECT_FILE).count(), "spec")
    }
}

/// Returns the digests of the rules that specs have now, by benchmark and target.
pub(super) fn current_rules(compilation: &Compilation) -> CurrentRules {
    let rules = |compiled: &Compiled| {
        let key = (compiled.benchmark.name.clone(), compiled.benchmark.target.name.clone());
        Some((key, Digest::of(compilation.rules(compiled)?).to_string()))
    };
    compilation.benchmarks.iter().filter_map(rules).collect()
}

/// The same of the project at hand, as far as its specs compile.
pub(super) fn rules_at_hand(global: &Global) -> CurrentRules {
    // Results are validated by themselves where there is no project that can be read; every other command says why.
    let Ok(session) = Session::open(global, &SelectArgs::default()) else { return CurrentRules::default() };
    current_rules(&session.compilation)
}

/// Returns the spec that is most likely meant by `path`, which is not there: one of that name in another folder, or one
/// whose path is much like it.
fn nearest<'c>(path: &str, benchmarks: &'c [Compiled]) -> Option<&'c str> {
    let specs = || benchmarks.iter().map(|compiled| compiled.benchmark.path.as_str());
    let name = |path: &str| Path::new(path).file_name().map(std::ffi::OsStr::to_owned);
    specs().find(|spec| name(spec) == name(path)).or_else(|| did_you_mean(path, specs()))
}

/// Names the spec of a benchmark whose name was given in the place of a path, or the spec that is called nearly like it.
fn named_by_benchmark(fault: Diagnostic, compilation: &Compilation, root: &Path) -> Diagnostic {
    let mut benchmarks = compilation.benchmarks.iter().map(|compiled| &compiled.benchmark);
    let Place::File(path) = &fault.place else { return fault };
    match benchmarks.find(|benchmark| benchmark.name == *path) {
        Some(benchmark) => {
            let help = format!("the benchmark `{path}` stands in {}: write that path", benchmark.path);
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
