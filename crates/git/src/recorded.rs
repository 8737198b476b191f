//! Recorded results where they are: on a branch as a clone has it, read from its objects, without a work tree.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use anyhow::{Context as _, Result, bail};
use git2::{ErrorCode, FileMode, ObjectType, Oid, Reference, Repository, Tree};

use super::Tell;
use super::connection::look;
use super::identity::Configuration;
use super::lineage::discover;
use super::program::{Git, trouble_of};
use crate::record::answer::is_missing_ref;
use crate::record::{DEADLINE, NotRecorded, place};
use kubebench_host::fs::{Content, is_result};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::shell_word;

/// A result is in the folder of its case, in that of its benchmark.
const DEPTH: usize = 3;
/// No branch has so many files and folders; a tree that is listed at many places may pretend to.
const MOST: usize = 1_000_000;

/// The branch of recorded results, as a clone has it.
pub struct RecordedBranch {
    /// The folder of the clone's objects and references, which all its work trees share.
    repository: PathBuf,
    branch: String,
    /// The remote below whose name the clone keeps it.
    remote: String,
    /// What git fetches it from: a remote or an address; nothing where there is neither.
    source: Option<String>,
    /// Its name here, and its newest commit; nothing where it is not here.
    tip: Option<(String, Oid)>,
    /// Repositories that are not in use at the moment: one serves one thread.
    idle: Mutex<Vec<Repository>>,
}

/// The content of a file, by its name in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlobId(Oid);

impl std::fmt::Display for BlobId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// What came of fetching a branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fetched {
    /// It is here.
    There,
    /// The remote has no such branch.
    Absent,
}

type Found = BTreeMap<String, Result<BlobId, Content>>;

impl RecordedBranch {
    /// Looks for `branch` in the repository of `root`; `remote` is the name or address that results are pushed to. Nothing where there is
    /// no repository.
    pub fn find(root: &Path, remote: Option<&str>, branch: &str) -> Result<Option<Self>> {
        let Some(repository) = discover(root)? else { return Ok(None) };
        if branch.starts_with('-') || !Reference::is_valid_name(&format!("refs/heads/{branch}")) {
            bail!("`{}` is not a valid name for a branch; write `kubebench/results`", branch.escape_debug());
        }
        let (remote, source) = remote_of(&repository, remote.unwrap_or(ORIGIN));
        let mut found = Self {
            repository: repository.commondir().to_owned(),
            branch: branch.to_owned(),
            remote,
            source,
            tip: None,
            idle: Mutex::default(),
        };
        found.look_again(&repository);
        Ok(Some(found))
    }

    fn look_again(&mut self, repository: &Repository) {
        let tracked = format!("{}/{}", self.remote, self.branch);
        let names = [
            (format!("refs/remotes/{tracked}"), tracked),
            (format!("refs/heads/{}", self.branch), self.branch.clone()),
            (format!("refs/remotes/{}", self.branch), self.branch.clone()),
        ];
        let tip = |(full, shown): (String, String)| {
            let found = repository.find_reference(&full).ok()?.peel(ObjectType::Commit).ok()?;
            Some((shown, found.id()))
        };
        self.tip = names.into_iter().find_map(tip);
    }

    /// Returns whether the clone has it.
    pub fn is_here(&self) -> bool {
        self.tip.is_some()
    }

    /// Returns what it is called here: `origin/kubebench/results`.
    pub fn shown(&self) -> String {
        self.tip.as_ref().map_or_else(|| format!("{}/{}", self.remote, self.branch), |(shown, _)| shown.clone())
    }

    /// Returns the branch, without a remote.
    pub fn branch(&self) -> &str {
        &self.branch
    }

    /// Returns a text that no other branch of another repository has.
    pub fn identity(&self) -> String {
        format!("{}\0{}", self.repository.display(), self.shown())
    }

    /// Returns the command that brings it here; nothing where there is no remote.
    pub fn fetch_command(&self) -> Option<String> {
        let what = format!("{0}:refs/remotes/{1}/{0}", self.branch, self.remote);
        Some(format!("git fetch {} {}", shell_word(self.source.as_deref()?), shell_word(&what)))
    }

