//! Names of time zones, checked against the database that is compiled in.

use std::fmt;

use jiff::tz::TimeZoneDatabase;

use super::{UnitError, quoted};

/// The name of a time zone of the IANA database, in its exact spelling.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeZone(String);

const EXAMPLES: &str = "write an IANA name, such as `Etc/UTC` or `Europe/Berlin`";

impl TimeZone {
    /// Reads a zone name. Letter case counts, because the scheduler in the cluster looks the name up as a file.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() {
            return Err(UnitError::new("a time zone is empty").help(EXAMPLES));
        }
        let zone = TimeZoneDatabase::bundled().get(text).ok();
        match zone.as_ref().and_then(jiff::tz::TimeZone::iana_name) {
            Some(name) if name == text => Ok(Self(text.to_owned())),
            Some(name) => Err(UnitError::new(format!("{} is not how this time zone is spelled", quoted(text)))
                .help(format!("write `{name}`"))),
            None => Err(UnitError::new(format!("{} is not a time zone", quoted(text))).help(EXAMPLES)),
        }
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

#[cfg(test)]
mod tests;
