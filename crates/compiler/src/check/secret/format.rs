//! Credentials that are known by their form, wherever in a text they are.

use super::name;
use kubebench_syntax::redact::tokens;

/// Says what kind of credential is somewhere in `text`, with its article.
pub(super) fn find(text: &str) -> Option<&'static str> {
    let token = tokens(text).find(|token| !name::is_placeholder(token.rest)).map(|token| token.noun);
    token
        .or_else(|| (text.contains("-----BEGIN ") && text.contains("PRIVATE KEY")).then_some("a private key"))
        .or_else(|| has_url_password(text).then_some("a URL with a password"))
}

fn has_url_password(text: &str) -> bool {
    text.split("://").skip(1).any(|rest| {
        let authority = rest.split(|c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'')).next();
        let user = authority.and_then(|authority| authority.rsplit_once('@')).map(|(user, _)| user);
        let password = user.and_then(|user| user.split_once(':')).map(|(_, password)| password);
        password.is_some_and(|password| !name::is_placeholder(password))
    })
}