    /// Fetches it into the repository of `root`, as `git fetch` does.
    pub fn fetch(&mut self, root: &Path, program: &Path, tell: Tell) -> Result<Fetched, NotRecorded> {
        let Some(source) = self.source.clone() else {
            return Err(NotRecorded::refused(format!("there is no remote to fetch `{}` from", self.branch)));
        };
        place::refuse_address(&source).map_err(NotRecorded::refused)?;
        if place::is_address(&source) && place::is_folder(&source) {
            // A branch of a stranger may name a folder of its own, whose settings name programs.
            return Err(NotRecorded::refused(format!(
                "`{source}` is a folder, and git does not fetch from a folder that only the project file names"
            ))
            .help("add it to this clone with `git remote add`"));
        }
        let git = Git::find(program, root)?;
        let configuration = Configuration::read(&git, root)?;
        let mut git = git.at(root).allowing(|name| configuration.allows(name)).telling(&source, tell);
        if std::env::var_os("GIT_SSH_COMMAND").is_none() && configuration.get("core.sshcommand").is_none() {
            git = git.with_variable("GIT_SSH_COMMAND", "ssh -o BatchMode=yes");
        }
        let head = format!("refs/heads/{}", self.branch);
        let specification = format!("+{head}:refs/remotes/{}/{}", self.remote, self.branch);
        let options = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance"];
        let arguments = [&options[..], &["--no-recurse-submodules", "--", &source, &specification]].concat();
        let fetched = git.call(&arguments, None, DEADLINE)?;
        let branch = self.branch.clone();
        let fault = |trouble: &str| NotRecorded::try_again(format!("`{branch}` cannot be fetched: {trouble}"));
        if !fetched.succeeded {
            if !is_missing_ref(&fetched.words) {
                return Err(fault(trouble_of(&fetched).words()));
            }
            // The message alone is not trusted.
            return match look(&git, &source, &[&head], DEADLINE)? {
                Ok(found) if found.is_empty() => Ok(Fetched::Absent),
                Ok(_) => Err(fault("it was created in the meantime")),
                Err(trouble) => Err(fault(trouble.words())),
            };
        }
        let repository = Repository::open(&self.repository);
        self.look_again(&repository.map_err(|error| fault(error.message()))?);
        Ok(Fetched::There)
    }

    /// Returns the files below `folder` that are results by their names, by path below it, or why one of them is not read.
    pub fn files(&self, folder: &str) -> Result<Found> {
        let mut found = Found::new();
        let Some((_, tip)) = &self.tip else { return Ok(found) };
        let repository = self.take()?;
        let lacks = |error: &git2::Error| format!("cannot read the branch `{}`: {}", self.shown(), error.message());
        let top = repository.find_commit(*tip).and_then(|commit| commit.tree());
        let top = top.map_err(|error| self.fault(&repository, &error, &lacks(&error)))?;
        match top.get_path(Path::new(folder)) {
            Ok(entry) if entry.kind() == Some(ObjectType::Tree) => {
                let mut walk = Walk { repository: &repository, found: &mut found, seen: 0 };
                walk.list(entry.id(), "", DEPTH).map_err(|error| self.fault(&repository, &error, &lacks(&error)))?;
            }
            Ok(_) => bail!("`{folder}` on the branch `{}` is not a folder", self.shown()),
            Err(error) if error.code() == ErrorCode::NotFound && is_whole(&repository, &top, folder) => {}
            Err(error) => return Err(self.fault(&repository, &error, &lacks(&error))),
        }
        drop(top);
        self.give_back(repository);
        Ok(found)
    }

    /// Returns the bytes of a file of up to `limit`; absent where a partial clone does not have them.
    pub fn bytes(&self, blob: BlobId, limit: usize) -> Result<Vec<u8>, Content> {
        let unreadable = |error: &dyn std::fmt::Display| Content::Unreadable(error.to_string());
        let repository = self.take().map_err(|error| unreadable(&error))?;
        let read = || {
            let (size, kind) = repository.odb()?.read_header(blob.0)?;
            if kind != ObjectType::Blob || size > limit {
                return Ok(Err(Content::Refused(format!("it has {size} bytes, but a result has at most {limit}"))));
            }
            Ok(Ok(repository.find_blob(blob.0)?.content().to_vec()))
        };
        let bytes = read().unwrap_or_else(|error: git2::Error| match error.code() {
            ErrorCode::NotFound => Err(Content::Absent),
            _ => Err(unreadable(&error.message())),
        });
        self.give_back(repository);
        bytes
    }

    /// Returns the bytes of the file at `path` of the branch.
    pub fn file(&self, path: &str, limit: usize) -> Result<Vec<u8>, Content> {
        let find = |repository: &Repository| {
            let tip = self.tip.as_ref().map(|(_, tip)| *tip)?;
            let tree = repository.find_commit(tip).and_then(|commit| commit.tree()).ok()?;
            let entry = tree.get_path(Path::new(path)).ok()?;
            Some(BlobId(entry.id()))
        };
        let repository = self.take().map_err(|error| Content::Unreadable(error.to_string()))?;
        let blob = find(&repository);
        self.give_back(repository);
        self.bytes(blob.ok_or(Content::Absent)?, limit)
    }

