//! `kubebench validate`: is everything right with the specs?

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::session::Session;

/// Reports every finding about the selected specs.
pub(super) fn run(global: &Global, args: &SelectArgs) -> Result<ExitStatus> {
    let session = Session::open(global, args)?;
    let status = session.report(session.diagnostics())?;
    if status == ExitStatus::Yes {
        session.tell(&format!("{} checked, no errors", session.specs_in_words()));
    }
    Ok(status)
}
