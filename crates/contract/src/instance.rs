//! From a case's object to that of one run: the name of its job, the labels of the run, and who owns it.

use serde_json::{Value as Json, json};

use super::labels;
use kubebench_syntax::digest::Digest;

/// One attempt at a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Attempt<'a> {
    /// The name of its job.
    pub job: &'a str,
    /// The repeat, from 1; warm-ups are counted separately.
    pub repeat: u32,
    /// From 1.
    pub number: u32,
    /// Whether the run is a warm-up.
    pub warmup: bool,
}

/// The Workflow that an object belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner<'a> {
    pub name: &'a str,
    pub uid: &'a str,
}

/// Whose execution a job belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Session<'a> {
    /// The one execution of a Workflow in git: the names of its jobs are known when it is compiled.
    Once,
    /// One of many of a CronWorkflow, by the uid of the Workflow that it made.
    Scheduled { uid: &'a str },
}

/// Returns the name of the job of attempt `attempt` at a round of `case`: from the run digest's hex digits, with or without
/// `sha256:`, the round as `r1` or `w1`, and the session.
pub fn job_name(
    benchmark: &str,
    run_digest: &str,
    case: &str,
    round: &str,
    attempt: u32,
    session: Session<'_>,
) -> String {
    let number = attempt.to_string();
    let digits = run_digest.strip_prefix("sha256:").unwrap_or(run_digest);
    let fields = [digits, case, round, &number];
    let of_session = match session {
        Session::Once => None,
        Session::Scheduled { uid } => Some(uid),
    };
    format!("{benchmark}-{}", Digest::of_fields(fields.into_iter().chain(of_session)).short())
}

/// Returns the benchmark in a name that [`job_name`] may have made: the part before eight hex digits.
pub fn benchmark_of(name: &str) -> Option<&str> {
    let (benchmark, digits) = name.rsplit_once('-')?;
    let is_digest = digits.len() == 8 && digits.bytes().all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'));
    (is_digest && !benchmark.is_empty()).then_some(benchmark)
}

/// Returns the name of the server `id`, which several runs may load.
pub fn server_name(benchmark: &str, run_digest: &str, id: &str, session: Session<'_>) -> String {
    job_name(benchmark, run_digest, id, "server", 1, session)
}

/// Sets `name` at the pointers `at`. Their last field may be missing; the objects above it exist.
pub fn name_at(object: &mut Json, at: &[String], name: &str) {
    for pointer in at {
        let Some((parent, field)) = pointer.rsplit_once('/') else { continue };
        if let Some(parent) = object.pointer_mut(parent).and_then(Json::as_object_mut) {
            parent.insert(unescaped(field), name.into());
        }
    }
}

/// Adds `labels` to the mappings at the pointers `at`.
pub fn label_at(object: &mut Json, at: &[String], labels: &[(&str, String)]) {
    for pointer in at {
        if let Some(found) = object.pointer_mut(pointer).and_then(Json::as_object_mut) {
            found.extend(labels.iter().map(|(name, value)| ((*name).to_owned(), value.as_str().into())));
        }
    }
}

/// Makes `object` go with its Workflow: who deletes that deletes it.
pub(crate) fn own(object: &mut Json, owner: Owner<'_>) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
        let reference = json!({
            "apiVersion": "argoproj.io/v1alpha1",
            "kind": "Workflow",
            "name": owner.name,
            "uid": owner.uid,
        });
        metadata.insert("ownerReferences".to_owned(), json!([reference]));
    }
}

impl Attempt<'_> {
    /// Returns the labels of the run.
    pub(crate) fn labels(&self) -> [(&'static str, String); 4] {
        [
            (labels::RUN, self.job.to_owned()),
            (labels::REPEAT, self.repeat.to_string()),
            (labels::ATTEMPT, self.number.to_string()),
            (labels::WARMUP, self.warmup.to_string()),
        ]
    }
}

/// Returns a step of a JSON Pointer as the key that it means.
fn unescaped(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}

/// Returns the text at a JSON Pointer into an object of the API; empty where there is none.
pub fn text_at<'a>(value: &'a Json, at: &str) -> &'a str {
    value.pointer(at).and_then(Json::as_str).unwrap_or_default()
}
