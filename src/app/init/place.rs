//! Where files are written: in the project, and at the top of its repository.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{Ci, PROJECT_FILE, yaml};
use crate::app::places::{folder_of, top_of};
use crate::app::stamp;
use crate::app::templates::Apart;
use kubebench_git::{branch_of_changes, default_branch_of_remote};
use kubebench_host::fs;
use kubebench_syntax::digest::Digest;

/// What a file for a CI system is written for, before the folder.
const SUBJECT: &str = "the project in ";

/// The longest name of a namespace in Kubernetes.
const LONGEST_NAMESPACE: usize = 63;

/// A folder, and how a person who starts in the project calls it: empty, or ending in a slash.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) folder: PathBuf,
    pub(super) shown: String,
}

impl Place {
    pub(super) fn shown(&self, path: &str) -> String {
        format!("{}{path}", self.shown)
    }

    /// Returns the text of a file; none where there is no file, or a link, which may lead anywhere.
    pub(super) fn read(&self, path: &str) -> Result<Option<String>> {
        let full = self.folder.join(path);
        match full.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Ok(found) if !found.is_file() => return Ok(None),
            Ok(_) | Err(_) => {}
        }
        let bytes = std::fs::read(&full).with_context(|| format!("cannot read {}", self.shown(path)))?;
        Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn has(&self, path: &str) -> bool {
        fs::exists(&self.folder, path)
    }
}

/// The repository of a project; without git, one whose top is the project.
#[derive(Clone, Debug)]
pub(super) struct Repository {
    pub(super) top: Place,
    /// The folder of the project, empty or ending in a slash.
    pub(super) folder: String,
    /// The branch that changes go to.
    pub(super) branch: String,
}

impl Repository {
    pub(super) fn around(root: &Path, branch_in: impl Fn(&str) -> Option<String>) -> Self {
        let folder = folder_of(root);
        let (top, shown) = top_of(root, &folder);
        let repository = Self { top: Place { folder: top, shown }, folder, branch: String::new() };
        // Without the remote's answer, the branch that is checked out now says less than what was written before.
        let branch = default_branch_of_remote(root)
            .or_else(|| branch_in(&repository.top.read(&repository.path_of(Ci::GitHub)?).ok().flatten()?))
            .or_else(|| branch_of_changes(root))
            .unwrap_or_else(|| "main".to_owned());
        Self { branch, ..repository }
    }

    /// Returns the folder as commands take it.
    pub(super) fn project(&self) -> &str {
        if self.folder.is_empty() { "." } else { self.folder.trim_end_matches('/') }
    }

    /// Returns what the file of a CI system is for.
    pub(super) fn subject(&self) -> String {
        format!("{SUBJECT}{}", yaml::quoted(self.project()))
    }

    /// Returns what the check is called, with `before` and `after` around the folder.
    pub(super) fn named(&self, before: &str, after: &str) -> String {
        if self.folder.is_empty() {
            return "kubebench".to_owned();
        }
        format!("kubebench{before}{}{after}", self.project())
    }

    /// Returns the path of the project's own file for a CI system.
    pub(super) fn path_of(&self, ci: Ci) -> Option<String> {
        let distinct = path_of_check(ci, &self.distinct_name())?;
        Some(if self.is_taken(ci)? || self.top.has(&distinct) {
            distinct
        } else {
            path_of_check(ci, &self.short_name())?
        })
    }

    /// Returns true if another project has the short name, in capitals or not.
    fn is_taken(&self, ci: Ci) -> Option<bool> {
        let own = path_of_check(ci, &self.short_name())?.to_lowercase();
        let folder = folder_of_checks(ci)?;
        let paths = fs::names(&self.top.folder.join(folder)).into_iter().map(|name| format!("{folder}/{name}"));
        let is_of_another = |path: String| {
            let text = self.top.read(&path).ok().flatten().unwrap_or_default();
            stamp::subject(&text).is_some_and(|subject| subject != self.subject())
        };
        Some(paths.filter(|path| path.to_lowercase() == own).any(is_of_another))
    }

    /// Returns what a project has for itself that may not be the only one of the repository.
    pub(super) fn apart(&self) -> Option<Apart> {
        let is_taken = Ci::ALL.into_iter().any(|ci| self.is_taken(ci).unwrap_or(false));
        let words = if is_taken { self.distinct_name() } else { self.short_name() };
        let name = words.trim_start_matches('-').to_lowercase();
        let is_label = name.is_ascii() && !name.is_empty() && name.len() <= LONGEST_NAMESPACE;
        let namespace = if is_label { name } else { format!("benchmarks-{}", self.digest()) };
        (!self.folder.is_empty()).then(|| Apart { namespace, branch: format!("kubebench/results{words}") })
    }

    /// Returns the words of the folder, each after a hyphen.
    fn short_name(&self) -> String {
        let words = self.folder.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        words.map(|word| format!("-{word}")).collect()
    }

    /// Returns a name that no other folder has, such as one with other signs between the same words.
    fn distinct_name(&self) -> String {
        format!("{}-{}", self.short_name(), self.digest())
    }

    fn digest(&self) -> String {
        Digest::of(&self.folder).hex().get(..8).unwrap_or_default().to_owned()
    }

    /// Returns the files for CI systems of projects that are not there any more: they were moved or removed.
    pub(super) fn left_behind(&self) -> Vec<(Ci, String)> {
        let of_system = |ci| folder_of_checks(ci).map(|folder| (ci, folder));
        let files = Ci::ALL.into_iter().filter_map(of_system).flat_map(|(ci, folder)| {
            fs::names(&self.top.folder.join(folder)).into_iter().map(move |name| (ci, format!("{folder}/{name}")))
        });
        files.filter(|(_, path)| self.is_left_behind(path)).collect()
    }

    fn is_left_behind(&self, path: &str) -> bool {
        let text = self.top.read(path).ok().flatten().unwrap_or_default();
        let folder = stamp::subject(&text).and_then(|subject| yaml::unquoted(subject.strip_prefix(SUBJECT)?));
        folder.is_some_and(|folder| !fs::exists(&self.top.folder.join(folder), PROJECT_FILE))
    }

    /// Returns the systems that have a file of this project, or of one that may have been this one before it was moved.
    pub(super) fn systems(&self) -> Vec<Ci> {
        let left_behind = self.left_behind();
        let has_file = |ci: &Ci| {
            self.path_of(*ci).is_some_and(|path| self.top.has(&path)) || left_behind.iter().any(|(of, _)| of == ci)
        };
        Ci::ALL.into_iter().filter(has_file).collect()
    }

    /// Returns the system that the repository seems to be for.
    pub(super) fn likely_system(&self) -> Ci {
        if self.top.has(".gitlab-ci.yml") && !self.top.has(".github/workflows") { Ci::GitLab } else { Ci::GitHub }
    }
}

/// Returns the path of a file for a CI system.
fn path_of_check(ci: Ci, name: &str) -> Option<String> {
    Some(format!("{}/kubebench{name}.yml", folder_of_checks(ci)?))
}

/// Returns the folder of a CI system's files.
fn folder_of_checks(ci: Ci) -> Option<&'static str> {
    match ci {
        Ci::GitHub => Some(".github/workflows"),
        Ci::GitLab => Some(".gitlab"),
        Ci::None => None,
    }
}
