//! Values as Python prints them: the `repr` of dicts, and what `json.dumps` makes of them.
//!
//! One reader for both, because `json.dumps` writes `NaN` and `Infinity`, which no reader of JSON takes. Numbers also come
//! as texts (`'1.535'`) and wrapped (`np.float64(0.5)`, `tensor(0.5, device='cuda:0')`).

use crate::number;
use crate::series::{Reading, Sample};

/// The maximum nesting of lists and dicts.
const MAX_DEPTH: usize = 64;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Literal {
    /// `None`, `null`.
    Nothing,
    /// `True`, `false`: nothing that is measured.
    Flag(bool),
    /// A number, also one that is not finite.
    Number(f64),
    /// A text without its quotes.
    Text(String),
    /// A list or a tuple.
    List(Vec<Self>),
    /// A dict in the order in which it was printed.
    Dict(Vec<(String, Self)>),
}

impl Literal {
    /// Reads the value that `text` begins with.
    pub(super) fn read(text: &str) -> Option<Self> {
        Self::read_first(text).0
    }

    /// Reads the value that `text` begins with, and returns what follows it, or what follows the unreadable place.
    pub(super) fn read_first(text: &str) -> (Option<Self>, &str) {
        let mut reader = Reader { rest: text, depth: 0 };
        (reader.value(), reader.rest)
    }

    /// Returns the value under `key`; of equal keys the last, as in Python.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the keys and values of a dict.
    pub(super) fn entries(&self) -> &[(String, Self)] {
        if let Self::Dict(entries) = self { entries } else { &[] }
    }

