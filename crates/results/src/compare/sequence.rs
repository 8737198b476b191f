//! The order of sessions: by the place of their commits on the line of a branch, where that is known of each session of the branch, else
//! by time.
//!
//! So a session of an old commit, as a bisection or a back-fill makes it, is where its commit is, and neither opens nor ends what later
//! commits did. This is the one place that decides it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::gate::{Candidate, Head};
use super::side::{Behind, Lineage, Place};
use crate::dataset::{Dataset, Partition, Session, partitions};

/// Groups the rows at `chosen` places, as [`partitions`] does, with the sessions of each partition in the order of `lineage`.
pub fn sequences(
    dataset: &Dataset,
    chosen: impl Iterator<Item = usize>,
    across: &BTreeSet<String>,
    lineage: Option<&Lineage>,
) -> Vec<Partition> {
    let mut all = partitions(dataset, chosen, across);
    // What a change brings says itself when it ran: it comes after all that was there before.
    if dataset.brought().next().is_some() {
        for partition in &mut all {
            partition.sessions.sort_by_key(|session| is_brought(dataset, session));
        }
    }
    if let Some(lineage) = lineage {
        for partition in &mut all {
            arrange(dataset, &mut partition.sessions, lineage);
        }
    }
    all
}

fn is_brought(dataset: &Dataset, session: &Session) -> bool {
    session.first(dataset).is_some_and(|row| dataset.is_brought(row))
}

/// Arranges sessions, which are in the order of time.
fn arrange(dataset: &Dataset, sessions: &mut Vec<Session>, lineage: &Lineage) {
    let places: Vec<Place> = sessions.iter().map(|session| place(dataset, session, lineage)).collect();
    if places.contains(&Place::Unknown) {
        return;
    }
    set_aside(dataset, sessions, &places, lineage);
    let mut line: Vec<(usize, Behind)> =
        places.iter().enumerate().filter_map(|(at, place)| Some((at, place.behind()?))).collect();
    if line.is_sorted_by_key(|(_, behind)| Reverse(*behind)) {
        return;
    }
    line.sort_by_key(|(_, behind)| Reverse(*behind));
    let mut ranks: Vec<Option<usize>> = vec![None; places.len()];
    for (rank, (at, _)) in line.iter().enumerate() {
        if let Some(own) = ranks.get_mut(*at) {
            *own = Some(rank + 1);
        }
    }
    // What is not of the branch comes after all of the branch that began before it.
    let mut furthest = 0;
    let mut keyed: Vec<((usize, bool), Session)> = Vec::with_capacity(ranks.len());
    for (rank, session) in ranks.into_iter().zip(std::mem::take(sessions)) {
        furthest = furthest.max(rank.unwrap_or_default());
        keyed.push(((rank.unwrap_or(furthest), rank.is_none()), session));
    }
    keyed.sort_by_key(|(key, _)| *key);
    sessions.extend(keyed.into_iter().map(|(_, session)| session));
}

/// Sets aside what was merged without commits of the line that were measured before: what these made slower or faster it does not show.
fn set_aside(dataset: &Dataset, sessions: &mut [Session], places: &[Place], lineage: &Lineage) {
    let reaches: Vec<Option<usize>> = sessions.iter().map(|session| reach(dataset, session, lineage)).collect();
    let after = |place: &Place| place.behind().map(|(after, _)| after);
    let on_line = places.iter().zip(&reaches).filter(|(_, reach)| reach.is_none());
    let measured: BTreeSet<usize> = on_line.filter_map(|(place, _)| after(place)).collect();
    for ((session, place), reach) in sessions.iter_mut().zip(places).zip(reaches) {
        let lacks = |(own, reach): (usize, usize)| measured.range(own + 1..reach.max(own + 1)).next().is_some();
        session.is_outdated = after(place).zip(reach).is_some_and(lacks);
    }
}

fn reach(dataset: &Dataset, session: &Session, lineage: &Lineage) -> Option<usize> {
    lineage.reach(dataset, session.first(dataset)?)
}

fn place(dataset: &Dataset, session: &Session, lineage: &Lineage) -> Place {
    session.first(dataset).map_or(Place::Aside, |row| lineage.place(dataset, row))
}

/// The evaluated sessions, where others began later.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutOfTime {
    /// Whether an evaluated session is followed by one of a later commit.
    pub is_followed: bool,
    /// How many sessions began after the evaluated one and are of earlier commits.
    pub set_back: usize,
    /// How many sessions began after the evaluated one and are of branches that are not checked out.
    pub of_others: usize,
}

impl OutOfTime {
    /// Looks at the sessions of these partitions that are evaluated where none are named.
    pub fn of<'p>(
        dataset: &Dataset,
        partitions: impl Iterator<Item = &'p Partition>,
        candidate: &Candidate,
        head: Head<'_>,
        lineage: Option<&Lineage>,
    ) -> Self {
        let mut found = Self::default();
        let (mut set_back, mut of_others): (BTreeSet<&str>, BTreeSet<&str>) = Default::default();
        for partition in partitions {
            let Some(at) = head.newest(candidate, &partition.sessions, |_| true) else { continue };
            let behind = |session: &Session| place(dataset, session, lineage?).behind();
            let own = partition.sessions.get(at).and_then(behind);
            let is_of_later = |session: &Session| behind(session).is_some_and(|behind| Some(behind) < own);
            found.is_followed |= partition.sessions.iter().skip(at + 1).any(is_of_later);
            let (later, others) = head.later(candidate, &partition.sessions, at);
            set_back.extend(later);
            of_others.extend(others);
        }
        Self { set_back: set_back.len(), of_others: of_others.len(), ..found }
    }

    /// Says which sessions are not evaluated although they began last.
    pub fn notes(self) -> Vec<String> {
        let said = |count: usize, one: &str, many: &str, why: &str| {
            let (sessions, are) =
                if count == 1 { ("1 session".to_owned(), one) } else { (format!("{count} sessions"), many) };
            (count > 0).then(|| format!("{sessions} that began after the evaluated ones {are}: {why}"))
        };
        let order = "sessions are ordered by commit; to evaluate others, pass a session or a commit to `--candidate`";
        let set_back = said(self.set_back, "is from an earlier commit", "are from earlier commits", order);
        let others = said(
            self.of_others,
            "is from another branch, a commit that is gone, or files that were not committed",
            "are from other branches, commits that are gone, or files that were not committed",
            "to evaluate them, pass a session or a commit to `--candidate`",
        );
        set_back.into_iter().chain(others).collect()
    }
}
