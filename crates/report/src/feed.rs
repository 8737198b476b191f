//! An Atom feed of regressions: an entry keeps its id as long as its change is said to begin with the same session.

use maud::{Markup, PreEscaped, html};

use super::chart::Finding;
use super::page::finding_words;
use super::paths;
use super::site::Site;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// The number of entries, the newest ones.
const MOST: usize = 50;

/// Draws the feed.
pub(super) fn draw(site: &Site<'_>) -> String {
    let mut findings = site.findings();
    findings.sort_by_key(|finding| std::cmp::Reverse(finding.since));
    let newest = site.request.dataset.rows().iter().map(|row| row.started_at.as_str()).max();
    let updated = newest.unwrap_or("1970-01-01T00:00:00Z");
    let address = site.request.address;
    let full = |path: &str| address.map_or_else(|| path.to_owned(), |address| format!("{address}/{path}"));
    let id = address.map_or_else(|| urn(site.request.title), |address| format!("{address}/"));
    let markup = html! {
        (PreEscaped("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"))
        feed xmlns="http://www.w3.org/2005/Atom" {
            title { (site.request.title) ": regressions" }
            id { (id) }
            updated { (updated) }
            author { name { "kubebench" } }
            // Without a slash at the end `link` would have to be closed, which HTML does not do.
            (link("alternate", &full(paths::OVERVIEW)))
            @if address.is_some() { (link("self", &full(paths::FEED))) }
            @for finding in findings.iter().take(MOST) { (entry(&full, finding)) }
        }
    };
    printable(&markup.into_string())
}

fn entry(full: &dyn Fn(&str) -> String, finding: &Finding<'_>) -> Markup {
    let history = finding.chart.history;
    let labels: String = history.labels.iter().map(|(name, value)| format!("{name}={value},")).collect();
    let key = [&history.benchmark, &history.case, &history.metric, &labels, &finding.since.to_owned()];
    let facts = history.environment.iter().flat_map(|(fact, value)| [fact, value]);
    let words = finding_words(finding);
    html! {
        entry {
            title { (words) }
            id { (urn(&Digest::of_fields(key.into_iter().chain(facts)).hex())) }
            updated { (finding.since) }
            (link("alternate", &full(&finding.chart.place())))
            content type="text" { (words) }
        }
    }
}

fn link(relation: &str, target: &str) -> Markup {
    let escaped = html! { (target) };
    PreEscaped(format!("<link rel=\"{relation}\" href=\"{}\"/>", escaped.0))
}

/// Returns a name that is the same in every report.
fn urn(text: &str) -> String {
    let hex = Digest::of(text).hex();
    let part = |from: usize, to: usize| hex.get(from..to).expected("64 hex digits");
    // The form of RFC 9562, version 8: 128 bits of a digest.
    format!("urn:uuid:{}-{}-8{}-8{}-{}", part(0, 8), part(8, 12), part(13, 16), part(17, 20), part(20, 32))
}

/// Returns text without what XML cannot hold.
pub(super) fn printable(text: &str) -> String {
    let is_held = |letter: &char| !letter.is_control() || matches!(letter, '\n' | '\t');
    text.chars().filter(|letter| is_held(letter) && !matches!(letter, '\u{fffe}' | '\u{ffff}')).collect()
}
