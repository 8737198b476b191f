//! When a schedule starts something, by the clock of its time zone.

use std::fmt;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::AmbiguousOffset;
use jiff::{Span, Timestamp};

use super::field::{Field, values};
use super::{Cron, Part, split};
use crate::unit::TimeZone;

/// Years after that of the time zone database, whose rules are known by then.
const YEARS: i16 = 5;
/// A line that matches any date matches one within this many days: the 29th of February, around a year without one.
const DAYS: usize = 9 * 366;

/// What the fields of a line choose, as bit sets.
struct Times {
    minutes: u64,
    hours: u64,
    days: u64,
    months: u64,
    weekdays: u64,
    /// A day has to match both fields where one of them is `*`, else one of them.
    fits_both: bool,
}

/// Times at which a schedule should start and the clock of its zone is changed: the first of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClockChanges {
    /// The clock skips it, and nothing starts.
    pub skipped: Option<LocalTime>,
    /// The clock shows it twice, and it starts twice.
    pub repeated: Option<LocalTime>,
}

/// A time that a clock shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LocalTime(DateTime);

impl fmt::Display for LocalTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", self.0.strftime("%H:%M"), self.0.date())
    }
}

/// A moment at which a schedule starts something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Start {
    /// By the clock of the zone: `2026-11-30 03:00 CET`.
    pub local: String,
    /// In UTC: `2026-11-30T02:00:00Z`.
    pub utc: String,
}

impl Cron {
    /// Returns the first changes of a zone's clock at which this schedule should start, in the years after that of the time zone database;
    /// nothing where it starts every hour, so that none is missed, or by an interval.
    pub fn clock_changes(&self, zone: &TimeZone) -> ClockChanges {
        let mut found = ClockChanges::default();
        let Some(times) = self.times().filter(|times| times.hours.count_ones() < 24) else { return found };
        let (zone, year) = (zone.rules(), TimeZone::database_year());
        let Ok(begin) = Date::new(year + 1, 1, 1).and_then(|date| zone.to_timestamp(date.at(0, 0, 0, 0))) else {
            return found;
        };
        for change in zone.following(begin) {
            let before = zone.to_offset(change.timestamp().saturating_sub(Span::new().seconds(1)).unwrap_or(begin));
            let (before, after) =
                (before.to_datetime(change.timestamp()), change.offset().to_datetime(change.timestamp()));
            if before.year() > year + YEARS || found.skipped.is_some() && found.repeated.is_some() {
                break;
            }
            if before < after {
                found.skipped = found.skipped.or_else(|| times.between(before, after));
            } else {
                found.repeated = found.repeated.or_else(|| times.between(after, before));
            }
        }
        found
    }

    /// Returns the next starts after a moment (RFC 3339), at most `count`; none where the line is an interval, which is counted from the
    /// last start.
    pub fn next(&self, zone: &TimeZone, after: &str, count: usize) -> Vec<Start> {
        let (Some(times), Ok(after)) = (self.times(), after.parse::<Timestamp>()) else { return Vec::new() };
        let zone = zone.rules();
        // A day earlier, since a clock may be set back over midnight.
        let first = zone.to_datetime(after).date().yesterday().unwrap_or(Date::MIN);
        let days = first.series(Span::new().days(1)).take(DAYS * count).filter(|date| times.has(*date));
        let starts = days.flat_map(|date| {
            let mut starts: Vec<Timestamp> =
                times.of_a_day().flat_map(|time| moments(&zone, date.to_datetime(time))).collect();
            starts.sort();
            starts
        });
        let shown = |moment: Timestamp| Start {
            local: moment.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M %Z").to_string(),
            utc: moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        };
        starts.filter(|moment| *moment > after).take(count).map(shown).collect()
    }

    /// Returns the times that its fields choose; none for an interval.
    fn times(&self) -> Option<Times> {
        let fields = match self.0.as_str() {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            fields => fields,
        };
        let parts = split(fields);
        let [minute, hour, day, month, weekday] = parts.as_slice() else { return None };
        Some(Times {
            minutes: values(minute, &Field::MINUTE).ok()?,
            hours: values(hour, &Field::HOUR).ok()?,
            days: values(day, &Field::DAY).ok()?,
            months: values(month, &Field::MONTH).ok()?,
            weekdays: values(weekday, &Field::WEEKDAY).ok()?,
            fits_both: is_star(day) || is_star(weekday),
        })
    }
}

/// Returns whether a field chooses every day; as in robfig/cron, a `*` with a step does not.
pub(super) fn is_star(part: &Part<'_>) -> bool {
    part.text.split(',').any(|item| {
        let (base, step) = item.split_once('/').unwrap_or((item, "1"));
        matches!(base, "*" | "?") && step.parse() == Ok(1)
    })
}

/// Returns the moments at which a clock shows a time: none where it is skipped, two where it is repeated.
fn moments(zone: &jiff::tz::TimeZone, time: DateTime) -> Vec<Timestamp> {
    let offsets = match zone.to_ambiguous_timestamp(time).offset() {
        AmbiguousOffset::Unambiguous { offset } => vec![offset],
        AmbiguousOffset::Gap { .. } => Vec::new(),
        AmbiguousOffset::Fold { before, after } => vec![before, after],
    };
    offsets.into_iter().filter_map(|offset| offset.to_timestamp(time).ok()).collect()
}

impl Times {
    fn has(&self, date: Date) -> bool {
        let is_in = |set: u64, value: i8| set >> value & 1 == 1;
        let day = is_in(self.days, date.day());
        let weekday = is_in(self.weekdays, date.weekday().to_sunday_zero_offset());
        is_in(self.months, date.month()) && if self.fits_both { day && weekday } else { day || weekday }
    }

    fn of_a_day(&self) -> impl Iterator<Item = Time> {
        let minutes = self.minutes;
        let in_hour =
            move |hour| (0..60).filter(move |minute| minutes >> minute & 1 == 1).map(move |minute| (hour, minute));
        let hours = self.hours;
        (0..24)
            .filter(move |hour| hours >> hour & 1 == 1)
            .flat_map(in_hour)
            .filter_map(|(hour, minute)| Time::new(hour, minute, 0, 0).ok())
    }

    /// Returns the first start from one time of a clock up to another, without it.
    fn between(&self, from: DateTime, to: DateTime) -> Option<LocalTime> {
        let days = from.date().series(Span::new().days(1)).take_while(|date| *date <= to.date());
        let mut starts = days
            .filter(|date| self.has(*date))
            .flat_map(|date| self.of_a_day().map(move |time| date.to_datetime(time)));
        starts.find(|time| *time >= from && *time < to).map(LocalTime)
    }
}
