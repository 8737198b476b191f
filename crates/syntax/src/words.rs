//! Numbers and counts as people read them, in a terminal, a comment or a page. Data has numbers that read back the same.

use std::fmt::Display;
use std::time::Duration;

/// Returns a number with four digits, without an exponent if it has a usual magnitude.
pub fn number(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e4..1e9).contains(&size) {
        let mut unit = 1.0;
        while size / unit >= 1e4 {
            unit *= 10.0;
        }
        return with_minus(&format!("{:.0}", (value / unit).round() * unit));
    }
    if !(1e-4..1e9).contains(&size) {
        return with_minus(&format!("{value:.3e}"));
    }
    let mut decimals = 3_usize;
    let mut reached = 10.0;
    while size >= reached && decimals > 0 {
        decimals -= 1;
        reached *= 10.0;
    }
    if size < 1.0 {
        let mut least = 1.0;
        while size < least {
            decimals += 1;
            least /= 10.0;
        }
    }
    let text = format!("{value:.decimals$}");
    with_minus(if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text })
}

/// Returns a count with its noun: `1 session`, `2 sessions`.
pub fn counted(count: impl Display, noun: &str) -> String {
    let count = count.to_string();
    let plural = if count == "1" { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Returns how long something took or takes: `4.2 s`, `5 min 3 s`, `3 h 5 min`, `3 days`.
pub fn lasted(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 if time.subsec_nanos() > 0 => format!("{:.1} s", time.as_secs_f64()),
        0..120 => format!("{seconds} s"),
        120..7200 => of_two((seconds / 60, "min"), (seconds % 60, "s")),
        7200..172_800 => of_two((seconds / 3600, "h"), (seconds / 60 % 60, "min")),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn of_two((large, unit): (u64, &str), (small, smaller): (u64, &str)) -> String {
    if small == 0 { format!("{large} {unit}") } else { format!("{large} {unit} {small} {smaller}") }
}

/// Returns the text of a number with a minus sign that people can see.
fn with_minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{counted, lasted, number};

    #[test]
    fn times_have_two_units_at_most() {
        for (seconds, expected) in [
            (0.04, "0.0 s"),
            (9.96, "10.0 s"),
            (8.0, "8 s"),
            (90.0, "90 s"),
            (300.0, "5 min"),
            (303.0, "5 min 3 s"),
            (11_100.0, "3 h 5 min"),
            (2.6e5, "3 days"),
        ] {
            assert_eq!(lasted(Duration::from_secs_f64(seconds)), expected);
        }
    }

    #[test]
    fn numbers_have_four_digits_and_no_row_of_zeros() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "0"),
            (12_345.67, "12350"),
            (1000.44, "1000"),
            (999.44, "999.4"),
            (-123.46, "−123.5"),
            (12.346, "12.35"),
            (9.87654, "9.877"),
            (0.001, "0.001"),
            (0.000_987_6, "0.0009876"),
            (0.000_012_345, "1.234e−5"),
            (-1.5e12, "−1.500e12"),
        ] {
            assert_eq!(number(value), expected);
        }
        assert_eq!([counted(1, "run"), counted(2, "run")], ["1 run", "2 runs"]);
    }
}
