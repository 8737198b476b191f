//! Badges: a name and its state, for the front page of a repository.

use maud::html;

use super::paths;
use super::site::{Case, Site};
use super::tally::{State, Tally};
use super::{File, feed};

/// Draws a badge for all benchmarks, and one for each.
pub(super) fn badges(site: &Site<'_>) -> Vec<File> {
    let mut files = vec![File { path: paths::BADGE.to_owned(), text: draw("benchmarks", site.cases()) }];
    files.extend(site.benchmarks.iter().map(|benchmark| File {
        path: paths::badge(benchmark.name),
        text: draw(benchmark.name, benchmark.cases.iter()),
    }));
    files
}

fn draw<'a, 'b: 'a>(name: &str, cases: impl Iterator<Item = &'a Case<'b>>) -> String {
    let tally = Tally::of(cases, 0);
    let [worse, pending, undecided] = [State::Worse, State::Pending, State::Undecided].map(|state| tally.count(state));
    let (state, color) = match (worse, tally.failing, undecided + tally.missing, tally.known()) {
        (0, 0, ..) if pending > 0 => (format!("{pending} pending"), "#5f6670"),
        (0, 0, _, 0) => ("no verdict".to_owned(), "#5f6670"),
        (0, 0, 0, _) => ("no change".to_owned(), "#116329"),
        (0, 0, unknown, _) => (format!("{unknown} inconclusive"), "#8a5a00"),
        (0, failing, ..) => (format!("{failing} failing"), "#b42318"),
        (worse, ..) => (format!("{worse} worse"), "#b42318"),
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
