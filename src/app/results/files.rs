//! Result files that a person names: are they as they were written, and where they belong?

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use rayon::prelude::*;

use super::place::of_doubt;
use super::signatures::signature_beside;
use crate::app::project::{Project, below_root};
use crate::app::start::{Start, VERSION};
use kubebench_attestation::{Counted, Key};
use kubebench_compiler::compile::Workspace;
use kubebench_format::attestation::result_of;
use kubebench_format::result::{self, BenchmarkResult, Sealed};
use kubebench_host::fs::{self, Content};
use kubebench_results::dataset::{CurrentRules, Dataset, Extract, Row, settle};
use kubebench_syntax::diag::{CHECK_FILE, Diagnostic, Diagnostics, code};
use kubebench_syntax::text::{Source, SourceId, SourceMap};

/// Result files that were asked for.
pub struct ResultFiles {
    root: PathBuf,
    folder: String,
    start: PathBuf,
    asked: Vec<PathBuf>,
    /// The keys by which signatures are checked, and which results count.
    keys: Vec<Key>,
    counted: Counted,
}

type Files = BTreeMap<String, Result<PathBuf, Content>>;

/// How many files are read before their content is put together.
const TAKEN: usize = 1024;
/// How many whole results are held at once.
const HELD: usize = 64;

/// Results that were read, and what is wrong with other files.
#[derive(Default)]
pub struct Taken {
    /// The results, by the names that messages give them.
    pub dataset: Dataset,
    /// Their files by these names.
    pub files: BTreeMap<String, PathBuf>,
    /// What was found.
    pub checked: Checked,
}

/// What was found about result files.
#[derive(Default)]
pub struct Checked {
    /// The findings.
    pub diagnostics: Diagnostics,
    /// The files that were looked at.
    pub files: Vec<String>,
    /// True when some file may be all right and it is unknown whether it is.
    pub unreadable: bool,
}

impl ResultFiles {
    /// Takes the paths of results out of `paths`: what is in the results folder of the project, any JSON file, and a folder that
    /// holds no spec: one outside the project, or with JSON files and without YAML.
    pub fn among(start: &Start, paths: &mut Vec<PathBuf>) -> Result<Self> {
        let folder = start.folder()?;
        let root = fs::find_root(&folder);
        let (keys, counted) = (Vec::new(), Counted::All);
        let mut results = Self { root, folder: String::new(), start: folder, asked: Vec::new(), keys, counted };
        if paths.is_empty() {
            return Ok(results);
        }
        let workspace = Workspace::open(Project::find(start)?.file, VERSION);
        results.folder = workspace.results_dir();
        let specs = workspace.spec_dirs();
        let is_asked = |path: &PathBuf| {
            let place = results.start.join(path);
            path.to_str().is_some_and(fs::is_result)
                || match below_root(&results.root, &results.start, path) {
                    Ok(below) => {
                        below_folder(&below, &results.folder).is_some()
                            || !specs.contains(&below) && results.holds_only_results(&place, below)
                    }
                    Err(_) => place.is_dir() && !is_inside(&results.root, &place),
                }
        };
        let (asked, others) = std::mem::take(paths).into_iter().partition(is_asked);
        *paths = others;
        results.asked = asked;
        Ok(results)
    }

    /// Takes `paths` as results, all of them; without any, the results folder of the project.
    pub fn all(start: &Start, paths: &[PathBuf]) -> Result<Self> {
        let base = start.folder()?;
        let root = fs::find_root(&base);
        let workspace = Workspace::open(Project::find(start)?.file, VERSION);
        let Some(settings) = workspace.results() else {
            bail!("kubebench.yaml says which results count, and it has errors: `kubebench validate` lists them");
        };
        let (folder, keys, counted) = (settings.directory.clone(), settings.keys.clone(), settings.counted);
        // Absolute, since paths are taken from where the command starts.
        let whole = || std::path::absolute(root.join(&folder)).unwrap_or_else(|_| root.join(&folder));
        let asked = if paths.is_empty() { vec![whole()] } else { paths.to_vec() };
        Ok(Self { root, folder, start: base, asked, keys, counted })
    }

