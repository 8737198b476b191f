//! Which rows stand for their runs: a run counts once, and not at all where two files claim it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Archive, Row};

/// Why rows were left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// Several files say that they are the same attempt of the same run.
    Twins {
        /// Their paths, sorted.
        paths: Vec<String>,
    },
    /// It ended before it began.
    Clock {
        /// Its path.
        path: String,
        /// What is wrong.
        what: String,
    },
}

impl Doubt {
    /// Returns the paths of the rows that were left out.
    pub fn paths(&self) -> &[String] {
        match self {
            Self::Twins { paths } => paths,
            Self::Clock { path, .. } => std::slice::from_ref(path),
        }
    }
}

/// Leaves out what does not stand for its run: results that were read again from their logs later, and doubtful ones, which are
/// returned.
pub fn settle(archive: &mut Archive) -> Vec<Doubt> {
    let mut doubts: Vec<Doubt> = archive.rows().iter().filter_map(clock).collect();
    let mut attempts: BTreeMap<(&str, u32), Vec<&Row>> = BTreeMap::new();
    for row in archive.rows() {
        attempts.entry((&row.run, row.attempt)).or_default().push(row);
    }
    let mut out: BTreeSet<String> = doubts.iter().flat_map(Doubt::paths).cloned().collect();
    for rows in attempts.values().filter(|rows| rows.len() > 1) {
        let is_original = |row: &&&Row| archive.origin(row).reparsed.is_none();
        let originals = rows.iter().filter(is_original).count();
        if originals > 1 {
            doubts.push(Doubt::Twins { paths: rows.iter().map(|row| row.path.clone()).collect() });
            out.extend(rows.iter().map(|row| row.path.clone()));
            continue;
        }
        // Of what was read again, that of the newest program counts; its path decides between two of one program.
        let version = |row: &Row| (archive.origin(row).reparsed.is_some(), numbers(&row.recorder), row.path.clone());
        let best = rows.iter().max_by_key(|row| version(row)).map(|row| &row.path);
        out.extend(rows.iter().map(|row| &row.path).filter(|path| Some(*path) != best).cloned());
    }
    archive.retain(|row| !out.contains(&row.path));
    doubts.sort_by(|one, other| one.paths().cmp(other.paths()));
    doubts
}

/// Returns the numbers of a version, so that 0.10 comes after 0.9.
fn numbers(version: &str) -> Vec<u64> {
    version.split(|letter: char| !letter.is_ascii_digit()).filter_map(|number| number.parse().ok()).collect()
}

fn clock(row: &Row) -> Option<Doubt> {
    let what = if row.finished_at < row.started_at {
        format!("it ended at {} and began at {}", row.finished_at, row.started_at)
    } else if row.seconds < 0.0 {
        format!("it took {} s", row.seconds)
    } else {
        return None;
    };
    Some(Doubt::Clock { path: row.path.clone(), what })
}
