//! The path of a result file: it follows from the content alone, and the content may come from anybody.
//!
//! What identifies a run is also used in paths, commands and comments, so its form is restricted to be safe in all of them.

use super::v1::{BenchmarkResult, Metadata, Run};
use kubebench_syntax::digest::Digest;

/// Returns the place of a result below the results folder: `<benchmark>/<case>/<UTC>-<run8>-r<repeat>-a<attempt>.json`, the time to the
/// second.
///
/// A warm-up has `w` for `r`; one that was read again from its logs ends in `-p` and a digest of the rules and
/// of the version that read.
pub fn path(result: &BenchmarkResult) -> String {
    let BenchmarkResult { metadata, run, source, recorder, .. } = result;
    let second = run.started_at.split(['.', 'Z']).next().unwrap_or_default();
    let time: String = second.chars().filter(|letter| !matches!(letter, '-' | ':')).collect();
    let run8 = run.id.get(..8).unwrap_or(&run.id);
    let again = match &source.reparsed {
        Some(_) => format!("-p{}", Digest::of_fields([source.rules_digest.as_str(), &recorder.version]).short()),
        None => String::new(),
    };
    let file = format!("{time}Z-{run8}-{}-a{}{again}.json", round(run), run.attempt);
    format!("{}/{}/{file}", metadata.benchmark, metadata.case)
}

/// Returns the round as used in names: `r1`, or `w1` for a warm-up.
pub fn round(run: &Run) -> String {
    format!("{}{}", if run.warmup { 'w' } else { 'r' }, run.repeat)
}

/// Returns what in `result` must not be part of a path or of a command; its file could be anywhere, and its text do anything.
pub(super) fn judge(result: &BenchmarkResult) -> Result<(), String> {
    let Metadata { benchmark, case, .. } = &result.metadata;
    let Run { id, session, started_at, finished_at, .. } = &result.run;
    let commit = result.source.commit.as_ref();
    let begins_with_a_letter = benchmark.starts_with(|letter: char| letter.is_ascii_lowercase());
    let names = [
        ("metadata.benchmark", benchmark, begins_with_a_letter && is_label(benchmark, 31), "a name of a benchmark"),
        ("metadata.case", case, is_label(case, 63), "an identity of a case"),
        ("run.id", id, is_id(id), "32 lower-case hexadecimal digits"),
        ("run.session", session, is_word(session), "letters, digits, dots, dashes and underscores"),
        ("run.startedAt", started_at, is_time(started_at), "a time such as `2026-01-02T03:04:05.678Z`"),
        ("run.finishedAt", finished_at, is_time(finished_at), "a time such as `2026-01-02T03:04:05.678Z`"),
    ];
    let commit = commit
        .map(|commit| ("source.commit", commit, is_commit(commit), "a whole commit, 40 or 64 hexadecimal digits"));
    match names.into_iter().chain(commit).find(|(_, _, is_right, _)| !is_right) {
        Some((field, value, _, wanted)) => {
            let shown: String = value.chars().take(80).flat_map(char::escape_default).collect();
            Err(format!("`{field}` is `{shown}`, which is not {wanted}"))
        }
        None => Ok(()),
    }
}

/// Lower-case letters, digits and, inside, dashes.
fn is_label(text: &str, longest: usize) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=longest).contains(&text.len()) && text.bytes().all(is_inner) && !text.starts_with('-') && !text.ends_with('-')
}

fn is_id(text: &str) -> bool {
    text.len() == 32 && is_hexadecimal(text)
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && is_hexadecimal(text)
}

fn is_hexadecimal(text: &str) -> bool {
    text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// One word of a command line, at most as long as a name in Kubernetes.
fn is_word(text: &str) -> bool {
    let is_inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    (1..=253).contains(&text.len()) && text.bytes().all(is_inner) && !text.starts_with('-')
}

/// To the second, as in older results, or to the millisecond.
fn is_time(text: &str) -> bool {
    let fits = |(byte, wanted): (u8, u8)| if wanted == b'0' { byte.is_ascii_digit() } else { byte == wanted };
    let has_form = |form: &str| text.len() == form.len() && text.bytes().zip(form.bytes()).all(fits);
    has_form("0000-00-00T00:00:00Z") || has_form("0000-00-00T00:00:00.000Z")
}
