//! `kubebench hook`: what a hook of git runs, on the projects of the files that it is given.

use anyhow::{Result, bail};

use super::args::{ChangeArgs, CompileArgs, FmtArgs, Global, HookArgs, HookCheck, SelectArgs};
use super::findings::tell;
use super::{ExitStatus, compile, fmt, validate};
use crate::app::evaluate::PassOrFail;
use crate::app::projects::{Owner, owners};
use kubebench_syntax::text::{plain, shell_word};

/// Runs the check on one project after another.
pub(super) fn run(global: &Global, args: &HookArgs) -> Result<ExitStatus> {
    let owners = owners(&global.start(), &args.files)?;
    refuse_documents(global, &owners)?;
    let mut status = ExitStatus::Yes;
    for owner in &owners {
        if !owner.shown.is_empty() {
            tell(global, &format!("project {} (`kubebench -C {}`):", plain(&owner.shown), shell_word(&owner.shown)));
        }
        let global = Global { directory: Some(owner.root.clone()), ..global.clone() };
        status = status.max(of_project(&global, args.check, owner)?);
    }
    Ok(status)
}

/// Refuses documents about several projects: each is about one, and the last would replace the others.
fn refuse_documents(global: &Global, owners: &[Owner]) -> Result<()> {
    let [_, other, ..] = owners else { return Ok(()) };
    let (option, way_out) = match global.report.first() {
        Some(_) => ("--report", ""),
        None if global.output_format.is_lines() => return Ok(()),
        None => ("--output-format", ", or choose the format `human`, `concise` or `github`"),
    };
    bail!(
        "{option} writes a document about one project, and the files are of {}: run the command in each, such as with \
         `kubebench -C {}`{way_out}",
        owners.len(),
        shell_word(&other.shown)
    )
}

fn of_project(global: &Global, check: HookCheck, owner: &Owner) -> Result<ExitStatus> {
    let select = SelectArgs { paths: Vec::new(), target: Vec::new(), select: Vec::new() };
    match check {
        HookCheck::Fmt => {
            let paths = owner.sources()?;
            if paths.is_empty() && !owner.files.is_empty() {
                return Ok(ExitStatus::Yes);
            }
            fmt::run(global, &FmtArgs { paths, check: false, diff: false, fix: false, fail_on_change: true })
        }
        HookCheck::Validate => validate::run(global, &select),
        HookCheck::CompileCheck => {
            let change = ChangeArgs { since: None, on_weakened: PassOrFail::Pass };
            compile::run(global, &CompileArgs { select, change, check: true, diff: false, overwrite_edited: false })
        }
    }
}
