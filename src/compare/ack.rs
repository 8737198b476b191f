//! Acknowledgements: changes for the worse that people accepted, in files that were reviewed.

use crate::archive::{Archive, MetricKey, Partition};
use crate::verdict::Mark;

/// One acknowledgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Ack {
    /// Its file.
    pub file: String,
    /// The benchmark.
    pub benchmark: String,
    /// The case, by id or name; `*` stands for anything.
    pub case: String,
    /// The metric.
    pub metric: String,
    /// The target; any, where none is named.
    pub target: Option<String>,
    /// The first session of the level that is accepted: its id, its commit, or a time at or before its beginning.
    pub from: String,
    /// The greatest change for the worse that is accepted, as a share.
    pub max_change: Option<f64>,
    /// Why.
    pub reason: String,
    /// Who accepted.
    pub by: String,
    /// The last day on which it holds.
    pub expires: Option<String>,
}

impl Ack {
    /// Returns whether it is about this series.
    pub fn is_about(&self, archive: &Archive, partition: &Partition, metric: &MetricKey) -> bool {
        let name = partition.newest(archive).map(|row| archive.subject(row).case_name.as_str()).unwrap_or_default();
        self.benchmark == partition.benchmark
            && self.metric == metric.name
            && (matches(&self.case, &partition.case) || matches(&self.case, name))
            && self.target.as_ref().is_none_or(|target| partition.facts.get("target").is_none_or(|own| own == target))
    }

    /// Returns whether it still holds on a day.
    pub fn holds(&self, day: &str) -> bool {
        self.expires.as_deref().is_none_or(|last| day.get(..10).unwrap_or(day) <= last)
    }

    /// Returns where its level begins among sessions, given the id, time and commit of each.
    pub fn mark<'a>(&self, sessions: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>)>) -> Option<Mark> {
        const SHORTEST_COMMIT: usize = 7;
        let is_time = self.from.get(4..5) == Some("-") && self.from.starts_with(|first: char| first.is_ascii_digit());
        let is_from = |(id, started_at, commit): (&str, &str, Option<&str>)| {
            id == self.from
                || is_time && started_at >= self.from.as_str()
                || self.from.len() >= SHORTEST_COMMIT && commit.is_some_and(|commit| commit.starts_with(&self.from))
        };
        let at = sessions.into_iter().position(is_from)?;
        Some(Mark { at, at_most: self.max_change })
    }
}

/// Returns whether `text` is what `pattern` says, where `*` stands for anything.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(text) = text.strip_prefix(before) else { return false };
    let mut ends = text.char_indices().map(|(at, _)| at).chain([text.len()]);
    ends.any(|at| text.get(at..).is_some_and(|tail| matches(rest, tail)))
}
