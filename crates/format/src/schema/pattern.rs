//! How large a regular expression is, before anything is compiled.
//!
//! A few letters can mean a program of megabytes: `\w{150}` repeats a class of 140,000 characters. Time and memory for
//! compiling grow with the size, so that it must be checked before compiling.

use regex_syntax::hir::{Class, ClassUnicodeRange, Hir, HirKind};
use regex_syntax::utf8::Utf8Sequences;

/// How large all regular expressions of a spec may be together: a second or two, and some hundred megabytes at most.
pub const LARGEST: u64 = 2_000_000;

/// What every expression takes, however short it is.
const LEAST: u64 = 500;

/// What to write where expressions are too large.
pub const SMALLER: &str = "`\\w`, `\\d` and `\\pL` hold all alphabets: write `[0-9a-z_]{32}` or `(?-u:\\w){32}` instead of `\\w{32}`, `\\S+` \
                           where the length does not matter, and smaller counts";

/// Returns the size of `text`: about how many instructions it compiles to.
///
/// # Errors
/// Why it is not a regular expression.
pub fn size(text: &str) -> Result<u64, regex_syntax::Error> {
    Ok(size_of(&regex_syntax::parse(text)?).saturating_add(LEAST))
}

/// Returns the size of what was parsed.
pub(super) fn size_of(hir: &Hir) -> u64 {
    let all = |parts: &[Hir]| parts.iter().map(size_of).fold(1, u64::saturating_add);
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) | HirKind::Class(Class::Bytes(_)) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().map(|range| bytes(*range)).sum(),
        HirKind::Repetition(repetition) => {
            let times = repetition.max.unwrap_or(repetition.min).max(1);
            size_of(&repetition.sub).saturating_add(1).saturating_mul(times.into())
        }
        HirKind::Capture(capture) => size_of(&capture.sub).saturating_add(2),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => all(parts),
    }
}

/// Returns how many ranges of bytes make a range of characters.
fn bytes(range: ClassUnicodeRange) -> u64 {
    Utf8Sequences::new(range.start(), range.end()).map(|sequence| sequence.len() as u64).sum()
}

#[cfg(test)]
mod tests {
    use super::{LARGEST, size};

    #[test]
    fn sizes_are_those_of_what_is_compiled() {
        let size = |text| size(text).unwrap() - super::LEAST;
        assert_eq!([size("abc"), size("[a-z]"), size("[a-z]{3}"), size("(?-u:\\w)")], [3, 1, 6, 1]);
        assert!((3_000..4_000).contains(&size(r"\w")), "{}", size(r"\w"));
        assert_eq!(size(r"\w{150}"), (size(r"\w") + 1) * 150);
        assert_eq!(size(r"\w*"), size(r"\w{1,}"));
        assert_eq!(size(r"(?:(?:(?:(?:(?:\w{1000}){1000}){1000}){1000}){1000}){1000}"), u64::MAX - super::LEAST);
        assert!(size(r"step (?P<step>\d+) loss (?P<value>\S+)") * 1000 < LARGEST);
    }
}
