//! `kubebench explain`: the page of a code or a ready benchmark, a field of a spec, or what a tool brings.

use anyhow::{Result, anyhow, bail};

use super::ExitStatus;
use super::args::ExplainArgs;
use crate::app::catalog;
use crate::app::templates::schema_of;
use kubebench_extract::tool::{self, TOOLS};
use kubebench_format::schema::{self, DocumentKind};
use kubebench_host::terminal;
use kubebench_syntax::diag::{code, did_you_mean, what_there_is};

/// Prints the page.
pub(super) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    let text = match args.what.as_deref() {
        None => list(),
        Some(what) => match code::find(what) {
            Some(code) => format!("{}\n", code.page.trim_end()),
            None => match what.split_once('.').unwrap_or((what, "")) {
                ("tool", "") => tool::list(),
                ("tool", name) => of_tool(name)?,
                ("catalog", "") => pages(),
                ("catalog", name) => of_entry(name)?,
                _ => field(what)?,
            },
        },
    };
    terminal::print(&text)?;
    Ok(ExitStatus::Yes)
}

fn list() -> String {
    code::ALL
        .iter()
        .map(|code| {
            format!(
                "{}  {:<7}  {}{}\n",
                code.id,
                code.severity.name(),
                code.title,
                if code.configurable { " (lint)" } else { "" }
            )
        })
        .collect()
}

fn of_tool(name: &str) -> Result<String> {
    let Some(tool) = tool::tool(name) else {
        let names = TOOLS.iter().map(|tool| tool.name);
        bail!("there is no tool `{name}`; {}", what_there_is(name, names, "tools are"));
    };
    Ok(tool.page())
}

fn pages() -> String {
    catalog::ENTRIES.iter().map(|entry| format!("catalog.{}: {}\n", entry.name, entry.measures())).collect()
}

fn of_entry(name: &str) -> Result<String> {
    let Some(entry) = catalog::entry(name) else {
        let names = catalog::ENTRIES.iter().map(|entry| entry.name);
        bail!("there is no ready benchmark `{name}`; {}", what_there_is(name, names, "ready benchmarks are"));
    };
    Ok(format!("{}\n", entry.page.trim_end()))
}

fn field(what: &str) -> Result<String> {
    let (first, below) = what.split_once('.').unwrap_or((what, ""));
    let Some(kind) = DocumentKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(first)) else {
        return ends_with(what);
    };
    let path: Vec<&str> = below.split('.').filter(|step| !step.is_empty()).collect();
    schema::explain(&schema_of(kind), first, &path).map_err(|(missing, known)| {
        let hint = match known.as_slice() {
            [] => "it has no fields".to_owned(),
            known => what_there_is(&missing, known.iter().map(String::as_str), "fields are"),
        };
        anyhow!("`{what}` does not exist: there is no `{missing}`; {hint}")
    })
}

/// Explains the field nearest to the top whose path ends with `what`, and lists others.
fn ends_with(what: &str) -> Result<String> {
    let end: Vec<&str> = what.split('.').collect();
    // A fragment has the fields of a benchmark.
    let kinds = DocumentKind::ALL.into_iter().filter(|kind| *kind != DocumentKind::Fragment);
    let mut found: Vec<(DocumentKind, Vec<String>)> = kinds
        .flat_map(|kind| schema::paths_to(&schema_of(kind), &end).into_iter().map(move |path| (kind, path)))
        .collect();
    found.sort_by_key(|(_, path)| path.len());
    let Some((kind, path)) = found.first() else {
        let codes = code::ALL.iter().map(|code| code.id);
        let kinds = ["benchmark", "suite", "project", "tool", "catalog"];
        let hint = match did_you_mean(what, kinds.into_iter().chain(codes)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "write a code such as KB0105, a field such as spec.matrix, or a tool such as tool.fio".to_owned(),
        };
        bail!("there is nothing called `{what}`; {hint}");
    };
    let root = kind.name().to_lowercase();
    let path: Vec<&str> = path.iter().map(String::as_str).collect();
    let Ok(mut page) = schema::explain(&schema_of(*kind), &root, &path) else { bail!("`{what}` has no page") };
    let others = found.iter().skip(1).map(|(kind, path)| format!("{}.{}", kind.name().to_lowercase(), path.join(".")));
    let listed: Vec<String> = others.take(LISTED).collect();
    if !listed.is_empty() {
        let more = found.len() - 1 - listed.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        page.push_str(&format!("\nSee also: {}{more}\n", listed.join(", ")));
    }
    Ok(page)
}

/// How many fields of the same name are listed.
const LISTED: usize = 8;
