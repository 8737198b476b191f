//! A gated metric: measured first, judged when all others are measured too.

mod confirmation;
mod known;
mod open;

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::super::accepted::{About, Accepted, Holds, applying};
use super::super::ack;
use super::super::far_off;
use super::super::line::Origin;
use super::super::model::{Acknowledged, Line};
use super::super::words;
use super::doubt::in_doubt;
use super::{Against, Candidate, Request, Rule};
use crate::dataset::{Partition, Point, Series};
use crate::verdict::{
    Baseline, DEFAULT_THRESHOLD, Effect, Mark, Policy, Reason, Scale, Verdict, judge, measure, without_scale,
};
use kubebench_format::result::Accepts;
use kubebench_format::result::v1::Status;
use kubebench_syntax::invariant::Invariant as _;

/// The sessions that a gate judges.
pub(super) struct Sessions {
    /// All of these.
    pub(super) all: BTreeSet<usize>,
    /// The candidate.
    pub(super) judged: BTreeSet<usize>,
    /// Where a second hit is waited for: those of the newest one's revision, in the candidate and right before it.
    pub(super) alike: BTreeSet<usize>,
}

/// Why a candidate has no value of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Absence {
    /// None of its runs has a value of the metric that counts.
    Invalid,
    /// It has values of the metric, under other labels.
    Gone,
}

/// The p values of a metric, adjusted for all that are evaluated together.
#[derive(Clone, Copy, Default)]
pub(super) struct Adjusted {
    pub(super) candidate: Option<f64>,
    /// That of a regression of an earlier session, which may be over.
    pub(super) pending: Option<f64>,
}

/// A metric that was measured, and not yet judged.
pub(super) struct Draft<'a> {
    request: Request<'a>,
    rule: &'a Rule,
    partition: &'a Partition,
    series: Cow<'a, Series>,
    policy: Policy,
    /// The sessions that are judged.
    sessions: BTreeSet<usize>,
    /// The places of the candidate's points in the series.
    candidate: Vec<usize>,
    /// Those of the sessions of its newest revision, where a second hit is waited for.
    alike: Vec<usize>,
    /// The places of the points that may be its baseline.
    earlier: Vec<usize>,
    found: Baseline,
    /// The places of the points with which the candidate is the newest: those before it, and those of its revision.
    known: Vec<usize>,
    /// What these say.
    now: Baseline,
    acks: Vec<Acknowledged>,
    /// Acknowledgements of the candidate itself, and of earlier sessions of its revision.
    accepted: Vec<(Mark, Acknowledged)>,
    scale: Option<Scale>,
    effect: Option<Effect>,
    absence: Absence,
    /// Whether it is of the newest session of the default branch, since the candidate says nothing of it.
    pub(super) is_standing: bool,
    /// How many earlier sessions are of commits that no branch has.
    unreachable: usize,
    pub(super) notes: Vec<String>,
}

