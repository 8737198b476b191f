//! Result files that did not count, and why.

use maud::{Markup, html};

use super::super::paths;
use super::super::site::Site;
use super::{File, Page, by_weight, parts};

/// Draws the page, where there are any.
pub(crate) fn pages(site: &Site<'_>) -> Vec<File> {
    let row = |file: &kubebench_results::compare::model::LeftOut| {
        html! { tr { th scope="row" { code { (parts::cut(&file.path)) } } td { (file.code) } td { (parts::sentence(&file.message)) } } }
    };
    let rows: Vec<Markup> = site.request.left_out.iter().map(row).collect();
    if rows.is_empty() {
        return Vec::new();
    }
    let count = rows.len();
    // If there are more than a page holds, the first ones are fixed first.
    let shown = by_weight(rows, 500, 200_000).into_iter().next().unwrap_or_default();
    let body = html! {
        p { "These files did not count. " code { "kubebench explain CODE" } " says what a code means; no number here \
             includes them." }
        (parts::table("Files that did not count", &["File", "Code", "Why"], &shown))
        @if shown.len() < count { p { "And " (count - shown.len()) " more; " code { "kubebench history" } " lists \
             them." } }
    };
    vec![Page { path: paths::LEFT_OUT, title: "Files that did not count", above: &[], body }.draw(site)]
}
