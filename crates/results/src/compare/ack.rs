//! What an acknowledgement is about, and where its level begins.

use std::collections::BTreeMap;

use super::accepted::Holds;
use super::line::Origin;
use super::model::Acknowledged;
use super::side::Lineage;
use super::words;
use crate::dataset::{Dataset, MetricKey, Partition};
use crate::verdict::Mark;
use kubebench_format::result::{ANY, Accepts, Ack, Before};
use kubebench_syntax::diag::nearest;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::{MetricSelector, is_time, moment};

/// Returns whether `ack` is about this series.
pub(super) fn is_about(ack: &Ack, dataset: &Dataset, partition: &Partition, metric: &MetricKey) -> bool {
    has_metric(ack, metric) && is_about_case(ack, dataset, partition)
}

fn has_metric(ack: &Ack, metric: &MetricKey) -> bool {
    ack.metric == ANY || MetricSelector::of(&ack.metric).has(&metric.name, &metric.labels)
}

fn is_about_case(ack: &Ack, dataset: &Dataset, partition: &Partition) -> bool {
    let name = &dataset.subject(partition.newest(dataset)).case_name;
    ack.has_benchmark(&partition.benchmark)
        && (matches(&ack.case, &partition.case) || matches(&ack.case, name))
        && ack.target.as_ref().is_none_or(|target| partition.facts.get("target").is_none_or(|own| own == target))
}

/// Returns whether `ack` still holds on a day.
pub(super) fn holds(ack: &Ack, day: &str) -> bool {
    ack.expires.as_deref().is_none_or(|last| words::day(day) <= last)
}

/// Returns where the accepted level begins among sessions, given the id, time and commit of each.
pub(super) fn mark<'a>(ack: &Ack, sessions: impl Iterator<Item = (&'a str, &'a str, Option<&'a str>)>) -> Option<Mark> {
    let from = ack.from()?;
    let sessions: Vec<_> = sessions.collect();
    let is_from = |(id, started_at, commit): &(&str, &str, Option<&str>)| begins(from, id, started_at, *commit);
    let mut at = sessions.iter().position(is_from)?;
    if is_time(from) {
        // A session of an old commit may have begun after the time: what is accepted follows all that began before it.
        let is_before = |(_, started_at, _): &(&str, &str, Option<&str>)| moment(started_at) < moment(from);
        at = at.max(sessions.iter().rposition(is_before).map_or(0, |before| before + 1));
    }
    (at < sessions.len()).then_some(Mark { at, at_most: ack.max_change })
}

/// Returns whether what is accepted `from` some place on begins with this session or before it.
pub fn begins(from: &str, id: &str, started_at: &str, commit: Option<&str>) -> bool {
    const SHORTEST_COMMIT: usize = 7;
    id == from
        || is_time(from) && moment(started_at) >= moment(from)
        || from.len() >= SHORTEST_COMMIT && commit.is_some_and(|commit| commit.starts_with(from))
}

/// Says which of the acknowledgements that hold on a day are about nothing in `partitions`, and why: a name may be wrong, what they accept
/// is still to come, or it is of none of the `lineages` that baselines are of. Says also which accept all that there is.
pub fn idle(
    acks: &[Ack],
    dataset: &Dataset,
    partitions: &[Partition],
    lineages: &BTreeMap<String, Lineage>,
    day: &str,
) -> Vec<String> {
    let all: Vec<Option<&Lineage>> =
        if lineages.is_empty() { vec![None] } else { lineages.values().map(Some).collect() };
    let say = |ack: &Ack| match (&ack.accepts, why_idle(ack, dataset, partitions, &all)) {
        (_, Some(why)) => Some(format!("{} accepts nothing: {why}", ack.file)),
        (Accepts::Before(end), None) if is_all_before(end, ack, dataset, partitions, &all) => {
            Some(format!("{} accepts every regression so far: no session is later than `{}`", ack.file, end.written))
        }
        _ => None,
    };
    acks.iter().filter(|ack| holds(ack, day)).filter_map(say).collect()
}

