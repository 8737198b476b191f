//! The file of values: what each metric is to be, by case where cases differ.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserializer, Visitor};

use super::noise::Noise;
use kubebench_compiler::model::Case;
use kubebench_syntax::unit::Percentage;

/// The values of a benchmark.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "`metrics:` with a value for each metric")]
pub struct Values {
    /// The values of all cases, by metric.
    #[serde(default)]
    metrics: BTreeMap<String, Wish>,
    /// The values of single cases, by id or name, then by metric.
    #[serde(default)]
    cases: BTreeMap<String, BTreeMap<String, Wish>>,
}

/// What a metric is to be: a value, a value for each session, or a level with noise and changes.
#[derive(Clone, Debug)]
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
    noise: Share,
    /// The same between the runs of a session.
    #[serde(default)]
    run_noise: Share,
    #[serde(default)]
    changes: Vec<Shift>,
}

/// From this session on, the level is another one.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, expecting = "a change such as {session: 16, by: -9%}")]
struct Shift {
    /// The first session of the new level, from 1.
    session: u32,
    /// The change, such as `-8%`.
    by: Share,
}

/// A share such as `1%` or `-8%`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Share(f64);

impl Values {
    /// Iterates over all wishes, with their case.
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
                let outside = level.changes.iter().find(|shift| shift.session < 1 || shift.session > sessions);
                outside.map_or(Ok(()), |shift| {
                    Err(format!("there is no session {}, expected 1 to {sessions}", shift.session))
                })
            }
        }
    }

    /// Returns the value of a run.
    pub(super) fn value(&self, session: u32, repeat: u32, noise: &Noise) -> Option<f64> {
        match self {
            Self::Value(value) => Some(*value),
            Self::Sessions(values) => values.get(session as usize).copied(),
            Self::Level(level) => {
                let past = level.changes.iter().filter(|shift| shift.session <= session + 1);
                let shifted: f64 = past.map(|shift| 1.0 + shift.by.0).product();
                let between = 1.0 + level.noise.0 * noise.at(session, 0);
                let inside = 1.0 + level.run_noise.0 * noise.at(session, repeat);
                Some(level.value * shifted * between * inside)
            }
        }
    }
}

impl<'de> Deserialize<'de> for Wish {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfAnyForm;

        impl<'de> Visitor<'de> for OfAnyForm {
            type Value = Wish;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value, a list with a value for each session, or a level such as {value: 100, noise: 1%}")
            }

            fn visit_f64<E: de::Error>(self, value: f64) -> Result<Wish, E> {
                Ok(Wish::Value(value))
            }

            fn visit_u64<E: de::Error>(self, value: u64) -> Result<Wish, E> {
                Ok(Wish::Value(value as f64))
            }

            fn visit_i64<E: de::Error>(self, value: i64) -> Result<Wish, E> {
                Ok(Wish::Value(value as f64))
            }

            fn visit_seq<A: de::SeqAccess<'de>>(self, items: A) -> Result<Wish, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(items)).map(Wish::Sessions)
            }

            fn visit_map<A: de::MapAccess<'de>>(self, entries: A) -> Result<Wish, A::Error> {
                Level::deserialize(MapAccessDeserializer::new(entries)).map(Wish::Level)
            }
        }

        deserializer.deserialize_any(OfAnyForm)
    }
}

impl<'de> Deserialize<'de> for Share {
    /// Reads `8%`, `+8%` or `-8%`.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfPercent;

        impl Visitor<'_> for OfPercent {
            type Value = Share;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a share such as 1%")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Share, E> {
                let (sign, size) = match text.strip_prefix('-') {
                    Some(size) => (-1.0, size),
                    None => (1.0, text.strip_prefix('+').unwrap_or(text)),
                };
                if size == "0%" {
                    return Ok(Share(0.0));
                }
                Percentage::parse(size).map(|share| Share(sign * share.fraction())).map_err(E::custom)
            }
        }

        deserializer.deserialize_str(OfPercent)
    }
}
