//! Which metrics are meant: a name, and labels where several series have that name: `avg_busbw{test=all_gather_perf}`.

use std::collections::BTreeMap;
use std::fmt;

use super::{UnitError, quoted};

/// A name with the labels that a series must have; without labels, every series of that name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MetricSelector {
    name: String,
    labels: BTreeMap<String, String>,
}

const GRAMMAR: &str =
    "write a name, or a name and labels: `avg_busbw{test=all_gather_perf}`, `median{command=\"sleep 0.1, twice\"}`";

impl MetricSelector {
    /// Reads a name, or a name followed by labels in braces. A value with `,`, `}`, `"` or a blank at its end is written in
    /// double quotes, in which `\` comes before `"` and `\`.
    pub fn parse(text: &str) -> Result<Self, UnitError> {
        let Some((name, rest)) = text.split_once('{') else {
            return Ok(Self { name: text.to_owned(), labels: BTreeMap::new() });
        };
        let refused = |message: String| UnitError::new(message).help(GRAMMAR);
        if name.is_empty() {
            return Err(refused(format!("{} names no metric", quoted(text))));
        }
        let mut labels = BTreeMap::new();
        let mut rest = rest;
        loop {
            let Some((label, after)) = rest.split_once('=').filter(|(label, _)| is_label(label)) else {
                return Err(refused(format!("{} has no `LABEL=VALUE` after `{{`", quoted(text))));
            };
            let Some((value, after)) = value(after) else {
                return Err(refused(format!("the value of `{label}` in {} does not end", quoted(text))));
            };
            if labels.insert(label.trim().to_owned(), value).is_some() {
                return Err(refused(format!("{} has `{}` twice", quoted(text), label.trim())));
            }
            match after.split_at_checked(1) {
                Some((",", more)) => rest = more,
                Some(("}", "")) => return Ok(Self { name: name.to_owned(), labels }),
                _ => return Err(refused(format!("{} does not end in `}}`", quoted(text)))),
            }
        }
    }

    /// Reads a text that was parsed before, or that comes from a result or a person: a text that is not a selector is a name.
    pub fn of(text: &str) -> Self {
        Self::parse(text).unwrap_or_else(|_| Self { name: text.to_owned(), labels: BTreeMap::new() })
    }

    /// Returns the selector of exactly one series.
    pub fn of_series(name: &str, labels: &BTreeMap<String, String>) -> Self {
        Self { name: name.to_owned(), labels: labels.clone() }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the labels that a series must have.
    pub fn labels(&self) -> &BTreeMap<String, String> {
        &self.labels
    }

    /// Returns true where a label that both name has two values, so that no series is meant by both.
    pub fn excludes(&self, other: &Self) -> bool {
        self.labels.iter().any(|(label, value)| other.labels.get(label).is_some_and(|known| known != value))
    }

    /// Returns true for a series of this name that has these labels, possibly among others.
    pub fn has(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        self.name == name && self.labels.iter().all(|(label, value)| labels.get(label) == Some(value))
    }
}

impl fmt::Display for MetricSelector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        for (at, (label, value)) in self.labels.iter().enumerate() {
            let before = if at == 0 { '{' } else { ',' };
            if is_plain(value) {
                write!(f, "{before}{label}={value}")?;
            } else {
                write!(f, "{before}{label}=\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""))?;
            }
        }
        if self.labels.is_empty() { Ok(()) } else { f.write_str("}") }
    }
}

fn is_label(text: &str) -> bool {
    let text = text.trim();
    !text.is_empty() && !text.contains(|letter: char| letter.is_whitespace() || matches!(letter, '{' | '}' | ',' | '"'))
}

fn is_plain(value: &str) -> bool {
    value.trim() == value && !value.contains([',', '}', '"'])
}

/// Returns the value that `text` begins with, and what follows it.
fn value(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let Some(quoted) = text.strip_prefix('"') else {
        let (value, rest) = text.split_at_checked(text.find([',', '}'])?)?;
        return Some((value.trim().to_owned(), rest));
    };
    let mut value = String::new();
    let mut letters = quoted.char_indices();
    loop {
        match letters.next()? {
            (at, '"') => return Some((value, quoted.get(at + 1..)?.trim_start())),
            (_, '\\') => value.push(letters.next()?.1),
            (_, letter) => value.push(letter),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::MetricSelector;

    fn labels(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(label, value)| ((*label).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let values = ["all_gather", "", "a b", " a", "a,b", "a}b", "a\"b\\", "x=y", "{", "sleep .1 && echo \"}\""];
        for value in values {
            for other in values {
                let labels = labels(&[("command", value), ("n", other)]);
                let shown = MetricSelector::of_series("median", &labels).to_string();
                let read = MetricSelector::parse(&shown).unwrap();
                assert_eq!((read.name(), read.labels()), ("median", &labels), "{shown}");
            }
        }
        assert_eq!(MetricSelector::parse("loss").unwrap().to_string(), "loss");
    }

    #[test]
    fn selectors_with_another_value_of_a_label_exclude_each_other() {
        let excludes = |one: &str, other: &str| {
            MetricSelector::parse(one).unwrap().excludes(&MetricSelector::parse(other).unwrap())
        };
        assert!(excludes("x{a=1,b=2}", "x{b=3}"));
        assert!(!excludes("x{a=1,b=2}", "x{b=2}") && !excludes("x{a=1}", "x{b=2}") && !excludes("x", "x"));
    }

    #[test]
    fn only_values_that_need_them_have_quotes() {
        let shown = |value: &str| MetricSelector::of_series("x", &labels(&[("a", value)])).to_string();
        assert_eq!([shown("b c"), shown("b,c"), shown(" b")], ["x{a=b c}", "x{a=\"b,c\"}", "x{a=\" b\"}"]);
    }

    #[test]
    fn labels_choose_among_series() {
        let series = labels(&[("test", "all_gather"), ("op", "sum")]);
        for (selector, is_chosen) in [
            ("busbw", true),
            ("busbw{test=all_gather}", true),
            ("busbw{ op = sum , test = all_gather }", true),
            ("busbw{test=all_reduce}", false),
            ("busbw{type=all_gather}", false),
            ("algbw", false),
        ] {
            assert_eq!(MetricSelector::parse(selector).unwrap().has("busbw", &series), is_chosen, "{selector}");
        }
    }

    #[test]
    fn what_is_no_selector() {
        for text in [
            "{a=b}",
            "x{",
            "x{}",
            "x{a}",
            "x{a=b",
            "x{a=b}y",
            "x{a=\"b}",
            "x{a=b,}",
            "x{a=b,a=c}",
            "x{=b}",
            "x{a b=c}",
            "x{a{=b}",
        ] {
            let refused = MetricSelector::parse(text).unwrap_err();
            assert!(refused.help.is_some(), "{text}");
            assert!(MetricSelector::of(text).has(text, &BTreeMap::new()), "{text}");
        }
    }
}
