//! The line of a branch: its commits one after another, as the first parents lead back from its newest one.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result};
use git2::{Oid, Repository};

use super::lineage::{Commits, Reached};

impl Commits {
    /// Returns how many commits of the line come after each of `wanted`, as far as they were reached: a commit that a merge brought is
    /// where that merge is. Nothing where a branch ends here and at its remote in two commits of which neither follows the other: there is
    /// no line then.
    pub fn behind<'n>(
        &self,
        reached: &Reached,
        wanted: impl Iterator<Item = &'n str>,
    ) -> Result<Option<BTreeMap<String, usize>>> {
        let repository = self.repository();
        let Some(tip) = furthest(repository, &reached.tips)? else { return Ok(None) };
        let known = wanted.filter(|name| reached.commits.contains(*name));
        let mut open: BTreeSet<Oid> = known.filter_map(|name| Oid::from_str(name).ok()).collect();
        let mut behind = BTreeMap::new();
        let mut line = Vec::new();
        let mut next = Some(tip);
        while let Some(id) = next.filter(|_| !open.is_empty()) {
            if open.remove(&id) {
                behind.insert(id.to_string(), line.len());
            }
            line.push(id);
            next = parents(repository, id)?.first().copied();
        }
        // What is left are commits that merges brought, each where the oldest of these is.
        let mut seen: BTreeSet<Oid> = BTreeSet::new();
        if !open.is_empty() {
            seen.extend(&line);
        }
        for (after, merge) in line.iter().enumerate().rev() {
            if open.is_empty() {
                break;
            }
            let mut brought: Vec<Oid> = parents(repository, *merge)?.into_iter().skip(1).collect();
            while let Some(id) = brought.pop() {
                if seen.insert(id) {
                    if open.remove(&id) {
                        behind.insert(id.to_string(), after);
                    }
                    brought.extend(parents(repository, id)?);
                }
            }
        }
        Ok(Some(behind))
    }
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
