//! What a commit holds and changes, by which it is found again where a squash or a rebase gave it another name.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use git2::{Commit, DiffOptions, Error, Oid, Repository, Tree};

use super::known_changes::{Change, KnownChanges};
use super::lineage::{Commits, Reached, ancestors_first};
use kubebench_format::result::v1::{CommitContent, Patch};
use kubebench_syntax::digest::Digest;

/// Of a longer branch only the change as a whole is kept.
const MOST_COMMITS: usize = 100;
/// How many digits distinguish lists of files.
const FILES_DIGITS: usize = 16;

/// The commits that results name, each with what it holds, where a result says that.
pub type Named = BTreeMap<String, Option<CommitContent>>;

/// A commit of a branch that holds or changes the same as one that results name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Same {
    pub commit: String,
    /// Where it only changes the same, at which commit the other one left the branch, if that is known.
    pub base: Option<String>,
}

/// Commits that results name and a branch does not reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elsewhere {
    /// The commit of the branch that holds or changes the same, by the one that results name.
    pub same: BTreeMap<String, Same>,
    /// Those that no branch and no tag here reaches.
    pub unreachable: BTreeSet<String>,
}

impl Commits {
    /// Returns what became of the commits in `named` that are not among those `reached`.
    pub fn elsewhere(&self, reached: &Reached, named: &Named) -> Result<Elsewhere> {
        let same = self.same(reached, named)?;
        let lost = named.keys().filter(|name| !reached.commits.contains(*name) && !same.contains_key(*name));
        let unreachable = unreachable(self.repository(), lost.cloned().collect())?;
        Ok(Elsewhere { same, unreachable })
    }

    /// Returns which of the commits that were `reached` holds the same files as one in `named` that was not, or makes the same change.
    pub fn same(&self, reached: &Reached, named: &Named) -> Result<BTreeMap<String, Same>> {
        let repository = self.repository();
        let comparison = self.comparison();
        let mut wanted: BTreeMap<&str, CommitContent> = BTreeMap::new();
        for (name, known) in named.iter().filter(|(name, _)| !reached.commits.contains(*name)) {
            // Of results that do not say it, as long as the commit is still here.
            let found = || {
                let commit = repository.find_commit(Oid::from_str(name).ok()?).ok()?;
                comparison.content(&commit, &reached.tips).ok()
            };
            let content = known.clone().or_else(found);
            wanted.insert(name, content.unwrap_or_default());
        }
        let mut same = BTreeMap::new();
        if wanted.is_empty() {
            return Ok(same);
        }
        let holding = reached.holding(repository, wanted.values().map(|content| content.tree.as_str()))?;
        let changed: Vec<&CommitContent> = wanted.values().filter(|content| content.patch.is_some()).collect();
        let changes = (!changed.is_empty()).then(|| Changes::of(&comparison, reached, &changed)).transpose()?;
        for (name, content) in &wanted {
            let making = || {
                let commit = changes.as_ref()?.making(content).filter(|commit| reached.commits.contains(commit))?;
                Some(Same { commit, base: content.base.clone() })
            };
            // A commit that reverts or lands again what was there before holds what an ancestor of it held, and is not that one.
            let held = || {
                let places = holding.get(content.tree.as_str())?;
                let left = left(repository, name, content, &reached.tips);
                let first = left.and_then(|left| reached.order.iter().position(|id| *id == left));
                let at = places.iter().find(|at| Some(**at) >= first)?;
                let found = *reached.order.get(*at)?;
                let is_before = first.is_none() && left.is_some_and(|left| leads(repository, found, left));
                (!is_before).then(|| Same { commit: found.to_string(), base: None })
            };
            // What is before the commits that were reached is not one of them either.
            let is_before = || {
                let own = Oid::from_str(name);
                own.is_ok_and(|own| reached.forks.iter().any(|fork| *fork == own || leads(repository, own, *fork)))
            };
            if let Some(found) = held().or_else(making).filter(|_| !is_before()) {
                same.insert((*name).to_owned(), found);
            }
        }
        Ok(same)
    }
}

