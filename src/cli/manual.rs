//! `kubebench completions` and `kubebench man`: made from the same arguments that are parsed.

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

use super::ExitStatus;
use super::args::{CompletionsArgs, Global, ManArgs};
use super::complete;
use super::program::program;
use super::{examples, exit_status};
use kubebench_host::{fs, terminal};

const FILES: [(&str, &str); 6] = [
    ("kubebench.yaml", "The project file: settings and targets. Its folder is the root of the project."),
    ("specs/", "Specs of benchmarks and suites. The project file may name other folders."),
    ("generated/", "What `kubebench compile` writes, for Argo CD or Flux."),
    ("results/", "Result files, unless they are on a branch of their own."),
    ("acks/", "Acknowledgements of regressions."),
    ("schema/", "JSON Schemas for editors."),
];

/// Prints the completions of a shell.
pub(super) fn completions(args: &CompletionsArgs) -> Result<ExitStatus> {
    let shell = args.shell.to_string();
    let Some(script) = complete::script(&shell) else { bail!("there are no completions for {shell}") };
    terminal::print(&script)?;
    Ok(ExitStatus::Yes)
}

/// Prints the manual page of kubebench or of a subcommand, or writes those of all.
pub(super) fn man(global: &Global, args: &ManArgs) -> Result<ExitStatus> {
    let mut command = program();
    command.build();
    if let Some(folder) = &args.out {
        write_all(&command, &global.start().path(folder))?;
        return Ok(ExitStatus::Yes);
    }
    let page = match &args.command {
        None => command,
        Some(name) => match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => bail!("there is no subcommand `{name}`"),
        },
    };
    let text = rendered(page).context("cannot make the manual page")?;
    terminal::print(&String::from_utf8_lossy(&text))?;
    Ok(ExitStatus::Yes)
}

fn write_all(program: &clap::Command, folder: &Path) -> Result<()> {
    if !folder.is_dir() {
        bail!("there is no folder {}; make it first", folder.display());
    }
    let shown = program.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help");
    for command in shown.chain([program]) {
        let path = folder.join(Man::new(command.clone()).get_filename());
        let text = rendered(command.clone()).context("cannot make the manual page")?;
        fs::write_report(&path, &String::from_utf8_lossy(&text)).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn rendered(command: clap::Command) -> io::Result<Vec<u8>> {
    let examples = examples::of(command.get_name());
    let statuses = exit_status::of(command.get_name());
    let statuses: Vec<(&str, &str)> = statuses.iter().map(|(status, meaning)| (&**status, &**meaning)).collect();
    let has_subcommands = command.has_subcommands();
    let man = Man::new(command);
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if has_subcommands {
        man.render_subcommands_section(&mut page)?;
    }
    section("EXAMPLES", examples, &mut page)?;
    section("EXIT STATUS", &statuses, &mut page)?;
    section("FILES", &FILES, &mut page)?;
    if has_subcommands {
        man.render_version_section(&mut page)?;
    }
    Ok(page)
}

/// A list of terms in bold with what they mean.
fn section(title: &str, entries: &[(&str, &str)], page: &mut dyn Write) -> io::Result<()> {
    if entries.is_empty() {
        return Ok(());
    }
    let mut roff = Roff::default();
    roff.control("SH", [title]);
    for (term, meaning) in entries {
        roff.control("TP", []).text([bold(*term)]).text([roman(*meaning)]);
    }
    roff.to_writer(page)
}
