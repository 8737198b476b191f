//! A metric's pattern: the lines that it matches, and the number in each.
//!
//! A log of gigabytes holds few lines that matter. A second expression that matches wherever the pattern could, whatever
//! precedes the line's text, finds the next candidate line; the pattern itself then sees that line alone.

use regex::{CaptureLocations, Regex, RegexBuilder};
use regex_syntax::hir::{Class, ClassBytes, ClassBytesRange, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use super::line::Line;
use super::literal_matcher::{Straight, Wanted};
use super::quantity::Quantities;
use super::series::Sample;
use super::token::{cut_token, is_alone, token_of};
use super::{number, unit_word, value_group};
use kubebench_syntax::unit::MetricUnit;

/// The size limit of a compiled pattern: more than any [within the budget](super::pattern_budget) has.
const SIZE_LIMIT: usize = 256 << 20;

/// A compiled pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    regex: Regex,
    /// Matches at least wherever `regex` matches within a line, regardless of where lines and words begin and end.
    candidate: Regex,
    /// `regex` at the start of a text, which gives its groups in one go.
    at_start: Regex,
    /// The same without the engine, if the pattern has only one alternative.
    straight: Option<Straight>,
    value: usize,
    step: Option<usize>,
    /// Matches lines in which the group `value` is what programs print for a missing value;
    /// none where the pattern itself matches those.
    without_value: Option<Regex>,
    unit: Option<MetricUnit>,
    /// Whether the text before the group `value` may match the beginning of a number.
    follows_any: bool,
    /// Whether the text after it may match the end of one.
    precedes_any: bool,
}

/// Memory for where the groups of a pattern are, and for where lines match.
#[derive(Clone, Debug)]
pub(crate) struct Groups {
    locations: CaptureLocations,
    /// Whether the line before matched at its start: this one will too.
    is_at_start: bool,
    /// Reads the values.
    quantities: Quantities,
}

/// The result of a line.
#[derive(Debug, PartialEq)]
pub(crate) enum Hit {
    Value(Value),
    /// The pattern matched, and the content of its group `value` is not a number: the reason.
    NoNumber(String),
}

/// The number of a line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Value {
    /// The number.
    pub value: f64,
    /// The step, if the pattern has the group `step` and its content is a whole number.
    pub step: Option<u64>,
}

