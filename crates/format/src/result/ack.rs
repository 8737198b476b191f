//! Acknowledgements: regressions that people accepted, in files that were reviewed.

/// One acknowledgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Ack {
    /// Its file.
    pub file: String,
    /// The benchmark.
    pub benchmark: String,
    /// The case, by id or name; `*` matches any.
    pub case: String,
    /// The metric.
    pub metric: String,
    /// The target; any, where none is named.
    pub target: Option<String>,
    /// The first session of the level that is accepted: its id, its commit, or a time at or before its beginning.
    pub from: String,
    /// The greatest regression that is accepted, as a share.
    pub max_change: Option<f64>,
    /// Why.
    pub reason: String,
    /// Who accepted.
    pub by: String,
    /// The last day on which it holds, as year-month-day.
    pub expires: Option<String>,
}
