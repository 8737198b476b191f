//! Mode `branch`: one commit on the tip of the results branch, made anew until nobody was faster.

use git2::Oid;

use super::attempts::Attempts;
use super::connection::{Change, Connection};
use super::objects::{At, blob_id};
use super::{Destination, conflict, now};
use crate::record::answer::Pushed;
use crate::record::message::message;
use crate::record::{Addition, NotRecorded, Recorded};

/// Records `additions` in the branch of the remote.
pub(super) fn record(additions: &[&Addition], destination: &Destination) -> Result<Recorded, NotRecorded> {
    let connection = Connection::open(destination)?;
    let branch = &destination.branch;
    let full = format!("refs/heads/{branch}");
    let place = format!("branch `{branch}` of `{}`", connection.shown);
    let mut attempts = Attempts::until(destination.deadline);
    let mut pushed: Vec<(Oid, Vec<String>)> = Vec::new();
    loop {
        // This is also the look whether a push took place whose answer was lost.
        let tip = match connection.tip(branch, attempts.limit())? {
            Ok(tip) => tip,
            Err(trouble) => {
                attempts.after_trouble(&trouble)?;
                continue;
            }
        };
        let Sorted { fresh, already, others } = sort(&connection, tip, additions)?;
        let state = tip.map_or_else(String::new, |tip| tip.to_string());
        let ours = |path: &String| pushed.iter().any(|(_, paths)| paths.contains(path));
        if fresh.is_empty() {
            let (added, already) = already.into_iter().partition(ours);
            let mut conflicts = Vec::new();
            for (addition, at) in others {
                conflicts.push(conflict(
                    addition,
                    connection.theirs(at, attempts.limit())?,
                    format!("branch `{branch}`"),
                ));
            }
            let commit = pushed.iter().rev().map(|(commit, _)| *commit).find(|commit| Some(*commit) == tip);
            let commit = commit.map(|commit| commit.to_string());
            let notes = connection.identity.note().filter(|_| !pushed.is_empty()).into_iter().collect();
            return Ok(Recorded { added, already, conflicts, commit, place, tries: attempts.number(), notes });
        }
        attempts.check(&state)?;
        let objects = connection.objects()?;
        let mut files = Vec::new();
        for addition in &fresh {
            files.push((addition.path.as_str(), objects.blob(&addition.bytes)?));
        }
        let tree = objects.tree(tip, &files)?;
        let commit = connection.commit(tree, tip, now(), &message(&fresh))?;
        pushed.push((commit, fresh.iter().map(|addition| addition.path.clone()).collect()));
        let change = Change { name: full.clone(), from: tip, to: Some(commit) };
        match connection.push(&[change], attempts.limit())? {
            Pushed::Accepted => {
                let added = fresh.iter().map(|addition| addition.path.clone()).collect();
                let mut conflicts = Vec::new();
                for (addition, at) in others {
                    conflicts.push(conflict(
                        addition,
                        connection.theirs(at, attempts.limit())?,
                        format!("branch `{branch}`"),
                    ));
                }
                let notes = connection.identity.note().into_iter().collect();
                let commit = Some(commit.to_string());
                return Ok(Recorded { added, already, conflicts, commit, place, tries: attempts.number(), notes });
            }
            Pushed::Raced => attempts.after_race()?,
            Pushed::Rejected(words) => attempts.after_no(&state, &words)?,
            Pushed::Broken(trouble) => attempts.after_trouble(&trouble)?,
        }
    }
}

/// Additions by what their paths hold.
struct Sorted<'a> {
    fresh: Vec<&'a Addition>,
    already: Vec<String>,
    others: Vec<(&'a Addition, At)>,
}

fn sort<'a>(connection: &Connection, tip: Option<Oid>, additions: &[&'a Addition]) -> Result<Sorted<'a>, NotRecorded> {
    let objects = connection.objects()?;
    let mut sorted = Sorted { fresh: Vec::new(), already: Vec::new(), others: Vec::new() };
    for addition in additions {
        let at = tip.map_or(Ok(At::Nothing), |tip| objects.at(tip, &addition.path))?;
        match at {
            At::Nothing => sorted.fresh.push(addition),
            At::File(blob) if blob == blob_id(&addition.bytes)? => sorted.already.push(addition.path.clone()),
            At::File(_) | At::Other => sorted.others.push((addition, at)),
        }
    }
    Ok(sorted)
}
