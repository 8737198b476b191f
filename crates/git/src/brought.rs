//! Which commit brought a run to the default branch of a remote: what runs in a cluster was applied from there, and knows only its run
//! digest.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::{Duration, Instant};

use git2::{ObjectType, Oid, Repository, Tree};

use super::Destination;
use super::connection::Connection;
use super::lineage::{CONFIG_FILE, digests};
use crate::record::NotRecorded;
use kubebench_format::result::v1::CommitContent;

/// How many generations of commits are fetched, one number after another, until all is found.
const DEPTHS: [u32; 2] = [50, 1000];
/// The maximum number of manifests that are read: each is fetched by itself.
const MOST_MANIFESTS: usize = 200;
/// How long all of it may take: results are waiting.
const LIMIT: Duration = Duration::from_mins(5);
/// The folder that every target in `generated/` has, in addition to those of its benchmarks.
const SHARED: &str = "pipeline";
/// The maximum depth of a folder that is looked at.
const DEEPEST: usize = 32;
/// The maximum number of folders of a repository.
const MOST_FOLDERS: usize = 200_000;

/// What the manifests of a run are called by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RunOf {
    pub target: String,
    pub benchmark: String,
    /// The first 8 digits of its run digest.
    pub digest: String,
}

/// A commit of the default branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brought {
    /// Its full name.
    pub commit: String,
    /// What it holds.
    pub content: CommitContent,
}

/// Returns the commits of the remote's default branch that brought each of these runs to its generated tree, by first parents the newest
/// one of each, and why the search ended early, if something failed. What no commit of the branch brought, or several projects of the
/// repository did, is left out.
pub fn brought(runs: &BTreeSet<RunOf>, destination: &Destination) -> (BTreeMap<RunOf, Brought>, Option<NotRecorded>) {
    let mut found = BTreeMap::new();
    let fault = if runs.is_empty() { None } else { look(runs, destination, &mut found).err() };
    (found, fault)
}

fn look(
    runs: &BTreeSet<RunOf>,
    destination: &Destination,
    found: &mut BTreeMap<RunOf, Brought>,
) -> Result<(), NotRecorded> {
    let connection = Connection::open(destination)?;
    let until = Instant::now() + LIMIT;
    let mut manifests = Manifests { connection: &connection, until, known: BTreeMap::new(), are_too_many: false };
    for depth in DEPTHS {
        let left = until.saturating_duration_since(Instant::now());
        let Some(tip) = connection.default_branch(depth, left)? else { return Ok(()) };
        // Opened again each time: what is shallow is read once.
        let repository = Repository::open_bare(connection.place()).map_err(|error| unreadable(&error))?;
        let line = Line::to(tip, &repository).map_err(|error| unreadable(&error))?;
        let mut outputs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for target in runs.iter().map(|run| run.target.as_str()).collect::<BTreeSet<_>>() {
            outputs.insert(target, line.outputs(target).map_err(|error| unreadable(&error))?);
        }
        let mut is_open = false;
        for run in runs {
            let outputs = outputs.get(run.target.as_str()).filter(|_| !found.contains_key(run));
            match line.bringing(run, outputs.map(Vec::as_slice).unwrap_or_default(), &mut manifests)? {
                Answer::Commit(commit) => drop(found.insert(run.clone(), commit)),
                Answer::Deeper => is_open = true,
                Answer::Nothing => {}
            }
        }
        if !is_open {
            break;
        }
    }
    Ok(())
}

enum Answer {
    Commit(Brought),
    /// It is among commits that were not fetched, if any.
    Deeper,
    Nothing,
}

/// The commits of a branch as first parents lead back, the newest first.
struct Line<'r> {
    repository: &'r Repository,
    commits: Vec<Oid>,
    /// Whether the last of them has no parent, so that nothing was left on the server.
    is_whole: bool,
}

impl<'r> Line<'r> {
    fn to(tip: Oid, repository: &'r Repository) -> Result<Self, git2::Error> {
        let shallow = std::fs::read_to_string(repository.path().join("shallow")).ok();
        let cut_off: BTreeSet<&str> = shallow.iter().flat_map(|text| text.lines()).collect();
        let (mut commits, mut next, mut is_whole) = (Vec::new(), Some(tip), true);
        while let Some(id) = next {
            commits.push(id);
            is_whole = !cut_off.contains(id.to_string().as_str());
            next = repository.find_commit(id)?.parent_ids().next().filter(|_| is_whole);
        }
        Ok(Self { repository, commits, is_whole })
    }

