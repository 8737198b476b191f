//! The hooks in the configuration of pre-commit, where a repository has one. They find every project of the repository by themselves.

use super::entry::Entry;
use super::script::VERSION;

pub(super) const PATH: &str = ".pre-commit-config.yaml";

const HOOKS: [&str; 3] = ["kubebench-fmt", "kubebench-validate", "kubebench-compile-check"];

/// Returns what a configuration should have: the hooks of this version. One with hooks of another version has them.
pub(super) fn hooks() -> Entry {
    let hooks: String = HOOKS.iter().map(|id| format!("    - id: {id}\n")).collect();
    let item = format!("- repo: {}\n  rev: v{VERSION}\n  hooks:\n{hooks}", env!("CARGO_PKG_REPOSITORY"));
    Entry::Item { key: "repos", item, mark: "id: kubebench-".to_owned() }
}
