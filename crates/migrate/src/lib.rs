//! The benchmarks of kubeflow/kubebench as v1 specs, with a report of what became of every value. It reads and writes no file.
//!
//! ```text
//! texts ──yaml::read_manifest──▶ documents ──recognize──▶ formats ──▶ Draft ──▶ text of a spec
//!                                                            │
//!                                                            └──▶ Ledger: a line for each value
//! ```
//!
//! ```
//! use kubebench_migrate::{Given, Input, migrate};
//!
//! let job = "apiVersion: kubebench.operator/v1\nkind: KubebenchJob\nmetadata: {name: x}\nspec: {}\n";
//! let migration = migrate(&[Input { path: "job.yaml".into(), bytes: job.into(), given: Given::Named }], 0);
//! assert_eq!(migration.files.len(), 1);
//! ```

mod harness;
mod job;
mod job_fields;
mod kubebench_job;
mod ledger;
mod mpi;
mod params;
mod pod;
pub mod report;
mod spec_builder;
mod task_graph;
mod text;
mod unsupported_kinds;

use std::collections::BTreeSet;

use kubebench_compiler::lower::RESERVED_NAME;
use kubebench_format::schema::format::MAX_BENCHMARK_NAME;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Place, Severity, code};
use kubebench_syntax::text::{Source, SourceId, SourceMap, Span};
use kubebench_syntax::yaml::{self, Node};

use kubebench_syntax::invariant::Invariant as _;
use ledger::{At, Ledger};
pub use ledger::{Line, Outcome};
use spec_builder::Draft;

const NO_FORMAT: &str = "this is in no format of kubeflow/kubebench";

/// A file of kubeflow/kubebench.
#[derive(Clone, Debug)]
pub struct Input {
    /// Its path as shown to people, with `/` separators.
    pub path: String,
    /// Its content.
    pub bytes: Vec<u8>,
    /// How it came to be read.
    pub given: Given,
}

/// How a file came to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given {
    /// A person named it.
    Named,
    /// It is in a folder that a person named.
    Found,
    /// A person named it as the job config of what is migrated.
    JobConfig,
}

/// What became of all files.
#[derive(Debug, Default)]
pub struct Migration {
    /// The texts that places point into.
    pub sources: SourceMap,
    /// What is wrong with the files, and every value that is lost.
    pub diagnostics: Diagnostics,
    /// The files, in the order in which they were given.
    pub files: Vec<File>,
    /// The specs to be written.
    pub specs: Vec<NewSpec>,
    /// What else is left to do.
    pub advice: BTreeSet<String>,
}

/// What became of one file.
#[derive(Debug)]
pub struct File {
    pub path: String,
    /// The names of the benchmarks that it became, wholly or in part.
    pub benchmarks: Vec<String>,
    /// A line for each value, or for all values below one.
    pub lines: Vec<Line>,
}

/// A spec to be written.
#[derive(Debug)]
pub struct NewSpec {
    /// The name of its benchmark, and of its file.
    pub name: String,
    pub text: String,
    /// Where the benchmark is in the old file.
    pub place: Span,
    /// Whether something of it could not be carried over.
    pub is_lossy: bool,
    /// The findings about it.
    lost: Vec<Diagnostic>,
}

impl NewSpec {
    /// Returns the findings about values that are lost.
    pub fn lost(&self) -> &[Diagnostic] {
        &self.lost
    }
}

/// What a document holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    /// A KubebenchJob with a template and parameters.
    Job,
    /// A KubebenchJob that is a graph of tasks.
    Graph,
    /// Parameters of the ksonnet prototype.
    Ksonnet,
    /// Parameters of a template.
    Params(params::Params),
    /// The manifest of a job.
    Manifest,
    /// Something else that is known.
    Aside(&'static str),
    /// Something else.
    Unknown,
}

struct Document {
    file: usize,
    root: Node,
    format: Format,
}

