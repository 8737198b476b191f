//! What is to be run: from options to requests.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::app::evaluate::ACKS;
use crate::app::project::CompiledProject;
use crate::app::record::PROJECT_FILE_HAS_ERRORS;
use crate::app::start::VERSION;
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_contract::Run;
use kubebench_executor::collect;
use kubebench_executor::local::{Engine, Secrets, is_of_client};
use kubebench_executor::run::{AfterFailure, Request};
use kubebench_git::{self as git, CheckedOut, Looked};
use kubebench_host::fs;
use kubebench_host::machine::{self, Name};

/// The variables of this process that replicas see without being asked for.
const BASE: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// How benchmarks are run on this machine.
#[derive(Clone, Debug)]
pub struct RunOptions {
    /// The session that the runs belong to.
    pub session: String,
    /// What runs the replicas.
    pub engine: Engine,
    /// What follows a run that did not succeed.
    pub after_failure: AfterFailure,
    /// The folder for result files; without it, the project's.
    pub results: Option<PathBuf>,
    /// Variables of this process that replicas see besides the usual ones.
    pub pass_env: Vec<String>,
    /// The values of Secrets and ConfigMaps.
    pub secrets: Secrets,
    /// How results name this machine.
    pub name: Name,
}

/// Returns the commit that is checked out, and which files differ from it that results of `compiled` may come from; nothing where
/// there is none, and else why it is unknown.
pub fn checked_out(project: &CompiledProject, compiled: &Compiled) -> Result<Option<CheckedOut>, String> {
    let Some(own) = &project.compilation.project else { return Ok(None) };
    let benchmark = &compiled.benchmark;
    let project_file = fs::exists(&project.root, PROJECT_FILE).then_some(PROJECT_FILE);
    let carried = benchmark.files.iter().map(|(_, file)| file.path.as_str());
    let specs = project.compilation.benchmarks.iter().map(|other| other.benchmark.path.as_str());
    let suites = project.compilation.suites.iter().map(|other| other.suite.path.as_str());
    git::checked_out(
        &project.root,
        &Looked {
            results: &own.settings.results.directory,
            written: vec![&own.settings.output, ACKS],
            parts: [benchmark.path.as_str()].into_iter().chain(project_file).chain(carried).collect(),
            beside: Some(benchmark.path.rsplit_once('/').map_or("", |(folder, _)| folder)),
            others: specs.chain(suites).collect(),
        },
    )
}

/// Returns what is to be run of `compiled`, whose commit is known.
pub fn request<'a>(
    project: &'a CompiledProject,
    compiled: &'a Compiled,
    runs: Vec<Run>,
    options: &RunOptions,
    commit: Option<CheckedOut>,
) -> Result<Request<'a>> {
    let benchmark = &compiled.benchmark;
    let root = project.root.as_path();
    let settings = &project.compilation.project.as_ref().context(PROJECT_FILE_HAS_ERRORS)?.settings;
    // A container has its image's PATH and HOME.
    let base: &[&str] = if options.engine.runs_images() { &[] } else { &BASE };
    let passes = |name: &str| base.contains(&name) || options.pass_env.iter().any(|wanted| wanted == name);
    Ok(Request {
        root,
        session: options.session.clone(),
        compiled,
        rules: &compiled.rules,
        results: options.results.clone().unwrap_or_else(|| root.join(&settings.results.directory)),
        engine: options.engine,
        client: machine::variables(is_of_client),
        base: machine::variables(passes),
        secrets: options.secrets.clone(),
        runs,
        after_failure: options.after_failure,
        log_limit: benchmark.log_limit.unwrap_or(collect::LOG_LIMIT),
        name: options.name,
        commit,
        version: VERSION,
    })
}

/// Returns the variables among `wanted` that this process does not have; refuses values instead of names.
pub fn missing_variables(wanted: &[String]) -> Result<Vec<&String>> {
    let here = machine::variables(|name| wanted.iter().any(|wanted| wanted == name));
    for name in wanted {
        if let Some((name, _)) = name.split_once('=') {
            // The value is not shown: it may be a secret.
            bail!(
                "`--pass-env` takes the name of a variable, not its value: set {name} in the environment, and write `--pass-env {name}`"
            );
        }
    }
    Ok(wanted.iter().filter(|name| !here.contains_key(*name)).collect())
}

/// Returns the values of Secrets and ConfigMaps: those of the file before those of the environment.
pub fn secrets(file: Option<&Path>, here: &Path) -> Result<Secrets> {
    let mut values = machine::variables(Secrets::is_name);
    if let Some(path) = file {
        let text = fs::read_text(&here.join(path))?;
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            // The line is not shown: it may hold the secret.
            match line.split_once('=') {
                Some((name, value)) if Secrets::is_name(name) => values.insert(name.to_owned(), value.to_owned()),
                _ => bail!(
                    "{}:{number}: expected KUBEBENCH_SECRET_<NAME>_<KEY>=VALUE or secret/<NAME>/<KEY>=VALUE",
                    path.display()
                ),
            };
        }
    }
    Ok(Secrets::new(values))
}
