//! The group `value` of a pattern: what it matches, and what is around it.

use regex::Regex;
use regex_syntax::hir::{Class, Hir, HirKind};

/// Returns `hir` with the group `value` replaced by what programs print for a missing value; none where
/// the group takes that anyway.
pub(super) fn without_value(hir: &Hir) -> Option<Hir> {
    with_value(hir, &no_value()).filter(|_| !matches_no_value(hir))
}

/// What programs print for a value that they do not have, in any case.
fn no_value() -> Hir {
    regex_syntax::parse(r"[-+]?(?i:nan|inf(?:inity)?|none|null|n/a)(?:\b|$)").unwrap_or_else(|_| Hir::fail())
}

/// Returns true when the group `value` takes the words of [`no_value`] as well.
fn matches_no_value(hir: &Hir) -> bool {
    let value = sub_of_value(hir).and_then(|value| Regex::new(&format!("^(?:{value})$")).ok());
    value.is_some_and(|value| ["nan", "inf", "none", "null", "n/a"].iter().all(|word| value.is_match(word)))
}

/// Returns what the group `value` matches.
pub(super) fn sub_of_value(hir: &Hir) -> Option<&Hir> {
    sub_of("value", hir)
}

/// Returns what the group called `name` matches.
pub(super) fn sub_of<'h>(name: &str, hir: &'h Hir) -> Option<&'h Hir> {
    match hir.kind() {
        HirKind::Capture(capture) if capture.name.as_deref() == Some(name) => Some(&capture.sub),
        HirKind::Capture(capture) => sub_of(name, &capture.sub),
        HirKind::Repetition(repetition) => sub_of(name, &repetition.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().find_map(|part| sub_of(name, part)),
        _ => None,
    }
}

/// Returns `hir` with `sub` as what its group `value` matches; none without the group.
fn with_value(hir: &Hir, sub: &Hir) -> Option<Hir> {
    sub_of_value(hir)?;
    let all = |parts: &[Hir]| parts.iter().map(|part| with_value(part, sub).unwrap_or_else(|| part.clone())).collect();
    Some(match hir.kind() {
        HirKind::Capture(capture) => {
            let mut capture = capture.clone();
            let is_it = capture.name.as_deref() == Some("value");
            capture.sub = Box::new(if is_it { sub.clone() } else { with_value(&capture.sub, sub)? });
            Hir::capture(capture)
        }
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(with_value(&repetition.sub, sub)?);
            Hir::repetition(repetition)
        }
        HirKind::Concat(parts) => Hir::concat(all(parts)),
        HirKind::Alternation(parts) => Hir::alternation(all(parts)),
        _ => return None,
    })
}

/// The surroundings of a pattern's group `value`.
#[derive(Debug, Default)]
pub(super) struct Around<'h> {
    pub(super) before: Vec<&'h Hir>,
    pub(super) behind: Vec<&'h Hir>,
}

impl<'h> Around<'h> {
    /// Looks at `hir`; none without the group.
    pub(super) fn of(hir: &'h Hir) -> Option<Self> {
        match hir.kind() {
            HirKind::Capture(capture) if capture.name.as_deref() == Some("value") => Some(Self::default()),
            HirKind::Capture(capture) => Self::of(&capture.sub),
            HirKind::Repetition(repetition) => Self::of(&repetition.sub),
            HirKind::Alternation(parts) => parts.iter().find_map(Self::of),
            HirKind::Concat(parts) => {
                let (at, within) = parts.iter().enumerate().find_map(|(at, part)| Some((at, Self::of(part)?)))?;
                Some(Self {
                    before: parts.iter().take(at).chain(within.before).collect(),
                    behind: within.behind.into_iter().chain(parts.iter().skip(at + 1)).collect(),
                })
            }
            _ => None,
        }
    }
}

/// Returns true when a run of any characters of a class comes right before the group `value`, as in `loss.*(?P<value>\d+)`.
pub(super) fn follows_any(hir: &Hir) -> bool {
    let around = Around::of(hir);
    let before = around.as_ref().and_then(|around| around.before.last());
    before.is_some_and(|before| match before.kind() {
        HirKind::Repetition(repetition) => matches!(repetition.sub.kind(), HirKind::Class(_)),
        _ => false,
    })
}

/// Returns true when a run of a class with digits comes right behind the group `value`, as in `(?P<value>\d+).*`.
pub(super) fn precedes_any(hir: &Hir) -> bool {
    let around = Around::of(hir);
    let behind = around.as_ref().and_then(|around| around.behind.first());
    behind.is_some_and(|behind| match behind.kind() {
        HirKind::Repetition(repetition) => match repetition.sub.kind() {
            HirKind::Class(Class::Unicode(class)) => {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&'0'))
            }
            HirKind::Class(Class::Bytes(class)) => {
                class.ranges().iter().any(|range| (range.start()..=range.end()).contains(&b'0'))
            }
            _ => false,
        },
        _ => false,
    })
}
