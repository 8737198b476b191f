//! Pages: what every one of them has, and one file a page.

mod accepted;
mod benchmark;
mod case;
mod changes;
mod chart;
mod comparison;
mod environment;
mod latency;
mod left_out;
mod matrix;
mod news;
mod open;
mod overview;
mod parts;
mod runs;
mod scaling;
mod series;

pub(super) use benchmark::pages as benchmark;
pub(super) use changes::pages as changes;
pub(crate) use comparison::pages as comparisons;
pub(crate) use environment::pages as environments;
pub use latency::sampled;
pub(super) use latency::{DATA as LATENCY, distributions};
pub(super) use left_out::pages as left_out;
use maud::{DOCTYPE, Markup, html};
pub(super) use overview::pages as overview;
pub(super) use parts::finding_words;
pub(super) use series::pages as series;

use super::paths::{self, relative};
use super::site::Site;

/// What a page may load: files next to it, and nothing from anywhere else. `file:` is what `'self'` is for a site on a disk.
const POLICY: &str = "default-src 'none'; style-src 'self' file:; script-src 'self' file:; img-src 'self' file: data:; \
                      base-uri 'none'; form-action 'none'";
/// The style of all pages.
pub(super) const STYLE: (&str, &str) = ("site.css", include_str!("assets/site.css"));
/// What is there for comfort alone: every page works without it.
pub(super) const SCRIPT: (&str, &str) = ("site.js", include_str!("assets/site.js"));

/// A browser asks for a file `favicon.ico` where a page names no icon.
const ICON: &str = "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 8 8'%3E%3Cpath fill='none' \
                    stroke='%230b57a4' d='M1 2h3v4h3'/%3E%3C/svg%3E";

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path below the site's folder.
    pub path: String,
    /// Its content.
    pub text: String,
}

/// A page before it has what all have.
struct Page<'a> {
    path: &'a str,
    /// What it is called.
    title: &'a str,
    /// The pages above it, but for the overview: name and path.
    above: &'a [(&'a str, String)],
    /// What is on it.
    body: Markup,
}

impl Page<'_> {
    fn draw(self, site: &Site<'_>) -> File {
        let Self { path, title, above, body } = self;
        let request = site.request;
        let to = |target: &str| relative(path, target);
        let here = |target: &str| (target == path).then_some("page");
        let full =
            if path == paths::OVERVIEW { request.title.to_owned() } else { format!("{title} · {}", request.title) };
        let markup = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta http-equiv="Content-Security-Policy" content=(POLICY);
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="no-referrer";
                    title { (full) }
                    link rel="stylesheet" href=(to(STYLE.0));
                    link rel="alternate" type="application/atom+xml" title="Regressions" href=(to(paths::FEED));
                    link rel="icon" href=(ICON);
                    script src=(to(SCRIPT.0)) defer {}
                }
                body {
                    a.skip href="#main" { "Skip to the content" }
                    header {
                        a.name href=(to(paths::OVERVIEW)) { (request.title) }
                        nav aria-label="Site" {
                            a href=(to(paths::OVERVIEW)) aria-current=[here(paths::OVERVIEW)] { "Overview" }
                            a href=(to(paths::CHANGES)) aria-current=[here(paths::CHANGES)] { "Changes" }
                            @if !request.comparisons.is_empty() {
                                a href=(to(paths::COMPARISONS)) aria-current=[here(paths::COMPARISONS)] { "Comparisons" }
                            }
                            a href=(to(paths::ENVIRONMENTS)) aria-current=[here(paths::ENVIRONMENTS)] { "Hardware" }
                        }
                    }
                    main id="main" {
                        @if !above.is_empty() {
                            p.above { @for (name, target) in above { a href=(to(target)) { (name) } " › " } }
                        }
                        h1 { (title) }
                        (body)
                    }
                    footer {
                        p {
                            "Made by kubebench " (request.version) " from " (request.dataset.rows().len())
                            " results" @if let Some(newest) = site.newest { "; the newest is of " (newest) } ". "
                            @if !request.left_out.is_empty() {
                                a href=(to(paths::LEFT_OUT)) { (request.left_out.len()) " more did not count" } ". "
                            }
                            a href=(to(paths::FEED)) { "Feed" } " · " a href=(to("index.json")) { "Data" }
                        }
                        @if site.is_synthetic { p.warn { "Some results are synthetic: made by " code { "kubebench mock" } ", nothing ran." } }
                    }
                }
            }
        };
        File { path: path.to_owned(), text: markup.into_string() }
    }
}

/// Cuts the items of a list into pages that stay light.
fn by_weight(items: Vec<Markup>, most: usize, weight: usize) -> Vec<Vec<Markup>> {
    let mut pages: Vec<Vec<Markup>> = vec![Vec::new()];
    let mut filled = 0;
    for item in items {
        let size = item.0.len();
        let is_full =
            pages.last().is_some_and(|page| page.len() >= most || (!page.is_empty() && filled + size > weight));
        if is_full {
            pages.push(Vec::new());
            filled = 0;
        }
        filled += size;
        if let Some(page) = pages.last_mut() {
            page.push(item);
        }
    }
    pages
}
