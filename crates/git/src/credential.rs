//! Credentials of a mounted Secret, given to git by a helper and a key file: never in an argument, an address or a setting.

use std::path::{Path, PathBuf};

use super::HostKeys;
use super::program::Git;
use super::scratch::Scratch;
use crate::record::NotRecorded;
use crate::record::redact::Redactor;
use kubebench_syntax::invariant::Invariant as _;

/// What git asks for a user name and password: it holds neither, only the names of the files that do.
const HELPER: &str = "test \"$1\" = get || exit 0\n\
    cd \"$KUBEBENCH_GIT_CREDENTIAL\" || exit 1\n\
    if test -f username; then name=$(cat username); else name=git; fi\n\
    printf 'username=%s\\npassword=%s\\n' \"$name\" \"$(cat password)\"\n";

/// Gives `git` the credential in `folder` for `url`; without one there, the user's own helpers and keys count.
pub(super) fn give(
    git: Git,
    folder: Option<&Path>,
    host_keys: HostKeys,
    url: &str,
    scratch: &Scratch,
) -> Result<Git, NotRecorded> {
    let Some(folder) = folder.filter(|folder| folder.is_dir()) else { return Ok(git) };
    let held = |name: &str| folder.join(name).is_file();
    let web = url.split_once("://").filter(|(scheme, _)| matches!(*scheme, "http" | "https"));
    match web {
        Some((scheme, rest)) if held("password") => with_password(git, folder, scheme, rest, scratch),
        None if held("ssh-privatekey") && !crate::record::place::is_folder(url) => {
            with_key(git, folder, host_keys, scratch)
        }
        Some(_) if held("ssh-privatekey") => {
            Err(mismatch("an SSH key", "is reached by HTTP", "`username` and `password`"))
        }
        None if held("password") && !crate::record::place::is_folder(url) => {
            Err(mismatch("a password", "is not reached by HTTP", "`ssh-privatekey`"))
        }
        _ => Ok(git),
    }
}

fn mismatch(holds: &str, remote: &str, needs: &str) -> NotRecorded {
    NotRecorded::refused(format!("the credential holds {holds}, but the remote {remote}"))
        .help(format!("add {needs} to the Secret, or write the address in the other form"))
}

fn with_password(git: Git, folder: &Path, scheme: &str, rest: &str, scratch: &Scratch) -> Result<Git, NotRecorded> {
    let authority = rest.split('/').next().expected("a first part of every split");
    let host = authority.rsplit('@').next().expected("a last part of every split");
    let script = private(scratch, "credential", HELPER.as_bytes())?;
    let secret = read(folder, "password")?;
    let secret = String::from_utf8_lossy(&secret).trim_end().to_owned();
    // Bound to the host, so that a redirect elsewhere is not given the password; the empty one ends the list before it.
    Ok(git
        .with_setting("credential.helper", "")
        .with_setting(&format!("credential.{scheme}://{host}.helper"), &format!("!sh {}", quoted(&script)))
        .with_variable("KUBEBENCH_GIT_CREDENTIAL", folder)
        .with_variable("GIT_ASKPASS", "")
        .hiding(Redactor::knowing([secret])))
}

fn with_key(git: Git, folder: &Path, host_keys: HostKeys, scratch: &Scratch) -> Result<Git, NotRecorded> {
    let known = known_hosts(folder)?;
    if known.is_none() && host_keys == HostKeys::Known {
        return Err(NotRecorded::refused("the credential has no `known_hosts`, so git cannot verify the server").help(
            "add the output of `ssh-keyscan HOST` to the Secret as `known_hosts`, after you have compared its \
                 fingerprints (`ssh-keygen -lf known_hosts`) with those that the host publishes; or write `results: \
                 {sshHostKeys: acceptNew}` into `kubebench.yaml`",
        ));
    }
    let key = ssh_key(folder, "ssh-privatekey", scratch)?;
    let hosts = match known {
        Some(known) => format!("-o StrictHostKeyChecking=yes -o UserKnownHostsFile={}", quoted(&known)),
        None => "-o StrictHostKeyChecking=accept-new -o UserKnownHostsFile=/dev/null".to_owned(),
    };
    let command = format!("ssh -F /dev/null -o BatchMode=yes -o IdentitiesOnly=yes {hosts} -i {}", quoted(&key));
    Ok(git.with_variable("GIT_SSH_COMMAND", command).without_variable("SSH_AUTH_SOCK"))
}

/// Returns a copy of a key, because ssh refuses one that others can read, which mounted Secrets are, and one without a last line end.
pub(super) fn ssh_key(folder: &Path, name: &str, scratch: &Scratch) -> Result<PathBuf, NotRecorded> {
    let mut key = read(folder, name)?;
    if key.last() != Some(&b'\n') {
        key.push(b'\n');
    }
    private(scratch, name, &key)
}

/// Returns the file of the keys that servers have; a file without a key is not one.
fn known_hosts(folder: &Path) -> Result<Option<PathBuf>, NotRecorded> {
    if !folder.join("known_hosts").is_file() {
        return Ok(None);
    }
    let text = read(folder, "known_hosts")?;
    let is_key = |line: &[u8]| line.trim_ascii().first().is_some_and(|first| *first != b'#');
    Ok(text.split(|byte| *byte == b'\n').any(is_key).then(|| folder.join("known_hosts")))
}

fn read(folder: &Path, name: &str) -> Result<Vec<u8>, NotRecorded> {
    std::fs::read(folder.join(name)).map_err(|error| {
        NotRecorded::try_again(format!("cannot read `{name}` of the credential: {}", kubebench_host::fs::words(&error)))
    })
}

fn private(scratch: &Scratch, name: &str, bytes: &[u8]) -> Result<PathBuf, NotRecorded> {
    scratch.private_file(name, bytes).map_err(|error| {
        NotRecorded::try_again(format!("cannot write to the cache: {}", kubebench_host::fs::words(&error)))
    })
}

/// Returns a path as one word of a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}
