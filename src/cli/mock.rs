//! `kubebench mock`: results of sessions that never took place.

use anyhow::{Context as _, Result, bail};

use super::ExitStatus;
use super::args::{Global, MockArgs, SelectArgs};
use super::findings::{Findings, Output, counted, report};
use super::project;
use crate::app::evaluate::ACKS;
use crate::app::places;
use crate::app::start::VERSION;
use kubebench_compiler::workload;
use kubebench_executor::mock::{self, Request, Values};
use kubebench_extract::rules::Rules;
use kubebench_format::result;
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::{Source, SourceMap};
use kubebench_syntax::unit::Day;
use kubebench_syntax::yaml;

/// Makes results by the values of a file.
pub(super) fn run(global: &Global, args: &MockArgs) -> Result<ExitStatus> {
    let start = global.start();
    let select = SelectArgs {
        paths: vec![args.spec.clone()],
        target: args.target.iter().cloned().collect(),
        select: Vec::new(),
    };
    if start.path(&args.spec).is_dir() {
        bail!("{} is a folder: name one spec", args.spec.display());
    }
    let project = project::open(global, &select)?;
    let found = project.diagnostics();
    if found.has_errors() {
        let output = Output::without_answer(global.output_format);
        return project::report_beside(global, &project, output, found);
    }
    let benchmarks = project.benchmarks();
    let Some(compiled) = benchmarks.first() else { bail!("{} is not a benchmark", args.spec.display()) };
    let settings =
        project.compilation.project.as_ref().map(|project| &project.settings).context("there is no project")?;
    let out = start.path(&args.out);
    places::refuse_around("results", &out, &project.root)?;
    places::refuse_inside("results", &out, &project.root, &["specs", ACKS, &settings.output, ".git"])?;
    let is_inside = fs::real_place(&out).zip(fs::real_place(&project.root.join(&settings.results.directory)));
    if is_inside.is_some_and(|(out, results)| out.starts_with(results)) {
        bail!("{} is the folder of real results; choose another `--out`", args.out.display());
    }
    let path = args.values.display().to_string();
    let text = fs::read_text(&start.path(&args.values)).with_context(|| format!("cannot read {path}"))?;
    if text.trim().is_empty() {
        bail!("{path} is empty: write `metrics: {{NAME: VALUE}}`");
    }
    let mut sources = SourceMap::default();
    let id = sources.add(Source::new(path.as_str(), text.as_bytes()));
    let mut diagnostics = Diagnostics::default();
    let values: Option<Values> = sources.get(id).and_then(|source| {
        let yaml::Read { root, diagnostics: found } = yaml::read(id, source);
        diagnostics.extend(found);
        root.filter(|_| !diagnostics.has_errors()).and_then(|root| workload::read(&root, &mut diagnostics))
    });
    let Some(values) = values else {
        return report(
            global,
            Output::without_answer(global.output_format),
            Findings { diagnostics, sources: &sources, checked: &[], unreadable: false },
        );
    };
    let rules = Rules::read(&compiled.rules).map_err(|error| anyhow::anyhow!("the rules cannot be read: {error}"))?;
    let request = Request {
        benchmark: &compiled.benchmark,
        identity: &compiled.identity,
        rules: &rules,
        values: &values,
        sessions: args.sessions,
        start: Day::parse(&args.start).map_err(|error| anyhow::anyhow!("--start: {error}"))?,
        seed: args.seed,
        version: VERSION,
    };
    mock::check(request).map_err(|fault| anyhow::anyhow!("{path}: {fault}"))?;
    let made = mock::results(request);
    let own = format!("{}/", compiled.benchmark.name);
    let mut there = fs::find_results(&out, "").into_iter();
    if there.any(|(path, file)| file.is_ok() && path.trim_start_matches('/').starts_with(&own)) {
        bail!("{} already holds results of {}; choose another `--out`", args.out.display(), compiled.benchmark.name);
    }
    for sealed in &made {
        fs::create_new(&out, &result::path(&sealed.result), &String::from_utf8_lossy(&sealed.bytes))?;
    }
    let said = format!(
        "{} of {} in {}: synthetic, never recorded (kubebench gate --results {})",
        counted(made.len(), "result"),
        counted(args.sessions as usize, "session"),
        args.out.display(),
        args.out.display()
    );
    if !global.quiet {
        terminal::tell(&said);
    }
    Ok(ExitStatus::Yes)
}
