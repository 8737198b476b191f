//! Mode `inbox`: one ref a result, with a commit that holds its result alone. Nothing else writes that ref, so there are no races.

use git2::Oid;

use super::attempts::Attempts;
use super::branch::{Sorted, sort};
use super::connection::{Change, Connection, TIP_ALONE};
use super::objects::{At, blob_id};
use super::{Destination, conflict};
use crate::record::answer::Pushed;
use crate::record::message::message;
use crate::record::{Addition, NotRecorded, Recorded, place};

/// How many refs one push makes: the arguments stay far below what systems allow.
pub(super) const BATCH: usize = 250;

/// A result that is on its way.
struct Parcel<'a> {
    addition: &'a Addition,
    name: String,
    commit: Oid,
    /// Whether a push of it was tried whose answer is unknown.
    tried: bool,
}

/// Records `additions` in the inbox of the remote.
pub(super) fn record(additions: &[&Addition], destination: &Destination) -> Result<Recorded, NotRecorded> {
    let connection = Connection::open(destination)?;
    let Destination { branch, inbox, .. } = destination;
    let place = format!("`{inbox}` of `{}`", connection.shown);
    let mut recorded = Recorded { place, ..Recorded::default() };
    let names: Vec<String> = additions
        .iter()
        .map(|addition| place::inbox_ref(inbox, &addition.run_id, &addition.path).map_err(NotRecorded::refused))
        .collect::<Result<_, _>>()?;
    let mut attempts = Attempts::new(destination, &connection.shown);
    // What was folded has no ref any more. Where the branch cannot be read, it is pushed again, and the next fold drops it.
    let tip = connection.tip(branch, attempts.limit())?.ok().flatten();
    let Sorted { fresh, already, others } = sort(&connection, tip, additions)?;
    recorded.already.clone_from(&already);
    recorded.folded = already;
    for (addition, at) in others {
        let theirs = connection.theirs(at, attempts.limit())?;
        recorded.conflicts.push(conflict(addition, theirs, format!("branch `{branch}`")));
    }
    recorded.notes.extend(connection.identity.note().filter(|_| !fresh.is_empty()));
    let objects = connection.objects()?;
    let mut parcels = Vec::new();
    let is_fresh = |addition: &Addition| fresh.iter().any(|fresh| fresh.path == addition.path);
    for (addition, name) in additions.iter().zip(names).filter(|(addition, _)| is_fresh(addition)) {
        let tree = objects.tree(None, &objects.files(addition)?)?;
        // The date of the result: a replay makes the same commit.
        let commit = connection.commit(&objects, tree, None, addition.ended, &message(&[addition]))?;
        parcels.push(Parcel { addition, name, commit, tried: false });
    }
    for batch in parcels.chunks_mut(BATCH) {
        send(&connection, batch.iter_mut().collect(), &mut attempts, &mut recorded)?;
    }
    recorded.tries = attempts.number();
    Ok(recorded)
}

/// Pushes parcels until each of them is there, or something else is.
fn send(
    connection: &Connection,
    mut open: Vec<&mut Parcel<'_>>,
    attempts: &mut Attempts,
    recorded: &mut Recorded,
) -> Result<(), NotRecorded> {
    while !open.is_empty() {
        let state = open.iter().map(|parcel| parcel.name.as_str()).collect::<Vec<_>>().join(" ");
        attempts.check(&state)?;
        let change =
            |parcel: &&mut Parcel<'_>| Change { name: parcel.name.clone(), from: None, to: Some(parcel.commit) };
        let changes: Vec<Change> = open.iter().map(change).collect();
        let (before, mut raced, mut over) = (open.len(), false, None);
        match connection.push(&changes, attempts.limit())? {
            Pushed::Accepted => {
                recorded.commit = open.last().map(|parcel| parcel.commit.to_string());
                recorded.added.extend(open.iter().map(|parcel| parcel.addition.path.clone()));
                return Ok(());
            }
            // Some of the refs are there: the look below says which.
            Pushed::Raced => raced = true,
            Pushed::Rejected(words) => attempts.after_no(&state, &words)?,
            Pushed::Broken(trouble) => {
                for parcel in &mut open {
                    parcel.tried = true;
                }
                over = attempts.after_trouble(&trouble).err();
            }
        }
        let names: Vec<&str> = open.iter().map(|parcel| parcel.name.as_str()).collect();
        let limit = if over.is_some() { Attempts::LAST_LOOK } else { attempts.limit() };
        match (connection.look(&names, limit)?, over) {
            (Ok(found), over) => {
                open = settle(connection, open, &found, attempts, recorded)?;
                match over {
                    Some(fault) if !open.is_empty() => return Err(fault),
                    _ => {}
                }
            }
            (Err(_), Some(fault)) => return Err(fault),
            (Err(trouble), None) => attempts.after_trouble(&trouble)?,
        }
        if raced && open.len() == before {
            attempts.after_race()?;
        }
    }
    Ok(())
}

/// Notes which parcels are among the refs that were found, and returns those that are not.
fn settle<'p, 'a>(
    connection: &Connection,
    open: Vec<&'p mut Parcel<'a>>,
    found: &[(String, Oid)],
    attempts: &mut Attempts,
    recorded: &mut Recorded,
) -> Result<Vec<&'p mut Parcel<'a>>, NotRecorded> {
    let mut missing = Vec::new();
    for parcel in open {
        let Some((_, there)) = found.iter().find(|(name, _)| *name == parcel.name) else {
            missing.push(parcel);
            continue;
        };
        let path = parcel.addition.path.clone();
        if *there == parcel.commit && parcel.tried {
            recorded.commit = Some(there.to_string());
            recorded.added.push(path);
        } else if *there == parcel.commit {
            recorded.already.push(path);
        } else {
            match other(connection, parcel, attempts)? {
                None => recorded.already.push(path),
                Some(theirs) => {
                    recorded.conflicts.push(conflict(parcel.addition, theirs, format!("`{}`", parcel.name)));
                }
            }
        }
    }
    Ok(missing)
}

/// Returns what another commit under a parcel's name holds at its path, unless it holds the same bytes.
fn other(connection: &Connection, parcel: &Parcel<'_>, attempts: &mut Attempts) -> Result<Option<String>, NotRecorded> {
    const OTHER: &str = "refs/kubebench/other";
    loop {
        let fetched = connection.fetch(&[&format!("+{}:{OTHER}", parcel.name)], &TIP_ALONE, attempts.limit())?;
        if !fetched.succeeded {
            attempts.after_trouble(&super::program::trouble_of(&fetched))?;
            continue;
        }
        let objects = connection.objects()?;
        let Some((_, there)) = objects.refs(OTHER)?.into_iter().next() else { continue };
        return match objects.at(there, &parcel.addition.path)? {
            At::File(blob) if blob == blob_id(&parcel.addition.bytes)? => Ok(None),
            At::Nothing => Ok(Some("a commit without this file".to_owned())),
            at => connection.theirs(at, attempts.limit()).map(Some),
        };
    }
}
