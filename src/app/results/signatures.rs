//! Who recorded results: how many are signed, and what is wrong with other signatures.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kubebench_attestation::{Counted, INVALID, Key, MAX_BYTES, Signature, UNSIGNED};
use kubebench_format::attestation::place;
use kubebench_format::attestation::v1::Signatures;
use kubebench_format::result::Sealed;
use kubebench_host::fs::{self, Content};
use kubebench_results::compare::words::counted;
use kubebench_results::dataset::{Dataset, Row};
use kubebench_results::disk::dataset::signature;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code};
use kubebench_syntax::unit::moment;

/// Results that do not count for want of a signature.
#[derive(Clone, Debug, Default)]
pub struct Uncounted {
    results: Vec<UncountedResult>,
}

#[derive(Clone, Debug)]
struct UncountedResult {
    path: String,
    /// What messages call its file.
    shown: String,
    digest: String,
    of: CaseOf,
    started_at: String,
    why: &'static str,
}

/// A case on a target: benchmark, id and target.
type CaseOf = (String, String, String);

impl Uncounted {
    /// Takes the results that do not count out of a dataset; `shown` is what people call a file.
    pub fn leave_out(dataset: &mut Dataset, which: Counted, shown: &dyn Fn(&str) -> String) -> Self {
        let uncounted = |row: &Row| {
            let why = which.refuses(row.signature.as_ref())?;
            Some(UncountedResult {
                path: row.path.clone(),
                shown: shown(&row.path),
                digest: row.digest.clone(),
                of: case_of(dataset, row),
                started_at: row.started_at.clone(),
                why,
            })
        };
        let results = dataset.rows().iter().filter_map(uncounted).collect();
        dataset.retain(|row| which.refuses(row.signature.as_ref()).is_none());
        Self { results }
    }

    /// Adds those of another place.
    pub fn extend(&mut self, more: Self) {
        self.results.extend(more.results);
    }

    /// Forgets those that a dataset has from another place, where they are signed.
    pub fn forget(&mut self, dataset: &Dataset) {
        let known: BTreeSet<&str> = dataset.rows().iter().map(|row| row.digest.as_str()).collect();
        self.results.retain(|result| !known.contains(result.digest.as_str()));
    }

    /// Returns what is wrong with those that would be the newest of their cases, by their paths: without them, what is evaluated is
    /// older than what was measured.
    pub fn newest(&self, dataset: &Dataset) -> Vec<(String, Diagnostic)> {
        let mut newest: BTreeMap<CaseOf, &str> = BTreeMap::new();
        for row in dataset.rows() {
            let of_case = newest.entry(case_of(dataset, row)).or_default();
            *of_case = (*of_case).max(moment(&row.started_at));
        }
        let is_newest = |result: &&UncountedResult| {
            moment(&result.started_at) > newest.get(&result.of).copied().unwrap_or_default()
        };
        let fault = |result: &UncountedResult| {
            let message = format!("this result is the newest of its case, but does not count: {}", result.why);
            let fault = Diagnostic::in_file(&code::KB0465, &result.shown, message)
                .note("`requireSigned` is set, so an older result would be evaluated instead")
                .help("`kubebench verify` says who recorded what; delete the result, or measure again where results are signed");
            (result.path.clone(), fault)
        };
        self.results.iter().filter(is_newest).map(fault).collect()
    }

    /// Counts who recorded the results of a dataset, from which these were taken.
    pub fn beside(&self, dataset: &Dataset) -> Signatures {
        let mut counts = Signatures { not_counted: self.results.len(), ..Signatures::default() };
        for signature in dataset.rows().iter().filter_map(|row| row.signature.as_ref()) {
            match signature {
                Signature::Signed { key, .. } => *counts.signed.entry(key.clone()).or_default() += 1,
                Signature::Unsigned => counts.unsigned += 1,
                Signature::Invalid(_) => counts.invalid += 1,
            }
        }
        counts
    }

