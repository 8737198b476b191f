//! `kubebench run`: benchmarks on this machine.

mod dry;
mod origin;
mod progress;
mod screen;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Result, bail};
use serde_json::json;

use super::ExitStatus;
use super::args::{Global, RunArgs, SelectArgs};
use super::findings::{Output, counted, tell};
use super::project;
use super::recorded::{self, tell_outcome, teller};
use crate::app::project::{CompiledProject, below_root};
use crate::app::record::{RecordPlace, additions_of, destination, mode, settings_of};
use crate::app::runs::{
    Outcomes, RunOptions, checked_out, chosen, ends, missing_variables, needs, request, secrets, selected, unmet,
};
use kubebench_compiler::model::carried::{CarriedFiles, FOLDER, VARIABLE};
use kubebench_compiler::model::{Benchmark, Case};
use kubebench_contract::Run;
use kubebench_executor::collect::Stored;
use kubebench_executor::local::{Engine, refusals};
use kubebench_executor::run::{self, AfterFailure, Outcome, Request};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::Status;
use kubebench_git as git;
use kubebench_git::record::Mode;
use kubebench_host::machine::{self, Name};
use kubebench_host::terminal;
use kubebench_syntax::diag::render::Format;
use origin::Origins;
use progress::Progress;

/// Runs the selected benchmarks one after another.
pub(super) fn run(global: &Global, args: &RunArgs) -> Result<ExitStatus> {
    let target = args.target.iter().cloned().collect();
    let select = SelectArgs { paths: args.paths.clone(), target, select: Vec::new() };
    let project = project::open(global, &select)?;
    let mut diagnostics = project.diagnostics();
    let secrets = secrets(args.secret_file.as_deref(), &global.start().folder()?)?;
    for name in missing_variables(&args.pass_env)? {
        tell(global, &format!("note: {name} is not set here (or is not UTF-8), so `--pass-env {name}` passes nothing"));
    }
    let benchmarks = chosen(&project, &places(global, &project, args)?);
    for compiled in &benchmarks {
        diagnostics.extend(refusals(&compiled.benchmark, args.engine, &secrets));
    }
    let is_refused = diagnostics.has_errors();
    let status = project::report_beside(global, &project, Output::Data, diagnostics)?;
    if is_refused || status != ExitStatus::Yes {
        return Ok(ExitStatus::NoAnswer);
    }
    if benchmarks.is_empty() {
        bail!(
            "there is no benchmark at {}",
            args.paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
        );
    }
    let mut runs = Vec::new();
    for compiled in benchmarks {
        runs.push((compiled, selected(compiled, &args.case, &args.repeat)?));
    }
    let options = RunOptions {
        session: machine::random_id()?.chars().take(16).collect(),
        engine: args.engine,
        after_failure: if args.keep_going { AfterFailure::KeepGoing } else { AfterFailure::Stop },
        results: args.results.clone(),
        pass_env: args.pass_env.clone(),
        secrets,
        name: if args.host_name { Name::Plain } else { Name::Hashed },
    };
    let mut outcomes: Outcomes<'_> = Vec::new();
    let mut origins = Origins::default();
    for (compiled, runs) in runs {
        let known = checked_out(&project, compiled);
        if let Some(note) = origins.add(&project.root, &known) {
            tell(global, &note);
        }
        let request = request(&project, compiled, runs, &options, known.ok().flatten())?;
        if args.dry_run {
            dry::print(&request)?;
            continue;
        }
        let unmet = unmet(&outcomes, needs(&project, compiled));
        if let Some(why) = &unmet {
            tell(global, &format!("{} is not run: {why}", compiled.benchmark.name));
        }
        let is_over = unmet.is_some() || outcomes.iter().any(|(_, outcome)| ends(outcome, request.after_failure));
        let outcome = if is_over { Outcome::before(&request) } else { one(global, &project, &request)? };
        let which = if is_over { format!("{}, ", compiled.benchmark.name) } else { String::new() };
        if let [first, others @ ..] = outcome.not_started.as_slice() {
            let first = called(first, &compiled.benchmark.cases);
            let runs = match others.len() {
                0 => format!("{which}{first}"),
                count => format!("{} runs, from {which}{first} on", count + 1),
            };
            tell(global, &format!("not started: {runs}"));
        }
        outcomes.push((&compiled.benchmark, outcome));
    }
    if let Some(hint) = hint(&outcomes, &options).filter(|_| !args.dry_run) {
        tell(global, &hint);
    }
    let mut status = outcome_status(&outcomes);
    let mut recorded = serde_json::Value::Null;
    if let Some(mode) = args.record {
        let stored: Vec<&Stored> = outcomes.iter().flat_map(|(_, outcome)| &outcome.stored).collect();
        let (is_recorded, answer) = record_stored(global, &project, &stored, mode)?;
        // A result that is not in git counts for more than a run that failed.
        status = if is_recorded == ExitStatus::Yes { status } else { is_recorded };
        recorded = answer;
    }
    if global.output_format == Format::Json && !args.dry_run {
        terminal::print(&format!("{:#}\n", answer(&outcomes, &project.root, &recorded)))?;
    }
    if !args.dry_run {
        origins.warnings().iter().for_each(|warning| terminal::tell(warning));
    }
    if let Some(stop) = outcomes.iter().find_map(|(_, outcome)| outcome.stopped) {
        stop.die();
    }
    Ok(status)
}

