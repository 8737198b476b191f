//! The certificate authorities by which servers of HTTPS are known.

use std::path::Path;

use super::program::Git;
use super::scratch::Scratch;
use crate::record::NotRecorded;
use kubebench_host::http::{Authorities, is_https};

/// Gives `git` the authorities of the credential in a folder, or else those in a file: others do not count. Without either it is as git is
/// set up.
pub(super) fn give(
    git: Git,
    credential: Option<&Path>,
    authorities: Option<&Path>,
    url: &str,
    scratch: &Scratch,
) -> Result<Git, NotRecorded> {
    let own = credential.map(|folder| folder.join("ca.crt")).filter(|file| file.is_file());
    let file = match (own, authorities) {
        (Some(own), _) => own,
        (None, Some(file)) => {
            if is_https(url) {
                Authorities::read(file).map_err(|why| NotRecorded::try_again(why).help(HELP))?;
            }
            file.to_owned()
        }
        (None, None) => return Ok(git),
    };
    // Of most distributions git believes the authorities of the system's folder as well, whatever the file.
    let none = scratch.empty_folder("no-authorities").map_err(|error| {
        NotRecorded::try_again(format!("cannot write to the cache: {}", kubebench_host::fs::words(&error)))
    })?;
    Ok(git.with_variable("GIT_SSL_CAINFO", file).with_variable("GIT_SSL_CAPATH", none))
}

const HELP: &str = "store the certificates of the authorities under that key, in PEM: `kubectl create configmap NAME \
     --from-file=ca.crt`";
