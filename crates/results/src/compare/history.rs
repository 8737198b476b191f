//! `history`: the sessions of a metric, and where its level, its hardware or its surroundings changed.

use std::collections::{BTreeMap, BTreeSet};

use super::accepted::{About, Accepted, applying};
use super::line::Origin;
use super::model::{
    Acknowledged, Drift, FactChange, LevelChange, PendingChange, SeriesHistory, SessionValue, Size, Turn,
};
use super::policies::Policies;
use super::side::Lineage;
use crate::dataset::{Dataset, Partition, Series, series};
use crate::order::sort_by_case;
use crate::verdict::{Baseline, Change, Effect, Policy, Scale, Why, against_history, of_groups, worse};
use kubebench_format::result::Ack;
use kubebench_format::result::v1::{Direction, Environment};
use kubebench_stats::{self as stats, trend};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::moment;

/// A drift is reported where it is at most this likely by chance: it is looked for in every series of a project.
const DRIFTS: f64 = 0.001;
/// Hardware alternates with other hardware if it ran one of this many newest sessions of a case.
const TURNS: usize = 10;
/// From how many sessions on a level is compared as a group.
const LEAST_GROUP: usize = 4;

/// What a history is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The results.
    pub dataset: &'a Dataset,
    pub partitions: &'a [Partition],
    /// What specs say of metrics.
    pub policies: &'a Policies,
    /// The acknowledgements.
    pub acks: &'a [Ack],
    /// The commits of the default branch; without them, every session counts.
    pub lineage: Option<&'a Lineage>,
    /// The day on which acknowledgements are judged.
    pub as_of: &'a str,
}

/// Returns the history of every series.
pub fn history(request: Request<'_>) -> Vec<SeriesHistory> {
    let replaced = replaced(request.dataset, request.partitions, request.lineage);
    let mut histories = Vec::new();
    for (partition, is_replaced) in request.partitions.iter().zip(replaced) {
        let origin = Origin { dataset: request.dataset, partition, lineage: request.lineage, extraction: None };
        for series in series(request.dataset, partition) {
            histories.push(request.tell(origin, &series, is_replaced));
        }
    }
    sort_by_case(&mut histories, |history| (&history.benchmark, &history.case_name));
    histories
}

impl SeriesHistory {
    /// Returns why a session is of no level; nothing where it is of one.
    pub fn outside(&self, session: &SessionValue) -> Option<&'static str> {
        match &session.session {
            own if self.aside.contains(own) => Some("not of the default branch"),
            own if self.apart.contains(own) => Some("an outlier"),
            _ => None,
        }
    }

    /// Returns the sessions of the level that is there now: those since the last change.
    pub fn level(&self) -> Vec<&SessionValue> {
        let begins = |change: &LevelChange| self.sessions.iter().position(|session| session.session == change.session);
        let first = self.changes.last().and_then(begins).unwrap_or_default();
        self.sessions.iter().skip(first).filter(|session| self.outside(session).is_none()).collect()
    }

    /// Returns whether a change is a later step of the one that began with the session `open`, and is open.
    pub fn is_step_of(&self, open: &str, change: &LevelChange) -> bool {
        let place = |session: &str| self.changes.iter().position(|change| change.session == session);
        change.turn == Turn::Worse && place(open).is_some_and(|open| place(&change.session) > Some(open))
    }

    /// Returns whether a change is a later step of the one that is open.
    pub fn is_step_of_open(&self, change: &LevelChange) -> bool {
        self.open.as_deref().is_some_and(|open| self.is_step_of(open, change))
    }

    /// Returns whether a change is the one that is pending, or a later step of it.
    pub fn is_of_pending(&self, change: &LevelChange) -> bool {
        let of_pending =
            |pending: &PendingChange| pending.session == change.session || self.is_step_of(&pending.session, change);
        self.pending.as_ref().is_some_and(of_pending)
    }

    /// Returns how large the open change is with all its steps, where it has several.
    pub fn compound(&self) -> Option<Size> {
        let has_steps = self.changes.iter().any(|change| self.is_step_of_open(change));
        self.open_size.filter(|_| has_steps)
    }
}

impl LevelChange {
    /// Returns how large it is, against the level before it.
    pub fn size(&self) -> Size {
        Size { change: self.change, interval: self.interval, levels: self.levels }
    }

