//! Sessions: the runs of one execution of a case.

use super::{Dataset, Row};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::moment;

/// The runs of one case in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub id: String,
    /// When its first run began.
    pub started_at: String,
    /// The places of its rows in the dataset, by time.
    pub rows: Vec<usize>,
    /// Whether its commit was merged without commits of the default branch that were measured before: it is of what that never was.
    pub is_outdated: bool,
}

impl Session {
    pub(super) fn new(dataset: &Dataset, id: &str, mut rows: Vec<usize>) -> Self {
        let begun = |at: &usize| dataset.rows().get(*at).map(|row| (moment(&row.started_at), &row.path));
        rows.sort_by_key(begun);
        let first = rows.first().and_then(|at| dataset.rows().get(*at)).expected("a session of rows of this dataset");
        Self { id: id.to_owned(), started_at: first.started_at.clone(), rows, is_outdated: false }
    }

    /// Returns what sessions are sorted by in the order of time; two of one moment by their ids, which say nothing.
    pub(crate) fn begun(&self) -> (&str, &str) {
        (moment(&self.started_at), &self.id)
    }

    /// Iterates over its rows, by time.
    pub(crate) fn rows<'a>(&'a self, dataset: &'a Dataset) -> impl Iterator<Item = &'a Row> {
        self.rows.iter().filter_map(|at| dataset.rows().get(*at))
    }

    /// Returns its first row.
    pub(crate) fn first<'a>(&'a self, dataset: &'a Dataset) -> Option<&'a Row> {
        self.rows(dataset).next()
    }
}
