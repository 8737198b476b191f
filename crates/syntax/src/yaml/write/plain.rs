//! Scalars that are obviously plain, or obviously need quotes: nearly all those in a manifest.
//!
//! These tests only ever say "surely"; a test compares them with what serde-saphyr decides.

/// Words that some reader takes for something else, in any case; all other words of letters are text to everybody.
const RESERVED: &[&str] = &["y", "n", "on", "no", "yes", "off", "nan", "inf", "null", "true", "false"];
/// Suffixes of quantities and durations, which no reader takes for part of a number.
const UNITS: &[&str] = &["m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti", "s", "h"];

/// Returns whether every reader reads the unquoted value `text` as this text.
pub(super) fn is_surely_plain(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return false };
    if first.is_ascii_digit() {
        let digits = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
        return text.get(digits..).is_some_and(|unit| UNITS.contains(&unit));
    }
    let start = match bytes {
        [b'-', b'-', third, ..] => third.is_ascii_lowercase(),
        [first, ..] => first.is_ascii_alphabetic() || matches!(first, b'/' | b'$'),
        [] => false,
    };
    start
        && is_word_or_space(*last)
        && *last != b' '
        && bytes.windows(2).all(|pair| match pair {
            [b':', next] => next.is_ascii_alphanumeric() || *next == b'/',
            [byte, _] => is_word_or_space(*byte),
            _ => true,
        })
        && !is_reserved(text)
}

/// Returns whether every reader reads the unquoted key `text` as this text.
pub(super) fn is_surely_plain_key(text: &str) -> bool {
    text.len() < 128
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'_' | b'.' | b'-'))
        && !is_reserved(text)
}

/// Returns whether every reader reads `text` as a number, so that it needs quotes to be text.
pub(super) fn is_integer(text: &str) -> bool {
    text == "0" || (!text.is_empty() && !text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns whether `text`, if plain as a block value, is plain as a key and in a flow list as well.
pub(super) fn is_anywhere(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric() || matches!(first, '/' | '_' | '.' | '-'))
        && text.chars().all(|character| character.is_ascii_alphanumeric() || " /_.-+=@$()".contains(character))
}

fn is_word_or_space(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b' ' | b'/' | b'_' | b'.' | b'-' | b'+' | b'=' | b'@' | b'$' | b'(' | b')')
}

fn is_reserved(text: &str) -> bool {
    text.len() <= 5 && RESERVED.iter().any(|word| text.eq_ignore_ascii_case(word))
}
