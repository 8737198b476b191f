//! Shares of a whole, always written with their sign: `3%`, `2.5%`.

use std::fmt;

use super::{UnitError, quoted};

/// More than 0 % and at most 100 %, exact to a millionth of a percent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percentage {
    micropercent: u32,
}

const DECIMALS: usize = 6;
const ONE_PERCENT: u32 = 1_000_000;
const GRAMMAR: &str = "write a percentage above 0 % and up to 100 %, such as `3%` or `2.5%`";

impl Percentage {
    /// Reads a decimal number followed by `%`.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        Self::read(text).map_err(|error| if error.help.is_none() { error.help(advice(text)) } else { error })
    }

    /// Reads without guessing what a bad text was meant to be, so that guesses can be tried.
    fn read(text: &str) -> Result<Self, UnitError> {
        let Some(number) = text.strip_suffix('%') else {
            let error = if text.is_empty() {
                UnitError::new("a percentage is empty")
            } else {
                UnitError::new(format!("{} has no percent sign", quoted(text)))
            };
            return Err(error);
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
        let is_number = |digits: &str| !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number(whole) || !is_number(fraction) {
            let message = if number.starts_with('-') {
                format!("{} is negative", quoted(text))
            } else {
                format!("{} is not a number and a percent sign", quoted(text))
            };
            return Err(UnitError::new(message).at(0..number.len()));
        }
        let fraction = fraction.trim_end_matches('0');
        if fraction.len() > DECIMALS {
            let message = format!("{} has more than {DECIMALS} decimal places", quoted(text));
            return Err(UnitError::new(message).help("round it").at(whole.len() + 1..number.len()));
        }
        let whole = whole.trim_start_matches('0');
        let micropercent = format!("{whole}{fraction:0<DECIMALS$}").parse::<u32>().ok();
        match micropercent.filter(|value| whole.len() <= 3 && *value <= 100 * ONE_PERCENT) {
            Some(0) => Err(UnitError::new(format!("{} is not more than zero", quoted(text))).help(GRAMMAR)),
            Some(micropercent) => Ok(Self { micropercent }),
            None => Err(UnitError::new(format!("{} is more than `100%`", quoted(text))).help(GRAMMAR)),
        }
    }

    /// Returns the share as a fraction of 1: `3%` is 0.03.
    pub fn fraction(self) -> f64 {
        f64::from(self.micropercent) / f64::from(100 * ONE_PERCENT)
    }
}

impl fmt::Display for Percentage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decimals = format!("{:0DECIMALS$}", self.micropercent % ONE_PERCENT);
        match decimals.trim_end_matches('0') {
            "" => write!(f, "{}%", self.micropercent / ONE_PERCENT),
            decimals => write!(f, "{}.{decimals}%", self.micropercent / ONE_PERCENT),
        }
    }
}

/// Says what was probably meant: `3` and `3 %` are `3%`, and a bare number below one is a fraction of the whole.
fn advice(text: &str) -> String {
    let lowered = text.to_lowercase();
    let number =
        ["%", "percent", "pct"].iter().fold(lowered.trim(), |rest, sign| rest.trim_end_matches(sign).trim_end());
    let number = number.replace(',', ".");
    let number = number.strip_suffix('.').unwrap_or(&number);
    let whole = if number.starts_with('.') { format!("0{number}") } else { number.to_owned() };
    let is_bare = number.len() == text.len();
    let meant = if is_bare && whole.starts_with("0.") { shifted_by_hundred(&whole) } else { Some(whole) };
    match meant.and_then(|meant| Percentage::read(&format!("{meant}%")).ok()) {
        Some(meant) => format!("write `{meant}`"),
        None => GRAMMAR.to_owned(),
    }
}

/// Moves the decimal point two places to the right: `0.035` becomes `3.5`.
fn shifted_by_hundred(number: &str) -> Option<String> {
    let (whole, fraction) = number.split_once('.')?;
    let fraction = format!("{fraction:0<3}");
    Some(format!("{whole}{}.{}", fraction.get(..2)?, fraction.get(2..)?))
}

#[cfg(test)]
mod tests;