impl Pattern {
    /// Compiles `text`, which has a group `value`.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn new(text: &str) -> Result<Self, String> {
        let build = |text: &str| RegexBuilder::new(text).size_limit(SIZE_LIMIT).build();
        let regex = build(text).map_err(|error| error.to_string())?;
        let hir = regex_syntax::parse(text).map_err(|error| error.to_string())?;
        let follows_any = value_group::follows_any(&hir);
        let precedes_any = value_group::precedes_any(&hir);
        let without = value_group::without_value(&hir);
        let all = match &without {
            Some(without) => Hir::alternation(vec![hir.clone(), without.clone()]),
            None => hir.clone(),
        };
        let candidate = build(&without_places(&all).to_string()).map_err(|error| error.to_string())?;
        let without_value = without.map(|without| build(&without.to_string())).transpose();
        let without_value = without_value.map_err(|error| error.to_string())?;
        let straight = Straight::new(&hir);
        let at_start = Hir::concat(vec![Hir::look(Look::Start), hir]);
        let at_start = build(&at_start.to_string()).map_err(|error| error.to_string())?;
        let group = |name: &str| regex.capture_names().position(|group| group == Some(name));
        let value = group("value").ok_or("the pattern has no group named `value`")?;
        Ok(Self {
            text: text.to_owned(),
            step: group("step"),
            candidate,
            at_start,
            straight,
            value,
            regex,
            without_value,
            unit: None,
            follows_any,
            precedes_any,
        })
    }

    /// Sets the unit of values to `unit`: those with another of the same dimension are converted.
    #[must_use]
    pub fn in_unit(self, unit: Option<MetricUnit>) -> Self {
        Self { unit, ..self }
    }

    /// Returns the pattern for `key=value`, `key: value` and the like: quotes and blanks do not matter.
    ///
    /// A value is all of what begins with a digit up to a blank, a quote, a bracket or a comma that no digit follows. What
    /// programs print for a value that they do not have matches too, and is no number; other words are prose.
    ///
    /// # Errors
    /// Why it cannot be compiled; a key may be too long.
    pub(crate) fn of_key(key: &str) -> Result<Self, String> {
        Self::new(&pattern_of_key(key))
    }

    /// Returns an offset in the next line of `text`, from offset `from` on, that may match.
    pub(crate) fn candidate(&self, text: &str, from: usize) -> Option<usize> {
        self.candidate.shortest_match_at(text, from)
    }

    /// Makes the memory that [`matches`](Self::matches) needs.
    pub(crate) fn groups(&self) -> Groups {
        let quantities = Quantities::in_unit(self.unit.clone());
        Groups { locations: self.regex.capture_locations(), is_at_start: false, quantities }
    }

    /// Looks at the text of one line.
    pub(crate) fn matches(&self, text: &str, groups: &mut Groups) -> Option<Hit> {
        let Groups { locations, is_at_start, quantities } = groups;
        let wanted = Wanted { value: self.value, step: self.step };
        let followed = self.straight.as_ref().filter(|_| *is_at_start);
        let followed = followed.and_then(|straight| straight.follow(text.as_bytes(), &wanted));
        let (value, step, whole) = if let Some((value, step, end)) = followed {
            (value, step, (0, end))
        } else {
            if !*is_at_start || self.at_start.captures_read(locations, text).is_none() {
                let Some(found) = self.regex.captures_read(locations, text) else {
                    return self.absent(text);
                };
                *is_at_start = found.start() == 0;
            }
            let whole = locations.get(0)?;
            (locations.get(self.value)?, self.step.and_then(|step| locations.get(step)), whole)
        };
        let step = step.and_then(|step| step_of(text.get(step.0..step.1)?));
        let found = token_of(text.get(value.0..value.1)?);
        let place = (value.0, value.0 + found.len());
        let behind = text.get(place.1..)?;
        let begin = if self.follows_any { value.0 } else { whole.0 };
        let end = if self.precedes_any { value.1 } else { whole.1 };
        let read = if is_alone(text, place) {
            quantities.read(found)
        } else if let Some(token) = cut_token(text, value, (begin, end)) {
            Err(format!(
                "`{found}` is only a part of `{token}`: let the group `value` match all of it, as `(?P<value>\\S+)` \
                 does"
            ))
        } else if end <= value.1 && unit_word::is_first_group(found, behind) {
            Err(format!(
                "`{found}` may be the first part of `{found}{behind}`: print digits without blanks, or let the pattern match what follows"
            ))
        } else {
            quantities.read_beside(found, unit_word::beside(text, place, whole), behind)
        };
        Some(Hit::of(read, step))
    }

    /// Looks at a line that the pattern does not match: whether it would if the value were one that programs do not have.
    fn absent(&self, text: &str) -> Option<Hit> {
        let found = self.without_value.as_ref()?.captures(text)?.name("value")?.as_str();
        Some(Hit::of(number::parse(found), None))
    }

    /// Returns the texts that every match must contain, longest first: a near miss may contain them too.
    pub(crate) fn literals(&self) -> Vec<String> {
        let mut literals = Vec::new();
        if let Ok(hir) = regex_syntax::parse(&self.text) {
            collect_literals(&hir, &mut literals);
        }
        let mut words: Vec<String> = literals
            .iter()
            .flat_map(|literal| literal.split(|letter: char| !letter.is_alphanumeric()))
            .filter(|word| word.len() > 1)
            .map(str::to_lowercase)
            .collect();
        words.sort_by_key(|word| std::cmp::Reverse(word.len()));
        words.dedup();
        words
    }
}

impl Groups {
    /// Returns what read the values.
    pub(crate) fn quantities(&self) -> &Quantities {
        &self.quantities
    }
}

