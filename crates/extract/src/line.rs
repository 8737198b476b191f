//! One line of a log: without terminal codes and without the prefix of a launcher.

use std::borrow::Cow;

use super::series::Sample;
use kubebench_syntax::invariant::Invariant as _;

/// A line as parsers see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// From 1. Text that a carriage return rewrote has the number of the line that it was on.
    pub number: u64,
    pub text: &'a str,
    /// The rank that a launcher's prefix named, on this line or before what a carriage return rewrote.
    pub rank: Option<u32>,
    /// Whether the line ended. The last line of a process that was killed may stop in the middle of a number.
    pub is_whole: bool,
}

impl<'a> Line<'a> {
    /// Removes the launcher's prefix from `text`, a whole line without terminal codes.
    pub(crate) fn new(number: u64, text: &'a str) -> Self {
        let (rank, text) = without_prefix(text);
        Self { number, text, rank, is_whole: true }
    }

    /// Returns where a value of this line is, of `step`.
    pub(crate) fn place(&self, step: Option<u64>) -> Sample {
        Sample { value: f64::NAN, step, line: Some(self.number), rank: self.rank }
    }

    /// Returns the text without its last word, if the line may have stopped in the middle of it.
    ///
    /// For formats that do not say where a number ends.
    pub(crate) fn whole_words(&self) -> &'a str {
        if self.is_whole {
            return self.text;
        }
        let end = self.text.rfind(|letter: char| letter.is_whitespace()).unwrap_or(0);
        self.text.get(..end).expected("the start of the last word")
    }
}

/// Removes terminal codes: control sequences (colors, cursor moves), titles and links. None of them spans a line end.
pub fn without_terminal_codes(text: &[u8]) -> Cow<'_, [u8]> {
    let mut clean = Vec::new();
    if strip_into(text, &mut clean) { Cow::Owned(clean) } else { Cow::Borrowed(text) }
}

/// Puts `text` without terminal codes into `clean`, which is empty, and returns true; false when it has none.
pub(super) fn strip_into(text: &[u8], clean: &mut Vec<u8>) -> bool {
    let mut escapes = memchr::memchr_iter(0x1b, text);
    let Some(mut at) = escapes.next() else { return false };
    clean.reserve(text.len());
    let mut kept = 0;
    loop {
        let (before, code) = (
            text.get(kept..at).expected("what precedes an escape"),
            text.get(at..).expected("an escape that was found"),
        );
        clean.extend_from_slice(before);
        kept = at + code_length(code);
        // A string ends with an escape of its own.
        match escapes.find(|next| *next >= kept) {
            Some(next) => at = next,
            None => break,
        }
    }
    clean.extend_from_slice(text.get(kept..).expected("what follows a code"));
    true
}

/// Returns the length of the terminal code at the start of `text`, which begins with ESC.
pub(super) fn code_length(text: &[u8]) -> usize {
    let count = |from: usize, is_part: fn(&u8) -> bool| {
        text.get(from..).unwrap_or_default().iter().take_while(|byte| is_part(byte)).count()
    };
    match text.get(1) {
        // `ESC [ 0 m`: nearly all of them.
        Some(b'[') if text.get(3) == Some(&b'm') && text.get(2).is_some_and(u8::is_ascii_digit) => 4,
        // ECMA-48: parameters, intermediates, one final byte.
        Some(b'[') => {
            let parameters = count(2, |byte| (0x30..=0x3f).contains(byte));
            let intermediates = count(2 + parameters, |byte| (0x20..=0x2f).contains(byte));
            let end = 2 + parameters + intermediates;
            end + usize::from(text.get(end).is_some_and(|byte| (0x40..=0x7e).contains(byte)))
        }
        // A string: up to BEL or ESC \, on one line.
        Some(b']' | b'P' | b'X' | b'^' | b'_') => {
            let body = count(2, |byte| !matches!(byte, 0x07 | 0x1b | b'\n' | b'\r'));
            match text.get(2 + body..) {
                Some([0x07, ..]) => 3 + body,
                Some([0x1b, b'\\', ..]) => 4 + body,
                _ => 2 + body,
            }
        }
        Some(0x20..=0x7e) => {
            let intermediates = count(1, |byte| (0x20..=0x2f).contains(byte));
            let end = 1 + intermediates;
            end + usize::from(text.get(end).is_some_and(|byte| (0x30..=0x7e).contains(byte)))
        }
        _ => 1,
    }
}

