//! The order of sessions: by the place of their commits on the line of a branch, where that is known of each session of the branch, else
//! by time.
//!
//! So a session of an old commit, as a bisection or a back-fill makes it, is where its commit is, and neither opens nor ends what later
//! commits did. This is the one place that decides it.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::gate::Candidate;
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
    if let Some(lineage) = lineage {
        for partition in &mut all {
            arrange(dataset, &mut partition.sessions, lineage);
        }
    }
    all
}

/// Arranges sessions, which are in the order of time.
fn arrange(dataset: &Dataset, sessions: &mut Vec<Session>, lineage: &Lineage) {
    let places: Vec<Place> = sessions.iter().map(|session| place(dataset, session, lineage)).collect();
    if places.contains(&Place::Unknown) {
        return;
    }
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

fn place(dataset: &Dataset, session: &Session, lineage: &Lineage) -> Place {
    session.first(dataset).map_or(Place::Aside, |row| lineage.place(dataset, row))
}

/// The newest sessions, where the order of commits is another one than that of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutOfTime {
    /// Whether an evaluated session is followed by one of a later commit.
    pub is_followed: bool,
    /// How many sessions began after the evaluated one and are of earlier commits.
    pub set_back: usize,
}

impl OutOfTime {
    /// Looks at the newest sessions of these partitions, among those that `candidate` says.
    pub fn of<'p>(
        dataset: &Dataset,
        partitions: impl Iterator<Item = &'p Partition>,
        candidate: &Candidate,
        lineage: Option<&Lineage>,
    ) -> Self {
        let is_among = |session: &&Session| match candidate {
            Candidate::Newest => true,
            Candidate::NewestOf(rows) => session.rows.iter().any(|row| rows.contains(row)),
            Candidate::Rows(_) => false,
        };
        let mut found = Self::default();
        let mut set_back: BTreeSet<&str> = BTreeSet::new();
        for partition in partitions {
            let Some(at) = partition.sessions.iter().rposition(|session| is_among(&session)) else { continue };
            let (earlier, later) = partition.sessions.split_at(at);
            let Some((own, later)) = later.split_first() else { continue };
            let behind = |session: &Session| place(dataset, session, lineage?).behind();
            let is_of_later = |session: &Session| behind(session) < behind(own) && behind(session).is_some();
            found.is_followed |= later.iter().any(is_of_later);
            let began_later = earlier.iter().filter(is_among).filter(|session| session.begun() > own.begun());
            set_back.extend(began_later.map(|session| session.id.as_str()));
        }
        Self { set_back: set_back.len(), ..found }
    }

    /// Says which sessions are not evaluated although they began last.
    pub fn note(self) -> Option<String> {
        let (sessions, are) = match self.set_back {
            0 => return None,
            1 => ("1 session".to_owned(), "is of an earlier commit"),
            count => (format!("{count} sessions"), "are of earlier commits"),
        };
        Some(format!(
            "{sessions} that began after the evaluated ones {are}: sessions are in the order of their commits, and `--candidate` with a \
             session or a commit evaluates others"
        ))
    }
}
