//! `kubebench new`: a spec to start from.

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, NewArgs, SelectArgs};
use super::findings::tell;
use super::project;
use crate::app::project::Project;
use crate::app::start::VERSION;
use crate::app::templates::{SUITE, spec, suite};
use kubebench_compiler::compile::Workspace;
use kubebench_compiler::lower::RESERVED_NAME;
use kubebench_compiler::workload::files_of;
use kubebench_executor::local::needs_cluster;
use kubebench_format::schema::format;
use kubebench_host::fs;

/// Writes `NAME.yaml` into the first spec folder; overwrites nothing.
pub(super) fn run(global: &Global, args: &NewArgs) -> Result<ExitStatus> {
    let Project { root, file, .. } = Project::find(&global.start())?;
    let folders = Workspace::open(file, VERSION).spec_dirs();
    let folder = folders.first().map_or("specs", String::as_str);
    if let Some(Err(fault)) = format::find("benchmark-name").map(|format| (format.check)(&args.name)) {
        bail!("{}{}", fault.message, fault.help.map(|help| format!("; {help}")).unwrap_or_default());
    }
    let is_suite = args.kind.eq_ignore_ascii_case(SUITE);
    let what = if is_suite { SUITE } else { "benchmark" };
    if args.name == RESERVED_NAME {
        bail!("a {what} cannot be called `{RESERVED_NAME}`; choose another name");
    }
    let depth = folder.split('/').count();
    let schema = format!("{}schema/{what}.v1.json", "../".repeat(depth));
    let path = format!("{folder}/{}.yaml", args.name);
    let text = if is_suite {
        suite(&project::open(global, &SelectArgs::default())?, &args.name, &schema)?
    } else {
        spec(&args.kind, &args.name, &schema)?
    };
    fs::create_new(&root, &path, &text)?;
    tell(global, &format!("wrote {path}"));
    // What several specs name is there once.
    for (path, text) in files_of(&args.kind).iter().filter(|(path, _)| !fs::exists(&root, path)) {
        fs::create_new(&root, path, text)?;
        tell(global, &format!("wrote {path}"));
    }
    let next = match (is_suite, needs_cluster(&args.kind)) {
        (true, _) => next_of_suite(&path),
        (false, true) => next_in_cluster(&path),
        (false, false) => next(&path),
    };
    tell(global, &next);
    Ok(ExitStatus::Yes)
}

fn next_of_suite(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes one Workflow for all of them")
}

/// Says what to do with a new spec that only a cluster can run.
fn next_in_cluster(spec: &str) -> String {
    format!("next: edit {spec}, then `kubebench compile` writes it for a cluster")
}

/// Says what to do with a new spec.
pub(super) fn next(spec: &str) -> String {
    format!(
        "next: edit {spec}, then `kubebench run {spec}` tries it here, and `kubebench compile` writes it for a cluster"
    )
}