impl<'a> Request<'a> {
    pub(super) fn draft(
        &self,
        rule: &'a Rule,
        partition: &'a Partition,
        sessions: &Sessions,
        series: Cow<'a, Series>,
        absence: Absence,
    ) -> Draft<'a> {
        let origin = self.origin(rule, partition);
        let threshold = rule.max_regression.unwrap_or(DEFAULT_THRESHOLD);
        let is_judged = |point: &Point| sessions.judged.contains(&point.session);
        let own = series.points.iter().rev().find(|point| is_judged(point)).map(|point| point.direction);
        let direction = rule.direction.or(own).unwrap_or(series.direction);
        let policy = Policy { direction, threshold };
        let first = sessions.all.first().copied().expected("a session that is judged");
        let is_earlier = |point: &Point| point.session < first;
        let places = |wanted: &dyn Fn(&Point) -> bool| -> Vec<usize> {
            series.points.iter().enumerate().filter(|(_, point)| wanted(point)).map(|(at, _)| at).collect()
        };
        let is_read_alike = |point: &Point| origin.is_read_alike(point.session);
        let all_earlier = places(&|point| is_earlier(point) && is_read_alike(point));
        let earlier: Vec<usize> = all_earlier
            .iter()
            .copied()
            .filter(|at| series.points.get(*at).is_some_and(|point| origin.is_member(point)))
            .collect();
        let mut notes = Vec::new();
        let read_otherwise = places(&|point| is_earlier(point) && !is_read_alike(point)).len();
        if read_otherwise > 0 {
            notes.push(format!(
                "{read_otherwise} earlier {} read by another version of the extraction rules, and not compared: `kubebench reparse` \
                 reads the kept logs again",
                if read_otherwise == 1 { "session was" } else { "sessions were" }
            ));
        }
        let is_unreachable = |at: &&usize| series.points.get(**at).is_some_and(|point| origin.is_unreachable(point));
        let unreachable = all_earlier.iter().filter(is_unreachable).count();
        if unreachable > 0 {
            notes.push(format!(
                "{unreachable} earlier {} from commits that are on no branch here: were they squashed or rebased? \
                 `--count-unreachable` counts them",
                if unreachable == 1 { "session is" } else { "sessions are" }
            ));
        }
        let is_outdated =
            |at: &&usize| !is_unreachable(at) && series.points.get(**at).is_some_and(|point| origin.is_outdated(point));
        let outdated = all_earlier.iter().filter(is_outdated).count();
        if outdated > 0 {
            notes.push(format!(
                "{outdated} earlier {} from branches that lacked commits already measured on the default branch when \
                 they were merged: {} not show the state of the default branch",
                if outdated == 1 { "session is" } else { "sessions are" },
                if outdated == 1 { "it does" } else { "they do" }
            ));
        }
        if earlier.len() < all_earlier.len() {
            let others = all_earlier.len() - earlier.len() - unreachable - outdated;
            if others > 0 {
                notes.push(format!(
                    "{others} earlier {} not from commits of the baseline",
                    if others == 1 { "session is" } else { "sessions are" }
                ));
            }
            notes.extend(of_same_commit(self.candidate, origin, &series, &all_earlier, &is_judged));
        }
        let against = match &rule.against {
            Against::Lineage(name) => {
                notes.push(format!("compared with {name}"));
                Some(name.as_str())
            }
            Against::Default => self.default,
            Against::Value(_) => None,
        };
        notes.extend(against.and_then(|name| in_doubt(origin, &series, name)));
        let candidate = places(&is_judged);
        let alike = places(&|point| sessions.alike.contains(&point.session));
        let named: BTreeSet<usize> = alike.iter().chain(&candidate).copied().collect();
        let known: Vec<usize> = earlier.iter().copied().chain(named).collect();
        let about = || applying(self.acks, origin, &series.metric, self.as_of);
        let accepted = Accepted::of(about(), origin, &series, &known);
        let median = |at: &usize| series.points.get(*at).map(|point| point.median);
        let with_candidate: Vec<f64> = known.iter().filter_map(median).collect();
        let (now, mut acks) = accepted.baseline(&with_candidate, policy);
        let mut of_candidate = accepted.since(earlier.len());
        if matches!(rule.against, Against::Lineage(_)) {
            let since = self.accepted_since(about(), origin, &series, policy, &candidate);
            acks.extend(
                since.iter().map(|(_, ack)| ack).filter(|ack| !is_among(ack, &acks)).cloned().collect::<Vec<_>>(),
            );
            of_candidate.extend(since);
        }
        let values: Vec<f64> = earlier.iter().filter_map(median).collect();
        let (mut found, _) = accepted.baseline(&values, policy);
        // What the candidate shows to be of an open change is no baseline of it.
        if let Some(open) = now.open.filter(|open| found.open.is_none() && open.from < values.len()) {
            found.sessions = now.sessions.iter().copied().filter(|at| *at < open.from).collect();
            found.held.clear();
        }
        let of =
            |sessions: &[usize]| -> Vec<f64> { sessions.iter().filter_map(|at| values.get(*at).copied()).collect() };
        let (base, held) = (of(&found.sessions), of(&found.held));
        let new: Vec<f64> = candidate.iter().filter_map(median).collect();
        let scale = Scale::of(&base, &new);
        let effect = scale.and_then(|scale| measure(scale, &base, &held, &new));
        Draft {
            request: *self,
            rule,
            partition,
            series,
            policy,
            sessions: sessions.judged.clone(),
            candidate,
            alike,
            earlier,
            unreachable,
            found,
            known,
            now,
            acks,
            accepted: of_candidate,
            scale,
            effect,
            absence,
            is_standing: false,
            notes,
        }
    }
}

