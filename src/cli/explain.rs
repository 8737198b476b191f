//! `kubebench explain`: a code's page, a field of a spec, or what a tool brings.

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::ExplainArgs;
use crate::app::templates::schema_of;
use kubebench_extract::tool::{self, TOOLS};
use kubebench_format::schema::{self, DocumentKind};
use kubebench_host::terminal;
use kubebench_syntax::diag::{code, did_you_mean, what_there_is};
use kubebench_syntax::invariant::Invariant as _;

/// Prints the page.
pub(super) fn run(args: &ExplainArgs) -> Result<ExitStatus> {
    let text = match args.what.as_deref() {
        None => list(),
        Some(what) => match code::find(what) {
            Some(code) => format!("{}\n", code.page.trim_end()),
            None => match what.strip_prefix("tool") {
                Some("") => tool::list(),
                Some(rest) if rest.starts_with('.') => of_tool(rest.trim_start_matches('.'))?,
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

fn field(what: &str) -> Result<String> {
    let mut steps = what.split('.');
    let first = steps.next().expected("a first part of every split");
    let kinds = ["benchmark", "suite", "project"];
    let Some(kind) = DocumentKind::ALL.into_iter().find(|kind| kind.name().eq_ignore_ascii_case(first)) else {
        if let Some(path) = full_path(what) {
            bail!("there is nothing called `{what}`; did you mean `{path}`?");
        }
        let codes = code::ALL.iter().map(|code| code.id);
        let hint = match did_you_mean(first, kinds.into_iter().chain(["tool"]).chain(codes)) {
            Some(close) => format!("did you mean `{close}`?"),
            None => "write a code such as KB0105, a field such as benchmark.spec.matrix, or a tool such as tool.fio"
                .to_owned(),
        };
        bail!("there is nothing called `{what}`; {hint}");
    };
    let path: Vec<&str> = steps.collect();
    match schema::explain(&schema_of(kind), first, &path) {
        Ok(page) => Ok(page),
        Err((missing, known)) => {
            let hint = match known.as_slice() {
                [] => "it has no fields".to_owned(),
                known => what_there_is(&missing, known.iter().map(String::as_str), "fields are"),
            };
            bail!("`{what}` does not exist: there is no `{missing}`; {hint}");
        }
    }
}

/// Returns the path of a field that was named without the way to it, such as `repeats` or `spec.repeats`.
fn full_path(what: &str) -> Option<String> {
    DocumentKind::ALL.into_iter().find_map(|kind| {
        let schema = schema_of(kind);
        let root = kind.name().to_lowercase();
        let below_spec = ["spec.", ""]
            .iter()
            .map(|above| format!("{above}{what}"))
            .find(|path| schema::explain(&schema, &root, &path.split('.').collect::<Vec<_>>()).is_ok());
        below_spec.or_else(|| schema::path_of(&schema, what)).map(|path| format!("{root}.{path}"))
    })
}
