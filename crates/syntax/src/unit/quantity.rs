//! Kubernetes quantities: `500m`, `32Gi`, `1e3`, kept exactly and written as the API server writes them.

use std::cmp::Ordering;
use std::fmt;

use super::{UnitError, quoted};
use crate::invariant::Invariant as _;

mod advice;

/// An amount of a resource: zero or more, at most 2^63-1, in whole billionths.
///
/// Stricter than the API server in three ways: it refuses what the server would silently change
/// (finer than a billionth: rounded up; more than 2^63-1: cut off), what has no digit (`Mi`), and negative amounts.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    nano: u128,
    style: Style,
}

/// How the author counted; the canonical form keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    Binary,
    Decimal,
    Exponent,
}

const NANO: u128 = 1_000_000_000;
const NANO_DIGITS: i32 = 9;
const LARGEST: u128 = i64::MAX as u128 * NANO;

const BINARY: [(&str, u32); 6] = [("Ki", 10), ("Mi", 20), ("Gi", 30), ("Ti", 40), ("Pi", 50), ("Ei", 60)];
const DECIMAL: [(&str, i32); 10] =
    [("n", -9), ("u", -6), ("m", -3), ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15), ("E", 18)];

impl Quantity {
    /// Returns `count` GiB.
    pub fn gibibytes(count: u16) -> Self {
        Self { nano: (u128::from(count) << 30) * NANO, style: Style::Binary }
    }

    /// Reads a number with an optional Kubernetes suffix or exponent.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        Self::read(text).map_err(|error| if error.help.is_none() { error.help(advice::for_text(text)) } else { error })
    }

    /// Reads without guessing what a bad text was meant to be, so that guesses can be tried.
    fn read(text: &str) -> Result<Self, UnitError> {
        if text.is_empty() {
            return Err(UnitError::new("a quantity is empty").help(advice::GRAMMAR));
        }
        if text.starts_with('-') {
            return Err(UnitError::new(format!("{} is negative", quoted(text)))
                .help("write an amount of zero or more")
                .at(0..1));
        }
        let unsigned = text.strip_prefix('+').unwrap_or(text);
        let sign = text.len() - unsigned.len();
        let number_end = unsigned.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(unsigned.len());
        let (number, suffix) = unsigned.split_at(number_end);
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if fraction.contains('.') || (whole.is_empty() && fraction.is_empty()) {
            if fraction.contains('.') && number.starts_with(|first: char| first.is_ascii_digit()) {
                let message = format!("{} has two decimal points", quoted(text));
                return Err(UnitError::new(message).at(sign..sign + number_end));
            }
            return Err(UnitError::new(format!("{} does not start with a number", quoted(text))).at(0..if number
                .is_empty()
            {
                text.len()
            } else {
                sign + number_end
            }));
        }
        let Some(suffix_value) = Suffix::read(suffix) else {
            let message = if suffix.contains(char::is_whitespace) {
                format!("{} has white space in it", quoted(text))
            } else {
                format!("{} is not a suffix of a quantity", quoted(suffix))
            };
            return Err(UnitError::new(message).at(sign + number_end..text.len()));
        };
        scaled(whole, fraction, suffix_value).map_err(|fault| fault.explain(text))
    }

    /// Returns the form that Kubernetes stores: the largest suffix that needs no fraction.
    pub fn canonical(&self) -> String {
        if self.nano == 0 {
            return "0".to_owned();
        }
        if self.style == Style::Binary && self.is_integer() && self.nano >= 1024 * NANO {
            let mut value = self.nano / NANO;
            let mut suffix = "";
            for (name, _) in BINARY {
                if !value.is_multiple_of(1024) {
                    break;
                }
                value /= 1024;
                suffix = name;
            }
            return format!("{value}{suffix}");
        }
        let mut value = self.nano;
        let mut exponent = -NANO_DIGITS;
        while value.is_multiple_of(1000) {
            value /= 1000;
            exponent += 3;
        }
        if self.style == Style::Exponent {
            return if exponent == 0 { value.to_string() } else { format!("{value}e{exponent}") };
        }
        let suffix = DECIMAL.iter().find(|(_, power)| *power == exponent).map_or("", |(name, _)| name);
        format!("{value}{suffix}")
    }

    /// Returns true when the amount has no fractional part, as devices must be counted.
    pub fn is_integer(&self) -> bool {
        self.nano.is_multiple_of(NANO)
    }

    /// Returns true when the amount is `unit` a whole number of times.
    pub fn is_multiple_of(&self, unit: &Self) -> bool {
        self.nano.is_multiple_of(unit.nano)
    }

    /// Returns the nearest floating-point number, for estimates only.
    pub fn as_f64(&self) -> f64 {
        format!("{}.{:09}", self.nano / NANO, self.nano % NANO).parse().expected("digits around a point")
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.canonical())
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.nano == other.nano
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        self.nano.cmp(&other.nano)
    }
}

