//! Who records: the author that git's configuration names, and the settings of the user's repository that a push needs.

use std::path::Path;

use super::program::Git;
use crate::record::{NotRecorded, Signing};

/// The author of commits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) name: String,
    pub(super) email: String,
    /// Whether git has no author.
    pub(super) is_fallback: bool,
}

impl Identity {
    /// Returns the note for people when git has no author.
    pub(super) fn note(&self) -> Option<String> {
        self.is_fallback
            .then(|| format!("git has no `user.name` and `user.email`: the author is `{} <{}>`", self.name, self.email))
    }

    /// Returns `git` with the variables that name this author, at `when`.
    pub(super) fn given_to(&self, git: &Git, when: i64) -> Git {
        let date = format!("{when} +0000");
        ["AUTHOR", "COMMITTER"].into_iter().fold(git.clone(), |git, role| {
            git.with_variable(&format!("GIT_{role}_NAME"), &self.name)
                .with_variable(&format!("GIT_{role}_EMAIL"), &self.email)
                .with_variable(&format!("GIT_{role}_DATE"), &date)
        })
    }
}

/// Git's configuration as it holds in a folder.
pub(super) struct Configuration {
    /// Scope, key in lower case but for its middle part, value.
    entries: Vec<(String, String, String)>,
    /// Why the folder's repository says nothing here, where it says nothing.
    outside: Option<String>,
}

/// Sections and keys of a repository's own configuration that hold for its remotes and authors, wherever objects are built.
const CARRIED: [&str; 12] = [
    "author.",
    "committer.",
    "core.askpass",
    "core.gitproxy",
    "core.sshcommand",
    "credential.",
    "gpg.",
    "http.",
    "ssh.",
    "url.",
    "user.",
    "i18n.",
];

impl Configuration {
    /// Reads the configuration that holds in `folder`.
    pub(super) fn read(git: &Git, folder: &Path) -> Result<Self, NotRecorded> {
        let outside = repository(git, folder)?;
        let answer = git.at(folder).ask(&["config", "--list", "--includes", "--show-scope", "-z"])?;
        if !answer.succeeded {
            return Err(NotRecorded::try_again(format!("cannot read git's configuration: {}", answer.words)));
        }
        let text = String::from_utf8_lossy(&answer.output);
        let mut parts = text.split('\0');
        let mut entries = Vec::new();
        while let (Some(scope), Some(entry)) = (parts.next(), parts.next()) {
            // A key alone, as in `[commit] gpgSign`, is true.
            let (key, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            entries.push((scope.to_owned(), key.to_owned(), value.to_owned()));
        }
        Ok(Self { entries, outside })
    }

    /// Returns why nothing of a repository is known: there is none, or git does not trust it.
    pub(super) fn outside(&self) -> Option<&str> {
        self.outside.as_deref()
    }

    /// Returns true when the user's own configuration does not forbid the protocol `name`.
    pub(super) fn allows(&self, name: &str) -> bool {
        let of_name = self.get(&format!("protocol.{name}.allow"));
        of_name.or_else(|| self.get("protocol.allow")).is_none_or(|allowed| !allowed.eq_ignore_ascii_case("never"))
    }

    /// Returns the value of `key` that counts.
    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.entries.iter().rev().find(|(_, other, _)| other == key);
        found.map(|(_, _, value)| value.as_str()).filter(|value| !value.is_empty())
    }

    /// Returns the first address of the remote `name`, preferring the one that is pushed to.
    pub(super) fn remote(&self, name: &str) -> Option<&str> {
        let first =
            |key: String| self.entries.iter().find(|(_, other, _)| *other == key).map(|(_, _, url)| url.as_str());
        first(format!("remote.{name}.pushurl")).or_else(|| first(format!("remote.{name}.url")))
    }

    /// Returns `git` with those settings of the user's repository that a push from elsewhere needs, but those that begin with
    /// one of `replaced`.
    pub(super) fn carried_by(&self, git: Git, replaced: &[&str]) -> Git {
        let is_own = |scope: &str| scope == "local" || scope == "worktree";
        let begins = |key: &str, starts: &[&str]| starts.iter().any(|start| key.starts_with(start));
        let carried = |key: &str| begins(key, &CARRIED) && !begins(key, replaced);
        let kept = self.entries.iter().filter(|(scope, key, _)| is_own(scope) && carried(key));
        kept.fold(git, |git, (_, key, value)| git.with_setting(key, value))
    }

    /// Returns who commits.
    pub(super) fn identity(&self) -> Identity {
        let from = |variable: &str, keys: [&str; 2]| {
            let set = std::env::var(variable).ok().filter(|value| !value.trim().is_empty());
            let value = set.or_else(|| keys.iter().find_map(|key| self.get(key)).map(str::to_owned));
            value.map(|value| plain(&value)).filter(|value| !value.is_empty())
        };
        let name = from("GIT_AUTHOR_NAME", ["author.name", "user.name"]);
        let email = from("GIT_AUTHOR_EMAIL", ["author.email", "user.email"]);
        match (name, email) {
            (Some(name), Some(email)) => Identity { name, email, is_fallback: false },
            _ => Identity {
                name: "Kubebench".to_owned(),
                email: "kubebench@localhost.invalid".to_owned(),
                is_fallback: true,
            },
        }
    }

    /// Refuses to sign where nothing says with what.
    pub(super) fn check_signing(&self, signing: Signing) -> Result<(), NotRecorded> {
        let format = self.get("gpg.format").unwrap_or("openpgp");
        let has_key = self.get("user.signingkey").is_some() || self.get("gpg.ssh.defaultkeycommand").is_some();
        if signing == Signing::AsConfigured && format == "ssh" && !has_key {
            return Err(NotRecorded::refused(
                "commits must be signed with an SSH key, but git has no `user.signingKey`",
            )
            .help("set it to your public key, or record without signing"));
        }
        Ok(())
    }
}

/// Looks at the repository of `folder`; returns git's words where there is none for it.
///
/// A folder of a work tree that looks like a bare repository is one for git, with settings that name programs. Anyone who can
/// commit files can make one, so it is refused.
fn repository(git: &Git, folder: &Path) -> Result<Option<String>, NotRecorded> {
    let found = git.at(folder).ask(&["rev-parse", "--is-bare-repository", "--absolute-git-dir"])?;
    if !found.succeeded {
        let words = found.words.lines().next().unwrap_or_default();
        return Ok(Some(words.trim_start_matches("fatal: ").to_owned()));
    }
    let text = found.text();
    let Some((is_bare, place)) = text.split_once('\n') else { return Ok(None) };
    let above = Path::new(place).parent().filter(|above| is_bare == "true" && above.is_dir());
    let Some(above) = above else { return Ok(None) };
    if git.at(above).ask(&["rev-parse", "--is-inside-work-tree"])?.text() == "true" {
        return Err(NotRecorded::refused(format!("`{place}` looks like a bare repository inside a work tree")).help(
            "move the project or that repository elsewhere: anyone who can commit to the work tree can change its \
                 settings",
        ));
    }
    Ok(None)
}

/// Returns `text` without what a commit's header cannot hold.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !matches!(c, '<' | '>')).collect::<String>().trim().to_owned()
}
