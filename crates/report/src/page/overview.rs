//! The first page: what got worse, the state of the rest, and what changed lately.

use std::collections::{BTreeMap, BTreeSet};

use maud::{Markup, html};

use super::super::chart::{Chart, Finding};
use super::super::paths;
use super::super::site::{Benchmark, Obstacle, Site, Trouble};
use super::super::tally::{State, Tally};
use super::changes::lately;
use super::open::open;
use super::parts::Said;
use super::{File, Page, accepted, by_weight, parts};
use kubebench_results::compare::model::Verdict;
use kubebench_results::compare::words;

/// The maximum number of pending findings.
const SHOWN: usize = 5;
/// The maximum number of troubles, accepted changes and notes.
const MOST: usize = 60;
/// The maximum number of benchmarks on a page.
const MOST_BENCHMARKS: usize = 200;
/// The bytes that the benchmarks of a page may have.
const WEIGHT: usize = 150_000;

/// Draws the first page, and those with the benchmarks that have no room on it.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let mut sorted: Vec<&Benchmark<'_>> = site.benchmarks.iter().collect();
    // What needs attention comes first, the largest change before others; what never ran comes last, and else the names decide.
    let key = |benchmark: &Benchmark<'_>| {
        let worst = benchmark.worst();
        let verdict = worst.and_then(Chart::verdict).unwrap_or(Verdict::Unchanged);
        (benchmark.rows.is_empty(), verdict, worst.map_or(0.0, Chart::size))
    };
    sorted.sort_by(|one, other| {
        let (one, other) = (key(one), key(other));
        (one.0, one.1).cmp(&(other.0, other.1)).then(other.2.total_cmp(&one.2))
    });
    let has_results = !site.request.dataset.rows().is_empty();
    let rows = sorted.into_iter().filter(|_| has_results).map(row).collect();
    let parts = by_weight(rows, MOST_BENCHMARKS, WEIGHT);
    let count = parts.len();
    let draw = |(at, rows): (usize, Vec<Markup>)| {
        let path = paths::overview(at + 1);
        let body = html! {
            @if at == 0 { (head(site)) }
            @if !rows.is_empty() {
                section.benchmarks aria-labelledby="benchmarks" {
                    h2 id="benchmarks" { "Benchmarks" }
                    (parts::table("Benchmarks and their worst metric", &HEAD, &rows))
                    p.more { (parts::SPARK) }
                    @if count > 1 {
                        p { "Page " (at + 1) " of " (count) ": "
                            @for page in 1..=count { a href=(paths::overview(page)) { (page) } " " } }
                    }
                }
            }
            @if at == 0 { (rest(site)) }
        };
        let title = if at == 0 { site.request.title.to_owned() } else { format!("Benchmarks, page {}", at + 1) };
        Page { path: &path, title: &title, above: &[], body }.draw(site)
    };
    parts.into_iter().enumerate().map(draw).collect()
}

/// Says what matters.
fn head(site: &Site<'_>) -> Markup {
    let findings = site.findings();
    let tally = Tally::of(site.cases(), site.request.left_out.len());
    html! {
        section.news aria-labelledby="news" {
            @if !findings.is_empty() {
                h2.bad id="news" { (headline(&findings)) }
                (open(site, paths::OVERVIEW, &findings))
                p.more { "Grouped by the commit, else the day, at which they began, the largest first; brackets are 95 % confidence intervals." }
            } @else if site.request.dataset.rows().is_empty() {
                h2 id="news" { "No results yet" }
                (first_steps(site, &tally))
            } @else {
                h2 id="news" { (tally.heading()) }
                p { (tally.sentence()) }
            }
        }
        @let pending = site.pending();
        @if !pending.is_empty() {
            section aria-labelledby="pending" {
                h2 id="pending" { "Pending" }
                ul.pending { @for finding in pending.iter().take(SHOWN) { li { (parts::finding(site, paths::OVERVIEW, finding, Said::Nothing)) } } }
                @if pending.len() > SHOWN {
                    p { a href=(paths::series(&State::Pending.slug(), 1)) { "All " (pending.len()) } "." }
                }
            }
        }
        @if !site.request.dataset.rows().is_empty() { (tiles(&tally)) }
    }
}

