//! The site of the documentation: every page is on it, no link leaves it by accident, and a browser finds what one searches.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use super::docs::{documents, links, text_of};
use crate::support::judges::oracle;
use crate::support::project::repository;

/// The most words of what is written by hand. It falls, and never rises.
const WORDS: usize = 25_000;
/// What a page begins with that a test writes, and what is before a table that one does.
const GENERATED: [&str; 2] = ["<!-- generated", "<!-- table of the program -->"];
/// Decisions are for those who change Kubebench, and stay in the repository.
const APART: &str = "decisions/";

/// Where files of the repository are that are on no page.
const ON_GITHUB: &str = "](https://github.com/kubebench/kubebench/";

/// The pages by path below `docs/`, but the table of contents.
fn pages() -> Vec<(String, String)> {
    let below =
        |document: PathBuf| Some((document.strip_prefix("docs").ok()?.to_str()?.to_owned(), text_of(&document)));
    let pages = documents().into_iter().filter_map(below);
    pages.filter(|(path, _)| !path.starts_with(APART) && path != "SUMMARY.md").collect()
}

#[test]
fn every_page_is_in_the_table_of_contents_by_its_title() {
    let contents = fs::read_to_string(repository().join("docs/SUMMARY.md")).unwrap();
    let listed =
        contents.lines().filter_map(|line| line.trim_start_matches(['-', ' ']).strip_prefix('[')?.split_once("]("));
    let mut listed: Vec<(&str, &str)> = listed.map(|(title, path)| (path.trim_end_matches(')'), title)).collect();
    listed.sort_unstable();
    let pages = pages();
    let titled =
        pages.iter().map(|(path, text)| (path.as_str(), text.lines().next().unwrap().trim_start_matches("# ")));
    let mut titled: Vec<(&str, &str)> = titled.collect();
    titled.sort_unstable();
    assert_eq!(listed, titled);
}

/// GitHub shows a page among all files of the repository; the site has those of `docs/`.
#[test]
fn links_between_pages_work_on_the_site_too() {
    let mut leaving = Vec::new();
    for (path, text) in pages() {
        for address in text.split(ON_GITHUB).skip(1) {
            let address = address.split([')', '#', '>']).next().unwrap();
            let (_, file) = address.split_once("/main/").unwrap_or(("", address));
            if !repository().join(file).exists() {
                leaving.push(format!("docs/{path}: {ON_GITHUB}{address}: there is no {file}"));
            }
        }
        let files = links(&text).map(|target| target.split('#').next().unwrap()).filter(|path| !path.is_empty());
        for link in files {
            let target = resolved(Path::new(&path).parent().unwrap(), link);
            if target.as_deref().is_none_or(|target| target.starts_with(APART)) {
                leaving.push(format!("docs/{path}: {link}: write its address on GitHub"));
            }
        }
    }
    assert!(leaving.is_empty(), "{leaving:#?}");
}

/// The path of a link below `docs/`; none where it leaves that.
fn resolved(folder: &Path, link: &str) -> Option<PathBuf> {
    let mut found = folder.to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::ParentDir => found.pop().then_some(())?,
            other => found.push(other),
        }
    }
    Some(found)
}

#[test]
fn pages_are_short() {
    let mut long = Vec::new();
    let mut words = 0;
    for (path, text) in pages() {
        if text.contains(GENERATED[0]) || ["codes/", "catalog/"].iter().any(|part| path.starts_with(part)) {
            continue;
        }
        let mut is_generated = false;
        let limit = if path.starts_with("tutorial/") || path.starts_with("how-to/") { 400 } else { 600 };
        for paragraph in paragraphs(&text) {
            is_generated = paragraph == GENERATED[1] || is_generated && paragraph.starts_with('|');
            let is_word = |word: &&str| word.contains(char::is_alphanumeric);
            words += if is_generated { 0 } else { paragraph.split_whitespace().filter(is_word).count() };
            let length = paragraph.chars().count();
            if length > limit && !paragraph.starts_with('|') {
                long.push(format!("docs/{path}: a paragraph of {length} characters: {}", &paragraph[..40]));
            }
        }
    }
    assert!(long.is_empty(), "{long:#?}");
    assert!(words <= WORDS, "{words} words");
}

/// The paragraphs, items of lists and tables of a page, without its blocks.
fn paragraphs(text: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut is_block = false;
    for line in text.lines() {
        let line = line.trim_start();
        let is_numbered = line.split_once(". ").is_some_and(|(number, _)| number.parse::<u32>().is_ok());
        let begins = is_numbered || ["- ", "* ", "#", "|"].iter().any(|sign| line.starts_with(sign));
        if line.starts_with("```") {
            is_block = !is_block;
        } else if is_block {
        } else if line.is_empty() || begins {
            found.push(line.to_owned());
        } else if let Some(last) = found.last_mut() {
            last.push(' ');
            last.push_str(line);
        }
    }
    found.into_iter().map(|paragraph| paragraph.trim().to_owned()).filter(|paragraph| !paragraph.is_empty()).collect()
}

#[test]
fn oracle_browser_finds_what_one_searches() {
    let test = "oracle_browser_finds_what_one_searches";
    let judges = ["mdbook", "node", "chromium", "playwright-core"].map(|name| oracle(test, name));
    let [Some(mdbook), Some(node), Some(chromium), Some(wrapper)] = judges else { return };
    let place = tempfile::tempdir().unwrap();
    let book = place.path().join("book");
    let output =
        Command::new(mdbook).arg("build").arg("--dest-dir").arg(&book).current_dir(repository()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !said.contains("WARN"), "{said}");
    let asked = serde_json::json!({
        "book": book,
        "chromium": chromium,
        "modules": fs::read_to_string(wrapper).unwrap().trim(),
        // What people type, and the page that answers it.
        "searches": [
            ["KB0455", "codes/KB0455.html"],
            ["accept regression", "how-to/accept-a-regression.html"],
            ["openshift", "how-to/openshift.html"],
            ["exit status", "reference/exit-status.html"],
            ["prediction interval", "explanation/statistics.html"],
            ["maxRegression", "reference/gate.html"],
        ],
    });
    let mut command = Command::new(node);
    let output = command.arg(repository().join("tests/browser/book.mjs")).arg(asked.to_string()).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let answer: serde_json::Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert_eq!(answer["faults"], serde_json::json!([]), "{said}");
    let pages: BTreeSet<String> = pages().into_iter().map(|(path, _)| path).collect();
    assert_eq!(answer["pages"].as_u64(), Some(pages.len() as u64));
}