impl Hit {
    fn of(read: Result<f64, String>, step: Option<u64>) -> Self {
        match read {
            Ok(value) => Self::Value(Value { value, step }),
            Err(reason) => Self::NoNumber(reason),
        }
    }
}

impl Value {
    /// Returns the value as a sample of `line`.
    pub(crate) fn sample(self, line: &Line<'_>) -> Sample {
        Sample { value: self.value, step: self.step, line: Some(line.number), rank: line.rank }
    }
}

/// Returns the text of the pattern for values of `key`.
pub(crate) fn pattern_of_key(key: &str) -> String {
    let key = regex::escape(key);
    let rest = r#"(?:[^\s,;"'|(){}\[\]]|,[0-9])*"#;
    // What begins with a mark, and a value within a call or brackets, as `tensor(0.5)` and `[nan]`, are in its place as well.
    let marked = format!(r"(?:[-+]?\.?[0-9]|[-\u{{2013}}\u{{2014}}<>~\u{{2248}}\u{{b1}}\u{{221e}}*?]){rest}");
    let absent = r"(?i:none|null|n/?a)\b|[-+]?(?i:nan|inf(?:inity)?)\b";
    let held = format!(r"(?:[A-Za-z_][0-9A-Za-z_.]*\(|[(\[])[(\[]*(?:{absent}|[-+]?\.?[0-9]{rest})");
    format!(r#"(?:^|[^\w.\-/]){key}["']?\s*[=:]\s*["']?(?P<value>{absent}|{marked}|{held})"#)
}

/// Returns true when the pattern `text` has the group `step`; it is not compiled for that.
pub fn has_step(text: &str) -> bool {
    regex_syntax::parse(text).is_ok_and(|hir| value_group::sub_of("step", &hir).is_some())
}

/// A whole number: `10`, `1,000`, `9.0`.
fn step_of(text: &str) -> Option<u64> {
    let step = text.parse().ok().or_else(|| number::parse(text).ok().and_then(number::whole));
    step.filter(|step| *step < 1_000_000_000_000_000)
}

/// Returns `hir` without anchors and word boundaries, and kept within a line: it matches wherever `hir` does in a line, and
/// elsewhere too.
fn without_places(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Look(_) | HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) if literal.0.iter().any(|byte| matches!(byte, b'\n' | b'\r')) => Hir::fail(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(Class::Unicode(class)) => {
            let ends = ['\n', '\r'].map(|end| ClassUnicodeRange::new(end, end));
            let mut class = class.clone();
            class.difference(&ClassUnicode::new(ends));
            Hir::class(Class::Unicode(class))
        }
        HirKind::Class(Class::Bytes(class)) => {
            let ends = [b'\n', b'\r'].map(|end| ClassBytesRange::new(end, end));
            let mut class = class.clone();
            class.difference(&ClassBytes::new(ends));
            Hir::class(Class::Bytes(class))
        }
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(without_places(&repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => without_places(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(without_places).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(without_places).collect()),
    }
}

fn collect_literals(hir: &Hir, literals: &mut Vec<String>) {
    match hir.kind() {
        HirKind::Literal(literal) => literals.push(String::from_utf8_lossy(&literal.0).into_owned()),
        // `(?i)loss` is a class for each letter.
        HirKind::Concat(parts) => {
            let mut word = String::new();
            for part in parts {
                if let Some(letters) = letters(part) {
                    word.push_str(&letters);
                } else {
                    literals.push(std::mem::take(&mut word));
                    collect_literals(part, literals);
                }
            }
            literals.push(word);
        }
        HirKind::Capture(capture) => collect_literals(&capture.sub, literals),
        HirKind::Repetition(repetition) if repetition.min > 0 => collect_literals(&repetition.sub, literals),
        _ => {}
    }
}

/// Returns a literal, or the letter that a class holds in both cases and with the odd signs that Unicode folds to it.
fn letters(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => Some(String::from_utf8_lossy(&literal.0).into_owned()),
        HirKind::Class(Class::Unicode(class)) => {
            let size: usize = class.ranges().iter().map(ClassUnicodeRange::len).sum();
            class.ranges().first().filter(|_| size <= 3).map(|range| range.start().to_string())
        }
        _ => None,
    }
}

/// Returns the line of `text` that looks most like what `pattern` wants, and its number.
pub fn nearest<'a>(pattern: &Pattern, text: &'a str) -> Option<(u64, &'a str)> {
    let words = pattern.literals();
    let score = |line: &str| {
        let line = line.to_lowercase();
        words.iter().filter(|word| line.contains(word.as_str())).map(String::len).sum::<usize>()
    };
    let lines = text.split('\n').zip(1..).flat_map(|(line, number)| line.split('\r').map(move |part| (number, part)));
    let best = lines.map(|(number, line)| (score(line), number, line)).max_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
    best.filter(|(score, ..)| *score > 1).map(|(_, number, line)| (number, line))
}

