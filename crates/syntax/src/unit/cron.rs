//! Cron lines as Argo's `CronWorkflow` reads them (the standard parser of robfig/cron v3).

use std::fmt;
use std::ops::Range;

use super::{Duration, UnitError, quoted};

mod clock;
mod field;

use clock::is_star;
pub use clock::{ClockChanges, LocalTime, Start};
use field::{Field, values};

/// A schedule: five fields, or a descriptor such as `@daily` or `@every 2h`.
///
/// Stricter than Argo where its reader accepts a line that does not do what it says:
/// empty list items, ranges that begin with `*`, steps longer than their range, days that no month has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cron(String);

const DESCRIPTORS: [&str; 7] = ["@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"];
const GRAMMAR: &str = "write minute, hour, day of month, month and day of week, such as `0 3 * * MON`, or `@daily`";

impl Cron {
    /// Reads a cron line; runs of spaces between fields count as one.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        if text.starts_with("TZ=") || text.starts_with("CRON_TZ=") {
            let end = text.find(' ').unwrap_or(text.len());
            return Err(UnitError::new(format!("{} names a time zone inside the cron line", quoted(text)))
                .help("write the zone in `timezone`, next to `cron`")
                .at(0..end));
        }
        if text.trim_start().starts_with('@') {
            return descriptor(text.trim_matches(' ')).map(Self);
        }
        let parts = split(text);
        let [minute, hour, day, month, weekday] = parts.as_slice() else {
            return Err(miscounted(text, &parts));
        };
        values(minute, &Field::MINUTE)?;
        values(hour, &Field::HOUR)?;
        let days = values(day, &Field::DAY)?;
        let months = values(month, &Field::MONTH)?;
        values(weekday, &Field::WEEKDAY)?;
        // Where both name days, either is enough.
        if is_star(weekday) && !has_a_date(days, months) {
            let message = format!("day `{}` does not occur in month `{}`", day.text, month.text);
            return Err(UnitError::new(message)
                .help("February has 29 days at most; April, June, September and November have 30")
                .at(day.range.start..month.range.end));
        }
        Ok(Self(parts.iter().map(|part| part.text).collect::<Vec<_>>().join(" ")))
    }

    /// Returns the line with single spaces between its fields.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A part of the line and its place.
#[derive(Clone, Debug)]
struct Part<'a> {
    text: &'a str,
    range: Range<usize>,
}

impl Part<'_> {
    fn split(&self, separator: char) -> Vec<Self> {
        let mut start = self.range.start;
        let pieces = self.text.split(separator).map(|text| {
            let range = start..start + text.len();
            start = range.end + separator.len_utf8();
            Self { text, range }
        });
        pieces.collect()
    }
}

fn split(text: &str) -> Vec<Part<'_>> {
    let line = Part { text, range: 0..text.len() };
    line.split(' ').into_iter().filter(|part| !part.text.is_empty()).collect()
}

fn miscounted(text: &str, parts: &[Part<'_>]) -> UnitError {
    let error = match parts.len() {
        0 => UnitError::new("a cron line is empty"),
        1 => UnitError::new(format!("{} is not a cron line", quoted(text))),
        count => UnitError::new(format!("{} has {count} fields; a cron line has 5", quoted(text))),
    };
    match parts {
        [_, rest @ ..] if rest.len() == 5 => {
            let shorter = rest.iter().map(|part| part.text).collect::<Vec<_>>().join(" ");
            match Cron::parse(&shorter) {
                Ok(_) => error.help(format!("write `{shorter}`: there is no field for seconds")),
                Err(_) => error.help(GRAMMAR),
            }
        }
        [word] if DESCRIPTORS.contains(&format!("@{}", word.text.to_lowercase()).as_str()) => {
            error.help(format!("write `@{}`", word.text.to_lowercase()))
        }
        _ => error.help(GRAMMAR),
    }
}

fn descriptor(text: &str) -> Result<String, UnitError> {
    if DESCRIPTORS.contains(&text) {
        return Ok(text.to_owned());
    }
    if let Some(interval) = text.strip_prefix("@every ") {
        let interval = interval.trim_matches(' ');
        return match Duration::parse(interval) {
            Ok(span) if interval.contains('d') => {
                let error =
                    UnitError::new(format!("{} counts in days, which `@every` does not support", quoted(interval)));
                Err(error.help(format!("write `@every {}`", in_hours(span))))
            }
            Ok(_) => Ok(format!("@every {interval}")),
            Err(error) => Err(UnitError::new(error.message).help(every_help(error.help.as_deref()))),
        };
    }
    let lowered = text.to_lowercase();
    let error = UnitError::new(format!("{} is not a schedule that Argo supports", quoted(text)));
    Err(if DESCRIPTORS.contains(&lowered.as_str()) {
        error.help(format!("write `{lowered}`"))
    } else {
        error.help("write one of `@hourly @daily @weekly @monthly @yearly`, `@every 2h`, or five fields")
    })
}

/// Turns the duration's own correction into one of the whole line.
fn every_help(help: Option<&str>) -> String {
    let correction = help.and_then(|help| help.strip_prefix("write `")?.strip_suffix('`'));
    match correction.map(Duration::parse) {
        Some(Ok(span)) => format!("write `@every {}`", in_hours(span)),
        _ => "write hours, minutes and seconds, such as `@every 1h30m`".to_owned(),
    }
}

fn in_hours(span: Duration) -> String {
    let seconds = span.seconds();
    let mut text = String::new();
    for (count, unit) in [(seconds / 3_600, "h"), (seconds % 3_600 / 60, "m"), (seconds % 60, "s")] {
        if count > 0 {
            text.push_str(&count.to_string());
            text.push_str(unit);
        }
    }
    text
}

/// Returns true when some chosen month has one of the chosen days in some year.
fn has_a_date(days: u64, months: u64) -> bool {
    const LENGTHS: [u32; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let first = days.trailing_zeros();
    (1..).zip(LENGTHS).any(|(month, length)| months >> month & 1 == 1 && first <= length)
}

#[cfg(test)]
mod tests;
