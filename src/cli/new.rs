//! `kubebench new`: a spec to start from.

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, NewArgs, SelectArgs};
use super::findings::tell;
use super::project;
use crate::app::catalog;
use crate::app::project::Project;
use crate::app::start::VERSION;
use crate::app::templates::{SUITE, kinds, spec, suite};
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::lower::RESERVED_NAME;
use kubebench_compiler::workload::files_of;
use kubebench_executor::local::needs_cluster;
use kubebench_format::schema::format;
use kubebench_host::{fs, terminal};

/// Writes `NAME.yaml` into the first spec folder; overwrites nothing.
pub(super) fn run(global: &Global, args: &NewArgs) -> Result<ExitStatus> {
    if let Some(kind) = &args.kind {
        return write(global, kind, args.name.as_deref());
    }
    terminal::print(&list())?;
    Ok(ExitStatus::Yes)
}

/// What a spec can start from.
enum Start {
    Kind,
    Suite,
    Entry(&'static catalog::Entry),
}

fn write(global: &Global, what: &str, name: Option<&str>) -> Result<ExitStatus> {
    let start = match catalog::entry(what) {
        Some(entry) => Start::Entry(entry),
        None if what.eq_ignore_ascii_case(SUITE) => Start::Suite,
        None => Start::Kind,
    };
    let name = match (&start, name) {
        (_, Some(name)) => name,
        (Start::Entry(entry), None) => entry.name,
        // The kind is checked first: another one is the likelier mistake.
        (Start::Kind, None) => return spec(what, "", "").and_then(|_| unnamed(what)),
        (Start::Suite, None) => return unnamed(what),
    };
    let project = Project::find(&global.start())?;
    let below = if project.file.is_none() { project.projects_below() } else { None };
    let Project { root, file, .. } = project;
    let folders = Workspace::open(file, VERSION).spec_dirs();
    let folder = folders.first().map_or("specs", String::as_str);
    if let Some(below) = below.filter(|_| !fs::exists(&root, folder)) {
        bail!("there is no project in {} ({below})", root.display());
    }
    if let Some(Err(fault)) = format::find("benchmark-name").map(|format| (format.check)(name)) {
        bail!("{}{}", fault.message, fault.help.map(|help| format!("; {help}")).unwrap_or_default());
    }
    let document = if matches!(start, Start::Suite) { SUITE } else { "benchmark" };
    if name == RESERVED_NAME {
        bail!("a {document} cannot be called `{RESERVED_NAME}`; choose another name");
    }
    let depth = folder.split('/').count();
    let schema = format!("{}schema/{document}.v1.json", "../".repeat(depth));
    let path = format!("{folder}/{name}.yaml");
    let text = match &start {
        Start::Suite => suite(&project::open(global, &SelectArgs::default())?, name, &schema)?,
        Start::Kind => spec(what, name, &schema)?,
        Start::Entry(entry) => entry.spec(name, &schema),
    };
    fs::create_new(&root, &path, &text)?;
    tell(global, &format!("wrote {path}"));
    let files = match &start {
        Start::Entry(entry) => entry.files,
        Start::Kind | Start::Suite => files_of(what),
    };
    // What several specs name is there once.
    for (path, text) in files {
        if fs::exists(&root, path) {
            tell(global, &format!("left {path} as it is"));
        } else {
            fs::create_new(&root, path, text)?;
            tell(global, &format!("wrote {path}"));
        }
    }
    let next = match &start {
        Start::Suite => next_of_suite(&path),
        Start::Kind if needs_cluster(what) => next_in_cluster(&path),
        Start::Kind => next(&path),
        Start::Entry(entry) => next_of_entry(entry, &path),
    };
    tell(global, &next);
    Ok(ExitStatus::Yes)
}

fn unnamed(what: &str) -> Result<ExitStatus> {
    bail!("the new {what} has no name; write `kubebench new {what} NAME`")
}

fn list() -> String {
    let kinds = kinds();
    let entries = catalog::ENTRIES;
    let names = kinds.iter().map(|(kind, _)| *kind).chain(entries.iter().map(|entry| entry.name));
    let width = names.map(str::len).max().unwrap_or_default();
    let mut text = "kubebench new KIND NAME writes a spec to fill in, of one of these kinds:\n\n".to_owned();
    for (kind, meaning) in kinds {
        text.push_str(&format!("  {kind:<width$}  {meaning}\n"));
    }
    text.push_str("\nkubebench new BENCHMARK writes one that is ready to run, and kubebench explain catalog.BENCHMARK its page:\n\n");
    for entry in entries {
        text.push_str(&format!("  {:<width$}  {}\n", entry.name, entry.measures()));
        text.push_str(&format!("  {:<width$}  needs {}\n", "", entry.needs));
    }
    text
}

fn next_of_suite(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes one Workflow for all of them")
}

/// Says what to do with a new spec that only a cluster can run.
fn next_in_cluster(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes it for a cluster")
}

fn next_of_entry(entry: &catalog::Entry, spec: &str) -> String {
    format!(
        "next: `kubebench explain catalog.{}` says what disturbs it; adapt {spec}, then `kubebench compile` writes it for a cluster",
        entry.name
    )
}

/// Says what to do with a new spec.
pub(super) fn next(spec: &str) -> String {
    format!(
        "next: edit {spec}, then `kubebench run {spec}` tries it here, and `kubebench compile` writes it for a cluster"
    )
}