#[cfg(test)]
mod tests {
    use super::{Hit, MetricUnit, Pattern, nearest};

    fn value(pattern: &str, line: &str) -> Option<f64> {
        let pattern = Pattern::new(pattern).unwrap();
        match pattern.matches(line, &mut pattern.groups()) {
            Some(Hit::Value(found)) => Some(found.value),
            _ => None,
        }
    }

    #[test]
    fn a_candidate_is_found_wherever_the_pattern_matches() {
        let cases = [
            (r"^loss: (?P<value>\S+)", "[rank0]:loss: 2.5"),
            (r"\bloss\b: (?P<value>\d+)$", "x loss: 3 "),
            (r"(?m)^a$|^b(?P<value>\d)", "0: b1"),
            (r"(?i)LOSS (?P<value>\d)", "Loss 4"),
            (r"(?P<value>\d*)", ""),
            (r"\A(?P<value>\d)\z", "[0]: 7"),
        ];
        for (pattern, text) in cases {
            assert!(Pattern::new(pattern).unwrap().candidate(text, 0).is_some(), "{pattern}");
        }
    }

    #[test]
    fn numbers_in_lines() {
        assert_eq!(value(r"tps: (?P<value>\S+)", "tps: 3,502 tflops: 1"), Some(3502.0));
        assert_eq!(value(r"loss (?P<value>[0-9.,]+)", "loss 2.5, then"), Some(2.5));
        assert_eq!(value(r"loss (?P<value>\S+)", "loss nan").map(f64::is_nan), Some(true));
        for (line, number) in [
            ("loss=2.5,lr=1e-05", 2.5),
            ("(loss=1,234.5)", 1234.5),
            ("{'loss=-0.25'}.", -0.25),
            ("loss=1e-05];", 1e-05),
            ("|loss=2|lr=3|", 2.0),
            ("loss=2.5(43%)", 2.5),
            ("loss=2.5:", 2.5),
        ] {
            assert_eq!(value(r"loss=(?P<value>\S+)", line), Some(number), "{line}");
        }
        for line in ["loss=(2.5)", "loss=[2.5,3.5]", "loss=2.5,3.5", "loss=1.234,5)", "loss=2.5/3.5", "loss=,2"] {
            assert_eq!(value(r"loss=(?P<value>\S+)", line), None, "{line}");
        }
        assert_eq!(value(r"loss=(?P<value>.+)", "loss=2.5, then 3"), None);
        assert_eq!(value(r"loss (?P<value>\S+)", "loss n/a"), None);
        let pattern = Pattern::new(r"step (?P<step>\d+) loss (?P<value>\S+)").unwrap();
        let mut groups = pattern.groups();
        let Some(Hit::Value(found)) = pattern.matches("step 1,000 loss 1", &mut groups) else {
            assert!(pattern.matches("step 1000 loss 12,5", &mut groups).is_some());
            return;
        };
        assert_eq!(found.step, Some(1000));
    }

