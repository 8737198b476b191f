//! All outcomes together: names are unique, suites refer to what exists, every target has its pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::spec::{Outcome, Output, files};
use super::{Compiled, CompiledSuite, at_levels};
use crate::extend::{Fragments, Shared};
use crate::lower::{self, Faulty, Project, Suites, concurrency};
use crate::manifest::{self, Part};
use crate::model::{Benchmark, Target};
use crate::permission::raised;
use crate::suppressed;
use crate::tree::{OutputFile, OutputTree, Rejected, size};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, code};
use kubebench_syntax::text::Span;

pub(super) struct Assembled {
    pub(super) benchmarks: Vec<Compiled>,
    pub(super) suites: Vec<CompiledSuite>,
    pub(super) tree: OutputTree,
    /// Paths of specs with errors, which may be in other files.
    pub(super) faulty: BTreeSet<String>,
    pub(super) held_back: BTreeMap<String, BTreeSet<String>>,
}

/// Puts all specs together: names are unique, suites refer to what exists, every target has its pipeline.
pub(super) fn assemble(
    outcomes: Vec<Outcome>,
    suites: &Suites,
    fragments: &Fragments,
    project: Option<&Project>,
    diagnostics: &mut Diagnostics,
) -> Assembled {
    let mut names: BTreeMap<String, Span> = BTreeMap::new();
    let mut benchmarks = Vec::new();
    let mut tree = OutputTree::default();
    let mut faulty = BTreeSet::new();
    // Benchmarks of which only the existence is known, with their specs.
    let mut unsound = BTreeMap::new();
    let mut held_back = BTreeMap::new();
    // Specs whose name is unknown.
    let mut nameless = Vec::new();
    let mut shared = Shared::new(fragments.sources());
    let mut hidden = BTreeSet::new();
    let mut used_of_targets = BTreeSet::new();
    for Outcome {
        path,
        fragments: parts,
        diagnostics: found,
        name,
        is_held_back,
        said,
        outputs,
        used_of_targets: used,
    } in outcomes
    {
        used_of_targets.extend(used);
        let found = at_levels(found, project);
        let sound = !found.has_errors() && !is_held_back;
        diagnostics.extend(shared.take(&path, &parts, found));
        let named = name.as_ref().map(|(name, _)| name).or(said.as_ref());
        nameless.extend((!sound && named.is_none()).then(|| path.clone()));
        // A suite may name what has errors: they are reported there.
        let said = said.filter(|_| name.is_none());
        unsound.extend(said.iter().map(|name| (name.clone(), path.clone())));
        hidden.extend(said);
        unsound.extend(name.iter().filter(|_| !sound).map(|(name, _)| (name.clone(), path.clone())));
        faulty.extend((!sound).then_some(path));
        let unique = name.is_none_or(|(name, span)| claim_name(&mut names, &name, span, diagnostics));
        for Output { compiled, files } in outputs.into_iter().filter(|_| sound && unique) {
            insert(&mut tree, files, diagnostics);
            benchmarks.push(compiled);
        }
    }
    diagnostics.extend(shared.into_findings());
    // The warnings for a spec with errors are unknown.
    if let Some(project) = project.filter(|_| faulty.is_empty()) {
        for target in &project.targets {
            let used = used_of_targets.iter().filter(|(name, _)| *name == target.name);
            let used = used.map(|(_, code)| code.clone()).collect();
            diagnostics.extend(suppressed::unused(&target.suppressions, &used, project));
        }
    }
    suites.check(&names, &Faulty { nameless: &nameless, named: &hidden }, diagnostics);
    let mut compiled = Vec::new();
    if let Some(project) = project {
        for suite in suites.iter() {
            let is_unknown = |name: &str| unsound.contains_key(name) || !names.contains_key(name);
            if unsound.contains_key(&suite.name) || suite.benchmarks().any(is_unknown) {
                let specs = suite.benchmarks().filter_map(|name| unsound.get(name).cloned());
                held_back.insert(suite.path.clone(), specs.collect());
                faulty.insert(suite.path.clone());
                continue;
            }
            let on_targets = compile_suite(suite, &benchmarks, project, &mut tree, diagnostics);
            let has_some =
                |Compiled { benchmark, .. }: &Compiled| suite.is_on(&benchmark.target) && suite.names(&benchmark.name);
            if !benchmarks.iter().any(has_some) {
                suite.report_empty(diagnostics);
            }
            compiled.extend(on_targets);
        }
        let on = |target: &Target| -> Vec<&Benchmark> {
            let benchmarks = benchmarks.iter().map(|compiled| &*compiled.benchmark);
            benchmarks.filter(|benchmark| benchmark.target.name == target.name).collect()
        };
        let mut targets: Vec<Target> =
            project.targets.iter().filter(|target| !on(target).is_empty()).map(|target| (**target).clone()).collect();
        concurrency::keep_where_benchmarks_run(&mut targets);
        for target in &targets {
            let manifests = manifest::emit_pipeline(target, &project.settings, &on(target));
            insert(&mut tree, files(manifests, &project.settings.path, None), diagnostics);
        }
        diagnostics.extend(size::warnings(&tree, &project.settings.output));
    }
    Assembled { benchmarks, suites: compiled, tree, faulty, held_back }
}

