use super::*;
use crate::compile::document_schemas;
use crate::lower;
use crate::lower::{Document, Inputs, Manifests, Project, Suites};
use crate::workload;
use kubebench_format::schema::DocumentKind;
use kubebench_format::spec::v1::project::LintLevel;
use kubebench_syntax::diag::{Diagnostic, Severity, code};
use kubebench_syntax::text::{Source, SourceMap};
use kubebench_syntax::yaml;
use kubebench_testing::snapshot::{Snapshot, assert_findings, assert_text, str};

mod carried;
mod claims;
mod downloads;
mod estimates;
mod jobsets;
mod kinds;
mod lost_status;
mod metrics;
mod mpi;
mod patches;
mod pods;
mod queues;
mod secrets;
mod spark;
mod trainjobs;
mod whole;

/// What a spec says where a test does not.
const DEFAULTS: [&str; 3] = [
    "timeout: 1h",
    "metrics: [{name: seconds, better: lower, from: {duration: run}}]",
    "workload: {job: {image: 'r.example/a:1', command: [a], resources: {cpu: 1, memory: 1Gi}}}",
];

const NONE: [(&str, String); 0] = [];

/// What is in every file of `pipelines`.
const WORKFLOW: &str = "{apiVersion: argoproj.io/v1alpha1, kind: Workflow, spec: {arguments: {parameters: [{name: epochs}]}, entrypoint: a, templates: [{name: a, container: {image: 'r.example/a:1', resources: {limits: {cpu: 1, memory: 1Gi}}}}]}}";

/// Benchmarks of one spec, and everything that was said about them.
struct Compiled {
    sources: SourceMap,
    project: Project,
    benchmarks: Vec<Benchmark>,
    before: Vec<Diagnostic>,
    /// What was said of pod security before.
    guarded: Vec<Diagnostic>,
}

/// Compiles whole documents: a project, which may be empty, and a benchmark.
#[track_caller]
fn compile(project: &str, benchmark: &str) -> Compiled {
    let schemas = document_schemas();
    let (mut sources, mut found) = (SourceMap::default(), Diagnostics::default());
    let mut read = |path: &str, text: &str, kind: DocumentKind| {
        let id = sources.add(Source::new(path, text.as_bytes()));
        let read = yaml::read(id, sources.get(id).unwrap());
        assert_eq!(read.diagnostics, [], "{text}");
        let root = read.root.unwrap();
        let faults = schemas.validate(kind, &sources, &root);
        (id, root, faults)
    };
    let settings = (!project.is_empty()).then(|| read("kubebench.yaml", project, DocumentKind::Project));
    let (id, root, faults) = read("specs/a.yaml", benchmark, DocumentKind::Benchmark);
    let settings = settings.as_ref().map(|(id, root, _)| Document { id: *id, sources: &sources, root, fragments: &[] });
    let project = lower::project(settings, "0.1.0", &mut found).unwrap();
    if !faults.is_empty() {
        return Compiled { sources, project, benchmarks: Vec::new(), before: faults, guarded: Vec::new() };
    }
    let text = benchmark.to_owned();
    let carried = move |path: &str| match path {
        "piped.sh" => Ok(b"#!/bin/bash -eu\n./bench |\n  tee log\n./report\n".to_vec()),
        "windows.sh" => Ok(b"#!/bin/sh\r\ntrue\r\n".to_vec()),
        "crlf.toml" => Ok(b"[a]\r\nb = 1\r\n".to_vec()),
        "marked.py" => Ok("\u{feff}import os\nos.getcwd()\n".into()),
        "colors.sh" => Ok(b"#!/bin/sh\necho '\x1b[31m'\n".to_vec()),
        "pasted.py" => Ok("if x:\n\u{a0}pass\n".into()),
        "binary" => Ok(b"a\0\r\n\xff".to_vec()),
        "tabs.sh" => Ok(b"\n \t#!/bin/sh \n\techo 1\n\n\n".to_vec()),
        "token" => Ok(b"#!/bin/sh\nexport TOKEN=ghp_R8vN2kQ7xT1mZ4cB6yW9jL3pF5sD0aHgEuIo\n".to_vec()),
        path if path.starts_with("pipelines/") => Ok(WORKFLOW.as_bytes().to_vec()),
        // A word of a command is no file: only the value of a field is.
        path if ["path", "file", "runtime"].iter().any(|field| text.contains(&format!("{field}: {path}"))) => {
            Ok(format!("{path}\n").into_bytes())
        }
        _ => Err(lower::Unreadable::Absent { beside: Vec::new() }),
    };
    let suites = Suites::default();
    let document = Document { id, sources: &sources, root: &root, fragments: &[] };
    let paths = lower::manifest_paths(document, &project, &suites);
    let manifests = Manifests::default().read(&paths, &carried, "generated", &mut sources);
    let owners = crate::guard::Owners::default();
    let inputs = Inputs { schemas, read: &carried, manifests: &manifests, suites: &suites, owners: &owners };
    let document = Document { id, sources: &sources, root: &root, fragments: &[] };
    let lowered = lower::benchmark(document, &paths, &project, inputs, &mut found);
    let benchmarks = lowered.map(|lowered| lowered.benchmarks).unwrap_or_default();
    let benchmarks = benchmarks.into_iter().map(|resolved| resolved.benchmark).collect();
    let (guarded, before) = found.into_iter().partition(|fault| fault.code == &code::KB0419);
    Compiled { sources, project, benchmarks, before, guarded }
}

