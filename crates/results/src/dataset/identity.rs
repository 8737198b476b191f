//! Which rows represent their runs: a run counts once, and not at all where two files claim it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Dataset, Row};
use kubebench_syntax::unit::moment;

/// Why rows were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Several files say that they are the same attempt of the same run.
    Twins {
        /// Their paths, sorted.
        paths: Vec<String>,
    },
    /// The logs of a run were read again by several rules, and it is unknown which of them apply.
    Readings {
        /// Their paths, sorted.
        paths: Vec<String>,
    },
    /// It says that it is the run of a result that was there before the change that brings it.
    Claims {
        path: String,
        /// The path of the other one.
        of: String,
    },
    /// It ended before it began.
    Clock {
        path: String,
        /// What is wrong.
        what: String,
    },
}

impl Doubt {
    /// Returns the paths of the rows that were left out.
    pub fn paths(&self) -> &[String] {
        match self {
            Self::Twins { paths } | Self::Readings { paths } => paths,
            Self::Clock { path, .. } | Self::Claims { path, .. } => std::slice::from_ref(path),
        }
    }
}

/// The digests of the rules that specs have now, by benchmark and target.
pub type CurrentRules = BTreeMap<(String, String), String>;

/// Leaves out what does not represent its run: results that were read again from their logs later, and doubtful ones, which are
/// returned. `current` is asked only where a run was read again.
pub fn settle(dataset: &mut Dataset, current: &dyn Fn() -> CurrentRules) -> Vec<Doubt> {
    let mut doubts = set_apart(dataset);
    doubts.extend(dataset.rows().iter().filter_map(clock));
    let mut attempts: BTreeMap<(&str, u32), Vec<&Row>> = BTreeMap::new();
    for row in dataset.rows() {
        attempts.entry((&row.run, row.attempt)).or_default().push(row);
    }
    let mut out: BTreeSet<String> = doubts.iter().flat_map(Doubt::paths).cloned().collect();
    let mut known: Option<CurrentRules> = None;
    for rows in attempts.values().filter(|rows| rows.len() > 1) {
        let paths = || rows.iter().map(|row| row.path.clone()).collect::<Vec<_>>();
        let is_original = |row: &&&Row| dataset.origin(row).reparsed.is_none();
        if rows.iter().filter(is_original).count() > 1 {
            doubts.push(Doubt::Twins { paths: paths() });
            out.extend(paths());
        } else if let Some(best) = reading(dataset, rows, known.get_or_insert_with(current)) {
            out.extend(paths().into_iter().filter(|path| *path != best.path));
        } else {
            doubts.push(Doubt::Readings { paths: paths() });
            out.extend(paths());
        }
    }
    dataset.retain(|row| !out.contains(&row.path));
    doubts.sort_by(|one, other| one.paths().cmp(other.paths()));
    doubts
}

/// Keeps what a change brings apart from what was there before: it claims no run of that, and is in none of its sessions.
fn set_apart(dataset: &mut Dataset) -> Vec<Doubt> {
    if dataset.brought().next().is_none() {
        return Vec::new();
    }
    let before = || dataset.rows().iter().filter(|row| !dataset.is_brought(row));
    let runs: BTreeMap<&str, &str> = before().map(|row| (row.run.as_str(), row.path.as_str())).collect();
    let sessions: BTreeSet<String> = before().map(|row| row.session.clone()).collect();
    let (mut doubts, mut out) = (Vec::new(), BTreeSet::new());
    for row in dataset.rows().iter().filter(|row| dataset.is_brought(row)) {
        let Some(of) = runs.get(row.run.as_str()) else { continue };
        out.insert(row.path.clone());
        if dataset.origin(row).reparsed.is_none() {
            doubts.push(Doubt::Claims { path: row.path.clone(), of: (*of).to_owned() });
        }
    }
    dataset.retain(|row| !out.contains(&row.path));
    dataset.part_sessions(&sessions);
    doubts
}

/// Returns which reading of one run counts: by the rules that the spec has now where one is by these, and of these that of the newest
/// program; nothing where that is several. No result says when it was read, and rules have no order of their own.
fn reading<'r>(dataset: &Dataset, rows: &[&'r Row], current: &CurrentRules) -> Option<&'r Row> {
    let is_current = |row: &&&Row| {
        let subject = dataset.subject(row);
        let rules = current.get(&(subject.benchmark.clone(), subject.target.clone()));
        rules == Some(&dataset.origin(row).rules_digest)
    };
    let by_current: Vec<&'r Row> = rows.iter().filter(is_current).copied().collect();
    let among = if by_current.is_empty() { rows } else { &by_current };
    let rank = |row: &Row| (dataset.origin(row).reparsed.is_some(), numbers(&row.recorder));
    let best = among.iter().copied().max_by_key(|row| rank(row))?;
    (among.iter().filter(|row| rank(row) == rank(best)).count() == 1).then_some(best)
}

/// Returns the numbers of a version, so that 0.10 comes after 0.9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn clock(row: &Row) -> Option<Doubt> {
    let what = if moment(&row.finished_at) < moment(&row.started_at) {
        format!("it ended at {} and began at {}", row.finished_at, row.started_at)
    } else if row.seconds < 0.0 {
        format!("it took {} s", row.seconds)
    } else {
        return None;
    };
    Some(Doubt::Clock { path: row.path.clone(), what })
}
