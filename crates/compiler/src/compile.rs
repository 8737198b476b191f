//! The pipeline: sources in, a tree of manifests and every finding out.
//!
//! A pure function of its inputs, the files that specs carry among them: no disk, clock, network, environment or
//! randomness, and no failure but findings.

mod assemble;
mod executed;
mod load;
mod memory;
mod session;
mod spec;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, LazyLock};

use rayon::prelude::*;

use crate::check;
use crate::extend::Fragments;
use crate::guard::Owners;
use crate::lower::{self, Document, Inputs, Manifests, Project, ReadFile, ResolvedSpec, Suites, Unreadable};
use crate::manifest::{Identity, SuiteIdentity};
use crate::model::target::ResultsSettings;
use crate::model::{Benchmark, Suite, Target};
use crate::of_target::{OfTarget, of_targets};
use crate::permission::raised;
use crate::tree::{OutputTree, Parts};
use crate::workload;
use assemble::{Assembled, assemble};
use kubebench_format::result::Ack;
use kubebench_format::schema::{DocumentKind, Schemas};
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity};
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::text::{Source, SourceId, SourceMap};
use kubebench_syntax::yaml;
use load::{Documents, Loaded};
use memory::{Evaluated, Memory, Recorder};
use spec::Outcome;

pub(crate) use executed::Trial;
pub use session::Session;

/// A file to compile.
#[derive(Clone, Debug)]
pub struct Input {
    /// Path relative to the project root.
    pub path: String,
    /// Content.
    pub bytes: Vec<u8>,
}

/// One benchmark on one target, and the identity of what it executes.
#[derive(Clone, Debug)]
pub struct Compiled {
    pub benchmark: Arc<Benchmark>,
    /// The spec merged with what it extends, unless the workspace [let go of it](Workspace::letting_go_of_pods).
    pub spec: Option<Arc<yaml::Node>>,
    /// Its digest and runs.
    pub identity: Arc<Identity>,
    /// The text of `rules.json`, byte for byte as the cluster finds it.
    pub rules: String,
    /// What it may do that a plain one may not, by place: each once.
    pub permissions: Vec<Diagnostic>,
}

/// One suite on one target, and the identity of what it executes.
#[derive(Debug)]
pub struct CompiledSuite {
    pub suite: Suite,
    /// Its digest.
    pub identity: SuiteIdentity,
    /// The warnings that its document does without.
    pub permissions: Vec<Diagnostic>,
}

/// The result of a compilation.
#[derive(Debug)]
pub struct Compilation {
    /// The texts that findings point into.
    pub sources: SourceMap,
    /// The findings, sorted, at their configured levels.
    pub diagnostics: Vec<Diagnostic>,
    /// The project, unless its file has errors.
    pub project: Option<Project>,
    /// The benchmarks, by path and target; without their pods where the workspace [let go of them](Workspace::letting_go_of_pods).
    pub benchmarks: Vec<Compiled>,
    /// The suites, by path and target.
    pub suites: Vec<CompiledSuite>,
    /// The suites as their documents say them.
    written_suites: Suites,
    /// Paths of specs with errors; what they would emit is unknown.
    pub faulty: BTreeSet<String>,
    /// The specs that name each manifest file and each file that is carried, by its path.
    pub named_by: BTreeMap<String, BTreeSet<String>>,
    /// The specs whose errors keep a suite from being compiled, by the suite's own.
    pub held_back: BTreeMap<String, BTreeSet<String>>,
    /// What specs may extend.
    pub fragments: Fragments,
    /// What the project file allows the benchmarks of its targets.
    pub of_targets: Vec<OfTarget>,
    /// The manifests of all specs without errors.
    pub tree: OutputTree,
    /// The specs as they were read, for [trials](Compilation::executed); none where the workspace lets go of pods.
    documents: Vec<Loaded>,
}

impl Compilation {
    /// Returns true when some finding is an error.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }

