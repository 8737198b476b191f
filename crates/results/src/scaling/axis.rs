//! The axis: a parameter of cases, or a fact of the hardware.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::cell::Cell;
use crate::compare::model::SeriesHistory;
use crate::dataset::{Dataset, FACTS};
use kubebench_format::result::{VARIANT, plain};

/// What changes from row to row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Axis {
    /// A parameter of cases, such as `replicas` or `variant`.
    Parameter(String),
    /// A fact of the hardware, such as `gpu`.
    Fact(&'static str),
}

impl Axis {
    /// Returns the axis of this name: a parameter where a case has one, else a fact; nothing where there is neither.
    pub fn find(name: &str, dataset: &Dataset, histories: &[SeriesHistory]) -> Option<Self> {
        let has_parameter = params(dataset, histories).any(|params| params.contains_key(name));
        if has_parameter {
            return Some(Self::Parameter(name.to_owned()));
        }
        FACTS.into_iter().find(|fact| *fact == name).map(Self::Fact)
    }

    /// Returns its name.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Parameter(name) => name,
            Self::Fact(fact) => fact,
        }
    }

    /// Returns whether its values may count something: those of facts and variants are names, whatever they look like.
    pub(super) fn may_count(&self) -> bool {
        matches!(self, Self::Parameter(name) if name != VARIANT)
    }

    /// Returns the value of a cell, if it has one.
    pub(super) fn value(&self, cell: &Cell<'_>) -> Option<Json> {
        match self {
            Self::Parameter(name) => cell.params.get(name).cloned(),
            Self::Fact(fact) => cell.history.environment.get(*fact).cloned().map(Json::String),
        }
    }

    /// Returns the facts that change with the axis, so that they do not keep its values apart.
    pub(super) fn implied(&self) -> &'static [&'static str] {
        match self {
            Self::Parameter(_) => &[],
            Self::Fact(fact) => match *fact {
                "target" => &FACTS,
                "gpu" => &["gpu", "driver", "instanceType", "cpu"],
                "cpu" => &["cpu", "instanceType"],
                "instanceType" => &["instanceType", "cpu", "gpu", "driver"],
                "driver" => &["driver"],
                _ => &["engine"],
            },
        }
    }
}

/// Returns the axes along which there is more than one value: of parameters, then of facts.
pub fn axes(dataset: &Dataset, histories: &[SeriesHistory]) -> Vec<String> {
    let mut values: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (name, value) in params(dataset, histories).flatten() {
        add(values.entry(name).or_default(), plain(value));
    }
    let mut facts: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (fact, value) in histories.iter().flat_map(|history| &history.environment) {
        add(facts.entry(fact).or_default(), value.clone());
    }
    let several = values.into_iter().chain(facts).filter(|(_, values)| values.len() > 1);
    several.map(|(name, _)| name.to_owned()).collect()
}

fn add(values: &mut Vec<String>, value: String) {
    if !values.contains(&value) {
        values.push(value);
    }
}

fn params<'a>(
    dataset: &'a Dataset,
    histories: &'a [SeriesHistory],
) -> impl Iterator<Item = &'a BTreeMap<String, Json>> {
    let known: BTreeMap<(&str, &str), &BTreeMap<String, Json>> = dataset
        .rows()
        .iter()
        .map(|row| dataset.subject(row))
        .map(|subject| ((subject.benchmark.as_str(), subject.case.as_str()), &subject.params))
        .collect();
    let mut seen: Vec<(&str, &str)> =
        histories.iter().map(|history| (history.benchmark.as_str(), history.case.as_str())).collect();
    seen.sort_unstable();
    seen.dedup();
    seen.into_iter().filter_map(move |case| known.get(&case).copied())
}
