//! `kubebench parse`: what would be read from these logs, and from which line?

mod answer;

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, ParseArgs, SelectArgs};
use super::findings::Output;
use super::project;
use crate::app::parse::{Files, Known, NO_LOG, Wanted, read};
use answer::Answer;
use kubebench_host::terminal;

/// Prints the metrics of the logs.
pub(super) fn run(global: &Global, args: &ParseArgs) -> Result<ExitStatus> {
    let start = global.start().folder()?;
    let known = Known::of(args.secret_file.as_deref(), &start)?;
    let wanted = match (&args.tool, &args.spec) {
        (Some(name), _) => Wanted::of_tool(name, args.reports, &args.metric, &known)?,
        (None, Some(spec)) => {
            let target = args.target.iter().cloned().collect();
            let select = SelectArgs { paths: vec![spec.clone()], target, select: Vec::new() };
            let project = project::open(global, &select)?;
            let diagnostics = project.diagnostics();
            if project.benchmarks().is_empty() && diagnostics.has_errors() {
                return project::report_beside(global, &project, Output::Data, diagnostics);
            }
            Wanted::of_spec(&project, &spec.display().to_string(), &args.metric, &known)?
        }
        (None, None) => bail!("name a spec (`--spec`) or a tool (`--tool`)"),
    };
    if args.logs.is_empty() && args.tool.is_some() {
        bail!(NO_LOG);
    }
    let files = Files { start: &start, named: &args.file, output: args.output.as_deref() };
    let answer = Answer::of(read(&wanted, &args.logs, &files)?, &wanted.redactor);
    terminal::print(&answer.text(global.output_format))?;
    Ok(if answer.is_complete() { ExitStatus::Yes } else { ExitStatus::No })
}
