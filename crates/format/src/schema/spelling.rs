//! Where the letters of a scalar are in its source text, with quotes and escapes.

/// Returns the offset in the source text `written` of each byte of `text`, and of its end; none if that is unknown.
pub(super) fn places(written: &str, text: &str) -> Option<Vec<usize>> {
    let inside = written.strip_prefix(['"', '\'']).map_or(0, |_| 1);
    let quoted = written.get(inside..written.len().checked_sub(inside)?)?;
    // A block, or a text as it is.
    if let Some(at) = quoted.find(text).filter(|_| !text.is_empty()) {
        return Some((0..=text.len()).map(|byte| inside + at + byte).collect());
    }
    let quote = written.chars().next().filter(|_| inside == 1)?;
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut rest = quoted.char_indices();
    while let Some((at, letter)) = rest.next() {
        let mut decoded = letter.len_utf8();
        match (quote, letter) {
            (_, '\n') => return None,
            ('\'', '\'') => {
                rest.next()?;
            }
            ('"', '\\') => {
                let more = match rest.next()?.1 {
                    'x' => 2,
                    'u' => 4,
                    'U' => 8,
                    // What spells other letters than itself.
                    'N' | '_' | 'L' | 'P' => return None,
                    _ => 0,
                };
                decoded = if more == 0 { 1 } else { text.get(places.len()..)?.chars().next()?.len_utf8() };
                for _ in 0..more {
                    rest.next()?;
                }
            }
            _ => {}
        }
        places.extend(std::iter::repeat_n(inside + at, decoded));
    }
    places.push(inside + quoted.len());
    (places.len() == text.len() + 1).then_some(places)
}

#[cfg(test)]
mod tests {
    use super::places;

    #[test]
    fn letters_are_found_in_every_spelling() {
        assert_eq!(places("ab", "ab"), Some(vec![0, 1, 2]));
        assert_eq!(places("'a b'", "a b"), Some(vec![1, 2, 3, 4]));
        assert_eq!(places("'it''s'", "it's"), Some(vec![1, 2, 3, 5, 6]));
        assert_eq!(places(r#""a\\d""#, r"a\d"), Some(vec![1, 2, 4, 5]));
        assert_eq!(places(r#""\u00e4b""#, "\u{e4}b"), Some(vec![1, 1, 7, 8]));
        assert_eq!(places("|\n  a b\n", "a b"), Some(vec![4, 5, 6, 7]));
        assert_eq!(places("'a\n  b'", "a b"), None);
    }
}