/// Compiles a suite on each of its targets.
fn compile_suite(
    suite: &lower::Suite,
    benchmarks: &[Compiled],
    project: &Project,
    tree: &mut OutputTree,
    diagnostics: &mut Diagnostics,
) -> Vec<CompiledSuite> {
    let mut compiled = Vec::new();
    for target in &project.targets {
        let on_target = |name: &str| {
            benchmarks.iter().find(|Compiled { benchmark, .. }| {
                benchmark.name == name
                    && benchmark.target.name == target.name
                    && benchmark.suite.as_ref() == Some(&suite.name)
            })
        };
        let found = suite.on_target(target, project, |name| on_target(name).is_some(), diagnostics);
        let Some(found) = found else { continue };
        let parts: Vec<Part<'_>> = found
            .members
            .iter()
            .filter_map(|member| {
                let Compiled { benchmark, identity, .. } = on_target(&member.benchmark)?;
                Some(Part { benchmark, identity, needs: &member.needs })
            })
            .collect();
        let (identity, manifests) = manifest::emit_suite(&found, &parts, diagnostics);
        insert(tree, files(manifests, &found.path, Some(found.name_span)), diagnostics);
        let permissions = suppressed::shown(&found.suppressions);
        diagnostics.extend(raised(permissions.iter(), |finding| project.level(finding)));
        compiled.push(CompiledSuite { suite: found, identity, permissions });
    }
    compiled
}

fn claim_name(names: &mut BTreeMap<String, Span>, name: &str, span: Span, diagnostics: &mut Diagnostics) -> bool {
    let Some(first) = names.get(name) else {
        names.insert(name.to_owned(), span);
        return true;
    };
    let fault = Diagnostic::at(&code::KB0308, span, format!("the name `{name}` is taken"))
        .related(Place::Span(*first), "by this spec")
        .note("both would write the same manifests");
    diagnostics.push(
        fault.help("give one of them another name, or write both as one benchmark with a `matrix` or `variants`"),
    );
    false
}

fn insert(tree: &mut OutputTree, files: Vec<(String, Arc<OutputFile>)>, diagnostics: &mut Diagnostics) {
    for (path, file) in files {
        if let Err(rejected) = tree.insert(path, file) {
            let Rejected { path, file, .. } = *rejected;
            let message = format!("another spec already emits {path}");
            diagnostics.push(match file.source_span {
                Some(span) => Diagnostic::at(&code::KB0308, span, message),
                None => Diagnostic::in_file(&code::KB0308, file.source.as_str(), message),
            });
        }
    }
}
