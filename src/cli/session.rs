//! What subcommands share: the project at hand, what of it is selected, and how findings reach the reader.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{Color, Global, SelectArgs};
use crate::compile::{Compilation, Compiled, Input, Workspace};
use crate::diag::render::{Report, Style, render};
use crate::diag::{Diagnostic, Diagnostics, Severity, code, did_you_mean};
use crate::edge::fs::{self, Content};
use crate::edge::terminal;
use crate::lower::PROJECT_FILE;
use crate::text::SourceMap;

/// A name that people give the project file by mistake.
const OTHER_NAME: &str = "kubebench.yml";

/// The version of this program.
pub(super) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A compiled project and what of it was asked for.
pub(super) struct Session<'a> {
    global: &'a Global,
    pub(super) root: PathBuf,
    pub(super) compilation: Compilation,
    /// Paths that were read, for reports that count what passed.
    checked: Vec<String>,
    selection: Selection,
    unreadable: bool,
}

/// What of a project was asked for.
pub(super) struct Selection {
    /// Specs by path; nothing means all.
    pub(super) paths: Option<BTreeSet<String>>,
    /// Targets by name; empty means all.
    pub(super) targets: Vec<String>,
    labels: Vec<(String, String)>,
}

impl Selection {
    /// Returns true when nothing but targets was asked for.
    pub(super) fn is_only_targets(&self) -> bool {
        self.paths.is_none() && self.labels.is_empty()
    }