    /// Returns whether this level, which is worse than what is normal, is better than the one before it.
    pub fn is_back_in_part(&self, direction: Direction) -> bool {
        self.turn == Turn::Worse && worse(self.levels.1 - self.levels.0, direction).is_some_and(|worse| worse < 0.0)
    }
}

/// Returns of each partition whether its hardware was replaced: the case ran elsewhere on its target since, and not here any more. Kinds
/// of machines that take turns are in use side by side, and a branch replaces nothing of the default one: of the sessions of the known
/// commits, the hardware that is in use among these alone is in use.
pub(super) fn replaced(dataset: &Dataset, partitions: &[Partition], lineage: Option<&Lineage>) -> Vec<bool> {
    let is_known =
        |partition: &Partition, session: usize| Origin { dataset, partition, lineage, extraction: None }.has(session);
    let of_all = replaced_by(partitions, |_, _| true);
    let of_known = replaced_by(partitions, is_known);
    of_all.into_iter().zip(of_known).map(|(all, known)| all == Some(true) && known != Some(false)).collect()
}

/// The same by the sessions that count, where the case has any on its target.
fn replaced_by(partitions: &[Partition], counts: impl Fn(&Partition, usize) -> bool) -> Vec<Option<bool>> {
    let place = |partition: &Partition| {
        (partition.benchmark.clone(), partition.case.clone(), partition.facts.get("target").cloned())
    };
    // When the sessions of each partition began that count, in the order of time.
    let starts: Vec<Vec<&str>> = partitions
        .iter()
        .map(|partition| {
            let sessions = partition.sessions.iter().enumerate().filter(|(at, _)| counts(partition, *at));
            let mut starts: Vec<&str> = sessions.map(|(_, session)| moment(&session.started_at)).collect();
            starts.sort_unstable();
            starts
        })
        .collect();
    // Where the case ran last, and since when it runs there.
    let mut newest = BTreeMap::new();
    // What ran once among many sessions elsewhere does not take turns.
    let mut all: BTreeMap<_, Vec<&str>> = BTreeMap::new();
    for (partition, own) in partitions.iter().zip(&starts) {
        let known = newest.entry(place(partition)).or_default();
        *known = (own.last(), own.first()).max(std::mem::take(known));
        all.entry(place(partition)).or_default().extend(own);
    }
    for starts in all.values_mut() {
        starts.sort_unstable();
    }
    partitions
        .iter()
        .zip(&starts)
        .map(|(partition, own)| {
            let place = place(partition);
            let since = newest.get(&place).and_then(|(_, since)| *since)?;
            let recent = all.get(&place).and_then(|all| all.get(all.len().saturating_sub(TURNS)));
            Some(own.last() < Some(since) || own.last() < recent)
        })
        .collect()
}

impl Request<'_> {
    fn tell(&self, origin: Origin<'_>, series: &Series, replaced: bool) -> SeriesHistory {
        let Origin { partition, dataset, .. } = origin;
        let newest = partition.newest(dataset);
        let policy = self.policies.of(&partition.benchmark, series);
        let members = origin.members(series);
        let about = applying(self.acks, origin, &series.metric, self.as_of);
        let levels = levels(about, origin, series, &members, policy);
        let (open, pending) = (levels.open(), levels.pending());
        let Levels { values, found, acks } = levels;
        let everything = origin.sessions(series.points.iter());
        let is_member: BTreeSet<usize> = members.iter().copied().collect();
        let aside = everything.sessions.iter().enumerate().filter(|(at, _)| !is_member.contains(at));
        let level = newest_level(&values, &found);
        let apart = members.iter().take(found.apart).filter_map(|at| everything.sessions.get(*at));
        SeriesHistory {
            benchmark: partition.benchmark.clone(),
            case: partition.case.clone(),
            case_name: dataset.subject(newest).case_name.clone(),
            environment: partition.facts.iter().map(|(fact, value)| ((*fact).to_owned(), value.clone())).collect(),
            replaced,
            metric: series.metric.name.clone(),
            labels: series.metric.labels.clone(),
            unit: series.metric.unit.clone(),
            direction: policy.direction,
            kind: series.kind,
            threshold: policy.threshold,
            aside: aside.map(|(_, session)| session.session.clone()).collect(),
            apart: apart.map(|session| session.session.clone()).collect(),
            changes: found
                .changes
                .iter()
                .filter_map(|change| level_change(*change, origin, series, &members, &found))
                .collect(),
            open: open
                .as_ref()
                .and_then(|open| members.get(open.from))
                .and_then(|at| everything.sessions.get(*at))
                .map(|session| session.session.clone()),
            open_size: open.and_then(|open| open.size),
            pending: pending.and_then(|pending| {
                let first = members.get(pending.from).and_then(|at| everything.sessions.get(*at))?;
                Some(PendingChange {
                    session: first.session.clone(),
                    since: first.started_at.clone(),
                    sessions: pending.sessions,
                    why: found.pending?.why,
                    size: pending.size,
                })
            }),
            environment_changes: environment_changes(origin, series),
            drift: drift(level),
            correlation: scaled(level).and_then(|(_, level)| stats::seen_autocorrelation(&[&level])),
            acks,
            synthetic: newest.synthetic,
            sessions: everything.sessions,
        }
    }
}

