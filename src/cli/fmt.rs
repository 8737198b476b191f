//! `kubebench fmt`: the canonical form of specs and of the project file. Comments stay.

use std::collections::BTreeSet;

use anyhow::Result;

use super::ExitStatus;
use super::args::{FmtArgs, Global};
use super::session::{VERSION, below_root, colored, counted, print_findings, project_file, start, tell};
use crate::compile::Workspace;
use crate::diag::fix::fix;
use crate::diag::{Diagnostic, Diagnostics, code};
use crate::edge::fs::{self, Content};
use crate::edge::terminal;
use crate::lower::PROJECT_FILE;
use crate::text::{Source, SourceMap};
use crate::tree::diff::{Style, unified};
use crate::yaml;

/// Formats files in place, or says which are not formatted.
pub(super) fn run(global: &Global, args: &FmtArgs) -> Result<ExitStatus> {
    let start = start(global)?;
    let root = fs::find_root(&start);
    let mut paths = args.paths.iter().map(|path| below_root(&root, &start, path)).collect::<Result<Vec<_>>>()?;
    if paths.is_empty() {
        paths = Workspace::open(project_file(&root)?, VERSION).spec_dirs();
        paths.push(PROJECT_FILE.to_owned());
    }
    let mut sources = SourceMap::default();
    let mut found = Diagnostics::default();
    let mut changed = Vec::new();
    let mut unreadable = false;
    let mut checked = Vec::new();
    for read in fs::read_sources(&root, &paths) {
        let bytes = match read.content {
            Content::Whole(bytes) | Content::TooLong(bytes) => bytes,
            Content::Absent if args.paths.is_empty() => continue,
            Content::Absent => {
                unreadable = true;
                found.push(Diagnostic::in_file(&code::KB0114, &read.path, "there is no such file or folder"));
                continue;
            }
            Content::Refused(reason) | Content::Unreadable(reason) => {
                unreadable = true;
                found.push(Diagnostic::in_file(
                    &code::KB0114,
                    &read.path,
                    format!("the file cannot be read: {reason}"),
                ));
                continue;
            }
        };
        checked.push(read.path.clone());
        match formatted(&mut sources, &read.path, &bytes, args) {
            Ok(text) if text.as_bytes() == bytes => {}
            Ok(text) => changed.push((read.path, bytes, text)),
            Err(faults) => found.extend(faults),
        }
    }
    let style = if colored(global) { Style::Ansi } else { Style::Plain };
    for (path, bytes, text) in &changed {
        if args.diff {
            terminal::print(&unified(
                &String::from_utf8_lossy(bytes),
                text,
                &format!("a/{path}"),
                &format!("b/{path}"),
                style,
            ))?;
        } else if args.check {
            found.push(
                Diagnostic::in_file(&code::KB0601, path, "the file is not formatted").help("run `kubebench fmt`"),
            );
        } else {
            fs::replace(&root, path, text)?;
        }
    }
    let sorted = found.into_sorted(&sources);
    print_findings(global, &sorted, &sources, &checked)?;
    let names: BTreeSet<&str> = changed.iter().map(|(path, _, _)| path.as_str()).collect();
    let (would, verb) = if args.check || args.diff { (true, "would be formatted") } else { (false, "formatted") };
    tell(global, &format!("{} {verb}, {} unchanged", counted(names.len(), "file"), checked.len() - names.len()));
    Ok(if unreadable {
        ExitStatus::NoAnswer
    } else if !sorted.is_empty() || (would && !changed.is_empty()) {
        ExitStatus::No
    } else {
        ExitStatus::Yes
    })
}

/// Returns the canonical form of a file, after its certain fixes when they are asked for.
fn formatted(sources: &mut SourceMap, path: &str, bytes: &[u8], args: &FmtArgs) -> Result<String, Vec<Diagnostic>> {
    let id = sources.add(Source::new(path, bytes));
    let Some(source) = sources.get(id) else { return Ok(String::new()) };
    if !args.fix {
        return yaml::format::format(id, source);
    }
    let fixed = fix(id, source, &yaml::read(id, source).diagnostics);
    // Findings that stay point into the fixed text, so that is the one to show.
    let id = sources.add(Source::new(path, fixed.as_bytes()));
    sources.get(id).map_or_else(|| Ok(String::new()), |source| yaml::format::format(id, source))
}
