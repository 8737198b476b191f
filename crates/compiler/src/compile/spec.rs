//! One spec: the order of its checks, its permissions, and which findings are suppressed.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value as Json;

use super::load::Loaded;
use super::{Compiled, Inputs, Project, at_levels};
use crate::check;
use crate::lower::{self, Document, Lowered, Resolved};
use crate::manifest::{self, Emitted, Executed, Manifest};
use crate::model::Benchmark;
use crate::model::suppressions::Suppressions;
use crate::permission::{self, raised};
use crate::suppressed;
use crate::tree::OutputFile;
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::diag::{Diagnostic, Diagnostics};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{self, Node};

/// What one spec gave.
#[derive(Clone)]
pub(super) struct Outcome<O = Output> {
    pub(super) path: String,
    /// The fragments that are part of it.
    pub(super) fragments: Vec<SourceId>,
    pub(super) diagnostics: Diagnostics,
    pub(super) name: Option<(String, Span)>,
    /// True when fragments with errors keep it from being compiled.
    pub(super) is_held_back: bool,
    /// The name that it says, if it has errors.
    pub(super) said: Option<String>,
    pub(super) outputs: Vec<O>,
    /// The targets that suppressed a finding of it, with the code.
    pub(super) used_of_targets: BTreeSet<(String, String)>,
}

/// One benchmark on one target, and its files by path.
#[derive(Clone)]
pub(super) struct Output {
    pub(super) compiled: Compiled,
    pub(super) files: Vec<(String, Arc<OutputFile>)>,
}

/// Returns what a spec gives.
pub(super) fn compiled(
    spec: Loaded,
    project: Option<&Project>,
    inputs: Inputs<'_>,
    sources: &SourceMap,
    lets_go: bool,
) -> Outcome {
    let emit = |benchmark: &Benchmark, document: &Json, found: &mut Diagnostics| {
        let mut emitted = manifest::emit(benchmark, document, found);
        let undone = std::mem::take(&mut emitted.undone);
        (emitted, undone)
    };
    evaluate(spec, project, inputs, sources, emit, |root, Permitted { mut benchmark, permissions, emitted }| {
        let Emitted { identity, rules, manifests, .. } = emitted;
        let files = files(manifests, &benchmark.path, Some(benchmark.name_span));
        if lets_go {
            benchmark.cases.iter_mut().for_each(|case| case.workload.let_go_of_pods());
        }
        let spec = (!lets_go).then(|| Arc::clone(root));
        let (benchmark, identity) = (Arc::new(benchmark), Arc::new(identity));
        Output { compiled: Compiled { benchmark, spec, identity, rules, permissions }, files }
    })
}

/// Returns the benchmarks of a spec and what each executes: no manifest is made. None if it has errors.
pub(super) fn executed(
    spec: Loaded,
    project: &Project,
    inputs: Inputs<'_>,
    sources: &SourceMap,
) -> Vec<(Benchmark, Executed)> {
    let emit = |benchmark: &Benchmark, _: &Json, found: &mut Diagnostics| manifest::executed(benchmark, found);
    let output = |_: &Arc<Node>, Permitted { benchmark, emitted, .. }| (benchmark, emitted);
    let Outcome { diagnostics, outputs, .. } = evaluate(spec, Some(project), inputs, sources, emit, output);
    if at_levels(diagnostics, Some(project)).has_errors() { Vec::new() } else { outputs }
}

/// A benchmark on one target, what was emitted of it, and what it may do that a plain one may not.
struct Permitted<E> {
    benchmark: Benchmark,
    permissions: Vec<Diagnostic>,
    emitted: E,
}

/// Evaluates a spec: `emit` returns what is made of a benchmark, and the settings of its target that its pods lack (KB0394); `output` turns
/// the former into the output of the benchmark.
fn evaluate<E, O>(
    Loaded { id, diagnostics, document, extends: _, fragments, held_back, said, manifests }: Loaded,
    project: Option<&Project>,
    inputs: Inputs<'_>,
    sources: &SourceMap,
    emit: impl Fn(&Benchmark, &Json, &mut Diagnostics) -> (E, Vec<Diagnostic>),
    output: impl Fn(&Arc<Node>, Permitted<E>) -> O,
) -> Outcome<O> {
    let path = sources.get(id).expected("a text of each spec").path.clone();
    let is_held_back = held_back.is_some();
    let mut outcome = Outcome {
        path,
        fragments: fragments.clone(),
        diagnostics,
        name: held_back,
        is_held_back,
        said,
        outputs: Vec::new(),
        used_of_targets: BTreeSet::new(),
    };
    let diagnostics = &mut outcome.diagnostics;
    let (Some((kind, root)), Some(project)) = (document, project) else { return outcome };
    let document = Document { id, sources, root: &root, fragments: &fragments };
    let own = Suppressions::of(root.get("spec"));
    let mut used = BTreeSet::new();
    check::in_document(&root, diagnostics);
    if kind == DocumentKind::Suite {
        let suite = inputs.suites.iter().find(|suite| suite.path == outcome.path);
        outcome.name = suite.map(|suite| (suite.name.clone(), suite.name_span));
    } else if let Some(lowered) = lower::benchmark(document, &manifests, project, inputs, diagnostics) {
        let on_target = |Resolved { benchmark, document, mut permissions }| {
            let mut found = Diagnostics::default();
            check::check(&benchmark, sources, &mut found);
            permissions.extend(permission::split(&mut found));
            let (emitted, undone) = emit(&benchmark, &document, &mut found);
            let mut of_target = BTreeSet::new();
            let found = suppressed::apply(&benchmark.target.suppressions, found, project, &mut of_target);
            let target = &benchmark.target.name;
            outcome.used_of_targets.extend(of_target.into_iter().map(|code| (target.clone(), code)));
            permissions.extend(suppressed::shown(&own));
            permissions.extend(undone);
            permissions.sort_by(|one, other| permission::key(one).cmp(&permission::key(other)));
            permissions.dedup_by(|one, other| permission::key(one) == permission::key(other));
            diagnostics.extend(found);
            diagnostics.extend(raised(permissions.iter(), |finding| project.level(finding)));
            output(&root, Permitted { benchmark, permissions, emitted })
        };
        let Lowered { name, name_span, benchmarks } = lowered;
        outcome.name = Some((name, name_span));
        outcome.outputs = benchmarks.into_iter().map(on_target).collect();
    }
    let found = suppressed::apply(&own, std::mem::take(&mut outcome.diagnostics), project, &mut used);
    if !found.has_errors() {
        outcome.diagnostics.extend(suppressed::unused(&own, &used, project));
    }
    outcome.diagnostics.extend(found);
    outcome
}

/// Returns `manifests`, which are compiled from `source`, as files by path.
pub(super) fn files(manifests: Vec<Manifest>, source: &str, span: Option<Span>) -> Vec<(String, Arc<OutputFile>)> {
    let file =
        |manifest: Manifest| (manifest.path, Arc::new(OutputFile::new(source, span, &yaml::write(&manifest.object))));
    manifests.into_iter().map(file).collect()
}