/// Returns where the branch of a commit left those at `tips`: as a result says it, else as the repository does.
fn left(repository: &Repository, name: &str, content: &CommitContent, tips: &[Oid]) -> Option<Oid> {
    let said = content.base.as_deref().and_then(|base| Oid::from_str(base).ok());
    let found = || {
        let commit = repository.find_commit(Oid::from_str(name).ok()?).ok()?;
        tips.iter().find_map(|tip| repository.merge_base(*tip, commit.id()).ok())
    };
    said.or_else(found)
}

/// Returns whether one commit is an ancestor of another, as far as the repository has both.
fn leads(repository: &Repository, one: Oid, other: Oid) -> bool {
    repository.graph_descendant_of(other, one).unwrap_or(false)
}

/// The changes among those looked for that the commits of a branch make, since the first of the commits at which others left it.
struct Changes {
    /// The commits, ancestors first.
    commits: Vec<Oid>,
    /// Where a change is made, by its id.
    at: BTreeMap<String, Vec<usize>>,
}

impl Changes {
    fn of(comparison: &Comparison<'_>, reached: &Reached, wanted: &[&CommitContent]) -> Result<Self> {
        let repository = comparison.repository;
        let mut walk = ancestors_first(repository, &reached.tips).context("cannot walk the history")?;
        for fork in &reached.forks {
            walk.hide(*fork).context("cannot walk the history")?;
        }
        // After a forced push a base may be nowhere, and its change anywhere.
        let bases: BTreeSet<&str> = wanted.iter().map(|content| content.base.as_deref().unwrap_or_default()).collect();
        let bases: Option<Vec<Oid>> = bases.iter().map(|base| Oid::from_str(base).ok()).collect();
        if let Some(first) = bases.and_then(|bases| repository.merge_base_octopus(&bases).ok()) {
            walk.hide(first).context("cannot walk the history")?;
        }
        let all = wanted.iter().flat_map(|content| content.patch.iter().chain(&content.patches));
        let files: BTreeSet<&str> = all.map(|patch| patch.files.as_str()).collect();
        let mut changes = Self { commits: Vec::new(), at: BTreeMap::new() };
        let mut known = KnownChanges::of(repository, &comparison.results);
        for id in walk {
            let id = id.context("cannot walk the history")?;
            let commit = repository.find_commit(id).context("cannot read a commit")?;
            // A clone without the content of old files (`--filter=blob:none`) has unknown changes: what it may change is not found.
            let change = known.change(id, |own| files.contains(own), |wanted| comparison.own_change(&commit, wanted));
            if let Some(patch) = change {
                changes.at.entry(patch).or_default().push(changes.commits.len());
            }
            changes.commits.push(id);
        }
        known.keep();
        Ok(changes)
    }

    /// Returns the commit that makes the change of `content` as a whole, or the last of those that make it in parts.
    fn making(&self, content: &CommitContent) -> Option<String> {
        let base = content.base.as_deref().and_then(|base| Oid::from_str(base).ok());
        let first = base.and_then(|base| self.commits.iter().position(|id| *id == base)).map_or(0, |at| at + 1);
        let at = |patch: &Patch| self.at.get(&patch.id)?.iter().copied().find(|at| *at >= first);
        let whole = at(content.patch.as_ref()?);
        let parts: Option<Vec<usize>> = content.patches.iter().map(at).collect();
        let found = whole.or_else(|| parts?.into_iter().max())?;
        self.commits.get(found).map(Oid::to_string)
    }
}

/// Compares commits, leaving out recorded results: they come after what they measured.
pub(super) struct Comparison<'r> {
    repository: &'r Repository,
    /// The folder that is left out.
    pub(super) results: String,
    paths: [String; 2],
}