/// Migrates `inputs` to specs that are `depth` folders below the project's.
pub fn migrate(inputs: &[Input], depth: usize) -> Migration {
    let mut work = Work { depth, ..Work::default() };
    for input in inputs {
        work.read(input);
    }
    let documents = std::mem::take(&mut work.documents);
    for (index, document) in documents.iter().enumerate() {
        work.benchmarks_of(index, document, &documents);
    }
    // A job that no KubebenchJob refers to is a separate benchmark.
    for (index, document) in documents.iter().enumerate() {
        if !work.job_configs.contains(&index) {
            work.alone(index, document);
        }
    }
    for (index, document) in documents.iter().enumerate() {
        work.settle(index, document, inputs);
    }
    work.finish(inputs, &documents)
}

/// A benchmark in the making, and the documents that it comes from.
struct Made {
    draft: Draft,
    place: Span,
    documents: Vec<usize>,
}

#[derive(Default)]
struct Work {
    depth: usize,
    sources: SourceMap,
    diagnostics: Diagnostics,
    documents: Vec<Document>,
    ledgers: Vec<Ledger>,
    used: BTreeSet<usize>,
    job_configs: BTreeSet<usize>,
    paths: Vec<String>,
    made: Vec<Made>,
}

impl Work {
    fn read(&mut self, input: &Input) {
        let is_jsonnet = [".libsonnet", ".jsonnet"].iter().any(|end| input.path.ends_with(end));
        let source = Source::new(input.path.as_str(), &input.bytes);
        let source = if is_jsonnet {
            Source::new(input.path.as_str(), without_comments(&source.text).as_bytes())
        } else {
            source
        };
        let file = self.paths.len();
        self.paths.push(input.path.clone());
        let id = self.sources.add(source);
        let Some(source) = self.sources.get(id) else { return };
        let read = yaml::read_manifest(id, source);
        let failed = read.diagnostics.iter().any(|fault| fault.severity == Severity::Error);
        self.diagnostics.extend(read.diagnostics);
        if failed {
            return;
        }
        for (number, root) in read.documents.into_iter().enumerate() {
            let format = recognize(&At::top(&root));
            if input.given == Given::JobConfig {
                self.job_configs.insert(self.documents.len());
            }
            self.documents.push(Document { file, root, format });
            self.ledgers.push(Ledger::new(number));
        }
    }

    /// Makes the benchmarks of a document that names what it runs.
    fn benchmarks_of(&mut self, index: usize, document: &Document, documents: &[Document]) {
        let top = At::top(&document.root);
        match document.format {
            Format::Job => {
                let draft = self.with(index, |ledger| kubebench_job::begin(&top, ledger));
                let (mut draft, from) = self.configured(index, &top, draft, documents);
                self.with(index, |ledger| kubebench_job::finish(&top, &mut draft, ledger));
                self.push(draft, &top, from);
            }
            Format::Ksonnet => {
                for params in ksonnet_parts(&top) {
                    let draft = self.with(index, |ledger| kubebench_job::begin_ksonnet(&params, ledger));
                    let (mut draft, from) = self.configured(index, &params, draft, documents);
                    self.with(index, |ledger| kubebench_job::finish_ksonnet(&params, &mut draft, ledger));
                    self.push(draft, &params, from);
                }
            }
            Format::Graph => {
                let draft = self.with(index, |ledger| task_graph::begin(&top, ledger));
                let (mut draft, from) = self.manifest_of(index, &top, draft, documents);
                self.with(index, |ledger| task_graph::finish(&top, &mut draft, ledger));
                let parameters = draft.parameters.clone();
                draft.look_up(&|text| {
                    text.contains("{{").then(|| task_graph::with_lookups(text, &parameters)).flatten()
                });
                self.push(draft, &top, from);
            }
            Format::Params(_) | Format::Manifest | Format::Aside(_) | Format::Unknown => {}
        }
    }

    fn with<T>(&mut self, index: usize, act: impl FnOnce(&mut Ledger) -> T) -> T {
        act(self.ledgers.get_mut(index).expected("a ledger of each document"))
    }

