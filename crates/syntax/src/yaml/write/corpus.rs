//! Strings that YAML readers disagree on, the same ones on every run: for the unit tests, and for the tests that ask
//! foreign readers (`tests/it/validate/yaml_oracle.rs` includes this file).

use std::collections::BTreeSet;

/// Whole strings that have bitten somebody: scalars that another version of YAML takes for something else, indicators,
/// blanks and line breaks in every place, code points at the edges of what YAML calls printable.
#[rustfmt::skip]
const KNOWN: &[&str] = &[
    "", " ", "  ", "\n", "\n\n", "\r", "\r\n", "\t", "\0", "~", "null", "Null", "NULL", "nUll", "y", "Y", "n", "N",
    "yes", "Yes", "YES", "yEs", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF", "true", "True", "TRUE",
    "tRue", "false", "False", "FALSE", "t", "f", "T", "F", "0", "-0", "+0", "00", "007", "08", "0o7", "0O7", "0o+7",
    "0b1", "0b-1", "-0b1", "0B1", "0x1F", "0X1f", "-0x1", "0x_1", "1_000", "_1", "1_", "1__0", "_", "0_", "+1", "-1",
    "1.", ".5", "-.5", "+.5", ".", "..", "...", "1.5", "1.10", "1e3", "1E3", "1e+3", "1.0e3", "1.0e+3", "1e400",
    "-1e-400", ".e3", "1.e3", ".inf", ".Inf", ".INF", "-.inf", "+.inf", "inf", "Infinity", "-Infinity", "nan", "NaN",
    ".nan", ".NaN", ".NAN", "1:30", "1:30:30", "-1:30", "190:20:30.15", "01:30", "1:60", "0:0", "12:34:56",
    "2026-01-01", "2026-1-1", "2026-01-01T00:00:00Z", "2026-01-01 00:00:00", "2026-01-01t00:00:00.5+01:00",
    "2026-13-45", "0000-00-00", "=", "==", "<<", "<", "<<:", "-", "--", "---", "--- a", "---a", "...a", "... a", "- ",
    "- a", "-a", "?", "? ", "? a", "?a", ":", ": ", ": a", ":a", "a:", "a: ", "a: b", "a :b", "a:b", "::", "#", "# a",
    "a #", "a # b", "a#b", "a\u{a0}# b", "!", "!x", "!!str a", "!<x>", "&", "&a", "*", "*a", "%", "%YAML 1.2", "@",
    "@a", "`", "`a", "'", "''", "'a'", "\"", "\"\"", "\"a\"", "\\", "\\n", "a\\", "\\\"", "[", "]", "[]", "[a]", "[a",
    "{", "}", "{}", "{a: b}", "{{x}}", "${{ x }}", ",", "a, b", ", a", "|", "|-", "| a", ">", ">-", "> a", "a |",
    " a", "a ", "\ta", "a\t", "a\tb", "a  b", "a\nb", "a\nb\n", "a\nb\n\n", "\na", "\n\na\n", " a\nb", "  a\nb\n",
    "a \nb", "a\n b", "a\n  b\n", "a\n\nb", "a\n\n\nb\n", "a\n \nb", "a\n\tb", "\ta\nb", "a\t\nb", "#a\nb",
    "# a\n# b\n", "- a\n- b\n", "---\na", "a\n---\nb\n", "a\n...\nb\n", "a: b\nc: d\n", "a\r\nb", "a\rb", "%a\nb",
    "a\nb ", "a\nb\t", "? a\n: b\n", "\"a\nb", "'a\nb'", "!a\nb", "|\na", "a\u{85}b", "\u{85}", "a\u{85}",
    "a\u{2028}b", "\u{2028}", "a\u{2029}b", "\u{2029}", "\u{feff}", "\u{feff}a", "a\u{feff}b", "a\u{feff}\nb",
    "\u{a0}", "a\u{a0}b", "\u{a0}a", "a\u{a0}", "a\u{a0}\nb", "\u{ad}", "\u{200b}", "\u{200d}", "\u{202e}abc",
    "a\u{2066}b\u{2069}", "\u{3000}", "\u{7f}", "\u{80}", "\u{9f}", "\u{1b}[31m", "\u{7}", "\u{8}", "\u{b}", "\u{c}",
    "\u{1f}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{fffe}", "\u{ffff}", "\u{10000}", "\u{1fffe}", "\u{10fffe}",
    "\u{10ffff}", "\u{e0001}", "é", "e\u{301}", "日本", "🚀", "👩\u{200d}🔬", "a🚀\nb🚀\n", "１", "ｙｅｓ", "ſ", "K", "١", "½",
    "−1", "--flag=value", "--flag: value", "$(NAME)", "$$(NAME)", "100m", "1Gi", "1e3Mi", "*/5 * * * *", "0 3 * * 1",
    "@daily", "a@sha256:0123", "registry:5000/a/b:1.0", "10.0.0.1", "::1", "fe80::1", "1.2.3", "v1", "1/2", "0.1",
    "1e", "e1", "0x", "0o", "0b", "0d1", "1f", "1d", "1,000", "1 000", "(a)", "a;b", "a&b", "a*b", "a!b", "a|b",
    "a>b", "\n\ta\n", "\t\n\ta", "\n \n  a\n", "   \na\n", "a\n   ", "a\n   \n", "a\n   \n\n", "a\n\t", "a\n\t\n", "a\n\t\n\n",
    " \n\n\ta \n\t \n\n\n", "\n# a\n", " # a\nb\n", "\n- a\n", "\n---\na\n", " ---\na", "\n...\na\n", "\n\n\n\na\n\n\n\n", "\n\n",
    "all:\n\t@echo a \\\n\t  b\n", "#!/bin/sh\n\nif true; then\n\techo a \nfi\n", "\n?\n: a\n", "\n%YAML 1.2\na\n", "\t\ta\n\tb\n",
];

