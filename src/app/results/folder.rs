//! A folder of results, as commands that evaluate it read it: an dataset, and what is wrong with the rest.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::app::start::Start;
use kubebench_format::result;
use kubebench_host::fs::Content;
use kubebench_results::compare::model::LeftOut;
use kubebench_results::compare::words::counted;
use kubebench_results::dataset::{CurrentRules, Dataset, Doubt, settle};
use kubebench_results::disk::dataset::{self, Bad};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::{Source, SourceMap};

/// The results of a folder.
#[derive(Default)]
pub struct Reading {
    /// Those that count.
    pub dataset: Dataset,
    /// Those that do not, and why.
    pub left_out: Vec<LeftOut>,
    /// The same as findings.
    pub diagnostics: Diagnostics,
    /// How many were read, and how many the index knew.
    pub how: String,
}

/// Where results are read.
pub struct ResultsFolder {
    /// The folder.
    pub folder: PathBuf,
    /// What people call it.
    pub shown: String,
}

impl ResultsFolder {
    /// Returns the folder that was asked for, or that of the project at `root`.
    pub fn of(start: &Start, asked: Option<&Path>, root: &Path, own: &str) -> Result<Self> {
        let place = match asked {
            Some(folder) => Self { folder: start.path(folder), shown: folder.display().to_string() },
            None => Self { folder: root.join(own), shown: own.to_owned() },
        };
        if !place.folder.is_dir() {
            if asked.is_some() {
                bail!("there is no folder {}", place.shown);
            }
            bail!(
                "there is no folder {own}, so nothing has run yet: `kubebench run SPEC` makes the first result. Results that are recorded \
                 on a branch of their own are read from a checkout of it (`git worktree add ../results BRANCH`, then \
                 `--results ../results/{own}`)"
            );
        }
        Ok(place)
    }
}

/// Reads the results of a folder; `current` are the rules that specs have now, and texts of those at fault are added to `sources`.
pub fn read(place: &ResultsFolder, current: &dyn Fn() -> CurrentRules, sources: &mut SourceMap) -> Reading {
    let cache = dataset::cache_for(&place.folder);
    let dataset::Read { dataset, bad, opened } = dataset::read(&place.folder, cache.as_deref());
    let rest = dataset.rows().len() - opened.min(dataset.rows().len());
    let how = format!("{}: {} read, {rest} known from the cache", place.shown, counted(opened, "result"));
    let shown = |path: &str| format!("{}/{path}", place.shown.trim_end_matches('/'));
    let mut found: BTreeMap<String, Diagnostic> = BTreeMap::new();
    for (path, bad) in bad {
        let fault = match bad {
            Bad::Bytes(bytes) => {
                let id = sources.add(Source::new(shown(&path).as_str(), &bytes));
                result::judge(&shown(&path), &bytes, Some(&path), id)
            }
            Bad::Unread(content) => Some(Diagnostic::in_file(&code::KB0114, shown(&path), words(&content))),
        };
        found.extend(fault.map(|fault| (path, fault)));
    }
    let mut reading = Reading { dataset, how, ..Reading::default() };
    for (path, fault) in found {
        reading.leave_out(path, fault);
    }
    let mut dataset = std::mem::take(&mut reading.dataset);
    reading.doubts_of(&mut dataset, current, place);
    Reading { dataset, ..reading }
}

impl Reading {
    fn leave_out(&mut self, path: String, fault: Diagnostic) {
        let (code, message) = (fault.code.id.to_owned(), fault.message.clone());
        self.left_out.push(LeftOut { path, code, message });
        self.diagnostics.push(fault);
    }

    /// Takes what nobody can trust out of `dataset`, and tells it.
    pub fn doubts_of(&mut self, dataset: &mut Dataset, current: &dyn Fn() -> CurrentRules, place: &ResultsFolder) {
        let shown = |path: &str| format!("{}/{path}", place.shown.trim_end_matches('/'));
        for doubt in settle(dataset, current) {
            for path in doubt.paths() {
                self.leave_out(path.clone(), of_doubt(&doubt, path, &shown));
            }
        }
    }
}

/// Says why the result at `path` stands for no run; `shown` are the names that messages give paths.
pub fn of_doubt(doubt: &Doubt, path: &str, shown: &impl Fn(&str) -> String) -> Diagnostic {
    match doubt {
        Doubt::Twins { paths } => {
            let others = paths.iter().filter(|other| *other != path);
            let fault = Diagnostic::in_file(&code::KB0452, shown(path), "another file says that it is the same run");
            others
                .fold(fault, |fault, other| fault.related(Place::File(shown(other)), "the other one"))
                .note("nobody can tell which of them is true, so neither counts")
                .help("keep the one that the run wrote, as git or the machine that ran it has it, and remove the other")
        }
        Doubt::Readings { paths } => {
            let others = paths.iter().filter(|other| *other != path);
            let message = "the logs of this run were read again by different rules, and none of these are the spec's";
            let fault = Diagnostic::in_file(&code::KB0452, shown(path), message);
            others
                .fold(fault, |fault, other| fault.related(Place::File(shown(other)), "another reading"))
                .note("nobody can tell which reading holds, so none of them counts")
                .help(
                    "read the logs by the rules of today (`kubebench reparse`), or remove the readings that were wrong",
                )
        }
        Doubt::Clock { what, .. } => {
            Diagnostic::in_file(&code::KB0453, shown(path), format!("{what}: the clock went backwards"))
                .note("its times cannot be trusted, and so it does not count")
                .help("look at the clock of the machine (`timedatectl`), and run the benchmark again")
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
