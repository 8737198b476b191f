//! What the site is about: results grouped as people look for them, before anything is drawn.

use std::collections::{BTreeMap, BTreeSet};

use super::links::Links;
use super::place;
use crate::archive::{Archive, Partition, Row};
use crate::compare::v1::{Comparison, Kind, LeftOut, LevelChange, Line, SessionValue, Told, Turn, Verdict};
use crate::expand::VARIANT;
use crate::result::v1::{Metric, Status};
use crate::sweep::v1::{Front, Group};
use crate::sweep::{self, Axis};

/// So many sessions are lately.
pub const LATELY: usize = 10;

/// All that a report is made from.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// What the site is called.
    pub title: &'a str,
    /// The version of this program.
    pub version: &'a str,
    /// The results.
    pub archive: &'a Archive,
    /// Their partitions.
    pub partitions: &'a [Partition],
    /// The series of all of them.
    pub series: &'a [Told],
    /// What gates say, and what they would say of primary metrics that have none.
    pub lines: &'a [Line],
    /// The cases that specs ask for, and what these say of themselves.
    pub asked: &'a [Asked],
    /// Comparisons that get a page, by name.
    pub comparisons: &'a BTreeMap<String, Comparison>,
    /// The metrics of the newest results with their samples, by path.
    pub samples: &'a BTreeMap<String, Vec<Metric>>,
    /// Files that did not count.
    pub left_out: &'a [LeftOut],
    /// Links to what lies outside.
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
pub struct Asked {
    /// The benchmark.
    pub benchmark: String,
    /// Its spec.
    pub path: String,
    /// What it says of itself.
    pub description: Option<String>,
    /// The target.
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
}

/// One benchmark.
#[derive(Debug)]
pub(super) struct Benchmark<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its spec, if there is one still.
    pub asked: Option<&'a Asked>,
    /// Its cases, by name.
    pub cases: Vec<Case<'a>>,
    /// Its results, the newest first.
    pub rows: Vec<&'a Row>,
    /// Its partitions.
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

/// One metric of a case on the hardware that is in use.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    /// Its series.
    pub told: &'a Told,
    /// The series on hardware that was replaced, the oldest first.
    pub replaced: Vec<&'a Told>,
    /// What is said of its newest session.
    pub line: Option<&'a Line>,
    /// What names it among those of its case, as a part of a link: the same in every report.
    pub anchor: String,
}

/// What keeps a case from being judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Trouble<'a> {
    /// The target.
    pub target: &'a str,
    /// When its newest session began; nothing where there is none.
    pub since: Option<&'a str>,
    /// How many of its runs failed, and how many it had.
    pub failed: (usize, usize),
    /// Why, as the first of them says.
    pub reason: Option<&'a str>,
}

/// A change for the worse that somebody should look at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    /// What changed.
    pub chart: &'a Chart<'a>,
    /// By how much, as a share.
    pub change: f64,
    /// The interval of 95 % around it.
    pub interval: Option<(f64, f64)>,
    /// When its first session began.
    pub since: &'a str,
    /// The commit of that session.
    pub commit: Option<&'a str>,
    /// The commit before it.
    pub after: Option<&'a str>,
    /// In how many sessions it was seen.
    pub sessions: usize,
}

