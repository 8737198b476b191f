//! The commands and their options: the documents name no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::support::project::{files_below, repository};

/// The options of every command by name, with the command's own first.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    names().into_iter().map(|name| (name.clone(), options(&help(&[&name])))).collect()
}

/// The names of the commands, in the order of the help text.
pub(super) fn names() -> Vec<String> {
    let top = help(&[]);
    let (_, list) = top.split_once("Commands:\n").unwrap();
    let lines = list.lines().take_while(|line| !line.is_empty());
    let first = lines.filter_map(|line| line.strip_prefix("  ").filter(|line| !line.starts_with(' ')));
    let names = first.map(|line| line.split_whitespace().next().unwrap().to_owned());
    names.filter(|name| name != "help").collect()
}

/// The help text of a command, as wide as where there is no terminal.
pub(super) fn help(command: &[&str]) -> String {
    printed(&[command, &["--help"]].concat())
}

/// All that a command says of itself.
pub(super) fn whole_help(command: &[&str]) -> String {
    printed(&[&["help"], command].concat()).lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn printed(arguments: &[&str]) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_kubebench"));
    let output = program.args(arguments).env_remove("COLUMNS").output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// The options that a help text lists, and those only: each begins its line.
fn options(help: &str) -> BTreeSet<String> {
    let begins = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    begins.flat_map(words).collect()
}

/// The long options in a line, up to where what they mean begins.
fn words(line: &str) -> Vec<String> {
    let line = line.split("   ").next().unwrap_or_default();
    let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
    let words = line.split(|c: char| !is_part(c)).filter(|word| word.starts_with("--") && word.len() > 2);
    words.map(|word| word.trim_end_matches('-').to_owned()).collect()
}

/// What users read, by name.
fn documents() -> Vec<(String, String)> {
    let root = repository();
    let pages = files_below(&root.join("docs")).into_iter();
    // Decisions are of their day.
    let is_page = |path: &PathBuf| {
        path.extension().is_some_and(|end| end == "md") && !path.starts_with(root.join("docs/decisions"))
    };
    let pages = pages.filter(is_page);
    pages
        .chain(["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root.join(name)))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn documents_name_no_option_that_there_is_not() {
    let commands = commands();
    let mut seen = 0;
    for (path, text) in documents() {
        for call in
            text.split("kubebench ").skip(1).map(|rest| rest.split(['`', '\n', '#', '|']).next().unwrap_or_default())
        {
            let mut parts = call.split_whitespace().skip_while(|word| word.starts_with('-'));
            let Some(options) = parts.next().and_then(|command| commands.get(command)) else { continue };
            for option in call.split_whitespace().filter(|word| word.starts_with("--")).flat_map(words) {
                seen += 1;
                assert!(options.contains(&option), "{path}: `kubebench {call}`: there is no {option}");
            }
        }
    }
    assert!(seen > 20, "{seen}");
}
