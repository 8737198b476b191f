//! Blobs, trees and commits, made and read without a work tree.

use std::path::Path;

use git2::build::TreeUpdateBuilder;
use git2::{ErrorCode, FileMode, ObjectType, Oid, Repository, Signature, Time};

use super::identity::Identity;
use crate::record::{Addition, NotRecorded};
use kubebench_format::attestation;

/// The objects of one repository.
pub(super) struct Objects {
    repository: Repository,
}

/// What is at a path of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum At {
    Nothing,
    /// A file with this blob.
    File(Oid),
    /// A folder, a link, a submodule, or a file where a folder would have to be.
    Other,
}

/// A result in a commit of the inbox.
pub(super) struct Parcel {
    pub(super) path: String,
    pub(super) blob: Oid,
    pub(super) envelope: Option<Oid>,
}

impl Objects {
    /// Opens the repository at `place`.
    pub(super) fn open(place: &Path) -> Result<Self, NotRecorded> {
        Ok(Self { repository: Repository::open_bare(place).map_err(|error| fault(&error))? })
    }

    /// Writes a blob.
    pub(super) fn blob(&self, bytes: &[u8]) -> Result<Oid, NotRecorded> {
        self.repository.blob(bytes).map_err(|error| fault(&error))
    }

    /// Returns what is at `path` in the tree of `commit`.
    pub(super) fn at(&self, commit: Oid, path: &str) -> Result<At, NotRecorded> {
        let mut tree =
            self.repository.find_commit(commit).and_then(|commit| commit.tree()).map_err(|error| fault(&error))?;
        let mut parts = path.split('/').peekable();
        while let Some(part) = parts.next() {
            let Some(entry) = tree.get_name(part).map(|entry| (entry.id(), entry.kind(), entry.filemode())) else {
                return Ok(At::Nothing);
            };
            match (entry, parts.peek()) {
                ((id, Some(ObjectType::Tree), _), Some(_)) => {
                    tree = self.repository.find_tree(id).map_err(|error| fault(&error))?;
                }
                ((id, Some(ObjectType::Blob), mode), None) if mode != i32::from(FileMode::Link) => {
                    return Ok(At::File(id));
                }
                _ => return Ok(At::Other),
            }
        }
        Ok(At::Other)
    }

