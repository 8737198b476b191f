//! Whether an envelope is one of a result, signed by a key that counts.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::MAX_BYTES;
use super::envelope::{Envelope, PAYLOAD, signed_bytes};
use super::key::PublicKey;
use super::statement::{Recorded, statement};
use kubebench_format::attestation::v1::Statement;
use kubebench_format::result::Sealed;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::unit::Day;

/// A key that results may be signed with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What people call it.
    pub name: String,
    pub public: PublicKey,
    /// Runs that ended before this day are signed with another.
    pub not_before: Option<Day>,
    /// And those that ended after this one.
    pub not_after: Option<Day>,
}

/// What is known of who recorded a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Signature {
    /// A key that counts has signed it.
    Signed {
        /// The name of the key.
        key: String,
        /// Whether the volume kept jobs from writing where the result was.
        separated: bool,
    },
    /// There is no envelope.
    Unsigned,
    /// There is one, which proves nothing, and why.
    Invalid(String),
}

/// Why an envelope proves nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Invalid {
    /// It is larger than any.
    TooLarge,
    /// It is no envelope.
    Malformed(String),
    /// No key of the project has signed it.
    UnknownKey(Vec<String>),
    /// It was changed after it was signed, or another key signed it.
    Forged {
        /// The name of the key that it names.
        key: String,
    },
    /// It is of another file, or of this one as it was before.
    AnotherFile {
        /// The digest of the file that was signed.
        signed: String,
        /// That of this one.
        found: String,
    },
    /// It says something of the result that the result does not say.
    Contradicts(&'static str),
    /// The key did not count when the run ended.
    OutOfTime {
        /// The name of the key.
        key: String,
        /// The day on which the run ended.
        ended: String,
    },
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLarge => write!(f, "its envelope is larger than {} KiB", MAX_BYTES >> 10),
            Self::Malformed(why) => write!(f, "its envelope is malformed: {why}"),
            Self::UnknownKey(ids) if ids.is_empty() => f.write_str("its envelope has no signature"),
            Self::UnknownKey(ids) => {
                write!(f, "it was signed with a key that is not in `results.keys`: {}", ids.join(", "))
            }
            Self::Forged { key } => {
                write!(
                    f,
                    "the signature does not match the key `{key}`: the envelope was changed, or made without the key"
                )
            }
            Self::AnotherFile { signed, found } => write!(
                f,
                "the envelope belongs to another file: the signed file has the SHA-256 {signed}, this one has {found}"
            ),
            Self::Contradicts(what) => write!(f, "the envelope and the result differ in {what}"),
            Self::OutOfTime { key, ended } => {
                write!(f, "the key `{key}` was not valid on {ended}, when the run ended")
            }
        }
    }
}

/// Returns what distinguishes these keys from others.
pub fn identity(keys: &[Key]) -> String {
    let day = |day: &Option<Day>| day.map_or_else(String::new, |day| day.to_string());
    let fields = |key: &Key| [key.name.clone(), key.public.id(), day(&key.not_before), day(&key.not_after)];
    Digest::of_fields(keys.iter().flat_map(fields)).hex()
}

/// Evaluates the envelope of `result` by the keys that count.
pub fn verify(envelope: &[u8], result: &Sealed, keys: &[Key]) -> Signature {
    check(envelope, result, keys).unwrap_or_else(|why| Signature::Invalid(why.to_string()))
}

/// Says why an envelope is not one of `result`, whoever has signed it.
///
/// # Errors
/// Why it is not one.
pub fn is_of(envelope: &[u8], result: &Sealed) -> Result<(), String> {
    let (_, payload) = open(envelope).map_err(|why| why.to_string())?;
    says_what_it_says(&payload, result).map(drop).map_err(|why| why.to_string())
}

