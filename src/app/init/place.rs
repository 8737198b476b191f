//! Where files are written: in the project, and at the top of its repository.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use super::{Ci, yaml};
use crate::app::places::{folder_of, top_of};
use crate::app::stamp;
use kubebench_git::branch_of_changes;
use kubebench_host::fs;
use kubebench_syntax::digest::Digest;

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
    pub(super) fn around(root: &Path) -> Self {
        let folder = folder_of(root);
        let (top, shown) = top_of(root, &folder);
        let branch = branch_of_changes(root).unwrap_or_else(|| "main".to_owned());
        Self { top: Place { folder: top, shown }, folder, branch }
    }

    /// Returns the folder as commands take it.
    pub(super) fn project(&self) -> &str {
        if self.folder.is_empty() { "." } else { self.folder.trim_end_matches('/') }
    }

    /// Returns what the file of a CI system is for.
    pub(super) fn subject(&self) -> String {
        format!("the project in {}", yaml::quoted(self.project()))
    }

    /// Returns what the check is called, with `before` and `after` around the folder.
    pub(super) fn named(&self, before: &str, after: &str) -> String {
        if self.folder.is_empty() {
            return "kubebench".to_owned();
        }
        format!("kubebench{before}{}{after}", self.project())
    }

    /// Returns the path of the project's own file for a CI system. Folders whose names differ in signs alone have the same short name, so
    /// the second one gets a digest.
    pub(super) fn path_of(&self, ci: Ci) -> Option<String> {
        let folder = match ci {
            Ci::GitHub => ".github/workflows",
            Ci::GitLab => ".gitlab",
            Ci::None => return None,
        };
        let words = self.folder.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
        let short: String = words.map(|word| format!("-{word}")).collect();
        let path = |name: &str| format!("{folder}/kubebench{name}.yml");
        let digest = Digest::of(&self.folder).hex();
        let (plain, distinct) = (path(&short), path(&format!("{short}-{}", digest.get(..8).unwrap_or_default())));
        let text = self.top.read(&plain).ok().flatten().unwrap_or_default();
        let is_of_another = stamp::subject(&text).is_some_and(|subject| subject != self.subject());
        Some(if is_of_another || self.top.has(&distinct) { distinct } else { plain })
    }

    /// Returns the systems that have a file of this project.
    pub(super) fn systems(&self) -> Vec<Ci> {
        Ci::ALL.into_iter().filter(|ci| self.path_of(*ci).is_some_and(|path| self.top.has(&path))).collect()
    }

    /// Returns the system that the repository seems to be for.
    pub(super) fn likely_system(&self) -> Ci {
        if self.top.has(".gitlab-ci.yml") && !self.top.has(".github/workflows") { Ci::GitLab } else { Ci::GitHub }
    }
}