    /// Adds the workload of the file of parameters that a KubebenchJob names.
    fn configured(&mut self, index: usize, top: &At<'_>, draft: Draft, documents: &[Document]) -> (Draft, Vec<usize>) {
        let wanted = kubebench_job::wanted_config(top);
        let path = wanted.as_ref().and_then(At::text);
        let Some(found) = self.config(path, documents) else {
            match &wanted {
                Some(at) => {
                    let said = format!(
                        "no file of this name is among those given; pass it: `--job-config {}`",
                        path.unwrap_or("FILE")
                    );
                    self.with(index, |ledger| ledger.missing(at, said));
                }
                None => self.without_workload(top),
            }
            return (draft, vec![index]);
        };
        if documents.get(found).is_some_and(|document| matches!(document.format, Format::Params(_))) {
            self.with(index, |ledger| kubebench_job::judge_template(top, ledger));
        }
        let draft = self.use_config(found, draft, documents);
        (draft, vec![index, found])
    }

    fn without_workload(&mut self, top: &At<'_>) {
        let fault = Diagnostic::at(&code::KB0436, top.place(), "this does not describe a job to measure");
        self.diagnostics.push(fault.help("pass the parameters or the manifest of the job: `--job-config FILE`"));
    }

    /// Adds what a document that describes a job says.
    fn use_config(&mut self, found: usize, draft: Draft, documents: &[Document]) -> Draft {
        let Some(document) = documents.get(found) else { return draft };
        let top = At::top(&document.root);
        let mut again = Ledger::default();
        let is_new = self.used.insert(found);
        // The lines of a file that two jobs share are reported once.
        let ledger = self.ledgers.get_mut(found).filter(|_| is_new).unwrap_or(&mut again);
        described(document.format, &top, draft, ledger)
    }

    /// Returns the document that describes the job at `path` on a volume of kubeflow/kubebench.
    fn config(&self, path: Option<&str>, documents: &[Document]) -> Option<usize> {
        let configs: Vec<usize> = documents
            .iter()
            .enumerate()
            .filter(|(_, document)| matches!(document.format, Format::Params(_) | Format::Manifest))
            .map(|(index, _)| index)
            .collect();
        let path_of = |index: usize| {
            documents.get(index).and_then(|document| self.paths.get(document.file)).map_or("", String::as_str)
        };
        let chosen = configs.iter().copied().find(|index| self.job_configs.contains(index));
        let path = path.map(|path| path.trim_start_matches('/'));
        let ends = |index: &usize| {
            path.is_some_and(|path| path_of(*index) == path || path_of(*index).ends_with(&format!("/{path}")))
        };
        let exact: Vec<usize> = configs.iter().copied().filter(ends).collect();
        let last = |path: &str| path.rsplit('/').next().expected("a last part of every split").to_owned();
        let named: Vec<usize> = configs
            .iter()
            .copied()
            .filter(|index| path.is_some_and(|path| last(path_of(*index)) == last(path)))
            .collect();
        // Two files of one name leave open which one is meant.
        let only = |found: &[usize]| if let [one] = found { Some(*one) } else { None };
        chosen.or_else(|| only(&exact)).or_else(|| only(&named))
    }

    /// Adds the workload of the manifest that a graph of tasks has.
    fn manifest_of(
        &mut self,
        index: usize,
        top: &At<'_>,
        mut draft: Draft,
        documents: &[Document],
    ) -> (Draft, Vec<usize>) {
        match task_graph::manifest(top) {
            None => {}
            Some(task_graph::Manifest::Inline(at)) => {
                let objects = self.with(index, |ledger| task_graph::documents(&at, ledger));
                for (number, object) in objects.iter().enumerate() {
                    let inside = at.inside(object, number);
                    let is_job = recognize(&inside) == Format::Manifest && draft.workload.is_none();
                    draft = self.with(index, |ledger| {
                        if !is_job {
                            ledger.lost(&inside, "a spec creates one job; apply this object yourself, before the runs");
                            return draft;
                        }
                        let draft = job::draft(&inside, draft, ledger);
                        ledger.settle(&inside, UNKNOWN);
                        draft
                    });
                }
            }
            Some(task_graph::Manifest::File(at)) => {
                if let Some(found) = self.config(at.text(), documents) {
                    let draft = self.use_config(found, draft, documents);
                    return (draft, vec![index, found]);
                }
                let path = at.text().unwrap_or("FILE");
                let said = format!("no file of this name is among those given; pass it: `--job-config {path}`");
                self.with(index, |ledger| ledger.missing(&at, said));
            }
        }
        (draft, vec![index])
    }

