//! Patterns that can be followed byte by byte, as most are that people write for logs: fixed texts, and runs of characters
//! that end where the next text begins (`step (?P<step>\d+) loss (?P<value>\S+)`).
//!
//! Where every line matches, the general engine takes most of the time; this takes a quarter of that. It says nothing about
//! text beyond ASCII, which the engine then reads.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern that is followed without ever going back.
#[derive(Clone, Debug)]
pub(super) struct Straight {
    steps: Vec<Step>,
}

#[derive(Clone, Debug)]
enum Step {
    Text(Vec<u8>),
    /// As many bytes of these as there are, and at least `least`; beyond ASCII nothing is known.
    Run {
        has: [bool; 128],
        least: usize,
    },
    /// A group begins or ends.
    Begin(usize),
    End(usize),
}

/// Where two groups are, by their numbers.
pub(super) struct Wanted {
    pub(super) value: usize,
    pub(super) step: Option<usize>,
}

/// The start and end of a group.
type Span = (usize, usize);

impl Straight {
    /// Returns the steps of `hir`, if each has only one alternative.
    pub(super) fn new(hir: &Hir) -> Option<Self> {
        let mut steps = Vec::new();
        collect(hir, &mut steps)?;
        let parts: Vec<&Step> = steps.iter().filter(|step| matches!(step, Step::Text(_) | Step::Run { .. })).collect();
        let is_decided = parts.windows(2).all(|pair| match pair {
            // A run that could continue into the next part would have to backtrack.
            [Step::Run { has, .. }, Step::Text(text)] => text.first().is_some_and(|byte| !is_in(has, *byte)),
            [Step::Run { has, .. }, Step::Run { has: next, least }] => {
                *least > 0 && has.iter().zip(next).all(|(has, next)| !(*has && *next))
            }
            _ => true,
        });
        is_decided.then_some(Self { steps })
    }

    /// Follows `text` from its start: the groups `wanted` and where the match ends, or none when it does not match or is not decided by ASCII alone.
    pub(super) fn follow(&self, text: &[u8], wanted: &Wanted) -> Option<(Span, Option<Span>, usize)> {
        let mut at = 0;
        let (mut value, mut step) = ((0, 0), (0, 0));
        for part in &self.steps {
            match part {
                Step::Text(fixed) => {
                    if !text.get(at..)?.starts_with(fixed) {
                        return None;
                    }
                    at += fixed.len();
                }
                Step::Run { has, least } => {
                    let rest = text.get(at..)?;
                    let end = rest.iter().position(|byte| !is_in(has, *byte)).unwrap_or(rest.len());
                    if end < *least || rest.get(end).is_some_and(|byte| !byte.is_ascii()) {
                        return None;
                    }
                    at += end;
                }
                Step::Begin(group) if *group == wanted.value => value.0 = at,
                Step::End(group) if *group == wanted.value => value.1 = at,
                Step::Begin(group) if Some(*group) == wanted.step => step.0 = at,
                Step::End(group) if Some(*group) == wanted.step => step.1 = at,
                Step::Begin(_) | Step::End(_) => {}
            }
        }
        Some((value, wanted.step.map(|_| step), at))
    }
}

fn is_in(has: &[bool; 128], byte: u8) -> bool {
    has.get(usize::from(byte)).is_some_and(|has| *has)
}

fn collect(hir: &Hir, steps: &mut Vec<Step>) -> Option<()> {
    match hir.kind() {
        HirKind::Literal(text) => steps.push(Step::Text(text.0.to_vec())),
        HirKind::Concat(parts) => parts.iter().try_for_each(|part| collect(part, steps))?,
        HirKind::Capture(capture) => {
            let group = usize::try_from(capture.index).ok()?;
            steps.push(Step::Begin(group));
            collect(&capture.sub, steps)?;
            steps.push(Step::End(group));
        }
        HirKind::Repetition(repetition) if repetition.greedy && repetition.max.is_none() => {
            let HirKind::Class(Class::Unicode(class)) = repetition.sub.kind() else { return None };
            let mut has = [false; 128];
            for (has, letter) in has.iter_mut().zip('\0'..) {
                *has = class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&letter));
            }
            steps.push(Step::Run { has, least: usize::try_from(repetition.min).ok()? });
        }
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Span, Straight, Wanted};

    const STRAIGHT: [&str; 8] = [
        r"step (?P<step>\d+) loss \S+ tok/s (?P<value>\S+)",
        r"loss: (?P<value>[0-9.]+) ",
        r"(?P<step>\d*):(?P<value>\S*)",
        r"\s*(?P<value>[a-z]+)\s+(?P<step>[0-9]{2,})x",
        r"(?P<value>[^,]+),",
        r"[ab]+\s+(?P<value>\d+)",
        r"(?P<value>.+)",
        r"((?P<value>\w+)=)(?P<step>\d+)",
    ];

    /// The groups `value` and `step`.
    type Found = Option<[Option<Span>; 2]>;

    fn both(pattern: &str, text: &str) -> (Found, Found) {
        let regex = regex::Regex::new(&format!(r"\A(?:{pattern})")).unwrap();
        let number = |name: &str| regex.capture_names().position(|group| group == Some(name));
        let wanted = Wanted { value: number("value").unwrap(), step: number("step") };
        let straight = Straight::new(&regex_syntax::parse(pattern).unwrap()).unwrap();
        let span = |found: &regex::Captures<'_>, name| found.name(name).map(|found| (found.start(), found.end()));
        let engine = regex.captures(text).map(|found| [span(&found, "value"), span(&found, "step")]);
        let followed = straight.follow(text.as_bytes(), &wanted).map(|(value, step, _)| [Some(value), step]);
        (followed, engine)
    }

    #[test]
    fn what_has_more_than_one_way_is_left_to_the_engine() {
        let others = [
            r"(?P<value>\S+)/s",
            r"a|(?P<value>b)",
            r"^(?P<value>\d+)",
            r"(?P<value>\d+?)x",
            r"(?P<value>\d{1,3})",
            r"x?(?P<value>\d+)",
            r"\d+\d*(?P<value>x*)",
            r"\s+\d*(?P<value>\s+)",
            r"(?:ab)+(?P<value>\d+)",
        ];
        for pattern in others {
            assert!(Straight::new(&regex_syntax::parse(pattern).unwrap()).is_none(), "{pattern}");
        }
    }

    #[test]
    fn lines_of_logs() {
        let line = "step 10 loss 2.3 tok/s 1234 more";
        assert_eq!(both(STRAIGHT[0], line).0, Some([Some((23, 27)), Some((5, 7))]));
        assert_eq!(both(STRAIGHT[0], "step 10 loss 2.3\u{e9} tok/s 1234").0, None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_followed_is_what_the_engine_finds(
            which in 0..STRAIGHT.len(),
            words in prop::collection::vec(
                prop::sample::select(&["step ", "loss: ", "loss ", "tok/s ", "7", "12", ".", " ", ":", "x", "a", "b", ",", "=", "\u{e9}", "\u{661}"][..]),
                0..12,
            ),
        ) {
            let (followed, engine) = both(STRAIGHT[which], &words.concat());
            prop_assert!(followed.is_none() || followed == engine, "{followed:?}, {engine:?}");
            prop_assert!(followed.is_some() || engine.is_none() || !words.concat().is_ascii());
        }
    }
}
