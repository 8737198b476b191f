//! What an acknowledgement is about, and where its level begins.

use super::v1::Acknowledged;
use super::words;
use crate::archive::{Archive, MetricKey, Partition};
use crate::model::Ack;
use crate::verdict::Mark;

/// Returns whether `ack` is about this series.
pub(super) fn is_about(ack: &Ack, archive: &Archive, partition: &Partition, metric: &MetricKey) -> bool {
    let name = partition.newest(archive).map(|row| archive.subject(row).case_name.as_str()).unwrap_or_default();
    ack.benchmark == partition.benchmark
        && ack.metric == metric.name
        && (matches(&ack.case, &partition.case) || matches(&ack.case, name))
        && ack.target.as_ref().is_none_or(|target| partition.facts.get("target").is_none_or(|own| own == target))
}

/// Returns whether `ack` still holds on a day.
pub(super) fn holds(ack: &Ack, day: &str) -> bool {
    ack.expires.as_deref().is_none_or(|last| words::day(day) <= last)
}

/// Returns where the accepted level begins among sessions, given the id, time and commit of each.
pub(super) fn mark<'a>(
    ack: &Ack,
    mut sessions: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>)>,
) -> Option<Mark> {
    let is_from = |(id, started_at, commit): (&str, &str, Option<&str>)| begins(&ack.from, id, started_at, commit);
    let at = sessions.position(is_from)?;
    Some(Mark { at, at_most: ack.max_change })
}

/// Returns whether what is accepted `from` some place on begins with this session or before it.
pub fn begins(from: &str, id: &str, started_at: &str, commit: Option<&str>) -> bool {
    const SHORTEST_COMMIT: usize = 7;
    let is_time = from.get(4..5) == Some("-") && from.starts_with(|first: char| first.is_ascii_digit());
    id == from
        || is_time && started_at >= from
        || from.len() >= SHORTEST_COMMIT && commit.is_some_and(|commit| commit.starts_with(from))
}

/// Returns an acknowledgement as answers show it; what it accepts begins with `session`.
pub(super) fn shown(ack: &Ack, holds: bool, session: Option<String>) -> Acknowledged {
    Acknowledged {
        file: ack.file.clone(),
        by: ack.by.clone(),
        reason: ack.reason.clone(),
        session,
        max_change: ack.max_change,
        expires: ack.expires.clone(),
        expired: !holds,
    }
}

/// Returns whether `text` is what `pattern` says, where `*` stands for anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, others)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut others: Vec<&str> = others.split('*').collect();
    let last = others.pop().unwrap_or_default();
    for part in others {
        // The first place is as good as any later one: what follows may be anywhere behind it.
        let Some((_, behind)) = rest.split_once(part) else { return false };
        rest = behind;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, text) in
            [("*", ""), ("a", "a"), ("a*", "a"), ("*b", "ab"), ("a*c*e", "abcde"), ("a**e", "abe"), ("*=1", "x=1")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("", "a"), ("a", "ab"), ("a*a", "a"), ("a*c", "ab"), ("*ab*ab", "ab"), ("b*", "ab")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
        assert!(!matches(&"*a".repeat(60), &"a".repeat(59)));
    }
}
