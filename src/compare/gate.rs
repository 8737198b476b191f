//! `gate`: does the candidate pass what the specs demand?
//!
//! Every gated metric of every case is measured first; then all p values are adjusted together; then each is judged.

use std::collections::{BTreeMap, BTreeSet};

use super::ack;
use super::history::{applying, marks};
use super::line::Origin;
use super::side::Lineage;
use super::v1::{Line, OpenChange};
use super::words;
use crate::archive::{Archive, Partition, Point, Series, series};
use crate::model::Ack;
use crate::result::v1::{Direction, Status};
use crate::stats::adjust::benjamini_hochberg;
use crate::verdict::{
    Baseline, DEFAULT_THRESHOLD, Effect, FEW, Mark, Policy, Scale, Verdict, against_history, baseline, judge, measure,
    without_scale,
};

/// A gate of a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The benchmark.
    pub benchmark: String,
    /// The target.
    pub target: String,
    /// The cases: id, and name as people read it.
    pub cases: Vec<(String, String)>,
    /// The metric.
    pub metric: String,
    /// How much worse it may get, as a share.
    pub max_regression: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
    /// Whether a first hit waits for a second session of the same revision.
    pub is_confirmed: bool,
    /// What it is held against.
    pub against: Against,
}

/// What a candidate is held against.
#[derive(Clone, Debug, PartialEq)]
pub enum Against {
    /// The accepted level of the earlier sessions of the default branch, or of what `--baseline` names.
    Default,
    /// The same of the commits that are reachable from this branch or tag, by the key of its lineage.
    Lineage(String),
    /// This value.
    Value(f64),
}

/// What is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Candidate {
    /// The newest session of each partition.
    Newest,
    /// These results, by their places in the archive.
    Rows(BTreeSet<usize>),
}

/// All that a gate looks at.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The results.
    pub archive: &'a Archive,
    /// Their partitions.
    pub partitions: &'a [Partition],
    /// The gates.
    pub rules: &'a [Rule],
    /// The acknowledgements.
    pub acks: &'a [Ack],
    /// The commits that branches and tags reach, by name.
    pub lineages: &'a BTreeMap<String, Lineage>,
    /// The name of the default lineage; without one, all earlier sessions are the baseline.
    pub default: Option<&'a str>,
    /// What is judged.
    pub candidate: &'a Candidate,
    /// The day on which acknowledgements are judged.
    pub as_of: &'a str,
}

/// Judges all gates.
pub fn gate(request: Request<'_>) -> Vec<Line> {
    let mut drafts: Vec<Draft<'_>> = Vec::new();
    let mut lines = Vec::new();
    for rule in request.rules {
        for (case, name) in &rule.cases {
            let judged = request.of_case(rule, case);
            if judged.is_empty() {
                lines.push(missing(rule, case, name));
            }
            drafts.extend(judged);
        }
    }
    let tested: Vec<f64> = drafts.iter().filter_map(Draft::tested_p).collect();
    let mut adjusted = benjamini_hochberg(&tested).into_iter();
    for draft in drafts {
        let p = draft.tested_p().and_then(|_| adjusted.next());
        lines.push(draft.into_line(p));
    }
    lines.sort_by(|one, other| key(one).cmp(&key(other)));
    lines
}

fn key(line: &Line) -> (&str, &str, &BTreeMap<String, String>, &str, &BTreeMap<String, String>) {
    (&line.benchmark, &line.case_name, &line.environment, &line.metric, &line.labels)
}

/// A metric that was measured, and not yet judged.
struct Draft<'a> {
    request: Request<'a>,
    rule: &'a Rule,
    partition: &'a Partition,
    lineage: Option<&'a Lineage>,
    series: Series,
    policy: Policy,
    /// The places of the candidate's points in the series.
    candidate: Vec<usize>,
    /// Those of earlier sessions of its revision, where a second hit is waited for.
    before: Vec<usize>,
    /// The places of the points that may be its baseline.
    earlier: Vec<usize>,
    found: Baseline,
    acks: Vec<(&'a Ack, bool)>,
    /// Acknowledgements of the candidate itself.
    accepted: Vec<Mark>,
    scale: Option<Scale>,
    effect: Option<Effect>,
    notes: Vec<String>,
}