/// Returns what the site is about.
pub(super) fn site<'a>(request: &'a Request<'a>) -> Site<'a> {
    let mut rows: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in request.archive.rows() {
        rows.entry(&request.archive.subject(row).benchmark).or_default().push(row);
    }
    let mut partitions: BTreeMap<&str, Vec<&Partition>> = BTreeMap::new();
    for partition in request.partitions {
        partitions.entry(&partition.benchmark).or_default().push(partition);
    }
    let mut charts = charts(request);
    let mut groups = groups(request);
    let mut fronts: BTreeMap<String, Vec<Front>> = BTreeMap::new();
    for front in sweep::fronts(request.archive, request.series, None) {
        fronts.entry(front.benchmark.clone()).or_default().push(front);
    }
    let mut asked: BTreeMap<&str, Vec<&Asked>> = BTreeMap::new();
    for spec in request.asked {
        asked.entry(&spec.benchmark).or_default().push(spec);
    }
    let names: BTreeSet<&str> = rows.keys().chain(asked.keys()).copied().collect();
    let benchmarks = names.into_iter().map(|name| {
        let mut rows = rows.remove(name).unwrap_or_default();
        rows.sort_by(|one, other| (&other.started_at, &other.path).cmp(&(&one.started_at, &one.path)));
        let asked = asked.remove(name).unwrap_or_default();
        let cases = cases(request.archive, &rows, &asked, charts.remove(name).unwrap_or_default());
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
    Site { request, benchmarks: benchmarks.collect() }
}

/// Puts cases side by side along every axis that tells something: by how many of something there are, by variant, by hardware.
fn groups(request: &Request<'_>) -> BTreeMap<String, Vec<(String, Group)>> {
    let mut all: BTreeMap<String, Vec<(String, Group)>> = BTreeMap::new();
    let names = sweep::axes(request.archive, request.series);
    for name in names.iter().filter(|name| tells(name)) {
        let Some(axis) = Axis::find(name, request.archive, request.series) else { continue };
        let swept = sweep::sweep(sweep::Request {
            archive: request.archive,
            told: request.series,
            axis: &axis,
            base: None,
            metrics: &BTreeSet::new(),
            allowed: &BTreeSet::new(),
        });
        for group in swept.groups.into_iter().filter(|group| group.rows.len() > 1) {
            all.entry(group.benchmark.clone()).or_default().push((name.clone(), group));
        }
    }
    all
}

/// Returns whether an axis stands for machines or for kinds of something; of the rest the matrix shows more.
fn tells(axis: &str) -> bool {
    const COUNTS: [&str; 11] =
        ["node", "worker", "replica", "gpu", "executor", "rank", "proc", "thread", "client", "shard", "device"];
    let axis = axis.to_ascii_lowercase();
    axis == VARIANT || axis == "target" || axis == "gpu" || COUNTS.iter().any(|name| axis.contains(name))
}

type Charts<'a> = BTreeMap<&'a str, BTreeMap<&'a str, Vec<Chart<'a>>>>;

/// Puts the series of each metric together: the one in use, and those it replaced. Targets stand side by side.
fn charts<'a>(request: &'a Request<'a>) -> Charts<'a> {
    type Key<'a> = (&'a str, &'a str, Option<&'a String>, &'a str, &'a BTreeMap<String, String>, Option<&'a String>);
    let lines: BTreeMap<_, &Line> = request.lines.iter().map(|line| (line_key(line), line)).collect();
    let mut groups: BTreeMap<Key<'_>, Vec<&Told>> = BTreeMap::new();
    for told in request.series {
        let target = told.environment.get("target");
        let key = (
            told.benchmark.as_str(),
            told.case.as_str(),
            target,
            told.metric.as_str(),
            &told.labels,
            told.unit.as_ref(),
        );
        groups.entry(key).or_default().push(told);
    }
    let mut charts = Charts::new();
    for ((benchmark, case, ..), mut all) in groups {
        all.sort_by_key(|told| told.sessions.last().map(|session| &session.started_at));
        let (mut replaced, mut current): (Vec<&Told>, Vec<&Told>) = all.into_iter().partition(|told| told.replaced);
        if current.is_empty() {
            current.extend(replaced.pop());
        }
        let of_case = charts.entry(benchmark).or_default().entry(case).or_default();
        for (at, told) in current.into_iter().enumerate() {
            let replaced = if at == 0 { std::mem::take(&mut replaced) } else { Vec::new() };
            let mut anchor = anchor(told);
            if at > 0 {
                // Hardware that takes turns: each has a chart of its own.
                anchor = format!("{anchor}-{}", place::environment_id(&told.environment));
            }
            of_case.push(Chart { told, replaced, line: lines.get(&told_key(told)).copied(), anchor });
        }
    }
    for of_case in charts.values_mut().flat_map(BTreeMap::values_mut) {
        // The sort is stable: by name otherwise.
        of_case.sort_by_key(|chart| chart.told.kind);
    }
    charts
}

/// Returns the anchor of a metric.
fn anchor(told: &Told) -> String {
    let labels: String = told.labels.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let unit = told.unit.as_deref().unwrap_or_default();
    let target = told.environment.get("target").map_or("", String::as_str);
    place::slug(&format!("{target} {}{labels} {unit}", told.metric))
}

type SeriesKey<'a> = (&'a str, &'a str, &'a BTreeMap<String, String>, &'a str, &'a BTreeMap<String, String>);

fn told_key(told: &Told) -> SeriesKey<'_> {
    (&told.benchmark, &told.case, &told.environment, &told.metric, &told.labels)
}

