//! The text formats of Prometheus and of OpenMetrics.
//!
//! A sample is `name{label="value",…} value [timestamp] [# exemplar]`; lines with `#` describe families. Units come from
//! `# UNIT`, or from the last word of a name, which by convention is the base unit.

use std::collections::{BTreeMap, BTreeSet};

use super::number;

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sample {
    /// The name, with the suffix that its kind adds, such as `_total`.
    pub name: String,
    pub labels: BTreeMap<String, String>,
    /// The value, not finite where the text says so; or why the text is not a value.
    pub value: Result<f64, String>,
    /// The line, from 1.
    pub line: u64,
}

/// Reads an exposition line by line, and remembers what it says about families.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reader {
    units: BTreeMap<String, String>,
    kinds: BTreeMap<String, String>,
    /// The names of samples so far.
    names: BTreeSet<String>,
}

/// The suffixes of the samples of a family.
const SUFFIXES: [&str; 6] = ["_total", "_sum", "_count", "_bucket", "_created", "_info"];

impl Reader {
    /// Reads a line, which is number `line`; returns none if it is not a sample.
    ///
    /// # Errors
    /// Why the line is neither a sample nor a comment, for people.
    pub(crate) fn line(&mut self, line: u64, text: &str) -> Result<Option<Sample>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        if let Some(comment) = text.strip_prefix('#') {
            self.comment(comment);
            return Ok(None);
        }
        let sample = sample(line, text).ok_or_else(|| format!("line {line} is not a sample: `{}`", shortened(text)))?;
        if sample.value.is_ok() && !self.names.contains(&sample.name) {
            self.names.insert(sample.name.clone());
        }
        Ok(Some(sample))
    }

    /// Returns whether samples or a family of this name were there before.
    pub(crate) fn knows(&self, name: &str) -> bool {
        self.names.contains(name) || self.kind_of(name).is_some()
    }

    /// Returns the kind that `# TYPE` declares for the family of `name`, such as `histogram`.
    pub(crate) fn kind_of(&self, name: &str) -> Option<&str> {
        self.kinds.get(name).or_else(|| self.kinds.get(family(name))).map(String::as_str)
    }

    /// Returns the unit of the samples called `name`: `1` for counts and for what names no unit.
    pub(crate) fn unit_of(&self, name: &str) -> String {
        self.declared_unit(name).unwrap_or_else(|| "1".to_owned())
    }

    /// Returns the unit that `# UNIT` or the name says of the samples called `name`; `1` for the counts of a distribution.
    pub(crate) fn declared_unit(&self, name: &str) -> Option<String> {
        let may_count =
            self.kind_of(name).is_none_or(|kind| matches!(kind, "histogram" | "summary" | "gaugehistogram"));
        if may_count && (name.ends_with("_count") || name.ends_with("_bucket")) {
            return Some("1".to_owned());
        }
        let family = family(name);
        let declared = self.units.get(name).or_else(|| self.units.get(family));
        declared.map(|unit| short_unit(unit).unwrap_or(unit).to_owned()).or_else(|| unit_in(family))
    }

    fn comment(&mut self, comment: &str) {
        let mut words = comment.split_whitespace();
        match (words.next(), words.next(), words.next()) {
            (Some("UNIT"), Some(name), Some(unit)) => {
                self.units.insert(name.to_owned(), unit.to_owned());
            }
            (Some("TYPE"), Some(name), Some(kind)) => {
                self.kinds.insert(name.to_owned(), kind.to_owned());
            }
            _ => {}
        }
    }
}

fn family(name: &str) -> &str {
    SUFFIXES.iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name)
}

/// Returns the unit in the last word of a name, if there is one: `tokens/s` for `…_tokens_per_second`.
fn unit_in(family: &str) -> Option<String> {
    let mut words = family.rsplit('_');
    let last = words.next().unwrap_or_default();
    if words.next() == Some("per") {
        let what = words.next().unwrap_or_default();
        let per = short_unit(last).unwrap_or(last);
        return Some(format!("{}/{per}", short_unit(what).unwrap_or(what)));
    }
    short_unit(last).map(str::to_owned)
}

fn short_unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "seconds" | "second" => "s",
        "milliseconds" | "ms" => "ms",
        "microseconds" | "us" => "us",
        "nanoseconds" | "ns" => "ns",
        "bytes" => "B",
        "bits" => "bit",
        "ratio" => "1",
        "percent" => "%",
        "celsius" => "Cel",
        "joules" => "J",
        "watts" => "W",
        "volts" => "V",
        "amperes" => "A",
        "meters" => "m",
        "grams" => "g",
        "hertz" => "Hz",
        _ => return None,
    })
}

