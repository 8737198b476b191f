//! `kubebench new`: the catalogue of ready benchmarks, each of which compiles as it is written.

use std::collections::BTreeMap;

use kubebench::app::catalog::{ENTRIES, Entry};
use kubebench_testing::snapshot::{assert_line, str};
use serde_json::Value;

use crate::support::judges::validate;
use crate::support::project::{Folder, assert_yes, repository};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {}\n";
/// The longest page, without blocks.
const WORDS: usize = 250;

fn said(folder: &Folder, arguments: &[&str]) -> (Option<i32>, String) {
    let output = folder.run(arguments);
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8(text).unwrap())
}

fn project() -> Folder {
    Folder::with([("kubebench.yaml", PROJECT)])
}

/// A project of all entries.
fn all() -> Folder {
    let folder = project();
    for entry in ENTRIES {
        assert_yes(&folder.run(&["new", entry.name]));
    }
    folder
}

#[test]
fn every_entry_is_written_whole_and_only_once() {
    let folder = all();
    for entry in ENTRIES {
        for (path, text) in entry.files {
            assert_eq!(std::fs::read_to_string(folder.path().join(path)).unwrap(), *text, "{path}");
        }
        let (status, text) = said(&folder, &["new", entry.name]);
        assert_eq!((status, text.contains("already exists and was not changed")), (Some(2), true), "{text}");
    }
    // Its files are there once for all benchmarks that start from one entry, and stay as a person left them.
    folder.write("scripts/stream-kernels.c", "edited");
    let (status, text) = said(&folder, &["new", "Stream", "node-memory"]);
    assert_eq!(status, Some(0), "{text}");
    assert_line(&text, str! {"left scripts/stream-kernels.c as it is"});
    assert_eq!(std::fs::read(folder.path().join("scripts/stream-kernels.c")).unwrap(), b"edited");
    assert!(
        std::fs::read_to_string(folder.path().join("specs/node-memory.yaml"))
            .unwrap()
            .contains("  name: node-memory\n")
    );
}

#[test]
fn every_entry_compiles_as_it_is() {
    let folder = all();
    let output = folder.run(&["validate", "--output-format", "json"]);
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let found = found["diagnostics"].as_array().unwrap().iter();
    let found: Vec<(&str, &str)> =
        found.map(|finding| (finding["code"].as_str().unwrap(), finding["path"].as_str().unwrap())).collect();
    // Only the deployer can open the way to a model on the internet, and has to know.
    assert_eq!(found, [("KB0467", "specs/sglang-serve.yaml"), ("KB0467", "specs/vllm-serve.yaml")]);
    assert_yes(&folder.run(&["fmt", "--check"]));
    assert_yes(&folder.run(&["compile"]));
    let before = folder.tree("generated");
    assert_yes(&folder.run(&["compile"]));
    assert!(before == folder.tree("generated"), "a second compilation changes nothing");
}

#[test]
fn oracle_crds_take_what_every_entry_creates() {
    let folder = all();
    let rendered = folder.run(&["render"]);
    assert_yes(&rendered);
    let objects: Vec<Value> = serde_yaml::from_multiple(std::str::from_utf8(&rendered.stdout).unwrap()).unwrap();
    let mut kinds = BTreeMap::new();
    for object in &objects {
        assert_eq!(validate(object), Vec::<String>::new(), "{object:#}");
        *kinds.entry(object["kind"].as_str().unwrap()).or_insert(0) += 1;
    }
    let expected = ["Deployment", "Job", "JobSet", "MPIJob", "PyTorchJob", "TrainJob"];
    assert!(expected.iter().all(|kind| kinds.contains_key(kind)), "{kinds:?}");
}

#[test]
fn what_is_not_there_is_named() {
    let folder = project();
    for (arguments, line) in [
        (
            vec!["new", "nccl-allreduce"],
            str! {"error: there is no workload kind or ready benchmark `nccl-allreduce`; did you mean `nccl-all-reduce`?"},
        ),
        (vec!["new", "jbo"], str! {"error: there is no workload kind or ready benchmark `jbo`; did you mean `job`?"}),
        (
            vec!["new", "pytorchJob"],
            str! {"error: the new pytorchJob has no name; write `kubebench new pytorchJob NAME`"},
        ),
        (vec!["new", "suite"], str! {"error: the new suite has no name; write `kubebench new suite NAME`"}),
        (vec!["explain", "catalog.fi"], str! {"error: there is no ready benchmark `fi`; did you mean `fio`?"}),
    ] {
        let (status, text) = said(&folder, &arguments);
        assert_eq!(status, Some(2), "{text}");
        assert_line(&text, line);
    }
}

#[test]
fn the_list_has_every_entry_and_explain_its_page() {
    let folder = Folder::with::<&str, &str>([]);
    let (status, listed) = said(&folder, &["new", "--list"]);
    assert_eq!(status, Some(0), "{listed}");
    for entry in ENTRIES {
        assert!(!entry.measures().is_empty(), "{}", entry.name);
        for part in [entry.name, entry.measures(), entry.needs] {
            assert!(listed.contains(part), "{part}");
        }
        assert_eq!(said(&folder, &["explain", &format!("catalog.{}", entry.name)]), (Some(0), entry.page.to_owned()));
    }
}

#[test]
fn every_entry_has_a_short_page_and_a_row() {
    let folder = repository().join("docs/catalog");
    let table = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let row = |entry: &Entry| format!("| [{0}]({0}.md) | {1} | {2} |", entry.name, entry.measures(), entry.needs);
    for entry in ENTRIES {
        assert!(entry.page.starts_with(&format!("# {}: ", entry.name)), "{}", entry.name);
        let headings = ["What it measures", "What good looks like", "What disturbs it", "How it was tried"];
        for heading in headings {
            assert!(entry.page.contains(&format!("\n## {heading}\n")), "{}: {heading}", entry.name);
        }
        let prose: String = entry.page.split("```").step_by(2).collect();
        let words = prose.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        assert!(words <= WORDS, "{}: {words} words", entry.name);
    }
    let rows: Vec<String> = ENTRIES.iter().map(row).collect();
    let written: Vec<&str> = table.lines().filter(|line| line.starts_with("| [")).collect();
    assert_eq!(written, rows);
    let pages = std::fs::read_dir(folder).unwrap().count();
    assert_eq!(pages, ENTRIES.len() + 1, "a page of no entry");
    let names: Vec<&str> = ENTRIES.iter().map(|entry| entry.name).collect();
    assert!(names.is_sorted(), "{names:?}");
    let folders = std::fs::read_dir(repository().join("catalog")).unwrap().count();
    assert_eq!(folders, ENTRIES.len(), "a folder of no entry");
}