impl<'a> Request<'a> {
    /// Measures a gated metric of one case, on all hardware that is in use.
    fn of_case(&self, rule: &'a Rule, case: &str) -> Vec<Draft<'a>> {
        let is_of_rule = |partition: &&&Partition| {
            partition.benchmark == rule.benchmark
                && partition.case == case
                && partition.facts.get("target").is_none_or(|target| *target == rule.target)
        };
        let partitions: Vec<&'a Partition> =
            self.partitions.iter().collect::<Vec<_>>().iter().filter(is_of_rule).copied().collect();
        let candidates: Vec<(&'a Partition, BTreeSet<usize>)> = partitions
            .iter()
            .map(|partition| (*partition, self.candidate_sessions(partition)))
            .map(|(partition, sessions)| (partition, self.with_same_revision(rule, partition, sessions)))
            .filter(|(_, sessions)| !sessions.is_empty())
            .collect();
        let in_use = self.in_use(&candidates);
        let mut drafts = Vec::new();
        for (partition, sessions) in candidates.into_iter().filter(|(partition, _)| in_use.contains(&partition.facts)) {
            let mut of_metric: Vec<Series> = series(self.archive, partition)
                .into_iter()
                .filter(|series| series.metric.name == rule.metric)
                .collect();
            // A metric whose unit changed is judged in its newest unit.
            let newest = of_metric.iter().filter_map(|series| series.points.last()).map(|point| point.session).max();
            of_metric.retain(|series| series.points.last().map(|point| point.session) == newest);
            if of_metric.is_empty() {
                of_metric.push(empty_series(rule));
            }
            drafts.extend(of_metric.into_iter().map(|series| self.draft(rule, partition, &sessions, series)));
        }
        drafts
    }

    fn candidate_sessions(&self, partition: &Partition) -> BTreeSet<usize> {
        match self.candidate {
            Candidate::Newest => partition.sessions.len().checked_sub(1).into_iter().collect(),
            Candidate::Rows(rows) => {
                let is_chosen = |at: &usize| {
                    partition.sessions.get(*at).is_some_and(|session| session.rows.iter().any(|row| rows.contains(row)))
                };
                (0..partition.sessions.len()).filter(is_chosen).collect()
            }
        }
    }

    /// Adds the sessions right before the newest one that ran the same, where a gate waits for a second hit.
    fn with_same_revision(&self, rule: &Rule, partition: &Partition, mut sessions: BTreeSet<usize>) -> BTreeSet<usize> {
        let revision = |at: usize| {
            let row = partition.sessions.get(at)?.first(self.archive)?;
            Some(self.archive.revision(row))
        };
        if let (true, Candidate::Newest, Some(last)) = (rule.is_confirmed, self.candidate, sessions.last().copied()) {
            let same = (0..last).rev().take_while(|at| revision(*at) == revision(last));
            sessions.extend(same.take(FEW - 1));
        }
        sessions
    }

    /// Returns the hardware that is in use: that of the newest session, and what ran the same since. The rest was replaced.
    fn in_use(&self, candidates: &[(&Partition, BTreeSet<usize>)]) -> BTreeSet<crate::archive::Facts> {
        let last = |(partition, sessions): &(&Partition, BTreeSet<usize>)| {
            let session = partition.sessions.get(*sessions.last()?)?;
            let row = session.first(self.archive)?;
            Some((session.started_at.clone(), self.archive.origin(row).run_digest.clone(), partition.facts.clone()))
        };
        let newest: Vec<_> = candidates.iter().filter_map(last).collect();
        let digest = newest.iter().max().map(|(_, digest, _)| digest.clone());
        newest.into_iter().filter(|(_, own, _)| Some(own) == digest.as_ref()).map(|(_, _, facts)| facts).collect()
    }

    fn draft(&self, rule: &'a Rule, partition: &'a Partition, sessions: &BTreeSet<usize>, series: Series) -> Draft<'a> {
        let lineage = match &rule.against {
            Against::Lineage(name) => self.lineages.get(name),
            Against::Default | Against::Value(_) => self.default.and_then(|name| self.lineages.get(name)),
        };
        let origin = Origin { archive: self.archive, partition, lineage };
        let threshold = rule.max_regression.unwrap_or(DEFAULT_THRESHOLD);
        let policy = Policy { direction: series.direction, threshold };
        let first = sessions.first().copied().unwrap_or_default();
        let is_earlier = |point: &Point| point.session < first && !sessions.contains(&point.session);
        let places = |wanted: &dyn Fn(&Point) -> bool| -> Vec<usize> {
            series.points.iter().enumerate().filter(|(_, point)| wanted(point)).map(|(at, _)| at).collect()
        };
        let all_earlier = places(&is_earlier);
        let earlier: Vec<usize> = all_earlier
            .iter()
            .copied()
            .filter(|at| series.points.get(*at).is_some_and(|point| origin.is_member(point)))
            .collect();
        let mut notes = Vec::new();
        if earlier.len() < all_earlier.len() {
            let others = all_earlier.len() - earlier.len();
            notes.push(format!(
                "{others} earlier {} not of the baseline's commits",
                if others == 1 { "session is" } else { "sessions are" }
            ));
        }
        // Where a second hit is waited for, the newest session is judged, and those before it only count hits.
        let last = sessions.last().copied().unwrap_or_default();
        let is_judged = |session: usize| {
            if rule.is_confirmed && *self.candidate == Candidate::Newest {
                session == last
            } else {
                sessions.contains(&session)
            }
        };
        let candidate = places(&|point| is_judged(point.session));
        let before = places(&|point| sessions.contains(&point.session) && !is_judged(point.session));
        let known: Vec<usize> = earlier.iter().chain(&candidate).copied().collect();
        let (marks, acks) = marks(applying(self.acks, origin, &series.metric, self.as_of), origin, &series, &known);
        let (marks, of_candidate): (Vec<Mark>, Vec<Mark>) = marks.into_iter().partition(|mark| mark.at < earlier.len());
        let median = |at: &usize| series.points.get(*at).map(|point| point.median);
        let values: Vec<f64> = earlier.iter().filter_map(median).collect();
        let found = baseline(&values, policy, &marks);
        let base: Vec<f64> = found.sessions.iter().filter_map(|at| values.get(*at).copied()).collect();
        let new: Vec<f64> = candidate.iter().filter_map(median).collect();
        let scale = Scale::of(&base, &new);
        let effect = scale.and_then(|scale| measure(scale, &base, &new));
        Draft {
            request: *self,
            rule,
            partition,
            lineage,
            series,
            policy,
            candidate,
            before,
            earlier,
            found,
            acks,
            accepted: of_candidate,
            scale,
            effect,
            notes,
        }
    }
}

impl Draft<'_> {
    /// Returns the p value that counts among those that are adjusted together.
    fn tested_p(&self) -> Option<f64> {
        let is_tested = self.rule.max_regression.is_some() && !matches!(self.rule.against, Against::Value(_));
        self.effect.filter(|_| is_tested).map(|effect| effect.p)
    }

