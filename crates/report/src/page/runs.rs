//! The runs of a benchmark: the newest on its page, and all of them month by month, with where each came from.

use std::collections::BTreeMap;

use maud::{Markup, html};

use super::super::paths::{self, relative};
use super::super::site::{Benchmark, Site};
use super::{File, Page, by_weight, parts};
use kubebench_attestation::{INVALID, Signature, UNSIGNED};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Environment, Kind, Provenance, Status};
use kubebench_results::compare::words;
use kubebench_results::dataset::Row;

/// How many of the newest are on the page of the benchmark.
const NEWEST: usize = 20;
/// The maximum number of runs on a page of a month.
const MOST: usize = 250;
const WEIGHT: usize = 130_000;

/// The pages of runs, and where each run is.
pub(super) struct Pages {
    /// The pages.
    pub files: Vec<File>,
    /// The months, the newest first, with the pages each has and the runs in it.
    pub months: Vec<(String, usize, usize)>,
    places: BTreeMap<String, String>,
}

/// Draws the pages of all runs of a benchmark.
pub(super) fn pages(site: &Site<'_>, benchmark: &Benchmark<'_>) -> Pages {
    let mut months: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
    for row in &benchmark.rows {
        months.entry(row.started_at.get(..7).unwrap_or_default()).or_default().push(row);
    }
    let mut pages = Pages { files: Vec::new(), months: Vec::new(), places: BTreeMap::new() };
    for (month, rows) in months.into_iter().rev() {
        let sizes: Vec<Markup> = rows.iter().map(|row| all_of(site, row, 0)).collect();
        let parts = by_weight(sizes, MOST, WEIGHT);
        let count = parts.len();
        let mut rest = rows.as_slice();
        for (at, part) in parts.iter().enumerate() {
            let (own, later) = rest.split_at(part.len().min(rest.len()));
            rest = later;
            let path = paths::runs(benchmark.name, month, at + 1);
            pages.places.extend(own.iter().map(|row| (row.path.clone(), path.clone())));
            pages.files.push(month_page(site, benchmark, &path, (month, at + 1, count), own));
        }
        pages.months.push((month.to_owned(), count, rows.len()));
    }
    pages
}

fn month_page(
    site: &Site<'_>,
    benchmark: &Benchmark<'_>,
    path: &str,
    (month, page, pages): (&str, usize, usize),
    rows: &[&Row],
) -> File {
    let mut origins: Vec<(&Provenance, &Environment)> = Vec::new();
    let mut drawn = Vec::new();
    for row in rows {
        let origin = (site.request.dataset.origin(row), site.request.dataset.environment(row));
        // The dataset keeps equal ones once.
        let is_known =
            |known: &(&Provenance, &Environment)| std::ptr::eq(known.0, origin.0) && std::ptr::eq(known.1, origin.1);
        let number = origins.iter().position(is_known).unwrap_or_else(|| {
            origins.push(origin);
            origins.len() - 1
        });
        drawn.push(all_of(site, row, number + 1));
    }
    let title = if pages > 1 {
        format!("{}: runs of {month}, page {page}", benchmark.name)
    } else {
        format!("{}: runs of {month}", benchmark.name)
    };
    let body = html! {
        @if pages > 1 {
            p { "Page " (page) " of " (pages) ": "
                @for other in 1..=pages { a href=(relative(path, &paths::runs(benchmark.name, month, other))) { (other) } " " } }
        }
        div.run-list { (parts::table("Runs, the newest first", &HEAD, &drawn)) }
        section aria-labelledby="origins" {
            h2 id="origins" { "Made from" }
            (parts::table("What runs were made from", &ORIGIN, &origins.iter().enumerate().map(|(at, of)| made_from(site, path, at + 1, of)).collect::<Vec<_>>()))
        }
    };
    let above = [(benchmark.name, paths::benchmark(benchmark.name))];
    Page { path, title: &title, above: &above, body }.draw(site)
}

const HEAD: [&str; 9] = ["Began", "Case", "Run", "Session", "Ended", "Took", "Value", "File", "Made from"];

/// Draws a run with all that is known of it; `number` is that of what it was made from.
fn all_of(site: &Site<'_>, row: &Row, number: usize) -> Markup {
    let file = row.path.rsplit('/').next().unwrap_or(&row.path);
    html! {
        tr id=(anchor(row)) {
            (common(site, row, None))
            td {
                @if let Some(link) = site.request.links.result(&row.path) { a href=(link) { (file) } } @else { (file) }
                @if let Some(Signature::Signed { key, .. }) = &row.signature { ", signed with " code { (parts::cut(key)) } }
            }
            td { a href={ "#o" (number) } { (number) } }
        }
    }
}

/// Draws what all lists of runs have; `place` has the rest.
fn common(site: &Site<'_>, row: &Row, place: Option<&str>) -> Markup {
    let subject = site.request.dataset.subject(row);
    let value = site.request.dataset.metrics(row).find(|(definition, _)| definition.kind == Kind::Primary);
    html! {
        td { @if let Some(place) = place { a href=(place) { (row.started_at) } } @else { (row.started_at) } }
        td { (parts::cut(&subject.case_name)) }
        td { (round(row)) (doubt(row)) (shared(row)) }
        td { (parts::cut(&row.session)) }
        td { (status(row)) }
        td { (words::value(row.seconds, Some("s"))) }
        td {
            @if let Some((definition, Some(value))) = value {
                (words::value(value, definition.unit.as_deref().map(parts::cut).as_deref()))
            } @else { "–" }
        }
    }
}

