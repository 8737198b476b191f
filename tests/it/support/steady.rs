//! Texts of two runs of one test, made equal: what people read, without what differs each time.

use std::fmt::Display;

use regex::Regex;

/// What differs from run to run, and what is written instead.
const PARTS: &[(&str, &str)] = &[
    (r"(/\w[\w.-]*)*/\.tmp\w{6}", "FOLDER"),
    (r"\b[0-9a-f]{10}([0-9a-f]{30})?\b", "COMMIT"),
    (r"\bsha256:[0-9a-f]{64}\b", "sha256:DIGEST"),
    (r"\b\d{8}T\d{6}Z-[0-9a-f]{8}(-r\d+)?", "RUN"),
    (r"\b(acks|experiments)/([\w-]+)-[0-9a-f]{8}\b", "$1/$2-ID"),
    (r"-p[0-9a-f]{8}\b", "-pID"),
    (r"\bin \d+(\.\d+)? s\b", "in SECONDS s"),
];

/// A text with names instead of temporary folders, commits, digests, runs and times.
pub(crate) fn steady(text: impl Display) -> String {
    PARTS
        .iter()
        .fold(text.to_string(), |text, (part, name)| Regex::new(part).unwrap().replace_all(&text, *name).into_owned())
}
