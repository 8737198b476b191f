//! Which session is evaluated where none is named: the newest one of what is checked out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::super::side::Behind;
use super::Candidate;
use crate::dataset::Session;

/// What is checked out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Head<'a> {
    /// Unknown.
    Unknown,
    /// A commit of the default branch.
    OnDefault(&'a CheckedOut),
    /// Another one: sessions of the default branch are not what it brings.
    Elsewhere(&'a CheckedOut),
}

/// Whose results are, by their places in the dataset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedOut {
    /// Those of the commits that only the checked-out branch has, each with how many of these commits come after its own.
    pub own: BTreeMap<usize, Behind>,
    /// Those of neither these commits nor the default branch.
    pub others: BTreeSet<usize>,
    /// What of the default branch the commits of candidates lack.
    pub lacking: BTreeMap<String, Lacks>,
}

/// What of the default branch a commit lacks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lacks {
    /// The commits with sessions that it neither reaches nor makes the change of.
    pub commits: BTreeSet<String>,
    /// Where it left the default branch last.
    pub forks: BTreeSet<String>,
}

/// Whose a session is, in the order in which they are evaluated: the first of these that has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Whose {
    CheckedOut,
    Default,
}

impl<'a> Head<'a> {
    /// Returns the place of the session that is evaluated among those at the places that are `wanted`: the newest one of the commits that
    /// only the checked-out branch has, by these commits and then by time; else the newest one of the default branch.
    pub fn newest(self, candidate: &Candidate, sessions: &[Session], wanted: impl Fn(&usize) -> bool) -> Option<usize> {
        let found =
            (0..sessions.len()).filter(wanted).filter_map(|at| Some((self.rank(candidate, sessions.get(at)?)?, at)));
        found.min_by_key(|((whose, behind), at)| (*whose, *behind, Reverse(*at))).map(|(_, at)| at)
    }

    /// Returns how many sessions that began after the evaluated one, at `at`, are of the same branch, and how many of others.
    pub(crate) fn later<'s>(
        self,
        candidate: &Candidate,
        sessions: &'s [Session],
        at: usize,
    ) -> (BTreeSet<&'s str>, BTreeSet<&'s str>) {
        let Some(own) = sessions.get(at) else { return Default::default() };
        let whose = |session: &Session| self.rank(candidate, session).map(|(whose, _)| whose);
        let began_later = || sessions.iter().filter(|session| session.begun() > own.begun());
        let same = began_later().filter(|session| whose(session) == whose(own));
        let others = began_later().filter(|session| self.is_of_another(session));
        (same.map(|session| session.id.as_str()).collect(), others.map(|session| session.id.as_str()).collect())
    }

    /// Returns whether a session is of the commits that only the checked-out branch has.
    pub(super) fn is_own(self, session: &Session) -> bool {
        self.checked_out().is_some_and(|known| session.rows.iter().any(|row| known.own.contains_key(row)))
    }

    /// Returns what of the default branch a commit lacks, where that is known.
    pub(super) fn lacks(self, commit: &str) -> Option<&'a Lacks> {
        self.checked_out()?.lacking.get(commit).filter(|lacks| !lacks.commits.is_empty())
    }

    fn checked_out(self) -> Option<&'a CheckedOut> {
        match self {
            Self::Unknown => None,
            Self::OnDefault(known) | Self::Elsewhere(known) => Some(known),
        }
    }

    fn is_of_another(self, session: &Session) -> bool {
        self.checked_out().is_some_and(|known| session.rows.iter().any(|row| known.others.contains(row)))
    }

    /// Returns whose a session is that may be evaluated, and how many commits of that branch come after its own, where that counts.
    fn rank(self, candidate: &Candidate, session: &Session) -> Option<(Whose, Option<Behind>)> {
        let is_among = match candidate {
            Candidate::Newest => true,
            Candidate::NewestOf(rows) => session.rows.iter().any(|row| rows.contains(row)),
            Candidate::Rows(_) => false,
        };
        let own = |known: &CheckedOut| session.rows.iter().filter_map(|row| known.own.get(row)).min().copied();
        match self.checked_out().and_then(own) {
            _ if !is_among => None,
            Some(behind) => Some((Whose::CheckedOut, Some(behind))),
            None => (!session.is_outdated && !self.is_of_another(session)).then_some((Whose::Default, None)),
        }
    }
}
