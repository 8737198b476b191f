//! What a scalar means to kubectl: the rules of `go.yaml.in/yaml/v2`, on which `sigs.k8s.io/yaml` is based, followed by what
//! JSON makes of the value.

use crate::invariant::Invariant as _;
use crate::yaml::node::Value;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{GeneralPurpose, GeneralPurposeConfig};

/// Padded standard base64 as Go decodes it: bits that the padding leaves over may be anything.
const BASE64: GeneralPurpose =
    GeneralPurpose::new(&STANDARD, GeneralPurposeConfig::new().with_decode_allow_trailing_bits(true));

/// The value of a scalar, before it is known whether it is a value or a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Scalar {
    Null,
    Bool(bool),
    Int(i64),
    /// Too large for a signed integer.
    Large(u64),
    Float(f64),
    Text(String),
}

/// The tags that change how a scalar is read; any other makes it text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    Str,
    Bool,
    Int,
    Float,
    Null,
    Timestamp,
    Binary,
    Other,
}

impl Tag {
    /// Returns the tag whose name follows `tag:yaml.org,2002:` or `!!`.
    pub(super) fn named(suffix: &str) -> Self {
        match suffix {
            "str" => Self::Str,
            "bool" => Self::Bool,
            "int" => Self::Int,
            "float" => Self::Float,
            "null" => Self::Null,
            "timestamp" => Self::Timestamp,
            "binary" => Self::Binary,
            _ => Self::Other,
        }
    }
}

impl Scalar {
    /// Returns the scalar as a value of JSON, or none if JSON cannot represent it.
    pub(super) fn value(&self) -> Option<Value> {
        Some(match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Int(number) => Value::Number(number.to_string()),
            Self::Large(number) => Value::Number(number.to_string()),
            Self::Float(number) if !number.is_finite() => return None,
            Self::Float(number) => Value::Number(json_float(*number)),
            Self::Text(text) => Value::String(text.clone()),
        })
    }

    /// Returns the scalar as a key of JSON, or nothing when kubectl refuses it as one.
    pub(super) fn key(&self) -> Option<String> {
        match self {
            Self::Null | Self::Large(_) => None,
            Self::Bool(flag) => Some(flag.to_string()),
            Self::Int(number) => Some(number.to_string()),
            Self::Float(number) => Some(key_float(*number)),
            Self::Text(text) => Some(text.clone()),
        }
    }
}

/// Reads a scalar with a tag; an error says what it is not.
pub(super) fn tagged(tag: Tag, text: &str) -> Result<Scalar, &'static str> {
    let read = plain(text);
    match (tag, &read) {
        (Tag::Str | Tag::Other, _) => Ok(Scalar::Text(text.to_owned())),
        (Tag::Bool, Scalar::Bool(_))
        | (Tag::Int, Scalar::Int(_) | Scalar::Large(_))
        | (Tag::Float, Scalar::Float(_))
        | (Tag::Null, Scalar::Null) => Ok(read),
        (Tag::Float, Scalar::Int(number)) => Ok(Scalar::Float(*number as f64)),
        (Tag::Timestamp, Scalar::Text(_)) if crate::yaml::scalar::is_date(text) => Ok(read),
        (Tag::Bool, _) => Err("a boolean"),
        (Tag::Int, _) => Err("an integer"),
        (Tag::Float, _) => Err("a number"),
        (Tag::Null, _) => Err("null"),
        (Tag::Timestamp, _) => Err("a timestamp"),
        (Tag::Binary, _) => {
            let digits = text.replace(['\n', '\r'], "");
            let bytes = BASE64.decode(digits).map_err(|_undecoded| "base64")?;
            String::from_utf8(bytes).map(Scalar::Text).map_err(|_no_text| "base64 of UTF-8 text")
        }
    }
}

/// Reads a scalar without quotes and without a tag.
pub(super) fn plain(text: &str) -> Scalar {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Scalar::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Scalar::Bool(true),
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Scalar::Bool(false);
        }
        ".nan" | ".NaN" | ".NAN" => return Scalar::Float(f64::NAN),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => return Scalar::Float(f64::INFINITY),
        "-.inf" | "-.Inf" | "-.INF" => return Scalar::Float(f64::NEG_INFINITY),
        _ => {}
    }
    let number = match text.bytes().next() {
        Some(b'.') if underscores_are_between_digits(text) => float(&text.replace('_', "")),
        Some(b'0'..=b'9' | b'+' | b'-') => {
            let bare = text.replace('_', "");
            integer(&bare).or_else(|| float(&bare))
        }
        _ => None,
    };
    number.unwrap_or_else(|| Scalar::Text(text.to_owned()))
}

/// Reads an integer as Go's `strconv` does: `0x`, `0o`, `0b` or a leading `0` name the base. Base 60 is text to kubectl.
fn integer(text: &str) -> Option<Scalar> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let prefix = digits.get(..2).unwrap_or_default().to_ascii_lowercase();
    let (digits, radix) = match (prefix.as_str(), digits.get(2..)) {
        ("0x", Some(rest)) => (rest, 16),
        ("0o", Some(rest)) => (rest, 8),
        ("0b", Some(rest)) => (rest, 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (digits, 8),
        _ => (digits, 10),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = u64::from_str_radix(digits, radix).ok()?;
    let signed = if text.starts_with('-') { 0i64.checked_sub_unsigned(size) } else { i64::try_from(size).ok() };
    match signed {
        Some(number) => Some(Scalar::Int(number)),
        None => (!text.starts_with(['+', '-'])).then_some(Scalar::Large(size)),
    }
}

/// Reads `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`; a number too large for a float is text to kubectl.
fn float(text: &str) -> Option<Scalar> {
    let all_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let body = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = body.split_once(['e', 'E']).map_or((body, "0"), |(before, after)| (before, after));
    let (whole, fraction) = mantissa.split_once('.').map_or((mantissa, None), |(before, after)| (before, Some(after)));
    let spelled = match fraction {
        None | Some("") => all_digits(whole),
        Some(fraction) => all_digits(fraction) && (whole.is_empty() || all_digits(whole)),
    };
    if !spelled || !all_digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent)) {
        return None;
    }
    text.parse::<f64>().ok().filter(|number| number.is_finite()).map(Scalar::Float)
}

fn underscores_are_between_digits(text: &str) -> bool {
    let digit_at = |at: Option<usize>| at.and_then(|at| text.as_bytes().get(at)).is_some_and(u8::is_ascii_digit);
    text.match_indices('_').all(|(at, _)| digit_at(at.checked_sub(1)) && digit_at(Some(at + 1)))
}

/// Spells a float as Go's `encoding/json` does: `1.0` is `1` there.
fn json_float(number: f64) -> String {
    let size = number.abs();
    if size != 0.0 && !(1e-6..1e21).contains(&size) { format!("{number:e}") } else { format!("{number}") }
}

/// Spells a float as `sigs.k8s.io/yaml` does for keys: in single precision, with an exponent from a million on.
fn key_float(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "kubectl rounds keys to single precision")]
    let single = number as f32;
    if single.is_nan() {
        return ".nan".to_owned();
    }
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let spelled = format!("{single:e}");
    let (mantissa, exponent) = spelled.split_once('e').expected("an exponent, which `{:e}` writes");
    let exponent: i32 = exponent.parse().expected("an exponent, which `{:e}` writes");
    if (-4..6).contains(&exponent) {
        return format!("{single}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{mantissa}e{sign}{:02}", exponent.abs())
}
