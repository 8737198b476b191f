//! `kubebench fmt`: the canonical form of specs.

use anyhow::Result;

use super::ExitStatus;
use super::args::{FmtArgs, Global};

/// Formats the specs.
pub(super) fn run(_: &Global, _: &FmtArgs) -> Result<ExitStatus> {
    anyhow::bail!("not there yet")
}