    /// Returns whether the folder at `place`, which is `below` the project, holds JSON files and no YAML.
    fn holds_only_results(&self, place: &Path, below: String) -> bool {
        place.is_dir()
            && !fs::find_results(place, "").is_empty()
            && fs::read_sources(&self.root, &[below]).iter().all(|read| !fs::is_spec(&read.path))
    }

    /// Returns the folder of the project.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of results, below that of the project.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// Returns which of them count, by who recorded them.
    pub fn counted(&self) -> Counted {
        self.counted
    }

    /// Returns true when no results were asked for.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// Returns the files, by the names that messages give them.
    fn files(&self) -> Files {
        let mut found = Files::new();
        // A file that is named twice is one, however its name is spelled.
        let mut known: BTreeMap<PathBuf, String> = BTreeMap::new();
        for path in &self.asked {
            // A file outside the project is called as it was given; nothing is known about its place.
            let shown = below_root(&self.root, &self.start, path).unwrap_or_else(|_| path.display().to_string());
            let new = fs::find_results(&self.start.join(path), &shown).into_iter().filter(|(shown, file)| {
                // Envelopes are for `verify`.
                if result_of(shown).is_some() {
                    return false;
                }
                let place = file.as_ref().ok().and_then(|file| fs::real_place(file));
                place.is_none_or(|place| known.entry(place).or_insert_with(|| shown.clone()) == shown)
            });
            found.extend(new);
        }
        found
    }

    /// Reads and checks them, each by itself and with the others; `current` are the rules that specs have now, and texts of those with
    /// errors are added to `sources`.
    pub fn check(&self, current: &dyn Fn() -> CurrentRules, sources: &mut SourceMap) -> Checked {
        let Taken { mut dataset, mut checked, .. } = self.take(sources);
        // The same bytes outside are a copy of what the folder has, which alone is counted; within it they lie at a wrong place.
        let is_inside = |row: &Row| below_folder(&row.path, &self.folder).is_some();
        let inside: BTreeSet<String> =
            dataset.rows().iter().filter(|row| is_inside(row)).map(|row| row.digest.clone()).collect();
        dataset.retain(|row| is_inside(row) || !inside.contains(&row.digest));
        for doubt in settle(&mut dataset, current) {
            checked.diagnostics.extend(doubt.paths().iter().map(|path| of_doubt(&doubt, path, &str::to_owned)));
        }
        checked
    }

    /// Reads them into a dataset; each is checked by itself.
    pub fn take(&self, sources: &mut SourceMap) -> Taken {
        let files: Vec<_> = self.files().into_iter().collect();
        let mut taken = Taken::default();
        for files in files.chunks(TAKEN) {
            let read: Vec<_> = files.par_iter().map(|(shown, file)| self.extract(shown, file)).collect();
            for ((shown, file), read) in files.iter().zip(read) {
                taken.checked.files.push(shown.clone());
                match (read, file) {
                    (Ok(extract), Ok(file)) => {
                        taken.dataset.add(*extract);
                        taken.files.insert(shown.clone(), file.clone());
                    }
                    (Err(outcome), _) => self.note(outcome, &mut taken.checked, sources),
                    (Ok(_), Err(_)) => {}
                }
            }
        }
        taken
    }

    fn extract(&self, shown: &str, file: &Result<PathBuf, Content>) -> Result<Box<Extract>, Outcome> {
        let is_here =
            |of: &Sealed| below_folder(shown, &self.folder).is_none_or(|place| place == result::path(&of.result));
        let Some((path, sealed)) =
            file.as_deref().ok().and_then(|path| as_written(path)).filter(|(_, sealed)| is_here(sealed))
        else {
            return Err(self.outcome(shown, file));
        };
        let signature = (!self.keys.is_empty()).then(|| signature_beside(path, &sealed, &self.keys));
        Ok(Box::new(Extract::of(shown, sealed.result).recorded_by(signature)))
    }

