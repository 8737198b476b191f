//! Finds the quote that was meant to be closed: a scanner notices only where the text is no longer valid, often lines later.

/// Returns the offset of the quote in `text` that opens the last quoted scalar before `end`, when it is still open there or
/// spans several lines; `start` is outside of quotes and comments.
pub(super) fn opening(text: &str, start: usize, end: usize) -> Option<usize> {
    let mut suspect = None;
    let mut rest = text.get(start..)?.char_indices().map(|(at, c)| (start + at, c)).peekable();
    let mut before = text.get(..start).and_then(|before| before.chars().next_back()).unwrap_or('\n');
    while let Some((at, c)) = rest.next().filter(|(at, _)| *at <= end) {
        let begins_token = before.is_whitespace() || matches!(before, '[' | '{' | ',' | ':');
        match c {
            '#' if before.is_whitespace() => while rest.next_if(|(_, c)| *c != '\n').is_some() {},
            '"' | '\'' if begins_token => {
                let mut lines = 1;
                let mut closed = false;
                while let Some((inner, next)) = rest.next() {
                    lines += usize::from(next == '\n');
                    if next == '\\' && c == '"' {
                        rest.next();
                    } else if next == c && !(c == '\'' && rest.next_if(|(_, next)| *next == '\'').is_some()) {
                        closed = inner < end;
                        break;
                    }
                }
                suspect = (!closed || lines > 1).then_some(at);
            }
            _ => {}
        }
        before = c;
    }
    suspect
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Option<usize>) {
        assert_eq!(opening(text, 0, text.len()), expected, "{text:?}");
    }

    #[test]
    fn the_quote_that_stays_open() {
        check("a: \"foo\nb: 1\n", Some(3));
        check("a: 'it\nb: 2\n", Some(3));
        check("a: \"foo\nb: \"bar\"\n", Some(3));
        check("x: [\"a\", \"b]\ny: 1\n", Some(9));
        check("'k: 1\n", Some(0));
    }

    #[test]
    fn quotes_that_are_none() {
        check("# it's\na: \"x\" # don't\nb: 'it''s'\nc: \"\\\"\"\nd: don't\n", None);
        check("", None);
        assert_eq!(opening("a: 'x", 0, 1), None);
    }
}