fn line_key(line: &Line) -> SeriesKey<'_> {
    (&line.benchmark, &line.case, &line.environment, &line.metric, &line.labels)
}

fn cases<'a>(
    archive: &'a Archive,
    rows: &[&'a Row],
    asked: &[&'a Asked],
    mut charts: BTreeMap<&'a str, Vec<Chart<'a>>>,
) -> Vec<Case<'a>> {
    let mut by_case: BTreeMap<&'a str, Vec<&'a Row>> = BTreeMap::new();
    for row in rows {
        by_case.entry(&archive.subject(row).case).or_default().push(row);
    }
    let mut wanted: BTreeMap<&'a str, (&'a str, BTreeSet<&'a str>)> = BTreeMap::new();
    for spec in asked {
        for (id, name) in &spec.cases {
            wanted.entry(id).or_insert((name, BTreeSet::new())).1.insert(&spec.target);
        }
    }
    let ids: BTreeSet<&'a str> = by_case.keys().chain(wanted.keys()).copied().collect();
    let mut cases: Vec<Case<'a>> = ids
        .into_iter()
        .map(|id| {
            let rows = by_case.get(id).map(Vec::as_slice).unwrap_or_default();
            let subject = rows.first().map(|row| archive.subject(row));
            let name = subject.map(|subject| subject.case_name.as_str());
            let name = name.or_else(|| wanted.get(id).map(|(name, _)| *name)).unwrap_or_default();
            let params = subject.into_iter().flat_map(|subject| &subject.params);
            let text = |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let targets = wanted.get(id).map(|(_, targets)| targets);
            Case {
                id,
                name,
                params: params.map(|(name, value)| (name.as_str(), text(value))).collect(),
                charts: charts.remove(id).unwrap_or_default(),
                troubles: troubles(archive, rows, targets),
            }
        })
        .collect();
    cases.sort_by(|one, other| natural(one.name).cmp(&natural(other.name)).then(one.id.cmp(other.id)));
    cases
}

/// Returns what a name is sorted by, so that 8 comes before 64.
pub(super) fn natural(name: &str) -> Vec<(String, u64)> {
    let mut parts = Vec::new();
    let mut rest = name;
    while !rest.is_empty() {
        let words = rest.find(|letter: char| letter.is_ascii_digit()).unwrap_or(rest.len());
        let (text, tail) = rest.split_at(words);
        let digits = tail.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(tail.len());
        let (number, tail) = tail.split_at(digits);
        parts.push((text.to_owned(), number.parse().unwrap_or(u64::MAX)));
        rest = tail;
    }
    parts
}