    #[test]
    fn keys() {
        let cases = [
            ("loss", "step=3 loss=0.25 acc=1", Some(0.25)),
            ("loss", "{'loss': 0.5, 'x': 1}", Some(0.5)),
            ("loss", r#"{"loss":"0.5"}"#, Some(0.5)),
            ("loss", "train_loss=9 loss = 1e-3", Some(0.001)),
            ("loss", "train_loss=9", None),
            ("tok/s", "tok/s: 1,234", Some(1234.0)),
            ("a.b", "axb=1 a.b=2", Some(2.0)),
            ("loss", "loss=nan,", Some(f64::NAN)),
            ("loss", "loss=", None),
            ("loss", "loss=mse", None),
        ];
        for (key, line, wanted) in cases {
            let pattern = Pattern::of_key(key).unwrap();
            let found = match pattern.matches(line, &mut pattern.groups()) {
                Some(Hit::Value(found)) => Some(found.value),
                _ => None,
            };
            assert!(
                found == wanted || found.is_some_and(f64::is_nan) && wanted.is_some_and(f64::is_nan),
                "{key} in {line}: {found:?}"
            );
        }
    }

    #[test]
    fn a_value_that_is_none_is_no_older_one() {
        let pattern = Pattern::of_key("loss").unwrap();
        for line in [
            "loss=none",
            "{'loss': None, 'x': 1}",
            "{\"loss\": null}",
            "loss: N/A",
            "loss NA, loss = na;",
            "loss=1_000",
            "loss: 0x1F",
            "loss=12/50",
            "loss: 1:23",
            "loss: 2026-11-25",
            "loss=0.5x1",
            "loss: --",
            "loss: -",
            "loss: <0.01",
            "loss = ~5",
            "loss: **",
            "loss: tensor(2.5, device='cuda:0')",
            "loss=np.float64(6.5)",
            "loss=tensor(nan)",
            "loss=tensor(-inf, device='cuda:0')",
            "loss: array([nan])",
            "loss: [nan]",
            "loss: (2.5)",
            "loss: [2.0]",
        ] {
            let hit = pattern.matches(line, &mut pattern.groups());
            assert!(matches!(hit, Some(Hit::NoNumber(_))), "{line}: {hit:?}");
        }
        for line in
            ["loss: nothing", "loss = name", "loss: nullable", "loss: f(x)", "loss: (x)", "loss: []", "loss: \"a\""]
        {
            assert_eq!(pattern.matches(line, &mut pattern.groups()), None, "{line}");
        }
    }

    fn hit(pattern: &str, unit: &str, line: &str) -> Option<Hit> {
        let pattern = Pattern::new(pattern).unwrap().in_unit(Some(MetricUnit::of(unit)));
        pattern.matches(line, &mut pattern.groups())
    }

    #[test]
    fn keys_have_units() {
        let cases = [
            ("v=12.3k", "1", 12_300.0),
            ("v: 1.5M", "1", 1_500_000.0),
            ("v: 980us,", "ms", 0.98),
            ("'v': '1.03ms'", "us", 1030.0),
            ("v=45%)", "%", 45.0),
        ];
        for (line, unit, value) in cases {
            let pattern = Pattern::of_key("v").unwrap().in_unit(Some(MetricUnit::of(unit)));
            let found = pattern.matches(line, &mut pattern.groups());
            assert_eq!(found, Some(Hit::Value(super::Value { value, step: None })), "{line}");
        }
    }

    #[test]
    fn a_part_of_a_token_is_no_number() {
        let cases = [
            (r"images/sec: (?P<value>[0-9.]+)", "total images/sec: 1,234.56"),
            (r"ips: (?P<value>[0-9.]+)", "ips: 1.2e+04"),
            (r"lr (?P<value>[0-9.]+)", "lr 1e-05"),
            (r"loss (?P<value>[0-9]+)", "loss 2.5, then"),
            (r"(?P<value>\d+) tok", "1,234 tok"),
            (r"(?P<value>\d+) tok", "at -5 tok"),
            (r"v=(?P<value>\d+)", "v=12.3k"),
            (r"v=(?P<value>\d+)", "v=2026-11-25"),
            (r"v=(?P<value>\d+)", "v=1:23"),
            (r"v=(?P<value>\d+)", "v=12/50"),
            (r"v=(?P<value>\d+)", "v=12\u{b1}0.3"),
            (r"v=(?P<value>\d+)", "v=980us"),
            (r"loss.*(?P<value>[0-9.]+)", "loss: 2.5"),
            (r"loss\D*(?P<value>[0-9.]+)", "loss: -2.5"),
        ];
        for (pattern, line) in cases {
            let found = hit(pattern, "1", line);
            assert!(
                matches!(&found, Some(Hit::NoNumber(reason)) if reason.contains("is only a part of")),
                "{line}: {found:?}"
            );
        }
        let whole = [
            (r"v=(?P<value>[0-9.]+)", "v=2.5", 2.5),
            (r"v=(?P<value>[0-9.]+)", "(v=2.5)", 2.5),
            (r"Loss: (?P<value>[0-9.]+):", "Loss: 0.25: 3", 0.25),
            (r"(?P<value>[0-9.]+)it/s\]", "[12.5it/s]", 12.5),
            (r"took (?P<value>[0-9.]+)", "it took 3.", 3.0),
            (r"gpt-(?P<value>\d+)", "gpt-4 is", 4.0),
            (r"v1(?P<value>\d+)", "v12", 2.0),
            (r"\d+/(?P<value>\d+)", "3/10", 10.0),
            (r"loss\D+(?P<value>[0-9.]+)", "loss: 2.5", 2.5),
        ];
        for (pattern, line, value) in whole {
            assert_eq!(hit(pattern, "it/s", line), Some(Hit::Value(super::Value { value, step: None })), "{line}");
        }
    }

    #[test]
    fn a_value_that_is_not_there_is_no_number() {
        let pattern = r"loss (?P<value>[0-9.]+)";
        for line in ["loss nan", "loss -inf", "loss None,", "loss N/A", "loss: x loss null"] {
            let found = hit(pattern, "1", line);
            let is_none = matches!(found, Some(Hit::NoNumber(_)));
            let is_infinite = matches!(found, Some(Hit::Value(value)) if !value.value.is_finite());
            assert!(is_none || is_infinite, "{line}: {found:?}");
        }
        for line in ["loss nanometer", "loss nothing", "loss", "loss information"] {
            assert_eq!(hit(pattern, "1", line), None, "{line}");
        }
    }

    #[test]
    fn units_of_values() {
        let cases = [
            (r"took (?P<value>\S+)", "ms", "took 984us", 0.984),
            (r"took (?P<value>\S+)", "ms", "took 1.03ms", 1.03),
            (r"took (?P<value>[0-9.]+)ms", "s", "took 250ms", 0.25),
            (r"took (?P<value>\S+) ms", "us", "took 250 ms", 250_000.0),
            (r"took (?P<value>\S+)", "s", "took 1m12.5s", 72.5),
            (r"acc (?P<value>\S+)", "1", "acc 45%", 0.45),
            (r"(?P<value>\S+) steps", "1", "12 steps", 12.0),
        ];
        for (pattern, unit, line, value) in cases {
            assert_eq!(
                hit(pattern, unit, line),
                Some(Hit::Value(super::Value { value, step: None })),
                "{line} in {unit}"
            );
        }
        assert!(matches!(hit(r"took (?P<value>\S+)", "s", "took 12MB"), Some(Hit::NoNumber(_))));
    }

    #[test]
    fn the_nearest_line_is_shown() {
        let pattern = Pattern::new(r"Total images/sec: (?P<value>[0-9.]+)$").unwrap();
        let text = "starting\nimages/sec: 3\ntotal images/sec: 4 \nend";
        assert_eq!(nearest(&pattern, text), Some((3, "total images/sec: 4 ")));
        assert_eq!(nearest(&pattern, "nothing\nat all"), None);
        let folded = Pattern::new(r"(?i)loss=(?P<value>\d+)").unwrap();
        assert_eq!(nearest(&folded, "x\nLOSS: 3"), Some((2, "LOSS: 3")));
    }
}