impl Request<'_> {
    /// Returns what was accepted on the default branch, where the candidate is of the level that this began: for a gate that
    /// compares with a release, such sessions are of no baseline.
    fn accepted_since(
        &self,
        about: Vec<About<'_>>,
        origin: Origin<'_>,
        series: &Series,
        policy: Policy,
        candidate: &[usize],
    ) -> Vec<(Mark, Acknowledged)> {
        let lineage = self.default_lineage();
        let Some(last) = candidate.last().filter(|_| lineage.is_some()) else { return Vec::new() };
        let origin = Origin { lineage, ..origin };
        let members: Vec<usize> = origin.members(series).into_iter().filter(|at| at <= last).collect();
        if members.last() != Some(last) {
            return Vec::new();
        }
        let values: Vec<f64> =
            members.iter().filter_map(|at| series.points.get(*at)).map(|point| point.median).collect();
        let accepted = Accepted::of(about, origin, series, &members);
        let (found, _) = accepted.baseline(&values, policy);
        let begins = found.changes.last().map_or(found.apart, |change| change.at);
        if found.open.is_none() { accepted.since(begins) } else { Vec::new() }
    }
}

impl Draft<'_> {
    /// Returns the p value that counts among those that are adjusted together.
    pub(super) fn tested_p(&self) -> Option<f64> {
        self.effect.filter(|_| self.is_against_level()).map(|effect| effect.p)
    }

    /// Returns whether it is compared with a level, which acknowledgements are about.
    fn is_against_level(&self) -> bool {
        self.rule.max_regression.is_some() && !matches!(self.rule.against, Against::Value(_))
    }

    /// Returns the points of the baseline.
    fn base(&self) -> impl Iterator<Item = &Point> {
        self.found.sessions.iter().filter_map(|at| self.earlier.get(*at)).filter_map(|at| self.point(*at))
    }

    fn origin(&self) -> Origin<'_> {
        self.request.origin(self.rule, self.partition)
    }

    fn point(&self, at: usize) -> Option<&Point> {
        self.series.points.get(at)
    }

    fn medians(&self, places: &[usize]) -> Vec<f64> {
        places.iter().filter_map(|at| self.point(*at)).map(|point| point.median).collect()
    }

    /// Returns the p value of the regression that is pending, where it is less than that of the candidate.
    pub(super) fn pending_p(&self) -> Option<f64> {
        let pending = self.now.pending.map(|pending| pending.p);
        self.tested_p().map(|p| pending.map_or(p, |pending| pending.min(p)))
    }

    pub(super) fn into_line(self, adjusted: Adjusted) -> Line {
        let mut line = self.line(adjusted);
        self.mark_known(&mut line);
        line
    }

    fn line(&self, Adjusted { candidate: adjusted_p, pending }: Adjusted) -> Line {
        let judgement = match (self.scale, self.effect) {
            (None, _) if !self.found.sessions.is_empty() => without_scale(
                &self.base().map(|point| point.median).collect::<Vec<_>>(),
                &self.medians(&self.candidate),
            ),
            _ => judge(self.effect, self.policy, adjusted_p),
        };
        let origin = self.origin();
        let mut line = origin.line(&self.series, self.policy, &judgement);
        line.baseline = origin.sessions(self.base());
        line.candidate = origin.sessions(self.candidate.iter().filter_map(|at| self.point(*at)));
        line.notes.extend(far_off::named(&line.baseline, line.unit.as_deref()));
        if self.is_against_level() {
            line.acks.clone_from(&self.acks);
        }
        line.notes.extend(self.notes.iter().cloned());
        line.unreachable = self.unreachable;
        // Where targets do not keep results apart, they still keep gates apart.
        line.environment.entry("target".to_owned()).or_insert_with(|| self.rule.target.clone());
        if let (Reason::TooFew { wanted }, None) = (judgement.reason, &judgement.effect) {
            line.message = words::no_baseline(line.baseline.sessions.len(), wanted);
        }
        if self.candidate.is_empty() {
            match self.absence {
                Absence::Invalid => self.no_value(&mut line),
                Absence::Gone => self.gone(&mut line),
            }
            return line;
        }
        if self.rule.max_regression.is_none() {
            says(&mut line, Verdict::NoChangeSeen, "withinLimits", "within its limits".to_owned());
        } else if let Against::Value(fixed) = self.rule.against {
            self.against_value(&mut line, fixed);
        } else {
            self.beyond_accepted(&mut line);
            self.open(&mut line);
            self.accept(&mut line);
            self.confirm(&mut line);
            self.begin(&mut line);
            self.pending(&mut line, pending);
        }
        match self.other_unit() {
            Some(unit) => self.without_limits(&mut line, &unit),
            None => self.limits(&mut line),
        }
        if line.verdict == Verdict::Pending || line.reason == "seenBefore" {
            line.next_run = self.next_run();
        }
        if let Some(limit) = words::limit_to_add(&line) {
            line.message.push_str(&format!("; {limit}"));
        }
        if let (Some(detectable), true) = (line.detectable, line.threshold < DEFAULT_THRESHOLD)
            && detectable > line.threshold
        {
            line.notes.push(format!(
                "the {} threshold is below the smallest regression that these sessions can show, {}",
                words::share(line.threshold),
                words::about(detectable)
            ));
        }
        if let Some(correlation) = line.correlation {
            line.notes.push(format!(
                "{} (lag-1 = {correlation:.1}), so the effective sample size is smaller",
                words::AUTOCORRELATED
            ));
        }
        line
    }

    /// There are sessions, and none has a value that counts.
    fn no_value(&self, line: &mut Line) {
        let rows = self.sessions.iter().filter_map(|at| self.partition.sessions.get(*at));
        let rows: Vec<_> =
            rows.flat_map(|session| session.rows(self.request.dataset)).filter(|row| !row.warmup).collect();
        let failed: Vec<_> = rows.iter().filter(|row| row.status != Status::Succeeded).collect();
        let why = failed.first().and_then(|row| row.reasons.first()).map(|reason| format!(": {}", reason.message));
        let message = match failed.len() {
            0 => format!("none of {} runs has a value of `{}`", rows.len(), self.rule.metric),
            1 if rows.len() == 1 => format!("its only run did not succeed{}", why.unwrap_or_default()),
            failed => format!("{failed} of {} runs did not succeed{}", rows.len(), why.unwrap_or_default()),
        };
        says(line, Verdict::Invalid, "noValidRun", message);
        let failed = failed.iter().map(|row| row.path.clone());
        line.notes.extend(failed.map(|path| format!("see `{path}` in the folder of results")).take(3));
    }

    /// There are values of the metric, and none of this series of it, which earlier sessions have.
    fn gone(&self, line: &mut Line) {
        let origin = self.origin();
        let last = self.series.points.last().map(|point| point.session);
        let with_commit = |at: usize| self.partition.sessions.get(at).map(|session| (session, origin.commit(at)));
        let sessions: Vec<_> = (0..self.partition.sessions.len()).filter_map(with_commit).collect();
        let about = applying(self.request.acks, origin, &self.series.metric, self.request.as_of);
        for (ack, holds) in about.into_iter().filter(|(_, holds)| *holds == Holds::Still) {
            let said =
                || sessions.iter().map(|(of, commit)| (of.id.as_str(), of.started_at.as_str(), commit.as_deref()));
            // The first session without a value is where it was lost.
            let first = last.map_or(0, |last| last + 1);
            let begins = match &ack.accepts {
                Accepts::From(_) => ack::mark(ack, said()).map(|mark| mark.at).filter(|at| Some(*at) > last),
                Accepts::Before(end) => {
                    let lost = said().nth(first).filter(|(_, time, commit)| end.has(time, *commit));
                    lost.map(|_| first)
                }
            };
            if let Some(at) = begins {
                let session = sessions.get(at).map(|(of, _)| of.id.clone());
                line.acks = vec![ack::shown(ack, holds, session)];
                let said = "accepted: the candidate has no value of this metric, but earlier sessions have";
                return says(line, Verdict::NoChangeSeen, "accepted", said.to_owned());
            }
        }
        let said = "the candidate has no value of this metric, but earlier sessions have".to_owned();
        says(line, Verdict::Missing, "noValue", said);
    }

    /// A change that was acknowledged together with what brought it passes, as far as it was accepted.
    fn accept(&self, line: &mut Line) {
        let is_hit = matches!(line.verdict, Verdict::Regressed | Verdict::Pending) && line.open.is_none();
        let Some(effect) = self.effect.filter(|_| is_hit) else { return };
        let points = self.base().chain(self.candidate.iter().filter_map(|at| self.point(*at)));
        let loses_all = self.policy.loses_all(points.map(|point| point.median));
        let is_covered = |(mark, _): &&(Mark, Acknowledged)| {
            let limit = mark.limit(effect.scale, self.policy, loses_all);
            limit.is_none_or(|limit| effect.difference.abs() <= limit)
        };
        if let Some((_, ack)) = self.accepted.iter().find(is_covered) {
            let said = format!("accepted: {}", line.message);
            says(line, Verdict::NoChangeSeen, "accepted", said);
            if !is_among(ack, &line.acks) {
                line.acks.push(ack.clone());
            }
        }
    }
}

