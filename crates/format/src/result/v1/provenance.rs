//! What a run was made from: spec, commit and rules.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a run was made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Provenance {
    /// The spec's path below the project root.
    pub spec_path: String,
    /// SHA-256 of the spec's text with LF line ends.
    pub spec_digest: String,
    /// The identity of what was executed.
    pub run_digest: String,
    /// The identity of what the case executes, without its images, how often it runs and how it is measured: results of one
    /// workload may be compared whatever image ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload_digest: Option<String>,
    /// `spec.run`
    pub run: u32,
    /// The commit that was checked out; of a run in a cluster the one that brought it to the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether files differed from that commit: any that git tracks, except what Kubebench writes, and untracked ones next to the spec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dirty: Option<bool>,
    /// What that commit contains and changes, which identifies it after a squash or a rebase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<CommitContent>,
    /// SHA-256 of the rules that extracted metrics and checked the run.
    pub rules_digest: String,
    /// The version of the extraction rules: how text becomes numbers. 1 if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extraction: Option<u32>,
    /// Set when the metrics were read again from kept logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reparsed: Option<Reparsed>,
}

/// What a commit holds and changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CommitContent {
    /// Its tree.
    pub tree: String,
    /// The commit at which its branch left the default branch, if it is on another branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The change since then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<Patch>,
    /// The changes of each commit since then, the oldest first; none of a branch of more than 100 commits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub patches: Vec<Patch>,
}

/// What is changed, regardless of its place in the files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schemars(inline)]
pub struct Patch {
    /// The digest of the names of the files, first 16 digits: known without reading them.
    pub files: String,
    /// As `git patch-id --stable` names the change.
    pub id: String,
}

/// Marks a result whose metrics were read again from kept logs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Reparsed {
    /// The digest of the result that was rebuilt.
    pub of: String,
    /// The version of Kubebench that wrote it.
    pub original_version: String,
}
