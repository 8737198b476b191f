//! Words in a line that a shell reads as exactly these words.

use crate::model::literal;

/// Returns `words` as a line for a POSIX shell that Kubernetes hands on as it is.
pub(super) fn line(words: &[&str]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    // The line becomes an argument of a container.
    literal(&quoted.join(" "))
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Returns whether Ray before 2.56 changes `word`: it quotes for Windows (`subprocess.list2cmdline`), by double quotes and
/// only where there is a blank, and gives the line to a second shell.
pub(super) fn is_changed(word: &str) -> bool {
    let has_blank = word.is_empty() || word.contains([' ', '\t']);
    let always = ['$', '`', '\\'];
    let bare = [';', '&', '|', '<', '>', '(', ')', '*', '?', '\'', '#', '~', '[', ']', '{', '}', '!', '\n'];
    word.contains(always) || (!has_blank && word.contains(bare))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a shell is the judge of what is quoted for it")]
    fn a_shell_reads_the_words() {
        let words = ["python", "a b", "", "it's", "\"x\"", "$HOME", "`id`", "a\\nb", "line\nline", ";rm", "ü*"];
        let script = format!("printf '%s\\0' {}", line(&words));
        let output = Command::new("sh").args(["-c", &script]).output().unwrap();
        let read = String::from_utf8(output.stdout).unwrap();
        assert_eq!(read.trim_end_matches('\0').split('\0').collect::<Vec<_>>(), words);
        assert_eq!(line(&["train.py", "--lr=0.1"]), "train.py --lr=0.1");
        assert_eq!(line(&["$(A)", "$$"]), "'$$(A)' '$$$'");
    }

    #[test]
    fn words_that_old_versions_change() {
        for word in ["train.py", "a b", "print(\"x\"); exit(1)", "--f=\"a\"", ""] {
            assert!(!is_changed(word), "{word}");
        }
        for word in ["$HOME", "a `b`", "a\\b c", "it's", "f(x)", "a;b", "*"] {
            assert!(is_changed(word), "{word}");
        }
    }
}
