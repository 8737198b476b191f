//! One line of an answer: what was judged, made of an dataset's sessions and a judgement's numbers.

use super::model::{Line, SessionValue, Sessions, Size, Verdict};
use super::side::Lineage;
use super::words;
use crate::dataset::{Dataset, Partition, Point, Series};
use crate::verdict::{Judgement, Policy};
use kubebench_stats as stats;
use kubebench_syntax::unit::moment;

/// Where sessions are from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) partition: &'a Partition,
    /// The commits that are known.
    pub(super) lineage: Option<&'a Lineage>,
    /// The version of the extraction rules that sessions were read by; whatever version it was, where none is said.
    pub(super) extraction: Option<u32>,
}

impl Origin<'_> {
    /// Returns the places of the points of a series that are of the commits that are known.
    pub(super) fn members(&self, series: &Series) -> Vec<usize> {
        let points = series.points.iter().enumerate();
        points.filter(|(_, point)| self.is_member(point)).map(|(at, _)| at).collect()
    }

    /// Returns the sessions at `points`, as they are shown.
    pub(super) fn sessions<'p>(&self, points: impl Iterator<Item = &'p Point>) -> Sessions {
        let sessions: Vec<(SessionValue, usize)> =
            points.filter_map(|point| Some((self.session(point)?, point.runs.len()))).collect();
        let values: Vec<f64> = sessions.iter().map(|(session, _)| session.value).collect();
        Sessions {
            median: (!values.is_empty()).then(|| stats::quantile(values.iter().copied(), 0.5)),
            variation: variation(&values),
            runs: sessions.iter().map(|(_, runs)| runs).sum(),
            sessions: sessions.into_iter().map(|(session, _)| session).collect(),
        }
    }

    /// Returns when what begins with a session was first measured: a session of a later commit may have run before it, as where the commits
    /// between were measured afterwards.
    pub(super) fn first_measured(&self, first: usize, series: &Series) -> Option<String> {
        let own = self.partition.sessions.get(first)?;
        let later = series.points.iter().filter(|point| point.session > first && self.is_member(point));
        let later = later.filter_map(|point| self.partition.sessions.get(point.session));
        let began = [own].into_iter().chain(later).map(|session| session.started_at.as_str());
        began.min_by(|one, other| moment(one).cmp(moment(other))).map(str::to_owned)
    }

    fn session(&self, point: &Point) -> Option<SessionValue> {
        let session = self.partition.sessions.get(point.session)?;
        let counted = || point.rows.iter().filter_map(|at| self.dataset.rows().get(*at));
        Some(SessionValue {
            session: session.id.clone(),
            started_at: session.started_at.clone(),
            commit: self.commit(point.session),
            value: point.median,
            results: counted().map(|row| row.path.clone()).collect(),
            neighbors: counted().flat_map(|row| row.neighbors.iter().cloned()).collect(),
        })
    }

    /// Returns the commit of the session at this place of the partition, where that is known.
    pub(super) fn commit(&self, session: usize) -> Option<String> {
        self.known_commit(session).map(str::to_owned)
    }

    /// Returns the commit that a session measured: none where files differed from it, since nobody else has these files.
    pub(super) fn measured_commit(&self, session: usize) -> Option<String> {
        let row = self.partition.sessions.get(session)?.first(self.dataset)?;
        let is_clean = self.dataset.origin(row).dirty != Some(true);
        self.commit(session).filter(|_| is_clean)
    }

    fn known_commit(&self, session: usize) -> Option<&str> {
        let row = self.partition.sessions.get(session)?.first(self.dataset)?;
        let known = self.lineage.and_then(|lineage| lineage.commit_of(self.dataset, row));
        known.or(self.dataset.origin(row).commit.as_deref())
    }

    /// Returns at which of the `places` of points of a series another commit begins.
    pub(super) fn begins(&self, series: &Series, places: &[usize]) -> Vec<usize> {
        let commits: Vec<Option<&str>> =
            places.iter().map(|at| self.known_commit(series.points.get(*at)?.session)).collect();
        let ends = commits.iter().zip(commits.iter().skip(1)).enumerate();
        ends.filter(|(_, (one, next))| one != next).map(|(at, _)| at + 1).collect()
    }

    /// Returns whether the session of a point is of the commits that are known.
    pub(super) fn is_member(&self, point: &Point) -> bool {
        self.has(point.session)
    }

    /// Returns whether the session of a point is of a commit that no branch has.
    pub(super) fn is_unreachable(&self, point: &Point) -> bool {
        let row = self.partition.sessions.get(point.session).and_then(|session| session.first(self.dataset));
        self.lineage.zip(row).is_some_and(|(lineage, row)| lineage.is_unreachable(self.dataset, row))
    }

    /// Returns whether the session at this place of the partition was read by the extraction rules of this version.
    pub(super) fn is_read_alike(&self, session: usize) -> bool {
        let row = self.partition.sessions.get(session).and_then(|session| session.first(self.dataset));
        let read = row.map(|row| self.dataset.origin(row).extraction_version());
        self.extraction.is_none() || read == self.extraction
    }

    /// Returns whether the session at this place of the partition is of the commits that are known, where any are, and was read
    /// by the extraction rules of this version.
    pub(super) fn has(&self, session: usize) -> bool {
        if !self.is_read_alike(session) {
            return false;
        }
        let Some(lineage) = self.lineage else { return true };
        let session = self.partition.sessions.get(session).filter(|session| !session.is_outdated);
        let row = session.and_then(|session| session.first(self.dataset));
        row.is_some_and(|row| lineage.has(self.dataset, row))
    }

    /// Returns whether the session of a point is of a merged commit, and not of what the branch was then.
    pub(super) fn is_outdated(&self, point: &Point) -> bool {
        self.lineage.is_some() && self.partition.sessions.get(point.session).is_some_and(|session| session.is_outdated)
    }

    /// Returns a line about a metric, with the verdict and its reasons; sessions and what else is known are for the caller to add.
    pub(super) fn line(&self, series: &Series, policy: Policy, judgement: &Judgement) -> Line {
        let newest = self.partition.newest(self.dataset);
        let effect = judgement.effect;
        let is_inconclusive = judgement.verdict == Verdict::Inconclusive;
        Line {
            benchmark: self.partition.benchmark.clone(),
            baseline_benchmark: None,
            case: self.partition.case.clone(),
            case_name: self.dataset.subject(newest).case_name.clone(),
            environment: self.partition.facts.iter().map(|(fact, value)| ((*fact).to_owned(), value.clone())).collect(),
            metric: series.metric.name.clone(),
            labels: series.metric.labels.clone(),
            unit: series.metric.unit.clone(),
            direction: policy.direction,
            kind: series.kind,
            verdict: judgement.verdict,
            reason: words::code(judgement.reason).to_owned(),
            message: words::reason(judgement, policy),
            change: judgement.change(),
            interval: judgement.interval(),
            p: effect.map(|effect| effect.p),
            adjusted_p: judgement.adjusted_p,
            method: effect.map(|effect| effect.method.name().to_owned()),
            threshold: policy.threshold,
            detectable: judgement.detectable,
            more_sessions: judgement.more.filter(|_| is_inconclusive),
            next_run: None,
            correlation: effect.and_then(|effect| effect.autocorrelation),
            baseline: Sessions::default(),
            candidate: Sessions::default(),
            open: None,
            acks: Vec::new(),
            notes: Vec::new(),
            on_default: false,
            unreachable: 0,
            synthetic: newest.synthetic,
        }
    }
}

impl Line {
    /// Returns how large its change is; nothing where none is known.
    pub fn size(&self) -> Option<Size> {
        let levels = (self.baseline.median?, self.candidate.median?);
        let is_from_zero = levels.0 == 0.0 && levels.1 != 0.0;
        let is_known = self.change.is_some() || is_from_zero;
        is_known.then_some(Size { change: self.change, interval: self.interval, levels })
    }
}

/// Returns the coefficient of variation of values that are all positive.
fn variation(values: &[f64]) -> Option<f64> {
    let is_ratio = values.len() > 1 && values.iter().all(|value| *value > 0.0);
    let share = stats::deviation(values.iter().copied()) / stats::mean(values.iter().copied());
    is_ratio.then_some(share).filter(|share| share.is_finite())
}