    /// Iterates over the fragments that are part of the spec at `path`: their names and paths.
    pub fn fragments_of<'c>(&'c self, path: &'c str) -> impl Iterator<Item = (&'c str, &'c str)> {
        let is_part = move |file: &str| self.named_by.get(file).is_some_and(|specs| specs.contains(path));
        self.fragments.iter().filter(move |(_, file)| is_part(file))
    }

    /// Returns the fragments that are part of each spec.
    pub fn parts(&self) -> Parts<'_> {
        let mut parts = Parts::new();
        for (_, file) in self.fragments.iter() {
            let Some((_, source)) = self.sources.at(file) else { continue };
            for spec in self.named_by.get(file).into_iter().flatten() {
                parts.entry(spec.as_str()).or_default().push(source);
            }
        }
        parts
    }

    /// Returns the spec of a benchmark as resolved for each of its cases, unless the workspace let go of it.
    pub fn resolved(&self, Compiled { benchmark, spec, .. }: &Compiled) -> Option<ResolvedSpec> {
        let suite = self.written_suites.of(&benchmark.name, &benchmark.target);
        lower::resolved(spec.as_ref()?, &self.sources, self.project.as_ref()?, benchmark, suite)
    }

    /// Gives targets the names that they have in a later commit. Manifests keep their paths.
    pub fn rename_targets(&mut self, names: &BTreeMap<String, String>) {
        let rename = |target: &mut Arc<Target>| {
            if let Some(name) = names.get(&target.name) {
                Arc::make_mut(target).name.clone_from(name);
            }
        };
        for compiled in &mut self.benchmarks {
            let benchmark = Arc::get_mut(&mut compiled.benchmark).expected("a benchmark of this compilation alone");
            rename(&mut benchmark.target);
        }
        self.suites.iter_mut().for_each(|compiled| rename(&mut compiled.suite.target));
        self.project.iter_mut().flat_map(|project| &mut project.targets).for_each(rename);
        for target in self.of_targets.iter_mut().filter_map(|of| of.target.as_mut()) {
            if let Some(name) = names.get(target) {
                target.clone_from(name);
            }
        }
    }

    /// Adds what was found about the files as files, at the levels of the project.
    pub fn add(&mut self, found: Diagnostics) {
        let found = at_levels(found, self.project.as_ref());
        let errors = found.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
        self.faulty.extend(errors.map(|fault| fault.path(&self.sources).to_owned()));
        self.diagnostics.extend(found);
    }
}

/// Returns the schemas of all documents. They are those of this program, so that they are made once.
pub fn document_schemas() -> &'static Schemas {
    static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas::new(&workload::schemas()));
    &SCHEMAS
}

/// A project that is open for compiling: its file read.
#[derive(Clone)]
pub struct Workspace {
    sources: SourceMap,
    diagnostics: Diagnostics,
    project: Option<Project>,
    of_targets: Vec<OfTarget>,
    read: Arc<ReadFile>,
    lets_go: bool,
}

impl Workspace {
    /// Opens the project of `file`, or the default project when there is none; `version` is this program's.
    ///
    /// It has no files that a spec could carry until [`carrying`](Self::carrying) gives them.
    pub fn open(file: Option<Input>, version: &str) -> Self {
        Self::open_beside(SourceMap::default(), file, version)
    }

    /// Opens the project of `file` beside texts that specs were read from.
    fn open_beside(sources: SourceMap, file: Option<Input>, version: &str) -> Self {
        let mut workspace = Self {
            sources,
            diagnostics: Diagnostics::default(),
            project: None,
            of_targets: Vec::new(),
            read: Arc::new(|_| Err(Unreadable::Absent { beside: Vec::new() })),
            lets_go: false,
        };
        workspace.project = workspace.load_project(file, version);
        workspace
    }

    /// Lets specs carry the files that `read` gives by their paths below the project root.
    #[must_use]
    pub fn carrying(self, read: impl Fn(&str) -> Result<Vec<u8>, Unreadable> + Send + Sync + 'static) -> Self {
        Self { read: Arc::new(read), ..self }
    }

    /// Holds a change to the lint levels of its base where they are stricter.
    #[must_use]
    pub fn held_to(mut self, base: &Compilation) -> Self {
        if let (Some(project), Some(base)) = (&mut self.project, &base.project) {
            project.hold_to(base);
        }
        self
    }

    /// Lets go of the spec and the pods of each benchmark once its manifests are written, for who asks for the manifests and the findings
    /// alone: of large projects they are half of what a compilation holds.
    #[must_use]
    pub fn letting_go_of_pods(self) -> Self {
        Self { lets_go: true, ..self }
    }