    /// Returns true when the spec at `path` was asked for.
    pub(super) fn has_path(&self, path: &str) -> bool {
        self.paths.as_ref().is_none_or(|paths| {
            paths.contains(path)
                || paths
                    .iter()
                    .any(|folder| path.strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/')))
        })
    }

    /// Returns true when the benchmark was asked for.
    pub(super) fn has(&self, compiled: &Compiled) -> bool {
        let benchmark = &compiled.benchmark;
        let labeled = self.labels.iter().all(|(key, value)| benchmark.labels.get(key) == Some(value));
        labeled
            && self.has_path(&benchmark.path)
            && (self.targets.is_empty() || self.targets.contains(&benchmark.target.name))
    }
}

/// Returns the folder that the command starts in.
pub(super) fn start(global: &Global) -> Result<PathBuf> {
    let directory = match &global.directory {
        Some(directory) if directory.is_dir() => directory.clone(),
        Some(directory) => bail!("{} is not a folder", directory.display()),
        None => terminal::working_directory()?,
    };
    Ok(directory)
}

/// Returns the root of the project at hand.
pub(super) fn root(global: &Global) -> Result<PathBuf> {
    Ok(fs::find_root(&start(global)?))
}

/// Returns the project file below `root`, if there is one.
pub(super) fn project_file(root: &Path) -> Result<Option<Input>> {
    let read = fs::read_sources(root, &[PROJECT_FILE.to_owned()]).into_iter().next();
    match read.map(|read| read.content) {
        None | Some(Content::Absent) if fs::exists(root, OTHER_NAME) => {
            bail!("the project file is called {PROJECT_FILE}: rename {OTHER_NAME}")
        }
        None | Some(Content::Absent) => Ok(None),
        Some(Content::Whole(bytes) | Content::TooLong(bytes)) => {
            Ok(Some(Input { path: PROJECT_FILE.to_owned(), bytes }))
        }
        Some(Content::Refused(reason) | Content::Unreadable(reason)) => bail!("cannot read {PROJECT_FILE}: {reason}"),
    }
}

impl<'a> Session<'a> {
    /// Reads and compiles the project; with `paths`, files outside the spec folders are taken in too.
    pub(super) fn open(global: &'a Global, select: &SelectArgs) -> Result<Self> {
        if let Some(jobs) = global.jobs {
            // A second call in one process keeps the first pool, which changes nothing but speed.
            drop(rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global());
        }
        let start = start(global)?;
        let root = fs::find_root(&start);
        let file = project_file(&root)?;
        let is_project = file.is_some();
        let workspace = Workspace::open(file, VERSION);
        let mut folders = workspace.spec_dirs();
        let paths = select.paths.iter().map(|path| below_root(&root, &start, path)).collect::<Result<BTreeSet<_>>>()?;
        folders.extend(paths.iter().cloned());
        let reads = fs::read_sources(&root, &folders);
        if !is_project && reads.iter().all(|read| read.content == Content::Absent) {
            bail!(
                "there is no project in {}: neither {PROJECT_FILE} nor {}/ (`kubebench init` makes one)",
                root.display(),
                folders.join("/, ")
            );
        }
        let mut found = Diagnostics::default();
        let mut unreadable = false;
        let mut specs = Vec::new();
        let mut checked = Vec::new();
        for read in reads {
            match read.content {
                Content::Whole(bytes) | Content::TooLong(bytes) => {
                    checked.push(read.path.clone());
                    specs.push(Input { path: read.path, bytes });
                }
                Content::Refused(reason) => {
                    let fault = Diagnostic::in_file(
                        &code::KB0114,
                        &read.path,
                        format!("kubebench does not read this: {reason}"),
                    );
                    found.push(
                        fault
                            .note("a spec is a regular file of its own, so that a review shows all of it")
                            .help("put the file itself here"),
                    );
                }
                Content::Unreadable(reason) => {
                    unreadable = true;
                    let fault =
                        Diagnostic::in_file(&code::KB0114, &read.path, format!("the file cannot be read: {reason}"));
                    found.push(fault.help("check its permissions (`ls -l`) and the disk"));
                }
                Content::Absent if paths.contains(&read.path) => {
                    unreadable = true;
                    found.push(Diagnostic::in_file(&code::KB0114, &read.path, "there is no such file or folder"));
                }
                Content::Absent if !is_project => {}
                Content::Absent => {
                    let message = format!("there is no folder `{}` for specs", read.path);
                    let fault = Diagnostic::in_file(&code::KB0114, PROJECT_FILE, message)
                        .note("without it every manifest would look left over");
                    found.push(fault.help("make the folder (an empty one is fine), or correct `spec.specs`"));
                }
            }
        }
        let mut compilation = workspace.compile(specs);
        compilation.faulty.extend(found.as_slice().iter().map(|fault| fault.path(&compilation.sources).to_owned()));
        compilation.diagnostics.extend(found);
        let selection = Selection {
            paths: (!paths.is_empty()).then_some(paths),
            targets: select.target.clone(),
            labels: select.select.clone(),
        };
        let session = Self { global, root, compilation, checked, selection, unreadable };
        session.check_targets()?;
        if global.verbose > 0 {
            let Compilation { benchmarks, tree, .. } = &session.compilation;
            let counts = [
                session.specs_in_words(),
                counted(benchmarks.len(), "benchmark and target pair"),
                counted(tree.len(), "manifest"),
            ];
            session.tell(&format!("project {}: {}", session.root.display(), counts.join(", ")));
        }
        if global.verbose > 1 {
            for compiled in &session.compilation.benchmarks {
                let benchmark = &compiled.benchmark;
                session.tell(&format!("{} on {}: {}", benchmark.path, benchmark.target.name, compiled.identity.digest));
            }
        }
        Ok(session)
    }

