//! What the site is about: results grouped as people look for them, before anything is drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::chart::{Chart, Finding, page};
use super::links::Links;
use super::paths;
use kubebench_format::attestation::v1::Signatures;
use kubebench_format::result::VARIANT;
use kubebench_format::result::plain;
use kubebench_format::result::v1::{Metric, Status};
use kubebench_results::compare::model::{Comparison, LeftOut, Line, SeriesHistory, Verdict};
use kubebench_results::compare::words;
use kubebench_results::dataset::{Dataset, Partition, Row};
use kubebench_results::order::sort_by_case;
use kubebench_results::scaling::model::{Front, Group};
use kubebench_results::scaling::{self, Axis};
use kubebench_syntax::unit::moment;

/// All that a report is made from.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What the site is called.
    pub title: &'a str,
    /// The version of this program.
    pub version: &'a str,
    /// The results.
    pub dataset: &'a Dataset,
    pub partitions: &'a [Partition],
    /// The series of all of them.
    pub series: &'a [SeriesHistory],
    /// What gates say, and what they would say of primary metrics that have none.
    pub lines: &'a [Line],
    /// The cases that specs ask for, and what these say of themselves.
    pub asked: &'a [ExpectedBenchmark],
    /// Comparisons that get a page, by name.
    pub comparisons: &'a BTreeMap<String, Comparison>,
    /// The metrics of the newest results with their samples, by path.
    pub samples: &'a BTreeMap<String, Vec<Metric>>,
    /// Files that did not count.
    pub left_out: &'a [LeftOut],
    /// Who recorded the results, where the project has keys.
    pub signatures: &'a Option<Signatures>,
    /// Links to what is outside.
    pub links: &'a Links,
    /// Where the site will be, without a slash at the end: feeds need to know.
    pub address: Option<&'a str>,
    /// The day on which acknowledgements are judged.
    pub as_of: &'a str,
    /// What else a reader has to know.
    pub notes: &'a [String],
}

/// A spec that is there today.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedBenchmark {
    pub benchmark: String,
    /// Its spec.
    pub path: String,
    /// What it says of itself.
    pub description: Option<String>,
    pub target: String,
    /// The type of instance that its pods ask for.
    pub instance_type: Option<String>,
    /// The cases: id, and name as people read it.
    pub cases: Vec<(String, String)>,
}

/// The site before it is drawn.
#[derive(Debug)]
pub(super) struct Site<'a> {
    /// What it is made from.
    pub request: &'a Request<'a>,
    /// The benchmarks, by name.
    pub benchmarks: Vec<Benchmark<'a>>,
    /// Whether nothing ran for some of its results.
    pub is_synthetic: bool,
    /// The day of the newest result.
    pub newest: Option<&'a str>,
}

/// One benchmark.
#[derive(Debug)]
pub(super) struct Benchmark<'a> {
    pub name: &'a str,
    /// Its spec, if there is one still.
    pub asked: Option<&'a ExpectedBenchmark>,
    /// Its cases, by name.
    pub cases: Vec<Case<'a>>,
    /// Its results, the newest first.
    pub rows: Vec<&'a Row>,
    pub partitions: Vec<&'a Partition>,
    /// Its cases side by side, by axis.
    pub groups: Vec<(String, Group)>,
    /// Its cases where two metrics pull apart.
    pub fronts: Vec<Front>,
}

/// One case of a benchmark.
#[derive(Debug)]
pub(super) struct Case<'a> {
    /// Its identity.
    pub id: &'a str,
    /// Its name for people.
    pub name: &'a str,
    /// Its parameters, as texts.
    pub params: BTreeMap<&'a str, String>,
    /// Its metrics, primary ones first.
    pub charts: Vec<Chart<'a>>,
    /// The targets whose newest session failed, or that it never ran on.
    pub troubles: Vec<Trouble<'a>>,
}

/// What keeps a case from being judged on a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble<'a> {
    pub(super) target: &'a str,
    pub(super) what: Obstacle<'a>,
}