    /// Says that objects of a partial clone are not here, and how to have them.
    pub fn lacks(&self) -> anyhow::Error {
        let command = self.fetch_command().map_or_else(String::new, |command| {
            format!(": run `{}`", command.replacen("git fetch", "git fetch --refetch --no-filter", 1))
        });
        anyhow::anyhow!(
            "this clone lacks files of the branch `{}`, because it was made with `--filter`{command}",
            self.shown()
        )
    }

    fn fault(&self, repository: &Repository, error: &git2::Error, words: &str) -> anyhow::Error {
        let is_partial = repository.config().is_ok_and(|config| {
            config.get_bool(&format!("remote.{}.promisor", self.remote)).unwrap_or(false)
                || config.get_string("extensions.partialclone").is_ok()
        });
        if error.code() == ErrorCode::NotFound && is_partial { self.lacks() } else { anyhow::anyhow!("{words}") }
    }

    /// Returns its newest commit, where it is here.
    pub(super) fn tip(&self) -> Option<Oid> {
        self.tip.as_ref().map(|(_, tip)| *tip)
    }

    /// Asks the repository something.
    pub(super) fn reading<T>(&self, ask: impl FnOnce(&Repository) -> Result<T, git2::Error>) -> Result<T> {
        let repository = self.take()?;
        let answer = ask(&repository);
        self.give_back(repository);
        Ok(answer?)
    }

    fn take(&self) -> Result<Repository> {
        let idle = self.idle.lock().expected("no thread that panics with it").pop();
        idle.map_or_else(|| Repository::open(&self.repository), Ok).context("cannot open the git repository")
    }

    fn give_back(&self, repository: Repository) {
        self.idle.lock().expected("no thread that panics with it").push(repository);
    }
}

/// The remote that a clone is of.
const ORIGIN: &str = "origin";

/// Returns the remote below whose name a clone keeps branches of `asked`, a name or an address, and what to fetch them from.
fn remote_of(repository: &Repository, asked: &str) -> (String, Option<String>) {
    let url = |name: &str| repository.find_remote(name).ok()?.url().ok().map(str::to_owned);
    if url(asked).is_some() {
        return (asked.to_owned(), Some(asked.to_owned()));
    }
    let plain = |address: &str| address.trim_end_matches('/').trim_end_matches(".git").to_owned();
    let names = repository.remotes().ok();
    let mut names = names.iter().flat_map(|names| names.iter()).filter_map(|name| name.ok().flatten());
    if let Some(name) = names.find(|name| url(name).is_some_and(|url| plain(&url) == plain(asked))) {
        return (name.to_owned(), Some(name.to_owned()));
    }
    (ORIGIN.to_owned(), place::is_address(asked).then(|| asked.to_owned()))
}

/// Returns whether the trees on the way to `folder` are here, as far as there are any: git2 has one error for what is absent from a
/// tree and for a tree that is absent.
fn is_whole(repository: &Repository, top: &Tree<'_>, folder: &str) -> bool {
    let mut tree = top.clone();
    for part in folder.split('/') {
        let Some(entry) = tree.get_name(part).map(|entry| (entry.id(), entry.kind())) else { return true };
        match entry {
            (id, Some(ObjectType::Tree)) => match repository.find_tree(id) {
                Ok(below) => tree = below,
                Err(_) => return false,
            },
            _ => return true,
        }
    }
    true
}

struct Walk<'w> {
    repository: &'w Repository,
    found: &'w mut Found,
    seen: usize,
}

impl Walk<'_> {
    fn list(&mut self, tree: Oid, place: &str, depth: usize) -> Result<(), git2::Error> {
        let tree = self.repository.find_tree(tree)?;
        self.seen += tree.len();
        if self.seen > MOST {
            return Err(git2::Error::from_str("it has too many files"));
        }
        for entry in &tree {
            let name = String::from_utf8_lossy(entry.name_bytes()).into_owned();
            if name.starts_with('.') {
                continue;
            }
            let path = format!("{place}{name}");
            let refused = |what: &str| Err(Content::Refused(format!("it is a {what}")));
            let file = match (entry.kind(), entry.filemode()) {
                (Some(ObjectType::Tree), _) if depth > 1 => {
                    self.list(entry.id(), &format!("{path}/"), depth - 1)?;
                    continue;
                }
                (Some(ObjectType::Tree), _) => refused("folder nested deeper than results are"),
                _ if !is_result(&name) => continue,
                (Some(ObjectType::Blob), mode) if mode == i32::from(FileMode::Link) => refused("symbolic link"),
                (Some(ObjectType::Blob), _) => Ok(BlobId(entry.id())),
                _ => refused("submodule"),
            };
            self.found.insert(path, file);
        }
        Ok(())
    }
}
