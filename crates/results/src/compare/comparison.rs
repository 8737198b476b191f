//! `compare`: two sides, case by case and metric by metric.

mod one_sided;

use std::collections::{BTreeMap, BTreeSet};

use super::far_off;
use super::line::Origin;
use super::model::{Comparison, Geomean, Kind, Line, Unmatched};
use super::pairing::{Benchmarks, Paired, pairs};
use super::policies::Policies;
use super::sequence::sequences;
use super::side::{Lineage, Side};
use super::words;
use crate::dataset::{Dataset, Facts, MetricKey, Partition, Point, Series, series_of};
use crate::order::sort_by_case;
use crate::verdict::{
    Effect, LEAST_HISTORY, Policy, Scale, Verdict, against_history, judge, of_few, of_groups, of_pairs, without_scale,
};
use kubebench_format::result::plain;
use kubebench_stats as stats;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::unit::MetricSelector;

/// From how many sessions on each side ranks decide.
const LEAST_GROUP: usize = 4;

/// What is compared.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The results of both sides.
    pub dataset: &'a Dataset,
    /// The sides as they were asked for.
    pub sides: [&'a Side; 2],
    /// The places of their rows.
    pub rows: [&'a BTreeSet<usize>; 2],
    /// The facts that may differ.
    pub allowed: &'a BTreeSet<String>,
    /// The facts that never keep results apart.
    pub across: &'a BTreeSet<String>,
    /// What specs say of metrics.
    pub policies: &'a Policies,
    /// Only these metrics, where some are named.
    pub metrics: &'a [MetricSelector],
    /// The commits that are known.
    pub lineage: Option<&'a Lineage>,
}

/// Compares two sides.
pub fn compare(request: Request<'_>) -> Comparison {
    let [first, second] = request.rows.map(|rows| by_case(&request, rows));
    let (mut lines, mut unmatched, mut notes) = (Vec::new(), Vec::new(), BTreeSet::new());
    let none = Benchmarks::new();
    let cases: BTreeSet<&(String, String)> = first.keys().chain(second.keys()).collect();
    for case in cases {
        let sides = [&first, &second].map(|side| side.get(case).unwrap_or(&none));
        let Paired { pairs, left: [ours, theirs] } = pairs(request.dataset, request.sides, sides);
        for (baselines, candidates) in pairs {
            lines.extend(request.of_benchmark(baselines, candidates, &mut notes));
        }
        if !ours.is_empty() && !theirs.is_empty() {
            notes.insert(format!(
                "it is unclear which of {} to compare with which of {}: give matching benchmarks the same label, or \
                 name one of each side with --benchmark",
                ours.keys().copied().collect::<Vec<_>>().join(", "),
                theirs.keys().copied().collect::<Vec<_>>().join(", ")
            ));
        }
        unmatched.extend(ours.into_values().map(|partitions| request.unmatched(partitions, "baseline")));
        unmatched.extend(theirs.into_values().map(|partitions| request.unmatched(partitions, "candidate")));
    }
    sort_by_case(&mut unmatched, |one| (&one.benchmark, &one.case_name));
    unmatched.sort_by(|one, other| one.only.cmp(&other.only));
    lines.sort_by(|one, other| order(one).cmp(&order(other)));
    sort_by_case(&mut lines, |line| (&line.benchmark, &line.case_name));
    Comparison {
        baseline: request.sides[0].to_string(),
        candidate: request.sides[1].to_string(),
        geomeans: geomeans(&lines),
        lines,
        unmatched,
        left_out: Vec::new(),
        signatures: None,
        notes: notes.into_iter().collect(),
    }
}

fn order(line: &Line) -> (Kind, String, &BTreeMap<String, String>) {
    (line.kind, words::metric(line), &line.environment)
}

/// Groups the partitions of a side by the case that they are compared by, and then by benchmark; cases of different benchmarks meet where
/// labels are compared.
fn by_case(request: &Request<'_>, rows: &BTreeSet<usize>) -> BTreeMap<(String, String), Benchmarks> {
    let is_label = request.sides.iter().any(|side| matches!(side, Side::Label(..)));
    let mut cases: BTreeMap<(String, String), Benchmarks> = BTreeMap::new();
    for partition in sequences(request.dataset, rows.iter().copied(), request.across, request.lineage) {
        let benchmark = if is_label { String::new() } else { partition.benchmark.clone() };
        let of_case = cases.entry((benchmark, request.case(&partition))).or_default();
        of_case.entry(partition.benchmark.clone()).or_default().push(partition);
    }
    cases
}

impl Request<'_> {
    /// Returns the case of a partition, without what the sides say that it is.
    fn case(&self, partition: &Partition) -> String {
        let is_by_case = self.sides.iter().any(|side| matches!(side, Side::Variant(_) | Side::Label(..)));
        // Toolkits are compared variant by variant.
        let is_by_variant = !self.sides.iter().any(|side| matches!(side, Side::Label(..)));
        if !is_by_case {
            return partition.case.clone();
        }
        let is_said = |name: &str| is_by_variant && name == kubebench_format::result::VARIANT;
        let subject = self.dataset.subject(partition.newest(self.dataset));
        let params = subject.params.iter().filter(|(name, _)| !is_said(name));
        params.map(|(name, value)| format!("{name}={}", plain(value))).collect::<Vec<_>>().join(", ")
    }

    fn unmatched(&self, partitions: &[Partition], only: &str) -> Unmatched {
        let first = partitions.first().expected("a partition of each benchmark that is left");
        Unmatched {
            benchmark: first.benchmark.clone(),
            case_name: self.dataset.subject(first.newest(self.dataset)).case_name.clone(),
            only: only.to_owned(),
        }
    }

    /// Compares one case of one benchmark: on equal hardware where both sides have it, and else on what both have last.
    fn of_benchmark(
        &self,
        baselines: &[Partition],
        candidates: &[Partition],
        notes: &mut BTreeSet<String>,
    ) -> Vec<Line> {
        let newest = |side: &&Partition| side.last_begun().map(str::to_owned);
        let same = |candidate: &Partition| {
            let is_same = |baseline: &&Partition| self.facts(baseline).eq(self.facts(candidate));
            baselines.iter().filter(is_same).max_by_key(newest)
        };
        let mut pairs: Vec<(&Partition, &Partition)> =
            candidates.iter().filter_map(|candidate| Some((same(candidate)?, candidate))).collect();
        if pairs.is_empty() {
            pairs.extend(baselines.iter().max_by_key(newest).zip(candidates.iter().max_by_key(newest)));
        }
        let mut lines: Vec<Line> =
            pairs.iter().flat_map(|(baseline, candidate)| self.of_pair(baseline, candidate, notes)).collect();
        lines.extend(self.left(&pairs, baselines, candidates, notes));
        lines
    }

    /// Iterates over what keeps a partition apart, without the facts that a side asks for.
    fn facts<'p>(&self, partition: &'p Partition) -> impl Iterator<Item = (&'static str, &'p str)> {
        let sides = self.sides;
        let facts = partition.facts.iter().map(|(fact, value)| (*fact, value.as_str()));
        facts.filter(move |(fact, _)| sides.iter().all(|side| side.asked_fact() != Some(*fact)))
    }

    fn of_pair(&self, baseline: &Partition, candidate: &Partition, notes: &mut BTreeSet<String>) -> Vec<Line> {
        let differing = self.differing(baseline, candidate);
        let refused: Vec<&(String, String)> =
            differing.iter().filter(|(fact, _)| !self.allowed.contains(fact)).collect();
        let ours = series_of(self.dataset, baseline, |definition| definition.is_among(self.metrics));
        let theirs = series_of(self.dataset, candidate, |definition| definition.is_among(self.metrics));
        let read_otherwise = self.read_otherwise(baseline, candidate);
        let mut lines = self.lost(baseline, &ours, candidate, &theirs, notes);
        notes.extend(self.gained(baseline, &ours, candidate, &theirs));
        for series in &theirs {
            let Some(before) = ours.iter().find_map(|own| own.as_of(&series.metric)) else {
                notes.extend(other_unit(&ours, series, candidate));
                continue;
            };
            let mut line = self.line(baseline, &before, candidate, series);
            for (fact, said) in &differing {
                line.notes.push(format!("{fact} differs: {said}"));
            }
            line.notes.extend(read_otherwise.clone());
            if !refused.is_empty() {
                refuse(&mut line, &refused);
            }
            lines.push(line);
        }
        lines
    }

    /// Returns the facts that differ between two sides that are not asked for as such, and how.
    fn differing(&self, baseline: &Partition, candidate: &Partition) -> Vec<(String, String)> {
        let is_asked = |fact: &str| self.sides.iter().any(|side| side.asked_fact() == Some(fact));
        let names: BTreeSet<&'static str> = baseline.facts.keys().chain(candidate.facts.keys()).copied().collect();
        let said = |facts: &Facts, fact: &str| facts.get(fact).cloned().unwrap_or_else(|| "nothing".to_owned());
        let mut differing: Vec<(String, String)> = names
            .into_iter()
            .filter(|fact| !is_asked(fact) && baseline.facts.get(fact) != candidate.facts.get(fact))
            .map(|fact| {
                (fact.to_owned(), format!("{} and {}", said(&baseline.facts, fact), said(&candidate.facts, fact)))
            })
            .collect();
        let is_of_cases = self.sides.iter().any(|side| side.is_of_cases());
        let workloads = [baseline, candidate].map(|side| self.workloads(side));
        if let ([Some(one), Some(other)], false) = (&workloads, is_of_cases)
            && one != other
        {
            let short = |digests: &BTreeSet<String>| {
                let words = digests.iter().map(|digest| digest.trim_start_matches("sha256:").chars().take(8).collect());
                words.collect::<Vec<String>>().join(", ")
            };
            let said = format!("arguments, variables, files or inputs: {} and {}", short(one), short(other));
            differing.push(("workload".to_owned(), said));
        }
        differing
    }

    /// Says that values of one side were read by another version of the extraction rules.
    fn read_otherwise(&self, baseline: &Partition, candidate: &Partition) -> Option<String> {
        let versions = |side: &Partition| {
            let rows = side.sessions.iter().flat_map(|session| session.rows(self.dataset));
            rows.map(|row| self.dataset.origin(row).extraction_version()).collect::<BTreeSet<u32>>()
        };
        (versions(baseline) != versions(candidate)).then(|| {
            "the sides were read by different versions of the extraction rules: `kubebench reparse` reads the kept logs again"
                .to_owned()
        })
    }

    /// Returns the digests of what ran, images apart; nothing where a result does not know.
    fn workloads(&self, side: &Partition) -> Option<BTreeSet<String>> {
        let rows = side.sessions.iter().flat_map(|session| session.rows(self.dataset));
        rows.map(|row| self.dataset.origin(row).workload_digest.clone()).collect()
    }

    fn line(&self, baseline: &Partition, before: &Series, candidate: &Partition, after: &Series) -> Line {
        let policy = self.policies.of(&candidate.benchmark, after);
        let medians =
            [before, after].map(|series| series.points.iter().map(|point| point.median).collect::<Vec<f64>>());
        // A change is a share of the baseline: what fell to nothing lost all of it, and what rose from nothing has no share.
        let scale = Scale::of(&medians[0], &medians[1]).and_then(|_| Scale::between(&medians[0], &medians[1]));
        let judgement = match scale {
            Some(scale) => {
                let is_of_commits = self.sides.iter().all(|side| side.is_of_commits());
                let few = if is_of_commits { against_history } else { of_few };
                judge(measure(scale, &medians, &shared(baseline, before, candidate, after), few), policy, None)
            }
            None => without_scale(&medians[0], &medians[1]),
        };
        let mut line = self.origin(candidate).line(after, policy, &judgement);
        line.baseline = self.origin(baseline).sessions(before.points.iter());
        line.candidate = self.origin(candidate).sessions(after.points.iter());
        for side in [&line.baseline, &line.candidate] {
            line.notes.extend(far_off::named(side, line.unit.as_deref()));
        }
        for (side, values) in self.sides.iter().zip(&medians) {
            let levels = levels(values, policy);
            if levels > 1 {
                line.notes.push(format!(
                    "the sessions of {side} have {levels} levels, and the median is over all of them: name a revision, \
                     which has one level"
                ));
            }
        }
        line.baseline_benchmark = other_benchmark(baseline, candidate);
        line
    }

    fn origin<'p>(&'p self, partition: &'p Partition) -> Origin<'p> {
        Origin { dataset: self.dataset, partition, lineage: self.lineage, extraction: None }
    }
}

