use super::*;

#[test]
fn what_a_terminal_obeys_is_spelled_out() {
    let table = [
        ("plain `text` with é, 語 and 🦀", "plain `text` with é, 語 and 🦀"),
        ("\x1b[31mred\x07", "\\u{1b}[31mred\\u{7}"),
        ("\u{9b}31m", "\\u{9b}31m"),
        ("a\u{202e}b\u{2066}c\u{200f}", "a\\u{202e}b\\u{2066}c\\u{200f}"),
        ("nul\0del\x7f", "nul\\u{0}del\\u{7f}"),
        ("a\r\nb\tc", "a\\r\\nb\\tc"),
        ("zero\u{200b}width\u{feff}", "zero\\u{200b}width\\u{feff}"),
        ("\u{2028}\u{ffff}\u{e0041}", "\\u{2028}\\u{ffff}\\u{e0041}"),
        ("joined 👩\u{200d}💻", "joined 👩\u{200d}💻"),
    ];
    for (text, expected) in table {
        assert_eq!(printable(text, LineBreaks::Escape), expected);
    }
    assert_eq!(printable("a\nb\r", LineBreaks::Keep), "a\nb\\r");
}
