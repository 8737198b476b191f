//! The commits with whose sessions others are compared.

use std::collections::BTreeMap;

use anyhow::{Result, anyhow, bail};

use kubebench_git::{Commits, Reached};
use kubebench_results::compare::{Against, Lineage, Rule, Side};

/// The commits whose sessions are the baseline where no other is asked for.
pub enum DefaultBaseline {
    /// Those of the default branch.
    Known {
        /// As `--baseline` names it: `branch:main`.
        name: String,
        /// Its commits.
        lineage: Lineage,
    },
    /// There is no repository, so that all sessions count.
    NoRepository,
    /// There is one, and which branch is its default is unknown.
    NoBranch,
}

impl DefaultBaseline {
    /// Finds the commits of the default branch.
    pub fn of(commits: Option<&Commits>) -> Result<Self> {
        let Some(commits) = commits else { return Ok(Self::NoRepository) };
        let Some(name) = commits.default_branch() else { return Ok(Self::NoBranch) };
        let side = Side::Branch(name);
        Ok(Self::Known { name: side.to_string(), lineage: lineage(commits, &side)? })
    }

    /// Returns the commits, where they are known.
    pub fn lineage(&self) -> Option<&Lineage> {
        match self {
            Self::Known { lineage, .. } => Some(lineage),
            Self::NoRepository | Self::NoBranch => None,
        }
    }
}

/// Returns commits that the repository reached as those by which results are told apart.
pub fn known(reached: Reached) -> Lineage {
    Lineage::new(reached.commits, reached.trees)
}

/// Returns the commits that a side names.
pub fn lineage(commits: &Commits, side: &Side) -> Result<Lineage> {
    match side {
        Side::Branch(name) => {
            let found = known(commits.of_branch(name)?);
            // Where the default branch is unknown, the named one takes its place.
            let is_default = commits.default_branch().is_none_or(|default| default == *name);
            Ok(if is_default { found.of_default() } else { found })
        }
        Side::Tag(name) => commits.of_tag(name).map(known),
        Side::Revision(name) => commits.of_revision(name).map(known),
        Side::Folder(_) | Side::Label(..) | Side::Variant(_) | Side::Environment(_) => {
            bail!("`{side}` names no commits")
        }
    }
}

/// Returns the commits that a baseline names, which stands in a gate or in `--baseline`.
pub fn lineage_of_baseline(commits: &Commits, name: &str) -> Result<Lineage> {
    match Side::parse(name, |_| false) {
        Ok(side @ (Side::Branch(_) | Side::Tag(_) | Side::Revision(_))) => lineage(commits, &side),
        _ => Err(anyhow!("`{name}` is no baseline: write branch:NAME, tag:NAME or a revision")),
    }
}

/// Adds the commits that gates name as their baselines to `lineages`.
pub fn add_baselines<'r>(
    lineages: &mut BTreeMap<String, Lineage>,
    rules: impl Iterator<Item = &'r Rule>,
    commits: Option<&Commits>,
) -> Result<()> {
    for rule in rules {
        if let (Against::Lineage(name), Some(commits)) = (&rule.against, commits)
            && !lineages.contains_key(name)
        {
            lineages.insert(name.clone(), lineage_of_baseline(commits, name)?);
        }
    }
    Ok(())
}
