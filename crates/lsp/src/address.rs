//! Addresses of files (`file:///home/a/x.yaml`) and their paths.

use std::path::{Path, PathBuf};
use std::str::FromStr as _;

use lsp_types::Uri;

/// Returns the path of a file; nothing for an address of something else, such as a text that has no file yet.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let at = rest.find('/')?;
    let host = rest.get(..at)?;
    if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
        return None;
    }
    let decoded = decoded(rest.get(at..)?)?;
    // `/c:/a` is a path of Windows.
    let is_drive = decoded.as_bytes().get(2) == Some(&b':') && decoded.as_bytes().get(1)?.is_ascii_alphabetic();
    let path = if is_drive { decoded.get(1..)? } else { &decoded };
    let path = PathBuf::from(path);
    let is_plain = path.components().all(|part| !matches!(part, std::path::Component::ParentDir));
    is_plain.then_some(path)
}

/// Returns the address of a file.
pub(crate) fn uri(path: &Path) -> Option<Uri> {
    let path = path.to_str()?.replace('\\', "/");
    let mut text = String::from(if path.starts_with('/') { "file://" } else { "file:///" });
    for byte in path.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri::from_str(&text).ok()
}

fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, after @ ..] = rest else { return None };
        rest = after;
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_address() {
        for (text, expected) in [
            ("file:///a/b%20c/%C3%A9.yaml", Some("/a/b c/\u{e9}.yaml")),
            ("file://localhost/a/x.yaml", Some("/a/x.yaml")),
            ("file:///a/../b.yaml", None),
            ("file://elsewhere/a", None),
            ("untitled:Untitled-1", None),
            ("file:///a/%ff.yaml", None),
        ] {
            let path = path(&Uri::from_str(text).unwrap());
            assert_eq!(path.as_deref(), expected.map(Path::new), "{text}");
            let again = path.and_then(|path| super::path(&uri(&path)?));
            assert_eq!(again.as_deref(), expected.map(Path::new));
        }
    }
}