    fn note(&self, outcome: Outcome, checked: &mut Checked, sources: &mut SourceMap) {
        match outcome {
            Outcome::Sound => {}
            Outcome::Unread(fault, unreadable) => {
                checked.unreadable |= unreadable;
                checked.diagnostics.push(fault);
            }
            Outcome::AtFault(shown, bytes) => {
                let id = sources.add(Source::new(shown.as_str(), &bytes));
                checked.diagnostics.extend(result::judge(&shown, &bytes, below_folder(&shown, &self.folder), id));
            }
        }
    }

    fn outcome(&self, shown: &str, file: &Result<PathBuf, Content>) -> Outcome {
        let read =
            file.as_deref().map_err(Clone::clone).and_then(|path: &Path| fs::read_result(path, result::MAX_BYTES));
        match read {
            Ok(bytes) => match result::judge(shown, &bytes, below_folder(shown, &self.folder), SourceId::default()) {
                None => Outcome::Sound,
                Some(_) => Outcome::AtFault(shown.to_owned(), bytes),
            },
            Err(content) => {
                let unread = |message: String| Diagnostic::in_file(&code::KB0114, shown, message);
                match content {
                    Content::Refused(reason) => Outcome::Unread(
                        unread(format!("kubebench does not read this: {reason}"))
                            .note("a result must be a regular file, so that a review shows all of it"),
                        false,
                    ),
                    Content::Unreadable(reason) => {
                        Outcome::Unread(unread(format!("the file cannot be read: {reason}")).help(CHECK_FILE), true)
                    }
                    Content::Absent | Content::Misnamed | Content::Whole(_) | Content::TooLong(_) => {
                        Outcome::Unread(unread("there is no such file or folder".to_owned()), true)
                    }
                }
            }
        }
    }
}

/// Reads the `files`, by the names that messages give them, and hands them to `each` in their order; the next ones are read
/// meanwhile.
pub fn in_order(
    files: &[(&String, &PathBuf)],
    mut each: impl FnMut(&BenchmarkResult) -> Result<()> + Send,
) -> Result<()> {
    let read = |files: &[(&String, &PathBuf)]| -> Vec<Result<BenchmarkResult>> {
        let read = |(shown, path): &(&String, &PathBuf)| {
            let bytes = fs::read_result(path, result::MAX_BYTES)
                .map_err(|content| anyhow!("{shown} cannot be read: {}", content.reason()))?;
            result::as_written(&bytes).with_context(|| format!("{shown} was changed while it was read; run this again"))
        };
        files.par_iter().map(read).collect()
    };
    let mut chunks = files.chunks(HELD);
    let mut held = chunks.next().map(read).unwrap_or_default();
    while !held.is_empty() {
        let mut hand = || held.iter().try_for_each(|result| each(result.as_ref().map_err(|why| anyhow!("{why}"))?));
        let next = chunks.next();
        let (handed, following) = rayon::join(&mut hand, || next.map(read).unwrap_or_default());
        handed?;
        held = following;
    }
    Ok(())
}

fn as_written(path: &Path) -> Option<(&Path, Sealed)> {
    let bytes = fs::read_result(path, result::MAX_BYTES).ok()?;
    let result = result::as_written(&bytes)?;
    Some((path, Sealed { result, bytes }))
}

/// Returns whether `path` is the folder `outer`, or is in it.
fn is_inside(path: &Path, outer: &Path) -> bool {
    fs::real_place(path).zip(fs::real_place(outer)).is_some_and(|(path, outer)| path.starts_with(outer))
}

/// What came of one file.
enum Outcome {
    Sound,
    Unread(Diagnostic, bool),
    AtFault(String, Vec<u8>),
}

/// Returns the rest of `path` below `folder`, which is empty for the folder itself.
fn below_folder<'p>(path: &'p str, folder: &str) -> Option<&'p str> {
    let rest = path.strip_prefix(folder)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('/') }
}
