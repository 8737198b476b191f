//! `gate`: does the candidate pass what the specs demand?
//!
//! Every gated metric of every case is measured first; then all p values are adjusted together; then each is judged.

mod candidate;
mod doubt;
mod evaluation;
mod head;
mod new_case;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

pub use self::head::{CheckedOut, Head, Lacks};
pub use self::new_case::Unread;

use self::evaluation::{Adjusted, Draft};
use super::history::replaced;
use super::model::{Line, NO_SESSION, NONE_OF_NAMED};
use super::policies::Policies;
use super::side::Lineage;
use crate::dataset::{Dataset, Partition, Series, series_of};
use crate::order::sort_by_case;
use crate::verdict::{DEFAULT_THRESHOLD, Verdict};
use kubebench_format::result::Ack;
use kubebench_format::result::v1::Direction;
use kubebench_stats::adjust::benjamini_hochberg;
use kubebench_syntax::text::first_of;
use kubebench_syntax::unit::MetricSelector;

/// A gate of a spec.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    pub benchmark: String,
    pub target: String,
    /// The cases: id, and name as people read it.
    pub cases: Vec<(String, String)>,
    pub metric: MetricSelector,
    /// How much worse it may get, as a share.
    pub max_regression: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
    /// Whether a first hit waits for a second session of the same revision.
    pub is_confirmed: bool,
    /// Which way is better, where the spec says so; else the candidate does.
    pub direction: Option<Direction>,
    /// What it is compared with.
    pub against: Against,
}

/// What a candidate is compared with.
#[derive(Clone, Debug, PartialEq)]
pub enum Against {
    /// The accepted level of the earlier sessions of the default branch, or of what `--baseline` names.
    Default,
    /// The same of the commits that are reachable from this branch or tag, by the key of its lineage.
    Lineage(String),
    Value(f64),
}

/// What is judged.
#[derive(Clone, Debug, PartialEq)]
pub enum Candidate {
    /// The newest session of each partition, as [`Head::newest`] finds it.
    Newest,
    /// The same among the sessions with one of these results, by their places in the dataset. Of a benchmark with none of them
    /// on the gate's target nothing is judged, if it has others.
    NewestOf(BTreeSet<usize>),
    /// These results, by their places in the dataset.
    Rows(BTreeSet<usize>),
}

/// All that a gate looks at.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The results.
    pub dataset: &'a Dataset,
    pub partitions: &'a [Partition],
    /// The gates.
    pub rules: &'a [Rule],
    /// What specs say of metrics.
    pub policies: &'a Policies,
    /// The acknowledgements.
    pub acks: &'a [Ack],
    /// The commits that branches and tags reach, by name.
    pub lineages: &'a BTreeMap<String, Lineage>,
    /// The name of the default lineage; without one, all earlier sessions are the baseline.
    pub default: Option<&'a str>,
    /// What is judged.
    pub candidate: &'a Candidate,
    /// What is checked out.
    pub head: Head<'a>,
    /// The results that could not be read.
    pub unread: Unread<'a>,
    /// The day on which acknowledgements are judged.
    pub as_of: &'a str,
}

/// What was judged, and what else a reader has to know.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// The gates by benchmark, case, hardware and metric.
    pub lines: Vec<Line>,
    /// What is open on hardware that is not judged, and which benchmarks are not.
    pub notes: Vec<String>,
}

impl Candidate {
    /// Returns whether the sessions to judge were not named.
    pub fn is_newest(&self) -> bool {
        !matches!(self, Self::Rows(_))
    }
}

/// A partition with its gated metrics.
struct Known<'a> {
    partition: &'a Partition,
    /// Whether its case runs on other hardware now.
    is_replaced: bool,
    series: Vec<Series>,
}

