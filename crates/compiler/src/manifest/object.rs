//! Objects put together from their parts. `serde_json`'s `json!` copies every part that is JSON already, however deep.

use serde_json::Value as Json;

/// Returns the object with these fields.
pub(super) fn object<'a>(fields: impl IntoIterator<Item = (&'a str, Json)>) -> Json {
    Json::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
