//! `kubebench render`: the jobs as plain manifests, for `kubectl` and for reading.

use std::collections::BTreeSet;

use anyhow::{Result, bail};

use super::ExitStatus;
use super::args::{Global, RenderArgs};
use super::findings::Output;
use super::project;
use crate::app::project::CompiledProject;
use kubebench_compiler::manifest::{files, standalone};
use kubebench_contract::Run;
use kubebench_host::terminal;
use kubebench_syntax::diag::what_there_is;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Span, plain};
use kubebench_syntax::yaml;

/// Prints the objects of the first measured run of every selected case.
pub(super) fn run(global: &Global, args: &RenderArgs) -> Result<ExitStatus> {
    let project = project::open(global, &args.select)?;
    let diagnostics = project.diagnostics();
    if diagnostics.has_errors() {
        return project::report_beside(global, &project, Output::Data, diagnostics);
    }
    if args.spec {
        terminal::print(&specs(&project).join("---\n"))?;
        return project::report_beside(global, &project, Output::Data, diagnostics);
    }
    let mut documents = Vec::new();
    let mut known = Vec::new();
    for compiled in project.benchmarks() {
        let before = documents.len();
        for case in &compiled.benchmark.cases {
            known.extend([case.name.as_str(), case.id.as_str()]);
            if args.case.as_ref().is_some_and(|wanted| !case.is_called(wanted)) {
                continue;
            }
            let first = |run: &&Run| run.case == case.id && !run.warmup;
            let Some(run) = compiled.identity.runs.iter().find(first) else { continue };
            for object in standalone(&compiled.benchmark, case, &run.job, &compiled.identity.digest) {
                let document = yaml::write(&object);
                // Several cases may load one server.
                if !documents.contains(&document) {
                    documents.push(document);
                }
            }
        }
        if let (Some(files), true) = (files(&compiled.benchmark), documents.len() > before) {
            documents.insert(before, yaml::write(&files));
        }
    }
    if let (Some(wanted), true) = (&args.case, documents.is_empty()) {
        bail!("there is no case `{wanted}`; {}", what_there_is(wanted, known, "cases are"));
    }
    terminal::print(&documents.join("---\n"))?;
    project::report_beside(global, &project, Output::Data, diagnostics)
}

/// Returns each selected spec once, as one with what it extends.
fn specs(project: &CompiledProject) -> Vec<String> {
    let sources = &project.compilation.sources;
    let comment = |span: Span| {
        let source = sources.get(span.source).expected("a source of each place");
        format!("{}:{}", plain(&source.path), source.position(span.range().start).line)
    };
    let mut written = BTreeSet::new();
    let mut documents = Vec::new();
    for compiled in project.benchmarks() {
        let Some(root) = compiled.spec.as_ref().filter(|_| written.insert(&compiled.benchmark.path)) else { continue };
        documents.push(yaml::write_node(root, root.span.source, &comment));
    }
    documents
}
