//! Groups `value` that do not take all numbers that programs print, as `[0-9.]+` does not.

use std::sync::LazyLock;

use regex::Regex;
use regex_syntax::ast::{self, Ast, GroupKind};
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind, Look};

use super::value_group::{Around, sub_of_value};
use kubebench_syntax::invariant::{Invariant as _, broken};

/// Numbers as programs print them. `nan` and `inf` are not among them: they are found without being in the group.
const PRINTED: [&str; 3] = ["-1.5", "1,234.5", "1e-05"];

/// What numbers are written with, and what programs print for one that is not finite.
static OF_NUMBERS: LazyLock<ClassUnicode> = LazyLock::new(|| {
    match regex_syntax::parse(r"[\d.,+\-eEnNaAiIfFtTyY]").expected("a class of our own").into_kind() {
        HirKind::Class(Class::Unicode(class)) => class,
        _ => broken("a class of letters"),
    }
});

/// A group `value` that is made for numbers and does not take all of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// What the group matches, in its own spelling.
    pub group: String,
    /// Numbers that it does not take.
    pub missed: Vec<&'static str>,
    /// The pattern with a group that matches them.
    pub widened: String,
}

/// Checks whether the group `value` of `pattern` matches unlimited digits and only numbers, but not all numbers.
pub fn narrow(pattern: &str) -> Option<Narrow> {
    // As nearly all patterns are.
    if pattern.contains(r"(?P<value>\S+)") {
        return None;
    }
    let hir = regex_syntax::parse(pattern).ok()?;
    let value = sub_of_value(&hir)?;
    if !takes_all_digits(value) || !is_of_numbers(value, OF_NUMBERS.ranges()) {
        return None;
    }
    let takes = Regex::new(&format!("^(?:{value})$")).ok()?;
    let missed: Vec<&str> = PRINTED.into_iter().filter(|number| !takes.is_match(number)).collect();
    let span = value_within(&ast::parse::Parser::new().parse(pattern).ok()?)?;
    let group = pattern.get(span.clone()).filter(|_| !missed.is_empty())?.to_owned();
    let mut widened = pattern.to_owned();
    widened.replace_range(span, &wide(&Around::of(&hir)?));
    Some(Narrow { group, missed, widened })
}

/// Returns a group that matches whole tokens, and that matches in every place where a group of numbers does.
fn wide(around: &Around<'_>) -> String {
    let token = match mark_behind(around) {
        Some(mark) => format!(r"[^\s{}]", regex_syntax::escape(&mark.to_string())),
        None => r"\S".to_owned(),
    };
    // Without anything before it, a token of any characters would begin with any word.
    let is_first = around.before.iter().all(|part| {
        let properties = part.properties();
        properties.minimum_len() == Some(0) && !properties.look_set().contains(Look::Start)
    });
    let is_followed = around.behind.iter().any(|part| part.properties().minimum_len() > Some(0));
    let few = if is_followed && around.behind.first().is_some_and(|part| begins_in_ways(part)) { "?" } else { "" };
    if is_first { format!(r"[-+]?\.?[0-9]{token}*{few}") } else { format!("{token}+{few}") }
}

/// Returns true for an expression with several beginnings, such as `(ms|s)`, of which a greedy token would match the `m`.
fn begins_in_ways(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Alternation(_) => true,
        HirKind::Class(class) => class.literal().is_none() && !is_of_blanks(class),
        HirKind::Capture(capture) => begins_in_ways(&capture.sub),
        HirKind::Concat(parts) => parts.first().is_some_and(begins_in_ways),
        HirKind::Repetition(repetition) => begins_in_ways(&repetition.sub),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => false,
    }
}

fn is_of_blanks(class: &Class) -> bool {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().all(|range| (range.start()..=range.end()).all(char::is_whitespace))
        }
        Class::Bytes(class) => class
            .ranges()
            .iter()
            .all(|range| (range.start()..=range.end()).all(|byte| byte.is_ascii_whitespace() || byte == 0x0b)),
    }
}

/// Returns the mark that must follow the group, unless a number may contain it.
fn mark_behind(around: &Around<'_>) -> Option<char> {
    let HirKind::Literal(literal) = around.behind.first()?.kind() else { return None };
    let first = char::from(*literal.0.first()?);
    (first.is_ascii_punctuation() && !matches!(first, '.' | ',' | '+' | '-')).then_some(first)
}

