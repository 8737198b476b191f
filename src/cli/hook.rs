//! `kubebench hook`: what a hook of git runs, on the projects of the files that it is given.

use anyhow::Result;

use super::args::{ChangeArgs, CompileArgs, FmtArgs, Global, HookArgs, HookCheck, SelectArgs};
use super::findings::tell;
use super::{ExitStatus, compile, fmt, validate};
use crate::app::evaluate::PassOrFail;
use crate::app::projects::{Owner, owners};

/// Runs the check on one project after another.
pub(super) fn run(global: &Global, args: &HookArgs) -> Result<ExitStatus> {
    let owners = owners(&global.start(), &args.files)?;
    let mut status = ExitStatus::Yes;
    for owner in &owners {
        if owners.len() > 1 {
            tell(global, &format!("project {}:", owner.root.display()));
        }
        let global = Global { directory: Some(owner.root.clone()), ..global.clone() };
        status = status.max(of_project(&global, args.check, owner)?);
    }
    Ok(status)
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
