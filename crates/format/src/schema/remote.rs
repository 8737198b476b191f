//! The addresses that git pushes to, except those that contain a credential or would make git run something.

use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::UnitError;

/// What git reaches itself; for any other scheme it runs a program of that name.
const SCHEMES: [&str; 7] = ["https", "http", "ssh", "git", "git+ssh", "ssh+git", "file"];
/// A user name from here on is a token: people and robots are called something shorter.
const TOKEN_LENGTH: usize = 20;

/// Checks an address as it is passed to `git push`.
pub(super) fn check(text: &str) -> Result<(), UnitError> {
    if text.is_empty() || text.contains(char::is_control) || text.trim() != text {
        return Err(fault("this is not the address of a repository", EXAMPLES));
    }
    if text.starts_with('-') {
        return Err(fault("git would take this for an option, not for the address of a repository", EXAMPLES));
    }
    if runs_a_helper(text) {
        return Err(fault("git would run a program of this name instead of asking a server", EXAMPLES));
    }
    let Some((scheme, rest)) = text.split_once("://") else { return Ok(()) };
    if !SCHEMES.contains(&scheme) {
        return Err(fault(format!("git does not support `{scheme}://` without a helper"), EXAMPLES));
    }
    let authority = rest.split(['/', '?', '#']).next().expected("a first part of every split");
    let (user, host) = authority.rsplit_once('@').unwrap_or(("", authority));
    if host.starts_with('-') {
        return Err(fault("git would take this host for an option", EXAMPLES));
    }
    if user.contains(':') || user.len() >= TOKEN_LENGTH {
        return Err(fault(
            "the address holds a password or token",
            "leave it out: it would be in every manifest and in git forever; put it into a Secret (keys `username` \
             and `password`) and name that in `credential`; if it was pushed already, replace it",
        ));
    }
    Ok(())
}

const EXAMPLES: &str = "write `https://git.example/team/benchmarks.git` or `git@git.example:team/benchmarks.git`";

/// Distinguishes `ext::sh -c …`, for which git runs `git-remote-ext`, from a path or an address with IPv6.
fn runs_a_helper(text: &str) -> bool {
    let is_name = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '+' | '_' | '.'))
    };
    text.split_once("::").is_some_and(|(name, _)| is_name(name))
}

fn fault(message: impl Into<String>, help: impl Into<String>) -> UnitError {
    UnitError { message: message.into(), help: Some(help.into()), range: None }
}

#[cfg(test)]
mod tests;
