//! The places that results go to: addresses of repositories, names of refs, paths of files. Each is judged before git sees it.

use kubebench_format::schema::format;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::path::is_gits_own;

/// The longest path of a result.
const PATH: usize = 1000;

/// A name that looks like an address is one; the others are in git's configuration.
pub fn is_address(remote: &str) -> bool {
    remote.contains(['/', ':', '\\']) || remote == "." || remote == ".."
}

/// Returns why git must not be given `remote`, the address of a repository, in words that hold no secret.
pub(crate) fn refuse_address(remote: &str) -> Result<(), String> {
    if let Some(format) = format::find("git-remote") {
        (format.check)(remote).map_err(|fault| fault.message)?;
    }
    let host = remote.split_once(':').map(|(host, _)| host).filter(|host| !host.contains('/'));
    if host.is_some_and(|host| host.rsplit('@').next().expected("a last part of every split").starts_with('-')) {
        return Err("ssh would read this host as an option".to_owned());
    }
    if remote.contains("://") && remote.contains(['?', '#']) {
        return Err("the address of a repository must not contain `?` or `#`: what follows may be a token".to_owned());
    }
    Ok(())
}

/// Returns true when git reaches `remote` as a folder of this machine, as git itself decides.
pub fn is_folder(remote: &str) -> bool {
    if remote.contains("://") {
        return remote.starts_with("file://");
    }
    match (remote.find(':'), remote.find('/')) {
        (None, _) => true,
        (Some(colon), Some(slash)) => slash < colon,
        (Some(_), None) => false,
    }
}

/// Returns why `path` cannot be the path of a result in a tree of git.
pub(crate) fn refuse_path(path: &str) -> Result<(), String> {
    let fault = |why: &str| Err(format!("`{}` cannot be a path in a repository: {why}", path.escape_debug()));
    if path.is_empty() || path.len() > PATH {
        return fault("it is empty or too long");
    }
    if path.contains(|c: char| c.is_control() || c == '\\' || c == ':') {
        return fault("it holds a control character, `\\` or `:`");
    }
    for part in path.split('/') {
        if part.is_empty() || part == "." || part == ".." {
            return fault("one of its parts is empty, `.` or `..`");
        }
        if is_gits_own(part) || !part.is_ascii() {
            return fault("one of its parts is not ASCII, or is git's own folder");
        }
    }
    Ok(())
}

/// Returns why refs cannot be collected below `inbox`: folding deletes what it finds there.
pub(crate) fn refuse_inbox(inbox: &str, branch: &str) -> Result<(), String> {
    let depth = inbox.split('/').count();
    let needed = if inbox.starts_with("refs/heads") || inbox.starts_with("refs/tags") { 4 } else { 3 };
    if depth < needed {
        return Err(format!(
            "`{inbox}` cannot be an inbox: other refs are below it, and folding deletes what it finds"
        ));
    }
    if format!("refs/heads/{branch}/").starts_with(&format!("{inbox}/")) {
        return Err(format!("the branch `{branch}` is inside the inbox `{inbox}`"));
    }
    Ok(())
}

/// Returns the ref in the inbox of the result at `path` of the run `id`: `<id>`, or `<id>-p<digest>` for one that was read
/// again from the run's logs, which is another file of the same run.
pub(crate) fn inbox_ref(inbox: &str, id: &str, path: &str) -> Result<String, String> {
    let is_hex = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
    if id.len() != 32 || !is_hex(id) {
        return Err(format!("`{}` is not the id of a run (32 hex digits)", id.escape_debug()));
    }
    let file = path.rsplit('/').next().and_then(|file| file.strip_suffix(".json")).unwrap_or_default();
    let again = file.rsplit_once("-p").map(|(_, digest)| digest).filter(|digest| digest.len() == 8 && is_hex(digest));
    Ok(again.map_or_else(|| format!("{inbox}/{id}"), |digest| format!("{inbox}/{id}-p{digest}")))
}

/// Returns the ref that the ref `from` of the inbox is moved to, holding the commit `commit`; the same for the same commit.
pub(crate) fn rejected_ref(inbox: &str, from: &str, commit: &str) -> String {
    let beside =
        inbox.strip_suffix("/inbox").map_or_else(|| format!("{inbox}-rejected"), |base| format!("{base}/rejected"));
    let name = from.strip_prefix(inbox).unwrap_or(from).trim_start_matches('/');
    let short: String = commit.chars().take(12).collect();
    format!("{beside}/{name}-{short}")
}
