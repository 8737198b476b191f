//! `fold`: the results of the inbox become files of the branch.
//!
//! Each round looks at the remote again and ends in one atomic push that adds to the branch, deletes the refs of what was added
//! and moves aside what may not be added. A process killed in between has changed nothing. Of two at once, the leases refuse one,
//! which counts nothing of that round and looks again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use git2::Oid;

use super::attempts::Attempts;
use super::connection::{Change, Connection};
use super::inbox::BATCH;
use super::objects::{At, Objects, Parcel};
use super::program::trouble_of;
use super::{Destination, now};
use crate::record::answer::{Pushed, Trouble};
use crate::record::message::message;
use crate::record::{Addition, Folded, NotRecorded, Rejected, place};
use kubebench_format::attestation;

/// Where the refs of the inbox are fetched to.
const FETCHED: &str = "refs/kubebench/folding/";
/// No result is larger; what is, is not even fetched.
const LARGEST: usize = 2 << 20;

/// A ref of the inbox and what becomes of it.
struct Entry {
    name: String,
    commit: Oid,
    fate: Fate,
}

/// Says what a result is, by its bytes and its envelope's, or why it is not one.
pub type Judge<'j> = dyn Fn(&[u8], Option<&[u8]>) -> Result<Addition, String> + 'j;

enum Fate {
    Add(Box<Addition>, Oid, Option<Oid>),
    Drop(String, Oid),
    Reject(String),
}

/// A push without an answer: whether it took place is unknown.
struct Unsure {
    entries: Vec<Entry>,
    commit: Option<Oid>,
}

/// Folds every ref that is in the inbox now.
pub(super) fn fold(destination: &Destination, judge: &Judge<'_>) -> Result<Folded, NotRecorded> {
    let connection = Connection::open(destination)?;
    let Destination { branch, inbox, .. } = destination;
    let full = format!("refs/heads/{branch}");
    let mut folded = Folded { place: format!("branch `{branch}` of `{}`", connection.shown), ..Folded::default() };
    let mut attempts = Attempts::new(destination, &connection.shown);
    // Later arrivals are left to the next fold, or this one might never end.
    let mut wanted: Option<BTreeSet<(String, Oid)>> = None;
    let mut unsure: Option<Unsure> = None;
    loop {
        let mut refs = match connection.look_below(inbox, attempts.limit())? {
            Ok(refs) => refs,
            Err(trouble) => {
                attempts.after_trouble(&trouble)?;
                continue;
            }
        };
        let known = match wanted.take() {
            Some(known) => known,
            None => match fetch(&connection, inbox, &refs, attempts.limit())? {
                Ok(fetched) => fetched,
                Err(trouble) => {
                    attempts.after_trouble(&trouble)?;
                    continue;
                }
            },
        };
        let known = wanted.insert(known);
        refs.retain(|found| known.contains(found));
        if refs.is_empty() && unsure.is_none() {
            break;
        }
        let tip = match connection.tip(branch, attempts.limit())? {
            Ok(tip) => tip,
            Err(trouble) => {
                attempts.after_trouble(&trouble)?;
                continue;
            }
        };
        let objects = connection.objects()?;
        if let Some(Unsure { entries, commit }) = &unsure {
            let is_gone = |entry: &&Entry| !refs.iter().any(|(name, _)| *name == entry.name);
            let gone: Vec<&Entry> = entries.iter().filter(is_gone).collect();
            match arrived(&connection, &objects, tip, inbox, &gone, attempts.limit())? {
                Ok(arrived) => {
                    for entry in arrived {
                        settle(entry, inbox, &mut folded);
                    }
                }
                Err(trouble) => {
                    attempts.after_trouble(&trouble)?;
                    continue;
                }
            }
            if commit.is_some() && *commit == tip {
                folded.commit = commit.map(|commit| commit.to_string());
            }
            unsure = None;
        }
        refs.truncate(BATCH);
        if refs.is_empty() {
            break;
        }
        let state = format!("{tip:?} {refs:?}");
        attempts.check(&state)?;
        let entries = sort(&objects, tip, refs, judge)?;
        let (commit, changes) = prepare(&connection, &objects, tip, &full, inbox, &entries)?;
        match connection.push(&changes, attempts.limit())? {
            Pushed::Accepted => {
                folded.commit = commit.map(|commit| commit.to_string()).or(folded.commit);
                for entry in &entries {
                    settle(entry, inbox, &mut folded);
                }
            }
            // All changes or none: nothing of this round took place.
            Pushed::Raced => attempts.after_race()?,
            Pushed::Rejected(words) => attempts.after_no(&state, &words)?,
            Pushed::Broken(trouble) => {
                unsure = Some(Unsure { entries, commit });
                attempts.after_trouble(&trouble)?;
            }
        }
    }
    folded.tries = attempts.number();
    folded.notes.extend(connection.identity.note().filter(|_| folded.commit.is_some()));
    Ok(folded)
}

