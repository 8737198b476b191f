//! What a commit has that a branch does not have, and what of the branch it lacks.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result};
use git2::{Oid, Repository};

use super::known_changes::KnownChanges;
use super::lineage::{Commits, Reached, ancestors_first};
use kubebench_format::result::v1::CommitContent;

/// What of a branch a commit lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacking {
    /// Those of the commits that were asked for which it neither reaches nor makes the change of.
    pub commits: BTreeSet<String>,
    /// Where it left the branch last.
    pub forks: BTreeSet<String>,
}

impl Commits {
    /// Returns what `tip` reaches without passing a commit of `branch`.
    pub fn beyond(&self, tip: &str, branch: &BTreeSet<String>) -> Result<Reached> {
        let repository = self.repository();
        let tip = Oid::from_str(tip).with_context(|| format!("`{tip}` is not a commit"))?;
        let (mut open, mut seen, mut forks) = (vec![tip], BTreeSet::new(), Vec::new());
        while let Some(id) = open.pop() {
            if !seen.insert(id) {
                continue;
            }
            if branch.contains(&id.to_string()) {
                forks.push(id);
            } else {
                open.extend(repository.find_commit(id).context("cannot read a commit")?.parent_ids());
            }
        }
        let mut walk = ancestors_first(repository, &[tip]).context("cannot walk the history")?;
        for fork in &forks {
            walk.hide(*fork).context("cannot walk the history")?;
        }
        let reached = Reached { forks: last_of(repository, &forks)?, ..self.described(&[tip], walk)? };
        self.refuse_cut_off(&reached)?;
        Ok(reached)
    }

    /// Returns the commits of `branch` among `wanted` that a commit lacks. For a commit that is not in the repository, the base
    /// in `content` says where it left the branch; without a base, it is not known to lack any.
    pub fn lacking(
        &self,
        commit: &str,
        content: Option<&CommitContent>,
        branch: &BTreeSet<String>,
        wanted: &BTreeSet<String>,
    ) -> Result<Lacking> {
        let repository = self.repository();
        let here = |name: &str| repository.find_commit(Oid::from_str(name).ok()?).ok();
        let known = here(commit);
        let base = content.and_then(|content| content.base.as_deref()).and_then(here);
        let Some(tip) = known.as_ref().or(base.as_ref()) else { return Ok(Lacking::default()) };
        let reached = self.beyond(&tip.id().to_string(), branch)?;
        let forks = reached.forks();
        let there = wanted.iter().filter(|name| branch.contains(*name));
        let ids: Vec<Oid> = there.filter_map(|name| Oid::from_str(name).ok()).collect();
        let mut walk = ancestors_first(repository, &ids).context("cannot walk the history")?;
        walk.hide(tip.id()).context("cannot walk the history")?;
        let mut commits = BTreeSet::new();
        for id in walk {
            let name = id.context("cannot walk the history")?.to_string();
            commits.extend(wanted.contains(&name).then_some(name));
        }
        if !commits.is_empty() {
            let computed = || self.comparison().content(known.as_ref()?, &reached.forks).ok();
            let content = content.cloned().or_else(computed).unwrap_or_default();
            let made = self.made_by(&content, &commits)?;
            commits.retain(|name| !made.contains(name));
        }
        Ok(Lacking { commits, forks })
    }

    /// Returns those of `commits` that hold what a commit holds, or change what one of its own changes.
    fn made_by(&self, content: &CommitContent, commits: &BTreeSet<String>) -> Result<BTreeSet<String>> {
        let (repository, comparison) = (self.repository(), self.comparison());
        let patches = || content.patch.iter().chain(&content.patches);
        let mut changes = KnownChanges::of(repository, &comparison.results);
        let mut made = BTreeSet::new();
        for name in commits {
            let id = Oid::from_str(name).context("cannot read a commit")?;
            let commit = repository.find_commit(id).context("cannot read a commit")?;
            let is_among = |files: &str| patches().any(|patch| patch.files == files);
            let change = changes.change(id, is_among, |wanted| comparison.own_change(&commit, wanted));
            let is_made = change.is_some_and(|change| patches().any(|patch| patch.id == change));
            if is_made || content.tree == commit.tree_id().to_string() {
                made.insert(name.clone());
            }
        }
        changes.keep();
        Ok(made)
    }
}

/// Returns those of `commits` to which no other of them leads.
fn last_of(repository: &Repository, commits: &[Oid]) -> Result<Vec<Oid>> {
    let mut last = Vec::new();
    for id in commits {
        let mut leads = false;
        for other in commits.iter().filter(|other| *other != id) {
            leads |= repository.graph_descendant_of(*other, *id).context("cannot walk the history")?;
        }
        if !leads {
            last.push(*id);
        }
    }
    Ok(last)
}
