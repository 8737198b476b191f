//! Which results are read: those of the project's folder together with those of the branch on which results are recorded, or those of
//! a folder that a person names.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use anyhow::{Context as _, Result, bail};

use super::Evaluation;
use crate::app::project::below_root;
use crate::app::results::{NamedResults, ResultsPlace, in_order};
use kubebench_format::result::{self, BenchmarkResult};
use kubebench_git::{Fetched, RecordedBranch};

/// The branch of recorded results, as far as this clone knows it.
#[derive(Default)]
pub(super) struct Recorded {
    branch: Option<RecordedBranch>,
    /// Whether the remote was asked, and has no such branch.
    is_absent: bool,
    /// The results that this branch alone has, by their digests.
    own: BTreeSet<String>,
}

impl Evaluation {
    /// Reads the results that were asked for, or the project's; refuses where there is neither a folder nor a branch of them.
    pub fn read(&mut self, asked: Option<&NamedResults>) -> Result<()> {
        self.read_if_any(asked)?;
        if self.folder.is_none() && self.recorded_on().is_none() {
            bail!(self.without_results());
        }
        Ok(())
    }

    /// Says why there are no results here. Where some may be recorded elsewhere, that says nothing of whether anything ran.
    fn without_results(&self) -> String {
        let own = &self.directory;
        if let Some(why) = &self.no_project {
            return why.clone();
        }
        let branch = self.recorded.branch.as_ref().filter(|_| !self.recorded.is_absent);
        match (self.unfetched(), branch) {
            (Some(fetch), _) => {
                format!("the recorded results are not in this clone, and there is no folder {own}: run {fetch}")
            }
            (None, Some(branch)) => format!(
                "there are no results: neither the folder {own} nor the branch `{}` exists, and there is no remote to fetch from",
                branch.branch()
            ),
            (None, None) => {
                format!("there is no folder {own}, so nothing has run yet: `kubebench run SPEC` makes the first result")
            }
        }
    }

    /// Reads the results that were asked for, or the project's, as far as there are any.
    pub fn read_if_any(&mut self, asked: Option<&NamedResults>) -> Result<()> {
        self.read_places(asked)?;
        self.question_unsigned();
        Ok(())
    }

    fn read_places(&mut self, asked: Option<&NamedResults>) -> Result<()> {
        if let Some(NamedResults::Folder(folder)) = asked {
            let place = ResultsPlace::named(&self.start, folder)?;
            // What is outside of the project is no part of a change.
            let place = match below_root(&self.root, &self.start.folder()?, folder) {
                Ok(below) => self.knowing(place, &below)?,
                Err(_) => place,
            };
            self.take(&place)?;
            self.folder = Some(self.start.path(folder));
            return Ok(());
        }
        let directory = self.directory.clone();
        let folder = self.root.join(&directory);
        let place = self.knowing(ResultsPlace::folder(folder.clone(), &directory), &directory)?;
        if folder.is_dir() {
            self.take(&place)?;
            self.folder = Some(folder);
        }
        self.look_for_branch(asked)?;
        let Some(branch) = self.recorded.branch.take() else { return Ok(()) };
        if branch.is_here() {
            let directory = self.directory.clone();
            let here: BTreeSet<String> = self.dataset.rows().iter().map(|row| row.digest.clone()).collect();
            let all = self.join(&ResultsPlace::branch(&branch, &directory))?;
            self.recorded.own = all.difference(&here).cloned().collect();
        }
        self.recorded.branch = Some(branch);
        if let (Some(NamedResults::Branch(name)), None) = (asked, self.recorded_on()) {
            let fetch = self.unfetched().map_or_else(String::new, |fetch| format!(": run {fetch}"));
            bail!("there is no branch `{name}` here{fetch}");
        }
        Ok(())
    }

