//! The files that a workload carries: read through a function of the caller, because this module has no access to a disk.

use std::collections::BTreeMap;

use super::Document;
use crate::lookup::{self, Scope};
use crate::model::carried::{MAX_BYTES, MAX_FILES};
use crate::model::{CarriedFile, CarriedFiles};
use crate::workload::carried_name;
use kubebench_syntax::diag::{CHECK_FILE, Diagnostic, Diagnostics, Place, code, did_you_mean};
use kubebench_syntax::path::is_gits_own;
use kubebench_syntax::text::Span;
use kubebench_syntax::yaml::{Entry, Node};

/// Returns the bytes of the file at a path below the project root; called from several threads.
pub type ReadFile = dyn Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync;

/// Why a file cannot be carried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// There is no such file.
    Absent {
        /// Paths of files in the folder where it should be.
        beside: Vec<String>,
    },
    /// It exists and is nothing that Kubebench carries, and why: a symbolic link, a folder.
    Refused(String),
    /// The system refused it, in its words.
    Failed(String),
    /// It has more than [`MAX_BYTES`].
    TooLarge,
}

/// Why no file can follow the matrix.
pub(super) const NO_MATRIX: &[(&str, &str)] = &[
    ("matrix", "all cases share one set of files: carry one for each value, and use the value in the command"),
    ("variant", "all cases share one set of files: a variant may carry its own files"),
];

/// Returns the files of the workload in `workload`, reporting those that cannot be carried; `output` is the directory of
/// manifests, which holds nothing that a spec could start from.
pub(super) fn carried(
    document: Document<'_>,
    workload: &Node,
    scope: &Scope,
    (read, output): (&ReadFile, &str),
    diagnostics: &mut Diagnostics,
) -> CarriedFiles {
    let Some(form) = workload.entries().first() else { return CarriedFiles::default() };
    // The pods of a search are those of its trials.
    let trial = form.value.get("trial").filter(|_| form.key == "experiment");
    let form = trial.and_then(|trial| trial.entries().first()).unwrap_or(form);
    let notebook = form.value.get("file").filter(|_| form.key == "notebook");
    let entry = form.value.entry("files");
    let Some(first) = entry.map(|entry| entry.key_span).or(notebook.map(|node| node.span)) else {
        return CarriedFiles::default();
    };
    let mut found = Diagnostics::default();
    let mut resolved = |node: &Node| lookup::resolve(document.sources, node, scope, &mut found);
    let listed = entry.map(|entry| resolved(&entry.value));
    let listed = listed.as_ref().map(Node::entries).unwrap_or_default();
    let notebook = notebook.map(resolved);
    let mut readable = !found.has_errors();
    diagnostics.extend(found);
    if listed.len() > MAX_FILES {
        let message = format!("the workload carries {} files, more than {MAX_FILES}", listed.len());
        diagnostics.push(too_large(first, message));
        readable = false;
    }
    report_names_of_one_file(listed, diagnostics);
    let mut carried = BTreeMap::new();
    let named = listed.iter().filter_map(|file| Some((file.key.clone(), file.value.get("path")?)));
    // The notebook wins over a file of its name, which could not be meant.
    let own = notebook.iter().map(|node| (carried_name(node.as_text().unwrap_or_default()).to_owned(), node));
    for (name, path) in named.chain(own) {
        let (span, path) = (path.span, path.as_text().unwrap_or_default().to_owned());
        let bytes = match refusal(&path, output) {
            _ if !readable => Ok(Vec::new()),
            Some(reason) => Err(Unreadable::Refused(reason)),
            None => read(&path),
        };
        // Even an invalid file is known by its name, so that no command is reported for naming it.
        let bytes = bytes.unwrap_or_else(|reason| {
            diagnostics.push(unreadable(&path, span, reason));
            Vec::new()
        });
        carried.insert(name, CarriedFile { path, span, bytes: bytes.into() });
    }
    let bytes: usize = carried.values().map(|file| file.bytes.len()).sum();
    if bytes > MAX_BYTES {
        let message =
            format!("the files have {} KiB in total, more than {} KiB", bytes.div_ceil(1024), MAX_BYTES / 1024);
        diagnostics.push(too_large(first, message));
    }
    CarriedFiles::new(carried)
}