/// Returns true when `hir` has an endless run of characters that may each be any digit.
fn takes_all_digits(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) if repetition.max.is_none() => has_all_digits(&repetition.sub),
        HirKind::Repetition(repetition) => takes_all_digits(&repetition.sub),
        HirKind::Capture(capture) => takes_all_digits(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(takes_all_digits),
        _ => false,
    }
}

fn has_all_digits(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(class) => match class {
            Class::Unicode(class) => class.ranges().iter().any(|range| range.start() <= '0' && '9' <= range.end()),
            Class::Bytes(class) => class.ranges().iter().any(|range| range.start() <= b'0' && b'9' <= range.end()),
        },
        HirKind::Repetition(repetition) => has_all_digits(&repetition.sub),
        HirKind::Capture(capture) => has_all_digits(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(has_all_digits),
        _ => false,
    }
}

/// Returns true when all that `hir` takes are characters of `allowed`.
fn is_of_numbers(hir: &Hir, allowed: &[ClassUnicodeRange]) -> bool {
    let holds = |start: char, end: char| allowed.iter().any(|range| range.start() <= start && end <= range.end());
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => {
            std::str::from_utf8(&literal.0).is_ok_and(|text| text.chars().all(|letter| holds(letter, letter)))
        }
        HirKind::Class(Class::Unicode(class)) => class.ranges().iter().all(|range| holds(range.start(), range.end())),
        HirKind::Class(Class::Bytes(class)) => {
            class.ranges().iter().all(|range| range.end().is_ascii() && holds(range.start().into(), range.end().into()))
        }
        HirKind::Repetition(repetition) => is_of_numbers(&repetition.sub, allowed),
        HirKind::Capture(capture) => is_of_numbers(&capture.sub, allowed),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().all(|part| is_of_numbers(part, allowed)),
    }
}

