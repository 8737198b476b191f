//! The arguments of commands that help to write specs.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::one_of;
use crate::app::init::{self, Ci};
use crate::app::set::Assignment;

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(in crate::cli) struct FmtArgs {
    /// Specs or folders; without any, all specs and the project file
    #[arg(value_name = "PATHS")]
    pub(in crate::cli) paths: Vec<PathBuf>,
    /// Write nothing; exit with 1 when a file is not formatted
    #[arg(long)]
    pub(in crate::cli) check: bool,
    /// Write nothing; print what would change as a unified diff
    #[arg(long)]
    pub(in crate::cli) diff: bool,
    /// Also apply safe fixes of findings, such as quoting `yes`
    #[arg(long)]
    pub(in crate::cli) fix: bool,
    /// Exit with 1 when a file was formatted
    #[arg(long)]
    pub(in crate::cli) fail_on_change: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct HookArgs {
    /// What to do
    #[arg(value_enum)]
    pub(in crate::cli) check: HookCheck,
    /// Files that changed
    #[arg(value_name = "FILES")]
    pub(in crate::cli) files: Vec<PathBuf>,
}

/// What a hook does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum HookCheck {
    /// Format the files; exit with 1 when one was formatted
    Fmt,
    /// Validate the projects
    Validate,
    /// Compare the manifests of the projects with the specs
    CompileCheck,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SetArgs {
    /// The file
    #[arg(value_name = "SPEC")]
    pub(in crate::cli) spec: PathBuf,
    /// A path as in `explain`, and its value; repeatable
    ///
    /// An item of a list is named by its `name` or its index: `metrics.bandwidth.unit`, `args[0]`; a gate by its metric:
    /// `gates.bandwidth.maxRegression`. The end of a path is enough where only one value has it, such as `image`.
    #[arg(value_name = "PATH=VALUE", required = true)]
    pub(in crate::cli) values: Vec<Assignment>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct SchemaArgs {
    /// Which schema
    #[arg(value_enum)]
    pub(in crate::cli) kind: SchemaKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum SchemaKind {
    Benchmark,
    Suite,
    Fragment,
    Project,
    Result,
    Ack,
    Compare,
    Gate,
    History,
    Sweep,
    Report,
    Plan,
    Diff,
    Attestation,
    Verify,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ExplainArgs {
    /// A code, field, tool or ready benchmark: KB0123, spec.matrix, tool.fio or catalog.fio
    ///
    /// A field may be named by the end of its path. `tool` lists the tools, `catalog` the ready benchmarks. Without it, all codes are listed.
    pub(in crate::cli) what: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct InitArgs {
    /// The CI system: github, gitlab or none
    ///
    /// The default for a new project is gitlab in a repository with a `.gitlab-ci.yml` and no GitHub workflows, else github. Run again, `init` updates what is there.
    #[arg(long, value_parser = one_of(&Ci::ALL, Ci::name), value_name = "SYSTEM", hide_possible_values = true)]
    pub(in crate::cli) ci: Option<Ci>,
    /// A reviewer for CODEOWNERS; repeatable
    #[arg(long, value_name = "@ORG/TEAM", value_parser = init::owner)]
    pub(in crate::cli) owner: Vec<String>,
    /// Pin the program in CI to these checksums
    ///
    /// The file is SHA256SUMS of the release. Without it, CI downloads the checksums.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) checksums: Option<PathBuf>,
    /// Replace edited files
    ///
    /// Only files that `init` writes whole: the check in CI and the schemas.
    #[arg(long)]
    pub(in crate::cli) force: bool,
    /// Add entries to existing files
    ///
    /// To CODEOWNERS, .gitattributes, .gitlab-ci.yml and .pre-commit-config.yaml.
    #[arg(long)]
    pub(in crate::cli) write: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LspArgs {
    /// Speak on standard input and output, as always; editors say so
    #[arg(long)]
    pub(in crate::cli) stdio: bool,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct NewArgs {
    /// The workload kind, suite, or the name of a ready benchmark
    ///
    /// A kind such as job or pytorchJob gives a spec to fill in. `suite` takes the benchmarks that have no schedule and are in no other suite. `--list` shows what there is.
    #[arg(required_unless_present = "list")]
    pub(in crate::cli) kind: Option<String>,
    /// The name of the benchmark or suite
    ///
    /// A ready benchmark keeps its own name without it.
    pub(in crate::cli) name: Option<String>,
    /// List the workload kinds and the ready benchmarks
    #[arg(long, conflicts_with_all = ["kind", "name"])]
    pub(in crate::cli) list: bool,
}
