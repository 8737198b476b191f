//! Credentials that are known by their form, wherever in a text they stand.

use super::name;
use kubebench_syntax::invariant::Invariant as _;

/// A credential with a prefix of its own.
struct Format {
    prefix: &'static str,
    noun: &'static str,
    /// How many characters follow at least.
    least: usize,
    of: fn(char) -> bool,
    accepts: fn(&str) -> bool,
}

const fn format(prefix: &'static str, noun: &'static str, least: usize, of: fn(char) -> bool) -> Format {
    Format { prefix, noun, least, of, accepts: |_| true }
}

const FORMATS: &[Format] = &[
    format("AKIA", "an AWS access key", 16, is_upper),
    format("ASIA", "an AWS access key", 16, is_upper),
    format("ghp_", "a GitHub token", 30, is_alphanumeric),
    format("gho_", "a GitHub token", 30, is_alphanumeric),
    format("ghs_", "a GitHub token", 30, is_alphanumeric),
    format("ghu_", "a GitHub token", 30, is_alphanumeric),
    format("ghr_", "a GitHub token", 30, is_alphanumeric),
    format("github_pat_", "a GitHub token", 22, is_word),
    format("glpat-", "a GitLab token", 20, is_url_safe),
    format("xoxa-", "a Slack token", 10, is_url_safe),
    format("xoxb-", "a Slack token", 10, is_url_safe),
    format("xoxp-", "a Slack token", 10, is_url_safe),
    format("hf_", "a Hugging Face token", 30, is_alphanumeric),
    format("AIza", "a Google API key", 35, is_url_safe),
    Format { prefix: "sk-", noun: "an API key", least: 20, of: is_url_safe, accepts: is_random },
    Format {
        prefix: "eyJ",
        noun: "a JSON Web Token",
        least: 30,
        of: |c| is_url_safe(c) || c == '.',
        accepts: is_web_token,
    },
];

fn is_upper(c: char) -> bool {
    c.is_ascii_uppercase() || c.is_ascii_digit()
}

fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

fn is_word(c: char) -> bool {
    is_alphanumeric(c) || c == '_'
}

fn is_url_safe(c: char) -> bool {
    is_word(c) || c == '-'
}

/// Tells a key from a hyphenated name such as `sk-learn-forest`.
fn is_random(rest: &str) -> bool {
    rest.contains(|c: char| c.is_ascii_digit()) && rest.split(['-', '_']).any(|part| part.len() >= 16)
}

fn is_web_token(rest: &str) -> bool {
    let parts: Vec<&str> = rest.split('.').collect();
    matches!(parts.as_slice(), [header, payload, signature]
        if header.len() >= 8 && payload.starts_with("eyJ") && signature.len() >= 16)
}

/// Says what kind of credential stands somewhere in `text`, with its article.
pub(super) fn find(text: &str) -> Option<&'static str> {
    let prefixed = FORMATS.iter().find(|format| format.occurs_in(text)).map(|format| format.noun);
    prefixed
        .or_else(|| (text.contains("-----BEGIN ") && text.contains("PRIVATE KEY")).then_some("a private key"))
        .or_else(|| has_url_password(text).then_some("a URL with a password"))
}

impl Format {
    fn occurs_in(&self, text: &str) -> bool {
        let has_room = text.len() >= self.prefix.len() + self.least;
        has_room
            && text.match_indices(self.prefix).any(|(at, prefix)| {
                let starts = text.get(..at).is_none_or(|before| !before.ends_with(is_word));
                let rest = text.get(at + prefix.len()..).expected("what follows a match");
                let end = rest.find(|c| !(self.of)(c)).unwrap_or(rest.len());
                let rest = rest.get(..end).expected("the end of a character");
                starts && rest.len() >= self.least && (self.accepts)(rest) && !name::is_placeholder(rest)
            })
    }
}

fn has_url_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'')).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
        password.is_some_and(|password| !name::is_placeholder(password))
    })
}