/// Says of the newest session of a branch that others of its commit are there too.
fn of_same_commit(
    asked: &Candidate,
    origin: Origin<'_>,
    series: &Series,
    earlier: &[usize],
    is_judged: &dyn Fn(&Point) -> bool,
) -> Option<String> {
    let own = series.points.iter().rev().find(|point| is_judged(point))?;
    // What ran with files that differ is of no commit.
    let commit = |point: &Point| {
        let row = origin.partition.sessions.get(point.session)?.first(origin.dataset)?;
        let is_aside = origin.dataset.origin(row).dirty != Some(true) && !origin.is_member(point);
        origin.commit(point.session).filter(|_| is_aside)
    };
    let commit_of_own = commit(own).filter(|_| asked.is_newest())?;
    let of_commit = |at: &&usize| series.points.get(**at).and_then(commit).as_ref() == Some(&commit_of_own);
    let count = earlier.iter().filter(of_commit).count();
    (count > 0).then(|| {
        let commit = words::short(&commit_of_own);
        format!(
            "the baseline includes {} of the candidate's own commit: `--candidate {commit}` evaluates all sessions of that \
             commit together",
            words::counted(count, "session")
        )
    })
}

fn is_among(ack: &Acknowledged, acks: &[Acknowledged]) -> bool {
    acks.iter().any(|known| known.file == ack.file)
}

fn says(line: &mut Line, verdict: Verdict, reason: &str, message: String) {
    line.verdict = verdict;
    reason.clone_into(&mut line.reason);
    line.message = message;
}