/// Returns the files of all variants as the one set that every container finds, reporting what cannot be in one.
pub(super) fn together(sets: Vec<CarriedFiles>, diagnostics: &mut Diagnostics) -> CarriedFiles {
    let mut sets = sets.into_iter();
    let first = sets.next().unwrap_or_default();
    let mut all: BTreeMap<String, CarriedFile> = BTreeMap::new();
    let mut is_more = false;
    for set in sets {
        for (name, file) in set.iter() {
            let known = all.get(name).or_else(|| first.get(name));
            match known {
                Some(known) if known.path != file.path => {
                    let message = format!("variants carry two different files as `{name}`");
                    let fault = Diagnostic::at(&code::KB0342, file.span, message)
                        .related(Place::Span(known.span), "the other file")
                        .note("all cases share one set of files, so each name must refer to one file");
                    diagnostics.push(fault.help("give one of them another name"));
                }
                Some(_) => {}
                None => {
                    is_more = true;
                    all.insert(name.to_owned(), file.clone());
                }
            }
        }
    }
    if !is_more {
        return first;
    }
    all.extend(first.iter().map(|(name, file)| (name.to_owned(), file.clone())));
    let bytes: usize = all.values().map(|file| file.bytes.len()).sum();
    if let Some(file) = all.values().next().filter(|_| bytes > MAX_BYTES || all.len() > MAX_FILES) {
        let message = format!("the variants carry {} files with {} KiB in total", all.len(), bytes.div_ceil(1024));
        diagnostics.push(too_large(file.span, message));
    }
    CarriedFiles::new(all)
}

/// Returns why the file at `path` must not be read, if its name alone says so.
pub(super) fn refusal(path: &str, output: &str) -> Option<String> {
    if path.split('/').any(is_gits_own) {
        return Some("it is in git's own folder".to_owned());
    }
    let inside = path.strip_prefix(output).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    inside.then(|| format!("it is in `{output}`, which is compiled from the specs"))
}

pub(super) fn unreadable(path: &str, span: Span, reason: Unreadable) -> Diagnostic {
    let fault = |message: String| Diagnostic::at(&code::KB0340, span, message);
    match reason {
        Unreadable::Absent { beside } => {
            let fault = fault(format!("there is no file `{path}`")).note("paths start at the project root");
            match did_you_mean(path, beside.iter().map(String::as_str)) {
                Some(close) => fault.did_you_mean(span, close),
                None => fault.help("correct the path, or add the file to the repository"),
            }
        }
        Unreadable::Refused(reason) => fault(format!("`{path}` cannot be carried: {reason}"))
            .note("a carried file is a regular file of the project, so that a review shows all that runs")
            .help("name a regular file of the project, such as `scripts/bench.sh`"),
        Unreadable::Failed(reason) => fault(format!("`{path}` cannot be read: {reason}")).help(CHECK_FILE),
        Unreadable::TooLarge => {
            too_large(span, format!("`{path}` is larger than the {} KiB of all carried files", MAX_BYTES / 1024))
        }
    }
}

fn too_large(span: Span, message: String) -> Diagnostic {
    Diagnostic::at(&code::KB0341, span, message)
        .note("the files travel in one ConfigMap, and the API server refuses one over 1 MiB")
        .help("carry scripts and configuration only; put data into the image, or onto a volume with `prepare`")
}

/// Reports names that are one file where file names have no case: a local run on macOS would keep one of the two.
fn report_names_of_one_file(entries: &[Entry], diagnostics: &mut Diagnostics) {
    let mut seen = BTreeMap::new();
    for entry in entries {
        if let Some(first) = seen.insert(entry.key.to_lowercase(), entry) {
            let message = format!("`{}` and `{}` differ only in case", first.key, entry.key);
            let fault = Diagnostic::at(&code::KB0342, entry.key_span, message)
                .related(Place::Span(first.key_span), "the other name")
                .note("on a case-insensitive file system, one would overwrite the other");
            diagnostics.push(fault.help("give one of them another name"));
        }
    }
}

#[cfg(test)]
mod tests;
