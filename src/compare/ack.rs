//! What an acknowledgement is about, where its level begins, and how much of a change it is.

use super::history::{Request, applying, levels, marks};
use super::line::Origin;
use super::v1::Acknowledged;
use super::words;
use crate::archive::{Archive, MetricKey, Partition, Series, series_of};
use crate::model::Ack;
use crate::result::v1::Direction;
use crate::verdict::{DEFAULT_THRESHOLD, Mark, Policy, SIGNIFICANT, Scale, measure};

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

/// Returns the greatest change for the worse that `ack` is about, as a share: by the level that it is held against, and by what a gate
/// measures. Where it is about a metric without a value from there on, that is 0; nothing where nothing got worse. `direction` is that of
/// the spec, where it says one.
pub fn extent(request: Request<'_>, ack: &Ack, direction: Option<Direction>) -> Option<f64> {
    let of_partition = |partition: &Partition| {
        let origin = Origin { archive: request.archive, partition, lineage: request.lineage };
        let about = series_of(request.archive, partition, |name| name == ack.metric);
        let about = about.iter().filter(|series| is_about(ack, request.archive, partition, &series.metric));
        about.filter_map(|series| of_series(request, ack, direction, origin, series)).max_by(f64::total_cmp)
    };
    request.partitions.iter().filter_map(of_partition).max_by(f64::total_cmp)
}

fn of_series(
    request: Request<'_>,
    ack: &Ack,
    direction: Option<Direction>,
    origin: Origin<'_>,
    series: &Series,
) -> Option<f64> {
    let direction = direction.unwrap_or(series.direction);
    let key = (ack.benchmark.clone(), ack.metric.clone());
    let threshold = request.thresholds.get(&key).copied().unwrap_or(DEFAULT_THRESHOLD);
    let policy = Policy { direction, threshold };
    let place = |places: &[usize]| marks(vec![(ack, true)], origin, series, places).0.first().map(|mark| mark.at);
    // The newest session is a candidate where it is not of the baseline's commits.
    let members = origin.members(series);
    let with_newest = || -> Vec<usize> {
        let newest = series.points.len().checked_sub(1).filter(|newest| members.last() != Some(newest));
        members.iter().copied().chain(newest).collect()
    };
    let places = if place(&members).is_some() { members.clone() } else { with_newest() };
    let Some(at) = place(&places) else { return ends_before(ack, origin, series).then_some(0.0) };
    let about = || applying(request.acks, origin, &series.metric, request.as_of);
    let accepted = levels(about().into_iter().chain([(ack, true)]).collect(), origin, series, &places, policy);
    let before = levels(about(), origin, series, places.get(..at)?, policy);
    let changes = &accepted.found.changes;
    let end = changes.iter().map(|change| change.at).find(|next| *next > at).unwrap_or(accepted.values.len());
    let base: Vec<f64> = before.found.sessions.iter().filter_map(|at| before.values.get(*at).copied()).collect();
    let new = accepted.values.get(at..end)?;
    let effect = Scale::of(&base, new).and_then(|scale| measure(scale, &base, new));
    let scale = Scale::of(&accepted.values, &[])?;
    let from_reference = changes.iter().find(|change| change.at == at).map(|change| scale.change(change.difference));
    let interval = effect.filter(|effect| effect.p <= SIGNIFICANT).and_then(|effect| effect.change_interval());
    let shares = from_reference.into_iter().chain(effect.map(|effect| effect.change()));
    let lost = |share: f64| match direction {
        Direction::Higher => Some(-share),
        Direction::Lower => Some(share),
        Direction::None => None,
    };
    let shares = shares.chain(interval.into_iter().flat_map(|(low, high)| [low, high]));
    shares.filter_map(lost).filter(|lost| *lost > 0.0).max_by(f64::total_cmp)
}

/// Returns whether there are sessions of what `ack` is about, and none of them has a value of the series.
fn ends_before(ack: &Ack, origin: Origin<'_>, series: &Series) -> bool {
    let commits: Vec<Option<String>> = (0..origin.partition.sessions.len()).map(|at| origin.commit(at)).collect();
    let sessions = origin.partition.sessions.iter().zip(&commits);
    let said = sessions.map(|(of, commit)| (of.id.as_str(), of.started_at.as_str(), commit.as_deref()));
    mark(ack, said).is_some_and(|mark| series.points.last().is_none_or(|last| last.session < mark.at))
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
