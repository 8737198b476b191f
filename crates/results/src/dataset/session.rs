//! Sessions: the runs of one execution of a case.

use super::{Dataset, Row};
use kubebench_syntax::invariant::Invariant as _;

/// The runs of one case in one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// When its first run began.
    pub started_at: String,
    /// The places of its rows in the dataset, by time.
    pub rows: Vec<usize>,
}

impl Session {
    pub(super) fn new(dataset: &Dataset, id: &str, mut rows: Vec<usize>) -> Self {
        let begun = |at: &usize| dataset.rows().get(*at).map(|row| (&row.started_at, &row.path));
        rows.sort_by_key(begun);
        let started_at =
            rows.first().and_then(begun).map(|(time, _)| time.clone()).expected("a session of rows of this dataset");
        Self { id: id.to_owned(), started_at, rows }
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