    /// Returns the result in the tree of `commit`, which has no other file but its envelope, or why there is none.
    pub(super) fn parcel(&self, commit: Oid) -> Result<Result<Parcel, String>, NotRecorded> {
        let Ok(commit) = self.repository.find_commit(commit) else { return Ok(Err("it is not a commit".to_owned())) };
        if commit.parent_count() > 0 {
            return Ok(Err("it has parent commits, but a result has none".to_owned()));
        }
        let mut tree = commit.tree().map_err(|error| fault(&error))?;
        let mut path = String::new();
        // No tree is deeper than a path may be long.
        for _ in 0..500 {
            if let Some((name, blob, envelope)) = pair(&tree) {
                path.push_str(&name);
                return Ok(Ok(Parcel { path, blob, envelope: Some(envelope) }));
            }
            if tree.len() != 1 {
                return Ok(Err(format!("it holds {} files or folders instead of one result", tree.len())));
            }
            let Some(entry) = tree.get(0) else { break };
            let Ok(name) = entry.name() else { return Ok(Err("the name of its file is not UTF-8".to_owned())) };
            path.push_str(name);
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    let below = self.repository.find_tree(entry.id()).map_err(|error| fault(&error))?;
                    drop(entry);
                    tree = below;
                    path.push('/');
                }
                Some(ObjectType::Blob) if entry.filemode() != i32::from(FileMode::Link) => {
                    return Ok(Ok(Parcel { path, blob: entry.id(), envelope: None }));
                }
                _ => return Ok(Err("it does not hold a regular file".to_owned())),
            }
        }
        Ok(Err("its folders are nested too deeply".to_owned()))
    }

    /// Returns the bytes of a blob, or nothing when it was not fetched.
    pub(super) fn bytes(&self, blob: Oid) -> Result<Option<Vec<u8>>, NotRecorded> {
        match self.repository.find_blob(blob) {
            Ok(blob) => Ok(Some(blob.content().to_vec())),
            Err(error) if error.code() == ErrorCode::NotFound => Ok(None),
            Err(error) => Err(fault(&error)),
        }
    }

    /// Writes the files of an addition, and returns where they belong.
    pub(super) fn files(&self, addition: &Addition) -> Result<Vec<(String, Oid)>, NotRecorded> {
        let mut files = vec![(addition.path.clone(), self.blob(&addition.bytes)?)];
        if let Some(envelope) = &addition.envelope {
            files.push((attestation::place(&addition.path), self.blob(envelope)?));
        }
        Ok(files)
    }

    /// Writes the tree of `base` with these files in it.
    pub(super) fn tree(&self, base: Option<Oid>, files: &[(String, Oid)]) -> Result<Oid, NotRecorded> {
        let write = || {
            let baseline = match base {
                Some(commit) => self.repository.find_commit(commit)?.tree()?,
                None => self.repository.find_tree(self.repository.treebuilder(None)?.write()?)?,
            };
            let mut update = TreeUpdateBuilder::new();
            for (path, blob) in files {
                update.upsert(path.as_str(), *blob, FileMode::Blob);
            }
            update.create_updated(&self.repository, &baseline)
        };
        write().map_err(|error| fault(&error))
    }

    /// Writes a commit.
    pub(super) fn commit(
        &self,
        tree: Oid,
        parent: Option<Oid>,
        who: &Identity,
        when: i64,
        message: &str,
    ) -> Result<Oid, NotRecorded> {
        let write = || {
            let signature = Signature::new(&who.name, &who.email, &Time::new(when, 0))?;
            let tree = self.repository.find_tree(tree)?;
            let parent = parent.map(|parent| self.repository.find_commit(parent)).transpose()?;
            self.repository.commit(None, &signature, &signature, message, &tree, &parent.iter().collect::<Vec<_>>())
        };
        write().map_err(|error| fault(&error))
    }

    /// Returns the commits of all refs below `prefix`, by the rest of their names.
    pub(super) fn refs(&self, prefix: &str) -> Result<Vec<(String, Oid)>, NotRecorded> {
        let read = || {
            let mut found = Vec::new();
            for reference in self.repository.references_glob(&format!("{prefix}*"))? {
                let reference = reference?;
                let Some(target) = reference.target() else { continue };
                if let Some(name) = reference.name().ok().and_then(|name| name.strip_prefix(prefix)) {
                    found.push((name.to_owned(), target));
                }
            }
            found.sort();
            Ok(found)
        };
        read().map_err(|error: git2::Error| fault(&error))
    }
}

/// Returns the blob id that `bytes` have in every repository with SHA-1.
pub(super) fn blob_id(bytes: &[u8]) -> Result<Oid, NotRecorded> {
    Oid::hash_object(ObjectType::Blob, bytes).map_err(|error| fault(&error))
}

/// Reads an object id of SHA-1.
pub(super) fn oid(text: &str) -> Result<Oid, NotRecorded> {
    if text.len() == 64 {
        return Err(NotRecorded::refused(
            "the repository uses SHA-256 object names, but kubebench writes objects with SHA-1 names only",
        )
        .help("use `--mode local` in a clone and push from there, or record to a repository with SHA-1 names"));
    }
    Oid::from_str(text).map_err(|error| fault(&error))
}

fn fault(error: &git2::Error) -> NotRecorded {
    NotRecorded::try_again(format!("cannot build the commit: {}", error.message()))
}

/// Returns the name of a result and the blobs of it and of its envelope, where a tree has these two and nothing else.
fn pair(tree: &git2::Tree<'_>) -> Option<(String, Oid, Oid)> {
    let file = |entry: git2::TreeEntry<'_>| {
        let is_plain = entry.kind() == Some(ObjectType::Blob) && entry.filemode() != i32::from(FileMode::Link);
        Some((entry.name().ok()?.to_owned(), entry.id())).filter(|_| is_plain)
    };
    let files: Vec<(String, Oid)> = tree.iter().map(file).collect::<Option<_>>()?;
    let [one, other] = files.as_slice() else { return None };
    let (result, envelope) = if attestation::result_of(&one.0).is_some() { (other, one) } else { (one, other) };
    (attestation::place(&result.0) == envelope.0).then(|| (result.0.clone(), result.1, envelope.1))
}
