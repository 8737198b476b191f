use super::*;

fn map(text: &str) -> (SourceMap, impl Fn(Range<usize>) -> Place) {
    let mut sources = SourceMap::default();
    let id = sources.add(Source::new("a.yaml", text.as_bytes()));
    (sources, move |range| Place::Span(Span::new(id, range)))
}

fn lines_and_columns(text: &str, range: Range<usize>) -> (usize, usize, usize, usize) {
    let (sources, place) = map(text);
    let place = place(range);
    let location = Location::of(&place, &sources);
    let (start, end) = (location.start().unwrap(), location.end().unwrap());
    (start.line, start.column, end.line, end.column)
}

#[test]
fn columns_count_characters_and_the_end_is_exclusive() {
    assert_eq!(lines_and_columns("a: b\n", 0..1), (1, 1, 1, 2));
    assert_eq!(lines_and_columns("é: 🦀x\n", 4..9), (1, 4, 1, 6));
}

#[test]
fn trailing_line_breaks_are_not_shown_but_are_edited() {
    assert_eq!(lines_and_columns("a:\n  b\n\nc\n", 3..8), (2, 1, 2, 4));
    let (sources, place) = map("a:\n  b\n\nc\n");
    let Place::Span(span) = place(3..8) else { panic!() };
    assert_eq!(Region::exact(span, &sources).unwrap().end(), Position { line: 4, column: 1 });
}

#[test]
fn spans_off_the_text_or_inside_a_character_are_moved_to_a_border() {
    assert_eq!(lines_and_columns("ab", 7..9), (1, 3, 1, 3));
    assert_eq!(lines_and_columns("🦀", 2..3), (1, 1, 1, 1));
    assert_eq!(lines_and_columns("", 0..0), (1, 1, 1, 1));
    let backwards = Range { start: 2, end: 1 };
    assert_eq!(lines_and_columns("abc", backwards), (1, 3, 1, 3));
}

#[test]
fn an_unknown_source_has_neither_path_nor_region() {
    let place = Place::Span(Span::default());
    let sources = SourceMap::default();
    let location = Location::of(&place, &sources);
    assert_eq!(location.path, "");
    assert!(location.region.is_none());
}

#[test]
fn a_line_of_a_file_whose_text_is_not_known() {
    let place = Place::Line("run.sh".to_owned(), 12);
    let (sources, _) = map("");
    let location = Location::of(&place, &sources);
    let at = Some(Position { line: 12, column: 1 });
    assert_eq!((location.path, location.start(), location.end()), ("run.sh", at, at));
}
