//! The SSH key that commits of results are signed with, where the Secret of the recorder has one.

use std::path::Path;

use super::credential::ssh_key;
use super::program::Git;
use super::scratch::Scratch;
use crate::record::{NotRecorded, Signing};

/// What the Secret calls it.
const KEY: &str = "ssh-signing-key";

/// Gives `git` the key in `folder`, with which commits are signed from then on; without one there, `signing` says whether they are.
pub(super) fn give(
    git: Git,
    folder: Option<&Path>,
    signing: Signing,
    scratch: &Scratch,
) -> Result<(Git, Signing), NotRecorded> {
    let Some(folder) = folder.filter(|folder| folder.join(KEY).is_file()) else { return Ok((git, signing)) };
    let key = ssh_key(folder, KEY, scratch)?;
    let git = git.with_setting("gpg.format", "ssh").with_setting("user.signingKey", &key.display().to_string());
    Ok((git, Signing::AsConfigured))
}
