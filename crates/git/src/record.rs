//! Recording: how results become part of a git repository forever, as far as it can be said without touching one.
//!
//! Everything here is a pure function: what a commit says, which address is refused, what git's answer means, how long to wait.
//! The rest of the crate talks to repositories and servers, and asks here.

use std::fmt;
use std::time::Duration;

use kubebench_syntax::digest::Digest;

pub(crate) mod answer;
pub(crate) mod message;
pub mod place;
pub(crate) mod redact;
pub mod retry;

/// A result file to be recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addition {
    /// Path inside the repository (in mode `local`: below the project), from the result's content.
    pub path: String,
    /// The canonical bytes.
    pub bytes: Vec<u8>,
    /// The envelope that goes next to it, in the same commit; where the result is recorded already, with what is next to it.
    pub envelope: Option<Vec<u8>>,
    /// The benchmark's name.
    pub benchmark: String,
    /// The id of the case, or `default`: its name is a user's text, by which a server closes issues, skips its CI and calls people.
    pub case: String,
    /// The repeat: `r3`, or `w1` for a warm-up.
    pub round: String,
    /// The run's status.
    pub status: String,
    /// The run digest, in full.
    pub run_digest: String,
    /// The random id of the run: 32 hex digits, which name its ref in an inbox.
    pub run_id: String,
    /// When the run ended, in seconds since 1970: the date of an inbox commit, so that a replay is the same commit.
    pub ended: i64,
    /// Where the file stays on disk, as people read when it cannot be recorded.
    pub kept: String,
}

/// How results reach git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A commit in the checkout at hand, without a push.
    Local,
    /// A commit on the results branch of the remote.
    Branch,
    /// One ref a run, folded into the branch later.
    Inbox,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 3] = [Self::Local, Self::Branch, Self::Inbox];

    /// Returns the name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Branch => "branch",
            Self::Inbox => "inbox",
        }
    }

    /// Returns the mode called `name`.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
}

/// What was asked of `record` and has been done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recorded {
    /// Paths that are new in the repository.
    pub added: Vec<String>,
    /// Paths that hold these bytes already: nothing to do.
    pub already: Vec<String>,
    /// Those of `already` that are not in `place` but were moved from there into the branch: mode `inbox`.
    pub folded: Vec<String>,
    /// Results that are refused, because their paths hold something else.
    pub conflicts: Vec<Conflict>,
    /// The commit that holds what was added, in full; in mode `inbox` the last one.
    pub commit: Option<String>,
    /// Where that is, for people: "branch `kubebench/results` of `https://git.example/a.git`".
    pub place: String,
    /// How often git was asked before it worked, usually 1.
    pub tries: u32,
    /// What else people should know: who the author is when git knows none.
    pub notes: Vec<String>,
}

impl Recorded {
    /// Says what became of the results, where `branch` is the one that an inbox is folded into.
    pub fn summary(&self, branch: &str) -> String {
        let Self { added, already, folded, place, .. } = self;
        let results = if added.len() == 1 { "result" } else { "results" };
        let mut words = format!("{} {results} recorded in {place}", added.len());
        if already.len() > folded.len() {
            words.push_str(&format!(", {} already there", already.len() - folded.len()));
        }
        if !folded.is_empty() {
            words.push_str(&format!(", {} already in branch `{branch}`", folded.len()));
        }
        words
    }
}

/// A result whose path holds something else. Results are append-only, so this one is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    pub path: String,
    /// The digest of the bytes that were to be recorded.
    pub ours: Digest,
    /// What is there, as people read it: the digest of its bytes, or why there is none.
    pub theirs: String,
    /// Where it is there: "branch `kubebench/results`", "the work tree".
    pub place: String,
    /// Where the refused file stays on disk.
    pub kept: String,
}

impl Conflict {
    /// What people do about one.
    pub const HELP: &str =
        "find out which of the two belongs to the run, and keep the other elsewhere: results are append-only";
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, ours, theirs, place, kept } = self;
        write!(f, "`{path}` has other content in {place}: {theirs} there, {ours} in `{kept}`")
    }
}

/// What was asked of `fold` and has been done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folded {
    /// Paths that went from the inbox into the branch.
    pub added: Vec<String>,
    /// Refs of the inbox whose bytes the branch held already; they are gone.
    pub dropped: Vec<String>,
    /// Refs of the inbox that hold no result that may enter the branch, by name, with where they are now and why.
    pub rejected: Vec<Rejected>,
    /// The last commit that was pushed, in full.
    pub commit: Option<String>,
    /// The branch, for people.
    pub place: String,
    /// How often git was asked before it worked.
    pub tries: u32,
    /// What else people should know.
    pub notes: Vec<String>,
}

/// A ref of the inbox that was moved aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejected {
    /// The ref in the inbox.
    pub from: String,
    /// The ref that holds it now.
    pub to: String,
    /// Why.
    pub reason: String,
}

/// Whether it makes sense to try again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Refused: trying again gives the same answer (exit status 4).
    Refused,
    /// Not durably recorded, but another time it may be (exit status 3).
    TryAgain,
}

/// Why nothing was recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotRecorded {
    /// Whether it makes sense to try again.
    pub kind: Kind,
    /// What happened, without any secret.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
}

impl NotRecorded {
    /// A refusal.
    pub fn refused(message: impl Into<String>) -> Self {
        Self { kind: Kind::Refused, message: message.into(), help: None }
    }

    /// A failure that may pass.
    pub fn try_again(message: impl Into<String>) -> Self {
        Self { kind: Kind::TryAgain, message: message.into(), help: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl fmt::Display for NotRecorded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// Whether commits are signed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Signing {
    /// They are not, whatever git's configuration says.
    #[default]
    Never,
    /// They are, with the key and format of git's configuration.
    AsConfigured,
}

/// How long `record` and `fold` keep trying by default.
pub const DEADLINE: Duration = Duration::from_mins(5);

#[cfg(test)]
mod tests;
