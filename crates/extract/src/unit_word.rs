//! The word beside a value that says its unit: behind it, as in `984 us` and `5 [MB/s]`, or in brackets before it, as in
//! `Mean TTFT (ms): 300`.

use super::token::is_digit;
use kubebench_syntax::unit::MetricUnit;

/// A word that may be the unit of the value beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UnitWord<'t> {
    pub text: &'t str,
    /// Whether the pattern matches it.
    pub is_spelled: bool,
    /// Whether a divisor follows: `250 ms per step`.
    pub is_per: bool,
}

/// Returns the word beside the value at `value`; the pattern matches `whole`.
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
    let is_part = |letter: char| letter.is_alphabetic() || matches!(letter, '%' | '/' | '\u{b5}' | '\u{b0}');
    let (word, after) = open.split_at_checked(open.find(|letter| !is_part(letter)).unwrap_or(open.len()))?;
    let word = word.trim_end_matches('/');
    let is_spelled = text.len() - open.len() + word.len() <= matched;
    if word.is_empty() || !is_spelled && (open.len() == rest.len() || is_name(word, after)) {
        return None;
    }
    let is_per = after.trim_start_matches(is_blank).starts_with("per ");
    Some(UnitWord { text: word, is_spelled, is_per })
}

/// Returns what follows `±0.3`, or the like.
fn past_deviation(text: &str) -> Option<&str> {
    let number =
        ["\u{b1}", "+/-", "+-"].into_iter().find_map(|sign| text.strip_prefix(sign))?.trim_start_matches(is_blank);
    let behind = number.trim_start_matches(|letter: char| letter.is_ascii_digit() || matches!(letter, '.' | ','));
    (behind.len() < number.len()).then(|| behind.trim_start_matches(is_blank))
}

/// Returns true for a word that names the next value: `12 s=3`, `avg 5 min 3 max 9`.
fn is_name(word: &str, after: &str) -> bool {
    let mut next = after.chars();
    let value_follows = || {
        let rest = after.trim_start_matches(|letter| is_blank(letter) || letter == ':');
        is_digit(rest.trim_start_matches(['-', '+', '.']).chars().next())
    };
    match next.next() {
        Some('_' | '=' | '-') => true,
        Some(':') => value_follows(),
        Some(letter) if letter.is_ascii_digit() => true,
        // Words that mean something else as well.
        _ => {
            let is_ambiguous = word == "min" || word.len() == 1 && word != "%";
            is_ambiguous && value_follows() && !goes_on_as_duration(word, after)
        }
    }
}

/// Returns the unit in brackets at the end of what precedes a value; `token(s)` has none.
fn before(matched: &str) -> Option<UnitWord<'_>> {
    let label = matched.trim_end_matches(|letter| is_blank(letter) || matches!(letter, ':' | '=' | '"' | '\''));
    let inside = label.strip_suffix([')', ']'])?;
    let (name, word) = inside.rsplit_once(['(', '['])?;
    let is_unit = !name.ends_with(char::is_alphanumeric) && MetricUnit::known(word).is_some();
    is_unit.then_some(UnitWord { text: word, is_spelled: true, is_per: false })
}

/// Returns whether a duration of whole `unit`s goes on in `behind`, with a smaller unit: ` 2m 3s` after `1h`.
pub(crate) fn goes_on_as_duration(unit: &str, behind: &str) -> bool {
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