impl Compiled {
    /// Returns what the rules find to be wrong, in the order and with the repetitions removed as a user sees it.
    fn findings(&self) -> Vec<Diagnostic> {
        self.all_findings().into_iter().filter(|finding| finding.severity != Severity::Info).collect()
    }

    /// Returns the same with what is right and yet to be shown.
    fn all_findings(&self) -> Vec<Diagnostic> {
        let mut found = Diagnostics::default();
        self.benchmarks.iter().for_each(|benchmark| super::check(benchmark, &self.sources, &mut found));
        found.extend(self.guarded.iter().cloned());
        let is_off = |fault: &Diagnostic| self.project.lints.get(fault.code.id) == Some(&LintLevel::Off);
        found.into_sorted(&self.sources).into_iter().filter(|fault| !is_off(fault)).collect()
    }
}

/// Checks the benchmark whose `spec` has `fields` in addition to the [`DEFAULTS`], on the targets of `project`.
#[track_caller]
fn check_on(targets: &str, fields: &str, expected: &[(&str, Snapshot)]) {
    let project = if targets.is_empty() {
        String::new()
    } else {
        format!("apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {{name: p}}\nspec: {{targets: {targets}}}\n")
    };
    let compiled = compile(&project, &document(fields));
    assert_eq!(compiled.before, [], "{fields}");
    assert!(!compiled.benchmarks.is_empty());
    assert_findings(&codes_and_messages(&compiled.findings()), expected);
}

/// Checks a benchmark with one finding about `value`, which the snapshot leaves out because many values share it.
#[track_caller]
fn check_about(value: &str, fields: &str, expected: (&str, Snapshot)) {
    let compiled = compile("", &document(fields));
    assert_eq!(compiled.before, [], "{fields}");
    assert_findings(&about(value, codes_and_messages(&compiled.findings())), &[expected]);
}

/// Replaces `value` with `…`.
fn about(value: &str, found: Vec<(&'static str, String)>) -> Vec<(&'static str, String)> {
    let generalized = |message: String| {
        assert!(message.contains(value), "`{value}`: {message}");
        message.replace(value, "…")
    };
    found.into_iter().map(|(code, message)| (code, generalized(message))).collect()
}

/// Checks on the target `default`.
#[track_caller]
fn check(fields: &str, expected: &[(&str, Snapshot)]) {
    check_on("", fields, expected);
}

fn document(fields: &str) -> String {
    let fields: Vec<&str> = fields.lines().collect();
    let key = |line: &str| line.split_once(':').map(|(key, _)| format!("{key}:")).unwrap();
    let mut lines = vec!["apiVersion: kubebench.dev/v1".to_owned(), "kind: Benchmark".to_owned()];
    lines.extend(["metadata: {name: disk}".to_owned(), "spec:".to_owned()]);
    let absent = DEFAULTS.iter().filter(|line| !fields.iter().any(|field| field.starts_with(&key(line))));
    lines.extend(absent.chain(&fields).map(|line| format!("  {line}")));
    lines.join("\n") + "\n"
}

/// A PyTorchJob or another workload with one image, one command, modest resources and these additional fields.
fn workload(kind: &str, fields: &str) -> String {
    format!("workload: {{{kind}: {{image: 'r.example/a:1', command: [a], {fields}}}}}")
}

/// An MPIJob with one image, modest resources and these additional fields.
fn mpi_job(fields: &str) -> String {
    format!("workload: {{mpiJob: {{image: 'r.example/a:1', resources: {{cpu: 1, memory: 1Gi}}, {fields}}}}}")
}

/// Where its keys are, so that SSH finds them.
const KEYS: &str = "sshAuthMountPath: /home/mpiuser/.ssh, pod: {securityContext: {runAsUser: 1000}}";

/// Returns what lowering reports about the benchmark whose `spec` has `fields` in addition to the [`DEFAULTS`].
fn lowered(fields: &str) -> Vec<(&'static str, String)> {
    codes_and_messages(&compile("", &document(fields)).before)
}

fn codes_and_messages(found: &[Diagnostic]) -> Vec<(&'static str, String)> {
    found.iter().map(|fault| (fault.code.id, fault.message.clone())).collect()
}

#[test]
fn a_sound_benchmark_has_no_findings() {
    check("", &[]);
}
