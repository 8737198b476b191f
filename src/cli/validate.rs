//! `kubebench validate`: is everything right with the specs, the logs that test them, the acknowledgements, and the results?

use std::collections::BTreeSet;

use anyhow::Result;

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::{self, Findings, Output, counted, refuse_report_places, tell};
use super::judging::acks_of;
use super::results::{Judged, Results};
use super::session::{Session, rules_at_hand};
use crate::app::files;
use kubebench_compiler::fixture;
use kubebench_extract::rules::Rules;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::SourceMap;

/// Reports every finding about the selected specs and results.
pub(super) fn run(global: &Global, args: &SelectArgs) -> Result<ExitStatus> {
    let mut specs = args.clone();
    let results = Results::among(global, &mut specs.paths)?;
    if !results.is_empty() && specs.paths.is_empty() {
        return of_results(global, &results);
    }
    let mut session = Session::open_without_pods(global, &specs)?;
    let mut checked = session.specs_in_words();
    let mut diagnostics = session.diagnostics();
    diagnostics.extend(fixtures(&session));
    if specs.paths.is_empty() {
        let mut found = Diagnostics::default();
        acks_of(&session.root, &mut session.compilation.sources, &mut found);
        diagnostics.extend(found);
    }
    if !results.is_empty() {
        let judged = results.judge(global, &|| rules_at_hand(global), &mut session.compilation.sources)?;
        checked = format!("{checked} and {}", counted(judged.checked.len(), "result"));
        diagnostics.extend(judged.diagnostics);
        session.also_checked(judged.checked, judged.unreadable);
    }
    let status = session.report(diagnostics)?;
    if status == ExitStatus::Yes {
        session.tell(&format!("{checked} checked, no errors"));
    }
    Ok(status)
}

/// Holds the kept logs of the selected specs against what is expected of them.
fn fixtures(session: &Session<'_>) -> Diagnostics {
    let settings = session.compilation.project.as_ref().map(|project| &project.settings);
    let folders: Vec<&str> = settings
        .into_iter()
        .flat_map(|settings| settings.spec_dirs.iter().chain([&settings.output]))
        .map(String::as_str)
        .collect();
    let root = session.root.clone();
    let open = move |path: &str| files::open_kept(&root, path);
    let mut found = Diagnostics::default();
    let mut seen = BTreeSet::new();
    for compiled in session.benchmarks().into_iter().filter(|compiled| !compiled.benchmark.fixtures.is_empty()) {
        let Some(text) = session.compilation.rules(compiled) else { continue };
        let Ok(rules) = Rules::read(&text) else { continue };
        // A spec on several targets has the same rules on most of them.
        if seen.insert((compiled.benchmark.path.clone(), text)) {
            fixture::check(&compiled.benchmark, &rules, &folders, &open, &mut found);
        }
    }
    found
}

fn of_results(global: &Global, results: &Results) -> Result<ExitStatus> {
    refuse_report_places(global, results.root(), &[results.folder()])?;
    let mut sources = SourceMap::default();
    let Judged { diagnostics, checked, unreadable } = results.judge(global, &|| rules_at_hand(global), &mut sources)?;
    let findings = Findings { diagnostics, sources: &sources, checked: &checked, unreadable };
    let status = findings::report(global, Output::Findings, findings)?;
    if status == ExitStatus::Yes {
        tell(global, &format!("{} checked, no errors", counted(checked.len(), "result")));
    }
    Ok(status)
}