    /// Looks for the commit that brought a run.
    fn bringing(&self, run: &RunOf, outputs: &[String], manifests: &mut Manifests<'_>) -> Result<Answer, NotRecorded> {
        let mut found: Vec<Answer> = Vec::new();
        for output in outputs {
            let path = format!("{output}{}/{}/{CONFIG_FILE}", run.target, run.benchmark);
            match self.bringing_to(&path, run, manifests)? {
                Answer::Nothing => {}
                answer => found.push(answer),
            }
        }
        // Nothing says of which of several projects a run is, nor what manifests say that were not read.
        Ok(if found.len() > 1 || manifests.are_too_many {
            Answer::Nothing
        } else {
            found.pop().unwrap_or(Answer::Nothing)
        })
    }

    fn bringing_to(&self, path: &str, run: &RunOf, manifests: &mut Manifests<'_>) -> Result<Answer, NotRecorded> {
        let mut last: Option<(Oid, Oid)> = None;
        for id in &self.commits {
            let manifest = self.at(*id, path);
            match (last, manifest) {
                (Some((_, held)), Some(manifest)) if held == manifest => last = Some((*id, held)),
                // The name of the spec is in the manifest too, which may be another one for the same run.
                (_, Some(manifest)) if manifests.ask(manifest, run)? => last = Some((*id, manifest)),
                (Some((commit, _)), _) => return self.brought(commit).map(Answer::Commit),
                (None, _) => {}
            }
        }
        match last {
            _ if !self.is_whole => Ok(Answer::Deeper),
            Some((commit, _)) => self.brought(commit).map(Answer::Commit),
            None => Ok(Answer::Nothing),
        }
    }

    fn brought(&self, commit: Oid) -> Result<Brought, NotRecorded> {
        let tree = self.repository.find_commit(commit).map_err(|error| unreadable(&error))?.tree_id();
        let content = CommitContent { tree: tree.to_string(), ..CommitContent::default() };
        Ok(Brought { commit: commit.to_string(), content })
    }

    /// Returns the file at a path of a commit.
    fn at(&self, commit: Oid, path: &str) -> Option<Oid> {
        let tree = self.repository.find_commit(commit).and_then(|commit| commit.tree()).ok()?;
        let entry = tree.get_path(Path::new(path)).ok()?;
        (entry.kind() == Some(ObjectType::Blob)).then(|| entry.id())
    }

    /// Returns the folders, empty or ending in a slash, below which the newest commit has manifests of a target.
    fn outputs(&self, target: &str) -> Result<Vec<String>, git2::Error> {
        let mut search =
            Search { repository: self.repository, target, found: Vec::new(), barren: BTreeSet::new(), seen: 0 };
        if let Some(tip) = self.commits.first() {
            search.look(&self.repository.find_commit(*tip)?.tree()?, "", DEEPEST)?;
        }
        Ok(search.found)
    }
}

/// A search for the manifests of a target.
struct Search<'r> {
    repository: &'r Repository,
    target: &'r str,
    found: Vec<String>,
    /// Folders without any; one that is listed at many places is looked into once.
    barren: BTreeSet<Oid>,
    seen: usize,
}

impl Search<'_> {
    fn look(&mut self, tree: &Tree<'_>, place: &str, depth: usize) -> Result<(), git2::Error> {
        let before = self.found.len();
        for entry in tree.iter().filter(|entry| entry.kind() == Some(ObjectType::Tree)) {
            let Ok(name) = entry.name() else { continue };
            if self.barren.contains(&entry.id()) {
                continue;
            }
            self.seen += 1;
            if self.seen > MOST_FOLDERS {
                return Err(git2::Error::from_str("it has too many folders"));
            }
            let below = self.repository.find_tree(entry.id())?;
            let is_tree = |name: &str| below.get_name(name).is_some_and(|entry| entry.kind() == Some(ObjectType::Tree));
            if name == self.target && is_tree(SHARED) {
                self.found.push(place.to_owned());
            } else if depth > 1 {
                self.look(&below, &format!("{place}{name}/"), depth - 1)?;
            }
        }
        if self.found.len() == before {
            self.barren.insert(tree.id());
        }
        Ok(())
    }
}

/// The run digests that manifests name, which are fetched one by one.
struct Manifests<'c> {
    connection: &'c Connection,
    until: Instant,
    known: BTreeMap<(Oid, String), Vec<String>>,
    are_too_many: bool,
}

impl Manifests<'_> {
    /// Returns whether a manifest asks for a run.
    fn ask(&mut self, manifest: Oid, run: &RunOf) -> Result<bool, NotRecorded> {
        let key = (manifest, run.benchmark.clone());
        if !self.known.contains_key(&key) {
            if self.known.len() >= MOST_MANIFESTS {
                self.are_too_many = true;
                return Ok(false);
            }
            let content = self.connection.content(manifest, self.until.saturating_duration_since(Instant::now()))?;
            self.known.insert(key.clone(), digests(&content, &run.benchmark));
        }
        Ok(self.known.get(&key).is_some_and(|digests| digests.contains(&run.digest)))
    }
}

fn unreadable(error: &git2::Error) -> NotRecorded {
    NotRecorded::try_again(format!("cannot read the default branch: {}", error.message()))
}
