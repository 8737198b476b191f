//! `kubebench init`: a project to start from, and the same project after an update of Kubebench. It asks nothing.

use anyhow::Result;

use super::ExitStatus;
use super::args::{ChangeArgs, CompileArgs, Global, InitArgs, SelectArgs};
use super::compile;
use super::findings::{counted, style_of_diff, tell};
use super::new::next;
use crate::app::evaluate::PassOrFail;
use crate::app::init::{Edited, Lacking, Outcome, Project, Request, State, init};
use crate::app::places::is_in_repository;
use crate::app::start::VERSION;
use crate::app::templates::EXAMPLE;
use kubebench_compiler::tree::diff::{Style, unified};
use kubebench_host::{fs, terminal};
use kubebench_syntax::text::shell_word;

/// Lines of a diff that are shown; a schema has thousands.
const SHOWN: usize = 60;

/// Writes what is missing, updates what is Kubebench's own, and compiles a new project.
pub(super) fn run(global: &Global, args: &InitArgs) -> Result<ExitStatus> {
    let start = global.start();
    let checksums = args.checksums.as_ref().map(|path| fs::read_text(&start.path(path))).transpose()?;
    let request = Request {
        ci: args.ci,
        owners: args.owner.clone(),
        checksums,
        edited: if args.force { Edited::Replace } else { Edited::Keep },
        lacking: if args.write { Lacking::Add } else { Lacking::Show },
    };
    let root = start.folder()?;
    let project = init(&root, &request, &mut |outcome| show(global, args, &outcome))?;
    if !is_in_repository(&root) {
        tell(global, "note: this folder is not in a git repository; run `git init` here, so that CI finds these files");
    }
    let next = match project {
        Project::Known => return Ok(ExitStatus::Yes),
        Project::WithExample => next(EXAMPLE),
        Project::AroundSpecs => "next: edit your specs, then run `kubebench compile`".to_owned(),
    };
    let status = compile::run(global, &everything())?;
    tell(global, &next);
    Ok(status)
}

/// Says what became of a file.
fn show(global: &Global, args: &InitArgs, Outcome { path, state }: &Outcome) -> Result<()> {
    let below = |lines: &str| format!("  {}", lines.trim_end().replace('\n', "\n  "));
    let said = match state {
        State::Written => format!("wrote {path}"),
        State::Updated => format!("updated {path}"),
        State::Current => format!("{path} is up to date"),
        State::Kept => format!("left {path} as it is"),
        State::Added(lines) => format!("added to {path}:\n{}", below(lines)),
        State::Lacks(lines) if args.write => format!("left {path} as it is; add these lines to it:\n{}", below(lines)),
        State::Lacks(lines) => {
            let owners: String = args.owner.iter().map(|owner| format!(" --owner {}", shell_word(owner))).collect();
            format!(
                "left {path} as it is; add these lines to it, or run `kubebench init --write{owners}`:\n{}",
                below(lines)
            )
        }
        State::Pinned => format!(
            "left {path} as it is: it has checksums of another version; run `kubebench init --checksums FILE` with \
             SHA256SUMS of {VERSION}"
        ),
        State::LeftBehind => {
            format!("{path} is for a project that no longer exists: delete it, with its lines in CODEOWNERS")
        }
        State::Edited { old, new } => {
            let style = style_of_diff(global);
            let diff = unified(old, new, &format!("a/{path}"), &format!("b/{path}"), style);
            terminal::print(&beginning(&diff, style))?;
            format!("left {path} as it is: it was edited; `kubebench init --force` replaces it as shown")
        }
    };
    tell(global, &said);
    Ok(())
}

/// Returns the first lines of a diff; one for programs is whole.
fn beginning(diff: &str, style: Style) -> String {
    let left = diff.lines().count().saturating_sub(SHOWN);
    if style == Style::Plain || left == 0 {
        return diff.to_owned();
    }
    let shown: String = diff.split_inclusive('\n').take(SHOWN).collect();
    format!("{shown}… {} more\n", counted(left, "line"))
}

/// Returns the arguments of `kubebench compile`.
fn everything() -> CompileArgs {
    CompileArgs {
        select: SelectArgs::default(),
        change: ChangeArgs { since: None, on_weakened: PassOrFail::Pass },
        check: false,
        diff: false,
        overwrite_edited: false,
    }
}