/// Returns where in its pattern the inside of the group `value` is.
fn value_within(ast: &Ast) -> Option<std::ops::Range<usize>> {
    match ast {
        Ast::Group(group) => match &group.kind {
            GroupKind::CaptureName { name, .. } if name.name == "value" => {
                let inside = group.ast.span();
                Some(inside.start.offset..inside.end.offset)
            }
            _ => value_within(&group.ast),
        },
        Ast::Repetition(repetition) => value_within(&repetition.ast),
        Ast::Alternation(alternation) => alternation.asts.iter().find_map(value_within),
        Ast::Concat(concat) => concat.asts.iter().find_map(value_within),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::narrow;
    use crate::pattern::{Hit, Pattern};

    fn widened(pattern: &str) -> Option<String> {
        narrow(pattern).map(|narrow| narrow.widened)
    }

    #[test]
    fn groups_that_do_not_take_all_numbers() {
        let groups = [
            r"[0-9.]+",
            r"[\d.]+",
            r"\d+",
            r"\d*",
            r"\d{3,}",
            r"\d+\.\d+",
            r"\d+(?:\.\d+)?",
            r"\d+\.\d{2}",
            r"(?:\d|\.)+",
            r"([0-9]+)",
            r"[0-9]+",
            r"-?[\d.]+",
            r"[+-]?\d+(\.\d*)?",
            r"[0-9.,]+",
            r"\d{1,3}(?:,\d{3})*",
            r"[0-9.e+-]+",
            r"[\d.eE+-]+",
            r"[0-9.e+-]+|nan|inf",
            r"(?i:nan)|[0-9.]+",
            r"(?-u:[0-9.]+)",
            r"[[:digit:].]+",
            r"[0-9.]+?",
        ];
        for group in groups {
            let found = narrow(&format!("loss (?P<value>{group}) x")).unwrap();
            assert_eq!((found.group.as_str(), found.widened.as_str()), (group, r"loss (?P<value>\S+) x"));
            assert!(!found.missed.is_empty());
        }
        assert_eq!(narrow(r"x (?<value>-?[\d.]+)").unwrap().missed, ["1,234.5", "1e-05"]);
    }

    #[test]
    fn groups_that_are_meant_as_they_are() {
        let groups = [
            r"\S+",
            r"[^\s,]+",
            r".+",
            r"\w+",
            r"[a-z]+",
            // A list of words.
            "1|2|4|8",
            "[01]",
            "true|false|[01]+",
            "[0-7]+",
            // So many digits, as in a code.
            r"\d{3}",
            r"\d",
            // With a unit, or of another base.
            r"[0-9.]+ms",
            "0x[0-9a-f]+",
            // All numbers; `nan` is found without it.
            r"[-+]?[0-9][0-9,]*(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?",
            r"[-+0-9.,eE]+",
            r"[-+]?\.?[0-9]\S*",
        ];
        for group in groups {
            assert_eq!(narrow(&format!("loss (?P<value>{group})")), None, "{group}");
        }
        assert_eq!(narrow("loss ([0-9.]+)"), None);
        assert_eq!(narrow("loss (?P<value>[0-9.]+"), None);
    }

    /// Patterns, lines that they read a value from, and what they become.
    const WIDENED: [(&str, &str, &str); 22] = [
        (r"took (?P<value>\d+)(ms|s)$", r"took (?P<value>\S+?)(ms|s)$", "took 984ms"),
        (r"took (?P<value>\d+)(?:us|ms|s), p99", r"took (?P<value>\S+?)(?:us|ms|s), p99", "took 984us, p99"),
        (r"took (?P<value>[0-9.]+)[a-z]+", r"took (?P<value>\S+?)[a-z]+", "took 984ms"),
        (r"took (?P<value>[0-9.]+)[munsµ]?s", r"took (?P<value>\S+?)[munsµ]?s", "took 12us"),
        (r"took (?P<value>[0-9.]+)(ms|s)?$", r"took (?P<value>\S+)(ms|s)?$", "took 12"),
        (r"took (?P<value>[0-9.]+)\s+s", r"took (?P<value>\S+)\s+s", "took 984  s"),
        (r"loss (?P<value>[0-9.]+)", r"loss (?P<value>\S+)", "loss 2.5, lr 1"),
        (r"loss=(?P<value>[0-9.]+)", r"loss=(?P<value>\S+)", "loss=2.5,lr=1e-05"),
        (r"loss=(?P<value>[0-9.]+),", r"loss=(?P<value>\S+),", "loss=2.5,lr=1e-05,wd=0"),
        (r"acc (?P<value>\d+)%", r"acc (?P<value>[^\s%]+)%", "acc 43%/50%"),
        (r"took (?P<value>[0-9.]+)ms", r"took (?P<value>\S+)ms", "took 250ms"),
        (r"took (?P<value>[0-9.]+) ?ms", r"took (?P<value>\S+) ?ms", "took 250ms."),
        (r"step (?P<value>\d+)/\d+", r"step (?P<value>[^\s/]+)/\d+", "step 3/10/20"),
        (r"\((?P<value>[0-9.]+)\)", r"\((?P<value>[^\s\)]+)\)", "a (2.5) (b)"),
        (r"\[(?P<value>[0-9.]+)\]", r"\[(?P<value>[^\s\]]+)\]", "[2.5][3]"),
        (r"memory: (?P<value>[0-9.]+)GiB\(", r"memory: (?P<value>\S+)GiB\(", "memory: 34.6GiB(43%)"),
        (r"^(?P<value>[0-9.]+) x/s", r"^(?P<value>\S+) x/s", "12.5 x/s"),
        (r"(?P<value>[0-9.]+) x/s", r"(?P<value>[-+]?\.?[0-9]\S*) x/s", "many x/s, rate=12.5 x/s"),
        (r"\b(?P<value>\d+)(?:it/s)?\]", r"\b(?P<value>[-+]?\.?[0-9]\S*)(?:it/s)?\]", "[12]"),
        (r"(?P<value>-?[0-9.]+)% up", r"(?P<value>[-+]?\.?[0-9][^\s%]*)% up", "(-2.5% up"),
        (r"a (?P<value>\d+)|b", r"a (?P<value>\S+)|b", "a 7"),
        (r"(?:loss (?P<value>[0-9.]+)|\bx)\)", r"(?:loss (?P<value>[^\s\)]+)|\bx)\)", "(loss 2.5)"),
    ];

    #[test]
    fn what_was_read_is_read_by_the_wider_group() {
        for (pattern, wide, line) in WIDENED {
            assert_eq!(widened(pattern).as_deref(), Some(wide), "{pattern}");
            assert_eq!(widened(wide), None, "{wide}");
            let read = |pattern: &str| {
                let pattern = Pattern::new(pattern).unwrap();
                pattern.matches(line, &mut pattern.groups())
            };
            assert!(matches!(read(pattern), Some(Hit::Value(_))), "{pattern} in {line}: {:?}", read(pattern));
            assert_eq!(read(wide), read(pattern), "{wide} in {line}");
        }
    }
}