/// A factor of 2^`twos` times 10^`tens`, and the style that it belongs to.
#[derive(Clone, Copy)]
struct Suffix {
    style: Style,
    twos: u32,
    tens: i32,
}

impl Suffix {
    fn read(text: &str) -> Option<Self> {
        if let Some((_, twos)) = BINARY.into_iter().find(|(name, _)| *name == text) {
            return Some(Self { style: Style::Binary, twos, tens: 0 });
        }
        if let Some((_, tens)) = DECIMAL.into_iter().find(|(name, _)| *name == text) {
            return Some(Self { style: Style::Decimal, twos: 0, tens });
        }
        let exponent = text.strip_prefix(['e', 'E'])?;
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let magnitude = digits.parse().unwrap_or(i32::MAX).min(1_000_000);
        let tens = if exponent.starts_with('-') { -magnitude } else { magnitude };
        Some(Self { style: Style::Exponent, twos: 0, tens })
    }
}

/// Why a well-formed quantity cannot be held.
enum Fault {
    TooLarge,
    TooFine,
}

impl Fault {
    fn explain(self, text: &str) -> UnitError {
        match self {
            Self::TooLarge => UnitError::new(format!("{} is more than a quantity can hold (2^63-1)", quoted(text)))
                .help("write at most `9223372036854775807`"),
            Self::TooFine => UnitError::new(format!("{} is finer than a billionth (`1n`)", quoted(text)))
                .help("round it: Kubernetes would silently round it up"),
        }
    }
}

/// Multiplies exactly: factors of the fraction's power of ten are cancelled before anything can overflow.
fn scaled(whole: &str, fraction: &str, suffix: Suffix) -> Result<Quantity, Fault> {
    let fraction = fraction.trim_end_matches('0');
    let digits = format!("{whole}{fraction}");
    let digits = digits.trim_start_matches('0');
    let Suffix { style, mut twos, tens } = suffix;
    if digits.is_empty() {
        return Ok(Quantity { nano: 0, style });
    }
    let significant = digits.trim_end_matches('0');
    let places = |count: usize| i32::try_from(count).unwrap_or(1_000_000);
    let mut power = places(digits.len() - significant.len()) - places(fraction.len()) + tens + NANO_DIGITS;
    let Ok(mut nano) = significant.parse::<u128>() else {
        return Err(if places(significant.len()) + power > 30 { Fault::TooLarge } else { Fault::TooFine });
    };
    while power < 0 {
        if nano.is_multiple_of(5) && twos > 0 {
            nano /= 5;
            twos -= 1;
        } else {
            return Err(Fault::TooFine);
        }
        power += 1;
    }
    let value = u32::try_from(power)
        .ok()
        .and_then(|power| 10_u128.checked_pow(power))
        .and_then(|factor| nano.checked_mul(factor))
        .and_then(|product| product.checked_mul(1 << twos));
    match value {
        Some(nano) if nano <= LARGEST => Ok(Quantity { nano, style }),
        _ => Err(Fault::TooLarge),
    }
}

#[cfg(test)]
mod tests;
