//! Where a comment leads.

use super::super::model::Line;

/// Addresses of what a comment mentions, as far as they are known.
pub trait Addresses {
    /// Returns that of the first page of the site.
    fn site(&self) -> Option<String>;
    /// Returns that of the site's page of a benchmark.
    fn benchmark(&self, benchmark: &str) -> Option<String>;
    /// Returns that of the site's page of a case.
    fn case(&self, benchmark: &str, case: &str) -> Option<String>;
    /// Returns that of a commit.
    fn commit(&self, commit: &str) -> Option<String>;
    /// Returns that of the range between two commits.
    fn range(&self, after: &str, commit: &str) -> Option<String>;
    /// Returns that of a result file, by its path below the results folder.
    fn result(&self, path: &str) -> Option<String>;
}

/// Nothing is known.
#[derive(Clone, Copy, Debug)]
pub struct NoAddresses;

impl Addresses for NoAddresses {
    fn site(&self) -> Option<String> {
        None
    }

    fn benchmark(&self, _: &str) -> Option<String> {
        None
    }

    fn case(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn commit(&self, _: &str) -> Option<String> {
        None
    }

    fn range(&self, _: &str, _: &str) -> Option<String> {
        None
    }

    fn result(&self, _: &str) -> Option<String> {
        None
    }
}

/// Returns whether the site, which is made of the default branch, has pages of the case of a line.
pub(super) fn is_on_site(line: &Line) -> bool {
    !line.baseline.sessions.is_empty() || line.open.is_some()
}

/// Returns Markdown that leads to an address; without one that Markdown takes for nothing else, the text alone. The text is Markdown
/// already.
pub(super) fn linked(text: &str, address: Option<String>) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:/?#@+,;=%".contains(&byte);
    let is_web = |address: &String| address.starts_with("https://") || address.starts_with("http://");
    match address.filter(|address| is_web(address) && address.bytes().all(is_plain)) {
        Some(address) => format!("[{text}]({address})"),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::linked;

    #[test]
    fn only_an_address_is_linked() {
        assert_eq!(linked("a", Some("https://h.example/x/#y".to_owned())), "[a](https://h.example/x/#y)");
        for wrong in [
            "javascript:alert(1)",
            "https://h.example/a b",
            "https://h.example/)x(",
            "https://h/<b>",
            "https://h/\\",
            "",
        ] {
            assert_eq!(linked("a", Some(wrong.to_owned())), "a", "{wrong}");
        }
        assert_eq!(linked("a", None), "a");
    }
}
