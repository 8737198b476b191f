//! Which benchmarks are run, in what order, and which of their runs.

use std::path::Path;

use anyhow::{Result, bail};

use crate::app::project::CompiledProject;
use kubebench_compiler::compile::{Compiled, CompiledSuite};
use kubebench_compiler::model::Suite;
use kubebench_contract::Run;
use kubebench_syntax::diag::what_there_is;

/// Returns each benchmark that was asked for, by itself or with its suite, on its first target: in the order of `places`, the paths
/// that people named, and those of a suite in its order.
pub fn chosen<'a>(project: &'a CompiledProject, places: &[String]) -> Vec<&'a Compiled> {
    let asked: Vec<&Suite> = project
        .compilation
        .suites
        .iter()
        .filter(|compiled| project.selection.has_suite(compiled))
        .map(|CompiledSuite { suite, .. }| suite)
        .collect();
    let is_asked = |compiled: &&Compiled| {
        project.selection.has(compiled) || asked.iter().any(|suite| suite.place_of(&compiled.benchmark).is_some())
    };
    let mut first: Vec<&Compiled> = Vec::new();
    for compiled in project.compilation.benchmarks.iter().filter(is_asked) {
        if !first.iter().any(|known| known.benchmark.name == compiled.benchmark.name) {
            first.push(compiled);
        }
    }
    let is_at = |path: &str, place: &String| Path::new(path).starts_with(place);
    first.sort_by_key(|compiled| {
        let suite = suite_of(project, compiled);
        places.iter().position(|place| {
            is_at(&compiled.benchmark.path, place) || suite.is_some_and(|suite| is_at(&suite.path, place))
        })
    });
    let mut ordered: Vec<&Compiled> = Vec::new();
    for compiled in &first {
        if ordered.iter().any(|known| known.benchmark.name == compiled.benchmark.name) {
            continue;
        }
        let Some(suite) = suite_of(project, compiled) else {
            ordered.push(compiled);
            continue;
        };
        let mut members: Vec<(usize, &Compiled)> =
            first.iter().filter_map(|other| Some((suite.place_of(&other.benchmark)?, *other))).collect();
        members.sort_by_key(|(place, _)| *place);
        ordered.extend(members.into_iter().map(|(_, member)| member));
    }
    ordered
}

/// Returns the names of the benchmarks without whose success this one is not run.
pub fn needs<'a>(project: &'a CompiledProject, compiled: &Compiled) -> &'a [String] {
    let member = suite_of(project, compiled).and_then(|suite| suite.members.get(suite.place_of(&compiled.benchmark)?));
    member.map_or(&[], |member| member.needs.as_slice())
}

/// Returns the suite that a benchmark belongs to.
fn suite_of<'a>(project: &'a CompiledProject, compiled: &Compiled) -> Option<&'a Suite> {
    let mut suites = project.compilation.suites.iter().map(|CompiledSuite { suite, .. }| suite);
    suites.find(|suite| suite.place_of(&compiled.benchmark).is_some())
}

/// Returns the runs of `compiled` that were asked for.
pub fn selected(compiled: &Compiled, wanted_cases: &[String], wanted_repeats: &[u32]) -> Result<Vec<Run>> {
    let cases = &compiled.benchmark.cases;
    for wanted in wanted_cases {
        if !cases.iter().any(|case| case.is_called(wanted)) {
            let known = cases.iter().flat_map(|case| [case.name.as_str(), case.id.as_str()]);
            bail!(
                "`{}` has no case `{wanted}`; {}",
                compiled.benchmark.name,
                what_there_is(wanted, known, "cases are")
            );
        }
    }
    let repeats = compiled.benchmark.repeats;
    if let Some(wanted) = wanted_repeats.iter().find(|wanted| !(1..=repeats).contains(wanted)) {
        bail!("`{}` has no repeat {wanted}: it repeats each case {repeats} times", compiled.benchmark.name);
    }
    let has_case = |run: &Run| {
        let case = cases.iter().find(|case| case.id == run.case);
        wanted_cases.is_empty() || case.is_some_and(|case| wanted_cases.iter().any(|wanted| case.is_called(wanted)))
    };
    let has_repeat = |run: &Run| wanted_repeats.is_empty() || run.warmup || wanted_repeats.contains(&run.repeat);
    Ok(compiled.identity.runs.iter().filter(|run| has_case(run) && has_repeat(run)).cloned().collect())
}
