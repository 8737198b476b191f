//! `kubebench set`: other values in a spec, by a script.

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SetArgs};
use super::findings::{Findings, Output, counted, report, tell};
use crate::app::set::Edited;
use kubebench_compiler::tree::COMPILE;
use kubebench_syntax::diag::render::on_one_line;

/// Writes the file if it has no errors with its new values.
pub(super) fn run(global: &Global, args: &SetArgs) -> Result<ExitStatus> {
    let edited = Edited::of(&global.start(), &args.spec, &args.values)?;
    let is_refused = edited.diagnostics.has_errors();
    let checked = [edited.path.clone()];
    let findings = Findings {
        diagnostics: edited.diagnostics.clone(),
        sources: &edited.sources,
        checked: &checked,
        unreadable: false,
    };
    let status = report(global, Output::Findings, findings)?;
    if is_refused {
        tell(global, "nothing was written");
        return Ok(status);
    }
    if edited.changes.is_empty() {
        tell(global, &format!("{}: nothing to change", edited.path));
        return Ok(status);
    }
    edited.write()?;
    for (path, old, new) in &edited.changes {
        let change = match (old.as_str(), new.as_str()) {
            ("", new) => format!("{path}: {new}"),
            (old, "") => format!("{path}: {old} removed"),
            (old, new) => format!("{path}: {old} -> {new}"),
        };
        tell(global, &on_one_line(&change));
    }
    if edited.errors_elsewhere > 0 {
        let errors = counted(edited.errors_elsewhere, "error");
        tell(global, &format!("note: other files have {errors}, which `kubebench validate` lists"));
    }
    tell(global, COMPILE);
    Ok(status)
}
