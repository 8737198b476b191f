//! What is checked out, and which results are of it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Result;

use super::{Evaluation, ResultCommits};
use kubebench_git::Lacking;
use kubebench_results::compare::model::{Line, SessionValue};
use kubebench_results::compare::{Behind, Candidate, CheckedOut, Head, Lacks, Lineage, words};
use kubebench_results::dataset::{Dataset, Row};

/// What ran with files that were committed only later comes before all that is committed.
const BEFORE_ALL: Behind = (usize::MAX, usize::MAX);

/// What is checked out.
pub(super) enum Checkout {
    /// There is no repository, or nothing is checked out.
    Unknown,
    /// A commit of the default branch.
    OnDefault(CheckedOut),
    /// Another one.
    Elsewhere {
        /// Whose results are.
        results: CheckedOut,
        /// The branch, where one is checked out.
        name: Option<String>,
    },
}

/// Whose a result is.
enum Whose {
    /// That of the checked-out branch.
    Own(Behind),
    /// That of the default branch, as far as anybody knows.
    Default,
    /// That of neither.
    Other,
}

/// What determines whose a result is.
struct Commits<'a> {
    /// Those that only the checked-out branch has.
    own: Lineage,
    /// Where it left the default branch, or what is checked out of that.
    forks: BTreeSet<String>,
    default: &'a Lineage,
    is_on_default: bool,
    in_folder: BTreeSet<usize>,
}

impl Checkout {
    /// Looks at what is checked out. Its own commits are none of the default branch from then on, whatever they hold or change.
    pub(super) fn of(
        evaluation: &Evaluation,
        commits: Option<&ResultCommits>,
        default: Option<&mut Lineage>,
        named: Option<&Candidate>,
    ) -> Result<Self> {
        let (Some(commits), Some(default)) = (commits, default) else { return Ok(Self::Unknown) };
        let Some(head) = commits.head() else { return Ok(Self::Unknown) };
        let reached = commits.beyond(&head, &default.commits)?;
        default.set_apart(&reached.commits);
        let forks = reached.forks();
        let is_on_default = default.commits.contains(&head);
        let own = commits.known_beside(reached, default)?;
        let all = Commits { own, forks, default, is_on_default, in_folder: evaluation.in_folder() };
        let mut results = CheckedOut::default();
        for (at, row) in evaluation.dataset.rows().iter().enumerate() {
            match all.whose(&evaluation.dataset, at, row) {
                Whose::Own(behind) => drop(results.own.insert(at, behind)),
                Whose::Default => {}
                Whose::Other => drop(results.others.insert(at)),
            }
        }
        let candidates = match named {
            Some(Candidate::Rows(rows)) => rows.clone(),
            _ => results.own.keys().copied().collect(),
        };
        results.lacking = lacking(&evaluation.dataset, commits, default, &candidates)?;
        Ok(if is_on_default {
            Self::OnDefault(results)
        } else {
            Self::Elsewhere { results, name: commits.checked_out_branch() }
        })
    }

    /// Returns what a gate has to know of it.
    pub(super) fn head(&self) -> Head<'_> {
        match self {
            Self::Unknown => Head::Unknown,
            Self::OnDefault(results) => Head::OnDefault(results),
            Self::Elsewhere { results, .. } => Head::Elsewhere(results),
        }
    }

    /// Returns the sessions among which the newest is evaluated: all, or those of the folder, where a branch of recorded results is read too
    /// and the folder has sessions that gates are about; but all, where that branch alone has those of what is checked out.
    pub(super) fn newest(&mut self, evaluation: &Evaluation) -> Candidate {
        let dataset = &evaluation.dataset;
        let gated: BTreeSet<(&str, &str)> =
            evaluation.rules.iter().map(|(rule, _)| (rule.benchmark.as_str(), rule.target.as_str())).collect();
        let gated = dataset.places(|row| {
            let of = dataset.subject(row);
            gated.contains(&(of.benchmark.as_str(), of.target.as_str()))
        });
        let folder: BTreeSet<usize> = evaluation.in_folder().intersection(&gated).copied().collect();
        let is_read_apart = evaluation.recorded_on().is_some();
        let results = match self {
            Self::Unknown => None,
            Self::OnDefault(results) | Self::Elsewhere { results, .. } => Some(results),
        };
        if let Some(results) = results {
            let is_own = |at: &usize| results.own.contains_key(at);
            if is_read_apart && !folder.iter().any(is_own) && gated.iter().any(is_own) {
                return Candidate::Newest;
            }
            // Only the sessions that were brought here are to be evaluated.
            if (is_read_apart || evaluation.is_folder_named()) && folder.is_subset(&results.others) {
                results.others.retain(|at| !folder.contains(at));
            }
        }
        if is_read_apart && !folder.is_empty() { Candidate::NewestOf(folder) } else { Candidate::Newest }
    }

    /// Returns whether none of the evaluated sessions is of what is checked out, which is not the default branch.
    pub(super) fn is_unmeasured(&self, lines: &[Line], dataset: &Dataset) -> bool {
        let Self::Elsewhere { results, .. } = self else { return false };
        let own = sessions(results.own.keys(), dataset);
        let mut evaluated = evaluated(lines).peekable();
        let is_any = evaluated.peek().is_some() || !results.others.is_empty();
        is_any && !evaluated.any(|session| own.contains(session.session.as_str()))
    }

    /// Returns the branch and the commit of the evaluated sessions, where all are of one.
    pub(super) fn of_all(&self, lines: &[Line], dataset: &Dataset, default: Option<&str>) -> Option<String> {
        let (results, name) = match self {
            Self::Unknown => return None,
            Self::OnDefault(results) => (results, None),
            Self::Elsewhere { results, name } => (results, name.as_deref()),
        };
        let (own, others) = (sessions(results.own.keys(), dataset), sessions(results.others.iter(), dataset));
        let dirty = dataset.places(|row| dataset.origin(row).dirty == Some(true));
        let dirty = sessions(dirty.iter(), dataset);
        let branch = |of: &SessionValue| match of.session.as_str() {
            id if own.contains(id) => name,
            id if others.contains(id) => None,
            _ => default.map(words::branch),
        };
        let commit = |of: &'_ SessionValue| of.commit.clone().filter(|_| !dirty.contains(of.session.as_str()));
        let branches: BTreeSet<Option<&str>> = evaluated(lines).map(branch).collect();
        let commits: BTreeSet<Option<String>> = evaluated(lines).map(commit).collect();
        let branch = branches.first().copied().flatten().filter(|_| branches.len() == 1);
        let commit = commits.first().cloned().flatten().filter(|_| commits.len() == 1);
        match (branch, commit.as_deref().map(words::short)) {
            (Some(branch), Some(commit)) => Some(format!("{branch} ({commit})")),
            (Some(name), None) | (None, Some(name)) => Some(name.to_owned()),
            (None, None) => None,
        }
    }

    /// Returns whether results of several branches are there.
    pub(super) fn tells_apart(&self) -> bool {
        match self {
            Self::Unknown => false,
            Self::OnDefault(results) => !results.others.is_empty(),
            Self::Elsewhere { .. } => true,
        }
    }
}

