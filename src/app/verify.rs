//! Who recorded results: each by the keys of the project, or by others.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use rayon::prelude::*;

use super::evaluate::Evaluation;
use super::record::result_files;
use super::results::{NamedResults, signature_beside};
use super::start::Start;
use crate::app::results::proves_nothing;
use kubebench_attestation::{Counted, Key, PublicKey, Signature};
use kubebench_format::attestation::v1::{Verified, VerifiedAs, VerifiedResult};
use kubebench_format::result;
use kubebench_host::fs::{self, Content};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};

/// What is said of an envelope without its result.
const ORPHAN: &str = "it is a signature for a result that is not here";

/// What is to be verified.
pub struct VerifyQuery<'q> {
    /// Files, and folders of them; without any, the project's results.
    pub paths: &'q [PathBuf],
    /// Instead of the project's.
    pub results: Option<&'q NamedResults>,
    /// The keys that count, in files of PEM; without any, the project's.
    pub keys: &'q [PathBuf],
    /// Whether the branch of recorded results is fetched first, and who is informed of that.
    pub fetch: Option<fn(&str)>,
}

/// Who recorded results.
pub struct Verification {
    /// Each result.
    pub answer: Verified,
    /// What is wrong with some.
    pub diagnostics: Diagnostics,
    /// Which results count in the project.
    pub counted: Counted,
}

/// Returns who recorded each result.
///
/// # Errors
/// When there is no key, or the results cannot be read at all.
pub fn verified(start: &Start, query: &VerifyQuery<'_>) -> Result<Verification> {
    let mut evaluation = Evaluation::open(start)?;
    if !query.keys.is_empty() {
        evaluation.keys = query.keys.iter().map(|path| key(start, path)).collect::<Result<_>>()?;
    }
    if evaluation.keys.is_empty() {
        bail!(
            "there is no key to check signatures with: list the public key of the recorder in `results.keys` of \
             kubebench.yaml, or name its file with `--key`"
        );
    }
    let counted = std::mem::replace(&mut evaluation.counted, Counted::All);
    let mut removed = BTreeMap::new();
    let results = if query.paths.is_empty() {
        let results = of_project(&mut evaluation, query)?;
        if let Some(branch) = evaluation.recorded_on() {
            removed = branch.removed(&evaluation.directory)?;
        }
        results
    } else {
        let files: Vec<_> = result_files(start, query.paths)?.into_iter().collect();
        files.par_iter().map(|(shown, file)| of_file(shown, file, &evaluation.keys)).collect()
    };
    let diagnostics = results.iter().filter_map(finding).collect();
    Ok(Verification { answer: Verified { schema_version: 1, results, removed }, diagnostics, counted })
}

/// Says what is wrong with a result, as far as that is certain.
fn finding(result: &VerifiedResult) -> Option<Diagnostic> {
    let why = result.reason.as_deref().unwrap_or_default();
    let message = match result.signature {
        VerifiedAs::Signed => return None,
        VerifiedAs::Unsigned => "this result is not signed".to_owned(),
        VerifiedAs::Invalid => proves_nothing(why),
        VerifiedAs::NoResult => format!("this is not a result: {why}"),
    };
    Some(Diagnostic::in_file(&code::KB0465, &result.path, message))
}

/// Reads a public key, which is called as its file is.
fn key(start: &Start, path: &Path) -> Result<Key> {
    let shown = path.display();
    let text = fs::read_text(&start.path(path)).with_context(|| format!("cannot read {shown}"))?;
    let public = match PublicKey::read(text.as_bytes()) {
        Ok(public) => public,
        Err(fault) => bail!("{shown} is not a public key: {fault}"),
    };
    let name = path.file_stem().map_or_else(|| shown.to_string(), |name| name.to_string_lossy().into_owned());
    Ok(Key { name, public, not_before: None, not_after: None })
}

fn of_project(evaluation: &mut Evaluation, query: &VerifyQuery<'_>) -> Result<Vec<VerifiedResult>> {
    if let Some(tell) = query.fetch {
        evaluation.fetch(query.results, tell)?;
    }
    evaluation.read(query.results)?;
    if let Some(fetch) = evaluation.unfetched() {
        bail!("the recorded results are not in this clone: run {fetch}, or pass `--fetch`");
    }
    let directory = evaluation.directory.clone();
    let of_rows =
        evaluation.dataset.rows().iter().map(|row| {
            answer(format!("{directory}/{}", row.path), row.signature.clone().unwrap_or(Signature::Unsigned))
        });
    let bad =
        evaluation.left_out.iter().map(|left| no_result(format!("{directory}/{}", left.path), left.message.clone()));
    let orphans = evaluation.orphans.iter().map(|path| no_result(path.clone(), ORPHAN.to_owned()));
    let mut all: Vec<VerifiedResult> = of_rows.chain(bad).chain(orphans).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(all)
}

fn of_file(shown: &str, file: &Result<PathBuf, Content>, keys: &[Key]) -> VerifiedResult {
    let read = |file: &Result<PathBuf, Content>| {
        let file = file.as_ref().map_err(|content| content.reason().to_owned())?;
        let bytes = fs::read_result(file, result::MAX_BYTES).map_err(|content| content.reason().to_owned())?;
        let sealed = result::read(&bytes).map_err(|fault| fault.to_string())?;
        Ok(signature_beside(file, &sealed, keys))
    };
    match read(file) {
        Ok(signature) => answer(shown.to_owned(), signature),
        Err(why) => no_result(shown.to_owned(), why),
    }
}

fn no_result(path: String, why: String) -> VerifiedResult {
    VerifiedResult { path, signature: VerifiedAs::NoResult, key: None, separated: None, reason: Some(why) }
}

fn answer(path: String, signature: Signature) -> VerifiedResult {
    let (signature, key, separated, reason) = match signature {
        Signature::Signed { key, separated } => (VerifiedAs::Signed, Some(key), Some(separated), None),
        Signature::Unsigned => (VerifiedAs::Unsigned, None, None, None),
        Signature::Invalid(why) => (VerifiedAs::Invalid, None, None, Some(why)),
    };
    VerifiedResult { path, signature, key, separated, reason }
}
