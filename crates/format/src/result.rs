//! Result files: the format, its canonical bytes, and what of a file can be trusted.
//!
//! A file is one run and is never changed. Its place follows from its content, its digest shows whether somebody edited
//! it, and there is one spelling for one content.

mod ack;
mod composition;
pub mod fingerprint;
mod judge;
mod place;
mod reason;
mod redacted;
mod shrink;
mod spelling;
pub mod v1;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

pub use ack::{ANY, Accepts, Ack, Before};
pub use composition::Composition;
pub use judge::judge;
use kubebench_syntax::digest::{Canonical, Digest, Hasher};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::MetricSelector;
pub use place::{path, round};
pub use reason::ReasonCode;
pub use redacted::{names as redact_names, redact};
pub use spelling::{plain, plain_number, spelled};
pub use v1::BenchmarkResult;

/// The name of the variants' dimension, next to the axes, in specs and in the parameters of results.
pub const VARIANT: &str = "variant";
/// `apiVersion` of every result.
pub const API_VERSION: &str = "kubebench.dev/v1";
/// `kind` of every result.
pub const KIND: &str = "BenchmarkResult";
/// The version of the format that is written.
pub const SCHEMA_VERSION: u32 = 1;
/// A result file is never larger.
pub const MAX_BYTES: usize = 1 << 20;

/// Returns the name of a metric with its labels, as people read it: `latency{quantile=0.99}`.
pub fn labelled(name: &str, labels: &BTreeMap<String, String>) -> String {
    MetricSelector::of_series(name, labels).to_string()
}

impl BenchmarkResult {
    /// Returns the metric that represents the benchmark: the primary one, or the only one.
    pub fn primary(&self) -> Option<&v1::Metric> {
        match self.metrics.as_slice() {
            [only] => Some(only),
            several => several.iter().find(|metric| metric.kind == v1::Kind::Primary),
        }
    }
}

impl v1::Provenance {
    /// Returns the version of the extraction rules; results of the first name none.
    pub fn extraction_version(&self) -> u32 {
        self.extraction.unwrap_or(1)
    }
}

/// A result and its file.
#[derive(Clone, Debug)]
pub struct Sealed {
    /// The content, its digest set.
    pub result: BenchmarkResult,
    /// The bytes of the file.
    pub bytes: Vec<u8>,
}

/// Why a file is not a result that can be trusted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It is larger than any result.
    TooLarge,
    /// It is not JSON.
    NotJson(String),
    /// It is JSON of something else.
    NotAResult,
    /// It is of a version that this program does not know.
    UnknownVersion(String),
    /// A field is missing, unknown or of another type.
    Malformed(String),
    /// The content does not have the digest that the file names.
    Edited {
        /// The digest in the file.
        stated: String,
        /// That of its content.
        actual: String,
    },
    /// The content is as it was written, its layout is not.
    Reformatted,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge => write!(f, "a result is never larger than {} KiB", MAX_BYTES >> 10),
            Self::NotJson(error) => write!(f, "this is not JSON: {error}"),
            Self::NotAResult => write!(f, "this is not a result file: it has no `kind: {KIND}`"),
            Self::UnknownVersion(version) => {
                write!(f, "this result has version {version}, but this program reads versions up to {SCHEMA_VERSION}")
            }
            Self::Malformed(error) => write!(f, "this result is malformed: {error}"),
            Self::Edited { stated, actual } => write!(
                f,
                "this result was edited after it was written: the content has the digest {actual}, the file says {stated}"
            ),
            Self::Reformatted => {
                write!(f, "the file was reformatted: its content is unchanged, but its bytes are not")
            }
        }
    }
}

/// Gives `result` its digest and its bytes, dropping the least important parts until they fit in a file.
pub fn seal(mut result: BenchmarkResult) -> Sealed {
    shrink::thin(&mut result, 10_000);
    let mut steps = shrink::STEPS.iter();
    loop {
        result.digest = digest_of(&result).to_string();
        let bytes = canonical(&json(&result));
        let before = if bytes.len() > MAX_BYTES { Some(result.clone()) } else { None };
        let took_effect = before.is_some_and(|before| {
            steps.any(|step| {
                step(&mut result);
                result != before
            })
        });
        if !took_effect {
            return Sealed { result, bytes };
        }
    }
}

/// Reads a file of any version that was ever written.
///
/// # Errors
/// What is wrong with it; a file that was only reformatted is read by [`content`].
pub fn read(bytes: &[u8]) -> Result<Sealed, Fault> {
    let result = content(bytes)?;
    if canonical(&json(&result)) != bytes {
        return Err(Fault::Reformatted);
    }
    Ok(Sealed { result, bytes: bytes.to_vec() })
}