/// Fetches what these refs of the inbox hold, and returns those that came.
///
/// A result has no history, so what is behind one is not fetched: two commits show that it has one. Before anything of the branch is here,
/// or git would take files that it has for fetched.
fn fetch(
    connection: &Connection,
    inbox: &str,
    refs: &[(String, Oid)],
    limit: Duration,
) -> Result<Result<BTreeSet<(String, Oid)>, Trouble>, NotRecorded> {
    let filter = format!("--filter=blob:limit={LARGEST}");
    for batch in refs.chunks(BATCH) {
        let refspecs: Vec<String> = batch.iter().map(|(name, _)| format!("+{inbox}/{name}:{FETCHED}{name}")).collect();
        let refspecs: Vec<&str> = refspecs.iter().map(String::as_str).collect();
        let fetched = connection.fetch(&refspecs, &["--depth=2", &filter], limit)?;
        if !fetched.succeeded {
            return Ok(Err(trouble_of(&fetched)));
        }
    }
    Ok(Ok(connection.objects()?.refs(FETCHED)?.into_iter().collect()))
}

/// Decides what becomes of each ref.
fn sort(
    objects: &Objects,
    tip: Option<Oid>,
    refs: Vec<(String, Oid)>,
    judge: &Judge<'_>,
) -> Result<Vec<Entry>, NotRecorded> {
    let mut taken: BTreeMap<String, (Oid, Option<Oid>)> = BTreeMap::new();
    let mut entries = Vec::new();
    for (name, commit) in refs {
        let fate = match read(objects, commit, judge)? {
            Err(reason) => Fate::Reject(reason),
            Ok((addition, Parcel { blob, envelope, .. })) => {
                let attested = attestation::place(&addition.path);
                let in_branch = |path: &str| tip.map_or(Ok(At::Nothing), |tip| objects.at(tip, path));
                let (there, beside) = match taken.get(&addition.path) {
                    Some((blob, envelope)) => (At::File(*blob), envelope.map_or(At::Nothing, At::File)),
                    None => (in_branch(&addition.path)?, in_branch(&attested)?),
                };
                match (there, envelope, beside) {
                    (At::Nothing, ..) => {
                        taken.insert(addition.path.clone(), (blob, envelope));
                        Fate::Add(Box::new(addition), blob, envelope)
                    }
                    (At::File(other), Some(_), At::Nothing) if other == blob => {
                        taken.insert(addition.path.clone(), (blob, envelope));
                        Fate::Add(Box::new(addition), blob, envelope)
                    }
                    (At::File(other), Some(envelope), beside) if other == blob && beside != At::File(envelope) => {
                        Fate::Reject(format!("the branch has another signature at `{attested}`"))
                    }
                    (At::File(other), ..) if other == blob => Fate::Drop(addition.path, blob),
                    (At::File(other), ..) => Fate::Reject(format!(
                        "`{}` has other content in the branch: git blob {other} there, {blob} here",
                        addition.path
                    )),
                    (At::Other, ..) => Fate::Reject(format!("`{}` is not a file in the branch", addition.path)),
                }
            }
        };
        entries.push(Entry { name, commit, fate });
    }
    Ok(entries)
}

/// Returns the result that a commit of the inbox holds, or why it holds none.
fn read(objects: &Objects, commit: Oid, judge: &Judge<'_>) -> Result<Result<(Addition, Parcel), String>, NotRecorded> {
    let parcel = match objects.parcel(commit)? {
        Ok(parcel) => parcel,
        Err(reason) => return Ok(Err(reason)),
    };
    let whole = |blob: Oid| Ok(objects.bytes(blob)?.filter(|bytes| bytes.len() <= LARGEST));
    let envelope = parcel.envelope.map(whole).transpose()?;
    let (Some(bytes), None | Some(Some(_))) = (whole(parcel.blob)?, &envelope) else {
        return Ok(Err(format!("the result or its envelope is larger than {} MiB", LARGEST >> 20)));
    };
    Ok(judge(&bytes, envelope.flatten().as_deref()).and_then(|addition| {
        place::refuse_path(&addition.path)?;
        if addition.path != parcel.path {
            let path = parcel.path.escape_debug();
            return Err(format!("it is at `{path}`, but its content belongs at `{}`", addition.path));
        }
        Ok((addition, parcel))
    }))
}

