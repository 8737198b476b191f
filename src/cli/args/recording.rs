//! The arguments of what records results, and of what reads their logs again.

use std::path::PathBuf;

use clap::Args;
use kubebench_git::record::{Mode, Signing};

use super::one_of;
use crate::app::record::RecordPlace;

#[derive(Debug, Args)]
pub(in crate::cli) struct RecordArgs {
    /// Result files, or folders of them
    #[arg(value_name = "RESULTS", required = true)]
    pub(in crate::cli) results: Vec<PathBuf>,
    /// Where to record
    ///
    /// `local` commits here; `branch` and `inbox` push. Without it, as the project file says.
    #[arg(long, value_parser = one_of(&Mode::ALL, Mode::name))]
    pub(in crate::cli) mode: Option<Mode>,
    #[command(flatten)]
    pub(in crate::cli) place: PlaceArgs,
}

#[derive(Debug, Args)]
pub(in crate::cli) struct FoldArgs {
    #[command(flatten)]
    pub(in crate::cli) place: PlaceArgs,
}

/// Where recorded results are.
#[derive(Clone, Debug, Default, Args)]
pub(in crate::cli) struct PlaceArgs {
    /// The remote, by name or address
    ///
    /// Without it, the remote of the project file, or `origin`.
    #[arg(long, value_name = "REMOTE")]
    pub(in crate::cli) remote: Option<String>,
    /// The branch of results; without it, the project's
    #[arg(long, value_name = "BRANCH")]
    pub(in crate::cli) branch: Option<String>,
    /// How long to keep trying
    #[arg(long, value_name = "TIME", default_value = "5m", value_parser = time)]
    pub(in crate::cli) deadline: Option<std::time::Duration>,
    /// Sign commits with the key of git's configuration
    #[arg(long)]
    pub(in crate::cli) sign: bool,
}

impl PlaceArgs {
    /// Returns where results go.
    pub(in crate::cli) fn place(&self) -> RecordPlace {
        RecordPlace {
            remote: self.remote.clone(),
            branch: self.branch.clone(),
            deadline: self.deadline,
            signing: self.sign.then_some(Signing::AsConfigured),
        }
    }
}

fn time(text: &str) -> Result<std::time::Duration, String> {
    let parsed = kubebench_syntax::unit::Duration::parse(text).map_err(|error| error.message)?;
    Ok(std::time::Duration::from_secs(parsed.seconds()))
}

#[derive(Debug, Args)]
pub(in crate::cli) struct ReparseArgs {
    /// Result files, or folders of them
    #[arg(value_name = "RESULTS", required = true)]
    pub(in crate::cli) results: Vec<PathBuf>,
    /// A file of secrets to redact
    ///
    /// Its lines are KUBEBENCH_SECRET_<NAME>_<KEY>=VALUE or secret/<NAME>/<KEY>=VALUE.
    #[arg(long, value_name = "FILE")]
    pub(in crate::cli) secret_file: Option<PathBuf>,
    /// A variable of the run, to redact if it holds a secret
    ///
    /// The name of the variable tells whether it does.
    #[arg(long, value_name = "NAME")]
    pub(in crate::cli) pass_env: Vec<String>,
}