fn check(envelope: &[u8], result: &Sealed, keys: &[Key]) -> Result<Signature, Invalid> {
    let (read, payload) = open(envelope)?;
    let key = signer(&read, &payload, keys)?;
    // Only what was signed is read.
    let separated = says_what_it_says(&payload, result)?;
    let ended: String = result.result.run.finished_at.chars().take(10).collect();
    let counts = Day::parse(&ended).is_ok_and(|day| {
        key.not_before.is_none_or(|first| first <= day) && key.not_after.is_none_or(|last| day <= last)
    });
    if counts {
        Ok(Signature::Signed { key: key.name.clone(), separated })
    } else {
        Err(Invalid::OutOfTime { key: key.name.clone(), ended })
    }
}

/// Reads an envelope and its payload.
fn open(envelope: &[u8]) -> Result<(Envelope, Vec<u8>), Invalid> {
    if envelope.len() > MAX_BYTES {
        return Err(Invalid::TooLarge);
    }
    let malformed = |what: &str| Invalid::Malformed(what.to_owned());
    let read: Envelope = serde_json::from_slice(envelope).map_err(|error| Invalid::Malformed(error.to_string()))?;
    if read.payload_type != PAYLOAD {
        return Err(malformed("its payload is not an in-toto statement"));
    }
    let payload = read.payload().ok_or_else(|| malformed("its payload is not base64"))?;
    Ok((read, payload))
}

/// Returns whether the statement says that the volume kept jobs away, where it says of the result nothing but what that says itself.
fn says_what_it_says(payload: &[u8], result: &Sealed) -> Result<bool, Invalid> {
    let said: Statement = serde_json::from_slice(payload).map_err(|error| Invalid::Malformed(error.to_string()))?;
    let separated = said.predicate.separated;
    let right = statement(result, Recorded { separated });
    let [subject] = said.subject.as_slice() else {
        return Err(Invalid::Malformed(format!("it names {} files, expected one", said.subject.len())));
    };
    let found = Digest::of(&result.bytes).hex();
    if subject.digest.sha256 != found {
        return Err(Invalid::AnotherFile { signed: subject.digest.sha256.clone(), found });
    }
    let (ours, theirs) = (&right.predicate, &said.predicate);
    let parts = [
        ("the type", said.statement_type == right.statement_type && said.predicate_type == right.predicate_type),
        ("the path", said.subject == right.subject),
        ("the spec", theirs.spec_digest == ours.spec_digest),
        ("what was executed", theirs.run_digest == ours.run_digest),
        ("the images", theirs.images == ours.images),
        ("the Workflow", theirs.workflow_uid == ours.workflow_uid),
        ("the cluster", theirs.cluster == ours.cluster && theirs.target == ours.target),
    ];
    match parts.into_iter().find(|(_, is_same)| !is_same) {
        Some((what, _)) => Err(Invalid::Contradicts(what)),
        None => Ok(separated),
    }
}

/// Returns the key that has signed the payload; one is enough.
fn signer<'k>(envelope: &Envelope, payload: &[u8], keys: &'k [Key]) -> Result<&'k Key, Invalid> {
    let bytes = signed_bytes(PAYLOAD, payload);
    let mut forged = None;
    for signature in &envelope.signatures {
        // Its id is a hint, which DSSE lets the signer leave out.
        for key in keys.iter().filter(|key| signature.keyid.is_empty() || key.public.id() == signature.keyid) {
            if signature.bytes().is_some_and(|signature| key.public.has_signed(&bytes, &signature)) {
                return Ok(key);
            }
            forged = forged.or_else(|| (!signature.keyid.is_empty()).then(|| key.name.clone()));
        }
    }
    let ids = || {
        let shown =
            |id: &str| if id.is_empty() { "a key without an id".to_owned() } else { id.chars().take(64).collect() };
        envelope.signatures.iter().map(|signature| shown(&signature.keyid)).collect()
    };
    Err(forged.map_or_else(|| Invalid::UnknownKey(ids()), |key| Invalid::Forged { key }))
}

#[cfg(test)]
mod tests;