/// Returns the benchmark of the baseline where that is another one.
fn other_benchmark(baseline: &Partition, candidate: &Partition) -> Option<String> {
    (baseline.benchmark != candidate.benchmark).then(|| baseline.benchmark.clone())
}

/// Returns how many levels the sessions of a side have.
fn levels(values: &[f64], policy: Policy) -> usize {
    crate::verdict::baseline(values, policy, &[]).changes.len() + 1
}

/// Returns whether two series are of one metric, whatever its unit.
fn is_like(one: &Series, other: &Series) -> bool {
    one.metric.name == other.metric.name && one.metric.labels == other.metric.labels
}

/// Says that the unit of a metric of the baseline measures something else.
fn other_unit(ours: &[Series], series: &Series, candidate: &Partition) -> Option<String> {
    let metric = &series.metric;
    let known = ours.iter().find(|own| is_like(own, series))?;
    let unit = |metric: &MetricKey| metric.unit.clone().unwrap_or_else(|| "none".to_owned());
    Some(format!(
        "`{}` of {} is not compared: its unit changed from {} to {}",
        metric.shown(),
        candidate.benchmark,
        unit(&known.metric),
        unit(metric)
    ))
}

/// This many pairs that are all of one side are worth more than the other sessions of the other side.
const LEAST_PAIRS: usize = 3;

