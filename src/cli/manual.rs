//! `kubebench completions` and `kubebench man`: made from the same arguments that are parsed.

use anyhow::{Context as _, Result, bail};
use clap::CommandFactory as _;

use super::ExitStatus;
use super::args::{Cli, CompletionsArgs, ManArgs};
use kubebench_host::terminal;

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitStatus> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "kubebench", &mut script);
    terminal::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitStatus::Yes)
}

/// Prints the manual page of kubebench or of a subcommand.
pub(super) fn man(args: &ManArgs) -> Result<ExitStatus> {
    let mut command = Cli::command();
    command.build();
    let page = match &args.command {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => bail!("there is no subcommand `{name}`"),
        },
    };
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text).context("cannot make the manual page")?;
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitStatus::Yes)
}
