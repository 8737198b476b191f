//! What a commit or the index holds at some paths.

use std::collections::BTreeMap;

use crate::program::Git;
use crate::record::NotRecorded;

/// How many paths one call of git is given.
const BATCH: usize = 250;

/// Object ids by path.
#[derive(Default)]
pub(super) struct Tree(BTreeMap<String, String>);

impl Tree {
    /// Returns what the commit `head` holds at `paths`.
    pub(super) fn committed(git: &Git, head: Option<&str>, paths: &[&str]) -> Result<Self, NotRecorded> {
        let Some(head) = head else { return Ok(Self::default()) };
        // `<mode> <type> <id>\t<path>`
        Self::read(git, &["ls-tree", "-z", "--full-tree", head], paths, 2)
    }

    /// Returns what the index holds at `paths`.
    pub(super) fn staged(git: &Git, paths: &[&str]) -> Result<Self, NotRecorded> {
        // `<mode> <id> <stage>\t<path>`
        Self::read(git, &["ls-files", "-z", "--stage"], paths, 1)
    }

    /// Returns the object at `path`.
    pub(super) fn blob(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    fn read(git: &Git, command: &[&str], paths: &[&str], column: usize) -> Result<Self, NotRecorded> {
        let mut found = BTreeMap::new();
        for batch in paths.chunks(BATCH) {
            let answer = git.ask(&[command, &["--"], batch].concat())?;
            if !answer.succeeded {
                let words = answer.words.replace('\n', "; ");
                return Err(NotRecorded::try_again(format!("git cannot read the repository: {words}")));
            }
            for line in answer.text().split('\0') {
                let Some((facts, path)) = line.split_once('\t') else { continue };
                let id = facts
                    .split(' ')
                    .nth(column)
                    .ok_or_else(|| NotRecorded::try_again(format!("git lists `{path}` in an unknown form: {facts}")))?;
                found.insert(path.to_owned(), id.to_owned());
            }
        }
        Ok(Self(found))
    }
}
