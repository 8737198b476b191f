//! The sides of a comparison, as people name them.

use std::collections::{BTreeMap, BTreeSet};

use crate::dataset::{Dataset, Row};

/// What ran a result in a cluster, as its environment says it.
pub(super) const CLUSTER: &str = "kubernetes";

/// One side, as it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Results of this commit.
    Revision(String),
    /// Results of the commits that are reachable from this branch.
    Branch(String),
    /// Results of the commits that are reachable from this tag.
    Tag(String),
    /// Results of another folder.
    Folder(String),
    /// Results of benchmarks with this label.
    Label(String, String),
    /// Results of this variant.
    Variant(String),
    /// Results that ran there: a target, or `fact=value`.
    Environment(String),
}

impl Side {
    /// Reads `rev:`, `branch:`, `tag:`, `dir:`, `label:k=v`, `variant:`, `env:`; a bare word is a folder where `is_folder` says so,
    /// and else a revision.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str, is_folder: impl Fn(&str) -> bool) -> Result<Self, String> {
        let Some((kind, rest)) = text.split_once(':') else {
            let text = text.to_owned();
            return if is_folder(&text) { Ok(Self::Folder(text)) } else { Ok(Self::Revision(text)) };
        };
        let rest = rest.to_owned();
        if rest.is_empty() {
            return Err(format!("`{text}` names nothing after the colon"));
        }
        match kind {
            "rev" => Ok(Self::Revision(rest)),
            "branch" => Ok(Self::Branch(rest)),
            "tag" => Ok(Self::Tag(rest)),
            "dir" => Ok(Self::Folder(rest)),
            "label" => match rest.split_once('=') {
                Some((name, value)) => Ok(Self::Label(name.to_owned(), value.to_owned())),
                None => Err(format!("`{text}` has no value: write `label:NAME=VALUE`")),
            },
            "variant" => Ok(Self::Variant(rest)),
            "env" => Ok(Self::Environment(rest)),
            _ => Err(format!(
                "`{kind}:` is not a kind of side; write rev:, branch:, tag:, dir:, label:NAME=VALUE, variant: or env:, \
                 or a folder or revision without a prefix"
            )),
        }
    }

    /// Returns the fact that this side asks for, which may differ from the other side's.
    pub fn asked_fact(&self) -> Option<&str> {
        match self {
            Self::Environment(name) => Some(name.split_once('=').map_or("target", |(fact, _)| fact)),
            _ => None,
        }
    }

    /// Returns whether this side is a part of the history.
    pub(crate) fn is_of_commits(&self) -> bool {
        matches!(self, Self::Revision(_) | Self::Branch(_) | Self::Tag(_))
    }

    /// Returns whether cases of this side are run with those of the other in one session, and differ by what they are.
    pub(crate) fn is_of_cases(&self) -> bool {
        matches!(self, Self::Label(..) | Self::Variant(_) | Self::Environment(_))
    }
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Revision(name) => write!(f, "{name}"),
            Self::Branch(name) => write!(f, "branch:{name}"),
            Self::Tag(name) => write!(f, "tag:{name}"),
            Self::Folder(path) => write!(f, "dir:{path}"),
            Self::Label(name, value) => write!(f, "label:{name}={value}"),
            Self::Variant(name) => write!(f, "variant:{name}"),
            Self::Environment(name) => write!(f, "env:{name}"),
        }
    }
}

/// Commits, and what the generated trees of these commits ask the cluster to run: results of a cluster do not know their commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lineage {
    /// The commits by their full names.
    pub commits: BTreeSet<String>,
    /// The first of them whose tree holds a run digest: by target, benchmark and the first 8 digits.
    pub trees: BTreeMap<(String, String, String), String>,
    /// The one of them that holds or changes the same, by a commit that results name and that is none of them.
    same: BTreeMap<String, String>,
    /// Commits that results name and no branch has.
    unreachable: BTreeSet<String>,
    /// Commits of the branch that is checked out: whatever they hold or change, they are of none of these.
    apart: BTreeSet<String>,
    /// Whether results of an unknown commit count.
    takes_unknown: bool,
    /// Where its commits are in their order; nothing where they have none.
    behind: Option<BTreeMap<String, Behind>>,
    /// Of the commits that results name and that are not on the line themselves, how many of the line come after the newest one that they
    /// have.
    reaches: BTreeMap<String, usize>,
}

