//! Git's words without what they may hold of a secret, and without what a terminal would obey.

use kubebench_syntax::redact;
use kubebench_syntax::text::reorders;

/// Redacts texts: the secrets that it was given, and everything that is where secrets usually are.
#[derive(Clone, Default)]
pub(crate) struct Redactor {
    secrets: redact::Redactor,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redactor")
    }
}

impl Redactor {
    /// A redactor that also knows these values.
    pub(crate) fn knowing(secrets: impl IntoIterator<Item = String>) -> Self {
        let secrets: Vec<String> = secrets.into_iter().collect();
        Self { secrets: redact::Redactor::new(secrets.iter().map(String::as_str)) }
    }

    /// Returns `text` without secrets and control characters.
    pub(crate) fn clean(&self, text: &str) -> String {
        // Progress is written over itself with carriage returns.
        let lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).map(plain);
        self.secrets.text(&lines.collect::<Vec<_>>().join("\n")).into_owned()
    }
}

/// Returns a line without characters that a terminal obeys, or that show it in another order than it has.
fn plain(line: &str) -> String {
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !reorders(*c)).collect()
}
