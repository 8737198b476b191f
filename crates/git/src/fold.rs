//! `fold`: the results of the inbox become files of the branch.
//!
//! Each round looks at the remote anew and ends in one atomic push that adds to the branch, deletes the refs of what was added
//! and moves aside what may not be added. Whoever is killed between has changed nothing, and of two at once one is refused by the
//! leases, counts nothing of that round, and looks again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use git2::Oid;

use super::attempts::Attempts;
use super::connection::{Change, Connection};
use super::inbox::BATCH;
use super::objects::{At, Objects};
use super::program::trouble_of;
use super::{Destination, now};
use crate::record::answer::{Pushed, Trouble};
use crate::record::message::message;
use crate::record::{Addition, Folded, NotRecorded, Rejected, place};

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

enum Fate {
    Add(Box<Addition>, Oid),
    Drop(String, Oid),
    Reject(String),
}

/// A push without an answer: whether it took place is unknown.
struct Unsure {
    entries: Vec<Entry>,
    commit: Option<Oid>,
}

/// Folds every ref that is in the inbox now.
pub(super) fn fold(
    destination: &Destination,
    judge: &dyn Fn(&[u8]) -> Result<Addition, String>,
) -> Result<Folded, NotRecorded> {
    let connection = Connection::open(destination)?;
    let Destination { branch, inbox, .. } = destination;
    let full = format!("refs/heads/{branch}");
    let mut folded = Folded { place: format!("branch `{branch}` of `{}`", connection.shown), ..Folded::default() };
    let mut attempts = Attempts::new(destination, &connection.shown);
    // Later arrivals are left to the next fold, or this one might never end.
    let mut wanted: Option<BTreeSet<String>> = None;
    let mut unsure: Option<Unsure> = None;
    loop {
        // No depth: git fails, without a word, when it is to fetch nothing to a depth.
        let filter = format!("--filter=blob:limit={LARGEST}");
        let refspec = format!("+{inbox}/*:{FETCHED}*");
        let fetched = connection.fetch(&refspec, &["--prune", &filter], attempts.limit())?;
        if !fetched.succeeded {
            attempts.after_trouble(&trouble_of(&fetched))?;
            continue;
        }
        let mut refs = connection.objects()?.refs(FETCHED)?;
        let wanted = wanted.get_or_insert_with(|| refs.iter().map(|(name, _)| name.clone()).collect());
        refs.retain(|(name, _)| wanted.contains(name));
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

/// Decides what becomes of each ref.
fn sort(
    objects: &Objects,
    tip: Option<Oid>,
    refs: Vec<(String, Oid)>,
    judge: &dyn Fn(&[u8]) -> Result<Addition, String>,
) -> Result<Vec<Entry>, NotRecorded> {
    let mut taken: BTreeMap<String, Oid> = BTreeMap::new();
    let mut entries = Vec::new();
    for (name, commit) in refs {
        let fate = match read(objects, commit, judge)? {
            Err(reason) => Fate::Reject(reason),
            Ok((addition, blob)) => {
                let there = match taken.get(&addition.path) {
                    Some(blob) => At::File(*blob),
                    None => tip.map_or(Ok(At::Nothing), |tip| objects.at(tip, &addition.path))?,
                };
                match there {
                    At::Nothing => {
                        taken.insert(addition.path.clone(), blob);
                        Fate::Add(Box::new(addition), blob)
                    }
                    At::File(other) if other == blob => Fate::Drop(addition.path, blob),
                    At::File(other) => Fate::Reject(format!(
                        "`{}` holds something else in the branch: git blob {other} there, {blob} here",
                        addition.path
                    )),
                    At::Other => Fate::Reject(format!(
                        "`{}` is taken in the branch by something else than a file",
                        addition.path
                    )),
                }
            }
        };
        entries.push(Entry { name, commit, fate });
    }
    Ok(entries)
}

/// Returns the result that a commit of the inbox holds, or why it holds none.
fn read(
    objects: &Objects,
    commit: Oid,
    judge: &dyn Fn(&[u8]) -> Result<Addition, String>,
) -> Result<Result<(Addition, Oid), String>, NotRecorded> {
    let (path, blob) = match objects.only_file(commit)? {
        Ok(file) => file,
        Err(reason) => return Ok(Err(reason)),
    };
    let Some(bytes) = objects.bytes(blob)?.filter(|bytes| bytes.len() <= LARGEST) else {
        return Ok(Err(format!("it is larger than {} MiB", LARGEST >> 20)));
    };
    Ok(judge(&bytes).and_then(|addition| {
        place::refuse_path(&addition.path)?;
        if addition.path != path {
            let path = path.escape_debug();
            return Err(format!("it lies at `{path}`, and its content belongs at `{}`", addition.path));
        }
        Ok((addition, blob))
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
            Fate::Add(addition, blob) => {
                files.push((addition.path.as_str(), *blob));
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
            Fate::Add(addition, blob) => in_branch(&addition.path, *blob)?,
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
        Fate::Add(addition, _) => folded.added.push(addition.path.clone()),
        Fate::Drop(path, _) => folded.dropped.push(path.clone()),
        Fate::Reject(reason) => {
            folded.rejected.push(Rejected { from, to: moved_to(inbox, entry), reason: reason.clone() });
        }
    }
}
