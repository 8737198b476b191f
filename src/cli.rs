//! The command line: arguments to a call of the core, its answer to the screen and an exit status. One file a subcommand.

mod ack;
mod args;
mod changes;
mod compare;
mod compile;
mod complete;
mod diff;
mod doctor;
mod evaluation;
mod examples;
pub mod exit_status;
mod explain;
mod export;
mod findings;
mod fmt;
mod fold;
mod gate;
mod history;
mod hook;
mod init;
mod list;
mod logs;
mod lsp;
mod manual;
mod migrate;
mod mock;
mod new;
mod outside;
mod parse;
mod plan;
mod program;
mod project;
mod record;
mod recorded;
mod render;
mod reparse;
mod report;
mod run;
mod schema;
mod set;
mod starts;
mod status;
mod step;
mod validate;
mod verify;

use std::process::ExitCode;

use anyhow::Result;

use args::{Cli, Command, SuperviseArgs};
pub use exit_status::ExitStatus;
use kubebench_host::fault;
use kubebench_host::process;
use kubebench_host::terminal;
use kubebench_syntax::diag::render::on_its_lines;

/// Runs the command line of this process.
pub fn main() -> ExitCode {
    if complete::answered() {
        return ExitCode::SUCCESS;
    }
    fault::report();
    let cli = match program::given() {
        Ok(cli) => begun(cli),
        Err(error) => {
            let status = if error.use_stderr() { ExitStatus::NoAnswer } else { ExitStatus::Yes };
            drop(error.print());
            return ExitCode::from(status as u8);
        }
    };
    let status = match std::panic::catch_unwind(|| dispatch(&cli)) {
        Ok(Ok(status)) => status,
        Ok(Err(error)) => {
            terminal::tell(&on_its_lines(&format!("error: {error:#}")));
            ExitStatus::NoAnswer
        }
        Err(_) => ExitStatus::NoAnswer,
    };
    ExitCode::from(status as u8)
}

/// Returns the arguments with the places of reports and of a run's results as they are seen from the folder at hand.
fn begun(mut cli: Cli) -> Cli {
    let start = cli.global.start();
    let mut reports = std::mem::take(&mut cli.global.report);
    for report in &mut reports {
        report.path = start.path(&report.path);
    }
    cli.global.report = reports;
    if let Command::Run(args) = &mut cli.command {
        args.results = args.results.take().map(|folder| start.path(&folder));
    }
    cli
}

/// Runs as the supervisor of one replica.
fn supervise(args: &SuperviseArgs) -> Result<ExitStatus> {
    process::supervise(&args.argv, args.engine.as_deref().zip(args.container.as_deref()))?;
    Ok(ExitStatus::Yes)
}

fn dispatch(cli: &Cli) -> Result<ExitStatus> {
    if let Some(jobs) = cli.global.jobs {
        // A second call in one process keeps the first pool, which changes nothing but speed.
        drop(rayon::ThreadPoolBuilder::new().num_threads(jobs.into()).build_global());
    }
    match &cli.command {
        Command::Init(args) => init::run(&cli.global, args),
        Command::New(args) => new::run(&cli.global, args),
        Command::Validate(args) => validate::run(&cli.global, args),
        Command::Verify(args) => verify::run(&cli.global, args),
        Command::Compile(args) => compile::run(&cli.global, args),
        Command::Plan(args) => plan::run(&cli.global, args),
        Command::Diff(args) => diff::run(&cli.global, args),
        Command::Render(args) => render::run(&cli.global, args),
        Command::Parse(args) => parse::run(&cli.global, args),
        Command::Run(args) => run::run(&cli.global, args),
        Command::Record(args) => record::run(&cli.global, args),
        Command::Fold(args) => fold::run(&cli.global, args),
        Command::Doctor(args) => doctor::run(&cli.global, args),
        Command::Status(args) => status::run(&cli.global, args),
        Command::Logs(args) => logs::run(&cli.global, args),
        Command::Lsp(args) => lsp::run(args),
        Command::Gate(args) => gate::run(&cli.global, args),
        Command::History(args) => history::run(&cli.global, args),
        Command::Ack(args) => ack::run(&cli.global, args),
        Command::Mock(args) => mock::run(&cli.global, args),
        Command::Compare(args) => compare::run(&cli.global, args),
        Command::Reparse(args) => reparse::run(&cli.global, args),
        Command::Export(args) => export::run(&cli.global, args),
        Command::Report(args) => report::run(&cli.global, args),
        Command::Supervise(args) => supervise(args),
        Command::Step(args) => step::run(args),
        Command::Fmt(args) => fmt::run(&cli.global, args),
        Command::Hook(args) => hook::run(&cli.global, args),
        Command::Set(args) => set::run(&cli.global, args),
        Command::Migrate(args) => migrate::run(&cli.global, args),
        Command::Schema(args) => schema::run(args),
        Command::Explain(args) => explain::run(args),
        Command::List(args) => list::run(&cli.global, args),
        Command::Completions(args) => manual::completions(args),
        Command::Man(args) => manual::man(&cli.global, args),
    }
}