/// Makes the commit, when something is added, and the changes of one push.
fn prepare(
    connection: &Connection,
    objects: &Objects,
    tip: Option<Oid>,
    full: &str,
    inbox: &str,
    entries: &[Entry],
) -> Result<(Option<Oid>, Vec<Change>), NotRecorded> {
    let mut files = Vec::new();
    let mut additions = Vec::new();
    let mut changes = Vec::new();
    for Entry { name, commit, fate } in entries {
        let from = format!("{inbox}/{name}");
        match fate {
            Fate::Add(addition, blob, envelope) => {
                files.push((addition.path.clone(), *blob));
                files.extend(envelope.map(|envelope| (attestation::place(&addition.path), envelope)));
                additions.push(addition.as_ref());
            }
            Fate::Drop(..) => {}
            Fate::Reject(_) => {
                let to = place::rejected_ref(inbox, &from, &commit.to_string());
                changes.push(Change { name: to, from: None, to: Some(*commit) });
            }
        }
        changes.push(Change { name: from, from: Some(*commit), to: None });
    }
    if files.is_empty() {
        return Ok((None, changes));
    }
    let tree = objects.tree(tip, &files)?;
    let commit = connection.commit(objects, tree, tip, now(), &message(&additions))?;
    changes.push(Change { name: full.to_owned(), from: tip, to: Some(commit) });
    Ok((Some(commit), changes))
}

/// Returns those of `entries`, which were pushed without an answer and are gone from the inbox, whose fate is seen at the remote:
/// our bytes at its path in the branch, or its commit under the ref for what is moved aside. Another fold may have decided
/// otherwise, and says so itself.
fn arrived<'e>(
    connection: &Connection,
    objects: &Objects,
    tip: Option<Oid>,
    inbox: &str,
    entries: &[&'e Entry],
    limit: Duration,
) -> Result<Result<Vec<&'e Entry>, Trouble>, NotRecorded> {
    let rejected = entries.iter().filter(|entry| matches!(entry.fate, Fate::Reject(_)));
    let names: Vec<String> = rejected.map(|entry| moved_to(inbox, entry)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let aside = match if names.is_empty() { Ok(Vec::new()) } else { connection.look(&names, limit)? } {
        Ok(aside) => aside,
        Err(trouble) => return Ok(Err(trouble)),
    };
    let in_branch = |path: &str, blob: Oid| {
        let at = tip.map_or(Ok(At::Nothing), |tip| objects.at(tip, path))?;
        Ok(matches!(at, At::File(there) if there == blob))
    };
    let mut arrived = Vec::new();
    for entry in entries {
        let is_there = match &entry.fate {
            Fate::Add(addition, blob, envelope) => {
                let attested = attestation::place(&addition.path);
                in_branch(&addition.path, *blob)?
                    && envelope.map_or(Ok(true), |envelope| in_branch(&attested, envelope))?
            }
            Fate::Drop(path, blob) => in_branch(path, *blob)?,
            Fate::Reject(_) => aside.contains(&(moved_to(inbox, entry), entry.commit)),
        };
        if is_there {
            arrived.push(*entry);
        }
    }
    Ok(Ok(arrived))
}

/// Returns the ref that a rejected entry is moved to.
fn moved_to(inbox: &str, entry: &Entry) -> String {
    place::rejected_ref(inbox, &format!("{inbox}/{}", entry.name), &entry.commit.to_string())
}

/// Notes what became of a ref.
fn settle(entry: &Entry, inbox: &str, folded: &mut Folded) {
    let from = format!("{inbox}/{}", entry.name);
    match &entry.fate {
        Fate::Add(addition, ..) => folded.added.push(addition.path.clone()),
        Fate::Drop(path, _) => folded.dropped.push(path.clone()),
        Fate::Reject(reason) => {
            folded.rejected.push(Rejected { from, to: moved_to(inbox, entry), reason: reason.clone() });
        }
    }
}
