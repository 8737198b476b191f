//! How several values become one.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};

/// How several values are aggregated into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduce {
    First,
    Last,
    Min,
    Max,
    Mean,
    Median,
    Percentile(Percentile),
    Sum,
    /// All values, kept as samples.
    All,
}

/// A percentile above 0 and below 100, in thousandths of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentile(u32);

const WORDS: [(&str, Reduce, &str); 8] = [
    ("first", Reduce::First, "The first value."),
    ("last", Reduce::Last, "The last value."),
    ("min", Reduce::Min, "The minimum."),
    ("max", Reduce::Max, "The maximum."),
    ("mean", Reduce::Mean, "The arithmetic mean."),
    ("median", Reduce::Median, "The median."),
    ("sum", Reduce::Sum, "The sum."),
    ("all", Reduce::All, "All values, kept as samples."),
];
/// What editors propose.
const USUAL: [&str; 5] = ["p50", "p90", "p95", "p99", "p99.9"];
/// The spellings of percentiles, one for each.
const PERCENTILE: &str = r"^p(?:[1-9][0-9]?(?:\.[0-9]{0,2}[1-9])?|0\.[0-9]{0,2}[1-9])$";
/// How many thousandths are a whole.
const WHOLE: u32 = 100_000;

impl Percentile {
    /// Returns the share of the values that is not above it.
    pub fn share(self) -> f64 {
        f64::from(self.0) / f64::from(WHOLE)
    }

    /// Reads what follows the `p`.
    fn parse(text: &str) -> Option<Self> {
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit());
        let is_longer = (whole.starts_with('0') && whole != "0") || (text.contains('.') && rest.ends_with('0'));
        if !is_number(whole) || !is_number(rest) || whole.len() > 2 || rest.len() > 3 || is_longer {
            return None;
        }
        let thousandths = whole.parse::<u32>().ok()? * 1000 + format!("{rest:0<3}").parse::<u32>().ok()?;
        (thousandths > 0).then_some(Self(thousandths))
    }
}

impl FromStr for Reduce {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let word = WORDS.iter().find(|(word, ..)| *word == text).map(|(_, reduce, _)| *reduce);
        let percentile = || text.strip_prefix('p').and_then(Percentile::parse).map(Self::Percentile);
        word.or_else(percentile).ok_or_else(|| format!("`{text}` is no reduction"))
    }
}

impl fmt::Display for Reduce {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(_, reduce, _)| reduce == self).map(|(word, ..)| *word);
        match (self, word) {
            (Self::Percentile(Percentile(thousandths)), _) => {
                let number = format!("{}.{:03}", thousandths / 1000, thousandths % 1000);
                write!(formatter, "p{}", number.trim_end_matches('0').trim_end_matches('.'))
            }
            (_, word) => formatter.write_str(word.unwrap_or_default()),
        }
    }
}

impl<'de> Deserialize<'de> for Reduce {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Reduce {
    fn schema_name() -> Cow<'static, str> {
        "Reduce".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let (words, meanings): (Vec<_>, Vec<_>) = WORDS.iter().map(|(word, _, meaning)| (*word, *meaning)).unzip();
        json_schema!({"anyOf": [
            {"type": "string", "enum": words, "enumDescriptions": meanings},
            {"type": "string", "pattern": PERCENTILE, "title": "a percentile", "examples": USUAL},
        ]})
    }
}

#[cfg(test)]
mod tests;
