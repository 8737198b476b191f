//! Applies the certain edits of findings to the text that they were found in.

use super::{Applicability, Diagnostic, Fix};
use crate::text::{Source, SourceId};

/// Returns the text of `source`, numbered `id`, with every certain fix applied.
///
/// If two fixes touch the same bytes, the first one is applied; the next run finds what the second one was about.
pub fn fix(id: SourceId, source: &Source, diagnostics: &[Diagnostic]) -> String {
    let mut text = source.text.clone();
    for fix in applicable(id, source, diagnostics).into_iter().rev() {
        text.replace_range(fix.span.range(), &fix.replacement);
    }
    text
}

/// The fixes for this source in the order of their places, none of which touches another.
fn applicable<'d>(id: SourceId, source: &Source, diagnostics: &'d [Diagnostic]) -> Vec<&'d Fix> {
    let mut fixes: Vec<&Fix> = diagnostics
        .iter()
        .filter_map(|fault| fault.fix.as_ref())
        .filter(|fix| fix.applicability == Applicability::Certain)
        .filter(|fix| fix.span.source == id && source.text.get(fix.span.range()).is_some())
        .collect();
    fixes.sort_by_key(|fix| fix.span);
    fixes.dedup_by_key(|fix| fix.span);
    let mut end = 0;
    fixes.retain(|fix| {
        let free = fix.span.start >= end;
        if free {
            end = fix.span.end;
        }
        free
    });
    fixes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diag::code;
    use crate::text::Span;
    use crate::yaml;

    fn fixed(text: &str, edits: &[(usize, usize, &str)]) -> String {
        let at = |range| Span::new(SourceId(3), range);
        let faults: Vec<Diagnostic> = edits
            .iter()
            .map(|(start, end, new)| Diagnostic::at(&code::KB0110, at(*start..*end), "x").fix(at(*start..*end), *new))
            .collect();
        fix(SourceId(3), &Source::new("x.yaml", text.as_bytes()), &faults)
    }

    #[test]
    fn edits_in_any_order() {
        assert_eq!(fixed("abc", &[(2, 3, "CC"), (0, 1, "AA"), (1, 1, "+")]), "AA+bCC");
        assert_eq!(fixed("abc", &[(0, 1, ""), (1, 2, "B")]), "Bc");
        assert_eq!(fixed("abc", &[]), "abc");
    }

    #[test]
    fn of_overlapping_edits_the_first_wins() {
        assert_eq!(fixed("abcd", &[(1, 3, "x"), (0, 2, "y"), (3, 4, "z")]), "ycz");
        assert_eq!(fixed("abcd", &[(1, 3, "x"), (1, 3, "x")]), "axd");
        assert_eq!(fixed("abcd", &[(1, 1, "x"), (1, 1, "x")]), "axbcd");
    }

    #[test]
    fn edits_outside_the_text_or_inside_a_character_are_left_out() {
        assert_eq!(fixed("aé", &[(0, 1, "b"), (2, 3, "x"), (7, 9, "y")]), "bé");
    }

    #[test]
    fn guesses_are_left_to_people() {
        let span = Span::new(SourceId(0), 0..1);
        let fault = Diagnostic::at(&code::KB0201, span, "x").did_you_mean(span, "repeats");
        assert_eq!(fix(SourceId(0), &Source::new("x.yaml", b"a"), std::slice::from_ref(&fault)), "a");
        assert_eq!(fault.fix.unwrap().replacement, "repeats");
        let written = |text: &str| Diagnostic::at(&code::KB0201, span, "x").did_you_mean(span, text).fix.unwrap();
        assert_eq!(written("no").replacement, "\"no\"");
        assert_eq!(written("a, b").replacement, "\"a, b\"");
    }

    #[test]
    fn edits_of_other_sources_are_left_out() {
        let fault = Diagnostic::at(&code::KB0110, Span::default(), "x").fix(Span::default(), "y");
        assert_eq!(fix(SourceId(1), &Source::new("x.yaml", b"a"), &[fault]), "a");
    }

    #[test]
    fn ambiguous_scalars_become_strings() {
        let source = Source::new("x.yaml", b"a: yes # c\r\nb: [0777, 1:30, no]\r\non: {x: .5}\r\n");
        let text = fix(SourceId(0), &source, &yaml::read(SourceId(0), &source).diagnostics);
        assert_eq!(text, "a: \"yes\" # c\nb: [\"0777\", \"1:30\", \"no\"]\n\"on\": {x: \".5\"}\n");
        assert_eq!(yaml::read(SourceId(0), &Source::new("x.yaml", text.as_bytes())).diagnostics, []);
    }
}
