//! Sessions that have no value of a metric, after the last one that has: without them, a history would end before the runs do.

use std::collections::{BTreeMap, BTreeSet};

use super::model::{LeftOut, SeriesHistory};
use super::words::counted;
use crate::dataset::{Dataset, Partition, Row, Session};
use kubebench_format::result::v1::Status;
use kubebench_syntax::unit::moment;

/// What such sessions are, one a metric of a case on its hardware.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unvalued {
    /// How many sessions there are, and why, in words.
    pub notes: Vec<String>,
    /// Their result files.
    pub left_out: Vec<LeftOut>,
}

/// When a session began, and its id: what sessions are sorted by.
type Began<'a> = (&'a str, &'a str);

/// Returns the sessions of `partitions` after the last ones of `histories`, and of partitions in which nothing has a
/// value yet those after the last one of their cases elsewhere.
pub fn unvalued(dataset: &Dataset, partitions: &[Partition], histories: &[SeriesHistory]) -> Unvalued {
    let mut last: BTreeMap<_, BTreeMap<&str, Began<'_>>> = BTreeMap::new();
    let mut last_of_case: BTreeMap<(&str, &str), Began<'_>> = BTreeMap::new();
    for series in histories {
        let Some(newest) = series.sessions.last() else { continue };
        let began = (moment(&newest.started_at), newest.session.as_str());
        let place = (series.benchmark.as_str(), series.case.as_str());
        let of_metric = last.entry((place, facts(&series.environment))).or_default().entry(&series.metric);
        let known = of_metric.or_insert(began);
        *known = began.max(*known);
        let known = last_of_case.entry(place).or_insert(began);
        *known = began.max(*known);
    }
    let mut found = Unvalued::default();
    for partition in partitions {
        let place = (partition.benchmark.as_str(), partition.case.as_str());
        let facts = partition.facts.iter().map(|(fact, value)| (*fact, value.as_str())).collect();
        match last.get(&(place, facts)) {
            Some(metrics) => metrics.iter().for_each(|(metric, last)| {
                found.note(dataset, partition, Some(metric), Some(*last));
            }),
            None if !has_values(dataset, partition) => {
                found.note(dataset, partition, None, last_of_case.get(&place).copied());
            }
            None => {}
        }
    }
    let mut known = BTreeSet::new();
    found.left_out.retain(|file| known.insert(file.path.clone()));
    found
}

fn facts(environment: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    environment.iter().map(|(fact, value)| (fact.as_str(), value.as_str())).collect()
}

fn has_values(dataset: &Dataset, partition: &Partition) -> bool {
    let rows = partition.sessions.iter().flat_map(|session| session.rows(dataset));
    rows.filter(|row| row.counts()).any(|row| dataset.metrics(row).any(|(_, value)| value.is_some()))
}

impl Unvalued {
    /// Notes the sessions of a partition after `last` that lack a value of `metric`, or any. A run that succeeded and does not know the
    /// metric measures something else, or calls it otherwise.
    fn note(&mut self, dataset: &Dataset, partition: &Partition, metric: Option<&str>, last: Option<Began<'_>>) {
        let place = |(_, id): Began<'_>| partition.sessions.iter().position(|session| session.id == id);
        let newer: Vec<&Session> = match last.and_then(place) {
            Some(last) => partition.sessions.iter().skip(last + 1).collect(),
            None => partition.sessions.iter().filter(|session| Some(session.begun()) > last).collect(),
        };
        let lacks = |row: &Row, metric| {
            dataset.metrics(row).any(|(definition, value)| definition.name == metric && value.is_none())
        };
        let is_without = |row: &&Row| row.status != Status::Succeeded || metric.is_none_or(|metric| lacks(row, metric));
        let runs = |session: &Session| -> Vec<LeftOut> {
            session.rows(dataset).filter(|row| !row.warmup).filter(is_without).map(left_out).collect()
        };
        let sessions: Vec<Vec<LeftOut>> = newer.into_iter().map(runs).filter(|runs| !runs.is_empty()).collect();
        let files: Vec<LeftOut> = sessions.iter().flatten().cloned().collect();
        let Some(first) = files.first() else { return };
        let newer = if last.is_some() { "newer " } else { "" };
        let (have, case) = (if sessions.len() == 1 { "has" } else { "have" }, case_of(dataset, partition));
        let what = metric.map_or_else(String::new, |metric| format!("`{metric}` of "));
        self.notes.push(format!(
            "{what}{}{case}: {} {have} no value; in the first of {}, {}",
            partition.benchmark,
            counted(sessions.len(), &format!("{newer}session")),
            counted(files.len(), "run"),
            first.message
        ));
        self.left_out.extend(files);
    }
}

/// Returns the case as it is shown behind its benchmark.
fn case_of(dataset: &Dataset, partition: &Partition) -> String {
    let name = &dataset.subject(partition.newest(dataset)).case_name;
    if name.is_empty() { String::new() } else { format!(" [{name}]") }
}

/// Says why a run has no value.
fn left_out(row: &Row) -> LeftOut {
    let without = |message: &str| ("noValue".to_owned(), message.to_owned());
    let (code, message) = match (row.status, row.reasons.first()) {
        (Status::Succeeded, _) => without("it succeeded without a value of this metric"),
        (_, Some(reason)) => (reason.code.to_string(), reason.message.clone()),
        (_, None) => without("it did not succeed"),
    };
    LeftOut { path: row.path.clone(), code, message }
}
