//! What a gate judges: which sessions of which hardware, and which values of these.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::super::accepted::applying;
use super::super::history::levels;
use super::super::line::Origin;
use super::super::side::Lineage;
use super::super::words;
use super::evaluation::{Absence, Draft, Sessions};
use super::{Against, Candidate, Known, Request, Rule};
use crate::dataset::{MetricKey, Partition, Series, Session};
use crate::verdict::{DEFAULT_THRESHOLD, FEW, Policy, WINDOW};
use kubebench_format::result::v1::{Direction, Kind};
use kubebench_syntax::invariant::Invariant as _;

impl<'a> Request<'a> {
    /// Measures a gated metric of one case on all hardware that is in use, and says what is open on other hardware or in another unit.
    pub(super) fn of_case<'k>(&self, rule: &'k Rule, known: &'k [Known<'k>]) -> (Vec<Draft<'k>>, BTreeSet<String>)
    where
        'a: 'k,
    {
        let is_of_rule =
            |known: &&Known<'_>| known.partition.facts.get("target").is_none_or(|target| *target == rule.target);
        let candidates: Vec<(&'k Known<'k>, Sessions)> = known
            .iter()
            .filter(is_of_rule)
            .map(|known| (known, self.sessions(rule, known.partition)))
            .filter(|(_, sessions)| !sessions.all.is_empty())
            .collect();
        let is_own = |known: &Known<'_>, sessions: &Sessions| {
            let mut judged = sessions.judged.iter().filter_map(|at| known.partition.sessions.get(*at));
            judged.any(|session| self.head.is_own(session))
        };
        let is_own_in_use = candidates.iter().any(|(known, sessions)| !known.is_replaced && is_own(known, sessions));
        let (mut drafts, mut notes) = (Vec::new(), BTreeSet::new());
        for (known, sessions) in candidates {
            let of_metric: Vec<&'k Series> = known
                .series
                .iter()
                .filter(|series| rule.metric.has(&series.metric.name, &series.metric.labels))
                .collect();
            // Of results that were named or made here, all are judged; and what a branch measured, wherever the others run now.
            let is_only_own = || is_own(known, &sessions) && !is_own_in_use;
            if !known.is_replaced || *self.candidate != Candidate::Newest || is_only_own() {
                let (of_partition, of_units) = self.of_partition(rule, known.partition, &sessions, &of_metric);
                drafts.extend(of_partition);
                notes.extend(of_units);
            } else {
                let unjudged = |series| self.unjudged(rule, known.partition, series, "other hardware ran last");
                notes.extend(of_metric.into_iter().filter_map(unjudged));
            }
        }
        (drafts, notes)
    }

    fn of_partition(
        &self,
        rule: &'a Rule,
        partition: &'a Partition,
        sessions: &Sessions,
        of_metric: &[&'a Series],
    ) -> (Vec<Draft<'a>>, Vec<String>) {
        let is_there = |series: &&Series| series.points.iter().any(|point| sessions.judged.contains(&point.session));
        let (there, gone): (Vec<&Series>, Vec<&Series>) = of_metric.iter().copied().partition(is_there);
        if there.is_empty() {
            // No run has a value that counts: said of each series in its newest unit.
            let last = |series: &Series| series.points.last().map(|point| point.session);
            let newest = gone.iter().filter_map(|series| last(series)).max();
            let mut shown: Vec<Cow<'a, Series>> =
                gone.into_iter().filter(|series| last(series) == newest).map(Cow::Borrowed).collect();
            if shown.is_empty() {
                shown.push(Cow::Owned(empty_series(rule)));
            }
            let draft = |series| self.draft(rule, partition, sessions, series, Absence::Invalid);
            let mut drafts: Vec<Draft<'a>> = shown.into_iter().map(draft).collect();
            drafts.extend(of_metric.iter().filter_map(|series| self.standing(rule, partition, series, of_metric)));
            return (drafts, Vec::new());
        }
        // A branch ends nothing on the default branch, and gives up none of its units.
        let is_aside = self.is_aside(rule, partition, sessions);
        let standing =
            |series: &'a Series| is_aside.then(|| self.standing(rule, partition, series, of_metric)).flatten();
        let recent = self.recent(rule, partition, sessions, there.iter().chain(&gone).copied());
        let (mut drafts, mut notes) = (Vec::new(), Vec::new());
        for series in &there {
            let mut draft = self.draft(rule, partition, sessions, Cow::Borrowed(series), Absence::Invalid);
            let others = gone.iter().filter(|other| other.metric.labels == series.metric.labels);
            draft.notes.extend(
                others.map(|other| format!("other sessions have another unit ({}), and are not compared", unit(other))),
            );
            drafts.push(draft);
        }
        for series in gone {
            let successor = there.iter().find(|other| other.metric.labels == series.metric.labels);
            let is_recent = series.points.iter().any(|point| recent.contains(&point.session));
            let is_over = series.points.last().map(|point| point.session) < sessions.all.first().copied();
            match successor {
                Some(successor) if is_over => {
                    let why = format!("the metric has another unit since then ({})", unit(successor));
                    match standing(series) {
                        Some(draft) => drafts.push(draft),
                        None => notes.extend(self.unjudged(rule, partition, series, &why)),
                    }
                }
                None if is_recent && series.now.is_none() => {
                    drafts.push(self.draft(rule, partition, sessions, Cow::Borrowed(series), Absence::Gone));
                    drafts.extend(standing(series));
                }
                _ => {}
            }
        }
        (drafts, notes)
    }

    /// Returns the sessions before the candidate that a baseline would look back on.
    fn recent<'s>(
        &self,
        rule: &Rule,
        partition: &Partition,
        sessions: &Sessions,
        of_metric: impl Iterator<Item = &'s Series>,
    ) -> BTreeSet<usize> {
        let origin = self.origin(rule, partition);
        let first = sessions.all.first().copied().expected("a session that is judged");
        let points = of_metric.flat_map(|series| &series.points);
        let earlier = points.filter(|point| point.session < first && origin.is_member(point));
        let all: BTreeSet<usize> = earlier.map(|point| point.session).collect();
        all.into_iter().rev().take(WINDOW).collect()
    }

    /// Returns where sessions are from that a gate compares: of its commits, and read by the extraction rules of the newest session.
    pub(super) fn origin<'p>(&'p self, rule: &'p Rule, partition: &'p Partition) -> Origin<'p>
    where
        'a: 'p,
    {
        let newest = self.dataset.origin(partition.newest(self.dataset));
        Origin {
            dataset: self.dataset,
            partition,
            lineage: self.lineage(rule),
            extraction: Some(newest.extraction_version()),
        }
    }

    /// Returns the commits whose sessions are the baseline of a gate.
    pub(super) fn lineage(&self, rule: &Rule) -> Option<&'a Lineage> {
        match &rule.against {
            Against::Lineage(name) => self.lineages.get(name),
            Against::Default | Against::Value(_) => self.default_lineage(),
        }
    }

    /// Returns the commits of the default branch, where they are known.
    pub(super) fn default_lineage(&self) -> Option<&'a Lineage> {
        self.default.and_then(|name| self.lineages.get(name))
    }

    fn sessions(&self, rule: &Rule, partition: &Partition) -> Sessions {
        let of_target = |at: &usize| self.is_of_target(rule, partition, *at);
        let is_among = |rows: &BTreeSet<usize>, at: &usize| {
            partition.sessions.get(*at).is_some_and(|session| session.rows.iter().any(|row| rows.contains(row)))
        };
        let judged: BTreeSet<usize> = match self.candidate {
            Candidate::Rows(rows) => {
                (0..partition.sessions.len()).filter(of_target).filter(|at| is_among(rows, at)).collect()
            }
            newest => self.head.newest(newest, &partition.sessions, of_target).into_iter().collect(),
        };
        self.around(rule, partition, judged)
    }

    /// Returns whether a session is of the gate's target: where targets do not keep results apart, another one's says nothing of this one.
    pub(super) fn is_of_target(&self, rule: &Rule, partition: &Partition, session: usize) -> bool {
        let is_of_target = |session: &Session| {
            partition.facts.contains_key("target")
                || session.rows(self.dataset).any(|row| self.dataset.subject(row).target == rule.target)
        };
        partition.sessions.get(session).is_some_and(is_of_target)
    }

    /// Returns whether the newest sessions are judged, against no branch or tag of the gate's own: no others were named.
    pub(super) fn is_usual(&self, rule: &Rule) -> bool {
        self.candidate.is_newest() && rule.against == Against::Default
    }

    /// Returns whether the sessions that are judged were not named, and none of them is of the default branch.
    fn is_aside(&self, rule: &Rule, partition: &Partition, sessions: &Sessions) -> bool {
        let origin = self.origin(rule, partition);
        self.is_usual(rule) && !sessions.judged.iter().any(|session| origin.has(*session))
    }

    /// Returns these sessions with those that belong to them.
    pub(super) fn around(&self, rule: &Rule, partition: &Partition, judged: BTreeSet<usize>) -> Sessions {
        // Where a gate waits for a second hit, sessions of the newest one's revision count hits: those that are judged too, and those
        // right before it.
        let revision = |at: usize| {
            let row = partition.sessions.get(at)?.first(self.dataset)?;
            Some(self.dataset.revision(row))
        };
        let newest = judged.last().copied().filter(|_| rule.is_confirmed);
        let is_alike = |at: &usize| newest.is_some_and(|newest| revision(*at) == revision(newest));
        let of_target = |at: &usize| self.is_of_target(rule, partition, *at);
        let earlier = newest.into_iter().flat_map(|newest| (0..newest).rev()).filter(of_target);
        let alike: BTreeSet<usize> = earlier.take_while(is_alike).take(FEW - 1).collect();
        let alike = judged.iter().copied().filter(is_alike).chain(alike).collect();
        Sessions { all: judged.union(&alike).copied().collect(), judged, alike }
    }

    /// Judges the newest session of the default branch that has a value of a series, where a change is open of which the newest session
    /// of all says nothing.
    fn standing(
        &self,
        rule: &'a Rule,
        partition: &'a Partition,
        series: &'a Series,
        of_metric: &[&Series],
    ) -> Option<Draft<'a>> {
        if !self.is_usual(rule) {
            return None;
        }
        let origin = self.origin(rule, partition);
        let last = |series: &Series| {
            let known = series.points.iter().rev().find(|point| origin.is_member(point));
            known.map(|point| point.session)
        };
        // In another unit since, it is history.
        let others = of_metric.iter().filter(|other| other.metric.labels == series.metric.labels);
        if others.filter_map(|other| last(other)).max() > last(series) {
            return None;
        }
        self.open_since(rule, partition, series)?;
        let own = self.around(rule, partition, BTreeSet::from([last(series)?]));
        let mut draft = self.draft(rule, partition, &own, Cow::Borrowed(series), Absence::Invalid);
        draft.is_standing = true;
        draft
            .notes
            .push("the newest session has no value of this metric, so it does not resolve the regression".to_owned());
        Some(draft)
    }

    /// Returns the first session of the change that is open in a series.
    fn open_since<'p>(&self, rule: &Rule, partition: &'p Partition, series: &Series) -> Option<&'p Session> {
        if rule.max_regression.is_none() || matches!(rule.against, Against::Value(_)) {
            return None;
        }
        let origin = self.origin(rule, partition);
        let members = origin.members(series);
        let about = applying(self.acks, origin, &series.metric, self.as_of);
        let direction = rule.direction.unwrap_or(series.direction);
        let policy = Policy { direction, threshold: rule.max_regression.unwrap_or(DEFAULT_THRESHOLD) };
        let open = levels(about, origin, series, &members, policy).found.open?;
        let point = series.points.get(*members.get(open.from)?)?;
        partition.sessions.get(point.session)
    }

    /// Says that a change is open which is not judged, and why.
    fn unjudged(&self, rule: &Rule, partition: &Partition, series: &Series, why: &str) -> Option<String> {
        let session = self.open_since(rule, partition, series)?;
        let name = &self.dataset.subject(partition.newest(self.dataset)).case_name;
        let case = if name.is_empty() { String::new() } else { format!(" ({name})") };
        let facts: BTreeMap<String, String> =
            partition.facts.iter().map(|(fact, value)| ((*fact).to_owned(), value.clone())).collect();
        Some(format!(
            "not evaluated: `{}` of {}{case} got worse on {} in session {} of {}, not resolved or acknowledged; {why}",
            series.metric.shown(),
            partition.benchmark,
            words::hardware(&facts),
            session.id,
            words::day(&session.started_at),
        ))
    }
}

fn unit(series: &Series) -> &str {
    series.metric.unit.as_deref().unwrap_or("none")
}

fn empty_series(rule: &Rule) -> Series {
    let metric = MetricKey { name: rule.metric.name().to_owned(), labels: rule.metric.labels().clone(), unit: None };
    Series { metric, direction: Direction::None, kind: Kind::Secondary, now: None, points: Vec::new() }
}
