//! Names of folders and branches as values of YAML that a CI system reads.

use kubebench_syntax::text::{Source, SourceId};
use kubebench_syntax::yaml::{read, write_string_scalar};

/// Returns `text` as a scalar on one line, quoted unless it is a plain word.
pub(super) fn quoted(text: &str) -> String {
    let breaks_lines = |letter: char| letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}');
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "-_./".contains(letter);
    let written = write_string_scalar(text);
    if text.contains(breaks_lines) || (written == text && text.chars().all(is_word)) {
        written
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// Returns the text of a scalar.
pub(super) fn unquoted(scalar: &str) -> Option<String> {
    let root = read(SourceId::default(), &Source::new("", scalar.as_bytes())).root?;
    root.as_text().map(str::to_owned)
}

/// Returns `text` as a quoted scalar in which GitHub finds no expression.
pub(super) fn without_expressions(text: &str) -> String {
    quoted(&text.replace("${{", "${{ '${{' }}"))
}

/// Returns `text` with `indent` before each line that is not empty.
pub(super) fn indented(text: &str, indent: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| if line == "\n" { line.to_owned() } else { format!("{indent}{line}") })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_values_and_nothing_more() {
        assert_eq!(quoted("ml/it's"), "'ml/it''s'");
        assert_eq!([quoted("ml/two"), quoted("on"), quoted("1.5")], ["ml/two", "'on'", "'1.5'"]);
        for name in ["ml/it's", "on", "1.5", "a\nb: c", "größe [g]", "ml/two"] {
            assert_eq!(unquoted(&quoted(name)).as_deref(), Some(name));
        }
        assert_eq!(quoted("a\nb: c"), r#""a\nb: c""#);
        assert_eq!(without_expressions("${{ secrets.X }}"), "'${{ ''${{'' }} secrets.X }}'");
        assert_eq!(indented("a\n\nb\n", "  "), "  a\n\n  b\n");
    }
}
