//! The arguments of every subcommand.

mod authoring;
mod cluster;
mod judging;
mod recording;
mod tool;

use std::path::PathBuf;

use anyhow::Result;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::exit_status;
use crate::app::base::Base;
use crate::app::evaluate::PassOrFail;
use crate::app::project::Selector;
use crate::app::start::Start;
pub(super) use authoring::{
    ExplainArgs, FmtArgs, HookArgs, HookCheck, InitArgs, LspArgs, NewArgs, SchemaArgs, SchemaKind, SetArgs,
};
pub(super) use cluster::{DoctorArgs, LogsArgs, OutsideArgs, StatusArgs, StepArgs, StepCommand};
pub(super) use judging::{
    AckArgs, Acked, CompareArgs, GateArgs, HistoryArgs, MockArgs, ReportArgs, ReportFormat, VerifyArgs,
};
use kubebench_executor::local::Engine;
use kubebench_format::spec::v1::metric::Reports;
use kubebench_git::record::Mode;
use kubebench_results::export;
use kubebench_syntax::diag::Severity;
use kubebench_syntax::diag::render::Format;
pub(super) use recording::{FoldArgs, RecordArgs, ReparseArgs};

/// Runs benchmarks on Kubernetes, and fails CI when one of them gets slower.
#[derive(Debug, Parser)]
#[command(name = "kubebench", version, max_term_width = 100, after_help = exit_status::summary())]
pub(super) struct Cli {
    #[command(flatten)]
    pub(super) global: Global,
    #[command(subcommand)]
    pub(super) command: Command,
}

/// Options of every subcommand.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    /// Start in this folder instead of the current one
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    pub(super) directory: Option<PathBuf>,
    /// How to print findings
    ///
    /// human, concise (one line each), json, or for a CI system: github, gitlab, sarif, junit.
    #[arg(long, global = true, value_parser = one_of(&Format::ALL, Format::name), default_value = "human", value_name = "FORMAT", hide_possible_values = true)]
    pub(super) output_format: Format,
    /// Also write findings to a file; repeatable
    ///
    /// For example `sarif=kubebench.sarif`.
    #[arg(long, global = true, value_name = "FORMAT=FILE", value_parser = report_target)]
    pub(super) report: Vec<ReportTarget>,
    /// When to use color: auto, always or never
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto, value_name = "WHEN", hide_possible_values = true)]
    pub(super) color: Color,
    /// Number of threads
    ///
    /// The output does not depend on it. Without it, the number of processors.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=256))]
    pub(super) jobs: Option<u16>,
    /// Exit with 1 on warnings too
    #[arg(long, global = true)]
    pub(super) deny_warnings: bool,
    /// Print no summary
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub(super) quiet: bool,
    /// Print more details
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
}

impl Global {
    /// Returns where the command starts.
    pub(super) fn start(&self) -> Start {
        Start::at(self.directory.clone())
    }

    /// Returns what the checked-out project is compared with.
    pub(super) fn base(&self, since: Option<&str>) -> Result<Option<Base>> {
        since.map(|revision| Base::around(&self.start(), revision)).transpose()
    }
}

/// Reads one of `all` by its name; help and completions list the names.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: impl Fn(T) -> &'static str + Clone + Send + Sync + 'static,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|value| name(*value))).try_map(move |text| {
        all.iter().copied().find(|value| name(*value) == text).ok_or("this is not one of the values")
    })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Color {
    Auto,
    Always,
    Never,
}

/// A format and the file it goes to.
#[derive(Clone, Debug)]
pub(super) struct ReportTarget {
    pub(super) format: Format,
    pub(super) path: PathBuf,
}

