//! The wire types of the statement that is signed beside a result, version 1: an in-toto Statement
//! (<https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md>).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::result::v1::Image;
use crate::schema::generate_answer;

/// The type of a statement.
pub const STATEMENT: &str = "https://in-toto.io/Statement/v1";
/// The type of what it says.
pub const PREDICATE: &str = "https://kubebench.dev/result/v1";
/// The committed schema.
pub const ATTESTATION_FILE: &str = "attestation.v1.json";

/// Returns the schema of this format.
pub fn schema() -> Json {
    generate_answer::<Statement>(ATTESTATION_FILE, "Attestation")
}

/// The committed schema of what `verify` answers.
pub const VERIFY_FILE: &str = "verify.v1.json";

/// Returns the schema of what `verify` answers.
pub fn verify_schema() -> Json {
    generate_answer::<Verified>(VERIFY_FILE, "Verify")
}

/// The recorder's statement about a result; unknown fields are ignored, as in-toto demands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Statement {
    /// `https://in-toto.io/Statement/v1`
    #[serde(rename = "_type")]
    #[schemars(extend("enum" = ["https://in-toto.io/Statement/v1"]))]
    pub statement_type: String,
    /// The file of the result, and nothing else.
    #[schemars(length(min = 1, max = 1))]
    pub subject: Vec<Subject>,
    /// `https://kubebench.dev/result/v1`
    #[schemars(extend("enum" = ["https://kubebench.dev/result/v1"]))]
    pub predicate_type: String,
    /// Where it was measured.
    pub predicate: Predicate,
}

/// A file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Subject {
    /// Its path below the folder of results: `<benchmark>/<case>/<file>.json`.
    pub name: String,
    /// The digest of its bytes.
    pub digest: FileDigest,
}

/// The digest of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileDigest {
    /// 64 hex digits.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: String,
}

/// Where a result was measured, as the last step of its Workflow saw it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Predicate {
    /// The digest of the spec's text.
    pub spec_digest: String,
    /// The identity of what was executed.
    pub run_digest: String,
    /// The images that ran, by role.
    pub images: Vec<Image>,
    /// The uid of the Workflow that ran it.
    pub workflow_uid: String,
    /// The cluster.
    pub cluster: String,
    /// The target.
    pub target: String,
    /// Whether the volume prevented jobs from writing where the result was.
    pub separated: bool,
}

/// Who recorded the results that were evaluated, where the project has keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signatures {
    /// How many of those that count are signed, by the name of the key.
    pub signed: BTreeMap<String, usize>,
    /// How many of those that count have no signature.
    pub unsigned: usize,
    /// How many of those that count have a signature that proves nothing.
    pub invalid: usize,
    /// How many do not count, since `requireSigned` asks for a signature that they lack.
    pub not_counted: usize,
}

/// What `kubebench verify` answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Verified {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// Each result, by path.
    pub results: Vec<VerifiedResult>,
    /// Files that were removed from the branch of recorded results, with the commit that removed each.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub removed: BTreeMap<String, String>,
}

/// Who recorded a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct VerifiedResult {
    /// Its file.
    pub path: String,
    /// Whether a key that counts has signed it.
    pub signature: VerifiedAs,
    /// The name of the key; null unless it is signed.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub key: Option<String>,
    /// Whether the volume prevented jobs from writing where the result was; null unless it is signed.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub separated: Option<bool>,
    /// Why the signature proves nothing, or the file is not a result; null otherwise.
    #[schemars(extend("x-kubebench-nullable" = true))]
    pub reason: Option<String>,
}

/// What is known of who recorded a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum VerifiedAs {
    /// A key that counts has signed it.
    Signed,
    /// It has no signature.
    Unsigned,
    /// It has a signature that proves nothing.
    Invalid,
    /// It is not a result.
    NoResult,
}
