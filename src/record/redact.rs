//! Git's words without what they may hold of a secret, and without what a terminal would obey.

/// What stands for a secret.
const MASK: &str = "***";
/// Headers whose values are credentials.
const HEADERS: [&str; 6] = ["authorization:", "private-token:", "job-token:", "x-api-key:", "cookie:", "extraheader"];
/// Shorter values are not searched for: they would be found everywhere.
const SHORTEST: usize = 4;
/// A user name from here on is a token.
const TOKEN_LENGTH: usize = 20;

/// Takes secrets out of texts: those that it was told, and everything that stands where secrets stand.
#[derive(Clone, Default)]
pub struct Redactor {
    secrets: Vec<String>,
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Redactor({} secrets)", self.secrets.len())
    }
}

impl Redactor {
    /// A redactor that also knows these values.
    pub fn knowing(secrets: impl IntoIterator<Item = String>) -> Self {
        let mut secrets: Vec<String> = secrets.into_iter().filter(|secret| secret.len() >= SHORTEST).collect();
        // The longest first, or a part of one would be left beside the mask of another.
        secrets.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        Self { secrets }
    }

    /// Returns `text` without secrets and control characters.
    pub fn clean(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), MASK);
        }
        // Progress is written over itself with carriage returns.
        let lines = text.split(['\n', '\r']).filter(|line| !line.trim().is_empty()).map(clean_line);
        lines.collect::<Vec<_>>().join("\n")
    }
}

fn clean_line(line: &str) -> String {
    let line: String = line.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !reorders(*c)).collect();
    let lower = line.to_ascii_lowercase();
    let header = HEADERS.iter().filter_map(|name| lower.find(name).map(|at| at + name.len())).min();
    match header.and_then(|end| line.get(..end)) {
        Some(kept) => format!("{} {MASK}", without_urls(kept)),
        None => without_urls(&line),
    }
}

/// Characters that show a text in another order than it has.
fn reorders(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Masks userinfo and queries of every URL in `text`.
fn without_urls(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("://") {
        cleaned.push_str(before);
        cleaned.push_str("://");
        let end =
            after.find(|c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '<' | '>')).unwrap_or(after.len());
        let (url, tail) = after.split_at_checked(end).unwrap_or((after, ""));
        let start_of_path = url.find(['/', '?', '#']).unwrap_or(url.len());
        let (authority, path) = url.split_at_checked(start_of_path).unwrap_or((url, ""));
        match authority.rsplit_once('@') {
            Some((user, host)) if user.contains(':') || user.len() >= TOKEN_LENGTH => {
                cleaned.push_str(&format!("{MASK}@{host}"));
            }
            _ => cleaned.push_str(authority),
        }
        match path.split_once('?') {
            Some((path, _)) => cleaned.push_str(&format!("{path}?{MASK}")),
            None => cleaned.push_str(path),
        }
        rest = tail;
    }
    cleaned.push_str(rest);
    cleaned
}
