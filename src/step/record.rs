//! `kubebench step record`: the results on the volume become part of git.

use anyhow::{Result, bail};

use super::Environment;
use crate::record::Kind;

/// Records what is not recorded yet; returns why something could not be, if something could not.
///
/// # Errors
/// When the step was not told what it needs.
pub fn run(environment: &Environment) -> Result<Option<Kind>> {
    bail!("`step record` of {} comes next", environment.benchmark()?)
}
