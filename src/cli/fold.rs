//! `kubebench fold`: results of the inbox move into the results branch.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::ExitStatus;
use super::args::{FoldArgs, Global};
use super::findings::{counted, tell};
use super::recorded::{tell_failure, teller};
use crate::app::project::Project;
use crate::app::record::{destination, settings};
use kubebench_attestation::is_of;
use kubebench_executor::collect::addition;
use kubebench_format::result;
use kubebench_git as git;
use kubebench_git::record::Mode;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;

/// Empties the inbox.
pub(super) fn run(global: &Global, args: &FoldArgs) -> Result<ExitStatus> {
    let project = Project::find(&global.start())?;
    let settings = &settings(&project)?;
    let destination = destination(&project.root, settings, Mode::Inbox, &args.place.place(), teller(global));
    let check = |bytes: &[u8], envelope: Option<&[u8]>| {
        let sealed = result::read(bytes).map_err(|fault| fault.to_string())?;
        if sealed.result.synthetic {
            return Err("it is synthetic: nothing ran".to_owned());
        }
        if let Some(envelope) = envelope {
            is_of(envelope, &sealed)?;
        }
        Ok(addition(&sealed, Path::new("the inbox"), &settings.directory))
    };
    let folded = match git::fold(&destination, &check) {
        Ok(folded) => folded,
        Err(fault) => return Ok(tell_failure(&fault)),
    };
    for note in &folded.notes {
        tell(global, &format!("note: {note}"));
    }
    for rejected in &folded.rejected {
        terminal::tell(&format!("error: moved {} to {}: {}", rejected.from, rejected.to, rejected.reason));
    }
    if global.output_format == Format::Json {
        let rejected: Vec<_> = folded
            .rejected
            .iter()
            .map(|rejected| json!({ "from": rejected.from, "to": rejected.to, "reason": rejected.reason }))
            .collect();
        let answer = json!({
            "schemaVersion": 1, "added": folded.added, "already": folded.dropped, "rejected": rejected,
            "commit": folded.commit, "place": folded.place,
        });
        terminal::print(&format!("{answer:#}\n"))?;
    }
    let there =
        if folded.dropped.is_empty() { String::new() } else { format!(", {} there already", folded.dropped.len()) };
    tell(global, &format!("{} moved to {}{there}", counted(folded.added.len(), "result"), folded.place));
    Ok(if folded.rejected.is_empty() { ExitStatus::Yes } else { ExitStatus::No })
}