fn report_target(text: &str) -> Result<ReportTarget, String> {
    let (format, path) = text.split_once('=').ok_or("write FORMAT=FILE, such as sarif=kubebench.sarif")?;
    let format = Format::parse(format).ok_or_else(|| {
        format!("there is no format `{format}`; formats are human, concise, json, github, gitlab, sarif, junit")
    })?;
    Ok(ReportTarget { format, path: path.into() })
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Start a project here
    ///
    /// Writes a project file, an example with its manifests, schemas, a check for CI, CODEOWNERS and .gitattributes. Run again, it updates what nobody edited.
    Init(InitArgs),
    /// Write a new spec
    New(NewArgs),
    /// Check specs, the project file, log fixtures and result files
    ///
    /// Writes nothing.
    Validate(SelectArgs),
    /// Check who recorded results, by their signatures
    Verify(VerifyArgs),
    /// Write the manifests of all specs to the output folder
    Compile(CompileArgs),
    /// Show what would run, how often, and what it may cost
    Plan(PlanArgs),
    /// Show which fields a change gives other values
    ///
    /// It compares specs with their expressions replaced, each case with itself.
    Diff(DiffArgs),
    /// Print the jobs of specs as plain manifests for kubectl
    Render(RenderArgs),
    /// Show what would be read from logs, and from which line
    ///
    /// Runs nothing.
    Parse(ParseArgs),
    /// Run benchmarks on this machine, as local processes
    Run(RunArgs),
    /// Commit result files
    Record(RecordArgs),
    /// Move results from the inbox into the results branch
    Fold(FoldArgs),
    /// Check whether a cluster has what the benchmarks need
    Doctor(DoctorArgs),
    /// Show what runs in a cluster and what comes next
    Status(StatusArgs),
    /// Show the logs of a run in a cluster
    Logs(LogsArgs),
    /// Evaluate the newest results against the gates of the specs
    ///
    /// Exits with 1 when something got worse.
    Gate(GateArgs),
    /// Compare two sides, such as two branches
    ///
    /// A side is a revision, branch, tag, folder, label, variant or environment.
    Compare(CompareArgs),
    /// Show metrics over time, and what changed when
    History(HistoryArgs),
    /// Accept a regression in a file for review
    ///
    /// `gate` and `report` honor the file.
    Ack(AckArgs),
    /// Make synthetic results to try thresholds
    Mock(MockArgs),
    /// Read the metrics of results again from their logs
    ///
    /// Overwrites nothing.
    Reparse(ReparseArgs),
    /// Write results in the format of another program
    Export(ExportArgs),
    /// Write a site of all results
    ///
    /// It shows what got worse, since when, and how certain that is.
    Report(ReportArgs),
    /// Start a replica of a local run and end its whole tree
    #[command(hide = true)]
    Supervise(SuperviseArgs),
    /// Run a step of a Workflow, in its pod
    #[command(hide = true)]
    Step(StepArgs),
    /// Format specs; keeps comments
    Fmt(FmtArgs),
    /// Set values in a spec, a suite or the project file
    ///
    /// Comments, order and quoting stay. A file that would have errors is not written.
    Set(SetArgs),
    /// Check the projects of files, as a hook of git
    ///
    /// Files outside of projects are left out. Without files, it checks all projects that git tracks here.
    Hook(HookArgs),
    /// Convert benchmarks of kubeflow/kubebench into specs
    ///
    /// Overwrites nothing.
    Migrate(MigrateArgs),
    /// Print the JSON Schema of a kind of document
    Schema(SchemaArgs),
    /// Explain a code (KB0123) or a field (benchmark.spec.matrix)
    Explain(ExplainArgs),
    /// List benchmarks
    List(SelectArgs),
    /// Serve an editor: findings, completion and more while a spec is written
    Lsp(LspArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
    /// Print manual pages
    Man(ManArgs),
}

#[derive(Clone, Debug, Default, Args)]
pub(super) struct SelectArgs {
    /// Specs or folders of specs; without any, all
    #[arg(value_name = "PATHS")]
    pub(super) paths: Vec<PathBuf>,
    /// Only this target; repeatable
    #[arg(long, value_name = "NAME")]
    pub(super) target: Vec<String>,
    /// Only benchmarks with this label; repeatable
    ///
    /// For example `team=vision`. With several, all must match.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = label)]
    pub(super) select: Vec<(String, String)>,
}

impl SelectArgs {
    /// Returns what was asked for.
    pub(super) fn selector(&self) -> Selector {
        Selector { paths: self.paths.clone(), targets: self.target.clone(), labels: self.select.clone() }
    }
}

/// A change, and what is done about one that weakens its gates.
#[derive(Clone, Debug, Args)]
pub(super) struct ChangeArgs {
    /// Hold the checkout to the gates and limits of the base
    ///
    /// The base is the merge base of HEAD and this revision, such as origin/main. Its gates, limits and lint levels count.
    #[arg(long, value_name = "REV")]
    pub(super) since: Option<String>,
    /// How to treat a weakened gate, limit or lint
    ///
    /// Needs `--since`. The change is listed in either case.
    #[arg(long, requires = "since", value_parser = one_of(&PassOrFail::ALL, PassOrFail::name), default_value = "pass", value_name = "pass|fail", hide_possible_values = true)]
    pub(super) on_weakened: PassOrFail,
}

fn label(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write LABEL=VALUE, such as team=vision")?;
    Ok((key.to_owned(), value.to_owned()))
}

#[derive(Debug, Args)]
pub(super) struct CompileArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    #[command(flatten)]
    pub(super) change: ChangeArgs,
    /// Write nothing; exit with 1 when anything would change
    #[arg(long)]
    pub(super) check: bool,
    /// Write nothing; print a diff
    ///
    /// Exits with 1 when anything would change.
    #[arg(long)]
    pub(super) diff: bool,
    /// Replace manifests that were edited by hand
    #[arg(long)]
    pub(super) overwrite_edited: bool,
}

