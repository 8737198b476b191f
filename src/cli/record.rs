//! `kubebench record`: result files become part of a git repository.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, RecordArgs};
use super::recorded::{answer, tell_outcome, teller};
use crate::app::project::Project;
use crate::app::record::{Additions, NotAdded, additions, destination, mode, settings};
use kubebench_git as git;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Records the files of `args`.
pub(super) fn run(global: &Global, args: &RecordArgs) -> Result<ExitStatus> {
    let start = global.start();
    let project = Project::find(&start)?;
    let settings = &settings(&project)?;
    let additions = match additions(&start, &args.results, settings)? {
        Additions::Whole(additions) => additions,
        Additions::Faulty(faulty) => return Ok(tell_faulty(&faulty)),
    };
    let mode = mode(args.mode, settings);
    let destination = destination(&project.root, settings, mode, &args.place.place(), teller(global));
    let outcome = git::record(&additions, &destination);
    if let (Format::Json, Ok(recorded)) = (global.output_format, &outcome) {
        terminal::print(&format!("{:#}\n", answer(recorded)))?;
    }
    Ok(tell_outcome(global, &destination, outcome))
}

/// Says which files keep all from being recorded.
fn tell_faulty(faulty: &[(String, NotAdded)]) -> ExitStatus {
    let mut status = ExitStatus::Yes;
    for (path, fault) in faulty {
        status = status.max(match fault {
            NotAdded::Refused(_) => ExitStatus::Refused,
            NotAdded::Unreadable(_) => ExitStatus::NoAnswer,
        });
        terminal::tell(&format!("error: {path}: {fault}"));
    }
    terminal::tell("nothing was recorded");
    status
}