/// The levels of a series.
pub(super) struct Levels {
    /// The values that they are of.
    pub(super) values: Vec<f64>,
    pub(super) found: Baseline,
    /// The acknowledgements that apply.
    acks: Vec<Acknowledged>,
}

/// A change among values that is open, or pending.
pub(super) struct OpenLevel {
    /// The place of its first session.
    pub(super) from: usize,
    /// How many sessions it has had.
    pub(super) sessions: usize,
    /// How many of these its newest level has.
    pub(super) measured: usize,
    /// That level against the one before the change opened.
    pub(super) size: Option<Size>,
}

impl Levels {
    /// Returns the change that is open, as all reports of it say it.
    pub(super) fn open(&self) -> Option<OpenLevel> {
        self.level(self.found.open?.from, self.values.len())
    }

    /// Returns the change that is pending, without the newest sessions, which are back.
    pub(super) fn pending(&self) -> Option<OpenLevel> {
        let pending = self.found.pending?;
        // Of the newest session alone a gate says more.
        if pending.why == Why::NotShown && pending.from + 1 == self.values.len() {
            return None;
        }
        let back = if let Why::Back(sessions) = pending.why { sessions } else { 0 };
        let level = self.level(pending.from, self.values.len() - back)?;
        // What was never open has no level of its own.
        Some(OpenLevel { size: level.size.filter(|_| pending.why != Why::NotShown), ..level })
    }

    fn level(&self, from: usize, end: usize) -> Option<OpenLevel> {
        let cuts = || self.found.changes.iter().map(|change| change.at);
        let before = self.values.get(cuts().rfind(|at| *at < from).unwrap_or(self.found.apart)..from)?;
        let newest = self.values.get(cuts().next_back().unwrap_or(from).max(from)..end)?;
        let size = step(before, newest).map(|effect| size(&effect, before, newest));
        Some(OpenLevel { from, sessions: end - from, measured: newest.len(), size })
    }
}

/// Returns how large the effect of sessions after others is. An interval that holds 0 is not that of a change which is known by more than
/// these sessions.
pub(super) fn size(effect: &Effect, before: &[f64], after: &[f64]) -> Size {
    let is_apart = |(low, high): &(f64, f64)| *low > 0.0 || *high < 0.0;
    Size {
        change: effect.change(),
        interval: effect.change_interval().filter(is_apart),
        ..Size::between(before, after)
    }
}

impl Size {
    /// Returns the levels of sessions before and after a change of which no more is known.
    pub(super) fn between(before: &[f64], after: &[f64]) -> Self {
        let median = |values: &[f64]| stats::quantile(values.iter().copied(), 0.5);
        Self { change: None, interval: None, levels: (median(before), median(after)) }
    }
}

/// Finds the levels among the points at `places`, by the acknowledgements that are about the series.
pub(super) fn levels(
    about: Vec<About<'_>>,
    origin: Origin<'_>,
    series: &Series,
    places: &[usize],
    policy: Policy,
) -> Levels {
    let values: Vec<f64> = places.iter().filter_map(|at| series.points.get(*at)).map(|point| point.median).collect();
    let (found, acks) = Accepted::of(about, origin, series, places).baseline(&values, policy);
    Levels { values, found, acks }
}

/// Returns the values since the last change of level.
pub(super) fn newest_level<'v>(values: &'v [f64], found: &Baseline) -> &'v [f64] {
    values.get(found.changes.last().map_or(found.apart, |change| change.at)..).expected("a level among the values")
}

fn scaled(values: &[f64]) -> Option<(Scale, Vec<f64>)> {
    let scale = Scale::of(values, &[])?;
    Some((scale, scale.places(values)))
}