fn headline(findings: &[Finding<'_>]) -> String {
    let benchmarks: BTreeSet<&str> = findings.iter().map(|finding| finding.chart.history.benchmark.as_str()).collect();
    match (findings.len(), benchmarks.len()) {
        (1, _) => "1 regression is open".to_owned(),
        (count, 1) => format!("{count} regressions are open"),
        (count, many) => format!("{count} regressions are open in {many} benchmarks"),
    }
}

/// Says what to do where there is no result.
fn first_steps(site: &Site<'_>, tally: &Tally) -> Markup {
    let spec = site.benchmarks.iter().find_map(|benchmark| benchmark.asked);
    html! {
        @match spec {
            Some(spec) => p {
                (tally.sentence()) " Run one here: " code { "kubebench run " (parts::cut(&spec.path)) }
                "; for a cluster, " code { "kubebench compile" } " writes the manifests."
            },
            None => p { "There is no benchmark. Start with one: " code { "kubebench new NAME" } },
        }
        @if !site.benchmarks.is_empty() {
            ul {
                @for benchmark in site.benchmarks.iter().take(MOST_BENCHMARKS) {
                    li { a href=(paths::benchmark(benchmark.name)) { (benchmark.name) } ", " (words::counted(benchmark.cases.len(), "case")) }
                }
            }
        }
    }
}

fn tiles(tally: &Tally) -> Markup {
    let class = |state: State| match state {
        State::Worse => "bad",
        State::Improved => "good",
        State::Undecided => "warn",
        State::Pending | State::Quiet | State::Accepted | State::Limited | State::New => "calm",
    };
    let is_rare = |state: State| matches!(state, State::Pending | State::Accepted | State::Limited | State::New);
    let states = State::ALL.into_iter().filter(|state| tally.count(*state) > 0 || !is_rare(*state));
    let series = states
        .map(|state| (class(state), tally.count(state), state.words().to_owned(), paths::series(&state.slug(), 1)));
    let cases = [
        ("bad", tally.failing, "failing", "#troubles"),
        ("bad", tally.missing, "missing", "#troubles"),
        ("calm", tally.new, "new", "#new"),
    ];
    let cases = cases.into_iter().filter(|(_, count, what, _)| *count > 0 || *what == "failing");
    let cases = cases.map(|(class, count, what, target)| {
        (class, count, format!("{what} {}", if count == 1 { "case" } else { "cases" }), target.to_owned())
    });
    html! {
        ul.tiles aria-label="Series and cases by verdict" {
            @for (class, count, name, target) in series.chain(cases) {
                li class=(if count > 0 { class } else { "none" }) {
                    @if count > 0 { a href=(target) { b { (count) } " " (name) } } @else { b { "0" } " " (name) }
                }
            }
        }
    }
}

const HEAD: [&str; 6] = ["Benchmark", "Verdict", "Metric", "Level", "Sessions", "Newest"];

fn row(benchmark: &Benchmark<'_>) -> Markup {
    let worst = benchmark.worst();
    let newest = benchmark.rows.first().map(|row| row.started_at.as_str());
    html! {
        tr {
            th scope="row" {
                a href=(paths::benchmark(benchmark.name)) { (benchmark.name) }
                " " small { (words::counted(benchmark.cases.len(), "case")) }
            }
            td {
                @if let Some(verdict) = worst.and_then(parts::verdict_of) { (verdict) }
                @else if let Some(verdict) = without_value(benchmark) { (parts::verdict(verdict, verdict.words())) }
                @else { "–" }
                @if let Some(finding) = worst.and_then(Chart::finding) { br; small { (parts::amount(&finding)) } }
                @else if let Some((size, chart)) = worst.and_then(|chart| Some((chart.changed()?, chart))) {
                    br; small { (parts::sized(size, chart.history, "good")) }
                }
            }
            @if let Some(chart) = worst {
                td { (parts::metric(chart.history)) @if !chart.history.case_name.is_empty() { br; small { (parts::cut(&chart.history.case_name)) } } }
                td.drawn { (parts::level(chart)) }
                td.number { (chart.history.sessions.len()) }
            } @else { td { "no value" } td { "–" } td.number { "0" } }
            td { @if let Some(newest) = newest { (parts::time(newest)) } @else { "never" } }
        }
    }
}

/// Returns what a benchmark without any value is, as far as that is only because it never ran.
fn without_value(benchmark: &Benchmark<'_>) -> Option<Verdict> {
    let troubles = || benchmark.cases.iter().flat_map(|case| &case.troubles).map(|trouble| &trouble.what);
    let is = |what: &Obstacle<'_>| troubles().any(|known| known == what);
    match (is(&Obstacle::Missing), troubles().all(Obstacle::never_ran)) {
        (true, true) => Some(Verdict::Missing),
        (false, true) if is(&Obstacle::New) => Some(Verdict::New),
        _ => None,
    }
}

/// Shows what is not about a single benchmark.
fn rest(site: &Site<'_>) -> Markup {
    let (troubles, new) = troubles(site);
    let accepted = accepted::all(site);
    html! {
        @if !site.request.dataset.rows().is_empty() {
            section aria-labelledby="lately" {
                h2 id="lately" { "What else changed lately" }
                (lately(site, paths::OVERVIEW))
            }
        }
        @if !troubles.is_empty() {
            section aria-labelledby="troubles" {
                h2 id="troubles" { "Failing and missing" }
                ul { @for trouble in troubles.iter().take(MOST) { li { (trouble) } } }
                @if troubles.len() > MOST { p { "And " (troubles.len() - MOST) " more; each is on the page of its benchmark." } }
            }
        }
        @if !new.is_empty() {
            section aria-labelledby="new" {
                h2 id="new" { "New cases" }
                p { "There is nothing to compare with until they have a result." }
                ul { @for one in new.iter().take(MOST) { li { (one) } } }
                @if new.len() > MOST { p { "And " (new.len() - MOST) " more; each is on the page of its benchmark." } }
            }
        }
        @if !accepted.is_empty() {
            section aria-labelledby="acks" {
                h2 id="acks" { "Accepted changes" }
                ul { @for one in accepted.iter().take(MOST) { li { (one) } } }
            }
        }
        @if !site.request.notes.is_empty() {
            section aria-labelledby="notes" {
                h2 id="notes" { "Notes" }
                ul { @for note in site.request.notes.iter().take(MOST) { li { (parts::sentence(note)) } } }
                @if site.request.notes.len() > MOST { p { "And " (site.request.notes.len() - MOST) " more." } }
            }
        }
    }
}

/// Names each case whose newest session failed, and of each benchmark and target the cases that are missing; and apart from them those that
/// are new.
fn troubles(site: &Site<'_>) -> (Vec<Markup>, Vec<Markup>) {
    let (mut failing, mut missing, mut new) = (Vec::new(), Vec::new(), Vec::new());
    for benchmark in &site.benchmarks {
        let (mut missed, mut unseen) = (Places::new(), Places::new());
        for (case, trouble) in benchmark.cases.iter().flat_map(|case| case.troubles.iter().map(move |of| (case, of))) {
            match trouble.what {
                Obstacle::New => unseen.entry(trouble.target).or_default().push(case.name),
                Obstacle::Missing => missed.entry(trouble.target).or_default().push(case.name),
                Obstacle::Failed { .. } | Obstacle::NoValue { .. } => failing.push(html! {
                    a href=(paths::benchmark(benchmark.name)) { (benchmark.name) }
                    @if !case.name.is_empty() { " (" (parts::cut(case.name)) ")" } ": " (history(trouble))
                }),
            }
        }
        missing
            .extend(missed.iter().map(|(target, cases)| without_result(benchmark, ("bad", "missing"), target, cases)));
        new.extend(unseen.iter().map(|(target, cases)| without_result(benchmark, ("calm", "new"), target, cases)));
    }
    failing.extend(missing);
    (failing, new)
}

/// The cases without a result, by target.
type Places<'a> = BTreeMap<&'a str, Vec<&'a str>>;

/// Says of cases that they have no result on a target, as the gate says it.
fn without_result(benchmark: &Benchmark<'_>, verdict: (&str, &str), target: &str, cases: &[&str]) -> Markup {
    html! {
        strong class=(verdict.0) { (verdict.1) } ": "
        @if cases.len() > 1 { (cases.len()) " cases of " }
        a href=(paths::benchmark(benchmark.name)) { (benchmark.name) }
        @if let [only] = cases && !only.is_empty() { " (" (parts::cut(only)) ")" }
        (if cases.len() > 1 { " have" } else { " has" }) " no result on " (parts::cut(target))
    }
}

/// Says what keeps a case from being judged.
pub(super) fn history(trouble: &Trouble<'_>) -> Markup {
    html! {
        @match trouble.what {
            Obstacle::Failed { since, failed, all, reason } => {
                strong.bad { (failed) " of " (all) " runs failed" } " in the session of " (parts::time(since)) " on " (parts::cut(trouble.target))
                @if let Some(reason) = reason { ": " (parts::cut(reason)) }
            }
            Obstacle::New => {
                strong.calm { "new" } ": it has no result on " (parts::cut(trouble.target)) " yet"
            }
            Obstacle::Missing => {
                strong.bad { "missing" } ": its gate needs a result, but there is none on " (parts::cut(trouble.target))
            }
            Obstacle::NoValue { metric, message } => {
                strong.bad { "no value of " (parts::cut(metric)) } " on " (parts::cut(trouble.target)) ": " (parts::sentence(message))
            }
        }
    }
}