    /// Says so in words; nothing where there is no result.
    pub fn note(&self, counts: &Signatures) -> Option<String> {
        let said = |counts: Vec<(String, usize)>| {
            let some = counts.into_iter().filter(|(_, count)| *count > 0);
            let parts: Vec<String> = some.map(|(what, count)| format!("{count} {what}")).collect();
            (!parts.is_empty()).then(|| listed(parts.iter().map(String::as_str)))
        };
        let signed = counts.signed.iter().map(|(key, count)| (format!("signed with the key `{key}`"), *count));
        let others = [(UNSIGNED.to_owned(), counts.unsigned), (INVALID.to_owned(), counts.invalid)];
        let counting = said(signed.chain(others).collect()).map(|parts| format!("results: {parts}"));
        let mut why: BTreeMap<&str, usize> = BTreeMap::new();
        self.results.iter().for_each(|result| *why.entry(result.why).or_default() += 1);
        let why = said(why.into_iter().map(|(why, count)| (why.to_owned(), count)).collect());
        let others = why.map(|why| {
            let do_not = if counts.not_counted == 1 { "does" } else { "do" };
            format!("{} {do_not} not count (`requireSigned`): {why}", counted(counts.not_counted, "result"))
        });
        let all: Vec<String> = counting.into_iter().chain(others).collect();
        (!all.is_empty()).then(|| all.join("; "))
    }
}

fn case_of(dataset: &Dataset, row: &Row) -> CaseOf {
    let subject = dataset.subject(row);
    (subject.benchmark.clone(), subject.case.clone(), subject.target.clone())
}

/// Returns who recorded the result that was read from `file`, by the envelope next to it.
pub fn signature_beside(file: &Path, sealed: &Sealed, keys: &[Key]) -> Signature {
    signature(envelope_beside(file), sealed, keys)
}

/// Returns the envelope of the result in `file`, where there is one, or why it cannot be read.
pub fn envelope_beside(file: &Path) -> Option<Result<Vec<u8>, Content>> {
    // Found like every other file: a pipe or a link is not one.
    let envelope = fs::find_results(Path::new(&place(&file.to_string_lossy())), "").remove("");
    let read = |envelope: Result<PathBuf, Content>| fs::read_result(&envelope?, MAX_BYTES);
    envelope.filter(|envelope| *envelope != Err(Content::Absent)).map(read)
}

/// Says what is wrong with signatures, a finding for each benchmark and reason; `shown` is what people call a file.
pub(super) fn findings(dataset: &Dataset, orphans: &[String], shown: &dyn Fn(&str) -> String) -> Diagnostics {
    let mut groups: BTreeMap<(&str, &str), Vec<&Row>> = BTreeMap::new();
    for row in dataset.rows() {
        if let Some(Signature::Invalid(why)) = &row.signature {
            groups.entry((&dataset.subject(row).benchmark, why)).or_default().push(row);
        }
    }
    let mut found = Diagnostics::default();
    for ((benchmark, why), rows) in groups {
        let Some(first) = rows.first() else { continue };
        let message = match rows.len() {
            1 => proves_nothing(why),
            count => format!("the signatures of {count} results of {benchmark} prove nothing; for this one: {why}"),
        };
        let fault = Diagnostic::in_file(&code::KB0465, shown(&first.path), message);
        found.push(fault.help("`kubebench verify` lists all of them; `git log` says who added them"));
    }
    if let Some(first) = orphans.first() {
        let message = match orphans.len() {
            1 => "this signature is for a result that is not here".to_owned(),
            count => format!("{count} signatures are for results that are not here; this is the first"),
        };
        let fault = Diagnostic::in_file(&code::KB0465, shown(first), message);
        found.push(fault.help("results may only be added: `git log` says who removed this one"));
    }
    found
}

/// Says that a result has a signature which is not valid.
pub fn proves_nothing(why: &str) -> String {
    format!("the signature of this result proves nothing: {why}")
}