fn drift(level: &[f64]) -> Option<Drift> {
    const LEAST: usize = 10;
    let (scale, places) = scaled(level).filter(|_| level.len() >= LEAST)?;
    let found = trend::drift(&places).filter(|found| found.p <= DRIFTS)?;
    Some(Drift { per_session: scale.change(trend::slope(&places))?, p: found.p, sessions: level.len() })
}

/// Returns a change of level among the points at `members`, as a history shows it.
pub(super) fn level_change(
    change: Change,
    origin: Origin<'_>,
    series: &Series,
    members: &[usize],
    found: &Baseline,
) -> Option<LevelChange> {
    let session_at = |at: usize| members.get(at).and_then(|place| series.points.get(*place)).map(|point| point.session);
    let first = session_at(change.at)?;
    let session = origin.partition.sessions.get(first)?;
    let cuts: Vec<usize> = found.changes.iter().map(|change| change.at).collect();
    let newest = match found.pending.map(|pending| pending.why) {
        Some(Why::Back(back)) => members.len() - back,
        _ => members.len(),
    };
    let end = cuts.iter().copied().find(|cut| *cut > change.at).unwrap_or(newest.max(change.at + 1));
    let start = cuts.iter().copied().rev().find(|cut| *cut < change.at).unwrap_or(found.apart);
    let values = |from: usize, to: usize| -> Vec<f64> {
        let places = members.get(from..to).expected("levels among the values").iter();
        places.filter_map(|place| series.points.get(*place)).map(|point| point.median).collect()
    };
    let (before, after) = (values(start, change.at), values(change.at, end));
    let scale = Scale::of(&before, &after)?;
    let size = step(&before, &after).map_or_else(
        || Size { change: scale.change(change.difference), ..Size::between(&before, &after) },
        |effect| size(&effect, &before, &after),
    );
    Some(LevelChange {
        session: session.id.clone(),
        since: origin.first_measured(first, series)?,
        turn: change.turn,
        commit: origin.measured_commit(first),
        after: change.at.checked_sub(1).and_then(session_at).and_then(|before| origin.commit(before)),
        change: size.change,
        interval: size.interval,
        levels: size.levels,
    })
}

/// Measures the sessions of a level against those of the level before it.
fn step(before: &[f64], after: &[f64]) -> Option<Effect> {
    let scale = Scale::of(before, after)?;
    if after.len() >= LEAST_GROUP { of_groups(scale, before, after) } else { against_history(scale, before, after) }
}

/// Returns where facts changed that do not keep results apart.
fn environment_changes(origin: Origin<'_>, series: &Series) -> Vec<FactChange> {
    let mut changes = Vec::new();
    let mut last: BTreeMap<&'static str, String> = BTreeMap::new();
    for session in series.points.iter().filter_map(|point| origin.partition.sessions.get(point.session)) {
        let Some(row) = session.first(origin.dataset) else { continue };
        let mut facts = facts(origin.dataset.environment(row));
        facts.insert("extractionRules", format!("version {}", origin.dataset.origin(row).extraction_version()));
        for (fact, after) in &facts {
            if let Some(before) = last.get(fact).filter(|before| *before != after) {
                changes.push(FactChange {
                    session: session.id.clone(),
                    since: session.started_at.clone(),
                    fact: (*fact).to_owned(),
                    before: before.clone(),
                    after: after.clone(),
                });
            }
        }
        last.extend(facts);
    }
    changes
}

fn facts(environment: &Environment) -> BTreeMap<&'static str, String> {
    let mut facts = BTreeMap::new();
    let mut put = |fact: &'static str, said: BTreeSet<String>| {
        if !said.is_empty() {
            facts.insert(fact, said.into_iter().collect::<Vec<_>>().join(", "));
        }
    };
    let nodes = || environment.nodes.iter();
    put("kernel", nodes().filter_map(|node| node.kernel.clone()).collect());
    put("system", nodes().filter_map(|node| node.os_image.clone()).collect());
    put("governor", nodes().filter_map(|node| node.governor.clone()).collect());
    put("driver", nodes().flat_map(|node| &node.gpus).filter_map(|gpu| gpu.driver.clone()).collect());
    put("kubernetes", environment.cluster.version.iter().cloned().collect());
    let image =
        |image: &kubebench_format::result::v1::Image| image.observed.as_ref().unwrap_or(&image.declared).clone();
    put("images", environment.images.iter().map(image).collect());
    put("software", environment.software.iter().map(|(name, version)| format!("{name} {version}")).collect());
    facts
}
