//! Where something begins, as people write it: a session, a commit or a time.

use std::fmt;

use jiff::Timestamp;

use super::{Day, UnitError, quoted};

/// A session, a commit, a day, or a time in UTC.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Beginning(String);

impl Beginning {
    /// Reads it; a time of any zone is turned to UTC, so that times compare by [`moment`].
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        const GRAMMAR: &str = "write a day such as `2027-03-31`, or a time such as `2027-03-31T08:00:00Z`";
        if text.trim().is_empty() {
            return Err(UnitError::new("it names neither a session, nor a commit, nor a time"));
        }
        if !is_time(text) || Day::parse(text).is_ok() {
            return Ok(Self(text.to_owned()));
        }
        let is_no_time = |_error| UnitError::new(format!("{} is not a time", quoted(text))).help(GRAMMAR);
        let time: Timestamp = text.parse().map_err(is_no_time)?;
        Ok(Self(in_utc(time)))
    }

    /// Returns the time this many seconds after 1970, if it is representable.
    pub fn at(seconds: i64) -> Option<Self> {
        Timestamp::from_second(seconds).ok().map(|time| Self(in_utc(time)))
    }
}

fn in_utc(time: Timestamp) -> String {
    let form = if time.subsec_nanosecond() == 0 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%.3fZ" };
    time.strftime(form).to_string()
}

/// Returns whether a text means a time rather than a session: it begins with a year and a month, and has no words.
pub fn is_time(text: &str) -> bool {
    let form = "0000-00";
    let fits = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    let is_of_time = |byte: u8| byte.is_ascii_digit() || b"-:.+ TtZz".contains(&byte);
    text.len() >= form.len() && text.bytes().zip(form.bytes()).all(fits) && text.bytes().all(is_of_time)
}

/// Returns what times in UTC are compared by, as texts: `2026-01-02`, `2026-01-02T03:04:05Z` and `2026-01-02T03:04:05.678Z` in this order.
pub fn moment(time: &str) -> &str {
    time.strip_suffix('Z').unwrap_or(time)
}

impl fmt::Display for Beginning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::{Beginning, moment};

    #[test]
    fn times_are_turned_to_utc() {
        for (text, read) in [
            ("session-001", "session-001"),
            ("8c36d19a2f", "8c36d19a2f"),
            ("2026-llm-021", "2026-llm-021"),
            ("2026-01-20-nightly", "2026-01-20-nightly"),
            ("2026-01-20", "2026-01-20"),
            ("2026-01-20T00:01:00Z", "2026-01-20T00:01:00Z"),
            ("2026-01-20T00:02:00+02:00", "2026-01-19T22:02:00Z"),
            ("2026-01-20 12:00:00.5Z", "2026-01-20T12:00:00.500Z"),
            ("2026-01-20T12:00:00.000Z", "2026-01-20T12:00:00Z"),
        ] {
            assert_eq!(Beginning::parse(text).unwrap().to_string(), read);
        }
        for wrong in ["", " ", "2026-01-2", "2026-01-20 12:00", "2026-01-20T00", "2026-13-01", "2026-01-20T25:00:00Z"] {
            assert!(Beginning::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_fraction_of_a_second_comes_after_the_second_alone() {
        let sorted = ["2026-01-02", "2026-01-02T03:04:05Z", "2026-01-02T03:04:05.001Z", "2026-01-02T03:04:06Z"];
        assert!(sorted.is_sorted_by(|one, other| moment(one) < moment(other)));
    }

    #[test]
    fn seconds_since_1970_are_times() {
        let at = |seconds: i64| Beginning::at(seconds).map(|time| time.to_string());
        assert_eq!(at(0).as_deref(), Some("1970-01-01T00:00:00Z"));
        assert_eq!(at(1_767_225_600).as_deref(), Some("2026-01-01T00:00:00Z"));
        assert_eq!(at(i64::MAX), None);
    }
}