/// Removes what launchers put before a line, also several prefixes, and returns the rank in the last of them.
///
/// torchrun `[default0]:` and `[rank0]:`, Open MPI `[1,0]<stdout>:`, MPICH `[0] `, srun `0: `, and the container runtime's
/// `2026-01-02T03:04:05.123456789Z stdout F `. Those of MPICH and srun name no rank here: programs print step numbers in the
/// same forms, and reading these as ranks would leave out all steps but one.
pub(crate) fn without_prefix(text: &str) -> (Option<u32>, &str) {
    let mut rank = None;
    let mut rest = text;
    loop {
        if let Some(after) = container_prefix(rest) {
            rest = after;
        } else if let Some((found, after)) = bracket_prefix(rest) {
            rank = found.or(rank);
            rest = after;
        } else if let Some(after) = srun_prefix(rest) {
            rest = after;
        } else {
            return (rank, rest);
        }
    }
}

/// `[default0]:`, `[rank0]:`, `[0]:`, `[0] `, `[1,0]<stdout>:`, `[1,0]: `
fn bracket_prefix(text: &str) -> Option<(Option<u32>, &str)> {
    let inside = text.strip_prefix('[')?;
    let named = inside.strip_prefix("default").or_else(|| inside.strip_prefix("rank"));
    let (first, rest) = digits(named.unwrap_or(inside))?;
    let (rank, rest) = match rest.strip_prefix(',').filter(|_| named.is_none()).and_then(digits) {
        Some((second, rest)) => (second, rest),
        None => (first, rest),
    };
    let rest = rest.strip_prefix(']')?;
    let streamed = rest.strip_prefix("<stdout>").or_else(|| rest.strip_prefix("<stderr>"));
    let rest = streamed.unwrap_or(rest);
    let (rank, after) = match rest.strip_prefix(':') {
        Some(after) => (Some(rank), after),
        None if named.is_none() && streamed.is_some() => (Some(rank), rest),
        // Without a colon only MPICH's form, which has a space.
        None if named.is_none() && rest.starts_with(' ') => (None, rest),
        None => return None,
    };
    Some((rank, if named.is_none() { after.strip_prefix(' ').unwrap_or(after) } else { after }))
}

/// `0: `, and ` 0: ` where srun pads to the width of the largest rank.
fn srun_prefix(text: &str) -> Option<&str> {
    let (_, rest) = digits(text.trim_start_matches(' '))?;
    rest.strip_prefix(": ")
}

fn container_prefix(text: &str) -> Option<&str> {
    let bytes = text.as_bytes();
    let is_time =
        bytes.first().is_some_and(u8::is_ascii_digit) && bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T');
    let (_, rest) = text.split_once(' ').filter(|_| is_time)?;
    let rest = rest.strip_prefix("stdout ").or_else(|| rest.strip_prefix("stderr "))?;
    rest.strip_prefix("F ").or_else(|| rest.strip_prefix("P "))
}

fn digits(text: &str) -> Option<(u32, &str)> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    let (number, rest) = text.split_at_checked(end)?;
    Some((number.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::{without_prefix, without_terminal_codes};

    #[test]
    fn launcher_prefixes() {
        let cases = [
            ("[default0]:x", Some(0), "x"),
            ("[default1]: x", Some(1), " x"),
            ("[rank7]:[titan] x", Some(7), "[titan] x"),
            ("[default3]:[rank3]:[W1] x", Some(3), "[W1] x"),
            ("[1,5]<stdout>:x", Some(5), "x"),
            ("[1,5]<stderr>: x", Some(5), "x"),
            ("[12] x", None, "x"),
            ("0: x", None, "x"),
            (" 3: x", None, "x"),
            ("2026-01-02T03:04:05.123456789Z stdout F [rank2]:x", Some(2), "x"),
            ("2026-01-02T03:04:05.123456789Z stderr F x", None, "x"),
            ("[10/100] x", None, "[10/100] x"),
            ("10:20 x", None, "10:20 x"),
            ("[titan] x", None, "[titan] x"),
            ("[3]x", None, "[3]x"),
            ("loss 3: x", None, "loss 3: x"),
            ("[99999999999]: x", None, "[99999999999]: x"),
            ("", None, ""),
        ];
        for (text, rank, rest) in cases {
            assert_eq!(without_prefix(text), (rank, rest), "{text}");
        }
    }

    #[test]
    fn terminal_codes() {
        let cases: [(&str, &str); 9] = [
            ("\x1b[31mred\x1b[0m", "red"),
            ("\x1b[38;5;12;1mx", "x"),
            ("a\x1b[2K\x1b[1Gb", "ab"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;http://x\x1b\\y\x1b]8;;\x1b\\", "y"),
            ("\x1b(Bx", "x"),
            ("x\x1b", "x"),
            ("x\x1b[", "x"),
            ("\x1b[31\u{e9}x", "\u{e9}x"),
        ];
        for (text, clean) in cases {
            assert_eq!(String::from_utf8_lossy(&without_terminal_codes(text.as_bytes())), clean, "{text:?}");
        }
    }
}