/// What may keep a case from being judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Obstacle<'a> {
    /// Runs of its newest session failed.
    Failed {
        /// When that began.
        since: &'a str,
        /// How many.
        failed: usize,
        /// Of how many.
        all: usize,
        /// Why, as the first of them says.
        reason: Option<&'a str>,
    },
    /// A spec asks for it, and there is nothing to compare with until it has a session.
    New,
    /// A spec asks for it, and its gate misses its result.
    Missing,
    /// It ran, and a metric that a gate looks at has no value.
    NoValue {
        metric: &'a str,
        /// What the gate says.
        message: &'a str,
    },
}

impl Obstacle<'_> {
    /// Returns whether there is no result at all.
    pub(super) fn never_ran(&self) -> bool {
        matches!(self, Self::New | Self::Missing)
    }
}

/// Returns what the site is about.
pub(super) fn site<'a>(request: &'a Request<'a>) -> Site<'a> {
    let mut rows: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in request.dataset.rows() {
        rows.entry(&request.dataset.subject(row).benchmark).or_default().push(row);
    }
    let mut partitions: BTreeMap<&str, Vec<&Partition>> = BTreeMap::new();
    for partition in request.partitions {
        partitions.entry(&partition.benchmark).or_default().push(partition);
    }
    let lines = Lines::of_all(request.lines, request.series);
    let mut charts = charts(request, &lines);
    let mut unseen: BTreeMap<&str, Vec<&Line>> = BTreeMap::new();
    for line in lines.without(&charts) {
        unseen.entry(&line.benchmark).or_default().push(line);
    }
    let missing = missing(request.lines);
    let mut groups = groups(request);
    let mut fronts: BTreeMap<String, Vec<Front>> = BTreeMap::new();
    for front in scaling::fronts(request.dataset, request.series, None) {
        fronts.entry(front.benchmark.clone()).or_default().push(front);
    }
    let mut asked: BTreeMap<&str, Vec<&ExpectedBenchmark>> = BTreeMap::new();
    for spec in request.asked {
        asked.entry(&spec.benchmark).or_default().push(spec);
    }
    let names: BTreeSet<&str> = rows.keys().chain(asked.keys()).copied().collect();
    let benchmarks = names.into_iter().map(|name| {
        let mut rows = rows.remove(name).unwrap_or_default();
        rows.sort_by(|one, other| begun(other).cmp(&begun(one)));
        let asked = asked.remove(name).unwrap_or_default();
        let charts = charts.remove(name).unwrap_or_default();
        let mut cases = cases(request, &rows, &wanted(&asked, &missing), charts);
        add_unseen(&mut cases, &unseen.remove(name).unwrap_or_default());
        let partitions = partitions.remove(name).unwrap_or_default();
        Benchmark {
            name,
            asked: asked.first().copied(),
            cases,
            rows,
            partitions,
            groups: groups.remove(name).unwrap_or_default(),
            fronts: fronts.remove(name).unwrap_or_default(),
        }
    });
    let is_synthetic = request.dataset.rows().iter().any(|row| row.synthetic);
    let newest = request.dataset.rows().iter().map(|row| words::day(&row.started_at)).max();
    Site { request, benchmarks: benchmarks.collect(), is_synthetic, newest }
}

/// Puts cases side by side along every axis that is of use: by how many of something there are, by variant, by hardware.
fn groups(request: &Request<'_>) -> BTreeMap<String, Vec<(String, Group)>> {
    let mut all: BTreeMap<String, Vec<(String, Group)>> = BTreeMap::new();
    let names = scaling::axes(request.dataset, request.series);
    for name in names.iter().filter(|name| tells(name)) {
        let Some(axis) = Axis::find(name, request.dataset, request.series) else { continue };
        let swept = scaling::along(scaling::Request {
            dataset: request.dataset,
            histories: request.series,
            axis: &axis,
            base: None,
            metrics: &[],
            allowed: &BTreeSet::new(),
        });
        for group in swept.groups.into_iter().filter(|group| group.rows.len() > 1) {
            all.entry(group.benchmark.clone()).or_default().push((name.clone(), group));
        }
    }
    all
}

/// Returns whether an axis is of machines or of kinds of something; of the rest the matrix shows more.
fn tells(axis: &str) -> bool {
    axis == VARIANT || axis == "target" || axis == "gpu" || scaling::is_count(axis)
}

type Charts<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<Chart<'a>>>>;