impl Commits<'_> {
    fn whose(&self, dataset: &Dataset, at: usize, row: &Row) -> Whose {
        let origin = dataset.origin(row);
        let own = |commit: &str| Whose::Own(self.own.behind(commit).unwrap_or(BEFORE_ALL));
        let commit = origin.commit.as_deref();
        if dataset.is_brought(row) {
            return commit.map_or(Whose::Own(BEFORE_ALL), own);
        }
        // What was recorded with uncommitted files is of no branch; the user who measured it has it in the folder.
        let is_for_all = origin.dirty != Some(true) || self.in_folder.contains(&at);
        if let Some(commit) = commit.filter(|commit| is_for_all && self.own.commits.contains(*commit)) {
            return own(commit);
        }
        if let Some(commit) = commit.filter(|_| origin.dirty == Some(true)) {
            let is_made_here = is_for_all && self.forks.contains(commit);
            return match (is_made_here, self.is_on_default) {
                (true, true) => Whose::Default,
                (true, false) => Whose::Own(BEFORE_ALL),
                (false, _) => Whose::Other,
            };
        }
        let is_known =
            |commit: &&str| self.default.commits.contains(*commit) || self.default.equivalent(commit).is_some();
        if let Some(same) = commit.filter(|commit| !is_known(commit)).and_then(|commit| self.own.equivalent(commit)) {
            return own(same);
        }
        if self.default.has(dataset, row) {
            return Whose::Default;
        }
        match self.own.commit_of(dataset, row) {
            Some(commit) => own(commit),
            None if self.default.may_have(dataset, row) => Whose::Default,
            None => Whose::Other,
        }
    }
}

/// Returns what of the default branch the commits of candidates lack, of the commits there that have results.
fn lacking(
    dataset: &Dataset,
    commits: &ResultCommits,
    default: &Lineage,
    candidates: &BTreeSet<usize>,
) -> Result<BTreeMap<String, Lacks>> {
    let named = |at: &usize| dataset.rows().get(*at).and_then(|row| dataset.origin(row).commit.as_deref());
    let candidates: BTreeSet<&str> =
        candidates.iter().filter_map(named).filter(|commit| !default.commits.contains(*commit)).collect();
    if candidates.is_empty() {
        return Ok(BTreeMap::new());
    }
    let measured: BTreeSet<String> =
        dataset.rows().iter().filter_map(|row| default.commit_of(dataset, row)).map(str::to_owned).collect();
    let mut lacking = BTreeMap::new();
    for commit in candidates {
        let Lacking { commits, forks } = commits.lacking_of(commit, &default.commits, &measured)?;
        lacking.insert(commit.to_owned(), Lacks { commits, forks });
    }
    Ok(lacking)
}

fn evaluated(lines: &[Line]) -> impl Iterator<Item = &SessionValue> {
    lines.iter().flat_map(|line| &line.candidate.sessions)
}

fn sessions<'d>(places: impl Iterator<Item = &'d usize>, dataset: &'d Dataset) -> BTreeSet<&'d str> {
    places.filter_map(|at| dataset.rows().get(*at)).map(|row| row.session.as_str()).collect()
}
