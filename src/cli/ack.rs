//! `kubebench ack`: a regression becomes accepted, in a file that somebody reviews.

use anyhow::{Context as _, Result};

use super::ExitStatus;
use super::args::{AckArgs, Acked, Global};
use super::evaluation;
use super::findings::{counted, tell};
use crate::app::evaluate::{
    AckAllQuery, AckQuery, Acknowledged, Acknowledgement, AllAcknowledged, Histories, Written, caution,
};
use crate::app::results::NamedResults;
use kubebench_host::terminal;

/// Where what was accepted counts, and what makes it count everywhere.
const UNTIL_MERGED: &str = "it counts in this clone now, and in CI after the merge: send the file for review";

/// Writes the acknowledgement.
pub(super) fn run(global: &Global, args: &AckArgs) -> Result<ExitStatus> {
    let query = args.query().context("nothing says what is accepted")?;
    let folders: Vec<_> = args.results.as_ref().and_then(NamedResults::folder).into_iter().collect();
    let history = match &query {
        Acked::One(query) => query.history(),
        Acked::All(query) => query.history(),
    };
    let histories = Histories::of(evaluation::open(global, None, &folders)?, &history)?;
    evaluation::tell_readings(global, &histories.evaluation);
    if let Some(note) = histories.baseline.note() {
        tell(global, &format!("note: {note}"));
    }
    if let Some(refused) = evaluation::report_faults(global, &histories.evaluation) {
        return refused;
    }
    if let Some(caution) = caution(&histories) {
        tell(global, &format!("note: {caution}"));
    }
    match &query {
        Acked::One(query) => one(global, &histories, query),
        Acked::All(query) => all(global, &histories, query),
    }
}

fn one(global: &Global, histories: &Histories, query: &AckQuery) -> Result<ExitStatus> {
    let Acknowledged { made, still_open } = Acknowledged::of(histories, query)?;
    for note in made.iter().filter_map(|made| made.note.as_ref()) {
        tell(global, note);
    }
    for acknowledgement in &made {
        acknowledgement.write(&histories.evaluation)?;
        let Acknowledgement { ack, from, bound, .. } = acknowledgement;
        terminal::print(&format!("{}\n", ack.file))?;
        let up_to =
            bound.as_ref().map_or_else(String::new, |share| format!(", up to {} worse", share.replace('%', " %")));
        let cases = if ack.case == "*" { "every case".to_owned() } else { format!("the case `{}`", ack.case) };
        tell(global, &format!("accepted in {cases} since session {from}{up_to}"));
    }
    if !made.is_empty() {
        tell(global, UNTIL_MERGED);
    }
    for change in &still_open {
        tell(global, change);
    }
    Ok(ExitStatus::Yes)
}

fn all(global: &Global, histories: &Histories, query: &AckAllQuery) -> Result<ExitStatus> {
    let AllAcknowledged { file, written, later } = AllAcknowledged::write(histories, query)?;
    terminal::print(&format!("{file}\n"))?;
    let until = &query.until;
    match written {
        Written::New(count) => {
            tell(global, &format!("accepted {} that began by {until}", counted(count, "open regression")));
            tell(global, UNTIL_MERGED);
        }
        Written::Known => tell(global, &format!("this file already accepts all regressions that began by {until}")),
    }
    if later > 0 {
        tell(global, &format!("still open: {} that began later", counted(later, "regression")));
    }
    Ok(ExitStatus::Yes)
}
