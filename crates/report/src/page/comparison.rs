//! Comparisons: two sides, sorted by effect, noise marked as such.

use maud::{Markup, html};

use super::super::chart::distance;
use super::super::paths::{self, relative};
use super::super::site::Site;
use super::{File, Page, by_weight, parts};
use kubebench_results::compare::model::{Comparison, Line, Verdict};
use kubebench_results::compare::words::{self, Scaled};

/// Draws a page for each comparison, and one that names them.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let all = site.request.comparisons;
    if all.is_empty() {
        return Vec::new();
    }
    let entry = |(name, answer): (&String, &Comparison)| {
        let worse = answer.lines.iter().filter(|line| line.verdict == Verdict::Regressed).count();
        let better = answer.lines.iter().filter(|line| line.verdict == Verdict::Improved).count();
        html! {
            li { a href=(relative(paths::COMPARISONS, &paths::comparison(name))) { (side(&answer.baseline)) " → " (side(&answer.candidate)) }
                ": " (answer.lines.len()) " series, " (worse) " worse, " (better) " better" }
        }
    };
    let body = html! {
        p { "Changes here are not adjusted for multiple comparisons; " code { "kubebench gate" } " does that." }
        ul { @for named in all { (entry(named)) } }
    };
    let mut files = vec![Page { path: paths::COMPARISONS, title: "Comparisons", above: &[], body }.draw(site)];
    files.extend(all.iter().map(|(name, answer)| one(site, name, answer)));
    files
}

/// The maximum number of entries of a list; the data has all.
const MOST: usize = 100;
/// The maximum number of notes of a line.
const MOST_NOTES: usize = 3;

const HEAD: [&str; 7] = ["Benchmark", "Case", "Metric", "Change", "Verdict", "Before", "After"];

fn one(site: &Site<'_>, name: &str, answer: &Comparison) -> File {
    let path = paths::comparison(name);
    let mut lines: Vec<&Line> = answer.lines.iter().collect();
    let size = |line: &Line| line.size().map_or(-1.0, distance);
    lines.sort_by(|one, other| {
        words::is_noise(one).cmp(&words::is_noise(other)).then(size(other).total_cmp(&size(one)))
    });
    let rows: Vec<Markup> = lines.iter().map(|line| row(&path, line)).collect();
    let count = rows.len();
    let shown = by_weight(rows, 500, 230_000).into_iter().next().unwrap_or_default();
    let body = html! {
        p { "From " strong { (parts::cut(&answer.baseline)) } " to " strong { (parts::cut(&answer.candidate)) }
            ", sorted by the size of the change. " code { "~" } ": not significant, or below the threshold. \
                 Brackets are 95 % confidence intervals." }
        @if !answer.geomeans.is_empty() {
            (parts::table("Geometric means", &["Metric", "Change", "Cases", "Excluded"], &answer.geomeans.iter().map(|mean| html! {
                tr { th scope="row" { (parts::cut(&mean.metric)) } td.number { (words::change(mean.change, None)) }
                    td.number { (mean.cases) } td.number { (mean.excluded) } }
            }).collect::<Vec<_>>()))
        }
        (parts::table("What changed", &HEAD, &shown))
        @if shown.len() < count { p { "And " (count - shown.len()) " more, in " a href=(data_name(name)) { "the data" } "." } }
        @if !answer.unmatched.is_empty() {
            h2 { "Not on both sides" }
            ul { @for one in answer.unmatched.iter().take(MOST) { li { (one.benchmark) " " (parts::cut(&one.case_name)) ": only " (one.only) } } }
            @if answer.unmatched.len() > MOST { p { "And " (answer.unmatched.len() - MOST) " more." } }
        }
        @if let Some(said) = words::of_differences(&answer.lines) { p.more { (words::sentence_case(said)) "." } }
        @for note in answer.notes.iter().take(MOST) { p { (parts::sentence(note)) } }
        @if answer.notes.len() > MOST { p { "And " (answer.notes.len() - MOST) " more notes, in the data." } }
        p.more { a href=(data_name(name)) { "JSON" } }
    };
    let title = format!("{} → {}", side(&answer.baseline), side(&answer.candidate));
    let above = [("Comparisons", paths::COMPARISONS.to_owned())];
    Page { path: &path, title: &title, above: &above, body }.draw(site)
}

/// Returns what a side is called, a commit in short.
fn side(name: &str) -> String {
    let is_commit = name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    parts::cut(if is_commit { words::short(name) } else { name })
}

fn data_name(name: &str) -> String {
    format!("{}.json", paths::slug(name))
}

fn row(from: &str, line: &Line) -> Markup {
    let unit = line.unit.as_deref().map(parts::cut);
    let medians = [line.baseline.median, line.candidate.median];
    let scaled = Scaled::of_all(medians.into_iter().flatten(), unit.as_deref());
    let value = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| scaled.value(value));
    html! {
        tr {
            th scope="row" { a href=(relative(from, &paths::case(&line.benchmark, &line.case, 1))) { (line.benchmark) } }
            td { (parts::cut(&line.case_name)) }
            td { (parts::cut(&words::metric(line))) }
            td.number { (words::effect(line)) }
            td { (parts::verdict(line.verdict, words::verdict(line))) @if !line.message.is_empty() { br; small { (parts::sentence(&line.message)) } }
                @for note in line.notes.iter().take(MOST_NOTES) { br; small { (parts::sentence(note)) } } }
            td.number { (value(line.baseline.median)) }
            td.number { (value(line.candidate.median)) }
        }
    }
}