impl<'r> Comparison<'r> {
    /// Leaves out the folder `results` of the repository.
    pub(super) fn without(results: &str, repository: &'r Repository) -> Self {
        let mut escaped = String::new();
        for letter in results.chars() {
            escaped.extend(matches!(letter, '*' | '?' | '[' | '\\').then_some('\\'));
            escaped.push(letter);
        }
        Self { repository, results: results.to_owned(), paths: [format!("!{escaped}/*"), "*".to_owned()] }
    }

    /// Returns what `commit` holds, and what it changes since the commit at which its branch left those at `tips`.
    pub(super) fn content(&self, commit: &Commit<'_>, tips: &[Oid]) -> Result<CommitContent, Error> {
        let repository = self.repository;
        let mut content = CommitContent { tree: commit.tree_id().to_string(), ..CommitContent::default() };
        let base = tips.iter().find_map(|tip| repository.merge_base(*tip, commit.id()).ok());
        let Some(base) = base.filter(|base| *base != commit.id()) else { return Ok(content) };
        content.base = Some(base.to_string());
        content.patch =
            self.change(Some(&repository.find_commit(base)?.tree()?), &commit.tree()?, &|_| true)?.into_patch();
        let mut walk = ancestors_first(repository, &[commit.id()])?;
        for tip in tips {
            walk.hide(*tip)?;
        }
        let own: Vec<Oid> = walk.take(MOST_COMMITS + 1).collect::<Result<_, Error>>()?;
        if own.len() <= MOST_COMMITS {
            for id in own {
                let commit = repository.find_commit(id)?;
                // A merge brings what others changed.
                if commit.parent_count() < 2 {
                    content.patches.extend(self.own_patch(&commit)?);
                }
            }
        }
        Ok(content)
    }

    /// Returns what a commit changes since its first parent.
    fn own_patch(&self, commit: &Commit<'_>) -> Result<Option<Patch>, Error> {
        Ok(self.own_change(commit, &|_| true)?.into_patch())
    }

    /// The same, as far as it is in files that are `wanted`.
    pub(super) fn own_change(&self, commit: &Commit<'_>, wanted: &dyn Fn(&str) -> bool) -> Result<Change, Error> {
        let parent = commit.parents().next().map(|parent| parent.tree()).transpose()?;
        self.change(parent.as_ref(), &commit.tree()?, wanted)
    }

    /// Returns the change from one tree to another; its id where it is in files that are `wanted`.
    fn change(&self, from: Option<&Tree<'_>>, to: &Tree<'_>, wanted: &dyn Fn(&str) -> bool) -> Result<Change, Error> {
        let mut options = DiffOptions::new();
        for path in &self.paths {
            options.pathspec(path);
        }
        let diff = self.repository.diff_tree_to_tree(from, Some(to), Some(&mut options))?;
        let names = diff.deltas().filter_map(|delta| delta.new_file().path_bytes().map(String::from_utf8_lossy));
        let names: BTreeSet<_> = names.collect();
        if names.is_empty() {
            return Ok(Change::default());
        }
        let names = names.iter().map(|name| name.as_bytes());
        let files: String = Digest::of_fields(names).hex().chars().take(FILES_DIGITS).collect();
        let id = if wanted(&files) { Some(diff.patchid(None)?.to_string()) } else { None };
        Ok(Change { files: Some(files), id })
    }
}

/// Returns those of `commits` that no reference reaches.
fn unreachable(repository: &Repository, mut commits: BTreeSet<String>) -> Result<BTreeSet<String>> {
    if commits.is_empty() {
        return Ok(commits);
    }
    let mut walk = repository.revwalk().context("cannot walk the history")?;
    for glob in ["refs/heads/*", "refs/remotes/*", "refs/tags/*"] {
        walk.push_glob(glob).context("cannot walk the history")?;
    }
    if let Ok(head) = repository.head().and_then(|head| head.peel_to_commit()) {
        walk.push(head.id()).context("cannot walk the history")?;
    }
    for id in walk {
        commits.remove(&id.context("cannot walk the history")?.to_string());
        if commits.is_empty() {
            break;
        }
    }
    Ok(commits)
}