/// Judges all gates.
pub fn gate(request: Request<'_>) -> Judged {
    let known = known(&request);
    let cases: Vec<(&Rule, &str, &str)> = request
        .rules
        .iter()
        .flat_map(|rule| rule.cases.iter().map(move |(case, name)| (rule, case.as_str(), name.as_str())))
        .collect();
    let measured: Vec<(Vec<Draft<'_>>, BTreeSet<String>)> = cases
        .par_iter()
        .copied()
        .map(|(rule, case, _)| {
            let of_case = known.get(&(rule.benchmark.as_str(), case)).map(Vec::as_slice).unwrap_or_default();
            request.of_case(rule, of_case)
        })
        .collect();
    let (mut lines, mut notes, mut drafts) = (Vec::new(), BTreeSet::new(), Vec::new());
    let only_elsewhere = only_elsewhere(&request);
    for ((rule, case, name), (judged, elsewhere)) in cases.into_iter().zip(measured) {
        if judged.is_empty() && !only_elsewhere.contains(&(rule.benchmark.as_str(), rule.target.as_str())) {
            lines.push(missing(rule, case, name, request.candidate));
        }
        drafts.extend(judged);
        notes.extend(elsewhere);
    }
    notes.extend(not_judged(&only_elsewhere));
    let gated: BTreeSet<(&str, &str)> =
        request.rules.iter().map(|rule| (rule.benchmark.as_str(), rule.metric.name())).collect();
    for benchmark in gated.iter().map(|(benchmark, _)| *benchmark).collect::<BTreeSet<_>>() {
        notes.extend(request.dataset.breaks(benchmark, |metric| gated.contains(&(benchmark, metric))));
    }
    let own = adjusted(drafts.iter().map(Draft::tested_p).collect());
    let pending = adjusted(drafts.iter().map(Draft::pending_p).collect());
    let together = own.into_iter().zip(pending).map(|(candidate, pending)| Adjusted { candidate, pending });
    lines.par_extend(
        drafts.into_par_iter().zip(together.collect::<Vec<_>>()).map(|(draft, adjusted)| draft.into_line(adjusted)),
    );
    let new = request.new_cases();
    for line in &mut lines {
        request.mark_new(line, &new);
    }
    lines.sort_by(|one, other| key(one).cmp(&key(other)));
    sort_by_case(&mut lines, |line| (&line.benchmark, &line.case_name));
    Judged { lines, notes: notes.into_iter().collect() }
}

/// Returns p values, where there is one, adjusted for each other.
fn adjusted(all: Vec<Option<f64>>) -> Vec<Option<f64>> {
    let mut adjusted = benjamini_hochberg(&all.iter().copied().flatten().collect::<Vec<_>>()).into_iter();
    all.into_iter().map(|p| p.and_then(|_| adjusted.next())).collect()
}

/// Returns the gated benchmarks and targets that have results, and none of those whose newest sessions are judged.
fn only_elsewhere<'a>(request: &Request<'a>) -> BTreeSet<(&'a str, &'a str)> {
    let Candidate::NewestOf(rows) = request.candidate else { return BTreeSet::new() };
    let dataset = request.dataset;
    let subjects = dataset.rows().iter().enumerate().map(|(at, row)| (rows.contains(&at), dataset.subject(row)));
    let named = |wanted: bool| {
        let own = subjects.clone().filter(move |(is_own, _)| *is_own == wanted);
        own.map(|(_, of)| (of.benchmark.as_str(), of.target.as_str())).collect::<BTreeSet<_>>()
    };
    let (own, others) = (named(true), named(false));
    let gated = request.rules.iter().map(|rule| (rule.benchmark.as_str(), rule.target.as_str()));
    gated.filter(|of| others.contains(of) && !own.contains(of)).collect()
}

/// Names the benchmarks that are not judged.
fn not_judged(only_elsewhere: &BTreeSet<(&str, &str)>) -> Option<String> {
    const SHOWN: usize = 3;
    let names: BTreeSet<&str> = only_elsewhere.iter().map(|(benchmark, _)| *benchmark).collect();
    let names: Vec<&str> = names.into_iter().collect();
    (!names.is_empty())
        .then(|| format!("not evaluated, since their only results are recorded ones: {}", first_of(&names, SHOWN)))
}

/// Returns the partitions of gated benchmarks by benchmark and case, each with the metrics that gates are about.
fn known<'a>(request: &Request<'a>) -> BTreeMap<(&'a str, &'a str), Vec<Known<'a>>> {
    let mut metrics: BTreeMap<&str, Vec<MetricSelector>> = BTreeMap::new();
    for rule in request.rules {
        metrics.entry(&rule.benchmark).or_default().push(rule.metric.clone());
    }
    let replaced = replaced(request.dataset, request.partitions, request.default_lineage());
    let mut known: BTreeMap<(&str, &str), Vec<Known<'_>>> = BTreeMap::new();
    for (partition, is_replaced) in request.partitions.iter().zip(replaced) {
        let Some(wanted) = metrics.get(partition.benchmark.as_str()) else { continue };
        let series = series_of(request.dataset, partition, |definition| definition.is_among(wanted));
        known.entry((&partition.benchmark, &partition.case)).or_default().push(Known {
            partition,
            is_replaced,
            series,
        });
    }
    known
}

fn key(line: &Line) -> (&BTreeMap<String, String>, &str, &BTreeMap<String, String>) {
    (&line.environment, &line.metric, &line.labels)
}

/// Returns the line of a case that has no result.
fn missing(rule: &Rule, case: &str, name: &str, candidate: &Candidate) -> Line {
    Line {
        benchmark: rule.benchmark.clone(),
        baseline_benchmark: None,
        case: case.to_owned(),
        case_name: name.to_owned(),
        environment: BTreeMap::from([("target".to_owned(), rule.target.clone())]),
        metric: rule.metric.name().to_owned(),
        labels: rule.metric.labels().clone(),
        unit: None,
        direction: Direction::None,
        kind: kubebench_format::result::v1::Kind::Secondary,
        verdict: Verdict::Missing,
        reason: NO_SESSION.to_owned(),
        message: match candidate {
            // There may be results of others.
            Candidate::Rows(_) => NONE_OF_NAMED.to_owned(),
            Candidate::Newest | Candidate::NewestOf(_) => "the candidate has no result".to_owned(),
        },
        change: None,
        interval: None,
        p: None,
        adjusted_p: None,
        method: None,
        threshold: rule.max_regression.unwrap_or(DEFAULT_THRESHOLD),
        detectable: None,
        more_sessions: None,
        next_run: None,
        correlation: None,
        baseline: super::model::Sessions::default(),
        candidate: super::model::Sessions::default(),
        open: None,
        acks: Vec::new(),
        notes: Vec::new(),
        on_default: false,
        unreachable: 0,
        synthetic: false,
    }
}