    /// Makes a benchmark of a job that no KubebenchJob refers to.
    fn alone(&mut self, index: usize, document: &Document) {
        if !matches!(document.format, Format::Params(_) | Format::Manifest) || !self.used.insert(index) {
            return;
        }
        let top = At::top(&document.root);
        let draft = self.with(index, |ledger| described(document.format, &top, Draft::default(), ledger));
        self.push(draft, &top, vec![index]);
    }

    fn push(&mut self, mut draft: Draft, top: &At<'_>, documents: Vec<usize>) {
        if draft.name.is_empty() {
            let path = self.sources.get(top.place().source).map_or("", |source| source.path.as_str());
            let stem = path.rsplit('/').next().expected("a last part of every split");
            let stem = stem.split('.').next().expected("a first part of every split");
            draft.name = name_like(stem);
        }
        self.made.push(Made { draft, place: top.place(), documents });
    }

    fn settle(&mut self, index: usize, document: &Document, inputs: &[Input]) {
        let top = At::top(&document.root);
        let is_named = inputs.get(document.file).is_some_and(|input| input.given != Given::Found);
        let Some(ledger) = self.ledgers.get_mut(index) else { return };
        match document.format {
            Format::Aside(why) => ledger.dropped(&top, why),
            Format::Unknown if is_named => {
                let fault = Diagnostic::at(&code::KB0431, top.place(), NO_FORMAT)
                    .note(
                        "the known formats are KubebenchJobs, parameters of its templates, and manifests of a TFJob, \
                         PyTorchJob, MPIJob or Job",
                    )
                    .help("render templates first (`ks show`, `helm template`), and pass the output");
                self.diagnostics.push(fault);
                ledger.lost(&top, NO_FORMAT);
            }
            Format::Unknown => ledger.dropped(&top, "it holds no benchmark in a format of kubeflow/kubebench"),
            _ => ledger.settle(&top, UNKNOWN),
        }
    }

    fn finish(self, inputs: &[Input], documents: &[Document]) -> Migration {
        let Self { depth, sources, mut diagnostics, ledgers, made, .. } = self;
        let mut files: Vec<File> = inputs
            .iter()
            .map(|input| File { path: input.path.clone(), benchmarks: Vec::new(), lines: Vec::new() })
            .collect();
        let lines: Vec<Vec<Line>> = ledgers.into_iter().map(Ledger::into_lines).collect();
        let mut specs: Vec<NewSpec> = Vec::new();
        let mut advice = BTreeSet::new();
        let mut spoken_of = BTreeSet::new();
        for Made { draft, place, documents: from } in made {
            let lost: Vec<Diagnostic> =
                from.iter().filter_map(|index| lines.get(*index)).flatten().filter_map(finding).collect();
            spoken_of.extend(from.iter().copied());
            let path = sources.get(place.source).map_or("", |source| source.path.as_str());
            if let Some(first) = specs.iter().find(|spec| spec.name == draft.name) {
                let fault =
                    Diagnostic::at(&code::KB0433, place, format!("another benchmark is also called `{}`", draft.name))
                        .related(Place::Span(first.place), "the other one")
                        .help("give one of them another `metadata.name`, or migrate their files one by one");
                diagnostics.push(fault);
                diagnostics.extend(lost);
                continue;
            }
            let Some(text) = draft.spec(path, depth) else {
                diagnostics.extend(lost);
                continue;
            };
            for document in from.iter().filter_map(|index| documents.get(*index)) {
                let file = files.get_mut(document.file).filter(|file| !file.benchmarks.contains(&draft.name));
                if let Some(file) = file {
                    file.benchmarks.push(draft.name.clone());
                }
            }
            advice.extend(draft.advice);
            specs.push(NewSpec { name: draft.name, text: formatted(&text), place, is_lossy: !lost.is_empty(), lost });
        }
        for (index, (document, lines)) in documents.iter().zip(lines).enumerate() {
            // Of an unknown file there is one finding already.
            if !spoken_of.contains(&index) && document.format != Format::Unknown {
                diagnostics.extend(lines.iter().filter_map(finding));
            }
            if let Some(file) = files.get_mut(document.file) {
                file.lines.extend(lines);
            }
        }
        Migration { sources, diagnostics, files, specs, advice }
    }
}

