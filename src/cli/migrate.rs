//! `kubebench migrate`: benchmarks of kubeflow/kubebench as specs, with a report of what became of every value.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, MigrateArgs};
use super::findings::{Findings, Output, counted, refuse_report_places, report, tell};
use crate::app::migrate::{Reading, State, about, as_written, faults_of_new, placed};
use crate::app::project::Project;
use crate::app::start::VERSION;
use kubebench_compiler::compile::Workspace;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_migrate::report::{Written, counts, human, json};
use kubebench_migrate::{Given, Migration, NewSpec, migrate};
use kubebench_syntax::diag::render::Format;

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
    match global.output_format {
        Format::Json => terminal::print(&format!("{:#}\n", json(&migration, &written)))?,
        Format::Human => terminal::print(&human(&migration, &written))?,
        _ => {}
    }
    let checked: Vec<String> = inputs.iter().map(|input| input.path.clone()).collect();
    let findings = Findings { diagnostics, sources: &migration.sources, checked: &checked, unreadable };
    let status = report(global, Output::Data, findings)?;
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
