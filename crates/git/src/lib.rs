//! Git: reading other commits, and recording results.
//!
//! git2 builds and reads objects; the `git` program fetches, pushes and signs, with the credentials that people have set up for
//! it. Nothing here runs a hook of the user's. The modes `branch` and `inbox`, and `fold`, work in a scratch repository
//! and touch nothing of the user's; the mode `local` goes through the `git` program alone, so that every kind of repository
//! that git knows is written as git writes it.
//!
//! ```
//! use kubebench_git::record::place::{is_address, is_folder};
//!
//! assert!(is_address("https://git.example/results") && is_folder("/srv/results.git"));
//! assert!(!is_address("origin"), "the name of a remote");
//! ```
#![expect(clippy::disallowed_methods, reason = "the one place that starts git and reads its environment")]

mod attempts;
mod authority;
mod base;
mod beyond;
mod branch;
mod brought;
mod commit_key;
mod connection;
mod content;
mod credential;
mod earlier;
mod fold;
mod history;
mod identity;
mod ignored;
mod inbox;
mod known_changes;
mod line;
mod lineage;
mod local;
mod objects;
mod program;
pub mod record;
mod recorded;
mod removed;
mod scratch;
mod state;
mod tracked;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::record::{Addition, Conflict, Folded, Kind, Mode, NotRecorded, Recorded, Signing, place};
use kubebench_host::fs::cache_folder;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

pub use base::{Base, Compared};
pub use beyond::Lacking;
pub use brought::{Brought, RunOf, brought};
pub use content::{Elsewhere, Named, Same};
pub use earlier::Earlier;
pub use fold::Judge;
pub use history::{
    CommittedFile, branch_of_changes, default_branch_of_remote, file_at, file_below, files_at, files_below,
    folder_in_repository,
};
pub use ignored::Ignored;
pub use line::{Behind, OnLine};
pub use lineage::{Commits, Reached};
pub use recorded::{BlobId, Fetched, RecordedBranch};
pub use state::{CheckedOut, Looked, checked_out, commit_here};
pub use tracked::folders_with;

/// Reports something to people while they wait.
pub(crate) type Tell = fn(&str);

/// What becomes of a server of SSH whose key is not known, where the credential is a mounted Secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostKeys {
    /// It is refused.
    Known,
    /// It is taken for the right one.
    AcceptNew,
}

impl HostKeys {
    /// Returns what the settings of a target say: whatever is not this word demands a known key.
    pub fn of(said: Option<&str>) -> Self {
        if said == Some("acceptNew") { Self::AcceptNew } else { Self::Known }
    }
}

/// Where results go, and how.
#[derive(Clone, Debug)]
pub struct Destination {
    /// How they get there.
    pub mode: Mode,
    /// The project's folder: its repository names remotes, authors and credentials. Relative addresses start here.
    pub folder: PathBuf,
    /// The name of a remote, or an address.
    pub remote: String,
    /// The branch that holds results, without `refs/heads/`.
    pub branch: String,
    /// The prefix of the refs of an inbox.
    pub inbox: String,
    /// How long to keep trying.
    pub deadline: Duration,
    /// A folder with `username` and `password`, or `ssh-privatekey`, as Kubernetes mounts a Secret; with `known_hosts` or
    /// `ca.crt`, by which the server is known.
    pub credential: Option<PathBuf>,
    /// A file with the certificates of the authorities by which servers of HTTPS are known, unless the credential has `ca.crt`.
    pub authorities: Option<PathBuf>,
    /// What becomes of a server whose key the credential does not have.
    pub host_keys: HostKeys,
    /// Whether commits are signed.
    pub signing: Signing,
    /// Where scratch repositories are made and removed again.
    pub cache: PathBuf,
    /// The git program.
    pub program: PathBuf,
    /// What people do about results that may be recorded another time.
    pub again: &'static str,
    /// Reports what takes long, and why.
    pub tell: Tell,
}

