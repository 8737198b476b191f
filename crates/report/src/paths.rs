//! Where pages lie, and how they link to each other: by relative paths, so that a site works from any folder and from `file://`.

use std::collections::BTreeMap;

use kubebench_syntax::digest::Digest;

/// The first page.
pub(super) const OVERVIEW: &str = "index.html";
/// All changes of level.
pub(super) const CHANGES: &str = "changes.html";
/// The improvements among them.
pub(super) const IMPROVEMENTS: &str = "improvements.html";
/// The page that names all hardware.
pub(super) const ENVIRONMENTS: &str = "environments/index.html";
/// The page that names all comparisons.
pub(super) const COMPARISONS: &str = "compare/index.html";
/// Files that did not count.
pub(super) const LEFT_OUT: &str = "left-out.html";
/// The badge of all benchmarks.
pub(super) const BADGE: &str = "badge.svg";
/// The feed of regressions.
pub(super) const FEED: &str = "feed.xml";

/// Returns the page of a benchmark. Names of benchmarks and cases are labels, which `result` has made sure of.
pub(super) fn benchmark(name: &str) -> String {
    format!("benchmarks/{name}/index.html")
}

/// Returns a page of the metrics of a case; the first is 1.
pub(super) fn case(benchmark: &str, case: &str, page: usize) -> String {
    format!("benchmarks/{benchmark}/cases/{case}{}.html", numbered(page))
}

/// Returns the series of a case as data.
pub(super) fn data(benchmark: &str, case: &str, ending: &str) -> String {
    format!("benchmarks/{benchmark}/cases/{case}.{ending}")
}

/// Returns the path of the data of cases side by side along an axis.
pub(super) fn sweep(benchmark: &str, axis: &str, ending: &str) -> String {
    format!("benchmarks/{benchmark}/by-{}.{ending}", slug(axis))
}

/// Returns which cases are the best for two metrics, as data.
pub(super) fn fronts(benchmark: &str) -> String {
    format!("benchmarks/{benchmark}/fronts.csv")
}

/// Returns a page of older runs, by month.
pub(super) fn runs(benchmark: &str, month: &str, page: usize) -> String {
    format!("benchmarks/{benchmark}/runs/{month}{}.html", numbered(page))
}

/// Returns a page of the benchmarks; the first is that of the site.
pub(super) fn overview(page: usize) -> String {
    if page == 1 { OVERVIEW.to_owned() } else { format!("overview-{page}.html") }
}

/// Returns a page of the series that are in one state; the first is 1.
pub(super) fn series(state: &str, page: usize) -> String {
    format!("series/{state}{}.html", numbered(page))
}

/// Returns the page of a comparison.
pub(super) fn comparison(name: &str) -> String {
    format!("compare/{}.html", slug(name))
}

/// Returns the page of some hardware.
pub(super) fn environment(facts: &BTreeMap<String, String>) -> String {
    format!("environments/{}.html", environment_id(facts))
}

/// Returns what names some hardware: the same for the same facts.
pub(super) fn environment_id(facts: &BTreeMap<String, String>) -> String {
    let fields = facts.iter().flat_map(|(fact, value)| [fact.as_str(), value.as_str()]);
    Digest::of_fields(fields).short()
}

/// Returns the badge of a benchmark.
pub(super) fn badge(benchmark: &str) -> String {
    format!("badges/{benchmark}.svg")
}

/// Returns `path` as a page at `from` links to it.
pub(super) fn relative(from: &str, path: &str) -> String {
    format!("{}{path}", "../".repeat(from.matches('/').count()))
}

/// Returns text as a part of a path and as an anchor: lower-case letters, digits and dashes; a digest distinguishes texts that
/// look the same then.
pub(super) fn slug(text: &str) -> String {
    const LONGEST: usize = 60;
    let plain: String = text
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter.to_ascii_lowercase() } else { '-' })
        .take(LONGEST)
        .collect();
    let plain = plain.trim_matches('-');
    if plain == text { plain.to_owned() } else { format!("{plain}-{}", Digest::of(text).short()) }
}

fn numbered(page: usize) -> String {
    // Names of cases hold no dot.
    if page > 1 { format!(".{page}") } else { String::new() }
}
