//! Days of the calendar: `2027-03-31`.

use std::fmt;

use super::{UnitError, quoted};

/// A day that exists, from the year 1 to 9999.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(jiff::civil::Date);

impl Day {
    /// Reads year, month and day.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        const GRAMMAR: &str = "write year, month and day, such as `2027-03-31`";
        let form = "0000-00-00";
        let fits = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
        if text.len() != form.len() || !text.bytes().zip(form.bytes()).all(fits) {
            return Err(UnitError::new(format!("{} is not a day", quoted(text))).help(GRAMMAR));
        }
        let there_is_none = |_| UnitError::new(format!("there is no day {}", quoted(text))).help(GRAMMAR);
        let day: jiff::civil::Date = text.parse().map_err(there_is_none)?;
        if day.year() < 1 { Err(UnitError::new("the year 0 has no days").help(GRAMMAR)) } else { Ok(Self(day)) }
    }
}

impl Day {
    /// Returns the day this many days later, at most the last representable one.
    #[must_use]
    pub fn after(self, days: u32) -> Self {
        Self(self.0.saturating_add(jiff::Span::new().days(i64::from(days).min(3_000_000))))
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::Day;

    #[test]
    fn days_that_exist_are_read() {
        for day in ["2027-03-31", "2028-02-29", "0001-01-01", "9999-12-31"] {
            assert_eq!(Day::parse(day).unwrap().to_string(), day);
        }
        for wrong in [
            "",
            "2027-3-31",
            "2027-02-29",
            "2027-13-01",
            "0000-01-01",
            "2027-03-31T00:00:00Z",
            "31.03.2027",
            "２027-03-3",
        ] {
            assert!(Day::parse(wrong).is_err(), "{wrong}");
        }
    }
}
