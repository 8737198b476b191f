//! By which line a comment is found again, so that it is updated and not written twice.

use super::markdown::code_span;

/// The project that a comment is about, so that two projects of one repository each have their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subject {
    /// Its folder in the repository.
    pub folder: String,
    /// Its name, where it has a project file.
    pub name: Option<String>,
}

impl Subject {
    /// Says in a heading which project of its repository it is; nothing of the one at the top.
    pub fn of(&self) -> String {
        let folder = self.folder.trim_matches('/');
        if folder.is_empty() { String::new() } else { format!(" of {}", code_span(folder)) }
    }

    /// Returns the first line of a comment of a kind: `<!-- kubebench gate benchmarks/ml ml-benchmarks -->`.
    pub fn mark(&self, kind: &str) -> String {
        let name = self.name.as_deref().map_or_else(String::new, |name| encoded(name) + " ");
        self.mark_beginning(kind) + &name + "-->"
    }

    /// Returns what its comments of a kind begin with, whatever the project is called: `<!-- kubebench gate benchmarks/ml `.
    pub fn mark_beginning(&self, kind: &str) -> String {
        let folder = self.folder.trim_matches('/');
        let folder = if folder.is_empty() { "." } else { folder };
        format!("<!-- kubebench {kind} {} ", encoded(folder))
    }
}

/// Returns text that neither ends an HTML comment nor is more than one word.
fn encoded(text: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._/".contains(&byte);
    let mut made = String::with_capacity(text.len());
    for byte in text.bytes() {
        // No two dashes are adjacent, as where an HTML comment ends.
        if is_plain(byte) || byte == b'-' && !made.ends_with('-') {
            made.push(char::from(byte));
        } else {
            made.push_str(&format!("%{byte:02X}"));
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::Subject;

    fn mark(folder: &str, name: Option<&str>) -> String {
        Subject { folder: folder.to_owned(), name: name.map(str::to_owned) }.mark("gate")
    }

    #[test]
    fn projects_of_one_repository_have_marks_of_their_own() {
        assert_eq!(mark("", Some("ml-benchmarks")), "<!-- kubebench gate . ml-benchmarks -->");
        assert_eq!(mark("perf/net/", Some("net")), "<!-- kubebench gate perf/net net -->");
        assert_eq!(mark("perf/gpu/", None), "<!-- kubebench gate perf/gpu -->");
        assert_ne!(mark("a b", None), mark("a%20b", None));
    }

    #[test]
    fn no_folder_ends_the_comment() {
        for folder in
            ["a-->b", "a--!><script>", "\n# x", "--", "->", "a -- b", "<!--", "ö\u{202e}", "\"); rm -rf", "`x`"]
        {
            let mark = mark(folder, Some(folder));
            let inner = mark.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->")).unwrap();
            assert!(!inner.contains("--") && !inner.contains('>') && !inner.contains('<'), "{mark}");
            assert_eq!(inner.split(' ').count(), 4, "{mark}");
            assert!(mark.is_ascii() && mark.lines().count() == 1, "{mark}");
        }
    }
}
