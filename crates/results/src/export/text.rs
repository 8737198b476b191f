//! Spellings that several formats share.

use kubebench_syntax::invariant::Invariant as _;

/// Returns the shortest text of a number that reads back the same.
pub(super) fn number(number: f64) -> String {
    serde_json::to_string(&number).expected("JSON of a number")
}

/// The replacement for a NUL where a format has none.
pub(super) const REPLACEMENT: char = '\u{FFFD}';

/// Returns whether a character shows nothing or changes how others are shown: controls, marks of direction, joiners.
pub(super) fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}')
        || matches!(character, '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

/// Returns `text` with the characters for which `is_bad` says yes, and `%`, as percent signs and the digits of their bytes.
pub(super) fn encoded(text: &str, is_bad: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character == '%' || is_bad(character) {
            let mut bytes = [0; 4];
            for byte in character.encode_utf8(&mut bytes).bytes() {
                out.push_str(&format!("%{byte:02X}"));
            }
        } else {
            out.push(character);
        }
    }
    out
}

/// Returns whether a spreadsheet would take `text` for a formula: it begins like one and is no plain number.
pub fn is_executed(text: &str) -> bool {
    // Some programs read wide forms and new lines like the others.
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
    begins && !is_plain_number(text)
}

fn is_plain_number(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with(|first: char| first.is_ascii_digit() || first == '.')
        && digits.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
        && text.parse::<f64>().is_ok()
}
