//! The word next to a value that is its unit: after it, as in `984 us` and `5 [MB/s]`, or in brackets before it, as in
//! `Mean TTFT (ms): 300`.

use super::number::all_digits;
use super::token::is_digit;
use kubebench_syntax::unit::MetricUnit;

/// A word that may be the unit of the value next to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitWord<'t> {
    pub text: &'t str,
    /// The power of ten before it: that of the `K` in `12.3 K tokens/s`.
    pub power: i32,
    /// Whether the pattern matches it.
    pub is_spelled: bool,
    /// What it is divided by, if that follows: the `step` of `250 ms per step`.
    pub per: Option<&'t str>,
    /// Whether a value follows, which it may be the name of.
    pub is_before_value: bool,
}

/// What means a power of a thousand before a unit, or without one.
const FACTORS: [(&str, i32); 9] = [
    ("k", 3),
    ("K", 3),
    ("M", 6),
    ("G", 9),
    ("T", 12),
    ("thousand", 3),
    ("million", 6),
    ("billion", 9),
    ("trillion", 12),
];

/// Words that mark a `min` next to them as a minimum.
const STATISTICS: [&str; 8] = ["max", "avg", "mean", "med", "median", "std", "stddev", "stdev"];

/// Returns the power of ten that `text` means.
pub(crate) fn factor(text: &str) -> Option<i32> {
    FACTORS.iter().find(|(factor, _)| *factor == text).map(|(_, power)| *power)
}

/// Returns the word next to the value at `value`; the pattern matches `whole`.
pub(crate) fn beside(text: &str, value: (usize, usize), whole: (usize, usize)) -> Option<UnitWord<'_>> {
    behind(text, value.1, whole.1).or_else(|| before(text.get(whole.0..value.0)?))
}

fn is_blank(letter: char) -> bool {
    matches!(letter, ' ' | '\t' | '\u{a0}' | '\u{2009}' | '\u{202f}')
}

fn behind(text: &str, end: usize, matched: usize) -> Option<UnitWord<'_>> {
    let rest = text.get(end..).filter(|rest| !rest.is_empty())?;
    let near = rest.trim_start_matches(is_blank);
    let open = past_deviation(near).unwrap_or(near).trim_start_matches(['(', '[']);
    let (power, (word, after)) = first_unit(open)?;
    let is_spelled = text.len() - after.len() <= matched;
    if word.is_empty() || !is_spelled && (open.len() == rest.len() || is_name(word, after)) {
        return None;
    }
    let divisor = after.trim_start_matches(is_blank).strip_prefix("per ").and_then(first_word);
    let (per, after) = divisor.map_or((None, after), |(per, after)| (Some(per), after));
    Some(UnitWord { text: word, power, is_spelled, per, is_before_value: value_follows(after, &[':']) })
}

/// Returns the word at the beginning of `text`, and what follows it.
fn first_word(text: &str) -> Option<(&str, &str)> {
    let is_part = |letter: char| letter.is_alphabetic() || matches!(letter, '%' | '/' | '\u{b5}' | '\u{b0}');
    let (word, after) = text.split_at_checked(text.find(|letter| !is_part(letter)).unwrap_or(text.len()))?;
    Some((word.trim_end_matches('/'), after))
}

/// Returns the word at the beginning of `text`, or the unit after it if it is a factor, with the power of ten of that.
fn first_unit(text: &str) -> Option<(i32, (&str, &str))> {
    let (word, after) = first_word(text)?;
    let counted = factor(word).and_then(|power| Some((power, first_word(after.trim_start_matches(is_blank))?)));
    Some(counted.filter(|(_, (unit, _))| MetricUnit::known(unit).is_some()).unwrap_or((0, (word, after))))
}

/// Returns what follows `±0.3`, `(± 0.3)`, or the like.
fn past_deviation(text: &str) -> Option<&str> {
    let inside = text.strip_prefix('(');
    let number = ["\u{b1}", "+/-", "+-"].into_iter().find_map(|sign| inside.unwrap_or(text).strip_prefix(sign))?;
    let number = number.trim_start_matches(is_blank);
    let behind = number.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','));
    let closed = if inside.is_some() { behind.strip_prefix(')')? } else { behind };
    (behind.len() < number.len()).then(|| closed.trim_start_matches(is_blank))
}

