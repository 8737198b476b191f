//! `kubebench ack`: a regression becomes accepted, in a file that somebody reviews.

use anyhow::Result;

use super::ExitStatus;
use super::args::{AckArgs, Global};
use super::evaluation;
use super::findings::tell;
use crate::app::evaluate::{Acknowledged, Acknowledgement, Histories};
use crate::app::results::NamedResults;
use kubebench_host::terminal;

/// Writes the acknowledgement.
pub(super) fn run(global: &Global, args: &AckArgs) -> Result<ExitStatus> {
    let query = args.query();
    let folders: Vec<_> = args.results.as_ref().and_then(NamedResults::folder).into_iter().collect();
    let histories = Histories::of(evaluation::open(global, None, &folders)?, &query.history())?;
    let evaluation = &histories.evaluation;
    evaluation::tell_readings(global, evaluation);
    if let Some(refused) = evaluation::report_faults(global, evaluation) {
        return refused;
    }
    let Acknowledged { made, still_open } = Acknowledged::of(&histories, &query)?;
    for note in made.iter().filter_map(|made| made.note.as_ref()) {
        tell(global, note);
    }
    for acknowledgement in &made {
        acknowledgement.write(evaluation)?;
        let Acknowledgement { ack, bound, .. } = acknowledgement;
        terminal::print(&format!("{}\n", ack.file))?;
        let up_to = bound.as_ref().map_or_else(String::new, |share| format!(", up to {share}"));
        let said = format!(
            "accepted in the case `{}` from {} on{up_to}; it holds here now, and for everybody once the file is committed, so send it \
             for review",
            ack.case, ack.from
        );
        tell(global, &said);
    }
    for change in &still_open {
        tell(global, change);
    }
    Ok(ExitStatus::Yes)
}