/// What random strings are made of: mostly what YAML has an opinion on.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b", "z", "A", "0", "1", "7", "9", "e", "E", "x", "o", "y", "n", "_", "+", "-", ".", ":", " ", " ", "\n",
    "\n", "\t", "\r", "#", ",", "[", "]", "{", "}", "&", "*", "!", "|", ">", "'", "\"", "%", "@", "`", "?", "=", "<",
    "~", "\\", "/", "$", "(", ")", ": ", " #", "- ", "? ", "---", "...", "<<", "\n\n", "\n ", " \n", "\n  ", "\r\n",
    "no", "yes", "null", "true", "\0", "\u{1}", "\u{7}", "\u{1b}", "\u{7f}", "\u{85}", "\u{9f}", "\u{a0}", "\u{ad}",
    "\u{200b}", "\u{202e}", "\u{2028}", "\u{2029}", "\u{d7ff}", "\u{e000}", "\u{feff}", "\u{fffd}", "\u{fffe}",
    "\u{ffff}", "\u{10000}", "\u{10ffff}", "é", "日", "🚀",
];

/// The characters of scalars that might be a number, a time or a date.
const NUMERIC: &[&str] =
    &["0", "1", "2", "5", "7", "8", "9", "_", "+", "-", ".", ":", "e", "E", "x", "b", "o", "T", " "];

/// Returns `count` different strings, the known ones first.
pub(super) fn strings(count: usize) -> Vec<String> {
    let mut strings: Vec<String> = KNOWN.iter().map(|&known| known.to_owned()).collect();
    strings.extend(["a", "a ", " a", "é", "-", "\n", "a\n", "\"", "a: "].map(|piece| piece.repeat(3000)));
    for length in 1010..1040 {
        strings.extend([
            "k".repeat(length),
            format!("{} ", "k".repeat(length)),
            "é".repeat(length),
            "\t".repeat(length / 2),
        ]);
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    strings.retain(|string| seen.insert(string.clone()));
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    while strings.len() < count {
        let string = random.string();
        if seen.insert(string.clone()) {
            strings.push(string);
        }
    }
    strings.truncate(count);
    strings
}

/// A xorshift generator: the corpus is the same on every machine and with every version of every crate.
pub(super) struct Random(pub u64);

impl Random {
    /// Returns a number below `bound`.
    pub(super) fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 33).unwrap() % bound
    }

    fn string(&mut self) -> String {
        match self.below(8) {
            0..=2 => self.join(NUMERIC, 1, 8),
            3..=5 => self.join(PIECES, 1, 7),
            6 => self.join(PIECES, 8, 60),
            _ => {
                let known = KNOWN[self.below(KNOWN.len())];
                let piece = PIECES[self.below(PIECES.len())];
                if self.below(2) == 0 { format!("{known}{piece}") } else { format!("{piece}{known}") }
            }
        }
    }

    fn join(&mut self, pieces: &[&str], least: usize, most: usize) -> String {
        (0..least + self.below(most - least + 1)).map(|_| pieces[self.below(pieces.len())]).collect()
    }
}
