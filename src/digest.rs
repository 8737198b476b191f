//! SHA-256 digests of canonical bytes, and the short forms that names are made of.

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// Returns the digest of a list of fields, each preceded by its length so that no two lists share a spelling.
    pub fn of_fields<'a>(fields: impl IntoIterator<Item = &'a str>) -> Self {
        let mut hasher = Sha256::new();
        for field in fields {
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field.as_bytes());
        }
        Self(hasher.finalize().into())
    }

    /// Returns all 64 hex digits.
    pub fn hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
            hex
        })
    }

    /// Returns the first 8 hex digits: the `digest8` and `h8` of object names.
    pub fn short(&self) -> String {
        let mut hex = self.hex();
        hex.truncate(8);
        hex
    }
}

impl std::fmt::Debug for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "sha256:{}", self.hex())
    }
}

/// Returns `value` as JSON with keys sorted everywhere and no white space: one spelling for one meaning.
pub fn canonical_json(value: &serde_json::Value) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

fn write_canonical(value: &serde_json::Value, text: &mut String) {
    use serde_json::Value;
    let mut separate = {
        let mut first = true;
        move |text: &mut String| {
            if std::mem::take(&mut first) {
            } else {
                text.push(',');
            }
        }
    };
    match value {
        Value::Array(items) => {
            text.push('[');
            for item in items {
                separate(text);
                write_canonical(item, text);
            }
            text.push(']');
        }
        Value::Object(object) => {
            let mut entries: Vec<_> = object.iter().collect();
            entries.sort_by_key(|(key, _)| key.as_str());
            text.push('{');
            for (key, value) in entries {
                separate(text);
                text.push_str(&Value::String(key.clone()).to_string());
                text.push(':');
                write_canonical(value, text);
            }
            text.push('}');
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => text.push_str(&value.to_string()),
    }
}
