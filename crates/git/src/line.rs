//! The line of a branch: its commits one after another, as the first parents lead back from its newest one.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use git2::{Oid, Repository};

use super::lineage::{Commits, Reached};

/// How many commits of the line come after one, and of those that a merge brought how many come after it with that merge.
pub type Behind = (usize, usize);

impl Commits {
    /// Returns how far behind the end of the line each of `wanted` is, as far as they were reached: what a merge brought comes right before
    /// it, ancestors first. Nothing where a branch ends here and at its remote in two commits of which neither follows the other: there is
    /// no line then.
    pub fn behind<'n>(
        &self,
        reached: &Reached,
        wanted: impl Iterator<Item = &'n str>,
    ) -> Result<Option<BTreeMap<String, Behind>>> {
        let repository = self.repository();
        let Some(tip) = furthest(repository, &reached.tips)? else { return Ok(None) };
        let known = wanted.filter(|name| reached.commits.contains(*name));
        let mut open: BTreeSet<Oid> = known.filter_map(|name| Oid::from_str(name).ok()).collect();
        let mut behind = BTreeMap::new();
        let mut line = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next.filter(|_| !open.is_empty()) {
            if open.remove(&id) {
                behind.insert(id.to_string(), (line.len(), 0));
            }
            line.push(id);
            next = parents(repository, id)?.first().copied();
        }
        // What is left are commits that merges brought, each the oldest merge that leads to it.
        let mut known = if open.is_empty() { BTreeSet::new() } else { line.iter().copied().collect() };
        for (after, merge) in line.iter().enumerate().rev() {
            if open.is_empty() {
                break;
            }
            let brought = brought(repository, *merge, &mut known)?;
            for (number, id) in brought.iter().enumerate() {
                if open.remove(id) {
                    behind.insert(id.to_string(), (after, brought.len() - number));
                }
            }
        }
        Ok(Some(behind))
    }
}

/// Returns what a merge brought that is not `known`, ancestors first, and adds it to what is known.
fn brought(repository: &Repository, merge: Oid, known: &mut BTreeSet<Oid>) -> Result<Vec<Oid>> {
    let mut brought = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open: Vec<Oid> = parents(repository, merge)?.into_iter().skip(1).collect();
    while let Some(id) = open.last().copied() {
        if !known.contains(&id) && seen.insert(id) {
            let parents = parents(repository, id)?;
            open.extend(parents.into_iter().filter(|parent| !known.contains(parent)));
            continue;
        }
        open.pop();
        if known.insert(id) {
            brought.push(id);
        }
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