/// Puts the series of each metric together: the one in use, and those it replaced. Targets are side by side.
fn charts<'a>(request: &'a Request<'a>, lines: &Lines<'a>) -> Charts<'a> {
    type Key<'a> = (&'a str, &'a str, Option<&'a String>, &'a str, &'a BTreeMap<String, String>);
    let mut groups: BTreeMap<Key<'_>, BTreeMap<Option<&String>, Vec<&SeriesHistory>>> = BTreeMap::new();
    for history in request.series {
        let target = history.environment.get("target");
        let key = (history.benchmark.as_str(), history.case.as_str(), target, history.metric.as_str(), &history.labels);
        groups.entry(key).or_default().entry(history.unit.as_ref()).or_default().push(history);
    }
    let mut charts = Charts::new();
    for ((benchmark, case, ..), units) in groups {
        let of_case = charts.entry(benchmark).or_default().entry(case).or_default();
        let newest = units.values().flatten().map(|history| last(history)).max();
        let newest_known = units.values().flatten().map(|history| last_known(history)).max();
        for mut all in units.into_values() {
            // A unit that newer sessions do not have any more is history; a branch gives up none of the default branch.
            let is_old_unit = all.iter().map(|history| last(history)).max() < newest
                && (newest_known.flatten().is_none()
                    || all.iter().map(|history| last_known(history)).max() < newest_known);
            all.sort_by_key(|history| last(history));
            let (mut replaced, mut current): (Vec<&SeriesHistory>, Vec<&SeriesHistory>) =
                all.into_iter().partition(|history| history.replaced);
            let is_gone = current.is_empty();
            if is_gone {
                current.extend(replaced.pop());
            }
            let takes_turns = current.len() > 1;
            for (at, history) in current.into_iter().enumerate() {
                let replaced = if at == 0 { std::mem::take(&mut replaced) } else { Vec::new() };
                let mut anchor = anchor(history);
                if takes_turns {
                    anchor = format!("{anchor}-{}", paths::environment_id(&history.environment));
                }
                let is_stale = is_gone || is_old_unit;
                let lines = if is_stale { Vec::new() } else { lines.of(history) };
                of_case.push(Chart { history, replaced, lines, is_stale, anchor, page: 1 });
            }
        }
    }
    for of_case in charts.values_mut().flat_map(BTreeMap::values_mut) {
        // What needs attention first; the sort is stable: by name otherwise.
        of_case.sort_by_key(|chart| (chart.is_stale, !chart.counts(), chart.history.kind));
        of_case.iter_mut().enumerate().for_each(|(at, chart)| chart.page = page(at));
    }
    charts
}

/// Returns what runs are sorted by.
fn begun(row: &Row) -> (&str, &str) {
    (moment(&row.started_at), &row.path)
}

fn last(history: &SeriesHistory) -> Option<&String> {
    history.sessions.last().map(|session| &session.started_at)
}

/// The same of the sessions of the default branch.
fn last_known(history: &SeriesHistory) -> Option<&String> {
    let known = history.sessions.iter().rev().find(|session| !history.aside.contains(&session.session));
    known.map(|session| &session.started_at)
}

/// What gates say, by the series that it is about.
struct Lines<'a> {
    by_series: BTreeMap<SeriesKey, Vec<&'a Line>>,
}

/// What distinguishes series: benchmark, case, hardware, metric, labels, unit.
type SeriesKey = (String, String, BTreeMap<String, String>, String, BTreeMap<String, String>, Option<String>);

impl<'a> Lines<'a> {
    fn of_all(lines: &'a [Line], series: &[SeriesHistory]) -> Self {
        // Where targets do not keep results apart, series have none, and the lines of gates have one nevertheless.
        let has_target = series.iter().any(|history| history.environment.contains_key("target"));
        let mut by_series: BTreeMap<SeriesKey, Vec<&Line>> = BTreeMap::new();
        for line in lines {
            let mut environment = line.environment.clone();
            if !has_target {
                environment.remove("target");
            }
            let key = (
                line.benchmark.clone(),
                line.case.clone(),
                environment,
                line.metric.clone(),
                line.labels.clone(),
                line.unit.clone(),
            );
            by_series.entry(key).or_default().push(line);
        }
        for lines in by_series.values_mut() {
            lines.sort_by_key(|line| line.verdict);
        }
        Self { by_series }
    }

