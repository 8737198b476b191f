//! Links to what is outside of the site: commits, specs and result files, where it is configured where those are shown.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

/// What a path may hold without being written as `%XX`.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');

/// Where a repository is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    /// Its address without a slash at the end; nothing where it is unknown.
    repository: Option<String>,
    /// The branch of the specs.
    branch: String,
    /// The branch of the results.
    recorded_on: String,
    /// The project's folder in the repository: empty, or ending in a slash.
    folder: String,
    /// The folder of the results in the repository.
    results: String,
}

impl Links {
    /// Takes the address of a repository, if it is one that a page may link to; specs lie on `branch` below the project's `folder`.
    pub fn to(repository: Option<&str>, branch: &str, folder: &str) -> Self {
        let repository = repository.and_then(shown_at);
        let (branch, folder) = (branch.to_owned(), folder.to_owned());
        Self { repository, recorded_on: branch.clone(), branch, folder, results: String::new() }
    }

    /// Says where the results lie: on which branch, and in which folder of the repository.
    #[must_use]
    pub fn with_results(self, recorded_on: &str, results: &str) -> Self {
        Self { recorded_on: recorded_on.to_owned(), results: results.trim_matches('/').to_owned(), ..self }
    }

    /// Returns where the repository is shown.
    pub fn repository(&self) -> Option<&str> {
        self.repository.as_deref()
    }

    /// Returns where a commit is shown.
    pub(crate) fn commit(&self, commit: &str) -> Option<String> {
        is_commit(commit).then(|| self.at("commit", commit)).flatten()
    }

    /// Returns where the difference between two commits is shown.
    pub(crate) fn range(&self, after: &str, commit: &str) -> Option<String> {
        (is_commit(after) && is_commit(commit)).then(|| self.at("compare", &format!("{after}...{commit}"))).flatten()
    }

    /// Returns where a spec is shown as it was at a commit.
    pub(crate) fn spec(&self, commit: Option<&str>, path: &str) -> Option<String> {
        let is_odd = |part: &str| matches!(part, "" | "." | "..");
        if path.split('/').any(is_odd) {
            return None;
        }
        let revision = commit.filter(|commit| is_commit(commit)).unwrap_or(&self.branch);
        self.at("blob", &format!("{}/{}{}", encoded(revision), encoded(&self.folder), encoded(path)))
    }

    /// Returns where a result file is shown, by its path below the results folder.
    pub(crate) fn result(&self, path: &str) -> Option<String> {
        self.at("blob", &format!("{}/{}/{}", encoded(&self.recorded_on), encoded(&self.results), encoded(path)))
    }

    fn at(&self, what: &str, rest: &str) -> Option<String> {
        let repository = self.repository.as_deref()?;
        // GitLab puts a dash between a project and its pages; the others do as GitHub does.
        let host = repository.split('/').nth(2).unwrap_or_default();
        let dash = if host.contains("gitlab") { "/-" } else { "" };
        Some(format!("{repository}{dash}/{what}/{rest}"))
    }
}

fn encoded(path: &str) -> String {
    utf8_percent_encode(path, PATH).to_string()
}

fn is_commit(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns where people look at the repository that git knows by this address, without the credentials in it.
fn shown_at(address: &str) -> Option<String> {
    let web = match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => {
            let scheme = if address.starts_with("http:") { "http" } else { "https" };
            let is_web = address.starts_with("http");
            let (host, path) = rest.split_once('/')?;
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            // The port of SSH is not that of the pages.
            let host = if is_web { host } else { host.split(':').next()? };
            format!("{scheme}://{host}/{path}")
        }
        Some(_) => return None,
        None => {
            let (host, path) = address.split_once(':')?;
            let host = host.rsplit_once('@').map_or(host, |(_, host)| host);
            format!("https://{host}/{}", path.trim_start_matches('/'))
        }
    };
    let web = web.trim_end_matches('/').trim_end_matches(".git").to_owned();
    let is_fit = |letter: char| letter.is_ascii_alphanumeric() || "-._~/:%+".contains(letter);
    let host = web.split('/').nth(2).unwrap_or_default();
    (web.chars().all(is_fit) && host.contains('.') && !host.starts_with('.')).then_some(web)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(address: &str) -> String {
        shown_at(address).unwrap_or_default()
    }

    #[test]
    fn addresses_of_git_become_those_of_pages() {
        assert_eq!(shown("https://github.com/team/benchmarks.git"), "https://github.com/team/benchmarks");
        assert_eq!(shown("git@github.com:team/benchmarks.git"), "https://github.com/team/benchmarks");
        assert_eq!(shown("ssh://git@gitlab.example.com:2222/a/b/c.git"), "https://gitlab.example.com/a/b/c");
        assert_eq!(shown("https://user:secret@github.com/team/x/"), "https://github.com/team/x");
        for wrong in
            ["/srv/git/x.git", "file:///srv/x", "javascript:alert(1)//a.b/c", "https://a.b/\"onload=x", "x", ""]
        {
            assert_eq!(shown(wrong), "", "{wrong}");
        }
    }

    #[test]
    fn links_hold_nothing_that_ends_them() {
        let links = Links::to(Some("git@github.com:team/b.git"), "main", "").with_results("main", "results/");
        let result = links.result("a/b \"c\"<d>.json").unwrap();
        assert_eq!(result, "https://github.com/team/b/blob/main/results/a/b%20%22c%22%3Cd%3E.json");
        assert_eq!(links.commit("0e2887728d7b"), Some("https://github.com/team/b/commit/0e2887728d7b".to_owned()));
        assert_eq!(links.commit("\"><script>"), None);
        let gitlab = Links::to(Some("https://gitlab.com/t/b"), "main", "perf/");
        let gitlab = gitlab.with_results("kubebench/results", "results");
        assert_eq!(gitlab.spec(None, "specs/x.yaml").unwrap(), "https://gitlab.com/t/b/-/blob/main/perf/specs/x.yaml");
        assert_eq!(gitlab.result("x.json").unwrap(), "https://gitlab.com/t/b/-/blob/kubebench/results/results/x.json");
        assert_eq!(Links::default().result("a"), None);
        assert_eq!(links.spec(None, "../../../evil/phish"), None);
    }
}