/// Returns whether there are sessions of what an acknowledgement is about, and each of them is earlier than what it does not accept.
fn is_all_before(
    end: &Before,
    ack: &Ack,
    dataset: &Dataset,
    partitions: &[Partition],
    lineages: &[Option<&Lineage>],
) -> bool {
    let about: Vec<&Partition> = partitions.iter().filter(|own| is_about_case(ack, dataset, own)).collect();
    let is_before = |own: &&Partition| {
        let origin = |lineage| Origin { dataset, partition: own, lineage, extraction: None };
        own.sessions.iter().enumerate().all(|(at, session)| {
            lineages.iter().any(|lineage| end.has(&session.started_at, origin(*lineage).commit(at).as_deref()))
        })
    };
    !about.is_empty() && about.iter().all(is_before)
}

fn why_idle(ack: &Ack, dataset: &Dataset, partitions: &[Partition], lineages: &[Option<&Lineage>]) -> Option<String> {
    let of_benchmark: Vec<&Partition> = partitions.iter().filter(|own| ack.has_benchmark(&own.benchmark)).collect();
    if of_benchmark.is_empty() {
        if partitions.is_empty() && ack.benchmark == ANY {
            return None;
        }
        let known = partitions.iter().map(|own| own.benchmark.as_str());
        return Some(format!("no result is from the benchmark `{}`{}", ack.benchmark, nearest(&ack.benchmark, known)));
    }
    let of_case: Vec<&Partition> = of_benchmark.into_iter().filter(|own| is_about_case(ack, dataset, own)).collect();
    if of_case.is_empty() {
        let on = ack.target.as_ref().map_or_else(String::new, |target| format!(" on `{target}`"));
        let of = if ack.benchmark == ANY { String::new() } else { format!(" of {}", ack.benchmark) };
        return Some(format!("no result{of} is from the case `{}`{on}", ack.case));
    }
    let rows = || of_case.iter().flat_map(|own| &own.sessions).flat_map(|session| session.rows(dataset));
    let metrics = || rows().flat_map(|row| dataset.metrics(row)).map(|(definition, _)| definition);
    let selector = [MetricSelector::of(&ack.metric)];
    if ack.metric != ANY && !metrics().any(|definition| definition.is_among(&selector)) {
        let near = nearest(&ack.metric, metrics().map(|definition| definition.name.as_str()));
        let of = if ack.benchmark == ANY { String::new() } else { format!(" of {}", ack.benchmark) };
        return Some(format!("no result{of} has the metric `{}`{near}", ack.metric));
    }
    let from = ack.from()?;
    let reach = |own: &Partition, lineage| reach(from, dataset, own, lineage);
    let reach = of_case.iter().flat_map(|own| lineages.iter().map(|lineage| reach(own, *lineage))).max();
    match reach.unwrap_or(Reach::Nothing) {
        Reach::Held => None,
        Reach::Aside => Some(format!(
            "the sessions since `{from}` are in no baseline; after a squash or a rebase, name the new commit"
        )),
        Reach::Nothing => Some(format!("`{from}` is neither a session, nor the commit of one, nor a time before one")),
    }
}

/// What an acknowledgement from some place is about, the most last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Reach {
    /// No session.
    Nothing,
    /// Sessions that are neither of a baseline nor the newest.
    Aside,
    /// Sessions of a baseline, or the newest.
    Held,
}

fn reach(from: &str, dataset: &Dataset, partition: &Partition, lineage: Option<&Lineage>) -> Reach {
    let origin = Origin { dataset, partition, lineage, extraction: None };
    let sessions = partition.sessions.iter().enumerate();
    let from_there = sessions
        .filter(|(at, of)| begins(from, &of.id, &of.started_at, origin.commit(*at).as_deref()))
        .map(|(at, _)| if origin.has(at) || at + 1 == partition.sessions.len() { Reach::Held } else { Reach::Aside });
    from_there.max().unwrap_or(Reach::Nothing)
}

/// Returns an acknowledgement as answers show it; what it accepts begins with `session`.
pub(super) fn shown(ack: &Ack, holds: Holds, session: Option<String>) -> Acknowledged {
    Acknowledged {
        file: ack.file.clone(),
        by: ack.by.clone(),
        reason: ack.reason.clone(),
        session,
        max_change: ack.max_change,
        expires: ack.expires.clone(),
        expired: holds == Holds::Expired,
    }
}

/// Returns whether `text` matches `pattern`, where `*` matches anything.
pub fn matches(pattern: &str, text: &str) -> bool {
    let Some((first, others)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut rest) = text.strip_prefix(first) else { return false };
    let mut others: Vec<&str> = others.split('*').collect();
    let last = others.pop().expected("a last part of every split");
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
    fn a_star_matches_anything() {
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