    fn baseline_values(&self) -> Vec<f64> {
        let points = self.found.sessions.iter().filter_map(|at| self.earlier.get(*at)).filter_map(|at| self.point(*at));
        points.map(|point| point.median).collect()
    }

    fn origin(&self) -> Origin<'_> {
        Origin { archive: self.request.archive, partition: self.partition, lineage: self.lineage }
    }

    fn point(&self, at: usize) -> Option<&Point> {
        self.series.points.get(at)
    }

    fn into_line(self, adjusted_p: Option<f64>) -> Line {
        let judgement = match (self.scale, self.effect) {
            (None, _) if !self.found.sessions.is_empty() => without_scale(),
            _ => judge(self.effect, self.policy, adjusted_p),
        };
        let origin = self.origin();
        let mut line = origin.line(&self.series, self.policy, &judgement);
        let base = self.found.sessions.iter().filter_map(|at| self.earlier.get(*at)).filter_map(|at| self.point(*at));
        line.baseline = origin.sessions(base);
        line.candidate = origin.sessions(self.candidate.iter().filter_map(|at| self.point(*at)));
        line.acks = self.acks.iter().map(|(ack, holds)| ack::shown(ack, *holds)).collect();
        line.notes.extend(self.notes.iter().cloned());
        if self.candidate.is_empty() {
            self.no_value(&mut line);
            return line;
        }
        if self.rule.max_regression.is_none() {
            says(&mut line, Verdict::NoChangeSeen, "withinLimits", "within its limits".to_owned());
        } else if let Against::Value(fixed) = self.rule.against {
            self.against_value(&mut line, fixed);
        } else {
            self.open(&mut line);
            self.confirm(&mut line);
            self.accept(&mut line);
        }
        self.limits(&mut line);
        if let (Some(detectable), true) = (line.detectable, line.threshold < DEFAULT_THRESHOLD)
            && detectable > line.threshold
        {
            line.notes.push(format!(
                "the threshold of {} is below what these sessions can show: {}",
                words::share(line.threshold),
                words::share(detectable)
            ));
        }
        if let Some(correlation) = line.correlation {
            line.notes.push(format!(
                "neighboring sessions are correlated ({correlation:.1}): they say less than as many that are independent"
            ));
        }
        line
    }

    /// There are sessions, and none has a value that counts.
    fn no_value(&self, line: &mut Line) {
        let sessions = self.request.candidate_sessions(self.partition);
        let rows = sessions.iter().filter_map(|at| self.partition.sessions.get(*at));
        let rows: Vec<_> =
            rows.flat_map(|session| session.rows(self.request.archive)).filter(|row| !row.warmup).collect();
        let failed: Vec<_> = rows.iter().filter(|row| row.status != Status::Succeeded).collect();
        let why = failed.first().and_then(|row| row.reasons.first()).map(|reason| format!(": {}", reason.message));
        let message = match failed.len() {
            0 => format!("none of {} runs has a value of `{}`", rows.len(), self.rule.metric),
            failed => format!("{failed} of {} runs did not succeed{}", rows.len(), why.unwrap_or_default()),
        };
        says(line, Verdict::Invalid, "noValidRun", message);
        let failed = failed.iter().map(|row| row.path.clone());
        line.notes.extend(failed.map(|path| format!("see {path}")).take(3));
    }

    /// A fixed value has no sessions, and so no noise: it is a limit.
    fn against_value(&self, line: &mut Line, fixed: f64) {
        let Some(median) = line.candidate.median else { return };
        if fixed == 0.0 {
            let said = "no change of a fixed 0 can be said as a share: write `min` or `max`".to_owned();
            return says(line, Verdict::Inconclusive, "noScale", said);
        }
        let change = (median - fixed) / fixed.abs();
        let limit = self.policy.threshold;
        let worse = if self.policy.direction == Direction::Lower { change } else { -change };
        (line.change, line.interval, line.p, line.adjusted_p) = (Some(change), None, None, None);
        (line.method, line.detectable, line.more_sessions) = (None, None, None);
        let said = format!("{} against the fixed {}", words::change(change, None), words::number(fixed));
        match worse {
            worse if worse > limit => says(line, Verdict::Regressed, "fixedBaseline", said),
            worse if worse < -limit => says(line, Verdict::Improved, "fixedBaseline", said),
            _ => says(line, Verdict::NoChangeSeen, "fixedBaseline", said),
        }
    }

    /// An open change fails the gate until it is acknowledged, or the level has come back.
    fn open(&self, line: &mut Line) {
        let Some(open) = self.found.open else { return };
        let medians = |places: &mut dyn Iterator<Item = usize>| -> Vec<f64> {
            places.filter_map(|at| self.point(at)).map(|point| point.median).collect()
        };
        let bad = medians(&mut self.earlier.iter().skip(open.from).copied());
        let base = self.baseline_values();
        let new = medians(&mut self.candidate.iter().copied());
        let Some(scale) = self.scale else { return };
        let since = measure(scale, &base, &bad);
        let origin = self.origin();
        let place = |at: usize| self.earlier.get(at).and_then(|at| self.point(*at)).map(|point| point.session);
        let (Some(first), before) = (place(open.from), open.from.checked_sub(1).and_then(place)) else { return };
        let Some(session) = self.partition.sessions.get(first) else { return };
        line.open = Some(OpenChange {
            session: session.id.clone(),
            since: session.started_at.clone(),
            commit: origin.commit(first),
            after: before.and_then(|before| origin.commit(before)),
            sessions: open.sessions,
            change: since.map(|effect| scale.change(effect.difference)),
            interval: since.map(|effect| (scale.change(effect.interval.0), scale.change(effect.interval.1))),
        });
        if open.is_over(scale, &bad, &new, self.effect, self.policy) {
            line.notes.push("the change that was open is not there any more".to_owned());
            line.open = None;
            return;
        }
        let size = since.map_or_else(String::new, |effect| {
            let interval = (scale.change(effect.interval.0), scale.change(effect.interval.1));
            let change = words::change(scale.change(effect.difference), Some(interval));
            format!(", {change} {} against the level before", words::interval(interval))
        });
        let message = format!(
            "open since {}: {} sessions{size}; neither acknowledged nor over",
            session.started_at.get(..10).unwrap_or(&session.started_at),
            open.sessions + self.candidate.len(),
        );
        says(line, Verdict::Regressed, "open", message);
    }

    /// A change that was acknowledged together with what brought it passes, as far as it was accepted.
    fn accept(&self, line: &mut Line) {
        let is_hit = matches!(line.verdict, Verdict::Regressed | Verdict::Pending) && line.open.is_none();
        let Some(effect) = self.effect.filter(|_| is_hit) else { return };
        let is_covered = |mark: &Mark| {
            let limit = mark.at_most.map(|share| effect.scale.bound(share, self.policy.direction));
            limit.is_none_or(|limit| effect.difference.abs() <= limit)
        };
        if self.accepted.iter().any(is_covered) {
            let said = format!("accepted: {}", line.message);
            says(line, Verdict::NoChangeSeen, "accepted", said);
        }
    }

    /// A first hit waits where the gate says so; the next session of the same revision decides.
    fn confirm(&self, line: &mut Line) {
        if !self.rule.is_confirmed || line.verdict != Verdict::Regressed || line.open.is_some() {
            return;
        }
        let base: Vec<f64> = self.baseline_values();
        let hit = |at: &usize| {
            let point = self.point(*at)?;
            let scale = Scale::of(&base, &[point.median])?;
            Some(judge(against_history(scale, &base, &[point.median]), self.policy, None).verdict == Verdict::Regressed)
        };
        if self.before.iter().all(|at| hit(at) != Some(true)) {
            let said = format!("{}; a second session of the same revision decides", line.message);
            says(line, Verdict::Pending, "firstHit", said);
        }
    }

    /// Limits decide by themselves.
    fn limits(&self, line: &mut Line) {
        let Some(median) = line.candidate.median else { return };
        let unit = line.unit.clone();
        let shown = |value: f64| words::value(value, unit.as_deref());
        let below = self.rule.min.filter(|min| median < *min);
        let above = self.rule.max.filter(|max| median > *max);
        if let Some(min) = below {
            let said = format!("{} is below `min: {}`", shown(median), words::number(min));
            says(line, Verdict::Regressed, "belowMin", said);
        } else if let Some(max) = above {
            let said = format!("{} is above `max: {}`", shown(median), words::number(max));
            says(line, Verdict::Regressed, "aboveMax", said);
        }
    }
}

