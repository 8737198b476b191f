//! `kubebench verify`: who recorded the results?

use std::collections::BTreeMap;

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, VerifyArgs};
use super::findings::{self, Findings, Output, counted, tell};
use super::recorded::teller;
use crate::app::evaluate::PassOrFail;
use crate::app::verify::{Verification, VerifyQuery, verified};
use kubebench_attestation::{Counted, INVALID, UNSIGNED};
use kubebench_format::attestation::v1::{Verified, VerifiedAs, VerifiedResult};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::{Format, listed, on_one_line};
use kubebench_syntax::text::SourceMap;

/// Prints what is not signed, and how many results are.
pub(super) fn run(global: &Global, args: &VerifyArgs) -> Result<ExitStatus> {
    let fetch = args.fetch.then(|| teller(global));
    let query = VerifyQuery { paths: &args.paths, results: args.results.as_ref(), keys: &args.key, fetch };
    let Verification { answer, diagnostics, counted: which } = verified(&global.start(), &query)?;
    let fails = |result: &VerifiedResult| match result.signature {
        VerifiedAs::Signed => which == Counted::SignedAndSeparated && result.separated == Some(false),
        VerifiedAs::Unsigned => args.on_unsigned == PassOrFail::Fail,
        VerifiedAs::Invalid | VerifiedAs::NoResult => true,
    };
    let status = if answer.results.iter().any(fails) { ExitStatus::No } else { ExitStatus::Yes };
    let sources = SourceMap::default();
    let findings = Findings { diagnostics, sources: &sources, checked: &[], unreadable: false };
    if let Some((path, commit)) = answer.removed.first_key_value() {
        let were = if answer.removed.len() == 1 { "was" } else { "were" };
        let many = counted(answer.removed.len(), "file");
        let short: String = commit.chars().take(10).collect();
        let first = on_one_line(path);
        tell(global, &format!("note: {many} {were} removed from the branch of results: {first} by commit {short}"));
    }
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", serde_json::to_value(&answer)?))?,
        Format::Human => terminal::print(&in_words(&answer, global.verbose))?,
        _ => {
            findings::report(global, Output::Findings, findings)?;
            return Ok(status);
        }
    }
    findings::write_reports(global, findings)?;
    Ok(status)
}

/// Returns a line for each result that is not signed, where more is asked for one for the others too, and how many there are.
fn in_words(answer: &Verified, verbose: u8) -> String {
    let mut text = String::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for VerifiedResult { path, signature, key, separated, reason } in &answer.results {
        let key = key.as_deref().unwrap_or_default();
        let what = match signature {
            VerifiedAs::Signed if *separated == Some(true) => format!("signed with the key `{key}`"),
            VerifiedAs::Signed => format!("signed with the key `{key}`, from a volume that jobs could write to"),
            VerifiedAs::Unsigned => UNSIGNED.to_owned(),
            VerifiedAs::Invalid => INVALID.to_owned(),
            VerifiedAs::NoResult => "that cannot be read as a result".to_owned(),
        };
        if verbose > 0 || *signature != VerifiedAs::Signed {
            let word = match signature {
                VerifiedAs::Signed => what.as_str(),
                VerifiedAs::Unsigned => UNSIGNED,
                VerifiedAs::Invalid => "invalid",
                VerifiedAs::NoResult => "no result",
            };
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            text.push_str(&on_one_line(&format!("{path}: {word}{reason}")));
            text.push('\n');
        }
        *counts.entry(what).or_default() += 1;
    }
    let parts: Vec<String> = counts.iter().map(|(what, count)| format!("{count} {what}")).collect();
    let total = counted(answer.results.len(), "result");
    let parts = listed(parts.iter().map(String::as_str));
    text.push_str(&if parts.is_empty() { format!("{total}\n") } else { format!("{total}: {parts}\n") });
    text
}
