//! A place of results, as commands that evaluate it read it: a dataset, and what is wrong with the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::signatures::{self, Uncounted};
use crate::app::start::Start;
use kubebench_attestation::{Counted, Key};
use kubebench_format::result;
use kubebench_git::{BlobId, RecordedBranch};
use kubebench_host::fs::{Content, real_place};
use kubebench_results::compare::model::LeftOut;
use kubebench_results::compare::words::counted;
use kubebench_results::dataset::{CurrentRules, Dataset, Doubt, settle};
use kubebench_results::disk::dataset::{self, Bad, Files, Stamp};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::{Source, SourceMap};

/// How people write a branch of recorded results.
const RECORDED: &str = "recorded:";

/// Results that a person names instead of the project's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NamedResults {
    /// Those of a folder, and no others.
    Folder(PathBuf),
    /// Those of the project's folder and of this branch.
    Branch(String),
}

impl NamedResults {
    /// Reads what a person wrote: `recorded:NAME`, or a folder.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix(RECORDED) {
            Some("") => Err(format!("`{RECORDED}` names no branch; write `{RECORDED}kubebench/results`")),
            Some(branch) => Ok(Self::Branch(branch.to_owned())),
            None => Ok(Self::Folder(text.into())),
        }
    }

    /// Returns the folder.
    pub fn folder(&self) -> Option<&Path> {
        match self {
            Self::Folder(folder) => Some(folder),
            Self::Branch(_) => None,
        }
    }
}

impl fmt::Display for NamedResults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Branch(branch) => write!(f, "{RECORDED}{branch}"),
        }
    }
}

/// The results of a place.
#[derive(Default)]
pub struct Reading {
    /// Those that count.
    pub dataset: Dataset,
    /// Those that do not, and why.
    pub left_out: Vec<LeftOut>,
    /// The same as findings.
    pub diagnostics: Diagnostics,
    /// Results that do not count for want of a signature.
    pub uncounted: Uncounted,
    /// Envelopes of results that are not there, as people call them.
    pub orphans: Vec<String>,
    /// How many were read, and how many the index knew.
    pub how: String,
}

/// Where results are read.
pub struct ResultsPlace<'a> {
    files: Held<'a>,
    /// Where a change is evaluated, the paths of those that it does not bring.
    known: Option<BTreeSet<String>>,
    /// What people call it, with what separates it from the paths of its files.
    shown: String,
}

enum Held<'a> {
    Folder(PathBuf),
    Branch(&'a RecordedBranch, &'a str),
}

impl<'a> ResultsPlace<'a> {
    /// The folder that was named, as seen from `start`; refuses one that is not there.
    pub fn named(start: &Start, folder: &Path) -> Result<Self> {
        let place = Self::folder(start.path(folder), &folder.display().to_string());
        match &place.files {
            Held::Folder(path) if !path.is_dir() => bail!("there is no folder {}", folder.display()),
            _ => Ok(place),
        }
    }

    /// A folder, and what people call it.
    pub fn folder(folder: PathBuf, shown: &str) -> Self {
        let shown = format!("{}/", shown.trim_end_matches('/'));
        Self { files: Held::Folder(folder), known: None, shown }
    }

    /// The folder `directory` of a branch; its files are called as git calls them.
    pub fn branch(branch: &'a RecordedBranch, directory: &'a str) -> Self {
        let shown = format!("{}:{directory}/", branch.shown());
        Self { files: Held::Branch(branch, directory), known: None, shown }
    }

    /// The same place, of which a change brings all results but those at these paths.
    #[must_use]
    pub fn known(self, known: BTreeSet<String>) -> Self {
        Self { known: Some(known), ..self }
    }

    /// Returns what people call a file.
    pub fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown)
    }

    fn files(&self, keys: &[Key]) -> Result<dataset::Read> {
        match &self.files {
            Held::Folder(folder) => {
                let identity = real_place(folder).map(|place| place.to_string_lossy().into_owned());
                let cache = identity.and_then(|identity| dataset::cache_for(&identity, keys));
                Ok(dataset::read_folder(folder, keys, cache.as_deref()))
            }
            Held::Branch(branch, directory) => {
                let cache = dataset::cache_for(&format!("{}\0{directory}", branch.identity()), keys);
                let read = dataset::read(&Recorded(branch), branch.files(directory)?, keys, cache.as_deref());
                let is_absent = |bad: &Bad| matches!(bad, Bad::Unread(Content::Absent));
                if read.bad.values().any(is_absent) { Err(branch.lacks()) } else { Ok(read) }
            }
        }
    }
}

/// The files of a branch.
struct Recorded<'a>(&'a RecordedBranch);

impl Files for Recorded<'_> {
    type File = BlobId;

    fn bytes(&self, file: &BlobId) -> Result<Vec<u8>, Content> {
        self.0.bytes(*file, result::MAX_BYTES)
    }

    fn stamp(&self, file: &BlobId) -> Option<Stamp> {
        Some(Stamp::Content(file.to_string()))
    }
}

