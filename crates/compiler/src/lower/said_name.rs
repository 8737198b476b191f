//! The name in a document with errors, so that references to it are not reported.

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{self, Node};

/// Returns `metadata.name` of a document that cannot be read, or not all of it.
pub(crate) fn said_name(id: SourceId, source: &Source) -> Option<String> {
    if let Some(root) = yaml::read(id, source).root {
        return root.get("metadata")?.get("name").and_then(Node::as_text).map(str::to_owned);
    }
    let after = source.text.split("metadata:").nth(1)?.split("name:").nth(1)?;
    let is_of_name = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
    let name: String =
        after.trim_start_matches([' ', '"', '\'']).chars().take_while(|letter| is_of_name(*letter)).collect();
    Some(name).filter(|name| !name.is_empty())
}
