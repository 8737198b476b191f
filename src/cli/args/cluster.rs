//! The arguments of what asks a cluster, and of the steps that run in one.

use clap::{Args, Subcommand};

/// Which cluster is asked, and about what of the project.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct OutsideArgs {
    /// The target whose namespace to use
    ///
    /// Required if benchmarks have several targets.
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) target: Option<String>,
    /// The context of the kubeconfig; without it, the current one
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) context: Option<String>,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct DoctorArgs {
    #[command(flatten)]
    pub(in crate::cli) outside: OutsideArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StatusArgs {
    /// Only these benchmarks, by name
    #[arg(value_name = "BENCHMARK")]
    pub(in crate::cli) benchmarks: Vec<String>,
    /// Keep watching, and show changes until Ctrl-C
    #[arg(long)]
    pub(in crate::cli) watch: bool,
    #[command(flatten)]
    pub(in crate::cli) outside: OutsideArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct LogsArgs {
    /// The benchmark, by name
    #[arg(value_name = "BENCHMARK")]
    pub(in crate::cli) benchmark: String,
    /// The run; without it, the one that runs, or the last
    ///
    /// By its id, by the name of its job, or as `status` calls it.
    #[arg(value_name = "RUN")]
    pub(in crate::cli) run: Option<String>,
    /// Only the pods of this role
    #[arg(long, value_name = "ROLE")]
    pub(in crate::cli) role: Option<String>,
    /// Only the replicas with this index, counted from 0
    #[arg(long, value_name = "N")]
    pub(in crate::cli) index: Option<u32>,
    /// Follow the log until the run has ended
    #[arg(long)]
    pub(in crate::cli) follow: bool,
    /// Print the log byte for byte, without redaction
    ///
    /// With terminal codes, and with secrets if there are any.
    #[arg(long)]
    pub(in crate::cli) raw: bool,
    #[command(flatten)]
    pub(in crate::cli) outside: OutsideArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct StepArgs {
    #[command(subcommand)]
    pub(in crate::cli) command: StepCommand,
}

/// The steps of a Workflow.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum StepCommand {
    /// Make the experiment folder and run the Job that prepares
    Prepare,
    /// Take one run from its objects to its result
    Run {
        /// The run, by its id in `runs.json`
        run: String,
    },
    /// Print a table of all runs
    Summary,
    /// Print what became of each benchmark of a suite
    SuiteSummary,
    /// Delete what is left of the Workflow
    Cleanup,
    /// Commit the results on the volume
    Record,
}
