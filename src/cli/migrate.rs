//! `kubebench migrate`: the ancestor's benchmarks as specs, with a report of what became of every value.

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, MigrateArgs};
use super::findings::{Findings, Output, counted, refuse_report_places, report, tell};
use crate::app::project::Project;
use crate::app::start::VERSION;
use kubebench_compiler::compile::{self, Workspace};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_host::fs::{self, Content};
use kubebench_host::terminal;
use kubebench_migrate::report::{Written, counts, human, json};
use kubebench_migrate::{Given, Input, Migration, NewSpec, migrate};
use kubebench_syntax::diag::render::Format;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity, code};

/// How a new spec stands to what is on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no such file.
    New,
    /// The file says the same.
    Unchanged,
    /// Another file stands there.
    Edited,
}

/// Writes the specs that are not there yet, or says which are to be written.
pub(super) fn run(global: &Global, args: &MigrateArgs) -> Result<ExitStatus> {
    let project = Project::find(&global.start())?;
    let workspace = Workspace::open(project.file.clone(), VERSION);
    let folder = workspace.spec_dirs().into_iter().next().unwrap_or_else(|| "specs".to_owned());
    refuse_report_places(global, &project.root, &[&folder])?;
    let mut reading = Reading::default();
    let base = global.start().folder()?;
    for path in &args.paths {
        reading.read(&base, path, Given::Named);
    }
    if let Some(path) = &args.job_config {
        reading.read(&base, path, Given::JobConfig);
    }
    let Reading { inputs, found, unreadable } = reading;
    let mut migration = migrate(&inputs, folder.split('/').count());
    let mut diagnostics = std::mem::take(&mut migration.diagnostics);
    diagnostics.extend(found);
    let placed: Vec<(&NewSpec, String, State)> =
        migration.specs.iter().map(|spec| placed(&project.root, &folder, spec)).collect();
    let to_write: Vec<&(&NewSpec, String, State)> = placed.iter().filter(|(.., state)| *state == State::New).collect();
    diagnostics.extend(faults_of_new(&project, &to_write));
    for (spec, path, state) in &placed {
        diagnostics.extend(about(spec, path, *state, args.check));
    }
    if !args.check {
        for (spec, path, _) in &to_write {
            fs::create_new(&project.root, path, &spec.text)?;
        }
    }
    let written: Vec<Written> = placed.iter().map(|(spec, path, state)| as_written(spec, path, *state)).collect();
    let output = Output::of_answer(global.output_format);
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", json(&migration, &written)))?,
        Format::Human => terminal::print(&human(&migration, &written))?,
        _ => {}
    }
    let checked: Vec<String> = inputs.iter().map(|input| input.path.clone()).collect();
    let findings = Findings { diagnostics, sources: &migration.sources, checked: &checked, unreadable };
    let status = report(global, output, findings)?;
    say(global, args, &migration, &written);
    Ok(status)
}

/// Says in a few lines what was done and what comes next.
fn say(global: &Global, args: &MigrateArgs, migration: &Migration, written: &[Written]) {
    let new: Vec<&str> = written.iter().filter(|spec| spec.state == "new").map(|spec| spec.path.as_str()).collect();
    let verb = if args.check { "to be written" } else { "written" };
    tell(
        global,
        &format!(
            "{} read, {} {verb}; {}",
            counted(migration.files.len(), "file"),
            counted(new.len(), "spec"),
            counts(migration)
        ),
    );
    if let (Some(path), false) = (new.first(), args.check) {
        tell(global, &format!("next: read {path}, then `kubebench validate` and `kubebench compile`"));
    }
}

/// What was read of the disk.
#[derive(Default)]
struct Reading {
    inputs: Vec<Input>,
    found: Diagnostics,
    unreadable: bool,
}

impl Reading {
    /// Reads a file, or all files below a folder.
    fn read(&mut self, base: &Path, path: &Path, given: Given) {
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
                // Today's specs and the project itself may stand in the same folder.
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

fn placed<'s>(root: &Path, folder: &str, spec: &'s NewSpec) -> (&'s NewSpec, String, State) {
    let path = format!("{folder}/{}.yaml", spec.name);
    let state = match fs::read_text(&root.join(&path)) {
        Ok(text) if text == spec.text => State::Unchanged,
        Err(_) if !fs::exists(root, &path) => State::New,
        Ok(_) | Err(_) => State::Edited,
    };
    (spec, path, state)
}

/// Returns what is to be said about a spec: what it lacks, that it is to be written, or that something stands in its place.
fn about(spec: &NewSpec, path: &str, state: State, check: bool) -> Vec<Diagnostic> {
    match state {
        // Whoever edited it has settled what was open.
        State::Edited if check => Vec::new(),
        State::Edited => {
            let fault =
                Diagnostic::at(&code::KB0434, spec.place, format!("{path} is there already, and stays as it is"));
            vec![
                fault
                    .note("what is there is not what would be written")
                    .help("delete it to have it written again, or keep it: then this benchmark is migrated"),
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
fn faults_of_new(project: &Project, new: &[&(&NewSpec, String, State)]) -> Vec<Diagnostic> {
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

fn as_written(spec: &NewSpec, path: &str, state: State) -> Written {
    let state = match state {
        State::New => "new",
        State::Unchanged => "unchanged",
        State::Edited => "edited",
    };
    Written { name: spec.name.clone(), path: path.to_owned(), state }
}
