//! The output tree: what should be in the output directory, what is there, and the steps from one to the other.
//!
//! Everything here is a pure function of its arguments; only `app::files` of the program looks at a disk or changes one.

use kubebench_syntax::invariant::Invariant as _;

pub mod diff;
pub mod disk;
mod drift;
pub mod header;
pub(crate) mod operations;
pub mod plan;
mod report;
pub(crate) mod size;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use kubebench_syntax::path::parent;
use kubebench_syntax::text::Span;

pub use disk::{Found, OnDisk};
pub use drift::Parts;
pub use operations::Operation;
pub use plan::{Change, EditedFiles, Filter, Mode, Plan, Scope, State, plan};
pub use report::COMPILE;

/// One manifest as it should be in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputFile {
    /// The file that it is compiled from, relative to the project root: `specs/x.yaml` or `kubebench.yaml`.
    pub source: String,
    /// The source's `metadata.name`, for diagnostics.
    pub source_span: Option<Span>,
    /// The whole file: two lines of header, and the YAML of one object.
    pub text: String,
}

impl OutputFile {
    /// Returns the file of `body`, the YAML of one object, with the header that names its source and digest.
    pub fn new(source: &str, source_span: Option<Span>, body: &str) -> Self {
        Self { source: source.to_owned(), source_span, text: header::stamp(source, body) }
    }

    /// Returns the YAML after the header.
    pub fn body(&self) -> &str {
        self.text.splitn(header::LINES + 1, '\n').last().expected("a last part of every split")
    }
}

/// All manifests of one compilation, by path relative to the output directory, with `/` separators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputTree {
    files: BTreeMap<String, Arc<OutputFile>>,
}

/// A file that the tree cannot take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The requested path.
    pub path: String,
    /// The file, handed back.
    pub file: Arc<OutputFile>,
    /// Why.
    pub reason: Reason,
}

/// Why a file cannot be added to a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The path is the other file's, or one of the two would have to be a folder.
    Taken {
        /// The path of the file that the tree already holds.
        by: String,
    },
    /// The path is absolute, leaves the output directory, or has a component that is empty or not a portable file name.
    Malformed,
}

impl OutputTree {
    /// Adds `file` at `path`, or returns it when the path is taken or is not in the tree.
    pub fn insert(&mut self, path: impl Into<String>, file: impl Into<Arc<OutputFile>>) -> Result<(), Box<Rejected>> {
        let (path, file) = (path.into(), file.into());
        let reason = if is_portable(&path) { self.taken(&path) } else { Some(Reason::Malformed) };
        if let Some(reason) = reason {
            return Err(Box::new(Rejected { path, file, reason }));
        }
        self.files.insert(path, file);
        Ok(())
    }

    /// Returns the file at `path`.
    pub fn get(&self, path: &str) -> Option<&OutputFile> {
        self.files.get(path).map(Arc::as_ref)
    }

    /// Iterates over paths and files, ordered by path.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &OutputFile)> {
        self.files.iter().map(|(path, file)| (path.as_str(), &**file))
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Returns true when the tree holds no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns a path of the tree that is below `folder`.
    pub(crate) fn any_below(&self, folder: &str) -> Option<&str> {
        let start = format!("{folder}/");
        let (path, _) = self.files.range(start.clone()..).next()?;
        path.starts_with(&start).then_some(path)
    }

    fn taken(&self, path: &str) -> Option<Reason> {
        let ancestor = ancestors(path).find(|ancestor| self.files.contains_key(*ancestor));
        let by = self.files.get_key_value(path).map(|(path, _)| path.as_str()).or(ancestor);
        by.or_else(|| self.any_below(path)).map(|by| Reason::Taken { by: by.to_owned() })
    }
}

/// Iterates over the folders that hold `path`, innermost first, the output directory itself left out.
fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(parent(path)), |folder| Some(parent(folder))).take_while(|folder| !folder.is_empty())
}

fn is_portable(path: &str) -> bool {
    path.split('/').all(|name| {
        !matches!(name, "" | "." | "..") && !name.contains(['\\', ':']) && !name.chars().any(char::is_control)
    })
}
