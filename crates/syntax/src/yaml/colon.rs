//! Colons without the space that separates key and value: `repeats:3` is a word.

/// Returns where the colon is in a word that was meant as a key and its value.
pub fn without_space(word: &str) -> Option<usize> {
    let (key, value) = word.split_once(':')?;
    let is_key = key.starts_with(|first: char| first.is_ascii_alphabetic())
        && key.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    let is_value = value.starts_with(|first: char| !first.is_whitespace() && !matches!(first, '/' | ':'));
    (is_key && is_value).then_some(key.len())
}

/// Returns the byte of such a colon on the line of a text at `offset`, or on the last line before it that has a word.
pub(super) fn around(text: &str, offset: usize) -> Option<usize> {
    let start = text.get(..offset)?.rfind('\n').map_or(0, |at| at + 1);
    let before = text.get(..start)?.trim_end();
    let of_before = before.rfind('\n').map_or(0, |at| at + 1);
    [start, of_before].into_iter().find_map(|start| {
        let line = text.get(start..)?.lines().next()?;
        let content = line.trim_start();
        // A second colon makes the line a mapping.
        let is_word = !content.contains(": ") && !content.trim_end().ends_with(':');
        Some(start + line.len() - content.len() + without_space(content).filter(|_| is_word)?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_meant_as_fields() {
        assert_eq!(without_space("repeats:3"), Some(7));
        for word in ["http://x", "a: b", "a:", "std::x", "3:4", "a b:c"] {
            assert_eq!(without_space(word), None, "{word}");
        }
        assert_eq!(around("a:\n  b:3\n  c: 1\n", 10), Some(6));
        assert_eq!(around("a:\n  b: 3\n  c: 1\n", 12), None);
    }
}