    /// Fetches the branch of recorded results. That the remote has no such branch is known from then on.
    pub fn fetch(&mut self, asked: Option<&NamedResults>, tell: fn(&str)) -> Result<()> {
        if matches!(asked, Some(NamedResults::Folder(_))) {
            bail!("`--fetch` fetches the branch of recorded results, but `--results` names a folder");
        }
        self.look_for_branch(asked)?;
        // What is recorded in the checkout is there, and without a repository so is all that there is.
        let Some(branch) = &mut self.recorded.branch else { return Ok(()) };
        match branch.fetch(&self.root, "git".as_ref(), tell) {
            Ok(Fetched::There) => {}
            Ok(Fetched::Absent) => self.recorded.is_absent = true,
            Err(fault) if branch.is_here() => tell(&format!("note: {fault}; using the branch as last fetched")),
            Err(fault) => {
                let help = fault.help.as_ref().map_or_else(String::new, |help| format!("; {help}"));
                bail!("{fault}{help}");
            }
        }
        Ok(())
    }

    fn look_for_branch(&mut self, asked: Option<&NamedResults>) -> Result<()> {
        if self.recorded.branch.is_some() {
            return Ok(());
        }
        let remote = self.recording.as_ref().and_then(|results| results.remote.as_deref());
        let name = match asked {
            Some(NamedResults::Branch(name)) => Some(name.as_str()),
            _ => self.recording.as_ref().map(|results| results.branch.as_str()),
        };
        self.recorded.branch = match name {
            Some(name) => RecordedBranch::find(&self.root, remote, name)?,
            None => None,
        };
        Ok(())
    }

    /// Returns the branch of recorded results that was read.
    pub fn recorded_on(&self) -> Option<&RecordedBranch> {
        self.recorded.branch.as_ref().filter(|branch| branch.is_here())
    }

    /// Returns the command that brings the branch of recorded results, where it is not here and may be elsewhere.
    pub fn unfetched(&self) -> Option<String> {
        let is_unknown = |branch: &&RecordedBranch| !branch.is_here() && !self.recorded.is_absent;
        Some(format!("`{}`", self.recorded.branch.as_ref().filter(is_unknown)?.fetch_command()?))
    }

    /// Returns whether a person named the folder of results that was read.
    pub(super) fn is_folder_named(&self) -> bool {
        self.folder.as_ref().is_some_and(|folder| *folder != self.root.join(&self.directory))
    }

    /// Returns the places of the results that are in the folder.
    pub(super) fn in_folder(&self) -> BTreeSet<usize> {
        self.dataset.places(|row| !self.recorded.own.contains(&row.digest))
    }

    /// Returns the paths of the results that the branch alone has.
    pub(super) fn of_branch_alone(&self) -> BTreeSet<String> {
        let rows = self.dataset.rows().iter().filter(|row| self.recorded.own.contains(&row.digest));
        rows.map(|row| row.path.clone()).collect()
    }

    /// Reads whole results by their paths, and hands them to `each`.
    pub(super) fn whole(
        &self,
        paths: &BTreeSet<&String>,
        mut each: impl FnMut(&BenchmarkResult) -> Result<()> + Send,
    ) -> Result<()> {
        let of_branch = self.dataset.rows().iter().filter(|row| self.recorded.own.contains(&row.digest));
        let of_branch: BTreeSet<&String> = of_branch.map(|row| &row.path).collect();
        let folder = self.folder.clone().unwrap_or_default();
        let files: BTreeMap<&String, PathBuf> =
            paths.difference(&of_branch).map(|path| (*path, folder.join(path))).collect();
        let files: Vec<(&String, &PathBuf)> = files.iter().map(|(path, file)| (*path, file)).collect();
        in_order(&files, &mut each)?;
        let Some(branch) = self.recorded_on() else { return Ok(()) };
        for path in paths.intersection(&of_branch) {
            let bytes = branch.file(&format!("{}/{path}", self.directory), result::MAX_BYTES);
            // It was read before: whatever has become of it, it is not there any more.
            let bytes =
                bytes.ok().with_context(|| format!("{path} is no longer on the branch `{}`", branch.shown()))?;
            each(&result::as_written(&bytes).with_context(|| format!("{path} has changed since it was read"))?)?;
        }
        Ok(())
    }
}
