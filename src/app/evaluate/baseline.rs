//! The commits with whose sessions others are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Deref;

use anyhow::{Result, anyhow, bail};

use kubebench_git::{Commits, Elsewhere, Lacking, Named, OnLine, Reached, Same};
use kubebench_results::compare::{Against, Lineage, Rule, Side};
use kubebench_results::dataset::Dataset;

/// What works in a clone of another branch alone too, to which git does not say which branch is the default one.
pub(super) const UNKNOWN_BRANCH: &str = "the default branch is unknown: this clone has neither `main` nor `master`. \
     `git fetch origin NAME:refs/remotes/origin/NAME` fetches it, and `git remote set-head origin NAME` makes it the \
     default";

/// The commits whose sessions are the baseline where no other is asked for.
pub enum DefaultBaseline {
    /// Those of the default branch.
    Known {
        /// As `--baseline` names it: `branch:main`.
        name: String,
        /// Its commits.
        lineage: Box<Lineage>,
    },
    /// There is no repository, so that all sessions count.
    NoRepository,
    /// There is one, and which branch is its default is unknown.
    NoBranch,
}

impl DefaultBaseline {
    /// Finds the commits of the default branch.
    pub fn of(commits: Option<&ResultCommits>) -> Result<Self> {
        let Some(commits) = commits else { return Ok(Self::NoRepository) };
        let Some(name) = commits.default_branch() else { return Ok(Self::NoBranch) };
        let side = Side::Branch(name);
        Ok(Self::Known { name: side.to_string(), lineage: Box::new(commits.lineage(&side)?) })
    }

    /// Says that the commits of the default branch are unknown where there is a repository, and what brings or names that branch.
    pub fn note(&self) -> Option<String> {
        let is_unknown = matches!(self, Self::NoBranch);
        is_unknown
            .then(|| format!("{UNKNOWN_BRANCH}; until then, all sessions count as sessions of the default branch"))
    }

    /// Returns the commits for changes to them, where they are known.
    pub fn lineage_mut(&mut self) -> Option<&mut Lineage> {
        match self {
            Self::Known { lineage, .. } => Some(lineage),
            Self::NoRepository | Self::NoBranch => None,
        }
    }

    /// Returns the commits, where they are known.
    pub fn lineage(&self) -> Option<&Lineage> {
        match self {
            Self::Known { lineage, .. } => Some(lineage),
            Self::NoRepository | Self::NoBranch => None,
        }
    }
}

/// The commits of a repository, and those that the results of a project name.
pub struct ResultCommits {
    commits: Commits,
    named: Named,
    unreachable: Unreachable,
    /// The names that targets have now by those that they had.
    former_targets: BTreeMap<String, String>,
}

/// What sessions are of whose commits no branch has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unreachable {
    /// Of no branch.
    Apart,
    /// Of every branch.
    Counted,
}

impl Unreachable {
    /// Returns what a person asked for.
    pub fn of(count: bool) -> Self {
        if count { Self::Counted } else { Self::Apart }
    }
}

impl ResultCommits {
    /// Takes the commits that these results name.
    pub fn new(
        commits: Commits,
        dataset: &Dataset,
        unreachable: Unreachable,
        former_targets: BTreeMap<String, String>,
    ) -> Self {
        let mut named = Named::new();
        for origin in dataset.rows().iter().map(|row| dataset.origin(row)) {
            let Some(commit) = &origin.commit else { continue };
            // Of one commit an older result may not say what it holds, and a newer one does.
            if !matches!(named.get(commit), Some(Some(_))) {
                named.insert(commit.clone(), origin.content.clone());
            }
        }
        Self { commits, named, unreachable, former_targets }
    }

    /// Returns commits that were reached as those by which results are known.
    pub fn known(&self, reached: Reached) -> Result<Lineage> {
        let Elsewhere { same, unreachable } = self.elsewhere(&reached, &self.named)?;
        let lineage = self.in_line(reached, same, &self.named)?.without(unreachable);
        Ok(match self.unreachable {
            Unreachable::Apart => lineage,
            Unreachable::Counted => lineage.counting_unreachable(),
        })
    }