const UNKNOWN: &str = "neither kubeflow/kubebench nor Kubebench has such a field";

/// Returns the finding about a value that is lost.
fn finding(line: &Line) -> Option<Diagnostic> {
    (line.outcome == Outcome::Lost).then(|| {
        let message = format!("`{}` could not be carried over", line.path());
        Diagnostic::at(line.code, line.place, message).note(line.said.clone())
    })
}

fn recognize(top: &At<'_>) -> Format {
    let text = |key: &str| top.get(key).and_then(|at| at.text()).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    if kind == "KubebenchJob" {
        return if task_graph::is_graph(top) { Format::Graph } else { Format::Job };
    }
    if job::is_job(api_version, kind) {
        return Format::Manifest;
    }
    if let Some(why) = unsupported_kinds::why(top) {
        return Format::Aside(why);
    }
    if let Some(kind) = params::recognize(top) {
        return Format::Params(kind);
    }
    if ksonnet_parts(top).is_empty() { Format::Unknown } else { Format::Ksonnet }
}

/// Returns the parameters of `kubebench-job` in a document: the document itself, or components of a `params.libsonnet`.
fn ksonnet_parts<'n>(top: &At<'n>) -> Vec<At<'n>> {
    if kubebench_job::is_ksonnet(top) {
        return vec![top.clone()];
    }
    let components = top.entries_of("components");
    components.into_iter().map(|(_, at)| at).filter(kubebench_job::is_ksonnet).collect()
}

/// Adds what a document that describes a job says.
fn described(format: Format, top: &At<'_>, draft: Draft, ledger: &mut Ledger) -> Draft {
    match format {
        Format::Params(kind) => params::draft(kind, top, draft, ledger),
        Format::Manifest => job::draft(top, draft, ledger),
        _ => draft,
    }
}

/// Reads the name of a benchmark.
fn named(at: &At<'_>, draft: &mut Draft, ledger: &mut Ledger) {
    let Some(text) = at.text().filter(|text| !text.is_empty()) else {
        return ledger.lost(at, "this is not a name");
    };
    draft.name = name_like(text);
    if draft.name == text {
        ledger.kept(at, "`metadata.name`");
    } else {
        ledger.changed(
            at,
            format!("`metadata.name: {}`: at most {MAX_BENCHMARK_NAME} lower-case letters, digits and `-`", draft.name),
        );
    }
}

/// Returns the name of a benchmark that comes closest to `text`.
fn name_like(text: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let name: String = text.chars().map(fits).collect();
    let mut name = name.trim_matches('-').to_owned();
    if !name.starts_with(|c: char| c.is_ascii_lowercase()) || name == RESERVED_NAME {
        name = format!("benchmark-{name}");
    }
    name.truncate(MAX_BENCHMARK_NAME);
    name.trim_matches('-').to_owned()
}

/// Returns the text as `fmt` writes it.
fn formatted(text: &str) -> String {
    let source = Source::new("spec", text.as_bytes());
    yaml::format::format(SourceId::default(), &source).unwrap_or_else(|_| text.to_owned())
}

/// Returns Jsonnet without lines that are only comments, which YAML does not know.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let is_comment = line.trim_start().starts_with("//");
        line.chars().map(|c| if is_comment && c != '\n' { ' ' } else { c }).collect::<String>()
    };
    text.split_inclusive('\n').map(line).collect()
}

#[cfg(test)]
mod tests;