#[derive(Debug, Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// Show only what a change would run
    ///
    /// The change is what differs from the merge base of HEAD and this revision, such as origin/main.
    #[arg(long, value_name = "REV")]
    pub(super) since: Option<String>,
    /// Exit with 1 if a permission has this level
    ///
    /// Levels are error, warning and info; a higher level counts too. With `--since`, only permissions that the change adds count.
    #[arg(long, value_parser = one_of(&Severity::ALL, Severity::name), value_name = "LEVEL", hide_possible_values = true)]
    pub(super) fail_on: Option<Severity>,
    /// Also write a comment for a pull request
    ///
    /// It lists what would run and the permissions of benchmarks; with `--since`, what the change starts and why, and which permissions are new.
    #[arg(long, value_name = "FILE")]
    pub(super) markdown: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct DiffArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// Compare with the base of this change
    ///
    /// The base is the merge base of HEAD and this revision, such as origin/main.
    #[arg(long, value_name = "REV")]
    pub(super) since: String,
    /// Compare the manifests of the jobs, as `render` prints them
    #[arg(long)]
    pub(super) rendered: bool,
}

#[derive(Debug, Args)]
pub(super) struct RenderArgs {
    #[command(flatten)]
    pub(super) select: SelectArgs,
    /// Only this case, by id
    #[arg(long, value_name = "ID")]
    pub(super) case: Option<String>,
    /// Print the specs, as one with the fragments that they extend
    ///
    /// A comment names the file of each part that comes from a fragment. Expressions stay as they are.
    #[arg(long, conflicts_with = "case")]
    pub(super) spec: bool,
}

#[derive(Debug, Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["spec", "tool"])))]
pub(super) struct ParseArgs {
    /// Logs; `-` is standard input
    ///
    /// ROLE/INDEX=PATH is the log of one replica.
    #[arg(value_name = "LOG")]
    pub(super) logs: Vec<PathBuf>,
    /// Read the metrics of this spec
    #[arg(long, value_name = "SPEC")]
    pub(super) spec: Option<PathBuf>,
    /// Read the logs as output of this tool, such as fio
    #[arg(long, value_name = "NAME", value_parser = tool::Name, hide_possible_values = true)]
    pub(super) tool: Option<String>,
    /// The report that counts in a log: last, first or each
    #[arg(long, value_parser = one_of(&Reports::ALL, Reports::name), default_value = "last", value_name = "WHICH", hide_possible_values = true)]
    #[arg(conflicts_with = "spec")]
    pub(super) reports: Reports,
    /// Only this metric; repeatable
    #[arg(long, value_name = "NAME")]
    pub(super) metric: Vec<String>,
    /// The target whose rules apply
    ///
    /// Required if the targets of the spec have different rules.
    #[arg(long, value_name = "NAME", requires = "spec")]
    pub(super) target: Option<String>,
    /// A file to read metrics from, by its name; repeatable
    ///
    /// The name is the one in the spec.
    #[arg(long, value_name = "NAME=PATH", requires = "spec", value_parser = named_file)]
    pub(super) file: Vec<(String, PathBuf)>,
    /// The folder of a run, with the files to read metrics from
    ///
    /// Or the output folder of a run.
    #[arg(long, value_name = "DIR", requires = "spec")]
    pub(super) output: Option<PathBuf>,
    /// A file of secrets to redact
    ///
    /// Its lines are KUBEBENCH_SECRET_<NAME>_<KEY>=VALUE or secret/<NAME>/<KEY>=VALUE.
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: Option<PathBuf>,
}

