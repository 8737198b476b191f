//! Spans of time as people write them: `90s`, `2h`, `1h30m`.

use std::fmt;

use super::{UnitError, quoted};
use crate::invariant::Invariant as _;

/// A span of time of at least one second and at most ten years, in whole seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Duration(u64);

const LONGEST: u64 = 10 * 365 * 86_400;
const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];
const GRAMMAR: &str = "write whole numbers with the units `d`, `h`, `m`, `s`, such as `90s`, `2h` or `1h30m`";

impl Duration {
    /// Twenty-four hours.
    pub const DAY: Self = Self(24 * 60 * 60);

    /// Reads numbers with units, the largest unit first and each at most once.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() {
            return Err(UnitError::new("a duration is empty").help(GRAMMAR));
        }
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            let error = UnitError::new(format!("{} has no unit", quoted(text)));
            let seconds = format!("{text}s");
            return Err(match Self::parse(&seconds) {
                Ok(_) => error.help(format!("write `{seconds}`")),
                Err(other) if text.bytes().all(|byte| byte == b'0') => Self::explain_zero(text, other),
                Err(_) => error.help(GRAMMAR),
            });
        }
        let mut total: u64 = 0;
        let mut previous = u64::MAX;
        let mut start = 0;
        while let Some(rest) = text.get(start..).filter(|rest| !rest.is_empty()) {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (number, after) = rest.split_at(digits);
            let letters = after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len());
            let unit = after.get(..letters).expected("the letters that were counted");
            let end = start + digits + letters;
            let fault = |message: String, range| Err(UnitError::new(message).help(Self::advice(text)).at(range));
            if number.is_empty() {
                let message = if unit.starts_with('-') {
                    format!("{} is negative", quoted(text))
                } else {
                    format!("{} does not start with a number", quoted(text))
                };
                return fault(message, start..end);
            }
            if unit.is_empty() {
                return fault(format!("`{number}` in {} has no unit", quoted(text)), start..end);
            }
            let Some((_, seconds)) = UNITS.into_iter().find(|(name, _)| *name == unit) else {
                let message = match unit {
                    "ms" | "us" | "µs" | "ns" => {
                        format!("{} is finer than a second; durations are whole seconds", quoted(text))
                    }
                    _ if unit.contains(char::is_whitespace) => format!("{} has white space in it", quoted(text)),
                    _ if unit.starts_with('.') => {
                        format!("{} has a fraction; durations are whole numbers", quoted(text))
                    }
                    _ => format!("{} is not a unit of time", quoted(unit)),
                };
                return fault(message, start + digits..end);
            };
            if seconds >= previous {
                let message = format!("{} does not name its units from large to small, each once", quoted(text));
                return fault(message, start..end);
            }
            let sum = number.parse().ok().and_then(|count: u64| count.checked_mul(seconds)?.checked_add(total));
            total = match sum {
                Some(sum) if sum <= LONGEST => sum,
                _ => {
                    return Err(UnitError::new(format!("{} is longer than ten years", quoted(text)))
                        .help("write at most `3650d`"));
                }
            };
            previous = seconds;
            start = end;
        }
        if total == 0 {
            return Err(Self::explain_zero(text, UnitError::new("")));
        }
        Ok(Self(total))
    }

    /// Returns a duration of `seconds`, at least 1.
    pub fn from_seconds(seconds: u64) -> Self {
        Self(seconds.max(1))
    }

    /// Returns the whole seconds, at least 1.
    pub fn seconds(self) -> u64 {
        self.0
    }

    fn explain_zero(text: &str, error: UnitError) -> UnitError {
        UnitError { message: format!("{} is zero", quoted(text)), ..error }.help("write at least `1s`")
    }

    fn advice(text: &str) -> String {
        match guess(text) {
            Some(meant) => format!("write `{meant}`"),
            None => GRAMMAR.to_owned(),
        }
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.0;
        for (unit, seconds) in UNITS {
            if rest >= seconds {
                write!(f, "{}{unit}", rest / seconds)?;
                rest %= seconds;
            }
        }
        Ok(())
    }
}

/// Reads what people write elsewhere (`1.5h`, `5 min`, `500ms`, `2 Hours`), rounded up to seconds.
fn guess(text: &str) -> Option<Duration> {
    let compact: String = text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect();
    let mut rest = compact.as_str();
    let mut millis: u64 = 0;
    while !rest.is_empty() {
        let (number, after) = rest.split_at(rest.find(|c: char| !c.is_ascii_digit() && c != '.')?);
        let (unit, next) = after.split_at(after.find(|c: char| c.is_ascii_digit()).unwrap_or(after.len()));
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let thousandths: u64 = match fraction.len() {
            0 => 0,
            1..=3 => format!("{fraction:0<3}").parse().ok()?,
            _ => return None,
        };
        let count = whole.parse::<u64>().ok()?.checked_mul(1_000)?.checked_add(thousandths)?;
        let unit_millis: u64 = match unit {
            "ms" | "msec" | "millis" | "milliseconds" => 1,
            "s" | "sec" | "secs" | "second" | "seconds" => 1_000,
            "m" | "min" | "mins" | "minute" | "minutes" => 60_000,
            "h" | "hr" | "hrs" | "hour" | "hours" => 3_600_000,
            "d" | "day" | "days" => 86_400_000,
            "w" | "wk" | "week" | "weeks" => 604_800_000,
            _ => return None,
        };
        millis = millis.checked_add(count.checked_mul(unit_millis)?.div_ceil(1_000))?;
        rest = next;
    }
    let seconds = millis.div_ceil(1_000);
    (1..=LONGEST).contains(&seconds).then_some(Duration(seconds))
}

#[cfg(test)]
mod tests;