fn round(row: &Row) -> String {
    let synthetic = if row.synthetic { " synthetic" } else { "" };
    format!("{}{}-a{}{synthetic}", if row.warmup { 'w' } else { 'r' }, row.repeat, row.attempt)
}

/// Marks a run whose file no key of the project has signed.
fn doubt(row: &Row) -> Markup {
    match &row.signature {
        None | Some(Signature::Signed { .. }) => html! {},
        Some(Signature::Unsigned) => html! { " " strong.warn { (UNSIGNED) } },
        Some(Signature::Invalid(why)) => html! { " " strong.bad title=(parts::cut(why)) { (INVALID) } },
    }
}

/// Marks a run that others shared a node with.
fn shared(row: &Row) -> Markup {
    let with = words::shared_with(&row.neighbors);
    html! { @if let Some(with) = with { " " strong.warn { (parts::sentence(&with)) } } }
}

fn status(row: &Row) -> Markup {
    let name = match row.status {
        Status::Succeeded => {
            let cautions = row.reasons.iter().filter(|reason| reason.code == ReasonCode::ToolCaution);
            return html! { "succeeded" @for caution in cautions { "; " (parts::cut(&caution.message)) } };
        }
        Status::Failed => "failed",
        Status::TimedOut => "timed out",
        Status::Interrupted => "interrupted",
        Status::Invalid => "invalid",
        Status::Preempted => "preempted",
    };
    let why = row.reasons.first().map(|reason| parts::cut(&reason.message));
    html! { strong.bad { (name) } @if let Some(why) = why { ": " (why) } }
}

fn anchor(row: &Row) -> String {
    format!("r{}a{}", paths::slug(&row.run), row.attempt)
}

const ORIGIN: [&str; 7] = ["", "Spec", "Commit", "Hardware", "Images", "Run digest", "Recorded from"];

fn made_from(site: &Site<'_>, from: &str, number: usize, of: &(&Provenance, &Environment)) -> Markup {
    let (origin, environment) = of;
    let short = |digest: &str| digest.get(..19).unwrap_or(digest).to_owned();
    let commit = origin.commit.as_deref();
    html! {
        tr id={ "o" (number) } {
            th scope="row" { (number) }
            td {
                @if let Some(link) = site.request.links.spec(commit, &origin.spec_path) { a href=(link) { (parts::cut(&origin.spec_path)) } }
                @else { (parts::cut(&origin.spec_path)) }
                ", run " (origin.run)
            }
            td {
                @if let Some(commit) = commit { (parts::commit(site, commit)) } @else { "–" }
                @if origin.dirty == Some(true) { " " strong.warn { "with uncommitted changes" } }
            }
            td {
                a href=(relative(from, paths::ENVIRONMENTS)) { (parts::cut(&environment.cluster.engine)) }
                @for node in environment.nodes.iter().take(2) {
                    ", " (parts::cut(node.instance_type.as_deref().or(node.cpu_model.as_deref()).unwrap_or("unknown")))
                }
                @if environment.nodes.len() > 2 { ", " (environment.nodes.len() - 2) " more nodes" }
            }
            td { @for image in environment.images.iter().take(4) { (parts::cut(image.observed.as_ref().unwrap_or(&image.declared))) br; } }
            td { code { (short(&origin.run_digest)) } }
            td { @if origin.reparsed.is_some() { "the kept logs, read again" } @else { "the run" } }
        }
    }
}

impl Pages {
    /// Draws the newest runs, as the page of the benchmark at `from` shows them, and links to the rest.
    pub(super) fn newest(&self, site: &Site<'_>, from: &str, benchmark: &Benchmark<'_>) -> Markup {
        let row = |row: &&Row| {
            let place = self.places.get(&row.path).map(|page| format!("{}#{}", relative(from, page), anchor(row)));
            html! { tr { (common(site, row, place.as_deref())) } }
        };
        let rows: Vec<Markup> = benchmark.rows.iter().take(NEWEST).map(row).collect();
        let head = ["Began", "Case", "Run", "Session", "Ended", "Took", "Value"];
        let shown = by_weight(rows, NEWEST, 90_000).into_iter().next().unwrap_or_default();
        let count = benchmark.rows.len();
        let title = if shown.len() < count {
            format!("The newest {} of {count} runs", shown.len())
        } else {
            "All runs".to_owned()
        };
        html! {
            div.run-list { (parts::table(&title, &head, &shown)) }
            p { "All " (count) " runs, with commit, spec, images and file: "
                @for (month, pages, count) in &self.months {
                    @for page in 1..=*pages {
                        a href=(relative(from, &paths::runs(benchmark.name, month, page))) {
                            (month) @if *pages > 1 { " (" (page) ")" }
                        } " "
                    }
                    "(" (count) ") "
                }
            }
        }
    }
}