/// Returns the paths of the arguments below the project's folder, in their order.
fn places(global: &Global, project: &CompiledProject, args: &RunArgs) -> Result<Vec<String>> {
    let start = global.start().folder()?;
    args.paths.iter().map(|path| below_root(&project.root, &start, path)).collect()
}

/// Records the results of runs that just ended, in `asked` or as the project says; returns the status, and for programs what was
/// recorded.
fn record_stored(
    global: &Global,
    project: &CompiledProject,
    stored: &[&Stored],
    asked: Option<Mode>,
) -> Result<(ExitStatus, serde_json::Value)> {
    if stored.is_empty() {
        return Ok((ExitStatus::Yes, serde_json::Value::Null));
    }
    let settings = settings_of(project)?;
    let place = RecordPlace::default();
    let destination = destination(&project.root, settings, mode(asked, settings), &place, teller(global));
    let outcome = git::record(&additions_of(stored, settings), &destination);
    let answer = outcome.as_ref().map_or(serde_json::Value::Null, recorded::answer);
    Ok((tell_outcome(global, &destination, outcome), answer))
}

/// Returns what people can do about runs that failed.
fn hint(outcomes: &Outcomes<'_>, options: &RunOptions) -> Option<String> {
    let results = || outcomes.iter().flat_map(|(_, outcome)| &outcome.stored).map(|stored| &stored.sealed.result.run);
    let cannot_start = results().any(|run| run.reasons.iter().any(|reason| reason.code == ReasonCode::CannotStart));
    let has_failed = results().any(|run| !matches!(run.status, Status::Succeeded | Status::Interrupted));
    let has_more = outcomes.iter().any(|(_, outcome)| !outcome.not_started.is_empty());
    let has_problem = outcomes.iter().any(|(_, outcome)| outcome.problem.is_some() || outcome.stopped.is_some());
    if cannot_start && options.engine == Engine::Process {
        let help = "help: install the program on this machine, or run the image of the spec with `--engine docker`";
        return Some(help.to_owned());
    }
    let has_failed_run = |outcome: &Outcome| {
        outcome.stored.iter().any(|stored| !matches!(stored.sealed.result.run.status, Status::Succeeded))
    };
    let failing = outcomes.iter().filter(|(_, outcome)| has_failed_run(outcome));
    let script = failing.map(|(benchmark, _)| &benchmark.files).find_map(CarriedFiles::naming_the_folder);
    if let Some(script) = script.filter(|_| options.engine == Engine::Process) {
        return Some(format!(
            "help: write `${VARIABLE}` instead of `{FOLDER}` in `{script}`: on this machine, carried files are elsewhere"
        ));
    }
    let is_stopped = has_failed && has_more && !has_problem && options.after_failure == AfterFailure::Stop;
    is_stopped.then(|| "help: run with `--keep-going` to start the other runs after a failure".to_owned())
}

