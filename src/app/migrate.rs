//! Benchmarks of kubeflow/kubebench as specs of a project.

use std::path::{Path, PathBuf};

use super::project::Project;
use super::start::VERSION;
use kubebench_compiler::compile::{self, Workspace};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs::{self, Content};
use kubebench_migrate::report::Written;
use kubebench_migrate::{Given, Input, NewSpec};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity, code};

/// How a new spec compares with what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no such file.
    New,
    /// The file says the same.
    Unchanged,
    /// Another file is there.
    Edited,
}

/// What was read of the disk.
#[derive(Default)]
pub struct Reading {
    /// The files that were read.
    pub inputs: Vec<Input>,
    /// What keeps others from being read.
    pub found: Diagnostics,
    /// True when some file may be all right and it is unknown whether it is.
    pub unreadable: bool,
}

impl Reading {
    /// Reads a file, or all files below a folder.
    pub fn read(&mut self, base: &Path, path: &Path, given: Given) {
        let full = base.join(path);
        let is_folder = full.is_dir();
        let (root, asked) = match (full.parent(), full.file_name()) {
            (Some(folder), Some(name)) if !is_folder => (folder.to_owned(), name.to_string_lossy().into_owned()),
            _ => (full.clone(), String::new()),
        };
        for fs::Read { path: below, content } in fs::read_sources(&root, &[asked]) {
            let shown = if is_folder { path.join(&below) } else { path.to_owned() };
            let shown = slashed(&shown);
            if let Some(known) = self.inputs.iter_mut().find(|input| input.path == shown) {
                known.given = if given == Given::JobConfig { given } else { known.given };
                continue;
            }
            let given = if is_folder && given == Given::Named { Given::Found } else { given };
            let unreadable = |message: String| Diagnostic::in_file(&code::KB0114, shown.as_str(), message);
            match content {
                Content::Whole(bytes) => self.inputs.push(Input { path: shown, bytes, given }),
                Content::Misnamed => {}
                // Today's specs and the project itself may be in the same folder.
                _ if given == Given::Found && below.ends_with(PROJECT_FILE) => {}
                Content::TooLong(_) => {
                    self.found.push(Diagnostic::in_file(&code::KB0102, shown, "the file is larger than 1 MiB"));
                }
                Content::Refused(reason) => {
                    self.found.push(unreadable(format!("kubebench does not read this: {reason}")));
                }
                Content::Unreadable(reason) => {
                    self.unreadable = true;
                    self.found.push(unreadable(format!("the file cannot be read: {reason}")));
                }
                Content::Absent => {
                    self.unreadable = true;
                    self.found.push(unreadable("there is no such file or folder".to_owned()));
                }
            }
        }
    }
}

fn slashed(path: &Path) -> String {
    let path: PathBuf = path.components().filter(|part| !matches!(part, std::path::Component::CurDir)).collect();
    path.to_string_lossy().replace('\\', "/")
}

/// Returns where a spec goes, and what is there.
pub fn placed<'s>(root: &Path, folder: &str, spec: &'s NewSpec) -> (&'s NewSpec, String, State) {
    let path = format!("{folder}/{}.yaml", spec.name);
    let state = match fs::read_text(&root.join(&path)) {
        Ok(text) if text == spec.text => State::Unchanged,
        Err(_) if !fs::exists(root, &path) => State::New,
        Ok(_) | Err(_) => State::Edited,
    };
    (spec, path, state)
}

/// Returns what is to be said about a spec: what it lacks, that it is to be written, or that its path is taken.
pub fn about(spec: &NewSpec, path: &str, state: State, check: bool) -> Vec<Diagnostic> {
    match state {
        // An edit has settled what was open.
        State::Edited if check => Vec::new(),
        State::Edited => {
            let fault = Diagnostic::at(&code::KB0434, spec.place, format!("{path} exists and was not overwritten"));
            vec![
                fault
                    .note("its content differs from what `kubebench migrate` would write")
                    .help("delete it to have it written again; if you keep it, this benchmark counts as migrated"),
            ]
        }
        State::New if check => {
            let fault = Diagnostic::at(&code::KB0435, spec.place, format!("there is no {path} yet"));
            let mut all = vec![fault.help("run `kubebench migrate` with the same paths, and commit what it writes")];
            all.extend(spec.lost().iter().cloned());
            all
        }
        State::New | State::Unchanged => spec.lost().to_vec(),
    }
}

/// Returns the errors that the compiler finds in specs that are about to be written.
pub fn faults_of_new(project: &Project, new: &[&(&NewSpec, String, State)]) -> Vec<Diagnostic> {
    let inputs =
        new.iter().map(|(spec, path, _)| compile::Input { path: path.clone(), bytes: spec.text.clone().into_bytes() });
    let compilation = Workspace::open(project.file.clone(), VERSION).compile(inputs.collect());
    let faults = compilation.diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
    faults
        .map(|fault| {
            let path = fault.path(&compilation.sources).to_owned();
            let line = match &fault.place {
                Place::Span(span) => {
                    compilation.sources.get(span.source).map(|source| source.position(span.start as usize).line)
                }
                Place::Line(_, line) => Some(*line),
                Place::File(_) => None,
            };
            let place = line.map_or(Place::File(path.clone()), |line| Place::Line(path, line));
            Diagnostic { place, label: None, related: Vec::new(), fix: None, ..fault.clone() }
        })
        .collect()
}

/// Returns the entry of a spec in the report.
pub fn as_written(spec: &NewSpec, path: &str, state: State) -> Written {
    let state = match state {
        State::New => "new",
        State::Unchanged => "unchanged",
        State::Edited => "edited",
    };
    Written { name: spec.name.clone(), path: path.to_owned(), state }
}