/// Returns the place for scratch repositories: a folder of this user's alone.
pub fn cache_place() -> PathBuf {
    let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let user = home.map_or_else(String::new, |home| Digest::of(home.to_string_lossy().as_bytes()).short());
    let shared = std::env::temp_dir();
    // A container's home may not exist, or be read-only; and the first user in a folder of all users owns what is there.
    let places = [cache_folder().map(|cache| cache.join("git")), Some(shared.join(format!("kubebench-git-{user}")))];
    let own = places.into_iter().flatten().find(|place| scratch::own_folder(place).is_ok());
    own.unwrap_or_else(|| shared.join(format!("kubebench-git-{user}-{:016x}", random())))
}

/// Records results, all of them in one commit or one push.
///
/// What cannot be recorded because its path holds something else is listed in the answer; the others are recorded.
pub fn record(additions: &[Addition], destination: &Destination) -> Result<Recorded, NotRecorded> {
    let (additions, mut conflicts) = distinct(additions)?;
    let recorded = match destination.mode {
        Mode::Local => local::record(&additions, destination),
        Mode::Branch => branch::record(&additions, destination),
        Mode::Inbox => inbox::record(&additions, destination),
    };
    let mut recorded = recorded.map_err(|fault| fault_with_place(fault, &additions, destination.again))?;
    recorded.conflicts.append(&mut conflicts);
    Ok(recorded)
}

/// Moves the results of the inbox into the branch, in one commit and one atomic push for each few hundred.
///
/// `judge` is given the bytes of each, and those of its envelope, and says what they are, or why they are no result.
pub fn fold(destination: &Destination, judge: &Judge<'_>) -> Result<Folded, NotRecorded> {
    fold::fold(destination, judge)
}

/// Returns the additions without repetitions, and those that want the path of another one.
fn distinct(additions: &[Addition]) -> Result<(Vec<&Addition>, Vec<Conflict>), NotRecorded> {
    let mut by_path: BTreeMap<&str, &Addition> = BTreeMap::new();
    let (mut all, mut conflicts) = (Vec::new(), Vec::new());
    for addition in additions {
        place::refuse_path(&addition.path).map_err(NotRecorded::refused)?;
        match by_path.get(addition.path.as_str()) {
            Some(first) if first.bytes == addition.bytes => {}
            Some(first) => {
                let theirs = Digest::of(&first.bytes).to_string();
                conflicts.push(conflict(addition, theirs, format!("`{}`, given at the same time", first.kept)));
            }
            None => {
                by_path.insert(&addition.path, addition);
                all.push(addition);
            }
        }
    }
    Ok((all, conflicts))
}

fn conflict(addition: &Addition, theirs: String, place: String) -> Conflict {
    let (path, kept) = (addition.path.clone(), addition.kept.clone());
    Conflict { path, ours: Digest::of(&addition.bytes), theirs, place, kept }
}

/// Says where the results are that could not be recorded.
fn fault_with_place(mut fault: NotRecorded, additions: &[&Addition], again: &str) -> NotRecorded {
    let kept = match additions {
        [] => return fault,
        [one] => format!("the result is kept in `{}`", one.kept),
        [first, ..] => format!("all {} results are kept, the first in `{}`", additions.len(), first.kept),
    };
    let again = match fault.kind {
        Kind::TryAgain => format!("; {again}"),
        Kind::Refused => String::new(),
    };
    let help = fault.help.take().map_or_else(String::new, |help| format!("{help}; "));
    fault.help(format!("{help}{kept}{again}"))
}

/// Returns the seconds since 1970; 0 by a clock that is before it.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    i64::try_from(since).expected("a clock of our time")
}

/// Returns a number that differs between processes, threads and calls; for spreading them, not for secrets.
fn random() -> u64 {
    let mut hasher = std::collections::hash_map::RandomState::new().build_hasher();
    hasher.write_u32(std::process::id());
    hasher.write_u128(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos()));
    hasher.finish()
}
