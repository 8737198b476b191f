//! Badges: a name and how it stands, for the front page of a repository.

use maud::html;

use super::place;
use super::site::{Chart, Site};
use super::{File, feed};
use crate::compare::v1::Verdict;

/// Draws a badge for all benchmarks, and one for each.
pub(super) fn badges(site: &Site<'_>) -> Vec<File> {
    let mut files = vec![File { path: "badges/all.svg".to_owned(), text: draw("benchmarks", site.charts()) }];
    files.extend(
        site.benchmarks.iter().map(|benchmark| File {
            path: place::badge(benchmark.name),
            text: draw(benchmark.name, benchmark.charts()),
        }),
    );
    files
}

fn draw<'a, 'b: 'a>(name: &str, charts: impl Iterator<Item = &'a Chart<'b>>) -> String {
    let verdicts: Vec<Verdict> = charts.filter(|chart| chart.is_watched()).filter_map(Chart::verdict).collect();
    let worse = verdicts.iter().filter(|verdict| matches!(verdict, Verdict::Regressed | Verdict::Pending)).count();
    let is_open = verdicts.iter().any(|verdict| *verdict > Verdict::Pending && *verdict <= Verdict::Inconclusive);
    let (state, color) = match (worse, verdicts.len()) {
        (0, 0) => ("no result".to_owned(), "#5f6670"),
        (0, _) if is_open => ("undecided".to_owned(), "#8a5a00"),
        (0, _) => ("no change".to_owned(), "#116329"),
        (worse, _) => (format!("{worse} worse"), "#b42318"),
    };
    let (left, right) = (width(name), width(&state));
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height="20" role="img" aria-label={ (name) ": " (state) } {
            title { (name) ": " (state) }
            rect width=(left) height="20" fill="#40464f" {}
            rect x=(left) width=(right) height="20" fill=(color) {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle" {
                text x=(left / 2) y="14" textLength=(left - 12) { (name) }
                text x=(left + right / 2) y="14" textLength=(right - 12) { (state) }
            }
        }
    };
    feed::printable(&markup.into_string())
}

/// Returns the room for a text of the badge's font, whose letters are about 7 wide.
fn width(text: &str) -> usize {
    text.chars().count() * 7 + 12
}
