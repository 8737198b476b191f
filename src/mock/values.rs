//! The file of values: what each metric is to be, by case where cases differ.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::noise::Noise;
use crate::model::Case;
use crate::unit::Percentage;

/// The values of a benchmark.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Values {
    /// The values of all cases, by metric.
    #[serde(default)]
    metrics: BTreeMap<String, Wish>,
    /// The values of single cases, by id or name, then by metric.
    #[serde(default)]
    cases: BTreeMap<String, BTreeMap<String, Wish>>,
}

/// What a metric is to be: a value, a value for each session, or a level with noise and changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Wish {
    Value(f64),
    Sessions(Vec<f64>),
    Level(Level),
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Level {
    value: f64,
    /// Standard deviation between sessions, as a share of the value.
    #[serde(default)]
    noise: Option<String>,
    /// The same between the runs of a session.
    #[serde(default)]
    run_noise: Option<String>,
    #[serde(default)]
    changes: Vec<Shift>,
}

/// From this session on, the level is another one.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Shift {
    /// The first session of the new level, from 1.
    session: u32,
    /// The change, such as `-8%`.
    by: String,
}

impl Values {
    /// Iterates over all wishes, with the case that they are for.
    pub(super) fn by_case(&self) -> impl Iterator<Item = (Option<&str>, &BTreeMap<String, Wish>)> {
        let of_cases = self.cases.iter().map(|(case, wishes)| (Some(case.as_str()), wishes));
        std::iter::once((None, &self.metrics)).chain(of_cases)
    }

    /// Returns what a metric is to be in a case.
    pub(super) fn of(&self, case: &Case, metric: &str) -> Option<&Wish> {
        let own = self.cases.iter().find(|(name, _)| case.is_called(name)).and_then(|(_, wishes)| wishes.get(metric));
        own.or_else(|| self.metrics.get(metric))
    }
}

impl Wish {
    /// Says what is wrong with it.
    pub(super) fn check(&self, sessions: u32) -> Result<(), String> {
        match self {
            Self::Sessions(values) if values.len() < sessions as usize => {
                Err(format!("{} values are too few for {sessions} sessions", values.len()))
            }
            Self::Value(_) | Self::Sessions(_) => Ok(()),
            Self::Level(level) => {
                let shares = [&level.noise, &level.run_noise].into_iter().flatten().map(String::as_str);
                shares
                    .chain(level.changes.iter().map(|shift| shift.by.as_str()))
                    .try_for_each(|text| share(text).map(drop))
            }
        }
    }

    /// Returns the value of a run.
    pub(super) fn value(&self, session: u32, repeat: u32, noise: &Noise) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Sessions(values) => values.get(session as usize).copied(),
            Self::Level(level) => {
                let of = |text: &Option<String>| text.as_deref().map_or(Ok(0.0), share).unwrap_or_default();
                let past = level.changes.iter().filter(|shift| shift.session <= session + 1);
                let shifted: f64 = past.map(|shift| 1.0 + share(&shift.by).unwrap_or_default()).product();
                let between = 1.0 + of(&level.noise) * noise.at(session, 0);
                let inside = 1.0 + of(&level.run_noise) * noise.at(session, repeat);
                Some(level.value * shifted * between * inside)
            }
        }
    }
}

/// Reads `8%`, `+8%` or `-8%`.
fn share(text: &str) -> Result<f64, String> {
    let (sign, size) = match text.strip_prefix('-') {
        Some(size) => (-1.0, size),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    if size == "0%" {
        return Ok(0.0);
    }
    Percentage::parse(size).map(|share| sign * share.fraction()).map_err(|error| error.to_string())
}
