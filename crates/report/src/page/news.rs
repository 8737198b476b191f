//! What a page of a benchmark or a case begins with: what got worse in it and what improved, with links to the plots.

use maud::{Markup, html};

use super::super::chart::{Chart, Finding};
use super::super::paths::relative;
use super::super::site::{Case, Site, largest_first};
use super::super::tally::Tally;
use super::open;
use super::parts::{self, Said};
use kubebench_results::compare::model::Verdict;

/// The maximum number of lines of each.
const MOST: usize = 20;

/// Draws what got worse or improved in these cases, or that nothing did.
pub(super) fn news(site: &Site<'_>, from: &str, cases: &[Case<'_>], said: Said) -> Markup {
    let charts = || cases.iter().flat_map(|case| &case.charts);
    let findings = largest_first(charts().filter_map(Chart::finding).collect());
    let lines = open::by_metric(&findings);
    let mut improved: Vec<&Chart<'_>> =
        charts().filter(|chart| chart.counts() && chart.verdict() == Some(Verdict::Improved)).collect();
    // The sort is stable: by case otherwise.
    improved.sort_by(|one, other| other.size().total_cmp(&one.size()));
    html! {
        @if findings.is_empty() {
            @let tally = Tally::of(cases.iter(), 0);
            h2 id="news" { (tally.heading()) }
            p { (tally.sentence()) }
        } @else {
            h2.bad id="news" { (if findings.iter().all(Finding::is_pending) { "May have got worse" } else { "Got worse" }) }
            ul.open {
                @for alike in lines.iter().take(MOST) {
                    li { (open::line(site, from, alike, said))
                        // On the page of a case the plot says it.
                        @if let Some(finding) = alike.first().filter(|finding| said != Said::Case && finding.commit.is_some()) {
                            " Look at " (parts::range(site, finding.after, finding.commit)) "."
                        }
                    }
                }
            }
            @if lines.len() > MOST { p { "And " (lines.len() - MOST) " more, in the plots." } }
        }
        @if !improved.is_empty() {
            h2 { "Improved" }
            ul { @for chart in improved.iter().take(MOST) { li { (better(from, chart, said)) } } }
            @if improved.len() > MOST { p { "And " (improved.len() - MOST) " more, in the plots." } }
        }
    }
}

fn better(from: &str, chart: &Chart<'_>, said: Said) -> Markup {
    let history = chart.history;
    html! {
        a href=(relative(from, &chart.place())) { (parts::metric(history)) }
        @if said != Said::Case && !history.case_name.is_empty() { " (" (parts::cut(&history.case_name)) ")" }
        @if let Some(size) = chart.changed() { ": " (parts::sized(size, history, "good")) (parts::toward(history)) }
        " on " (parts::hardware(history))
    }
}
