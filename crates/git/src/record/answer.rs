//! What git's answers mean. Prose decides only between "no" and "not now", never whether something is recorded: for that the
//! caller looks at the server.

use kubebench_syntax::invariant::Invariant as _;

/// The outcome of one push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pushed {
    /// The server took it.
    Accepted,
    /// Another push was faster, or is in progress.
    Raced,
    /// The server says no, in these words.
    Rejected(String),
    /// The connection, the server or git itself failed; whether the push took place is unknown.
    Broken(Trouble),
}

/// Why git could not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It may work another time: the network, a time-out, an overloaded server.
    Passing(String),
    /// It will not work another time, unless something is changed: a password, an address.
    Lasting(String),
}

impl Trouble {
    /// Returns the words.
    pub(crate) fn words(&self) -> &str {
        match self {
            Self::Passing(words) | Self::Lasting(words) => words,
        }
    }
}

/// Reasons of a `[remote rejected]` that are another writer's lock, not a refusal. One race has many names: git's own servers use
/// all of these.
const RACES: [&str; 9] = [
    "cannot lock ref",
    "failed to lock",
    "failed to update ref",
    "incorrect old value",
    "reference already exists",
    "fetch first",
    "non-fast-forward",
    "stale info",
    "could not set",
];

/// What git and its helpers say of things that time does not fix, in the C locale and in lower case.
const LASTING: [&str; 26] = [
    "authentication failed",
    "could not read username",
    "could not read password",
    "invalid credentials",
    "http basic: access denied",
    "permission denied",
    "permission to",
    "returned error: 400",
    "returned error: 401",
    "returned error: 403",
    "returned error: 404",
    "not found",
    "does not appear to be a git repository",
    "not a git repository",
    "access denied or repository not exported",
    "service not enabled",
    "host key verification failed",
    "ssl certificate problem",
    "certificate verification failed",
    "hash algorithm",
    "mismatched algorithms",
    "dubious ownership",
    "not allowed",
    "does not support --atomic",
    "insufficient permission",
    "no such file or directory",
];

/// Judges a push by its exit status, what `--porcelain` printed and what was said on standard error (cleaned).
pub(crate) fn pushed(succeeded: bool, porcelain: &str, words: &str) -> Pushed {
    let faults: Vec<&str> = porcelain.lines().filter_map(|line| line.strip_prefix('!')).collect();
    if succeeded && faults.is_empty() {
        return Pushed::Accepted;
    }
    let reasons: Vec<&str> =
        faults.iter().map(|line| line.rsplit('\t').next().expected("a last part of every split")).collect();
    if reasons.iter().any(|reason| reason.starts_with("[rejected]") && !reason.contains("atomic")) {
        return Pushed::Raced;
    }
    let remote: Vec<&str> =
        reasons.iter().filter_map(|reason| reason.strip_prefix("[remote rejected]")).map(str::trim).collect();
    if remote.iter().any(|reason| RACES.iter().any(|race| reason.contains(race))) {
        return Pushed::Raced;
    }
    match remote.iter().find(|reason| !reason.contains("atomic")).or(remote.first()) {
        Some(reason) => Pushed::Rejected(server_words(reason, words)),
        None => Pushed::Broken(trouble(words)),
    }
}

/// Judges what git said on standard error (cleaned) when it failed.
pub(crate) fn trouble(words: &str) -> Trouble {
    let lower = words.to_ascii_lowercase();
    let short = gist(words);
    if LASTING.iter().any(|phrase| lower.contains(phrase)) { Trouble::Lasting(short) } else { Trouble::Passing(short) }
}

/// Returns true when git says that the server has no such ref.
pub(crate) fn is_missing_ref(words: &str) -> bool {
    words.to_ascii_lowercase().contains("couldn't find remote ref")
}

/// Returns the reason and what else the server printed.
fn server_words(reason: &str, words: &str) -> String {
    let reason = reason.trim_start_matches('(').trim_end_matches(')');
    let said =
        words.lines().filter_map(|line| line.strip_prefix("remote:")).map(str::trim).filter(|line| !line.is_empty());
    let said: Vec<&str> = said.take(10).collect();
    if said.is_empty() { reason.to_owned() } else { format!("{reason}: {}", said.join("; ")) }
}

/// Returns the lines that say what went wrong, without hints and warnings.
fn gist(words: &str) -> String {
    let faults: Vec<&str> = words
        .lines()
        .map(|line| line.trim_start_matches("remote:").trim())
        .filter(|line| {
            !line.is_empty() && !line.starts_with("hint:") && !line.starts_with("warning:") && *line != "Done"
        })
        .take(4)
        .map(|line| line.trim_start_matches("fatal: ").trim_start_matches("error: "))
        .collect();
    if faults.is_empty() { "git failed without a message".to_owned() } else { faults.join("; ") }
}

/// Returns git's words without the address that they begin with.
pub(crate) fn without_address(words: &str) -> &str {
    words.strip_prefix("unable to access '").and_then(|rest| rest.split_once("': ")).map_or(words, |(_, words)| words)
}

/// Returns what to do about words of git's that many people meet.
pub(crate) fn help(words: &str) -> Option<&'static str> {
    let lower = words.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    if says(&["mismatched algorithms", "hash algorithm"]) {
        return Some("use `--mode local`: the repository uses SHA-256 object names");
    }
    if says(&["dubious ownership"]) {
        return Some(
            "the repository belongs to another user: if you trust it, run `git config --global --add safe.directory \
             FOLDER`",
        );
    }
    if says(&["ssl certificate problem", "certificate verification failed"]) {
        return Some(
            "configure the authority that signed the server's certificate: `http.sslCAInfo` here; in a cluster, \
             `results.ca` or `ca.crt` in the Secret of `results.credential`",
        );
    }
    if says(&["host key verification"]) {
        return Some("add the server's key to `known_hosts`");
    }
    if says(&[
        "authentication failed",
        "could not read",
        "permission denied (",
        "error: 401",
        "error: 403",
        "access denied",
    ]) {
        return Some(
            "check that `git push` works here without asking for a password (by a credential helper or a key in an SSH \
             agent); in a cluster, check the Secret of `results.credential`",
        );
    }
    if says(&["error: 404", "not found", "not appear to be a git repository", "no such file"]) {
        return Some("check the address and your access to the repository");
    }
    None
}
