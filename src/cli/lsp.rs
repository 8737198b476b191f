//! `kubebench lsp`: the language server.

use anyhow::Result;

use super::ExitStatus;
use super::args::LspArgs;
use crate::app::lsp;

/// Serves an editor until it ends.
pub(super) fn run(args: &LspArgs) -> Result<ExitStatus> {
    // There is no other way to speak with it.
    let LspArgs { stdio: _ } = args;
    lsp::serve()?;
    Ok(ExitStatus::Yes)
}
