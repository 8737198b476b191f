//! `kubebench validate`: is everything right with the specs, the logs that test them, the acknowledgements, and the results?

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::{self, Findings, Output, counted, refuse_report_places, tell};
use super::project;
use crate::app::evaluate::acks_of;
use crate::app::project::{Pods, rules_around};
use crate::app::results::{Checked, ResultFiles};
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::SourceMap;

/// Reports every finding about the selected specs and results.
pub(super) fn run(global: &Global, args: &SelectArgs) -> Result<ExitStatus> {
    let mut specs = args.clone();
    let start = global.start();
    let results = ResultFiles::among(&start, &mut specs.paths)?;
    if !results.is_empty() && specs.paths.is_empty() {
        return of_results(global, &results);
    }
    let mut project = project::open_held_to(None, global, &specs, Pods::Dropped)?;
    let mut checked = project.specs_in_words();
    let mut diagnostics = project.diagnostics();
    diagnostics.extend(project.shared_with_neighbors());
    diagnostics.extend(project.check_fixtures());
    if specs.paths.is_empty() {
        let mut found = Diagnostics::default();
        acks_of(&project.root, &mut project.compilation.sources, &mut found);
        diagnostics.extend(found);
    }
    if !results.is_empty() {
        let found = results.check(&|| rules_around(&start), &mut project.compilation.sources);
        checked = format!("{checked} and {}", counted(found.files.len(), "result"));
        diagnostics.extend(found.diagnostics);
        project.also_checked(found.files, found.unreadable);
    }
    let status = project::report(global, &project, diagnostics)?;
    if status == ExitStatus::Yes {
        tell(global, &format!("{checked} checked, no errors"));
    }
    Ok(status)
}

fn of_results(global: &Global, results: &ResultFiles) -> Result<ExitStatus> {
    refuse_report_places(global, results.root(), &[results.folder()])?;
    let mut sources = SourceMap::default();
    let start = global.start();
    let Checked { diagnostics, files: checked, unreadable } = results.check(&|| rules_around(&start), &mut sources);
    let findings = Findings { diagnostics, sources: &sources, checked: &checked, unreadable };
    let status = findings::report(global, Output::Findings, findings)?;
    if status == ExitStatus::Yes {
        tell(global, &format!("{} checked, no errors", counted(checked.len(), "result")));
    }
    Ok(status)
}
