//! Which files of a work tree differ from the commit that is checked out.
//!
//! git itself is asked, since it alone knows filters (line ends, LFS), modes, sparse checkouts and submodules as its user has set
//! them up. Where it is not installed, or too old, git2 answers.

use std::collections::BTreeSet;
use std::path::Path;

use git2::{Repository, Status, StatusOptions};

use super::super::program::Git;
use crate::record::DEADLINE;

/// What is looked at: all files that git tracks, and of the others those that a benchmark is made of.
#[derive(Clone, Debug, Default)]
pub struct Looked<'a> {
    /// The folder of recorded results.
    pub results: &'a str,
    /// Other folders that Kubebench writes and no run reads.
    pub written: Vec<&'a str>,
    /// The files that a run takes from the project: spec, project file, carried files.
    pub parts: Vec<&'a str>,
    /// The folder of the spec, whose files count before git tracks them; that of the project is empty.
    pub beside: Option<&'a str>,
    /// Specs of others, which do not.
    pub others: BTreeSet<&'a str>,
}

/// Returns these files as seen from the project at `root`, which is at `inside` in the work tree.
pub(super) fn differing(
    root: &Path,
    repository: &Repository,
    inside: &Path,
    looked: &Looked<'_>,
    program: &Path,
) -> Result<Vec<String>, String> {
    let inside = inside.to_string_lossy().replace('\\', "/");
    let place = Place { inside: inside.split('/').filter(|part| !part.is_empty()).collect() };
    let Found { tracked, untracked, unknown } = match Git::find(program, root) {
        Ok(git) => by_git(&git, looked, &place)?,
        Err(_) => by_library(repository, looked, &place).map_err(|error| error.message().to_owned())?,
    };
    let tracked = tracked.into_iter().filter(|path| !looked.is_written(path));
    let untracked = untracked.into_iter().filter(|path| looked.is_beside(path));
    let all: BTreeSet<String> = tracked.chain(untracked).chain(unknown).collect();
    Ok(all.into_iter().collect())
}

/// Files as seen from the project.
struct Found {
    /// Those that git tracks and that differ.
    tracked: Vec<String>,
    /// Those that it neither tracks nor ignores, at least in the folder of the spec.
    untracked: Vec<String>,
    /// The parts of a benchmark that it does not track.
    unknown: Vec<String>,
}

impl Looked<'_> {
    fn is_written(&self, path: &str) -> bool {
        let is_below = |folder: &&str| path.strip_prefix(*folder).is_some_and(|rest| rest.starts_with('/'));
        [self.results].iter().chain(&self.written).any(is_below) && !self.parts.contains(&path)
    }

    fn is_beside(&self, path: &str) -> bool {
        self.beside.is_some_and(|folder| folder_of(path) == folder)
            && !self.others.contains(path)
            && !self.is_written(path)
    }
}

fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Where the project is in the work tree: its folders from the top.
struct Place<'a> {
    inside: Vec<&'a str>,
}

impl Place<'_> {
    /// Returns a path from the top of the work tree as seen from the project.
    fn seen(&self, path: &str) -> String {
        let parts: Vec<&str> = path.split('/').collect();
        let common = self.inside.iter().zip(&parts).take_while(|(own, other)| own == other).count();
        let up = self.inside.iter().skip(common).map(|_| "..");
        up.chain(parts.iter().skip(common).copied()).collect::<Vec<_>>().join("/")
    }

    /// Returns a path below the project as seen from the top of the work tree.
    fn in_work_tree(&self, path: &str) -> String {
        self.inside.iter().copied().chain([path]).filter(|part| !part.is_empty()).collect::<Vec<_>>().join("/")
    }
}

fn by_git(git: &Git, looked: &Looked<'_>, place: &Place<'_>) -> Result<Found, String> {
    let lines = |arguments: &[&str]| -> Result<Vec<String>, String> {
        let fault = |words: &str| format!("`git {}` cannot tell which files differ: {words}", arguments.join(" "));
        let answer = git.call(arguments, None, DEADLINE).map_err(|error| fault(&error.message))?;
        if !answer.succeeded {
            return Err(fault(answer.words.lines().next().unwrap_or("it failed")));
        }
        let parts = answer.output.split(|byte| *byte == 0).filter(|part| !part.is_empty());
        Ok(parts.map(|part| String::from_utf8_lossy(part).into_owned()).collect())
    };
    // A submodule differs by its commit and what it tracks, whatever `submodule.NAME.ignore` hides from people.
    let changed = lines(&[
        "status",
        "--porcelain=v1",
        "-z",
        "--no-renames",
        "--untracked-files=no",
        "--ignore-submodules=untracked",
    ])?;
    // Two letters and a space are before each path.
    let tracked = changed.iter().filter_map(|line| line.get(3..)).map(|path| place.seen(path)).collect();
    let untracked = match looked.beside {
        Some(folder) => {
            let folder = if folder.is_empty() { "." } else { folder };
            lines(&["ls-files", "-z", "--others", "--exclude-standard", "--", folder])?
        }
        None => Vec::new(),
    };
    let mut unknown = looked.parts.clone();
    if !unknown.is_empty() {
        let known = lines(&[&["ls-files", "-z", "--"][..], &looked.parts].concat())?;
        unknown.retain(|part| !known.iter().any(|known| known == part));
    }
    Ok(Found { tracked, untracked, unknown: unknown.into_iter().map(str::to_owned).collect() })
}

fn by_library(repository: &Repository, looked: &Looked<'_>, place: &Place<'_>) -> Result<Found, git2::Error> {
    let mut options = StatusOptions::new();
    options.include_untracked(looked.beside.is_some()).recurse_untracked_dirs(true).include_ignored(false);
    let (mut tracked, mut untracked) = (Vec::new(), Vec::new());
    for entry in repository.statuses(Some(&mut options))?.iter() {
        let path = place.seen(&String::from_utf8_lossy(entry.path_bytes()));
        if entry.status() == Status::WT_NEW { untracked.push(path) } else { tracked.push(path) }
    }
    let index = repository.index()?;
    let is_known = |part: &str| index.get_path(Path::new(&place.in_work_tree(part)), 0).is_some();
    let unknown = looked.parts.iter().filter(|part| !is_known(part)).map(|part| (*part).to_owned()).collect();
    Ok(Found { tracked, untracked, unknown })
}

#[cfg(test)]
mod tests;