/// How few sessions are measured against many: in the order of many, few.
type Few = fn(Scale, &[f64], &[f64]) -> Option<Effect>;

/// Measures how two cases differ, of which neither came before the other; nothing where even that cannot be measured.
pub(crate) fn measure_cases(scale: Scale, sides: &[Vec<f64>; 2], together: &[(f64, f64)]) -> Option<Effect> {
    measure(scale, sides, together, of_few)
}

/// Measures the difference by what the sessions are: pairs where both sides ran in the same ones, groups where there are enough, and
/// else the few against the many; nothing where even that cannot be measured.
fn measure(scale: Scale, [first, second]: &[Vec<f64>; 2], together: &[(f64, f64)], few: Few) -> Option<Effect> {
    let (n, m) = (first.len(), second.len());
    let is_paired = 2 * together.len() >= n.max(m) || together.len() == n.min(m) && together.len() >= LEAST_PAIRS;
    if together.len() > 1 && is_paired {
        of_pairs(scale, together)
    } else if n.min(m) >= LEAST_GROUP {
        of_groups(scale, first, second)
    } else if n >= LEAST_HISTORY {
        few(scale, first, second)
    } else if m >= LEAST_HISTORY {
        few(scale, second, first).map(mirrored)
    } else {
        of_groups(scale, first, second)
    }
}