/// Reads the results of a place, and by `keys` who recorded them; `which` says what counts. `current` are the rules that specs
/// have now, and texts of those with errors are added to `sources`.
pub fn read(
    place: &ResultsPlace<'_>,
    keys: &[Key],
    which: Counted,
    current: &dyn Fn() -> CurrentRules,
    sources: &mut SourceMap,
) -> Result<Reading> {
    let dataset::Read { dataset, orphans, bad, opened } = place.files(keys)?;
    let rest = dataset.rows().len() - opened.min(dataset.rows().len());
    let name = place.shown.trim_end_matches('/');
    let how = format!("{name}: {} read, {rest} from the cache", counted(opened, "result"));
    let mut found: BTreeMap<String, Diagnostic> = BTreeMap::new();
    for (path, bad) in bad {
        let shown = place.shown(&path);
        let fault = match bad {
            Bad::Bytes(bytes) => {
                let id = sources.add(Source::new(shown.as_str(), &bytes));
                result::judge(&shown, &bytes, Some(&path), id)
            }
            Bad::Unread(content) => Some(Diagnostic::in_file(&code::KB0114, shown, words(&content))),
        };
        found.extend(fault.map(|fault| (path, fault)));
    }
    let mut reading = Reading { dataset, how, ..Reading::default() };
    reading.orphans = orphans.iter().map(|path| place.shown(path)).collect();
    reading.diagnostics.extend(signatures::findings(&reading.dataset, &orphans, &|path| place.shown(path)));
    for (path, fault) in found {
        reading.leave_out(path, fault);
    }
    let mut dataset = std::mem::take(&mut reading.dataset);
    // First, since what does not count says nothing of what does.
    reading.uncounted = Uncounted::leave_out(&mut dataset, which, &|path| place.shown(path));
    if let Some(known) = &place.known {
        dataset.note_brought(|row| !known.contains(&row.path));
    }
    reading.doubts_of(&mut dataset, current, &|path| vec![place.shown(path)]);
    Ok(Reading { dataset, ..reading })
}

impl Reading {
    fn leave_out(&mut self, path: String, fault: Diagnostic) {
        let (code, message) = (fault.code.id.to_owned(), fault.message.clone());
        self.left_out.push(LeftOut { path, code, message });
        self.diagnostics.push(fault);
    }

    /// Removes what cannot be trusted from `dataset`, and reports it; `names` are those that messages give the files at a path.
    pub fn doubts_of(
        &mut self,
        dataset: &mut Dataset,
        current: &dyn Fn() -> CurrentRules,
        names: &dyn Fn(&str) -> Vec<String>,
    ) {
        let first = |path: &str| names(path).into_iter().next().unwrap_or_else(|| path.to_owned());
        for doubt in settle(dataset, current) {
            for path in doubt.paths().iter().collect::<BTreeSet<_>>() {
                let others = names(path).into_iter().skip(1);
                let fault = of_doubt(&doubt, path, &first);
                let fault = others.fold(fault, |fault, other| fault.related(Place::File(other), "the other file"));
                self.leave_out(path.clone(), fault);
            }
        }
    }
}

/// Says why the result at `path` represents no run; `shown` are the names that messages give paths.
pub fn of_doubt(doubt: &Doubt, path: &str, shown: &impl Fn(&str) -> String) -> Diagnostic {
    match doubt {
        Doubt::Twins { paths } => {
            let others = paths.iter().filter(|other| *other != path);
            let fault = Diagnostic::in_file(&code::KB0452, shown(path), "another file claims to be the same run");
            others
                .fold(fault, |fault, other| fault.related(Place::File(shown(other)), "the other file"))
                .note("it is unknown which one is true, so neither counts")
                .help(
                    "keep the file that the run wrote (git or the machine that ran it has a copy), and delete the \
                     other",
                )
        }
        Doubt::Readings { paths } => {
            let others = paths.iter().filter(|other| *other != path);
            let message = "the logs of this run were read again with different rules, none of which are the spec's";
            let fault = Diagnostic::in_file(&code::KB0452, shown(path), message);
            others
                .fold(fault, |fault, other| fault.related(Place::File(shown(other)), "another reading"))
                .note("it is unknown which reading is right, so none of them counts")
                .help("read the logs with today's rules (`kubebench reparse`), or delete the wrong readings")
        }
        Doubt::Claims { of, .. } => {
            Diagnostic::in_file(&code::KB0452, shown(path), "this file claims to be a run that already had a result")
                .related(Place::File(shown(of)), "the earlier result")
                .note("a change cannot replace a result of its base, so this one does not count")
                .help("delete it; a run that is repeated has a separate result")
        }
        Doubt::Clock { what, .. } => {
            Diagnostic::in_file(&code::KB0453, shown(path), format!("{what}: the clock went backwards"))
                .note("its times cannot be trusted, so the result does not count")
                .help("check the clock of the machine (`timedatectl`), and run the benchmark again")
        }
    }
}

fn words(content: &Content) -> String {
    match content {
        Content::Refused(reason) => format!("kubebench does not read this: {reason}"),
        Content::Unreadable(reason) => format!("the file cannot be read: {reason}"),
        Content::Absent | Content::Misnamed | Content::Whole(_) | Content::TooLong(_) => {
            "there is no such file or folder".to_owned()
        }
    }
}
