//! `kubebench fmt`: the canonical form of specs and of the project file. Comments stay.

use std::collections::BTreeSet;

use anyhow::Result;

use super::ExitStatus;
use super::args::{FmtArgs, Global};
use super::findings::{Findings, Output, counted, refuse_report_places, report, style_of_diff, tell};
use crate::app::files;
use crate::app::project::{Project, Texts};
use crate::app::start::VERSION;
use kubebench_compiler::compile::{Compilation, Input, Workspace, document_schemas};
use kubebench_compiler::lower::PROJECT_FILE;
use kubebench_compiler::tree::diff::unified;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_syntax::diag::fix::fix;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code};
use kubebench_syntax::text::{Source, SourceId, SourceMap};
use kubebench_syntax::yaml;

/// Formats files in place, or says which are not formatted.
pub(super) fn run(global: &Global, args: &FmtArgs) -> Result<ExitStatus> {
    let project = Project::find(&global.start())?;
    refuse_report_places(global, &project.root, &[])?;
    let asked = project.below_root(&args.paths)?;
    let Texts { mut inputs, found, unreadable } = if asked.is_empty() {
        project.read(&Workspace::open(project.file.clone(), VERSION).spec_dirs(), &BTreeSet::new())?
    } else {
        project.read(&[], &asked)?
    };
    inputs.extend(project.file.clone().filter(|_| asked.is_empty()));
    // What is not read is no business of this command.
    let mut diagnostics: Diagnostics = found.into_iter().filter(|fault| fault.severity == Severity::Error).collect();
    let schemas = document_schemas();
    let mut sources = SourceMap::default();
    let mut changed = Vec::new();
    let texts = if args.fix { fixed(&project, &inputs, schemas) } else { inputs.clone() };
    for (input, text) in inputs.iter().zip(&texts) {
        match formatted(&mut sources, text, schemas) {
            Ok(text) if text.as_bytes() == input.bytes => {}
            Ok(text) => changed.push((input, text)),
            Err(faults) => diagnostics.extend(faults),
        }
    }
    for (input, text) in &changed {
        if args.diff {
            print_diff(global, input, text)?;
        } else if args.check {
            diagnostics.push(not_formatted(&input.path));
        } else {
            fs::replace(&project.root, &input.path, text)?;
        }
    }
    let checked: Vec<String> = inputs.iter().map(|input| input.path.clone()).collect();
    let findings = Findings { diagnostics, sources: &sources, checked: &checked, unreadable };
    let output = if args.diff { Output::Data } else { Output::Findings };
    let status = report(global, output, findings)?;
    let writes = !args.check && !args.diff;
    let verb = if writes { "formatted" } else { "would be formatted" };
    let unchanged = inputs.len() - changed.len();
    tell(global, &format!("{} {verb}, {unchanged} unchanged", counted(changed.len(), "file")));
    let is_no = !changed.is_empty() && (!writes || args.fail_on_change);
    Ok(if is_no { status.max(ExitStatus::No) } else { status })
}

fn print_diff(global: &Global, Input { path, bytes }: &Input, text: &str) -> Result<()> {
    let style = style_of_diff(global);
    let old = String::from_utf8_lossy(bytes);
    terminal::print(&unified(&old, text, &format!("a/{path}"), &format!("b/{path}"), style))
}

fn not_formatted(path: &str) -> Diagnostic {
    Diagnostic::in_file(&code::KB0601, path, "the file is not formatted").help("run `kubebench fmt`")
}

/// Returns the canonical form of a file.
fn formatted(sources: &mut SourceMap, input: &Input, schemas: &Schemas) -> Result<String, Vec<Diagnostic>> {
    let id = sources.add(Source::new(input.path.as_str(), &input.bytes));
    let Some(source) = sources.get(id) else { return Ok(String::new()) };
    yaml::format::format(id, source).map_err(|faults| advised(faults, id, source, schemas))
}

/// Returns `inputs` with the certain fixes of their texts, and then those of lints.
fn fixed(project: &Project, inputs: &[Input], schemas: &Schemas) -> Vec<Input> {
    let read = inputs.iter().map(|input| {
        let (id, source) = (SourceId::default(), Source::new(input.path.as_str(), &input.bytes));
        let faults = advised(yaml::read(id, &source).diagnostics, id, &source, schemas);
        let text = fix(id, &source, &faults);
        Input { bytes: if text == source.text { input.bytes.clone() } else { text.into_bytes() }, ..input.clone() }
    });
    let mut inputs: Vec<Input> = read.collect();
    let root = project.root.clone();
    let workspace = Workspace::open(project.file.clone(), VERSION).carrying(files::carrying(root));
    let specs = inputs.iter().filter(|input| input.path != PROJECT_FILE).cloned().collect();
    let Compilation { sources, mut diagnostics, .. } = workspace.letting_go_of_pods().compile(specs);
    diagnostics.retain(|fault| fault.code.configurable);
    for (id, source) in sources.iter() {
        if let Some(input) = inputs.iter_mut().find(|input| input.path == source.path && input.path != PROJECT_FILE) {
            let text = fix(id, source, &diagnostics);
            if text != source.text {
                input.bytes = text.into_bytes();
            }
        }
    }
    inputs
}

/// Returns what is wrong with the text of a file, in words that know its fields.
fn advised(mut faults: Vec<Diagnostic>, id: SourceId, source: &Source, schemas: &Schemas) -> Vec<Diagnostic> {
    let expected: &[DocumentKind] =
        if source.path == PROJECT_FILE { &[DocumentKind::Project] } else { &DocumentKind::ALL };
    schemas.advise(expected, source, yaml::read(id, source).root.as_ref(), &mut faults);
    faults
}