    /// Returns commits that were reached in addition to those of another lineage, which keeps what it has.
    pub fn known_beside(&self, reached: Reached, other: &Lineage) -> Result<Lineage> {
        let is_of_other = |commit: &str| other.commits.contains(commit) || other.equivalent(commit).is_some();
        let named: Named = self.named.clone().into_iter().filter(|(commit, _)| !is_of_other(commit)).collect();
        let same = self.same(&reached, &named)?;
        self.in_line(reached, same, &named)
    }

    /// Returns commits that were reached, those that hold or change the same, and where the ones that are `named` are on the line.
    fn in_line(&self, reached: Reached, same: BTreeMap<String, Same>, named: &Named) -> Result<Lineage> {
        let others = same.values().flat_map(|same| [Some(&same.commit), same.base.as_ref()]).flatten();
        let line = self.on_line(&reached, named.keys().chain(others).map(String::as_str))?;
        let reach = |name: &String, same: &Same| Some((name.clone(), line.as_ref()?.reach(same.base.as_ref()?)?));
        let of_same: Vec<(String, usize)> = same.iter().filter_map(|(name, same)| reach(name, same)).collect();
        let same = same.into_iter().map(|(name, same)| (name, same.commit)).collect();
        let now = |target: String| self.former_targets.get(&target).cloned().unwrap_or(target);
        let trees = reached.trees.into_iter();
        let trees = trees.map(|((target, benchmark, digest), commit)| ((now(target), benchmark, digest), commit));
        let lineage = Lineage::new(reached.commits, trees.collect()).with_same(same);
        Ok(match line {
            None => lineage,
            Some(OnLine { behind, mut reaches }) => {
                reaches.extend(of_same);
                lineage.in_line(behind, reaches)
            }
        })
    }

    /// Returns the commits of a branch among those that have results which a commit that results name lacks.
    pub fn lacking_of(&self, commit: &str, branch: &BTreeSet<String>, measured: &BTreeSet<String>) -> Result<Lacking> {
        let content = self.named.get(commit).and_then(Option::as_ref);
        self.lacking(commit, content, branch, measured)
    }

    /// Returns the commits that a side names.
    pub fn lineage(&self, side: &Side) -> Result<Lineage> {
        match side {
            Side::Branch(name) => {
                let found = self.known(self.of_branch(name)?)?;
                // Where the default branch is unknown, the named one takes its place.
                let is_default = self.default_branch().is_none_or(|default| default == *name);
                // Where others name their commits, a result that does not may be of any branch.
                let tells_nothing = found.trees.is_empty() && self.named.is_empty();
                Ok(if is_default && tells_nothing { found.of_all() } else { found })
            }
            Side::Tag(name) => self.known(self.of_tag(name)?),
            Side::Revision(name) => self.known(self.of_revision(name)?),
            Side::Folder(_) | Side::Label(..) | Side::Variant(_) | Side::Environment(_) => {
                bail!("`{side}` names no commits")
            }
        }
    }

    /// Returns the commits that a baseline names, which is given in a gate or in `--baseline`.
    pub fn lineage_of_baseline(&self, name: &str) -> Result<Lineage> {
        match Side::parse(name, |_| false) {
            Ok(side @ (Side::Branch(_) | Side::Tag(_) | Side::Revision(_))) => self.lineage(&side),
            _ => Err(anyhow!("`{name}` is not a baseline: write branch:NAME, tag:NAME or a revision")),
        }
    }
}

impl Deref for ResultCommits {
    type Target = Commits;

    fn deref(&self) -> &Commits {
        &self.commits
    }
}

/// Adds the commits that gates name as their baselines to `lineages`.
pub fn add_baselines<'r>(
    lineages: &mut BTreeMap<String, Lineage>,
    rules: impl Iterator<Item = &'r Rule>,
    commits: Option<&ResultCommits>,
) -> Result<()> {
    for rule in rules {
        if let (Against::Lineage(name), Some(commits)) = (&rule.against, commits)
            && !lineages.contains_key(name)
        {
            lineages.insert(name.clone(), commits.lineage_of_baseline(name)?);
        }
    }
    Ok(())
}
