//! Committed results as a static site, as Markdown, as a feed, badges and data.
//!
//! ```text
//! Request ──site──▶ Site ──page──▶ HTML, with plots as SVG
//!                     ├──feed, badge──▶ XML
//!                     ├──data, sheets──▶ JSON and CSV
//!                     └──markdown──▶ Markdown
//! ```
//!
//! Pure but for `disk`: the caller gives the results and takes the files. All text goes through `maud`, which escapes it.
//! A page loads nothing from outside its site.
//!
//! ```
//! assert!(kubebench_report::is_own("index.html"));
//! assert!(!kubebench_report::is_own("README.md"));
//! ```

mod badge;
mod chart;
mod comment;
mod data;
pub mod disk;
mod feed;
mod links;
mod markdown;
mod page;
mod paths;
mod plot;
mod sheets;
mod site;
mod tally;
pub mod v1;

use std::io;

pub use comment::CommentLinks;
pub use data::INDEX;
pub use links::Links;
pub use page::{File, sampled};
use rayon::prelude::*;
pub use site::{ExpectedBenchmark, Request};

/// Returns whether a file or folder at the top of a site's folder is the site's: nothing else there is touched.
pub fn is_own(name: &str) -> bool {
    const TOP: [&str; 14] = [
        paths::BADGE,
        paths::OVERVIEW,
        paths::CHANGES,
        paths::IMPROVEMENTS,
        paths::LEFT_OUT,
        paths::FEED,
        page::STYLE.0,
        page::SCRIPT.0,
        INDEX,
        "badges",
        "benchmarks",
        "compare",
        "environments",
        "series",
    ];
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_more =
        |prefix: &str| name.strip_prefix(prefix).and_then(|rest| rest.strip_suffix(".html")).is_some_and(is_number);
    TOP.contains(&name) || is_more("overview-") || is_more("changes-") || is_more("improvements-")
}

/// Writes the site, file by file in any order, to `put`.
///
/// # Errors
/// What `put` says.
pub fn write(request: &Request<'_>, put: &(dyn Fn(&File) -> io::Result<()> + Sync)) -> io::Result<()> {
    let site = site::site(request);
    site.benchmarks.par_iter().try_for_each(|benchmark| {
        let files = page::benchmark(&site, benchmark);
        files.iter().chain(&data::benchmark_files(&site, benchmark)).try_for_each(put)
    })?;
    let asset = |(path, text): (&str, &str)| File { path: path.to_owned(), text: text.to_owned() };
    let mut files = vec![asset(page::STYLE), asset(page::SCRIPT), data::index(&site)];
    files.push(File { path: paths::FEED.to_owned(), text: feed::draw(&site) });
    for more in [page::overview, page::changes, page::environments, page::comparisons, page::left_out, page::series] {
        files.extend(more(&site));
    }
    files.extend(data::comparisons(&site));
    files.extend(badge::badges(&site));
    files.iter().try_for_each(put)
}

/// Returns `text` with the Markdown `report` in place of the one in it; nothing where it holds none.
pub fn in_place(text: &str, report: &str) -> Option<String> {
    markdown::in_place(text, report)
}

/// Returns the report as Markdown.
pub fn markdown(request: &Request<'_>) -> String {
    markdown::draw(&site::site(request))
}
