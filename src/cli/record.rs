//! `kubebench record`: result files become part of a git repository.

use anyhow::{Result, bail};

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
    let additions = match additions(&start, &args.results, settings) {
        Additions::Whole(additions) => additions,
        Additions::Faulty(faulty) => return Ok(tell_faulty(&faulty)),
    };
    if additions.is_empty() {
        let paths: Vec<String> = args.results.iter().map(|path| path.display().to_string()).collect();
        bail!("there is no result file at {}", paths.join(", "));
    }
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
        let (own, reason) = match fault {
            NotAdded::Refused(reason) => (ExitStatus::Refused, reason.as_str()),
            NotAdded::Unreadable(reason) => (ExitStatus::NoAnswer, reason.as_str()),
            NotAdded::Synthetic => {
                (ExitStatus::Refused, "this result is synthetic: nothing ran, so there is nothing to record")
            }
        };
        status = status.max(own);
        terminal::tell(&format!("error: {path}: {reason}"));
    }
    terminal::tell("nothing was recorded");
    status
}
