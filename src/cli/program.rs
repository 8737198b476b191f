//! The program as its arguments describe it, with what the declarations do not say: examples at the end of a help text, the option
//! for help itself, and which global options a subcommand reads.

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, Command, CommandFactory as _, Error, FromArgMatches as _};

use super::args::Cli;
use super::complete;
use super::examples::{self, Example};
use kubebench_syntax::invariant::Invariant as _;

/// Global options that a subcommand does not read: they are not in its help, and refused.
const UNREAD: [(&str, &[&str]); 17] = [
    ("ack", &["deny_warnings"]),
    ("completions", &["directory", "output_format", "report", "jobs", "deny_warnings", "quiet", "verbose"]),
    ("explain", &["directory", "output_format", "report", "jobs", "deny_warnings", "quiet", "verbose"]),
    ("export", &["verbose"]),
    ("fmt", &["verbose"]),
    ("fold", &["report", "jobs", "deny_warnings", "verbose"]),
    ("init", &["output_format", "report", "jobs", "deny_warnings", "verbose"]),
    ("logs", &["output_format", "report", "deny_warnings"]),
    ("lsp", &["directory", "output_format", "report", "deny_warnings", "quiet", "verbose"]),
    ("man", &["output_format", "report", "jobs", "deny_warnings", "quiet", "verbose"]),
    ("migrate", &["jobs", "verbose"]),
    ("new", &["output_format", "report", "deny_warnings"]),
    ("record", &["report", "jobs", "deny_warnings", "verbose"]),
    ("reparse", &["output_format", "report", "deny_warnings"]),
    ("schema", &["directory", "output_format", "report", "jobs", "deny_warnings", "quiet", "verbose"]),
    ("set", &["verbose"]),
    ("status", &["report", "deny_warnings"]),
];

/// Reads the arguments of this process.
pub(super) fn given() -> Result<Cli, Error> {
    let mut program = program();
    let matches = program.try_get_matches_from_mut(std::env::args_os())?;
    if let Some((name, given)) = matches.subcommand() {
        let is_given = |option: &&&str| given.value_source(option) == Some(ValueSource::CommandLine);
        if let Some(option) = unread(name).iter().find(is_given) {
            let said = format!("`kubebench {name}` does not have the option `--{}`", option.replace('_', "-"));
            let name = name.to_owned();
            let command = program.find_subcommand_mut(&name).expected("the subcommand that was given");
            return Err(command.error(ErrorKind::UnknownArgument, said));
        }
    }
    Cli::from_arg_matches(&matches)
}

/// Returns the program as clap knows it.
pub(super) fn program() -> Command {
    // One line an option; `kubebench help COMMAND` and the manual pages say more.
    let help = Arg::new("help")
        .short('h')
        .long("help")
        .help("Print help; `kubebench help COMMAND` says more")
        .help_heading("Global options")
        .action(ArgAction::HelpShort)
        .global(true);
    let program = Cli::command().disable_help_flag(true).arg(help);
    let global: Vec<Arg> = program.get_arguments().filter(|argument| argument.is_global_set()).cloned().collect();
    program.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let is_unread = |argument: &&Arg| unread(&name).contains(&argument.get_id().as_str());
        let hidden = global.iter().filter(is_unread).map(|argument| argument.clone().hide(true));
        let command = complete::with_values(command.args(hidden.collect::<Vec<_>>()));
        let kinds = (name == "new").then(complete::listed_kinds);
        let parts: Vec<String> = listed(examples::of(&name)).into_iter().chain(kinds).collect();
        if parts.is_empty() { command } else { command.after_help(parts.join("\n\n")) }
    })
}

fn unread(command: &str) -> &'static [&'static str] {
    UNREAD.iter().find(|(name, _)| *name == command).map_or(&[], |(_, options)| options)
}

fn listed(examples: &[Example]) -> Option<String> {
    let lines: String = examples.iter().map(|(call, does)| format!("\n  # {does}\n  {call}")).collect();
    (!lines.is_empty()).then(|| format!("Examples:{lines}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_subcommand_has_examples_that_it_accepts() {
        for command in program().get_subcommands().filter(|command| !command.is_hide_set()) {
            let examples = examples::of(command.get_name());
            assert!(!examples.is_empty(), "{} has no example", command.get_name());
            for (call, _) in examples {
                // What is between single quotes is one word.
                let parts = call.split('\'').enumerate();
                let words = parts.flat_map(|(at, part)| match at % 2 {
                    0 => part.split_whitespace().collect(),
                    _ => vec![part],
                });
                let given = program().try_get_matches_from(words).unwrap_or_else(|error| panic!("{call}: {error}"));
                assert_eq!(given.subcommand_name(), Some(command.get_name()));
            }
        }
    }

    #[test]
    fn unread_options_are_global_ones_of_subcommands() {
        let program = program();
        for (name, options) in UNREAD {
            assert!(program.find_subcommand(name).is_some(), "{name}");
            for option in options {
                let argument = program.get_arguments().find(|argument| argument.get_id() == option);
                assert!(argument.is_some_and(Arg::is_global_set), "{option}");
            }
        }
    }

    #[test]
    fn an_option_takes_one_line_of_the_help() {
        let mut program = program().term_width(100);
        program.build();
        for command in program.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
            let help = command.render_help().to_string();
            let long = help.lines().find(|line| line.starts_with("            "));
            assert_eq!(long, None, "{help}");
        }
    }
}