    fn check_targets(&self) -> Result<()> {
        let Some(project) = &self.compilation.project else { return Ok(()) };
        for name in &self.selection.targets {
            if !project.targets.iter().any(|target| target.name == *name) {
                let names: Vec<&str> = project.targets.iter().map(|target| target.name.as_str()).collect();
                let hint = did_you_mean(name, names.iter().copied()).map_or_else(
                    || format!("targets are {}", names.join(", ")),
                    |close| format!("did you mean `{close}`?"),
                );
                bail!("there is no target `{name}`; {hint}");
            }
        }
        Ok(())
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// Returns the selected benchmarks.
    pub(super) fn benchmarks(&self) -> Vec<&Compiled> {
        self.compilation.benchmarks.iter().filter(|compiled| self.selection.has(compiled)).collect()
    }

    /// Returns the findings about what is selected, and about the project as a whole.
    pub(super) fn diagnostics(&self) -> Diagnostics {
        let sources = &self.compilation.sources;
        let mut selected = Diagnostics::default();
        let by_label: Option<BTreeSet<&str>> = (!self.selection.labels.is_empty())
            .then(|| self.benchmarks().into_iter().map(|compiled| compiled.benchmark.path.as_str()).collect());
        for diagnostic in &self.compilation.diagnostics {
            let path = diagnostic.path(sources);
            let of_label =
                by_label.as_ref().is_none_or(|paths| paths.contains(path) || self.compilation.faulty.contains(path));
            if path == PROJECT_FILE || (self.selection.has_path(path) && of_label) {
                selected.push(diagnostic.clone());
            }
        }
        selected
    }

    /// Prints `diagnostics` and writes the reports; returns the status that they call for.
    pub(super) fn report(&self, diagnostics: Diagnostics) -> Result<ExitStatus> {
        let sorted = diagnostics.into_sorted(&self.compilation.sources);
        print_findings(self.global, &sorted, &self.compilation.sources, &self.checked)?;
        let errors = sorted.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let denied = self.global.deny_warnings && !sorted.is_empty();
        Ok(match (self.unreadable, errors || denied) {
            (true, _) => ExitStatus::NoAnswer,
            (false, true) => ExitStatus::No,
            (false, false) => ExitStatus::Yes,
        })
    }

    /// Prints `diagnostics` on standard error, for commands whose standard output is piped on; the status is "no".
    pub(super) fn refuse(&self, diagnostics: Diagnostics) -> ExitStatus {
        let sorted = diagnostics.into_sorted(&self.compilation.sources);
        let report = Report {
            diagnostics: &sorted,
            sources: &self.compilation.sources,
            checked: &self.checked,
            style: Style::Plain,
        };
        terminal::tell(render(self.global.output_format, &report).trim_end());
        if self.unreadable { ExitStatus::NoAnswer } else { ExitStatus::No }
    }

    /// Says something on standard error, unless asked to be quiet.
    pub(super) fn tell(&self, text: &str) {
        tell(self.global, text);
    }

    /// Returns how many specs were read, in words.
    pub(super) fn specs_in_words(&self) -> String {
        counted(self.checked.iter().filter(|path| *path != PROJECT_FILE).count(), "spec")
    }
}

/// Says something on standard error, unless asked to be quiet.
pub(super) fn tell(global: &Global, text: &str) {
    if !global.quiet {
        terminal::tell(text);
    }
}

/// Prints findings in the chosen format, and writes every report that was asked for.
pub(super) fn print_findings(
    global: &Global,
    sorted: &[Diagnostic],
    sources: &SourceMap,
    checked: &[String],
) -> Result<()> {
    let style = if colored(global) { Style::Colored } else { Style::Plain };
    let report = Report { diagnostics: sorted, sources, checked, style };
    terminal::print(&render(global.output_format, &report))?;
    let plain = Report { style: Style::Plain, ..report };
    for target in &global.report {
        let text = render(target.format, &plain);
        fs::write_report(&target.path, &text)
            .with_context(|| format!("cannot write the report {}", target.path.display()))?;
    }
    let count = |severity| sorted.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    if errors + warnings > 0 {
        let both = [(errors, "error"), (warnings, "warning")];
        let words: Vec<String> =
            both.iter().filter(|(count, _)| *count > 0).map(|(count, word)| counted(*count, word)).collect();
        let worst = sorted.iter().min_by_key(|diagnostic| diagnostic.severity);
        let first = worst.map_or("", |diagnostic| diagnostic.code.id);
        tell(global, &format!("{}; `kubebench explain {first}` says more", words.join(", ")));
    }
    Ok(())
}

/// Returns whether standard output gets colors.
pub(super) fn colored(global: &Global) -> bool {
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => terminal::wants_color(),
    }
}

/// Returns `1 spec`, `2 specs`.
pub(super) fn counted(count: usize, noun: &str) -> String {
    format!("{count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// Returns `path`, which was given relative to `start`, relative to the project root.
pub(super) fn below_root(root: &Path, start: &Path, path: &Path) -> Result<String> {
    let full = std::path::absolute(start.join(path)).with_context(|| format!("cannot resolve {}", path.display()))?;
    let root = std::path::absolute(root).context("cannot resolve the project's folder")?;
    let mut clean = PathBuf::new();
    for part in full.components() {
        match part {
            std::path::Component::ParentDir => {
                clean.pop();
            }
            part => clean.push(part),
        }
    }
    match clean.strip_prefix(&root) {
        Ok(inside) if inside.as_os_str().is_empty() => {
            bail!("{} is the whole project; leave the path out", path.display())
        }
        Ok(inside) => Ok(inside.to_string_lossy().replace('\\', "/")),
        Err(_) => bail!("{} lies outside the project {}", path.display(), root.display()),
    }
}