    fn of(&self, history: &SeriesHistory) -> Vec<&'a Line> {
        self.by_series.get(&key(history)).cloned().unwrap_or_default()
    }

    /// Returns the lines that no chart shows: of metrics without any value.
    fn without(&self, charts: &Charts<'_>) -> Vec<&'a Line> {
        let drawn = charts.values().flat_map(BTreeMap::values).flatten().filter(|chart| !chart.is_stale);
        let drawn: BTreeSet<SeriesKey> = drawn.map(|chart| key(chart.history)).collect();
        let lines = self.by_series.iter().filter(|(key, _)| !drawn.contains(key));
        lines.flat_map(|(_, lines)| lines).copied().collect()
    }
}

fn key(history: &SeriesHistory) -> SeriesKey {
    (
        history.benchmark.clone(),
        history.case.clone(),
        history.environment.clone(),
        history.metric.clone(),
        history.labels.clone(),
        history.unit.clone(),
    )
}

/// Returns the anchor of a metric.
fn anchor(history: &SeriesHistory) -> String {
    let labels: String = history.labels.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let unit = history.unit.as_deref().unwrap_or_default();
    let target = history.environment.get("target").map_or("", String::as_str);
    paths::slug(&format!("{target} {}{labels} {unit}", history.metric))
}

/// Adds gates that found no value; cases that never ran or failed are reported already.
fn add_unseen<'a>(cases: &mut [Case<'a>], lines: &[&'a Line]) {
    for line in lines {
        let target = target(line);
        let Some(case) = cases.iter_mut().find(|case| case.id == line.case) else { continue };
        if case.troubles.iter().any(|trouble| trouble.target == target) {
            continue;
        }
        let what = Obstacle::NoValue { metric: &line.metric, message: &line.message };
        case.troubles.push(Trouble { target, what });
    }
}

fn cases<'a>(
    request: &'a Request<'a>,
    rows: &[&'a Row],
    wanted: &BTreeMap<&'a str, Wanted<'a>>,
    mut charts: BTreeMap<&'a str, Vec<Chart<'a>>>,
) -> Vec<Case<'a>> {
    let dataset = request.dataset;
    let mut by_case: BTreeMap<&'a str, Vec<&'a Row>> = BTreeMap::new();
    for row in rows {
        by_case.entry(&dataset.subject(row).case).or_default().push(row);
    }
    let ids: BTreeSet<&'a str> = by_case.keys().chain(wanted.keys()).copied().collect();
    let mut cases: Vec<Case<'a>> = ids
        .into_iter()
        .map(|id| {
            let rows = by_case.get(id).map(Vec::as_slice).unwrap_or_default();
            let subject = rows.first().map(|row| dataset.subject(row));
            let name = subject.map(|subject| subject.case_name.as_str());
            let name = name.or_else(|| wanted.get(id).map(|wanted| wanted.name)).unwrap_or_default();
            let params = subject.into_iter().flat_map(|subject| &subject.params);
            let targets = wanted.get(id).map(|wanted| &wanted.targets);
            Case {
                id,
                name,
                params: params.map(|(name, value)| (name.as_str(), plain(value))).collect(),
                charts: charts.remove(id).unwrap_or_default(),
                troubles: troubles(request, rows, targets),
            }
        })
        .collect();
    // Cases of one name stay in the order of their ids.
    sort_by_case(&mut cases, |case| ("", case.name));
    cases
}

/// A case that specs ask for.
struct Wanted<'a> {
    name: &'a str,
    /// The targets, and what it is called there while it has no result.
    targets: BTreeMap<&'a str, Obstacle<'a>>,
}

/// A case on a target: benchmark, case and target.
type Place<'a> = (&'a str, &'a str, &'a str);

/// Returns the cases whose result a gate misses. What never ran is new else, as the gate has it.
fn missing(lines: &[Line]) -> BTreeSet<Place<'_>> {
    let missing = lines.iter().filter(|line| line.verdict == Verdict::Missing);
    missing.map(|line| (line.benchmark.as_str(), line.case.as_str(), target(line))).collect()
}

fn target(line: &Line) -> &str {
    line.environment.get("target").map_or("", String::as_str)
}