fn one(global: &Global, project: &CompiledProject, request: &Request<'_>) -> Result<Outcome> {
    let benchmark = &request.compiled.benchmark;
    let cases: BTreeSet<&str> = request.runs.iter().map(|run| run.case.as_str()).collect();
    let shape = [counted(cases.len(), "case"), counted(request.runs.len(), "run")].join(", ");
    tell(
        global,
        &format!("{}: {shape} on this machine (settings: target `{}`)", benchmark.name, benchmark.target.name),
    );
    if benchmark.parallelism > 1 {
        tell(
            global,
            "note: `parallelism` is for clusters; runs on one machine would slow each other down, so they run one at a time",
        );
    }
    let progress = Progress::new(global, request);
    // What earlier benchmarks measured is still shown and recorded.
    let outcome = run::run(request, &progress)
        .unwrap_or_else(|error| Outcome { problem: Some(format!("{error:#}")), ..Outcome::before(request) });
    progress.finish();
    if let Some(problem) = &outcome.problem {
        let what = if outcome.has_run { "the run cannot continue" } else { "nothing was run" };
        terminal::tell(&format!("error: {what}: {problem}"));
    }
    if global.output_format != Format::Json {
        terminal::print(&table::table(&outcome.stored))?;
    }
    let paths = outcome.stored.iter().filter_map(|stored| stored.path.as_deref());
    let in_place: Vec<&Path> = paths.filter(|path| path.starts_with(&request.results)).collect();
    if let Some(path) = in_place.last() {
        let folder = path.parent().and_then(Path::parent).unwrap_or(&request.results);
        tell(global, &format!("{} in {}", counted(in_place.len(), "result"), shown(folder, &project.root)));
    }
    Ok(outcome)
}

/// Returns the answer for programs.
fn answer(outcomes: &Outcomes<'_>, root: &Path, recorded: &serde_json::Value) -> serde_json::Value {
    let stored = outcomes.iter().flat_map(|(_, outcome)| &outcome.stored);
    let results: Vec<serde_json::Value> = stored
        .map(|stored| {
            let result = &stored.sealed.result;
            json!({
                "path": stored.path.as_deref().map(|path| shown(path, root)),
                "benchmark": result.metadata.benchmark,
                "case": result.metadata.case,
                "repeat": result.run.repeat,
                "warmup": result.run.warmup,
                "status": result.run.status,
                "reasons": result.run.reasons,
                "metrics": result.metrics.iter().map(|metric| json!({
                    "name": metric.name, "labels": metric.labels, "value": metric.value, "unit": metric.unit,
                })).collect::<Vec<_>>(),
            })
        })
        .collect();
    let of = |(benchmark, outcome): &(&Benchmark, Outcome)| -> Vec<serde_json::Value> {
        let name = &benchmark.name;
        let runs = outcome.not_started.iter();
        runs.map(|run| json!({"benchmark": name, "case": run.case, "repeat": run.repeat, "warmup": run.warmup}))
            .collect()
    };
    let not_started: Vec<serde_json::Value> = outcomes.iter().flat_map(of).collect();
    json!({ "schemaVersion": 1, "results": results, "notStarted": not_started, "recorded": recorded })
}

fn outcome_status(outcomes: &Outcomes<'_>) -> ExitStatus {
    let results = || outcomes.iter().flat_map(|(_, outcome)| &outcome.stored).map(|stored| &stored.sealed.result);
    let could_not_start = |result: &kubebench_format::result::BenchmarkResult| {
        result.run.reasons.iter().any(|reason| reason.code == ReasonCode::CannotStart)
    };
    let has_problem = outcomes.iter().any(|(_, outcome)| outcome.problem.is_some());
    let has_run = outcomes.iter().any(|(_, outcome)| outcome.has_run);
    if has_problem && !has_run || results().next().is_some() && results().all(could_not_start) {
        return ExitStatus::NoAnswer;
    }
    let all = results().all(|result| result.run.status == Status::Succeeded);
    let none_left = outcomes.iter().all(|(_, outcome)| outcome.not_started.is_empty());
    if all && none_left && !has_problem { ExitStatus::Yes } else { ExitStatus::No }
}

/// Returns a run as people know it: by its case and its repeat.
fn called(run: &Run, cases: &[Case]) -> String {
    let case = cases.iter().find(|case| case.id == run.case).map_or(&run.case, |case| &case.name);
    let round = if run.warmup { "warm-up" } else { "repeat" };
    format!("{case}, {round} {}", run.repeat)
}

/// Returns a path as people know it: below the project where it is there.
fn shown(path: &Path, root: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Returns a map with names and values in order, for what a person reads.
type Ordered = BTreeMap<String, String>;