fn troubles<'a>(archive: &'a Archive, rows: &[&'a Row], wanted: Option<&BTreeSet<&'a str>>) -> Vec<Trouble<'a>> {
    let mut newest: BTreeMap<&'a str, &'a str> = BTreeMap::new();
    for row in rows {
        // The newest comes first.
        newest.entry(&archive.subject(row).target).or_insert(&row.session);
    }
    let mut found: Vec<Trouble<'a>> = Vec::new();
    for (target, session) in &newest {
        let of_session = || rows.iter().filter(|row| row.session == *session && !row.warmup);
        let failed: Vec<_> = of_session().filter(|row| row.status != Status::Succeeded).collect();
        if let Some(first) = failed.last() {
            found.push(Trouble {
                target,
                since: Some(&first.started_at),
                failed: (failed.len(), of_session().count()),
                reason: first.reasons.first().map(|reason| reason.message.as_str()),
            });
        }
    }
    let missing = wanted.into_iter().flatten().filter(|target| !newest.contains_key(*target));
    found.extend(missing.map(|target| Trouble { target, since: None, failed: (0, 0), reason: None }));
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

    /// Returns the changes for the worse that are open in what stands for the benchmarks, the largest first.
    pub(super) fn findings(&self) -> Vec<Finding<'_>> {
        largest_first(self.charts().filter(|chart| chart.is_watched()).filter_map(Chart::finding).collect())
    }
}

/// Sorts findings by how large they are.
pub(super) fn largest_first(mut findings: Vec<Finding<'_>>) -> Vec<Finding<'_>> {
    findings.sort_by(|one, other| {
        one.chart.told.kind.cmp(&other.chart.told.kind).then(other.change.abs().total_cmp(&one.change.abs()))
    });
    findings
}

impl<'a> Benchmark<'a> {
    /// Iterates over what is drawn.
    pub(super) fn charts(&self) -> impl Iterator<Item = &Chart<'a>> {
        self.cases.iter().flat_map(|case| &case.charts)
    }

    /// Returns the changes for the worse that are open, the largest first.
    pub(super) fn findings(&self) -> Vec<Finding<'_>> {
        largest_first(self.charts().filter_map(Chart::finding).collect())
    }
}

impl Chart<'_> {
    /// Returns whether it stands for its benchmark: it is primary, or a gate looks at it.
    pub(super) fn is_watched(&self) -> bool {
        self.told.kind == Kind::Primary || self.line.is_some()
    }

    /// Returns the change that is open, if one is, or what the newest session shows of one.
    pub(super) fn finding(&self) -> Option<Finding<'_>> {
        if let Some(change) = self.open() {
            let since = self.told.sessions.iter().position(|session| session.session == change.session)?;
            let is_own = |session: &&SessionValue| !self.told.aside.contains(&session.session);
            return Some(Finding {
                chart: self,
                change: change.change,
                interval: change.interval,
                since: &change.since,
                commit: change.commit.as_deref(),
                after: change.after.as_deref(),
                sessions: self.told.sessions.iter().skip(since).filter(|session| is_own(session)).count(),
            });
        }
        let line = self.line.filter(|line| matches!(line.verdict, Verdict::Regressed | Verdict::Pending))?;
        let first = line.candidate.sessions.first()?;
        Some(Finding {
            chart: self,
            change: line.change?,
            interval: line.interval,
            since: &first.started_at,
            commit: first.commit.as_deref(),
            after: line.baseline.sessions.last().and_then(|session| session.commit.as_deref()),
            sessions: line.candidate.sessions.len(),
        })
    }

    /// Returns the change that is open.
    pub(super) fn open(&self) -> Option<&LevelChange> {
        let open = self.told.open.as_ref()?;
        self.told.changes.iter().find(|change| change.session == *open && change.turn == Turn::Worse)
    }

    /// Returns the verdict of its newest session; an open change is a regression, whatever that session says.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        if self.open().is_some() { Some(Verdict::Regressed) } else { self.line.map(|line| line.verdict) }
    }

    /// Returns the first place among its sessions that is lately.
    pub(super) fn lately(&self) -> usize {
        self.told.sessions.len().saturating_sub(LATELY)
    }
}
