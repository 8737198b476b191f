//! What metrics that an older version recorded are called now, so that recorded results keep counting.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::tool;

/// The last version of the extraction rules whose results have old names.
const LAST_OLD: u32 = 1;

/// A metric as an older version recorded it.
#[derive(Clone, Copy, Debug)]
pub struct Old<'a> {
    pub name: &'a str,
    /// What distinguished it from others of its name.
    pub labels: &'a BTreeMap<String, String>,
    /// The tool's report, where the result keeps it.
    pub document: Option<&'a Json>,
}

/// What became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Renamed {
    /// It has another name, or other labels.
    To { name: String, labels: BTreeMap<String, String> },
    /// It has labels that the result does not tell.
    Unknown {
        name: String,
        /// The labels that it has now.
        labels: &'static [&'static str],
    },
}

impl Old<'_> {
    /// Returns the same metric with one more label, where it has none of that name.
    pub(super) fn with(&self, label: &'static [&'static str; 1], value: Option<&str>) -> Option<Renamed> {
        let [key] = label;
        if self.labels.contains_key(*key) {
            return None;
        }
        Some(match value {
            Some(value) => {
                let mut labels = self.labels.clone();
                labels.insert((*key).to_owned(), value.to_owned());
                Renamed::To { name: self.name.to_owned(), labels }
            }
            None => Renamed::Unknown { name: self.name.to_owned(), labels: label },
        })
    }
}

/// Returns the current name of a metric that version `extraction` of the rules read from the tool `parser`; none if it is unchanged.
pub fn renamed(parser: &str, extraction: u32, old: &Old<'_>) -> Option<Renamed> {
    if extraction > LAST_OLD {
        return None;
    }
    tool(parser)?.renamed?(old)
}

/// Returns whether results of version `extraction` of the rules may have names of `parser` that are others now.
pub fn may_be_renamed(parser: &str, extraction: u32) -> bool {
    extraction <= LAST_OLD && tool(parser).is_some_and(|tool| tool.renamed.is_some())
}
