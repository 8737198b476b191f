//! The hooks of a project in the configuration of pre-commit, where a repository has one.

use anyhow::Result;
use serde_json::Value;

use super::entry::{Entry, value_of};
use super::place::Repository;
use super::script::VERSION;
use super::yaml::quoted;

pub(super) const PATH: &str = ".pre-commit-config.yaml";

const HOOKS: [&str; 3] = ["kubebench-fmt", "kubebench-validate", "kubebench-compile-check"];

/// Returns what the configuration should have; nothing where there is no configuration, or it has hooks for this project.
pub(super) fn lacking(repository: &Repository) -> Result<Option<Entry>> {
    let Some(text) = repository.top.read(PATH)? else { return Ok(None) };
    let has = value_of(&text).is_some_and(|config| has_hooks(&config, repository));
    let item = entry(repository);
    Ok((!has).then(|| Entry::Item { key: "repos", mark: item.clone(), item }))
}

fn has_hooks(config: &Value, repository: &Repository) -> bool {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let hooks: Vec<Value> = list(&config["repos"]).iter().flat_map(|repo| list(&repo["hooks"])).collect();
    hooks.iter().filter(|hook| hook["id"].as_str().is_some_and(|id| id.starts_with("kubebench-"))).any(|hook| {
        let words = list(&hook["args"]);
        let folder = words.windows(2).find(|pair| pair.first().is_some_and(|option| option == "-C"));
        let folder = folder.and_then(|pair| pair.last()?.as_str()).unwrap_or(".");
        folder.trim_end_matches('/') == repository.project()
    })
}

fn entry(repository: &Repository) -> String {
    let options = if repository.folder.is_empty() {
        String::new()
    } else {
        let files = quoted(&format!("^{}", literal(&repository.folder)));
        format!("      args: [-C, {}]\n      files: {files}\n", quoted(repository.project()))
    };
    let hooks: String = HOOKS.iter().map(|id| format!("    - id: {id}\n{options}")).collect();
    format!("- repo: {}\n  rev: v{VERSION}\n  hooks:\n{hooks}", env!("CARGO_PKG_REPOSITORY"))
}

/// Returns a regular expression of Python that fits `text` alone.
fn literal(text: &str) -> String {
    let escaped = |letter: char| match letter {
        '/' | '_' | '-' => letter.to_string(),
        _ if letter.is_alphanumeric() => letter.to_string(),
        _ => format!("\\{letter}"),
    };
    text.chars().map(escaped).collect()
}
