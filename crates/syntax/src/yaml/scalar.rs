//! What a plain scalar means, and whether every YAML reader agrees on it.
//!
//! YAML 1.1 readers (PyYAML, older Go and Ruby libraries) and YAML 1.2 readers give different values to `yes`, `0777`,
//! `1_000` or `1:30`. A spec must mean one thing to everybody, so such a scalar is refused with the text to write instead.

/// What an unquoted scalar means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Plain {
    /// `null`, `~` or nothing.
    Null,
    /// A boolean.
    Bool(bool),
    /// A decimal integer or fraction in canonical spelling.
    Number,
    /// Text on which all readers agree.
    Text,
    /// Text that some readers take for something else.
    Ambiguous(Ambiguity),
}

/// Why a scalar is refused, and its unambiguous spellings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ambiguity {
    /// What readers disagree on, to complete "`x` is …".
    pub reason: &'static str,
    /// The other value that some reader sees, as one would write it plainly; none when only quoting makes sense.
    pub plain: Option<String>,
}

/// Classifies the text of an unquoted scalar.
pub fn classify(text: &str) -> Plain {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Plain::Null,
        "true" | "True" | "TRUE" => return Plain::Bool(true),
        "false" | "False" | "FALSE" => return Plain::Bool(false),
        "=" => return ambiguous("a special value in YAML 1.1 and text in YAML 1.2", None),
        _ => {}
    }
    match text.to_ascii_lowercase().as_str() {
        "y" | "yes" | "on" => return ambiguous("a boolean in YAML 1.1 and text in YAML 1.2", Some("true".to_owned())),
        "n" | "no" | "off" => return ambiguous("a boolean in YAML 1.1 and text in YAML 1.2", Some("false".to_owned())),
        ".inf" | "+.inf" | "-.inf" | ".nan" => return ambiguous("a number that JSON cannot hold", None),
        _ => {}
    }
    if !text.starts_with(|first: char| first.is_ascii_digit() || matches!(first, '+' | '-' | '.')) {
        return Plain::Text;
    }
    if is_canonical_number(text) {
        return if fits(text) { Plain::Number } else { ambiguous("a number too large to be exact everywhere", None) };
    }
    number_like(text).map_or(Plain::Text, Plain::Ambiguous)
}

fn ambiguous(reason: &'static str, plain: Option<String>) -> Plain {
    Plain::Ambiguous(Ambiguity { reason, plain })
}

/// `-?(0|[1-9][0-9]*)(\.[0-9]+)?`: what YAML 1.1, YAML 1.2 and JSON all read as the same decimal number.
fn is_canonical_number(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').map_or((digits, None), |(whole, fraction)| (whole, Some(fraction)));
    all_digits(whole) && (whole == "0" || !whole.starts_with('0')) && fraction.is_none_or(all_digits)
}

fn all_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn fits(text: &str) -> bool {
    text.parse::<i64>().is_ok() || text.contains('.') && text.len() <= 40
}

/// Recognizes what at least one YAML reader takes for a number, date or time.
fn number_like(text: &str) -> Option<Ambiguity> {
    let (sign, body) = match text.strip_prefix(['+', '-']) {
        Some(body) => (if text.starts_with('-') { "-" } else { "" }, body),
        None => ("", text),
    };
    if body.is_empty() || body == "." {
        return None;
    }
    let plain = |digits: String| Some(format!("{sign}{digits}"));
    let bare: String = body.chars().filter(|c| *c != '_').collect();
    for (prefix, radix) in [("0x", 16), ("0X", 16), ("0o", 8), ("0b", 2), ("0B", 2)] {
        if let Some(value) = bare.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, radix).ok()) {
            let reason = "a number to some YAML readers and text to others";
            return Some(Ambiguity { reason, plain: plain(value.to_string()) });
        }
    }
    if all_digits(&bare) {
        let reason = if body.contains('_') {
            "a number in YAML 1.1 and text in YAML 1.2"
        } else if bare.len() > 1 && bare.starts_with('0') {
            "octal in YAML 1.1 and decimal in YAML 1.2"
        } else {
            "a number with a sign, which readers treat differently"
        };
        let value = bare.trim_start_matches('0');
        return Some(Ambiguity {
            reason,
            plain: plain(if value.is_empty() { "0".to_owned() } else { value.to_owned() }),
        });
    }
    let is_part = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
    // Only the last part may be a fraction: `10.0.0.1:80` is text to everybody.
    if let Some((first, last)) = body.rsplit_once(':')
        && first.split(':').all(is_part)
        && is_part(&last.replacen('.', "", 1))
    {
        return Some(Ambiguity { reason: "a base-60 number in YAML 1.1 and text in YAML 1.2", plain: None });
    }
    if sign.is_empty() && is_date(body) {
        return Some(Ambiguity { reason: "a date in YAML 1.1 and text in YAML 1.2", plain: None });
    }
    is_float(&bare).then(|| Ambiguity {
        reason: "a number to some YAML readers and text to others",
        plain: bare
            .parse::<f64>()
            .ok()
            .filter(|value| value.is_finite() && value.abs() < 1e15)
            .map(|value| format!("{sign}{value}")),
    })
}