fn wanted<'a>(asked: &[&'a ExpectedBenchmark], missing: &BTreeSet<Place<'a>>) -> BTreeMap<&'a str, Wanted<'a>> {
    let mut wanted: BTreeMap<&str, Wanted<'_>> = BTreeMap::new();
    for spec in asked {
        for (id, name) in &spec.cases {
            let is_missing = missing.contains(&(spec.benchmark.as_str(), id.as_str(), spec.target.as_str()));
            let what = if is_missing { Obstacle::Missing } else { Obstacle::New };
            let case = wanted.entry(id).or_insert(Wanted { name, targets: BTreeMap::new() });
            case.targets.insert(&spec.target, what);
        }
    }
    wanted
}

fn troubles<'a>(
    request: &'a Request<'a>,
    rows: &[&'a Row],
    wanted: Option<&BTreeMap<&'a str, Obstacle<'a>>>,
) -> Vec<Trouble<'a>> {
    let mut newest: BTreeMap<&'a str, &'a str> = BTreeMap::new();
    for row in rows {
        // The newest comes first.
        newest.entry(&request.dataset.subject(row).target).or_insert(&row.session);
    }
    // What no spec asks for any more is not reported as trouble.
    let is_asked = |target: &str| request.asked.is_empty() || wanted.is_some_and(|wanted| wanted.contains_key(target));
    let mut found: Vec<Trouble<'a>> = Vec::new();
    for (target, session) in newest.iter().filter(|(target, _)| is_asked(target)) {
        let of_session = rows.iter().filter(|row| row.session == *session);
        let mut last: BTreeMap<&str, &'a Row> = BTreeMap::new();
        for row in of_session {
            // A run that was tried again is as its last attempt.
            let known = last.entry(&row.run).or_insert(row);
            if row.attempt > known.attempt {
                *known = row;
            }
        }
        let measured = last.values().filter(|row| !row.warmup).count();
        let counts = |row: &&&Row| measured == 0 || !row.warmup;
        let mut failed: Vec<&'a Row> = last.values().filter(counts).copied().collect();
        let all = failed.len();
        failed.retain(|row| row.status != Status::Succeeded);
        if let Some(first) = failed.iter().min_by_key(|row| begun(row)) {
            let reason = first.reasons.first().map(|reason| reason.message.as_str());
            let what = Obstacle::Failed { since: &first.started_at, failed: failed.len(), all, reason };
            found.push(Trouble { target, what });
        }
    }
    let unseen = wanted.into_iter().flatten().filter(|(target, _)| !newest.contains_key(*target));
    found.extend(unseen.map(|(target, what)| Trouble { target, what: what.clone() }));
    found
}

impl<'a> Site<'a> {
    /// Iterates over the cases of all benchmarks.
    pub(super) fn cases(&self) -> impl Iterator<Item = &Case<'a>> {
        self.benchmarks.iter().flat_map(|benchmark| &benchmark.cases)
    }

    /// Iterates over what is drawn.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart<'a>> {
        self.benchmarks.iter().flat_map(Benchmark::charts)
    }

    /// Returns the regressions that are open, the largest first.
    pub(super) fn findings(&self) -> Vec<Finding<'_>> {
        largest_first(self.seen().filter(|finding| !finding.is_pending()).collect())
    }

    /// Returns what may have got worse, and a second session decides.
    pub(super) fn pending(&self) -> Vec<Finding<'_>> {
        largest_first(self.seen().filter(Finding::is_pending).collect())
    }

    fn seen(&self) -> impl Iterator<Item = Finding<'_>> {
        self.charts().filter_map(Chart::finding)
    }
}

/// Sorts findings by how large they are.
pub(super) fn largest_first(mut findings: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    findings.sort_by(|one, other| other.size().total_cmp(&one.size()));
    findings
}

impl<'a> Benchmark<'a> {
    /// Returns the chart that most needs attention.
    pub(super) fn worst(&self) -> Option<&Chart<'a>> {
        let counted = self.charts().filter(|chart| chart.counts());
        counted.min_by(|one, other| {
            let verdict = |chart: &Chart<'_>| chart.verdict().unwrap_or(Verdict::Unchanged);
            verdict(one).cmp(&verdict(other)).then_with(|| other.size().total_cmp(&one.size()))
        })
    }

    /// Iterates over what is drawn.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart<'a>> {
        self.cases.iter().flat_map(|case| &case.charts)
    }
}