    /// Returns the project, unless its file has errors.
    pub fn project(&self) -> Option<&Project> {
        self.project.as_ref()
    }

    /// Returns the folders that hold specs; the default when the project file has errors.
    pub fn spec_dirs(&self) -> Vec<String> {
        self.project.as_ref().map_or_else(|| vec!["specs".to_owned()], |project| project.settings.spec_dirs.clone())
    }

    /// Returns the folder of results; the default when the project file has errors.
    pub fn results_dir(&self) -> String {
        self.results().map_or_else(|| "results".to_owned(), |results| results.directory.clone())
    }

    /// Returns the project's settings for results; none when its file has errors.
    pub fn results(&self) -> Option<&ResultsSettings> {
        self.project.as_ref().map(|project| &project.settings.results)
    }

    fn load_project(&mut self, file: Option<Input>, version: &str) -> Option<Project> {
        let Some(file) = file else { return lower::project(None, version, &mut self.diagnostics) };
        let id = self.sources.add(Source::new(file.path, &file.bytes));
        let expected = [DocumentKind::Project];
        let (_, root) = load::document(id, &self.sources, &expected, document_schemas(), &mut self.diagnostics)?;
        check::of_steps(&root, &mut self.diagnostics);
        check::of_results(&root, &mut self.diagnostics);
        check::in_document(&root, &mut self.diagnostics);
        let document = Document { id, sources: &self.sources, root: &root, fragments: &[] };
        let project = lower::project(Some(document), version, &mut self.diagnostics)
            .filter(|_| !self.diagnostics.has_errors())?;
        self.of_targets = of_targets(&root, &project);
        Some(project)
    }

    /// Compiles `specs`, given in any order.
    pub fn compile(mut self, mut specs: Vec<Input>) -> Compilation {
        specs.sort_by(|a, b| a.path.cmp(&b.path));
        let texts: Vec<Source> = specs.into_par_iter().map(|input| Source::new(input.path, &input.bytes)).collect();
        let ids: Vec<SourceId> = texts.into_iter().map(|source| self.sources.add(source)).collect();
        self.evaluate(&ids, None)
    }

    /// Compiles the specs numbered `ids`, which are in the order of their paths, without those that `memory` has as they would be.
    fn evaluate(self, ids: &[SourceId], mut memory: Option<&mut Memory>) -> Compilation {
        let schemas = document_schemas();
        let Self { mut sources, mut diagnostics, project, of_targets, read, lets_go } = self;
        if let Some(project) = &project {
            diagnostics.extend(raised(of_targets.iter().map(|of| &of.finding), |finding| project.level(finding)));
        }
        let Documents { specs, fragments, found } = load::documents(ids, &sources, schemas, memory.as_deref_mut());
        diagnostics.extend(found);
        let documents = if lets_go { Vec::new() } else { specs.clone() };
        let Gathered { specs: loaded, suites, manifests, owners } =
            gather(specs, &mut sources, project.as_ref(), &*read, memory.as_deref());
        let mut named_by: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for spec in &loaded {
            let path = sources.get(spec.id).map(|source| source.path.clone());
            let fragments = spec.fragments.iter().filter_map(|id| Some(&sources.get(*id)?.path));
            for named in spec.manifests.iter().chain(fragments) {
                named_by.entry(named.clone()).or_default().extend(path.clone());
            }
        }
        let evaluate = |spec: Loaded, read: &ReadFile| {
            let own = Owners::new(Arc::clone(&owners));
            let inputs = Inputs { schemas, read, manifests: &manifests, suites: &suites, owners: &own };
            (spec::compiled(spec, project.as_ref(), inputs, &sources, lets_go), own.were_asked())
        };
        let outcomes: Vec<Outcome> = match memory {
            None => loaded.into_par_iter().map(|spec| evaluate(spec, &*read).0).collect(),
            Some(memory) => {
                memory.look_again(&*read, &owners, &suites);
                let evaluated = loaded.into_par_iter().map(|spec| {
                    memory.outcome(&spec, &manifests, &sources).unwrap_or_else(|| {
                        let recorder = Recorder::default();
                        let (outcome, asked_for_owners) = evaluate(spec.clone(), &*recorder.around(&read));
                        Evaluated::Again { spec, outcome, files: recorder.into_files(), asked_for_owners }
                    })
                });
                let evaluated: Vec<Evaluated> = evaluated.collect();
                memory.keep(evaluated, &manifests, &fragments, &sources)
            }
        };
        for Outcome { path, outputs, .. } in &outcomes {
            for (_, file) in outputs.iter().flat_map(|output| output.compiled.benchmark.files.iter()) {
                named_by.entry(file.path.clone()).or_default().insert(path.clone());
            }
        }
        let written_suites = suites;
        let Assembled { benchmarks, suites, tree, mut faulty, held_back } =
            assemble(outcomes, &written_suites, &fragments, project.as_ref(), &mut diagnostics);
        let diagnostics = at_levels(diagnostics, project.as_ref()).into_sorted(&sources);
        let errors = diagnostics.iter().filter(|fault| fault.severity == Severity::Error);
        faulty.extend(errors.map(|fault| fault.path(&sources).to_owned()));
        Compilation {
            sources,
            diagnostics,
            project,
            benchmarks,
            suites,
            written_suites,
            faulty,
            named_by,
            held_back,
            fragments,
            of_targets,
            tree,
            documents,
        }
    }
}