/// `1.`, `.5`, `1e3`, `1.5E-3`, `.5e3`: digits with a dot or an exponent, in a spelling that is not canonical.
fn is_float(text: &str) -> bool {
    let (mantissa, exponent) =
        text.split_once(['e', 'E']).map_or((text, None), |(mantissa, exponent)| (mantissa, Some(exponent)));
    let exponent_ok = exponent.is_none_or(|exponent| all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)));
    let digits = mantissa.replacen('.', "", 1);
    exponent_ok && all_digits(&digits) && (exponent.is_some() || mantissa.contains('.'))
}

/// `2026-11-21`, alone or followed by a time.
pub(super) fn is_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let (Some(year), Some(month), Some(rest)) = (parts.next(), parts.next(), parts.next()) else { return false };
    let day_len = rest.bytes().take_while(u8::is_ascii_digit).count();
    let (day, tail) = rest.split_at(day_len);
    let short = |part: &str| all_digits(part) && part.len() <= 2;
    year.len() == 4
        && all_digits(year)
        && short(month)
        && short(day)
        && (tail.is_empty() || tail.starts_with(['T', 't', ' ', '\t']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readers_agree() {
        for text in ["0", "-1", "10", "0.5", "-3.25", "1.10"] {
            assert_eq!(classify(text), Plain::Number, "{text}");
        }
        for text in [
            "abc",
            "1.2.3",
            "v1",
            "10.0.0.1",
            "90s",
            "2h",
            "a:b",
            "nginx:1.25",
            "-",
            "+",
            "..",
            "1-2-3",
            "--batch",
            "-x",
            "32Gi",
            "3%",
            "0.1.0",
            "1e",
            "e3",
            "9f86d081",
            "2026-11",
            "yesterday",
            "_1",
            "1x2",
            "100m",
        ] {
            assert_eq!(classify(text), Plain::Text, "{text}");
        }
    }

    #[test]
    fn readers_disagree() {
        let cases = [
            ("yes", Some("true")),
            ("Off", Some("false")),
            ("y", Some("true")),
            ("N", Some("false")),
            ("0777", Some("777")),
            ("08", Some("8")),
            ("1_000", Some("1000")),
            ("1:30", None),
            ("12:30:45.5", None),
            ("0o17", Some("15")),
            ("0x1F", Some("31")),
            ("0b11", Some("3")),
            (".5", Some("0.5")),
            ("5.", Some("5")),
            ("1e3", Some("1000")),
            ("1.5E-3", Some("0.0015")),
            ("+1", Some("1")),
            ("-0777", Some("-777")),
            ("2026-11-21", None),
            ("2026-11-21T10:00:00Z", None),
            ("=", None),
            (".inf", None),
            (".NaN", None),
            ("99999999999999999999", None),
            ("+.5", Some("0.5")),
        ];
        for (text, plain) in cases {
            let Plain::Ambiguous(found) = classify(text) else { panic!("{text} is accepted") };
            assert_eq!(found.plain.as_deref(), plain, "{text}");
        }
    }
}
