//! What proves that a file is as Kubebench wrote it: a digest of the rest of the file, in a comment at its top.
//!
//! Manifests have their own header, which names a spec.

use kubebench_syntax::digest::Digest;

const OPENING: &str = "# Written by `kubebench init` for ";
const CLOSING: &str = "; run it again to update this file.";
const DIGEST: &str = "# sha256:";
const JSON_OPENING: &str = "  \"$comment\": \"Written by kubebench; do not edit. sha256:";
const JSON_CLOSING: &str = "\",";

/// Returns a file whose comments begin with `#`, stamped: it is for `subject`, which is one line.
pub fn commented(subject: &str, body: &str) -> String {
    let first = format!("{OPENING}{subject}{CLOSING}\n");
    let digest = Digest::of(format!("{first}{body}"));
    format!("{first}{DIGEST}{}\n{body}", digest.hex())
}

/// Returns what a file is for, if its first line says that Kubebench wrote it.
pub fn subject(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(OPENING)?.strip_suffix(CLOSING)
}

/// Returns the text of a JSON object of several lines, stamped by the keyword for comments in a JSON Schema.
pub fn json(text: &str) -> String {
    let body = text.strip_prefix("{\n").unwrap_or(text);
    format!("{{\n{JSON_OPENING}{}{JSON_CLOSING}\n{body}", Digest::of(text).hex())
}

/// Returns true if the file has the digest that it names. Line ends do not count: git may have changed them.
pub fn is_intact(text: &str) -> bool {
    let text = unix(text);
    let Some((first, rest)) = text.split_once('\n') else { return false };
    let Some((second, body)) = rest.split_once('\n') else { return false };
    let stamped = second.strip_prefix(DIGEST).filter(|_| subject(&text).is_some());
    let digest = stamped.or_else(|| second.strip_prefix(JSON_OPENING)?.strip_suffix(JSON_CLOSING));
    digest.is_some_and(|hex| hex == Digest::of(format!("{first}\n{body}")).hex())
}

/// Returns the text with line feeds alone.
pub fn unix(text: &str) -> String {
    text.replace("\r\n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_intact_until_anything_changes() {
        let files = [commented("the project in 'a b'", "name: x\n"), json("{\n  \"a\": 1\n}\n")];
        for text in &files {
            assert!(is_intact(text), "{text}");
            assert!(is_intact(&text.replace('\n', "\r\n")), "{text}");
            for (at, _) in text.char_indices() {
                let mut other = text.clone();
                other.replace_range(at..=at, "~");
                assert!(!is_intact(&other), "{other}");
            }
            assert!(!is_intact(&format!("{text}\n")) && !is_intact(&format!("\n{text}")));
        }
        for text in ["", "{}", "{}\n", "name: x\n", "# sha256:\n"] {
            assert!(!is_intact(text), "{text:?}");
        }
        assert_eq!(subject(&files[0]), Some("the project in 'a b'"));
        assert_eq!(subject(&files[1]), None);
        let parsed: serde_json::Value = serde_json::from_str(&files[1]).unwrap_or_default();
        assert_eq!(parsed["a"], 1);
    }
}