fn named_file(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = text.split_once('=').ok_or("write NAME=PATH, such as metrics.json=out/metrics.json")?;
    Ok((name.to_owned(), path.into()))
}

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// Specs or folders of specs
    #[arg(value_name = "PATHS", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// The target whose settings apply
    ///
    /// Without it, the first target of each benchmark.
    #[arg(long, value_name = "NAME")]
    pub(super) target: Option<String>,
    /// Only this case, by id or axes such as `size=256`; repeatable
    ///
    /// The axes may be in any order: `size=256,workers=2`.
    #[arg(long, value_name = "CASE")]
    pub(super) case: Vec<String>,
    /// Only this repeat, counted from 1; repeatable
    ///
    /// Warm-ups still run.
    #[arg(long, value_name = "N")]
    pub(super) repeat: Vec<u32>,
    /// What runs the replicas
    ///
    /// `process` starts programs of this machine, `docker` and `podman` run the images.
    #[arg(long, value_parser = one_of(&Engine::ALL, Engine::name), default_value = "process", value_name = "ENGINE", hide_possible_values = true)]
    pub(super) engine: Engine,
    /// Print what would run; start nothing
    #[arg(long)]
    pub(super) dry_run: bool,
    /// Continue after a run that did not succeed
    #[arg(long)]
    pub(super) keep_going: bool,
    /// The folder for result files; without it, the project's
    #[arg(long, value_name = "DIR")]
    pub(super) results: Option<PathBuf>,
    /// Also pass this variable to the processes; repeatable
    #[arg(long, value_name = "NAME")]
    pub(super) pass_env: Vec<String>,
    /// A file of secrets for the runs
    ///
    /// Its lines are KUBEBENCH_SECRET_<NAME>_<KEY>=VALUE or secret/<NAME>/<KEY>=VALUE.
    #[arg(long, value_name = "FILE")]
    pub(super) secret_file: Option<PathBuf>,
    /// Also record the results
    ///
    /// As `kubebench record` does. Without a mode, as the project file says.
    #[arg(long, value_parser = one_of(&Mode::ALL, Mode::name), value_name = "MODE", num_args = 0..=1, require_equals = true)]
    #[expect(clippy::option_option, reason = "how clap spells an option whose value may be left out")]
    pub(super) record: Option<Option<Mode>>,
    /// Write this machine's name into results
    ///
    /// Without it, a hash of the name.
    #[arg(long)]
    pub(super) host_name: bool,
}

#[derive(Debug, Args)]
pub(super) struct ExportArgs {
    /// Result files or folders; without any, the project's results
    #[arg(value_name = "PATHS")]
    pub(super) paths: Vec<PathBuf>,
    /// The format
    ///
    /// csv, jsonl, parquet, sqlite, postgres, openmetrics, mlflow, benchfmt, bmf or github-action-benchmark.
    ///
    /// csv, jsonl, parquet, sqlite, postgres, openmetrics, mlflow, benchfmt, bmf or github-action-benchmark.
    #[arg(long, value_parser = one_of(&export::Format::ALL, export::Format::name), value_name = "FORMAT", hide_possible_values = true)]
    pub(super) format: export::Format,
    /// The file to write; `-` is standard output
    ///
    /// For mlflow and github-action-benchmark, a folder. Binary formats need a file.
    #[arg(long, value_name = "PATH")]
    pub(super) out: PathBuf,
    /// Also runs that do not count
    ///
    /// warmup, invalid, unsigned; several with commas. They are marked as such.
    #[arg(long, value_parser = one_of(&export::Extra::ALL, export::Extra::name), value_name = "RUNS", value_delimiter = ',', hide_possible_values = true)]
    pub(super) include: Vec<export::Extra>,
    /// Quote cells that a spreadsheet would execute (csv)
    #[arg(long)]
    pub(super) spreadsheet: bool,
}

#[derive(Debug, Args)]
pub(super) struct MigrateArgs {
    /// KubebenchJobs, parameters and job manifests
    ///
    /// Files or folders. They are not changed.
    #[arg(value_name = "PATHS", required = true)]
    pub(super) paths: Vec<PathBuf>,
    /// The file that a KubebenchJob names by its path on a volume
    ///
    /// The parameters or the manifest of the job.
    #[arg(long, value_name = "FILE")]
    pub(super) job_config: Option<PathBuf>,
    /// Write nothing; exit with 1 when a spec is missing
    ///
    /// Or when something would be lost.
    #[arg(long)]
    pub(super) check: bool,
}

#[derive(Debug, Args)]
pub(super) struct SuperviseArgs {
    /// The engine whose client is started
    #[arg(long)]
    pub(super) engine: Option<String>,
    /// The container to remove in the end
    #[arg(long)]
    pub(super) container: Option<String>,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    pub(super) argv: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// The subcommand; without one, the page of kubebench itself
    pub(super) command: Option<String>,
    /// Write the pages of all subcommands to this folder
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(super) out: Option<PathBuf>,
}
