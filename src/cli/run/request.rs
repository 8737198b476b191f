//! What is to be run: from the arguments to requests.

use std::path::Path;

use anyhow::{Context as _, Result, bail};

use crate::cli::args::RunArgs;
use crate::cli::project::VERSION;
use crate::cli::session::Session;
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_contract::Run;
use kubebench_executor::gather;
use kubebench_executor::local::{Secrets, is_of_client};
use kubebench_executor::run::{AfterFailure, Request};
use kubebench_git as git;
use kubebench_host::fs;
use kubebench_host::machine::{self, Name};

/// The variables of this process that replicas see without being asked for.
const BASE: [&str; 4] = ["PATH", "HOME", "LANG", "TMPDIR"];

/// Returns what is to be run of `compiled` in the session `id`.
pub(super) fn request<'a>(
    session: &'a Session<'_>,
    compiled: &'a Compiled,
    rules: &'a str,
    runs: Vec<Run>,
    args: &RunArgs,
    secrets: &Secrets,
    id: &str,
) -> Result<Request<'a>> {
    let benchmark = &compiled.benchmark;
    let root = session.root.as_path();
    let project =
        session.compilation.project.as_ref().context("the project file has errors; `kubebench validate` shows them")?;
    let mut paths = vec![benchmark.path.clone()];
    paths.extend(fs::exists(root, PROJECT_FILE).then(|| PROJECT_FILE.to_owned()));
    paths.extend(benchmark.files.iter().map(|(_, file)| file.path.clone()));
    // A container has its image's PATH and HOME.
    let base: &[&str] = if args.engine.runs_images() { &[] } else { &BASE };
    let passes = |name: &str| base.contains(&name) || args.pass_env.iter().any(|wanted| wanted == name);
    Ok(Request {
        root,
        session: id.to_owned(),
        compiled,
        rules,
        results: args.results.clone().unwrap_or_else(|| root.join(&project.settings.results.directory)),
        engine: args.engine,
        client: machine::variables(is_of_client),
        base: machine::variables(passes),
        secrets: secrets.clone(),
        runs,
        after_failure: if args.keep_going { AfterFailure::KeepGoing } else { AfterFailure::Stop },
        log_limit: benchmark.log_limit.unwrap_or(gather::LOG_LIMIT),
        name: if args.host_name { Name::Plain } else { Name::Hashed },
        // Why it cannot be told has been said once.
        commit: git::commit_of(root, &paths).ok().flatten(),
        version: VERSION,
    })
}

/// Says which variables that were asked for are not here.
pub(super) fn check_passed(session: &Session<'_>, wanted: &[String]) -> Result<()> {
    let here = machine::variables(|name| wanted.iter().any(|wanted| wanted == name));
    for name in wanted {
        if let Some((name, _)) = name.split_once('=') {
            // The value is not shown: it may be a secret.
            bail!(
                "`--pass-env` takes the name of a variable, not its value: set {name} in the environment, and write `--pass-env {name}`"
            );
        }
        if !here.contains_key(name) {
            session.tell(&format!(
                "note: {name} is not set here (or is not UTF-8), so `--pass-env {name}` passes nothing"
            ));
        }
    }
    Ok(())
}

/// Returns the values of Secrets and ConfigMaps: those of the file before those of the environment.
pub(in crate::cli) fn secrets(file: Option<&Path>, here: &Path) -> Result<Secrets> {
    let mut values = machine::variables(Secrets::is_name);
    if let Some(path) = file {
        let text = fs::read_text(&here.join(path))?;
        for (line, number) in text.lines().zip(1..) {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            // The line is not shown: what stands on it may be the secret.
            match line.split_once('=') {
                Some((name, value)) if Secrets::is_name(name) => values.insert(name.to_owned(), value.to_owned()),
                _ => bail!(
                    "{}:{number}: this is no line KUBEBENCH_SECRET_<NAME>_<KEY>=VALUE, nor secret/<NAME>/<KEY>=VALUE",
                    path.display()
                ),
            };
        }
    }
    Ok(Secrets::new(values))
}
