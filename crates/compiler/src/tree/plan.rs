//! Compares the wanted tree with the one on disk and gives every difference its state.

use std::borrow::Cow;
use std::collections::BTreeSet;

use kubebench_syntax::text::Span;

use super::disk::{Found, OnDisk};
use super::header::{self, Body, Header};
use super::{OutputFile, OutputTree, ancestors};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::path::parent;

/// Files that belong to git, wherever they are.
const GITS_OWN: [&str; 3] = [".gitattributes", ".gitignore", ".gitkeep"];

/// Which names a selection covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    #[default]
    All,
    /// These alone.
    Only(BTreeSet<String>),
    /// All but these, such as specs with faults: their manifests are neither checked nor pruned.
    Except(BTreeSet<String>),
}

impl Filter {
    fn covers(&self, name: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(name),
            Self::Except(names) => !names.contains(name),
        }
    }
}

/// What a compilation is about: it writes, checks and prunes nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The first components of paths: targets.
    pub targets: Filter,
    /// The sources of manifests; `kubebench.yaml` is one of them.
    pub sources: Filter,
}

impl Scope {
    fn covers_place(&self, path: &str) -> bool {
        self.targets.covers(path.split('/').next().expected("a first part of every split"))
    }

    fn covers(&self, path: &str, source: &str) -> bool {
        self.covers_place(path) && self.sources.covers(source)
    }
}

/// What a plan is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// `--check`: every difference counts.
    Check,
    /// `compile`: only what it refuses to touch counts.
    Write(EditedFiles),
}

/// What `compile` does with manifests that were edited by hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EditedFiles {
    /// It refuses them.
    #[default]
    Keep,
    /// `--overwrite-edited`: it treats them as its own.
    Overwrite,
}

/// How a path on disk differs from the wanted tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// A manifest is not there.
    Missing,
    /// A manifest is as Kubebench wrote it, but from another spec text.
    Stale,
    /// A manifest is not as Kubebench wrote it.
    Edited {
        /// It contains an unresolved merge, which must not be resolved by hand: the merged specs say what it is.
        conflict: bool,
    },
    /// A manifest is right except for `\r\n` line ends.
    LineEndings,
    /// A file without header is at a manifest's path.
    Foreign,
    /// No regular file can be written at a manifest's path.
    NotRegular {
        /// What is in the way: the path itself or a folder above it; empty for the output directory.
        by: String,
        /// What that is.
        kind: &'static str,
    },
    /// A file, or a folder on the way to it, could not be read.
    Unreadable {
        /// The path that could not be read; empty for the output directory.
        by: String,
        /// The system's words.
        reason: String,
    },
    /// A manifest as Kubebench wrote it, which no source produces any more.
    Orphan,
    /// The same, but edited.
    EditedOrphan,
    /// Something that is not a manifest of Kubebench, and not in the way.
    ForeignElsewhere { kind: &'static str },
}

/// One difference between the wanted tree and the disk.
#[derive(Clone, Debug)]
pub struct Change<'a> {
    /// Path relative to the output directory.
    pub path: &'a str,
    /// How it differs.
    pub state: State,
    /// The file that the manifest is, or was, compiled from; empty for foreign files.
    pub source: Cow<'a, str>,
    /// The place of the source to point at.
    pub source_span: Option<Span>,
    /// The bytes on disk, where there are any.
    pub old: Option<&'a [u8]>,
    /// The text that should be on disk; nothing when the path should be gone.
    pub new: Option<&'a str>,
}

/// The way from the tree on disk to the wanted one.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// All differences, ordered by path.
    pub changes: Vec<Change<'a>>,
    /// How many manifests are as they should be.
    pub unchanged: usize,
    /// The sources that produce at least one manifest.
    pub(super) live_sources: BTreeSet<&'a str>,
    pub(super) wanted: &'a OutputTree,
    pub(super) on_disk: &'a OnDisk,
}

/// How many files a compile touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Files that are not there yet.
    pub created: usize,
    /// Files that get other bytes.
    pub changed: usize,
    /// How many of these held an unresolved merge.
    pub conflicts: usize,
    /// Files that go.
    pub removed: usize,
    /// Files that stay as they are.
    pub unchanged: usize,
}

impl Plan<'_> {
    /// Returns true when the disk holds the wanted tree and nothing else.
    pub fn is_clean(&self) -> bool {
        self.changes.is_empty()
    }

    /// Counts what [`Plan::operations`] would do.
    pub fn summary(&self, edited: EditedFiles) -> Summary {
        let mut summary = Summary { unchanged: self.unchanged, ..Summary::default() };
        for change in &self.changes {
            match change.action(edited) {
                Action::Write if change.state == State::Missing => summary.created += 1,
                Action::Write => {
                    summary.changed += 1;
                    summary.conflicts += usize::from(change.state == State::Edited { conflict: true });
                }
                Action::Delete => summary.removed += 1,
                Action::Leave => {}
            }
        }
        summary
    }
}

/// What `compile` does about a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    Write,
    Delete,
    Leave,
}

impl Change<'_> {
    pub(super) fn action(&self, edited: EditedFiles) -> Action {
        match (&self.state, edited) {
            (State::Missing | State::Stale | State::LineEndings | State::Edited { conflict: true }, _)
            | (State::Edited { .. }, EditedFiles::Overwrite) => Action::Write,
            (State::Orphan, _) | (State::EditedOrphan, EditedFiles::Overwrite) => Action::Delete,
            (State::Edited { .. } | State::EditedOrphan, EditedFiles::Keep)
            | (
                State::Foreign | State::ForeignElsewhere { .. } | State::NotRegular { .. } | State::Unreadable { .. },
                _,
            ) => Action::Leave,
        }
    }
}

