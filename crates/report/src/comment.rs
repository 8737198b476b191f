//! What comments of pull requests lead to: pages of the published site, commits and recorded results.

use std::collections::BTreeSet;

use super::links::Links;
use super::paths;
use kubebench_results::compare::render::Addresses;

/// Where the site is published, and where commits and results are shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommentLinks {
    /// The address of the site, without a slash at the end.
    pub site: Option<String>,
    /// Where the repository is shown.
    pub links: Links,
    /// The result files that are on the branch to which `links` lead, by their paths.
    pub recorded: BTreeSet<String>,
}

impl CommentLinks {
    fn page(&self, path: &str) -> Option<String> {
        self.site.as_ref().map(|site| format!("{site}/{path}"))
    }
}

impl Addresses for CommentLinks {
    fn site(&self) -> Option<String> {
        self.page(paths::OVERVIEW)
    }

    fn benchmark(&self, benchmark: &str) -> Option<String> {
        self.page(&paths::benchmark(benchmark))
    }

    fn case(&self, benchmark: &str, case: &str) -> Option<String> {
        self.page(&paths::case(benchmark, case, 1))
    }

    fn commit(&self, commit: &str) -> Option<String> {
        self.links.commit(commit)
    }

    fn range(&self, after: &str, commit: &str) -> Option<String> {
        self.links.range(after, commit)
    }

    fn result(&self, path: &str) -> Option<String> {
        self.recorded.contains(path).then(|| self.links.result(path)).flatten()
    }
}