fn sample(line: u64, text: &str) -> Option<Sample> {
    let name_end = text.find(|letter: char| letter == '{' || letter.is_whitespace())?;
    let (name, rest) = text.split_at_checked(name_end)?;
    if !is_name(name) {
        return None;
    }
    let (labels, rest) = match rest.trim_start().strip_prefix('{') {
        Some(inside) => labels(inside)?,
        None => (BTreeMap::new(), rest),
    };
    let mut words = rest.split_whitespace();
    let word = words.next()?;
    // A timestamp may follow, and an exemplar behind `#`.
    let is_whole = words.take_while(|word| *word != "#").count() <= 1;
    // Go and Python print `+Inf`; neither format groups digits.
    let value = number::parse(word).ok().filter(|_| is_whole && !word.contains(','));
    let value = value.ok_or_else(|| format!("`{}` is not a number", shortened(rest.trim())));
    Some(Sample { name: name.to_owned(), labels, value, line })
}

fn is_name(text: &str) -> bool {
    let known = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | ':');
    text.chars().all(known) && !text.starts_with(|first: char| first.is_ascii_digit()) && !text.is_empty()
}

/// Reads labels up to the brace that closes them, and returns what follows it.
fn labels(mut text: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        text = text.trim_start_matches([' ', '\t', ',']);
        if let Some(rest) = text.strip_prefix('}') {
            return Some((labels, rest));
        }
        let (name, rest) = text.split_once('=')?;
        let (value, rest) = quoted(rest.trim_start().strip_prefix('"')?)?;
        labels.insert(name.trim().to_owned(), value);
        text = rest;
    }
}

/// Reads up to the quote that ends a value, and returns what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some((value, text.get(at + 1..)?)),
            '\\' => match letters.next()?.1 {
                'n' => value.push('\n'),
                escaped @ ('"' | '\\') => value.push(escaped),
                other => value.extend(['\\', other]),
            },
            _ => value.push(letter),
        }
    }
    None
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::Reader;

    fn labels(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn samples() {
        let cases = [
            ("up 1", "up", labels(&[]), 1.0),
            ("a:b_total{} 3.5e2 1795233576.5", "a:b_total", labels(&[]), 350.0),
            (r#"a{x="1",y="2",} +Inf"#, "a", labels(&[("x", "1"), ("y", "2")]), f64::INFINITY),
            (r#"a{x="} # \"q\" \\ \n"} 2 # {t="1"} 9 8"#, "a", labels(&[("x", "} # \"q\" \\ \n")]), 2.0),
            (r#"a { x = "1" , y="" } -4"#, "a", labels(&[("x", "1"), ("y", "")]), -4.0),
        ];
        for (text, name, labels, value) in cases {
            let found = Reader::default().line(7, text);
            let found = found.ok().flatten().unwrap_or_else(|| panic!("{text}"));
            assert_eq!(
                (found.name.as_str(), &found.labels, found.value, found.line),
                (name, &labels, Ok(value), 7),
                "{text}"
            );
        }
        assert!(
            Reader::default()
                .line(1, "a NaN")
                .is_ok_and(|found| found.is_some_and(|found| found.value.is_ok_and(f64::is_nan)))
        );
    }

    #[test]
    fn what_is_no_sample() {
        for text in ["a", "1a 2", "a{x=\"1\"}", "<html>", "{x=\"1\"} 2", "a{x=\"1\" 2", "a{x=1} 2"] {
            assert!(Reader::default().line(1, text).is_err(), "{text}");
        }
        for text in ["a b", "a 1,000", "a 5ms", "a 1 2 3"] {
            let read = Reader::default().line(1, text);
            assert!(read.is_ok_and(|found| found.is_some_and(|found| found.value.is_err())), "{text}");
        }
        for text in ["", "  ", "# HELP a b", "#", "# EOF"] {
            assert_eq!(Reader::default().line(1, text), Ok(None), "{text}");
        }
    }

    #[test]
    fn units() {
        let mut reader = Reader::default();
        for text in ["# TYPE wait histogram", "# UNIT wait seconds", "# TYPE work counter", "# UNIT work furlongs"] {
            assert_eq!(reader.line(1, text), Ok(None));
        }
        let cases = [
            ("wait_sum", "s"),
            ("wait_count", "1"),
            ("wait_bucket", "1"),
            ("req_seconds_count", "1"),
            ("req_seconds_bucket", "1"),
            ("req_seconds_sum", "s"),
            ("work_total", "furlongs"),
            ("out_tokens_per_second", "tokens/s"),
            ("net_bytes_per_second", "B/s"),
            ("net_bytes_total", "B"),
            ("cache_hit_ratio", "1"),
            ("cpu_percent", "%"),
            ("seconds", "s"),
            ("requests", "1"),
            ("per", "1"),
        ];
        for (name, unit) in cases {
            assert_eq!(reader.unit_of(name), unit, "{name}");
        }
        assert_eq!(reader.line(9, "# EOF"), Ok(None));
    }
}
