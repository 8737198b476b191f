//! Times of results as numbers.

/// Returns the milliseconds since 1970 of a time such as `2026-01-02T03:04:05Z` or `2026-01-02T03:04:05.678Z`, if a calendar has it.
pub(super) fn milliseconds(time: &str) -> Option<i64> {
    let fraction = time.get(19..)?.strip_prefix('.').and_then(|rest| rest.get(..3));
    let milliseconds = fraction.map_or(Some(0), |digits| digits.parse().ok())?;
    Some(seconds(time)? * 1000 + milliseconds)
}

fn seconds(time: &str) -> Option<i64> {
    let part = |from: usize, to: usize| time.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (part(0, 4)?, part(5, 7)?, part(8, 10)?);
    let (hour, minute, second) = (part(11, 13)?, part(14, 16)?, part(17, 19)?);
    let leaps = i64::from(year % 4 == 0 && (year % 100 != 0 || year % 400 == 0));
    let length = match month {
        2 => 28 + leaps,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    // No calendar of a database has the year 0.
    if year < 1 || !(1..=length).contains(&day) || hour > 23 || minute > 59 || second > 59 {
        return None;
    }
    // Years that begin in March end with the day that some lack.
    let (of_march, from_march) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = of_march * 365 + of_march.div_euclid(4) - of_march.div_euclid(100)
        + of_march.div_euclid(400)
        + (153 * from_march + 2) / 5
        + day
        - 1
        - 719_468;
    Some(((days * 24 + hour) * 60 + minute) * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::{milliseconds, seconds};

    #[test]
    fn agrees_with_known_times() {
        assert_eq!(seconds("1970-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds("2000-02-29T12:34:56Z"), Some(951_827_696));
        assert_eq!(seconds("2026-11-22T21:00:08Z"), Some(1_795_381_208));
        assert_eq!(seconds("1900-03-01T00:00:00Z"), Some(-2_203_891_200));
        assert_eq!(seconds("9999-12-31T23:59:59Z"), Some(253_402_300_799));
        assert_eq!(seconds("0001-01-01T00:00:00Z"), Some(-62_135_596_800));
    }

    #[test]
    fn knows_milliseconds() {
        assert_eq!(milliseconds("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(milliseconds("1970-01-01T00:00:01.000Z"), Some(1000));
        assert_eq!(milliseconds("1969-12-31T23:59:59.250Z"), Some(-750));
        assert_eq!(milliseconds("2026-11-22T21:00:08.123Z"), Some(1_795_381_208_123));
        assert_eq!(milliseconds("2026-11-22"), None);
    }

    #[test]
    fn takes_no_time_that_no_calendar_has() {
        for time in ["1900-02-29", "2026-13-01", "2026-00-01", "2026-04-31", "0000-01-01", "2026-01-00"] {
            assert_eq!(seconds(&format!("{time}T00:00:00Z")), None, "{time}");
        }
        for time in ["24:00:00", "00:60:00", "00:00:60"] {
            assert_eq!(seconds(&format!("2026-01-01T{time}Z")), None, "{time}");
        }
    }
}
