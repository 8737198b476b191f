//! The numbers behind the pages, for programs: an index, and the series of each case as JSON and CSV.

use std::collections::BTreeMap;

use serde::Serialize;

use super::chart::{Chart, Finding, What};
use super::page::finding_words;
use super::site::{Benchmark, Case, Obstacle, Site};
use super::v1::{BenchmarkEntry, CaseEntry, Index, Open, SCHEMA_VERSION};
use super::{File, place};
use crate::compare::v1::{self, Told};

/// The name of the index.
pub(super) const INDEX: &str = "index.json";

/// Returns the index.
pub(super) fn index(site: &Site<'_>) -> File {
    let request = site.request;
    let mut verdicts: BTreeMap<String, usize> = BTreeMap::new();
    for verdict in site.charts().filter(|chart| chart.is_watched()).filter_map(Chart::verdict) {
        *verdicts.entry(verdict.name().to_owned()).or_default() += 1;
    }
    let index = Index {
        schema_version: SCHEMA_VERSION,
        title: request.title.to_owned(),
        as_of: request.as_of.to_owned(),
        results: request.archive.rows().len(),
        left_out: request.left_out.len(),
        verdicts,
        open: site.findings().iter().map(open).collect(),
        benchmarks: site.benchmarks.iter().map(benchmark).collect(),
        comparisons: request.comparisons.keys().map(|name| (name.clone(), place::comparison(name))).collect(),
    };
    File { path: INDEX.to_owned(), text: json(&index) }
}

fn open(finding: &Finding<'_>) -> Open {
    let told = finding.chart.told;
    Open {
        benchmark: told.benchmark.clone(),
        case: told.case.clone(),
        case_name: told.case_name.clone(),
        environment: told.environment.clone(),
        metric: told.metric.clone(),
        labels: told.labels.clone(),
        change: match finding.what {
            What::Level(change, _) => Some(change),
            What::Limit(_) => None,
        },
        interval: match finding.what {
            What::Level(_, interval) => interval,
            What::Limit(_) => None,
        },
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
        page: place::benchmark(of.name),
        badge: place::badge(of.name),
        results: of.rows.len(),
        newest: of.rows.first().map(|row| row.started_at.clone()),
        cases: of.cases.iter().map(|case| entry(of, case)).collect(),
    }
}

fn entry(benchmark: &Benchmark<'_>, case: &Case<'_>) -> CaseEntry {
    CaseEntry {
        case: case.id.to_owned(),
        case_name: case.name.to_owned(),
        verdict: case.charts.iter().filter(|chart| chart.is_watched()).filter_map(Chart::verdict).min(),
        failing: case.troubles.iter().any(|trouble| trouble.what != Obstacle::NeverRan),
        missing: case.troubles.iter().any(|trouble| trouble.what == Obstacle::NeverRan),
        data: place::data(benchmark.name, case.id, "json"),
    }
}

/// Returns the comparisons as `kubebench compare` prints them.
pub(super) fn comparisons(site: &Site<'_>) -> Vec<File> {
    let file = |(name, answer): (&String, &v1::Comparison)| File {
        path: format!("compare/{}.json", place::slug(name)),
        text: json(answer),
    };
    site.request.comparisons.iter().map(file).collect()
}

/// `History` of series that stay where they are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct HistoryOf<'a> {
    schema_version: u32,
    series: Vec<&'a Told>,
    left_out: [(); 0],
}

/// Returns the series of the cases of a benchmark.
pub(super) fn series(benchmark: &Benchmark<'_>) -> Vec<File> {
    let files = |case: &Case<'_>| {
        let all = || case.charts.iter().flat_map(|chart| chart.replaced.iter().chain([&chart.told]).copied());
        let history = HistoryOf { schema_version: v1::SCHEMA_VERSION, series: all().collect(), left_out: [] };
        let path = |ending: &str| place::data(benchmark.name, case.id, ending);
        [File { path: path("json"), text: json(&history) }, File { path: path("csv"), text: csv(all()) }]
    };
    benchmark.cases.iter().flat_map(files).collect()
}

fn csv<'a>(series: impl Iterator<Item = &'a Told>) -> String {
    let mut text = "metric,labels,unit,environment,session,startedAt,commit,value,runs\n".to_owned();
    for told in series {
        let pairs = |of: &BTreeMap<String, String>| {
            of.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ")
        };
        let fixed = [
            cell(&told.metric),
            cell(&pairs(&told.labels)),
            cell(told.unit.as_deref().unwrap_or_default()),
            cell(&pairs(&told.environment)),
        ];
        for session in &told.sessions {
            text.push_str(&format!(
                "{},{},{},{},{},{}\n",
                fixed.join(","),
                cell(&session.session),
                session.started_at,
                session.commit.as_deref().map(cell).unwrap_or_default(),
                session.value,
                session.results.len()
            ));
        }
    }
    text
}

/// Returns a cell as RFC 4180 quotes it; one that a spreadsheet would execute gets an apostrophe, since people click on these files.
fn cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text.to_owned() };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

fn json(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string(value).unwrap_or_default();
    text.push('\n');
    text
}
