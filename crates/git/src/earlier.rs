//! What precedes a commit: from it on, a project looks at regressions.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, anyhow};
use git2::{Commit, ErrorCode};

use super::history::hint;
use super::lineage::{Commits, ancestors_first};
use kubebench_syntax::unit::Beginning;

/// What precedes a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// Its ancestors, by their full names.
    pub commits: BTreeSet<String>,
    /// When it was written, in UTC.
    pub time: String,
}

impl Commits {
    /// Returns what precedes the commit of this tag or name; refuses what moves, as branches do.
    pub fn earlier_than(&self, name: &str) -> Result<Earlier> {
        let commit = self.fixed(name)?;
        let seconds = commit.author().when().seconds();
        let time = Beginning::at(seconds).with_context(|| format!("the commit `{name}` has no valid time"))?;
        let walk = ancestors_first(self.repository(), &[commit.id()]).context("cannot walk the history")?;
        let mut commits: BTreeSet<String> =
            walk.map(|id| id.map(|id| id.to_string())).collect::<Result<_, _>>().context("cannot walk the history")?;
        if self.cut_off()?.iter().any(|cut| commits.contains(cut)) {
            return Err(anyhow!("cannot determine which commits precede `{name}`{}", hint(self.repository())));
        }
        commits.remove(&commit.id().to_string());
        Ok(Earlier { commits, time: time.to_string() })
    }

    /// Returns the commit that a name means permanently.
    fn fixed(&self, name: &str) -> Result<Commit<'_>> {
        const SHORTEST: usize = 7;
        let repository = self.repository();
        if let Ok(tag) = repository.find_reference(&format!("refs/tags/{name}")) {
            return tag.peel_to_commit().with_context(|| format!("the tag `{name}` does not point to a commit"));
        }
        if self.is_branch(name) || name == "HEAD" {
            return Err(anyhow!("`{name}` moves with every commit: write a tag, a commit or a day"));
        }
        let is_hash = name.len() >= SHORTEST && name.bytes().all(|byte| byte.is_ascii_hexdigit());
        let found = is_hash.then(|| repository.revparse_single(name).and_then(|object| object.peel_to_commit()));
        match found {
            Some(Ok(commit)) => Ok(commit),
            Some(Err(error)) if error.code() == ErrorCode::Ambiguous => {
                Err(anyhow!("several commits or files of this repository begin with `{name}`: write more digits"))
            }
            Some(Err(_)) | None => Err(anyhow!(
                "this clone has no tag or commit `{name}`{}; fetch it (`git fetch --tags`), or write a day such as \
                 2026-01-31",
                hint(repository)
            )),
        }
    }
}
