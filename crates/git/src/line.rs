//! The line of a branch: its commits one after another, as the first parents lead back from its newest one.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use git2::{Oid, Repository};

use super::lineage::{Commits, Reached};

/// How many commits of the line come after one, and of those that a merge brought how many come after it with that merge.
pub type Behind = (usize, usize);

/// Where commits are on the line of a branch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OnLine {
    /// How far behind its end.
    pub behind: BTreeMap<String, Behind>,
    /// Of those that a merge brought, how many commits of the line come after the newest one that they have.
    pub reaches: BTreeMap<String, usize>,
}

impl OnLine {
    /// Returns how many commits of the line come after the newest one that a commit has.
    pub fn reach(&self, commit: &str) -> Option<usize> {
        let own = || self.behind.get(commit).map(|(after, _)| *after);
        self.reaches.get(commit).copied().or_else(own)
    }
}

impl Commits {
    /// Returns where on the line each of `wanted` is, as far as they were reached: what a merge brought comes right before it, ancestors
    /// first. Nothing where a branch ends here and at its remote in two commits of which neither follows the other: there is no line then.
    pub fn on_line<'n>(&self, reached: &Reached, wanted: impl Iterator<Item = &'n str>) -> Result<Option<OnLine>> {
        let repository = self.repository();
        let Some(tip) = furthest(repository, &reached.tips)? else { return Ok(None) };
        let known = wanted.filter(|name| reached.commits.contains(*name));
        let mut open: BTreeSet<Oid> = known.filter_map(|name| Oid::from_str(name).ok()).collect();
        let mut found = OnLine::default();
        let mut line = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next.filter(|_| !open.is_empty()) {
            if open.remove(&id) {
                found.behind.insert(id.to_string(), (line.len(), 0));
            }
            line.push(id);
            next = parents(repository, id)?.first().copied();
        }
        // What is left are commits that merges brought, each the oldest merge that leads to it.
        let is_found = open.is_empty();
        let mut reaches: BTreeMap<Oid, usize> =
            line.iter().enumerate().filter(|_| !is_found).map(|(after, id)| (*id, after)).collect();
        for (after, merge) in line.iter().enumerate().rev() {
            if open.is_empty() {
                break;
            }
            let brought = brought(repository, *merge, line.len(), &mut reaches)?;
            for (number, id) in brought.iter().enumerate() {
                if open.remove(id) {
                    found.behind.insert(id.to_string(), (after, brought.len() - number));
                    found.reaches.extend(reaches.get(id).map(|reach| (id.to_string(), *reach)));
                }
            }
        }
        Ok(Some(found))
    }
}

/// Returns what a merge brought of which no reach is known, ancestors first, and adds it: how many commits of a line, which is `length`
/// long, come after the newest one that a commit has.
fn brought(repository: &Repository, merge: Oid, length: usize, reaches: &mut BTreeMap<Oid, usize>) -> Result<Vec<Oid>> {
    let mut brought = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<Oid> = parents(repository, merge)?.into_iter().skip(1).collect();
    while let Some(id) = open.last().copied() {
        if reaches.contains_key(&id) {
            open.pop();
            continue;
        }
        let parents = parents(repository, id)?;
        if seen.insert(id) {
            open.extend(parents.into_iter().filter(|parent| !reaches.contains_key(parent)));
            continue;
        }
        open.pop();
        let reach = parents.iter().filter_map(|parent| reaches.get(parent)).min();
        reaches.insert(id, reach.copied().unwrap_or(length));
        brought.push(id);
    }
    Ok(brought)
}

fn parents(repository: &Repository, id: Oid) -> Result<Vec<Oid>> {
    Ok(repository.find_commit(id).context("cannot read a commit")?.parent_ids().collect())
}

/// Returns the commit among `tips` that all others of them lead to.
fn furthest(repository: &Repository, tips: &[Oid]) -> Result<Option<Oid>> {
    for tip in tips {
        let mut is_last = true;
        for other in tips.iter().filter(|other| *other != tip) {
            is_last &= repository.graph_descendant_of(*tip, *other).context("cannot walk the history")?;
        }
        if is_last {
            return Ok(Some(*tip));
        }
    }
    Ok(None)
}
