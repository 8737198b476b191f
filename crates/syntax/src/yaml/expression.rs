//! Expressions whose quotes are missing, which YAML reads as mappings in mappings.

use std::ops::Range;

/// The longest word that is worth repeating in an answer.
const LONGEST: usize = 80;

/// Returns the place of the word around the braces `{{` at byte `at`, and how it is written: in quotes, with `${{ … }}`.
/// Nothing where that is no expression of one line.
pub fn quoted(text: &str, at: usize) -> Option<(Range<usize>, String)> {
    if !text.get(at..)?.starts_with("{{") {
        return None;
    }
    let is_outside = |letter: char| letter.is_whitespace() || "[]{},".contains(letter);
    let start = text.get(..at)?.rfind(is_outside).map_or(0, |before| before + 1);
    let (mut word, mut end) = (text.get(start..at)?.to_owned(), at);
    loop {
        let rest = text.get(end..)?;
        if let Some(inner) = rest.strip_prefix("{{") {
            let inner = inner.get(..inner.find("}}")?)?;
            let is_name = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
            if !inner.trim().starts_with(|first: char| first.is_ascii_alphabetic())
                || !inner.trim().chars().all(is_name)
            {
                return None;
            }
            let dollar = if word.ends_with('$') { "" } else { "$" };
            word.push_str(&format!("{dollar}{{{{ {} }}}}", inner.trim()));
            end += inner.len() + 4;
            continue;
        }
        match rest.chars().next() {
            Some(letter) if !is_outside(letter) => {
                word.push(letter);
                end += letter.len_utf8();
            }
            _ => break,
        }
    }
    let is_plain = word.len() <= LONGEST && !word.contains(['"', '\'', '\\', '`', '#']);
    is_plain.then(|| (start..end, format!("\"{word}\"")))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn the_word_around_braces_is_quoted() {
        for (text, written) in [
            ("args: [{{ matrix.size }}]", Some("\"${{ matrix.size }}\"")),
            ("args: [a, ${{matrix.size}}, b]", Some("\"${{ matrix.size }}\"")),
            ("args: [--x=${{ matrix.a }}-${{ matrix.b }}]", Some("\"--x=${{ matrix.a }}-${{ matrix.b }}\"")),
            ("replicas: {{ matrix.size }}\n", Some("\"${{ matrix.size }}\"")),
            // Helm's, and what is YAML.
            ("args: [{{ .Values.size }}]", None),
            ("args: [{{a: b}: c}]", None),
            ("args: [{{ matrix.size", None),
            ("args: [it's${{ matrix.size }}]", None),
        ] {
            let found = text.find("{{").and_then(|at| quoted(text, at));
            assert_eq!(found.as_ref().map(|(_, word)| word.as_str()), written, "{text}");
        }
        assert_eq!(quoted("a: [b, --x=${{ c }}]", 12).map(|(range, _)| range), Some(7..19));
    }
}