    /// Returns the number, also when it was printed as a text.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Text(text) => number::parse(text).ok(),
            Self::Nothing | Self::Flag(_) | Self::List(_) | Self::Dict(_) => None,
        }
    }

    /// Returns true for what may occur where a number is expected: not for flags, lists and dicts.
    pub(super) fn is_value(&self) -> bool {
        matches!(self, Self::Number(_) | Self::Text(_) | Self::Nothing)
    }

    /// Reads it where a number is expected.
    pub(super) fn reading(&self, place: Sample) -> Reading {
        let fault = |what: &str| Reading::of(place, Err(format!("{what} is not a number")));
        match self {
            Self::Number(number) => Reading::of(place, Ok(*number)),
            Self::Text(text) => Reading::of_text(place, text),
            Self::Nothing => fault("`None`"),
            Self::Flag(flag) => fault(&format!("`{flag}`")),
            Self::List(_) => fault("a list"),
            Self::Dict(_) => fault("a dict"),
        }
    }

    /// Returns the text.
    pub(super) fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Option<Literal> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return None;
        }
        let value = match self.peek()? {
            '{' => self.dict()?,
            '[' => Literal::List(self.list('[', ']')?),
            '(' => Literal::List(self.list('(', ')')?),
            quote @ ('\'' | '"') => Literal::Text(self.quoted(quote)?),
            _ => self.word()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest = self.rest.trim_start();
        self.rest.chars().next()
    }

    /// Skips `letter` if it is next, and returns whether it was.
    fn takes(&mut self, letter: char) -> bool {
        let after = self.rest.trim_start().strip_prefix(letter);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn dict(&mut self) -> Option<Literal> {
        let mut entries = Vec::new();
        self.takes('{');
        while !self.takes('}') {
            let quote = self.peek().filter(|letter| matches!(letter, '\'' | '"'))?;
            let key = self.quoted(quote)?;
            if !self.takes(':') {
                return None;
            }
            entries.push((key, self.value()?));
            if !self.takes(',') && self.peek()? != '}' {
                return None;
            }
        }
        Some(Literal::Dict(entries))
    }

    fn list(&mut self, open: char, close: char) -> Option<Vec<Literal>> {
        let mut values = Vec::new();
        self.takes(open);
        while !self.takes(close) {
            values.push(self.value()?);
            if !self.takes(',') && self.peek()? != close {
                return None;
            }
        }
        Some(values)
    }

    fn quoted(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest.strip_prefix(quote)?.chars();
        // What comes after a quote that nothing closes is inside of it.
        self.rest = "";
        loop {
            match letters.next()? {
                letter if letter == quote => break,
                '\\' => match letters.next()? {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    letter @ ('u' | 'x') => {
                        let length = if letter == 'u' { 4 } else { 2 };
                        let digits: String = letters.by_ref().take(length).collect();
                        text.push(u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
                    }
                    letter => text.push(letter),
                },
                letter => text.push(letter),
            }
        }
        self.rest = letters.as_str();
        Some(text)
    }

    /// A word that begins with `word` instead of a value: `n/a`, `x.xx`. No program prints it as Python or JSON.
    fn bare(&mut self, word: &'a str) -> Option<Literal> {
        let end = self.rest.find([',', '}', ']', ')', '\n'])?;
        let (more, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        let text = format!("{word}{}", more.trim_end());
        Some(Literal::Text(text)).filter(|_| !word.is_empty() || !more.trim().is_empty())
    }

    /// A number, a constant, or a number wrapped in a call.
    fn word(&mut self) -> Option<Literal> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '+' | '-' | '.' | '_');
        let end = self.rest.find(|letter| !is_part(letter)).unwrap_or(self.rest.len());
        let (word, rest): (&'a str, &'a str) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        if rest.starts_with('(') {
            self.takes('(');
            let value = self.value()?;
            // `device='cuda:0'` and the like.
            let (_, rest) = self.rest.split_once(')')?;
            self.rest = rest;
            return Some(value);
        }
        match word {
            "None" | "null" => Some(Literal::Nothing),
            "True" | "true" => Some(Literal::Flag(true)),
            "False" | "false" => Some(Literal::Flag(false)),
            _ => match number::parse(word) {
                Ok(number) => Some(Literal::Number(number)),
                Err(_) => self.bare(word),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Literal;

    #[test]
    fn a_dict_of_python() {
        let text = "{'loss': 0.5, \"a'b\": 'x\\'y', 'n': None, 'l': [1, (2.0, 3), ], 'd': {'k': '7e-06'}} and more";
        let dict = Literal::read(text).unwrap();
        assert_eq!(dict.get("loss"), Some(&Literal::Number(0.5)));
        assert_eq!(dict.get("a'b").and_then(Literal::text), Some("x'y"));
        assert_eq!(dict.get("n"), Some(&Literal::Nothing));
        let tuple = Literal::List(vec![Literal::Number(2.0), Literal::Number(3.0)]);
        assert_eq!(dict.get("l"), Some(&Literal::List(vec![Literal::Number(1.0), tuple])));
        assert_eq!(dict.get("d").and_then(|inner| inner.get("k")).and_then(Literal::number), Some(7e-6));
    }

    #[test]
    fn numbers_that_json_does_not_know() {
        let dict = Literal::read(r#"{"a": NaN, "b": -Infinity, "c": "inf", "e": true, "\u00e9": 1E-3}"#).unwrap();
        assert!(dict.get("a").and_then(Literal::number).is_some_and(f64::is_nan));
        assert_eq!(dict.get("b").and_then(Literal::number), Some(f64::NEG_INFINITY));
        assert_eq!(dict.get("c").and_then(Literal::number), Some(f64::INFINITY));
        assert_eq!(dict.get("e").and_then(Literal::number), None);
        assert_eq!(dict.get("\u{e9}").and_then(Literal::number), Some(0.001));
    }

    #[test]
    fn numbers_wrapped_by_libraries() {
        let dict = Literal::read("{'a': np.float64(0.25), 'b': tensor(nan, device='cuda:0'), 'c': 1}").unwrap();
        assert_eq!(dict.get("a").and_then(Literal::number), Some(0.25));
        assert!(dict.get("b").and_then(Literal::number).is_some_and(f64::is_nan));
        assert_eq!(dict.get("c").and_then(Literal::number), Some(1.0));
    }

    #[test]
    fn what_is_instead_of_a_number() {
        let dict = Literal::read("{'a': n/a, 'b': [x.xx, --], 'c': 1}").unwrap();
        assert_eq!(dict.get("a").and_then(Literal::text), Some("n/a"));
        assert_eq!(
            dict.get("b"),
            Some(&Literal::List(["x.xx", "--"].map(|text| Literal::Text(text.to_owned())).into()))
        );
        assert_eq!(dict.get("c"), Some(&Literal::Number(1.0)));
    }

    #[test]
    fn what_is_cut_or_something_else() {
        let deep = "[".repeat(100_000);
        let calls = "f(".repeat(100_000);
        for text in
            ["", "{", "{'a'", "{'a':", "{'a': 1", "{'a': 'x", "{'a', 'b'}", "{a: 1}", "{'a': 1 'b': 2}", &deep, &calls]
        {
            assert_eq!(Literal::read(text), None, "{}", text.get(..20).unwrap_or(text));
        }
    }
}