/// All that specs are compiled from.
struct Gathered {
    specs: Vec<Loaded>,
    suites: Suites,
    manifests: Manifests,
    /// The names of benchmarks and suites.
    owners: Arc<BTreeSet<String>>,
}

/// Reads what specs name, without what `memory` has as it is.
fn gather(
    mut specs: Vec<Loaded>,
    sources: &mut SourceMap,
    project: Option<&Project>,
    read: &ReadFile,
    memory: Option<&Memory>,
) -> Gathered {
    let suites = suites(&mut specs, project, sources);
    let manifests = project.map(|project| {
        specs.par_iter_mut().for_each(|spec| spec.manifests = manifest_paths(spec, project, &suites, sources));
        let paths = specs.iter().flat_map(|spec| spec.manifests.iter().cloned()).collect();
        let nothing = Manifests::default();
        let known = memory.map_or(&nothing, Memory::manifests);
        known.read(&paths, read, &project.settings.output, sources)
    });
    let owners = Arc::new(specs.iter().filter_map(Loaded::name).collect());
    Gathered { specs, suites, manifests: manifests.unwrap_or_default(), owners }
}

/// Reads acknowledgements. Those with errors are reported; all texts are added to `sources`.
pub fn acks(files: Vec<Input>, sources: &mut SourceMap, diagnostics: &mut Diagnostics) -> Vec<Ack> {
    let mut acks = Vec::new();
    for file in files {
        let id = sources.add(Source::new(file.path, &file.bytes));
        let expected = [DocumentKind::Ack];
        if let Some((_, root)) = load::document(id, sources, &expected, document_schemas(), diagnostics) {
            acks.extend(lower::ack(Document { id, sources, root: &root, fragments: &[] }, diagnostics));
        }
    }
    acks
}

/// Returns the suites among the specs: a benchmark cannot be compiled before it is known who runs it.
fn suites(loaded: &mut [Loaded], project: Option<&Project>, sources: &SourceMap) -> Suites {
    let Some(project) = project else { return Suites::default() };
    Suites::new(loaded.iter_mut().filter_map(|spec| {
        let Some((DocumentKind::Suite, root)) = &spec.document else { return None };
        let document = Document { id: spec.id, sources, root, fragments: &[] };
        lower::suite(document, project, &mut spec.diagnostics)
    }))
}

/// Returns the paths of the manifests that a spec names.
fn manifest_paths(spec: &Loaded, project: &Project, suites: &Suites, sources: &SourceMap) -> BTreeSet<String> {
    match &spec.document {
        Some((DocumentKind::Benchmark, root)) => {
            let document = Document { id: spec.id, sources, root, fragments: &spec.fragments };
            lower::manifest_paths(document, project, suites)
        }
        _ => BTreeSet::new(),
    }
}

/// Gives findings the levels that the project sets, and drops those that it switched off.
fn at_levels(diagnostics: Diagnostics, project: Option<&Project>) -> Diagnostics {
    let Some(project) = project else { return diagnostics };
    let mut leveled = Diagnostics::default();
    leveled.extend(
        diagnostics
            .into_iter()
            .filter_map(|finding| Some(Diagnostic { severity: project.level(&finding)?, ..finding })),
    );
    leveled
}
