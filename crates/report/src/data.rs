//! The numbers behind the pages, for programs: an index, and the series of each case as JSON and CSV.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::chart::{Chart, Finding, What};
use super::page::{LATENCY, distributions, finding_words};
use super::site::{Benchmark, Case, Site};
use super::v1::{BenchmarkEntry, CaseEntry, Index, Open, SCHEMA_VERSION};
use super::{File, paths, sheets};
use kubebench_results::compare::model::SeriesHistory;
use kubebench_results::compare::v1;
use kubebench_results::scaling;
use kubebench_results::scaling::model::Group;
use kubebench_syntax::invariant::Invariant as _;

/// The name of the index.
pub const INDEX: &str = "index.json";

/// Returns the index.
pub(super) fn index(site: &Site<'_>) -> File {
    let request = site.request;
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in site.charts().filter(|chart| chart.counts()).filter_map(Chart::verdict) {
        *verdicts.entry(verdict.name().to_owned()).or_default() += 1;
    }
    let index = Index {
        schema_version: SCHEMA_VERSION,
        title: request.title.to_owned(),
        as_of: request.as_of.to_owned(),
        results: request.dataset.rows().len(),
        left_out: request.left_out.len(),
        signatures: request.signatures.clone(),
        verdicts,
        open: site.findings().iter().map(open).collect(),
        pending: site.pending().iter().map(open).collect(),
        benchmarks: site.benchmarks.iter().map(benchmark).collect(),
        comparisons: request.comparisons.keys().map(|name| (name.clone(), paths::comparison(name))).collect(),
    };
    File { path: INDEX.to_owned(), text: json(&index) }
}

fn open(finding: &Finding<'_>) -> Open {
    let history = finding.chart.history;
    Open {
        benchmark: history.benchmark.clone(),
        case: history.case.clone(),
        case_name: history.case_name.clone(),
        environment: history.environment.clone(),
        metric: history.metric.clone(),
        labels: history.labels.clone(),
        change: match finding.what {
            What::Level(size) => size.change,
            What::Limit(_) => None,
        },
        interval: match finding.what {
            What::Level(size) => size.interval,
            What::Limit(_) => None,
        },
        limit: match finding.what {
            What::Level(..) => finding.limit,
            What::Limit(limit) => Some(limit),
        }
        .map(str::to_owned),
        since: finding.since.to_owned(),
        commit: finding.commit.map(str::to_owned),
        after: finding.after.map(str::to_owned),
        sessions: finding.sessions,
        sentence: finding_words(finding),
        page: finding.chart.place(),
    }
}

fn benchmark(of: &Benchmark<'_>) -> BenchmarkEntry {
    BenchmarkEntry {
        name: of.name.to_owned(),
        page: paths::benchmark(of.name),
        badge: paths::badge(of.name),
        results: of.rows.len(),
        newest: of.rows.first().map(|row| row.started_at.clone()),
        cases: of.cases.iter().map(|case| entry(of, case)).collect(),
    }
}

fn entry(benchmark: &Benchmark<'_>, case: &Case<'_>) -> CaseEntry {
    CaseEntry {
        case: case.id.to_owned(),
        case_name: case.name.to_owned(),
        verdict: case.charts.iter().filter(|chart| chart.counts()).filter_map(Chart::verdict).min().map(Into::into),
        failing: case.troubles.iter().any(|trouble| !trouble.what.never_ran()),
        missing: case.troubles.iter().any(|trouble| trouble.what.never_ran()),
        data: paths::data(benchmark.name, case.id, "json"),
    }
}

/// Returns the comparisons as `kubebench compare` prints them.
pub(super) fn comparisons(site: &Site<'_>) -> Vec<File> {
    let comparisons = site.request.comparisons.iter();
    comparisons
        .map(|(name, answer)| File {
            path: format!("compare/{}.json", paths::slug(name)),
            text: json(&v1::Comparison::from(answer)),
        })
        .collect()
}

/// `History` without what the index has.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HistoryOf {
    schema_version: u32,
    series: Vec<v1::SeriesHistory>,
    left_out: [(); 0],
}

/// Returns the numbers behind the pages of a benchmark.
pub(super) fn benchmark_files(site: &Site<'_>, benchmark: &Benchmark<'_>) -> Vec<File> {
    let mut files: Vec<File> = benchmark.cases.iter().flat_map(|case| case_files(site, benchmark, case)).collect();
    let axes: BTreeSet<&str> = benchmark.groups.iter().map(|(axis, _)| axis.as_str()).collect();
    for axis in axes {
        let own = benchmark.groups.iter().filter(|(name, _)| name == axis);
        let groups: Vec<Group> = own.map(|(_, group)| group.clone()).collect();
        let path = |ending: &str| paths::sweep(benchmark.name, axis, ending);
        files.push(File { path: path("csv"), text: sheets::sides(&groups) });
        let swept = scaling::v1::Swept {
            schema_version: scaling::v1::SCHEMA_VERSION,
            axis: axis.to_owned(),
            groups: groups.iter().map(Into::into).collect(),
            fronts: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
        };
        files.push(File { path: path("json"), text: json(&swept) });
    }
    if !benchmark.fronts.is_empty() {
        files.push(File { path: paths::fronts(benchmark.name), text: sheets::fronts(&benchmark.fronts) });
    }
    files
}

fn case_files(site: &Site<'_>, benchmark: &Benchmark<'_>, case: &Case<'_>) -> Vec<File> {
    let all = || case.charts.iter().flat_map(|chart| chart.replaced.iter().chain([&chart.history]).copied());
    let history = HistoryOf { schema_version: v1::SCHEMA_VERSION, series: named_once(all()), left_out: [] };
    let path = |ending: &str| paths::data(benchmark.name, case.id, ending);
    let mut files = vec![
        File { path: path("json"), text: json(&history) },
        File { path: path("csv"), text: sheets::series(all()) },
    ];
    let distributions = distributions(site, case);
    if !distributions.is_empty() {
        files.push(File { path: path(LATENCY), text: sheets::curves(&distributions) });
    }
    files
}

/// Returns series in which only the first that has a session names its result files, unless another one counts others: most metrics of a
/// case are of the same files, and their paths would be the most of the data.
fn named_once<'a>(series: impl Iterator<Item = &'a SeriesHistory>) -> Vec<v1::SeriesHistory> {
    let mut named: BTreeMap<&str, &[String]> = BTreeMap::new();
    let mut all = Vec::new();
    for history in series {
        let mut own = v1::SeriesHistory::from(history);
        for (session, own) in history.sessions.iter().zip(&mut own.sessions) {
            match named.entry(&session.session) {
                Entry::Vacant(first) => drop(first.insert(&session.results)),
                Entry::Occupied(first) if **first.get() == session.results => own.results.clear(),
                Entry::Occupied(_) => {}
            }
        }
        all.push(own);
    }
    all
}

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).expected("JSON of our own types");
    text.push('\n');
    text
}
