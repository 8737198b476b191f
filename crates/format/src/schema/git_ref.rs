//! Names of branches and refs, by the rules of `git check-ref-format`: a push would refuse others only after the benchmark ran.

use kubebench_syntax::unit::UnitError;

/// Checks the name of a branch.
pub(super) fn branch(text: &str) -> Result<(), UnitError> {
    const HELP: &str = "write the name of a branch, such as `kubebench/results`";
    let short = text.strip_prefix("refs/heads/");
    if let Some(short) = short.filter(|short| is_ref(short)) {
        return Err(fault(format!("`{text}` is a ref and not a branch"), format!("write `{short}`")));
    }
    if !is_ref(text) || text == "HEAD" || text.starts_with(['-', '+']) {
        return Err(fault(format!("`{}` is not the name of a branch", text.escape_debug()), HELP));
    }
    Ok(())
}

/// Checks a prefix of refs, outside of branches and tags.
pub(super) fn ref_prefix(text: &str) -> Result<(), UnitError> {
    const HELP: &str = "write a separate ref, such as `refs/kubebench/inbox`";
    let is_taken = ["refs/heads", "refs/tags", "refs/remotes"]
        .iter()
        .any(|taken| text.strip_prefix(taken).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')));
    if is_taken {
        return Err(fault(format!("`{text}` is the place of branches and tags"), HELP));
    }
    if !text.starts_with("refs/") || !is_ref(text) {
        return Err(fault(format!("`{}` is not a prefix of refs", text.escape_debug()), HELP));
    }
    Ok(())
}

fn is_ref(text: &str) -> bool {
    let is_lock = |part: &str| part.strip_suffix(".lock").is_some();
    let is_part = |part: &str| !part.is_empty() && !part.starts_with('.') && !is_lock(part);
    let is_odd = |letter: char| letter.is_control() || " ~^:?*[\\".contains(letter);
    text != "@"
        && text.split('/').all(is_part)
        && !text.chars().any(is_odd)
        && !text.ends_with('.')
        && ["..", "@{"].iter().all(|odd| !text.contains(odd))
}

fn fault(message: String, help: impl Into<String>) -> UnitError {
    UnitError { message, help: Some(help.into()), range: None }
}

#[cfg(test)]
mod tests {
    use super::{branch, ref_prefix};

    #[test]
    fn branches_are_as_git_takes_them() {
        for name in ["main", "kubebench/results", "a-b_c.d", "f\u{e4}cher", "a@b", "x/y/z", "1", "a+b"] {
            assert_eq!(branch(name), Ok(()), "{name}");
        }
        for name in [
            "",
            "HEAD",
            "@",
            "-x",
            "+x",
            "a..b",
            "a b",
            "a~1",
            "a^",
            "a:b",
            "a?",
            "a*",
            "a[b",
            "a\\b",
            "/a",
            "a/",
            "a//b",
            ".a",
            "a/.b",
            "a.",
            "a.lock",
            "a.lock/b",
            "a@{b",
            "a\nb",
            "refs/heads/main",
        ] {
            assert!(branch(name).is_err(), "{name}");
        }
        assert_eq!(branch("refs/heads/a/b").unwrap_err().help.as_deref(), Some("write `a/b`"));
    }

    #[test]
    fn an_inbox_is_apart_from_branches() {
        assert_eq!(ref_prefix("refs/kubebench/inbox"), Ok(()));
        for name in
            ["kubebench/inbox", "refs/heads", "refs/heads/x", "refs/tags/x", "refs/remotes/o", "refs/", "refs/a..b"]
        {
            assert!(ref_prefix(name).is_err(), "{name}");
        }
    }
}
