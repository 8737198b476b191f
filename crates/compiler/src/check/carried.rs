//! KB0343, KB0344: files that a command expects and that are not carried, and carried scripts that no shell can run.

use std::collections::BTreeSet;

use crate::model::carried::{CarriedFile, FOLDER, VARIABLE};
use crate::model::{Benchmark, Role};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, code, did_you_mean, what_there_is};
use kubebench_syntax::invariant::Invariant as _;

/// Reports words of commands and variables that name a file in the folder of carried files which is not there.
pub(super) fn present(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    let files = &benchmark.files;
    let mut reported = BTreeSet::new();
    for (text, span) in benchmark.roles().flat_map(Role::texts) {
        for folder in misspelled_folders(text) {
            let fault = Diagnostic::at(&code::KB0343, span, format!("no container has the folder `{folder}`"));
            diagnostics.push(fault.help(format!("carried files are in `{FOLDER}`")));
        }
        for name in named_files(text).into_iter().filter(|name| files.get(name).is_none()) {
            if !reported.insert((span, name)) {
                continue;
            }
            let fault = Diagnostic::at(&code::KB0343, span, format!("no file `{name}` is carried to `{FOLDER}`"))
                .note("the program would not find it, and would fail only after its pods had waited in the queue");
            diagnostics.push(fault.help(if files.is_empty() {
                format!("carry it: `files: {{{name}: {{path: …}}}}` next to `image`")
            } else {
                what_there_is(name, files.iter().map(|(name, _)| name), "the carried files are")
            }));
        }
    }
}

/// Reports scripts whose first line ends as on Windows.
pub(super) fn runnable(benchmark: &Benchmark, diagnostics: &mut Diagnostics) {
    for (name, file) in benchmark.files.iter() {
        if is_from_windows(name, file) {
            let message = format!("`{}` has Windows line endings (CRLF)", file.path);
            let fault = Diagnostic::at(&code::KB0344, file.span, message).note(
                "a shell reads the carriage return as part of the last word of a line: `bad interpreter`, `not found`",
            );
            diagnostics.push(fault.help(format!(
                "add the line `{} text eol=lf` to `.gitattributes`, then `git add --renormalize .`",
                file.path
            )));
        }
    }
}

/// Returns whether `file` is a script whose first line has a Windows line ending.
pub(super) fn is_from_windows(name: &str, file: &CarriedFile) -> bool {
    let first = file.bytes.split(|byte| *byte == b'\n').next().expected("a first part of every split");
    let is_script = first.starts_with(b"#!") || name.rsplit_once('.').is_some_and(|(_, extension)| extension == "sh");
    is_script && first.ends_with(b"\r") && file.bytes.len() > first.len()
}

/// Returns the names that follow the folder or its variable in `text`, except those that a shell completes.
pub(super) fn named_files(text: &str) -> Vec<&str> {
    let folders =
        [format!("{FOLDER}/"), format!("${VARIABLE}/"), format!("${{{VARIABLE}}}/"), format!("$({VARIABLE})/")];
    let of_folder = |folder: &String| -> Vec<&str> {
        let rests = text.match_indices(folder.as_str()).filter_map(|(at, found)| text.get(at + found.len()..));
        rests.filter_map(name_at_start).collect()
    };
    folders.iter().flat_map(of_folder).collect()
}

/// Returns the folders in `text` whose paths are nearly that of carried files.
fn misspelled_folders(text: &str) -> impl Iterator<Item = &str> {
    let (above, name) = FOLDER.rsplit_once('/').expected("a path");
    let folder = move |(at, _)| {
        let path = text.get(at..)?;
        let part = path.strip_prefix(above)?.strip_prefix('/')?.split(|c: char| !c.is_ascii_alphanumeric()).next()?;
        let is_near = part != name && did_you_mean(part, [name]).is_some();
        path.get(..above.len() + 1 + part.len()).filter(|_| is_near)
    };
    text.match_indices(above).filter_map(folder)
}

fn name_at_start(rest: &str) -> Option<&str> {
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '.' | '_' | '-')).unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end)?;
    let is_completed = after.starts_with(['$', '*', '?', '[', '{', '`']);
    // A full stop or dash at the end belongs to the sentence around it.
    let name = name.trim_end_matches(['.', '-']);
    (!is_completed && !name.is_empty()).then_some(name)
}
