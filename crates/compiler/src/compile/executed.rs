//! What benchmarks execute, and nothing else of a compilation: no manifest is made, and no finding is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::load::Loaded;
use super::{Gathered, Input, Inputs, Project, Workspace, at_levels, document_schemas, gather};
use crate::check;
use crate::guard::Owners;
use crate::lower::{self, Document, Lowered, Resolved};
use crate::manifest::{self, Executed};
use crate::model::Benchmark;
use crate::model::suppressions::Suppressions;
use crate::permission::{self, raised};
use crate::suppressed;
use kubebench_format::schema::DocumentKind;
use kubebench_syntax::diag::Diagnostics;
use kubebench_syntax::text::{Source, SourceId, SourceMap};

impl Workspace {
    /// Returns the benchmarks of those of the specs that are `wanted` and compile, with what each executes.
    pub(crate) fn executed(self, mut specs: Vec<Input>, wanted: &BTreeSet<&str>) -> Vec<(Benchmark, Executed)> {
        let Self { mut sources, project, read, .. } = self;
        let Some(project) = project else { return Vec::new() };
        specs.sort_by(|a, b| a.path.cmp(&b.path));
        let texts: Vec<Source> = specs.into_par_iter().map(|input| Source::new(input.path, &input.bytes)).collect();
        let ids: Vec<SourceId> = texts.into_iter().map(|source| sources.add(source)).collect();
        let Gathered { specs, suites, manifests, owners, .. } =
            gather(&ids, &mut sources, Some(&project), &*read, None);
        let is_wanted =
            |spec: &Loaded| sources.get(spec.id).is_some_and(|source| wanted.contains(source.path.as_str()));
        let of = |spec: Loaded| {
            let own = Owners::new(Arc::clone(&owners));
            let schemas = document_schemas();
            let inputs = Inputs { schemas, read: &*read, manifests: &manifests, suites: &suites, owners: &own };
            of_spec(spec, &project, inputs, &sources)
        };
        specs.into_par_iter().filter(is_wanted).flat_map_iter(of).collect()
    }
}

/// Returns the benchmarks of a spec, none if it has errors.
fn of_spec(
    Loaded { id, mut diagnostics, document, fragments, held_back, manifests, .. }: Loaded,
    project: &Project,
    inputs: Inputs<'_>,
    sources: &SourceMap,
) -> Vec<(Benchmark, Executed)> {
    let Some((DocumentKind::Benchmark, root)) = document.filter(|_| held_back.is_none()) else { return Vec::new() };
    check::in_document(&root, &mut diagnostics);
    let document = Document { id, sources, root: &root, fragments: &fragments };
    let lowered = lower::benchmark(document, &manifests, project, inputs, &mut diagnostics);
    let Some(Lowered { benchmarks, .. }) = lowered else { return Vec::new() };
    let mut unused = BTreeSet::new();
    let mut of = |Resolved { benchmark, mut permissions, .. }: Resolved| {
        let mut found = Diagnostics::default();
        check::check(&benchmark, sources, &mut found);
        permissions.extend(permission::split(&mut found));
        found.extend(raised(permissions.iter(), |finding| project.level(finding)));
        let executed = manifest::executed(&benchmark, &mut found);
        diagnostics.extend(suppressed::apply(&benchmark.target.suppressions, found, project, &mut unused));
        (benchmark, executed)
    };
    let executed: Vec<(Benchmark, Executed)> = benchmarks.into_iter().map(&mut of).collect();
    let own = Suppressions::of(root.get("spec"));
    let found = suppressed::apply(&own, diagnostics, project, &mut BTreeSet::new());
    if at_levels(found, Some(project)).has_errors() { Vec::new() } else { executed }
}
