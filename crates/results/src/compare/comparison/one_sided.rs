//! What only one side of a comparison has: hardware on which a case ran, and metrics. It is named, so that the rest is not taken for all.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::history::replaced;
use super::super::model::{Comparison, Line, Sessions};
use super::super::side::Side;
use super::super::words;
use super::{Request, is_like, other_benchmark, refused_words};
use crate::dataset::{FACTS, Partition, Series, series, series_of};
use crate::verdict::{Verdict, judge};

/// The maximum number of metrics that one note names.
const NAMED: usize = 10;
/// The reason of a line about hardware on which the baseline alone ran.
const ONLY_BASELINE: &str = "onlyBaseline";
/// That of one on which the candidate alone ran.
const ONLY_CANDIDATE: &str = "onlyCandidate";

/// The side that has something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Only {
    /// The first one.
    Baseline,
    /// The second one.
    Candidate,
}

impl Request<'_> {
    /// Returns the lines of hardware on which one side alone ran; `pairs` are compared.
    pub(super) fn left(
        &self,
        pairs: &[(&Partition, &Partition)],
        baselines: &[Partition],
        candidates: &[Partition],
        notes: &mut BTreeSet<String>,
    ) -> Vec<Line> {
        let is_paired = |partition: &Partition| {
            pairs.iter().flat_map(|(one, other)| [*one, *other]).any(|paired| std::ptr::eq(paired, partition))
        };
        let mut lines = Vec::new();
        for (only, own, others) in [(Only::Baseline, baselines, candidates), (Only::Candidate, candidates, baselines)] {
            let is_shared = |own: &Partition| others.iter().any(|other| self.facts(other).eq(self.facts(own)));
            let left =
                own.iter().zip(replaced(self.dataset, own, None)).filter(|(own, _)| !is_paired(own) && !is_shared(own));
            for (partition, is_replaced) in left {
                let Some(near) = self.nearest(partition, others) else { continue };
                let (baseline, candidate) = match only {
                    Only::Baseline => (partition, near),
                    Only::Candidate => (near, partition),
                };
                if is_replaced && self.reaches_back(only) {
                    notes.insert(self.no_longer(only, baseline, candidate));
                } else {
                    lines.extend(self.alone(only, baseline, candidate, notes));
                }
            }
        }
        lines
    }

    /// Returns whether a side names all that ran for a long time, so that some of its hardware is not in use any more.
    fn reaches_back(&self, only: Only) -> bool {
        !matches!(self.side(only), Side::Revision(_) | Side::Folder(_))
    }

    fn side(&self, only: Only) -> &Side {
        match only {
            Only::Baseline => self.sides[0],
            Only::Candidate => self.sides[1],
        }
    }

    /// Returns what of the other side ran on the hardware that is most like that of `partition`, of several the newest.
    fn nearest<'p>(&self, partition: &Partition, others: &'p [Partition]) -> Option<&'p Partition> {
        let newest = |other: &Partition| other.last_begun().map(str::to_owned);
        let unlike = |other: &Partition| self.differing(partition, other).len();
        others.iter().max_by_key(|other| (Reverse(unlike(other)), newest(other)))
    }

    /// Says that the other side never ran on hardware that one side has replaced since.
    fn no_longer(&self, only: Only, baseline: &Partition, candidate: &Partition) -> String {
        let differing = self.differing(baseline, candidate);
        let said: Vec<String> = differing.iter().map(|(fact, said)| format!("{fact} ({said})")).collect();
        format!(
            "{}{} also has sessions of {} on hardware that was replaced since, which are not compared: both sides \
             differ in {}",
            candidate.benchmark,
            self.case_of(candidate),
            self.side(only),
            said.join(" and ")
        )
    }

    /// Returns the lines of hardware that one side alone has, next to what the other side has instead: that is compared where it is
    /// allowed.
    fn alone(
        &self,
        only: Only,
        baseline: &Partition,
        candidate: &Partition,
        notes: &mut BTreeSet<String>,
    ) -> Vec<Line> {
        let differing = self.differing(baseline, candidate);
        let refused: Vec<&(String, String)> =
            differing.iter().filter(|(fact, _)| !self.allowed.contains(fact)).collect();
        if refused.iter().all(|(fact, _)| !FACTS.contains(&fact.as_str())) {
            return self.of_pair(baseline, candidate, notes);
        }
        let own = if only == Only::Baseline { baseline } else { candidate };
        let said =
            format!("only {} ran on this hardware: both sides differ in {}", self.side(only), refused_words(&refused));
        let line = |series: &Series| {
            let sessions = self.origin(own).sessions(series.points.iter());
            let line = Line {
                benchmark: candidate.benchmark.clone(),
                baseline_benchmark: other_benchmark(baseline, candidate),
                verdict: Verdict::Incomparable,
                message: said.clone(),
                ..self.unjudged(own, series)
            };
            match only {
                Only::Baseline => Line { reason: ONLY_BASELINE.to_owned(), baseline: sessions, ..line },
                Only::Candidate => Line { reason: ONLY_CANDIDATE.to_owned(), candidate: sessions, ..line },
            }
        };
        series_of(self.dataset, own, |definition| definition.is_among(self.metrics)).iter().map(line).collect()
    }

    /// Returns the lines of metrics that the newest session of the baseline has and the candidate lacks. What the baseline itself does not
    /// have any more is said in a note, and what two kinds of cases do not share, too.
    pub(super) fn lost(
        &self,
        baseline: &Partition,
        ours: &[Series],
        candidate: &Partition,
        theirs: &[Series],
        notes: &mut BTreeSet<String>,
    ) -> Vec<Line> {
        let last = |series: &Series| series.points.last().map(|point| point.session);
        let newest = ours.iter().map(last).max().flatten();
        let is_of_cases = self.sides.iter().any(|side| side.is_of_cases());
        let lost = ours.iter().filter(|own| !theirs.iter().any(|other| is_like(own, other)));
        let (missing, others): (Vec<&Series>, Vec<&Series>) =
            lost.partition(|series| last(series) == newest && !is_of_cases);
        notes.extend(self.only_one_has(Only::Baseline, baseline, &others));
        let line = |series: &Series| {
            let mut line = self.unjudged(candidate, series);
            line.baseline = self.origin(baseline).sessions(series.points.iter());
            line.baseline_benchmark = other_benchmark(baseline, candidate);
            (line.verdict, line.reason) = (Verdict::Missing, "noValue".to_owned());
            line.message = format!("{} has no value of this metric, but {} has one", self.sides[1], self.sides[0]);
            line
        };
        missing.into_iter().map(line).collect()
    }

    /// Names the metrics that only the candidate has, or says that the baseline has no run that counts.
    pub(super) fn gained(
        &self,
        baseline: &Partition,
        ours: &[Series],
        candidate: &Partition,
        theirs: &[Series],
    ) -> Option<String> {
        if ours.is_empty() && series(self.dataset, baseline).is_empty() {
            let of = format!("{}{}", baseline.benchmark, self.case_of(baseline));
            return Some(format!("no run of {} counts in {of}: they failed, or have no value", self.sides[0]));
        }
        let gained = theirs.iter().filter(|own| !ours.iter().any(|other| is_like(own, other)));
        self.only_one_has(Only::Candidate, candidate, &gained.collect::<Vec<_>>())
    }

    fn only_one_has(&self, only: Only, partition: &Partition, series: &[&Series]) -> Option<String> {
        let names: Vec<String> = series.iter().take(NAMED).map(|one| format!("`{}`", one.metric.shown())).collect();
        let more = series.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {}", words::counted(more, "other metric")) } else { String::new() };
        let of = format!("{}{}", partition.benchmark, self.case_of(partition));
        (!names.is_empty()).then(|| format!("only {} has {}{more} of {of}", self.side(only), names.join(", ")))
    }

    /// Returns the case as it is shown behind its benchmark.
    fn case_of(&self, partition: &Partition) -> String {
        let name = &self.dataset.subject(partition.newest(self.dataset)).case_name;
        if name.is_empty() { String::new() } else { format!(" ({name})") }
    }

    /// Returns a line about a series of which nothing is measured.
    fn unjudged(&self, partition: &Partition, series: &Series) -> Line {
        let policy = self.policies.of(&partition.benchmark, series);
        let line = self.origin(partition).line(series, policy, &judge(None, policy, None));
        Line {
            baseline: Sessions::default(),
            candidate: Sessions::default(),
            detectable: None,
            more_sessions: None,
            ..line
        }
    }
}

impl Comparison {
    /// Returns whether not one metric was there on both sides to be compared.
    pub fn is_void(&self) -> bool {
        let is_apart =
            |line: &Line| matches!(line.verdict, Verdict::Invalid | Verdict::Missing | Verdict::Incomparable);
        self.lines.iter().all(is_apart)
    }
}

impl Line {
    /// Returns whether one side lacks what this is about: the candidate a metric, or one of the two the hardware.
    pub fn is_one_sided(&self) -> bool {
        self.verdict == Verdict::Missing || matches!(self.reason.as_str(), ONLY_BASELINE | ONLY_CANDIDATE)
    }
}