/// How many commits of the line of a branch come after one, and of those that a merge brought how many come after it with that merge.
pub type Behind = (usize, usize);

/// Where a session is among the commits of a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is of none of them.
    Aside,
    /// How many of them come after its own.
    Behind(Behind),
    /// It is of the branch, and its commit is unknown.
    Unknown,
}

impl Place {
    /// Returns how many commits come after its own, where it has one.
    pub(super) fn behind(self) -> Option<Behind> {
        match self {
            Self::Behind(behind) => Some(behind),
            Self::Aside | Self::Unknown => None,
        }
    }
}

impl Lineage {
    /// Returns the lineage of these commits and of what their trees ask to run.
    pub fn new(commits: BTreeSet<String>, trees: BTreeMap<(String, String, String), String>) -> Self {
        Self { commits, trees, ..Self::default() }
    }

    /// Returns the lineage that has all results that name no commit: that of the default branch where nothing distinguishes
    /// commits.
    #[must_use]
    pub fn of_all(self) -> Self {
        Self { takes_unknown: true, ..self }
    }

    /// Returns the lineage with the commits that hold or change the same as others, which a squash or a rebase left behind.
    #[must_use]
    pub fn with_same(self, same: BTreeMap<String, String>) -> Self {
        Self { same, ..self }
    }

    /// Returns the lineage that knows of commits which no branch has.
    #[must_use]
    pub fn without(self, unreachable: BTreeSet<String>) -> Self {
        Self { unreachable, ..self }
    }

    /// Returns the lineage with the order of its commits: how many come after one, and of those that a merge or a squash brought to the line
    /// how many of the line come after the newest one that they have.
    #[must_use]
    pub fn in_line(self, behind: BTreeMap<String, Behind>, reaches: BTreeMap<String, usize>) -> Self {
        Self { behind: Some(behind), reaches, ..self }
    }

    /// Adds the commits of another lineage, without their order.
    pub fn extend(&mut self, other: Self) {
        self.commits.extend(other.commits);
        self.trees.extend(other.trees);
        self.same.extend(other.same);
    }

    /// Takes the order of another lineage.
    pub fn ordered_as(&mut self, other: &Self) {
        self.behind.clone_from(&other.behind);
        self.reaches.clone_from(&other.reaches);
    }

    /// Takes out what other commits hold and change: those are of the branch that is checked out, which may land again what was reverted.
    pub fn set_apart(&mut self, commits: &BTreeSet<String>) {
        self.same.retain(|commit, _| !commits.contains(commit));
        self.apart.clone_from(commits);
    }

    /// Returns the commit of these that holds or changes the same as one that is none of them.
    pub fn equivalent(&self, commit: &str) -> Option<&str> {
        self.same.get(commit).map(String::as_str).filter(|own| *own != commit)
    }

    /// Returns whether a result may be of these commits: it names none, and no tree of theirs shows that it is of another branch.
    pub fn may_have(&self, dataset: &Dataset, row: &Row) -> bool {
        if dataset.is_brought(row) {
            return false;
        }
        let is_of_cluster = dataset.environment(row).cluster.engine == CLUSTER;
        dataset.origin(row).commit.is_none() && (!is_of_cluster || self.trees.is_empty())
    }

    /// Returns the lineage that also has the commits that no branch has.
    #[must_use]
    pub fn counting_unreachable(mut self) -> Self {
        let unreachable = std::mem::take(&mut self.unreachable);
        self.same.extend(unreachable.into_iter().map(|commit| (commit.clone(), commit)));
        self
    }

