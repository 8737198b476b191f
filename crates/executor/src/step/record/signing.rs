//! Signatures over what is recorded, by a key that is mounted in this step alone.

use std::path::Path;

use super::{RESULT, Waiting};
use crate::step::Environment;
use kubebench_attestation::{PrivateKey, Recorded, sign as envelope, statement};
use kubebench_contract::{ResultsSettings, SIGNING_KEY, users};
use kubebench_git::record::NotRecorded;
use kubebench_host::fs;
use kubebench_host::terminal;

/// Returns the key, where results are signed.
///
/// # Errors
/// When it is missing or invalid: what is to be signed is not recorded without.
pub(super) fn key(environment: &Environment) -> Result<Option<PrivateKey>, NotRecorded> {
    let Some(folder) = environment.signing() else { return Ok(None) };
    let read = fs::read_text(&Path::new(&folder).join(SIGNING_KEY)).map_err(|error| error.to_string());
    let key = read.and_then(|text| PrivateKey::read(text.as_bytes()).map_err(|fault| fault.to_string()));
    key.map(Some).map_err(|why| {
        let words = format!("results must be signed, and `{SIGNING_KEY}` of the Secret that `results.signing` names cannot be used: {why}");
        NotRecorded::try_again(words).help(
            "put a private key whose public key is in `results.keys` into that Secret (`kubectl create secret generic \
             NAME --from-file=ed25519.pem --dry-run=client -o yaml | kubectl apply -f -`), then delete the Workflow \
             and apply it again: the results wait on the volume, and the next Workflow records them",
        )
    })
}

/// Signs what waits, where there is a key.
pub(super) fn sign(waiting: &mut [Waiting], settings: &ResultsSettings, key: Option<&PrivateKey>) {
    let Some(key) = key else { return };
    terminal::tell(&format!("results are signed with the key {}", key.public().id()));
    for Waiting { run, sealed, addition, .. } in waiting {
        let is_closed = run.is_closed_to(users::GROUP, RESULT).unwrap_or_else(|error| {
            terminal::tell(&format!("note: {}: who may write there is unknown: {error}", run.place().display()));
            false
        });
        let separated = is_closed && !settings.one_user;
        addition.envelope = Some(envelope(key, &statement(sealed, Recorded { separated })));
    }
}
