//! How a secret is spelled inside other texts: in JSON, in addresses, in base64, as numbers, in the other case.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// A shorter value in the other case, or in base64, is found everywhere by chance.
const SHORTEST: usize = 8;

/// RFC 3986: all but unreserved characters, as Rust, Go, C and Java's newer libraries encode.
const RESERVED: AsciiSet = NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');
/// What Python's `quote` encodes.
const BUT_SLASHES: AsciiSet = RESERVED.remove(b'/');
/// What JavaScript's `encodeURIComponent` encodes.
const BUT_MARKS: AsciiSet = RESERVED.remove(b'!').remove(b'*').remove(b'\'').remove(b'(').remove(b')');

/// Returns other spellings of `value`; some may be the value itself.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let mut made = Vec::new();
    // JSON spells some letters in two.
    let quoted = serde_json::Value::from(value).to_string();
    made.extend(quoted.get(1..quoted.len() - 1).map(str::to_owned));
    for set in [&RESERVED, &BUT_SLASHES, &BUT_MARKS] {
        let encoded = utf8_percent_encode(value, set).to_string();
        // A form spells a blank as a plus sign.
        made.push(encoded.replace("%20", "+"));
        made.push(encoded);
    }
    made.extend(escapes(value));
    if value.len() >= SHORTEST {
        made.extend([value.to_lowercase(), value.to_uppercase()]);
        made.push(STANDARD.encode(value));
        for (engine, before) in
            [STANDARD_NO_PAD, URL_SAFE_NO_PAD].iter().flat_map(|engine| (0..3).map(move |before| (engine, before)))
        {
            made.extend(within(engine, before, value));
        }
    }
    made
}

/// Returns the value with each byte or letter as a number: in hexadecimal digits, in an address, as JSON and other languages escape them.
fn escapes(value: &str) -> Vec<String> {
    let bytes = |before: &str| value.bytes().map(|byte| format!("{before}{byte:02x}")).collect::<String>();
    let units = value.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let small = [bytes(""), bytes("%"), bytes("\\x"), units];
    // Digits above 9 are written in both cases; what is before them is in one.
    let large = |text: &String| text.to_uppercase().replace("\\X", "\\x").replace("\\U", "\\u");
    let large: Vec<String> = small.iter().map(large).collect();
    small.into_iter().chain(large).collect()
}

/// Returns the part of the base64 of a text that holds `value`, `before` bytes from the start of a group of three, which
/// does not depend on what else the text holds: `user:password` of an authorization header.
fn within(engine: &base64::engine::GeneralPurpose, before: usize, value: &str) -> Option<String> {
    let bytes = [vec![0; before].as_slice(), value.as_bytes()].concat();
    let encoded = engine.encode(&bytes);
    // Six bits a letter: those that hold bits of others, before and behind, are left out.
    encoded.get((before * 8).div_ceil(6)..bytes.len() * 8 / 6).map(str::to_owned)
}
