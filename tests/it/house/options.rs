//! The commands and their options: all are documented, and the documents name no others.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use crate::support::project::repository;

/// The options of every command by name, with the command's own first.
fn commands() -> BTreeMap<String, BTreeSet<String>> {
    let top = help(&[]);
    let (_, list) = top.split_once("Commands:\n").unwrap();
    let list = list
        .lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && line.as_bytes()[2] != b' ');
    let names = list.map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help");
    names.map(|name| (name.to_owned(), options(&help(&[name])))).collect()
}

fn help(command: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_kubebench")).args(command).arg("--help").output().unwrap();
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
    let folders = ["docs", "docs/codes"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let pages = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|end| end == "md"));
    pages
        .chain(["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| root.join(name)))
        .map(|path| (path.display().to_string(), fs::read_to_string(&path).unwrap()))
        .collect()
}

#[test]
fn every_command_and_option_is_documented() {
    let page = fs::read_to_string(repository().join("docs/reference/commands.md")).unwrap();
    let table = page.split("\n## ").next().unwrap();
    let all: String = documents().into_iter().map(|(_, text)| text).collect();
    let known: BTreeSet<String> = words(&all.replace(['\n', ' '], "|")).into_iter().collect();
    for (command, options) in commands() {
        let is_listed = table.contains(&format!("`{command}")) && table.contains("kubebench help COMMAND");
        assert!(is_listed, "docs/reference/commands.md: `{command}` is not in the table");
        for option in options.iter().filter(|option| *option != "--help") {
            assert!(known.contains(option), "`{command} {option}` is documented nowhere");
        }
    }
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