/// Reads a file whose bytes are still those that were hashed when it was written: in a fraction of the time of [`read`], which says
/// what is wrong with any other.
pub fn as_written(bytes: &[u8]) -> Option<BenchmarkResult> {
    const BEGIN: &[u8] = b"\n  \"digest\": \"sha256:";
    let found = memchr::memmem::find(bytes, BEGIN).filter(|_| bytes.len() <= MAX_BYTES)?;
    let (before, line) = bytes.split_at(found + 1);
    // Nothing else is allowed on this line, which the digest leaves out.
    let (line, after) = line.split_at_checked(BEGIN.len() - 1 + 64 + 3)?;
    if !line.ends_with(b"\",\n") {
        return None;
    }
    let mut hasher = Hasher::default();
    hasher.update(before);
    hasher.update(after);
    let result: BenchmarkResult = serde_json::from_slice(bytes).ok()?;
    let is_known = result.kind == KIND && result.api_version == API_VERSION && result.schema_version == SCHEMA_VERSION;
    let is_whole = is_known && result.digest == hasher.finish().to_string() && check(&result).is_ok();
    is_whole.then_some(result)
}

/// Reads the content of a file and compares it with its digest, whatever its layout.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn content(bytes: &[u8]) -> Result<BenchmarkResult, Fault> {
    if bytes.len() > MAX_BYTES {
        return Err(Fault::TooLarge);
    }
    let root: Json = serde_json::from_slice(bytes).map_err(|error| Fault::NotJson(error.to_string()))?;
    let text = |key| root.get(key).and_then(Json::as_str).unwrap_or_default();
    if text("kind") != KIND {
        return Err(Fault::NotAResult);
    }
    let version = root.get("schemaVersion").cloned().unwrap_or_default();
    if text("apiVersion") != API_VERSION || version != SCHEMA_VERSION {
        return Err(Fault::UnknownVersion(format!("{} {version}", text("apiVersion"))));
    }
    let result: BenchmarkResult = serde_json::from_value(root).map_err(|error| Fault::Malformed(error.to_string()))?;
    check(&result).map_err(Fault::Malformed)?;
    let actual = digest_of(&result).to_string();
    if result.digest != actual {
        return Err(Fault::Edited { stated: result.digest, actual });
    }
    Ok(result)
}

/// Returns what in `result` no version of this program writes, although its types allow it.
fn check(result: &BenchmarkResult) -> Result<(), String> {
    place::judge(result)?;
    // A run that is invalid because of it keeps both values.
    let is_counted = result.run.status == v1::Status::Succeeded;
    let mut seen = BTreeSet::new();
    let again = result.metrics.iter().find(|metric| is_counted && !seen.insert((&metric.name, &metric.labels)));
    again.map_or(Ok(()), |metric| {
        let name = labelled(&metric.name, &metric.labels);
        let shown: String = name.chars().take(80).flat_map(char::escape_debug).collect();
        Err(format!("`metrics` holds `{shown}` twice, but a run has one value of each series"))
    })
}

/// Returns the canonical bytes of a JSON value: sorted keys, two spaces, shortest floats that read back the same, one line
/// end at the end.
pub fn canonical(value: &Json) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(&Canonical::of(value)).expected("canonical JSON of a JSON value");
    bytes.push(b'\n');
    bytes
}

fn json(result: &BenchmarkResult) -> Json {
    serde_json::to_value(result).expected("JSON of our own types")
}

fn digest_of(result: &BenchmarkResult) -> Digest {
    let mut root = json(result);
    if let Some(root) = root.as_object_mut() {
        root.remove("digest");
    }
    Digest::of(canonical(&root))
}

/// Returns at most `keep` of `samples`, evenly spaced, the first and the last among them.
pub fn thinned<T: Copy>(samples: &[T], keep: usize) -> Vec<T> {
    spread(samples.len(), keep).filter_map(|index| samples.get(index).copied()).collect()
}

/// Returns at most `keep` places among `count`, evenly spaced, the first and the last among them.
pub fn spread(count: usize, keep: usize) -> impl Iterator<Item = usize> {
    let last = count.saturating_sub(1);
    let place = move |index: usize| match keep {
        _ if count <= keep => index,
        0 | 1 => 0,
        _ => index * last / (keep - 1),
    };
    (0..keep.min(count)).map(place)
}

#[cfg(test)]
mod tests;
