//! Mode `branch`: one commit on the tip of the results branch, made again until no other push was faster.

use git2::Oid;

use super::attempts::Attempts;
use super::connection::{Change, Connection};
use super::objects::{At, blob_id};
use super::{Destination, conflict, now};
use crate::record::answer::Pushed;
use crate::record::message::message;
use crate::record::{Addition, NotRecorded, Recorded};
use kubebench_format::attestation;

/// Records `additions` in the branch of the remote.
pub(super) fn record(additions: &[&Addition], destination: &Destination) -> Result<Recorded, NotRecorded> {
    let connection = Connection::open(destination)?;
    let branch = &destination.branch;
    let full = format!("refs/heads/{branch}");
    let mut attempts = Attempts::new(destination, &connection.shown);
    let mut pushed: Vec<(Oid, Vec<String>)> = Vec::new();
    // The fault that ends it, kept for one more look after a push whose answer was lost.
    let mut over: Option<NotRecorded> = None;
    let mut recorded = loop {
        let limit = if over.is_some() { Attempts::LAST_LOOK } else { attempts.limit() };
        let tip = match (connection.tip(branch, limit)?, over.take()) {
            (Ok(tip), Some(fault)) if !sort(&connection, tip, additions)?.fresh.is_empty() => return Err(fault),
            (Ok(tip), _) => tip,
            (Err(_), Some(fault)) => return Err(fault),
            (Err(trouble), None) => {
                attempts.after_trouble(&trouble)?;
                continue;
            }
        };
        let Sorted { fresh, already, others } = sort(&connection, tip, additions)?;
        let mut recorded = Recorded { tries: attempts.number(), ..Recorded::default() };
        for (addition, at) in others {
            let theirs = connection.theirs(at, attempts.limit())?;
            recorded.conflicts.push(conflict(addition, theirs, format!("branch `{branch}`")));
        }
        if fresh.is_empty() {
            // What was pushed without an answer has arrived.
            let ours = |path: &String| pushed.iter().any(|(_, paths)| paths.contains(path));
            (recorded.added, recorded.already) = already.into_iter().partition(ours);
            let commit = pushed.iter().map(|(commit, _)| *commit).find(|commit| Some(*commit) == tip);
            recorded.commit = commit.map(|commit| commit.to_string());
            break recorded;
        }
        let state = tip.map_or_else(String::new, |tip| tip.to_string());
        attempts.check(&state)?;
        let objects = connection.objects()?;
        let mut files = Vec::new();
        for addition in &fresh {
            files.extend(objects.files(addition)?);
        }
        let tree = objects.tree(tip, &files)?;
        let commit = connection.commit(&objects, tree, tip, now(), &message(&fresh))?;
        let paths: Vec<String> = fresh.iter().map(|addition| addition.path.clone()).collect();
        pushed.push((commit, paths.clone()));
        let change = Change { name: full.clone(), from: tip, to: Some(commit) };
        match connection.push(&[change], attempts.limit())? {
            Pushed::Accepted => {
                (recorded.added, recorded.already) = (paths, already);
                recorded.commit = Some(commit.to_string());
                break recorded;
            }
            Pushed::Raced => attempts.after_race()?,
            Pushed::Rejected(words) => attempts.after_no(&state, &words)?,
            Pushed::Broken(trouble) => over = attempts.after_trouble(&trouble).err(),
        }
    };
    recorded.place = format!("branch `{branch}` of `{}`", connection.shown);
    recorded.notes.extend(connection.identity.note().filter(|_| !recorded.added.is_empty()));
    Ok(recorded)
}

/// Additions by what their paths hold.
pub(super) struct Sorted<'a> {
    /// Nothing is there, or no signature.
    pub(super) fresh: Vec<&'a Addition>,
    /// Their bytes are there, and a signature where they have one.
    pub(super) already: Vec<String>,
    /// Something else is there.
    pub(super) others: Vec<(&'a Addition, At)>,
}

/// Sorts additions by what the commit `tip` has at their paths.
pub(super) fn sort<'a>(
    connection: &Connection,
    tip: Option<Oid>,
    additions: &[&'a Addition],
) -> Result<Sorted<'a>, NotRecorded> {
    let objects = connection.objects()?;
    let mut sorted = Sorted { fresh: Vec::new(), already: Vec::new(), others: Vec::new() };
    for addition in additions {
        let at = tip.map_or(Ok(At::Nothing), |tip| objects.at(tip, &addition.path))?;
        match at {
            At::Nothing => sorted.fresh.push(addition),
            // A signature is added; one that is there is not replaced.
            At::File(blob) if blob == blob_id(&addition.bytes)? => match tip.filter(|_| addition.envelope.is_some()) {
                Some(tip) if objects.at(tip, &attestation::place(&addition.path))? == At::Nothing => {
                    sorted.fresh.push(addition);
                }
                _ => sorted.already.push(addition.path.clone()),
            },
            At::File(_) | At::Other => sorted.others.push((addition, at)),
        }
    }
    Ok(sorted)
}
