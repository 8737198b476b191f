//! The steps that turn the tree on disk into the wanted one, in an order that survives being cut off anywhere.
//!
//! A file appears whole, by renaming a temporary file; deletes come last. A folder that has to go first gives its last file
//! up to a temporary name beside it: whoever finds that name later knows that the empty folder was Kubebench's own.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::ancestors;
use super::disk::{made_for, temporary};
use super::plan::{Action, EditedFiles, Plan};
use kubebench_syntax::path::parent;

/// One step; paths are relative to the output directory, and the empty path is that directory itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation<'a> {
    /// Remove what an interrupted compile left behind.
    RemoveStaleTemp {
        /// The temporary file.
        path: String,
    },
    /// Create a folder whose parent exists.
    CreateDir {
        /// The folder.
        path: String,
    },
    /// Write a temporary file that does not exist yet.
    WriteTemp {
        /// The manifest that it is made for.
        path: String,
        /// Where to write.
        temp: String,
        /// What to write.
        bytes: &'a [u8],
    },
    /// Give a regular file another name, over a regular file or nothing.
    Rename {
        /// The old name.
        from: String,
        /// The new name.
        to: String,
    },
    /// Delete a regular file.
    DeleteFile {
        /// The file.
        path: String,
    },
    /// Remove a folder if it is empty.
    RemoveDir {
        /// The folder.
        path: String,
    },
}

impl Plan<'_> {
    /// Returns the steps of `compile`; none when the tree is as wanted. `pid` makes the names of temporary files.
    pub fn operations(&self, pid: u32, edited: EditedFiles) -> Vec<Operation<'_>> {
        let mut deleted = BTreeSet::new();
        let mut writes = Vec::new();
        for change in &self.changes {
            match (change.action(edited), change.new) {
                (Action::Write, Some(text)) => writes.push((change.path, text.as_bytes())),
                (Action::Delete, _) => drop(deleted.insert(change.path)),
                (Action::Write | Action::Leave, _) => {}
            }
        }
        let removal = Removal::new(self, deleted);
        let mut operations = removal.stale_temporaries();
        operations.extend(self.create_folders(writes.iter().map(|(path, _)| *path)));
        for (path, bytes) in writes {
            let temp = temporary(path, pid);
            operations.push(Operation::WriteTemp { path: path.to_owned(), temp: temp.clone(), bytes });
            operations.push(Operation::Rename { from: temp, to: path.to_owned() });
        }
        removal.deletes(pid, &mut operations);
        operations
    }

    fn create_folders<'b>(&'b self, written: impl Iterator<Item = &'b str>) -> impl Iterator<Item = Operation<'b>> {
        let needed: BTreeSet<&str> = written.flat_map(|path| ancestors(path).chain([""])).collect();
        let missing = needed.into_iter().filter(|folder| !self.on_disk.folders.contains(*folder));
        missing.map(|path| Operation::CreateDir { path: path.to_owned() })
    }
}

/// What is removed, and which folders are removed with it.
struct Removal<'a> {
    files: BTreeSet<&'a str>,
    leftovers: &'a BTreeSet<String>,
    /// Deepest first.
    folders: Vec<Emptied<'a>>,
}

/// A folder that contains only files that are removed.
struct Emptied<'a> {
    path: &'a str,
    /// The file in it that is removed last.
    last: Option<&'a str>,
    /// The temporary file next to it that an interrupted removal of it left.
    mark: Option<&'a str>,
}

impl<'a> Removal<'a> {
    fn new(plan: &'a Plan<'_>, files: BTreeSet<&'a str>) -> Self {
        let leftovers = &plan.on_disk.leftovers;
        let folders = if files.is_empty() && leftovers.is_empty() {
            Vec::new()
        } else {
            emptied_folders(plan, &files, leftovers)
        };
        Self { files, leftovers, folders }
    }

    /// Returns the removal of all leftovers but those that the removal of a folder still needs.
    fn stale_temporaries<'b>(&self) -> Vec<Operation<'b>> {
        let needed: BTreeSet<&str> =
            self.folders.iter().flat_map(|folder| folder.last.into_iter().chain(folder.mark)).collect();
        let stale = self.leftovers.iter().filter(|path| !needed.contains(path.as_str()));
        stale.map(|path| Operation::RemoveStaleTemp { path: path.clone() }).collect()
    }

    fn deletes(&self, pid: u32, operations: &mut Vec<Operation<'_>>) {
        let last: BTreeMap<&str, Option<&str>> = self.folders.iter().map(|folder| (folder.path, folder.last)).collect();
        let is_last = |path: &str| last.get(parent(path)).is_some_and(|last| *last == Some(path));
        let early = self.files.iter().filter(|path| !is_last(path));
        operations.extend(early.map(|path| Operation::DeleteFile { path: (*path).to_owned() }));
        let mut marks_inside = BTreeMap::<&str, String>::new();
        for folder in &self.folders {
            let mut marks: BTreeSet<String> = folder.mark.map(str::to_owned).into_iter().collect();
            let inside = folder.last.map(str::to_owned).or_else(|| marks_inside.remove(folder.path));
            if let Some(from) = inside {
                let to = temporary(folder.path, pid);
                marks.insert(to.clone());
                operations.push(Operation::Rename { from, to });
            }
            operations.push(Operation::RemoveDir { path: folder.path.to_owned() });
            let above = parent(folder.path);
            marks.retain(|mark| !is_last(mark));
            if last.get(above) == Some(&None)
                && !marks_inside.contains_key(above)
                && let Some(mark) = marks.pop_last()
            {
                marks_inside.insert(above, mark);
            }
            operations.extend(marks.into_iter().map(|path| Operation::RemoveStaleTemp { path }));
        }
    }
}

/// Returns the folders that contain only `files`, `leftovers` and one another, and that were provably Kubebench's own.
fn emptied_folders<'a>(
    plan: &'a Plan<'_>,
    files: &BTreeSet<&'a str>,
    leftovers: &'a BTreeSet<String>,
) -> Vec<Emptied<'a>> {
    let staying = plan.on_disk.entries.keys().map(String::as_str).filter(|path| !files.contains(path));
    let mut held: BTreeSet<&str> = staying.map(parent).collect();
    let mut own: BTreeMap<&str, &str> = leftovers.iter().map(|path| (parent(path), path.as_str())).collect();
    own.extend(files.iter().map(|path| (parent(path), *path)));
    let marks: BTreeMap<String, &str> =
        leftovers.iter().filter_map(|path| Some((made_for(path)?, path.as_str()))).collect();
    let mut deepest_first: Vec<&str> = plan.on_disk.folders.iter().map(String::as_str).collect();
    deepest_first.sort_by_key(|path| Reverse(path.matches('/').count()));
    let mut gave_up_a_folder = BTreeSet::new();
    let mut emptied = Vec::new();
    for path in deepest_first.into_iter().filter(|path| !path.is_empty()) {
        let (last, mark) = (own.get(path).copied(), marks.get(path).copied());
        let proven = last.is_some() || mark.is_some() || gave_up_a_folder.contains(path);
        if proven && !held.contains(path) && plan.wanted.any_below(path).is_none() {
            gave_up_a_folder.insert(parent(path));
            emptied.push(Emptied { path, last, mark });
        } else {
            held.insert(parent(path));
        }
    }
    emptied
}