/// Returns whether a value follows, behind blanks and `marks`.
fn value_follows(after: &str, marks: &[char]) -> bool {
    let rest = after.trim_start_matches(|letter| is_blank(letter) || marks.contains(&letter));
    is_digit(rest.trim_start_matches(['-', '+', '.']).chars().next())
}

/// Returns true for a word that names the next value: `12 s=3`, `avg 5 min 3 max 9`.
fn is_name(word: &str, after: &str) -> bool {
    match after.chars().next() {
        Some('_' | '=' | '-') => true,
        Some(':') => value_follows(after, &[':']),
        Some(letter) if letter.is_ascii_digit() => true,
        _ if word == "min" && is_statistic(after) => true,
        // Words that mean something else as well.
        _ => {
            let is_ambiguous = word == "min" || word.len() == 1 && word != "%";
            is_ambiguous && value_follows(after, &[':', '|']) && !continues_as_duration(word, after)
        }
    }
}

/// Returns whether `value` is the first group of the digits of a number that blanks separate: the `1` of `1 234.5`, if that is
/// followed by a unit or ends the line. In the middle of a line they are as likely two columns.
pub(crate) fn is_first_group(value: &str, behind: &str) -> bool {
    if !matches!(value.len(), 1..=3) || !all_digits(value) || value.starts_with('0') {
        return false;
    }
    let mut rest = behind;
    while let Some(more) = past_group(rest) {
        rest = more;
    }
    let is_digit = |letter: char| letter.is_ascii_digit();
    let past = rest.strip_prefix('.').map_or(rest, |decimals| decimals.trim_start_matches(is_digit));
    let unit = past.strip_prefix(' ').and_then(first_word).and_then(|(word, _)| MetricUnit::known(word));
    rest.len() < behind.len() && (past.is_empty() || unit.is_some())
}

/// Returns what follows a blank and three digits.
fn past_group(text: &str) -> Option<&str> {
    let (group, rest) = text.strip_prefix(' ')?.split_at_checked(3)?;
    all_digits(group).then_some(rest)
}

/// Returns whether another statistic follows: ` 200 max`, `, max 200`.
fn is_statistic(after: &str) -> bool {
    after.split(|letter: char| !letter.is_alphanumeric()).any(|word| STATISTICS.contains(&word))
}

/// Returns the unit in brackets at the end of what precedes a value; `token(s)` has none.
pub(crate) fn before(matched: &str) -> Option<UnitWord<'_>> {
    let label = matched.trim_end_matches(|letter| is_blank(letter) || matches!(letter, ':' | '=' | '"' | '\''));
    let inside = label.strip_suffix([')', ']'])?;
    let (name, word) = inside.rsplit_once(['(', '['])?;
    let is_unit = !name.ends_with(char::is_alphanumeric) && MetricUnit::known(word).is_some();
    is_unit.then_some(UnitWord { text: word, power: 0, is_spelled: true, per: None, is_before_value: false })
}

/// Returns whether a duration of whole `unit`s continues in `behind` with a smaller unit: ` 2m 3s` after `1h`.
pub(crate) fn continues_as_duration(unit: &str, behind: &str) -> bool {
    let of_time = |word: &str| match word {
        "m" => Some(MetricUnit::of("min")),
        word => MetricUnit::known(word).filter(MetricUnit::is_time),
    };
    let letters =
        |text: &str| text.find(|letter: char| !(letter.is_alphabetic() || letter == '\u{b5}')).unwrap_or(text.len());
    let rest = behind.trim_start_matches(|letter| is_blank(letter) || letter == ',');
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    let word = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    if word.len() == rest.len() {
        return false;
    }
    let word = word.trim_start_matches(is_blank);
    let Some((word, after)) = word.split_at_checked(letters(word)) else { return false };
    if after.starts_with(['/', '=', '_']) {
        return false;
    }
    let (whole, part) = (of_time(unit), of_time(word));
    whole.zip(part).and_then(|(whole, part)| whole.conversion_to(&part)).is_some_and(|factor| factor.convert(1.0) > 1.0)
}