/// Returns the values of the sessions in which both sides ran.
fn shared(baseline: &Partition, before: &Series, candidate: &Partition, after: &Series) -> Vec<(f64, f64)> {
    let id =
        |partition: &Partition, point: &Point| partition.sessions.get(point.session).map(|session| session.id.clone());
    let known: BTreeMap<String, f64> =
        before.points.iter().filter_map(|point| Some((id(baseline, point)?, point.median))).collect();
    let both = after.points.iter().filter_map(|point| Some((*known.get(&id(candidate, point)?)?, point.median)));
    both.collect()
}

/// Turns the sides of an effect round.
fn mirrored(effect: Effect) -> Effect {
    let ((low, high), (least, greatest)) = (effect.interval, effect.beyond);
    Effect { difference: -effect.difference, interval: (-high, -low), beyond: (-greatest, -least), ..effect }
}

fn refuse(line: &mut Line, refused: &[&(String, String)]) {
    line.verdict = Verdict::Incomparable;
    "differs".clone_into(&mut line.reason);
    line.message = format!("both sides differ in {}", refused_words(refused));
    line.notes.clear();
    (line.change, line.interval, line.p) = (None, None, None);
    (line.detectable, line.more_sessions, line.method) = (None, None, None);
}

/// Says which facts keep two sides apart, and how they can be compared nevertheless.
fn refused_words(refused: &[&(String, String)]) -> String {
    let said: Vec<String> = refused.iter().map(|(fact, said)| format!("{fact} ({said})")).collect();
    let allow: Vec<String> = refused.iter().map(|(fact, _)| format!("--allow {fact}")).collect();
    format!("{}; compare anyway with {}", said.join(" and "), allow.join(" "))
}

/// Returns the geometric mean of the changes of each metric that several cases have.
fn geomeans(lines: &[Line]) -> Vec<Geomean> {
    let mut metrics: BTreeMap<String, Vec<&Line>> = BTreeMap::new();
    for line in lines {
        metrics.entry(words::metric(line)).or_default().push(line);
    }
    let geomean = |(metric, lines): (String, Vec<&Line>)| {
        let ratio = |line: &&Line| {
            let is_positive = |median: Option<f64>| median.is_some_and(|median| median > 0.0);
            let positive = is_positive(line.baseline.median) && is_positive(line.candidate.median);
            line.change.filter(|change| positive && *change > -1.0).map(stats::ln_1p)
        };
        let ratios: Vec<f64> = lines.iter().filter_map(ratio).collect();
        let excluded = lines.len() - ratios.len();
        let change = stats::exp_m1(stats::mean(ratios.iter().copied()));
        (ratios.len() > 1).then_some(Geomean { metric, change, cases: ratios.len(), excluded })
    };
    metrics.into_iter().filter_map(geomean).collect()
}