    /// Returns whether a result is of a commit that no branch has.
    pub fn is_unreachable(&self, dataset: &Dataset, row: &Row) -> bool {
        let commit = dataset.origin(row).commit.as_ref();
        let is_nowhere = commit.is_some_and(|commit| self.unreachable.contains(commit)) && !dataset.is_brought(row);
        is_nowhere && dataset.origin(row).dirty != Some(true) && self.commit_of(dataset, row).is_none()
    }

    /// Returns whether a result counts although it knows no commit.
    pub(crate) fn has_unknown(&self, dataset: &Dataset, row: &Row) -> bool {
        self.takes_unknown && !dataset.is_brought(row) && dataset.origin(row).commit.is_none()
    }

    /// Returns whether it is unknown if a result is of these commits.
    pub(crate) fn is_in_doubt(&self, dataset: &Dataset, row: &Row) -> bool {
        !row.synthetic
            && !dataset.is_brought(row)
            && !self.takes_unknown
            && self.trees.is_empty()
            && dataset.origin(row).commit.is_none()
    }

    /// Returns the commit of a result, if it is one of these: the one that it names, unless files differed from it then, the one that
    /// holds or changes the same, or the first whose tree holds its run digest. What a change brings is of none: it names what it likes.
    pub fn commit_of<'a>(&'a self, dataset: &'a Dataset, row: &Row) -> Option<&'a str> {
        self.named_by(dataset, row).or_else(|| self.asking_for(dataset, row))
    }

    /// Returns whether a result is of these commits.
    pub fn has(&self, dataset: &Dataset, row: &Row) -> bool {
        !dataset.is_brought(row)
            && (row.synthetic || self.has_unknown(dataset, row) || self.commit_of(dataset, row).is_some())
    }

    /// Returns where a result is among these commits. Of a run digest alone it is not known: a commit may bring one back.
    pub(super) fn place(&self, dataset: &Dataset, row: &Row) -> Place {
        let behind = || self.behind.as_ref()?.get(self.named_by(dataset, row)?).copied();
        match behind() {
            Some(behind) => Place::Behind(behind),
            None if self.has(dataset, row) => Place::Unknown,
            None => Place::Aside,
        }
    }

    /// Returns how many commits of the line come after the newest one that the commit of a result has; nothing of one on the line itself.
    pub(super) fn reach(&self, dataset: &Dataset, row: &Row) -> Option<usize> {
        dataset.origin(row).commit.as_ref().and_then(|commit| self.reaches.get(commit)).copied()
    }

    /// Returns how many of these commits come after one.
    pub fn behind(&self, commit: &str) -> Option<Behind> {
        self.behind.as_ref()?.get(self.same.get(commit).map_or(commit, String::as_str)).copied()
    }

    fn named_by<'a>(&'a self, dataset: &'a Dataset, row: &Row) -> Option<&'a str> {
        let origin = dataset.origin(row);
        let is_known = origin.dirty != Some(true) && !dataset.is_brought(row);
        let commit = origin.commit.as_ref().filter(|_| is_known)?;
        self.commits.get(commit).or_else(|| self.same.get(commit)).map(String::as_str)
    }

    fn asking_for(&self, dataset: &Dataset, row: &Row) -> Option<&str> {
        if dataset.is_brought(row) {
            return None;
        }
        let (origin, subject) = (dataset.origin(row), dataset.subject(row));
        // What ran in a cluster is what the tree says. On a machine, programs ran that the run digest does not cover.
        let is_of_cluster = dataset.environment(row).cluster.engine == CLUSTER;
        let is_elsewhere =
            |commit: &String| origin.dirty == Some(true) || !is_of_cluster || self.apart.contains(commit);
        if origin.commit.as_ref().is_some_and(is_elsewhere) {
            return None;
        }
        let digest = origin.run_digest.strip_prefix("sha256:").and_then(|hex| hex.get(..8))?;
        let key = (subject.target.clone(), subject.benchmark.clone(), digest.to_owned());
        self.trees.get(&key).map(String::as_str)
    }
}
