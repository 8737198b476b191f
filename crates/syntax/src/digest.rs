//! SHA-256 digests of canonical bytes, and the short forms that names are made of.

use std::collections::BTreeMap;

use crate::invariant::Invariant as _;
use serde::{Serialize, Serializer};
use serde_json::Value;
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
    pub fn of_fields(fields: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let mut hasher = Sha256::new();
        for field in fields {
            let field = field.as_ref();
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field);
        }
        Self(hasher.finalize().into())
    }

    /// Returns all 64 hex digits.
    pub fn hex(&self) -> String {
        self.0.iter().fold(String::with_capacity(64), |mut hex, byte| {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).expected("a hex digit for four bits"));
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

/// Computes the digest of bytes that arrive in pieces.
#[derive(Clone, Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all of them.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

/// A JSON value whose keys are sorted everywhere when it is written: one spelling for one meaning.
///
/// Whatever order its maps have: a dependency may turn on `serde_json`'s `preserve_order`.
#[derive(Clone, Copy)]
pub struct Canonical<'a> {
    value: &'a Value,
    without: &'static [&'static str],
}

impl<'a> Canonical<'a> {
    /// Writes all of a value.
    pub fn of(value: &'a Value) -> Self {
        Self { value, without: &[] }
    }

    /// Leaves out fields of these names, wherever they are.
    #[must_use]
    pub fn without(self, names: &'static [&'static str]) -> Self {
        Self { without: names, ..self }
    }
}

impl<'a> Serialize for Canonical<'a> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let within = |value| Canonical { value, ..*self };
        let kept = |object: &'a serde_json::Map<String, Value>| {
            let is_kept = |(key, _): &(&String, &Value)| !self.without.contains(&key.as_str());
            object.iter().filter(is_kept).map(|(key, value)| (key, within(value)))
        };
        match self.value {
            Value::Array(items) => serializer.collect_seq(items.iter().map(within)),
            Value::Object(object) if object.keys().is_sorted() => serializer.collect_map(kept(object)),
            Value::Object(object) => serializer.collect_map(kept(object).collect::<BTreeMap<_, _>>()),
            scalar => scalar.serialize(serializer),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Canonical, Digest, Hasher};

    #[test]
    fn a_value_is_written_by_its_keys_without_what_is_left_out() {
        let value = json!({"b": {"name": 1, "a": [{"name": 2, "z": null}, 3]}, "name": {"a": 4}, "a": "x"});
        let written = |canonical: Canonical<'_>| serde_json::to_string(&canonical).unwrap();
        let all = r#"{"a":"x","b":{"a":[{"name":2,"z":null},3],"name":1},"name":{"a":4}}"#;
        assert_eq!(written(Canonical::of(&value)), all);
        assert_eq!(written(Canonical::of(&value).without(&["name"])), r#"{"a":"x","b":{"a":[{"z":null},3]}}"#);
    }

    #[test]
    fn a_digest_is_written_as_the_standard_has_it() {
        // FIPS 180-2, B.1.
        let digest = Digest::of("abc");
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!((digest.hex().as_str(), digest.short().as_str()), (hex, "ba7816bf"));
        assert_eq!([digest.to_string(), format!("{digest:?}")], [format!("sha256:{hex}"), format!("sha256:{hex}")]);
    }

    #[test]
    fn pieces_have_the_digest_of_the_whole_and_fields_do_not() {
        let mut hasher = Hasher::default();
        hasher.update(b"a");
        hasher.update(b"bc");
        assert_eq!(hasher.finish(), Digest::of("abc"));
        assert_ne!(Digest::of_fields(["a", "bc"]), Digest::of_fields(["ab", "c"]));
    }
}