fn says(line: &mut Line, verdict: Verdict, reason: &str, message: String) {
    line.verdict = verdict;
    reason.clone_into(&mut line.reason);
    line.message = message;
}

fn empty_series(rule: &Rule) -> Series {
    let metric = crate::archive::MetricKey { name: rule.metric.clone(), labels: BTreeMap::new(), unit: None };
    Series { metric, direction: Direction::None, kind: crate::result::v1::Kind::Secondary, points: Vec::new() }
}

/// Returns the line of a case that has no result.
fn missing(rule: &Rule, case: &str, name: &str) -> Line {
    Line {
        benchmark: rule.benchmark.clone(),
        case: case.to_owned(),
        case_name: name.to_owned(),
        environment: BTreeMap::from([("target".to_owned(), rule.target.clone())]),
        metric: rule.metric.clone(),
        labels: BTreeMap::new(),
        unit: None,
        direction: Direction::None,
        kind: crate::result::v1::Kind::Secondary,
        verdict: Verdict::Missing,
        reason: "noSession".to_owned(),
        message: "there is no result of the candidate".to_owned(),
        change: None,
        interval: None,
        p: None,
        adjusted_p: None,
        method: None,
        threshold: rule.max_regression.unwrap_or(DEFAULT_THRESHOLD),
        detectable: None,
        more_sessions: None,
        correlation: None,
        baseline: super::v1::Sessions::default(),
        candidate: super::v1::Sessions::default(),
        open: None,
        acks: Vec::new(),
        notes: Vec::new(),
        synthetic: false,
    }
}
