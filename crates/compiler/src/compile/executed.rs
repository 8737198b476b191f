//! What benchmarks would execute if some files had other texts. Specs that do not change are not read again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rayon::prelude::*;

use super::load::{Documents, Loaded};
use super::{Compilation, Gathered, Input, Inputs, Workspace, document_schemas, gather, load, spec};
use crate::guard::Owners;
use crate::lower::{PROJECT_FILE, ReadFile};
use crate::manifest::Executed;
use crate::model::Benchmark;
use kubebench_syntax::text::{Source, SourceId};

/// The files that are replaced.
pub(crate) struct Trial {
    /// Texts of the project file, specs and suites by path; none for a file that does not exist.
    pub(crate) texts: BTreeMap<String, Option<String>>,
    /// Gives the files that specs carry or name.
    pub(crate) read: Arc<ReadFile>,
}

impl Compilation {
    /// Returns the benchmarks of those of the specs that are `wanted` and compile, with what each executes; `version` is this program's.
    /// Replaced specs extend no fragment.
    pub(crate) fn executed(
        &self,
        Trial { mut texts, read }: Trial,
        wanted: &BTreeSet<&str>,
        version: &str,
    ) -> Vec<(Benchmark, Executed)> {
        let written = || self.sources.at(PROJECT_FILE).map(|(_, source)| source.text.clone());
        let project = texts.remove(PROJECT_FILE).unwrap_or_else(written);
        let project = project.map(|text| Input { path: PROJECT_FILE.to_owned(), bytes: text.into_bytes() });
        // What was read points into its own texts.
        let Workspace { mut sources, project, .. } = Workspace::open_beside(self.sources.clone(), project, version);
        let Some(project) = project else { return Vec::new() };
        let suites = self.suites.iter().map(|compiled| compiled.suite.path.as_str());
        let known: BTreeSet<&str> = wanted.iter().copied().chain(suites).collect();
        let path = |spec: &Loaded| self.sources.get(spec.id).map_or("", |source| source.path.as_str());
        let is_as_it_was = |spec: &&Loaded| known.contains(path(spec)) && !texts.contains_key(path(spec));
        let as_it_was: Vec<Loaded> = self.documents.iter().filter(is_as_it_was).cloned().collect();
        let edited =
            texts.iter().filter_map(|(path, text)| Some(Source::new(path.as_str(), text.as_ref()?.as_bytes())));
        let ids: Vec<SourceId> = edited.map(|source| sources.add(source)).collect();
        let Documents { mut specs, .. } = load::documents(&ids, &sources, document_schemas(), None);
        specs.extend(as_it_was);
        specs.sort_by(|one, other| {
            let path = |spec: &Loaded| sources.get(spec.id).map(|source| source.path.as_str());
            path(one).cmp(&path(other))
        });
        let Gathered { specs, suites, manifests, owners } = gather(specs, &mut sources, Some(&project), &*read, None);
        let is_wanted =
            |spec: &Loaded| sources.get(spec.id).is_some_and(|source| wanted.contains(source.path.as_str()));
        let of = |spec: Loaded| {
            let own = Owners::new(Arc::clone(&owners));
            let schemas = document_schemas();
            let inputs = Inputs { schemas, read: &*read, manifests: &manifests, suites: &suites, owners: &own };
            spec::executed(spec, &project, inputs, &sources)
        };
        specs.into_par_iter().filter(is_wanted).flat_map_iter(of).collect()
    }
}