/// Compares `wanted` with `on_disk`, within `scope`.
///
/// `wanted` may be larger than the scope: files outside it are not looked at, but keep their folders from being removed.
pub fn plan<'a>(wanted: &'a OutputTree, on_disk: &'a OnDisk, scope: &Scope) -> Plan<'a> {
    let mut changes = Vec::new();
    let mut blockers = BTreeSet::new();
    let mut folders = BTreeSet::new();
    let mut unchanged = 0;
    for (path, file) in wanted.iter().filter(|(path, file)| scope.covers(path, &file.source)) {
        folders.insert(parent(path));
        let Some(state) = wanted_state(path, file, on_disk) else {
            unchanged += 1;
            continue;
        };
        if let State::NotRegular { by, .. } | State::Unreadable { by, .. } = &state {
            blockers.insert(by.clone());
        }
        changes.push(Change {
            path,
            state,
            source: Cow::Borrowed(&file.source),
            source_span: file.source_span,
            old: on_disk.entries.get(path).and_then(content),
            new: Some(&file.text),
        });
    }
    for (path, found) in &on_disk.entries {
        if wanted.get(path).is_some() || blockers.contains(path) {
            continue;
        }
        let covers_strangers = || {
            let selective = matches!(scope.sources, Filter::Only(_));
            scope.covers_place(path) && (!selective || folders.contains(parent(path)))
        };
        let (source, state) = match other_state(path, found) {
            Other::Own(source, state) if scope.covers(path, &source) => (source, state),
            Other::Stranger(state) if covers_strangers() => (String::new(), state),
            Other::Own(..) | Other::Stranger(_) | Other::Gits => continue,
        };
        changes.push(Change {
            path,
            state,
            source: Cow::Owned(source),
            source_span: None,
            old: content(found),
            new: None,
        });
    }
    changes.sort_by(|a, b| a.path.cmp(b.path));
    let live_sources = wanted.iter().map(|(_, file)| file.source.as_str()).collect();
    Plan { changes, unchanged, live_sources, wanted, on_disk }
}

fn wanted_state(path: &str, file: &OutputFile, on_disk: &OnDisk) -> Option<State> {
    let above = ancestors(path).chain([""]).filter_map(|folder| Some((folder, on_disk.entries.get(folder)?))).last();
    if let Some((by, found)) = above {
        return Some(in_the_way(by, found));
    }
    if on_disk.folders.contains(path) {
        return Some(State::NotRegular { by: path.to_owned(), kind: "folder" });
    }
    match on_disk.entries.get(path) {
        None => Some(State::Missing),
        Some(Found::AsWanted) => None,
        Some(Found::File(bytes)) if *bytes == file.text.as_bytes() => None,
        Some(Found::File(bytes)) => {
            let text = with_newlines(bytes);
            Some(if *text == *file.text.as_bytes() {
                State::LineEndings
            } else {
                match header::parse(&text) {
                    Header::Own { body: Body::Intact, .. } => State::Stale,
                    Header::Own { body: Body::Edited, .. } => {
                        State::Edited { conflict: header::has_conflict_markers(&text) }
                    }
                    Header::None => State::Foreign,
                }
            })
        }
        Some(Found::Large(head)) => Some(match header::parse(&with_newlines(head)) {
            Header::Own { .. } => State::Edited { conflict: header::has_conflict_markers(head) },
            Header::None => State::Foreign,
        }),
        Some(found @ (Found::Symlink | Found::Other(_) | Found::Unreadable(_))) => Some(in_the_way(path, found)),
    }
}

fn in_the_way(by: &str, found: &Found) -> State {
    match found {
        Found::Unreadable(reason) => State::Unreadable { by: by.to_owned(), reason: reason.clone() },
        Found::AsWanted | Found::File(_) | Found::Large(_) | Found::Symlink | Found::Other(_) => {
            State::NotRegular { by: by.to_owned(), kind: found.kind() }
        }
    }
}

/// The kind of a path that no source produces.
enum Other {
    Own(String, State),
    Stranger(State),
    Gits,
}

fn other_state(path: &str, found: &Found) -> Other {
    let stranger = Other::Stranger(State::ForeignElsewhere { kind: found.kind() });
    let (header, whole) = match found {
        Found::File(bytes) => (header::parse(&with_newlines(bytes)), Body::Intact),
        Found::Large(head) => (header::parse(&with_newlines(head)), Body::Edited),
        Found::Unreadable(reason) => {
            return Other::Stranger(State::Unreadable { by: path.to_owned(), reason: reason.clone() });
        }
        Found::AsWanted | Found::Symlink | Found::Other(_) => return stranger,
    };
    match header {
        Header::Own { source, body: Body::Intact } if whole == Body::Intact => Other::Own(source, State::Orphan),
        Header::Own { source, .. } => Other::Own(source, State::EditedOrphan),
        Header::None if path.rsplit('/').next().is_some_and(|name| GITS_OWN.contains(&name)) => Other::Gits,
        Header::None => stranger,
    }
}

fn content(found: &Found) -> Option<&[u8]> {
    match found {
        Found::File(bytes) => Some(bytes),
        Found::AsWanted | Found::Large(_) | Found::Symlink | Found::Other(_) | Found::Unreadable(_) => None,
    }
}

fn with_newlines(bytes: &[u8]) -> Cow<'_, [u8]> {
    if !bytes.windows(2).any(|pair| pair == b"\r\n") {
        return Cow::Borrowed(bytes);
    }
    let mut text = bytes.to_vec();
    let mut next = bytes.iter().skip(1).chain([&0]);
    text.retain(|byte| next.next().is_none_or(|next| (*byte, *next) != (b'\r', b'\n')));
    Cow::Owned(text)
}
