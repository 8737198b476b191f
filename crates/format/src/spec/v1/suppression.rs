//! A lint that a spec or a target does without.

use schemars::JsonSchema;
use serde::Deserialize;

use super::scalar::Text;

/// A lint that is not reported here, and why.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suppression {
    /// What happens to its warnings. Errors cannot be suppressed.
    #[schemars(extend("examples" = ["allow"]))]
    pub level: SuppressionLevel,
    /// Why it does not apply here, for the reviewer.
    #[schemars(extend("format" = "sentence", "examples" = ["Kueue of this cluster lists PyTorchJob among its integrations"]))]
    pub reason: Text,
}

/// What happens to the warnings of a lint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum SuppressionLevel {
    /// They are not reported.
    Allow,
}
