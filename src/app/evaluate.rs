//! Results by what specs demand of them: a project with its gates, results, acknowledgements and commits, and the questions that it
//! answers.

mod acknowledge;
mod baseline;
mod beginning;
mod checked_out;
mod compare;
mod gate;
mod held;
mod history;
mod recorded;
mod report;
mod scaling;
mod specs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::app::places::folder_of;
use crate::app::project::{CompiledProject, Pods, Project, Selector};
use crate::app::results::{self, Reading, ResultsPlace, Uncounted};
use crate::app::start::{Start, VERSION};
use kubebench_attestation::{Counted, Key};
use kubebench_compiler::compile::{Input, Workspace, acks};
use kubebench_compiler::model::Benchmark;
use kubebench_compiler::model::target::{ResultsSettings, Settings};
use kubebench_compiler::weakened::together;
use kubebench_format::attestation::v1::Signatures;
use kubebench_format::result::{Ack, labelled};
use kubebench_git::Commits;
use kubebench_host::fs::{self, Content};
use kubebench_report::ExpectedBenchmark;
use kubebench_results::compare::model::LeftOut;
use kubebench_results::compare::render::Subject;
use kubebench_results::compare::{Lineage, Policies, Rule, sequences, words};
use kubebench_results::dataset::{Dataset, Partition, Row};
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code, nearest};
use kubebench_syntax::text::{SourceMap, Span};
use kubebench_syntax::unit::MetricSelector;

pub use acknowledge::{
    ANY_CHANGE, AckAllQuery, AckQuery, Acknowledged, Acknowledgement, AllAcknowledged, Written, caution,
};
pub use baseline::{DefaultBaseline, ResultCommits, Unreachable, add_baselines};
pub use compare::{CompareQuery, SidesCompared};
pub use gate::{BadFiles, Decides, GateQuery, GatesEvaluated, PassOrFail};
pub use history::{Histories, HistoryQuery, MetricQuery};
pub use report::{Report, ReportQuery};
pub use scaling::{Scaling, ScalingQuery};

/// The folder of acknowledgements, below the project's.
pub const ACKS: &str = "acks";

/// Where the metrics of specs are, by benchmark and metric.
pub type Places = BTreeMap<(String, String), Span>;

/// A project whose results are evaluated, and what was read of them.
pub struct Evaluation {
    start: Start,
    /// The folder of the project.
    pub root: PathBuf,
    /// Its name; nothing without a project file.
    pub name: Option<String>,
    /// Where the site of its results is.
    pub site: Option<String>,
    /// The facts that do not keep results apart.
    pub across: BTreeSet<String>,
    /// The gates of its specs, and where their metrics are.
    pub rules: Vec<(Rule, Span)>,
    /// The benchmarks of its specs.
    pub expected: Vec<ExpectedBenchmark>,
    /// What its specs say of metrics.
    pub policies: Policies,
    /// Where they say it.
    pub places: Places,
    /// The texts into which findings point.
    pub sources: SourceMap,
    /// The results that count; none before they are read.
    pub dataset: Dataset,
    /// When the newest result began, of whatever benchmark.
    newest: String,
    /// The result files that do not count, and why.
    pub left_out: Vec<LeftOut>,
    /// The same as findings.
    pub diagnostics: Diagnostics,
    /// What is wrong with its specs.
    pub faults: Diagnostics,
    /// The project, where it can be compiled.
    pub project: Option<CompiledProject>,
    /// Why there is none.
    no_project: Option<String>,
    /// How results were read, a line a folder.
    pub readings: Vec<String>,
    /// The folder of generated files, below the project's.
    pub output: String,
    /// The folder of results, below the project's.
    pub directory: String,
    /// From when on regressions count, as the project file says it.
    judge_from: Option<String>,
    /// Where results are recorded, unless that is the branch that is checked out.
    recording: Option<ResultsSettings>,
    recorded: recorded::Recorded,
    /// What its base demands, where a change is evaluated.
    change: Option<held::HeldChange>,
    /// The folder of results that was read.
    folder: Option<PathBuf>,
    /// The keys by which signatures are checked.
    pub(super) keys: Vec<Key>,
    /// Which results count.
    pub(super) counted: Counted,
    /// Which do not count for want of a signature.
    uncounted: Uncounted,
    /// Envelopes of results that are not there.
    pub orphans: Vec<String>,
    /// What sessions are of whose commits no branch has.
    pub unreachable: Unreachable,
}

/// Refuses metrics that are not among the known ones: an answer about them would be empty, and look like one.
pub fn refuse_unknown<'a, I: Iterator<Item = (&'a str, &'a BTreeMap<String, String>)>>(
    metrics: &[MetricSelector],
    known: impl Fn() -> I,
) -> Result<()> {
    let is_known = |metric: &&MetricSelector| known().any(|(name, labels)| metric.has(name, labels));
    let Some(unknown) = metrics.iter().find(|metric| !is_known(metric)) else { return Ok(()) };
    let of_name: BTreeSet<String> =
        known().filter(|(name, _)| *name == unknown.name()).map(|(name, labels)| labelled(name, labels)).collect();
    let known: BTreeSet<&str> = if of_name.is_empty() {
        known().map(|(name, _)| name).collect()
    } else {
        of_name.iter().map(String::as_str).collect()
    };
    if known.is_empty() {
        bail!("no result has the metric `{unknown}`: no result counts");
    }
    bail!("no result has the metric `{unknown}`; results have {}", listed(known))
}

/// Returns what comments of pull requests about the project at `root` are found by. Outside of a repository there is no other one.
pub fn subject(root: &Path, name: Option<String>) -> Subject {
    Subject { folder: folder_of(root), name }
}

/// Reads the acknowledgements of the project at `root`; what is wrong with them is added to `found`.
pub fn acks_of(root: &Path, sources: &mut SourceMap, found: &mut Diagnostics) -> Vec<Ack> {
    let mut inputs = Vec::new();
    for fs::Read { path, content } in fs::read_sources(root, &[ACKS.to_owned()]) {
        match content {
            Content::Whole(bytes) | Content::TooLong(bytes) => inputs.push(Input { path, bytes }),
            Content::Refused(reason) | Content::Unreadable(reason) => {
                let message = format!("the file cannot be read: {reason}");
                found.push(Diagnostic::in_file(&code::KB0114, path, message));
            }
            Content::Absent | Content::Misnamed => {}
        }
    }
    acks(inputs, sources, found)
}

impl Evaluation {
    /// Opens the project around `start` with its specs as far as they compile: a comparison needs none.
    pub fn open(start: &Start) -> Result<Self> {
        let project = Project::find(start)?;
        let workspace = Workspace::open(project.file.clone(), VERSION);
        let settings = workspace.project().map(|project| &project.settings);
        let mut evaluation = Self::new(start, project.root, settings, workspace.results_dir());
        match CompiledProject::open(start, &Selector::default(), Pods::Kept) {
            Ok(project) => {
                evaluation.faults = project.diagnostics();
                evaluation.take_specs(project);
            }
            // Results are read without a project too.
            Err(error) if project.file.is_none() => evaluation.no_project = Some(format!("{error:#}")),
            Err(error) => return Err(error),
        }
        Ok(evaluation)
    }

    /// Says which files keep gates and directions from being known.
    pub fn note_of_faults(&self) -> Option<String> {
        let errors = self.faults.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
        let files: BTreeSet<&str> = errors.map(|fault| fault.path(&self.sources)).collect();
        let first = files.first()?;
        let who = match files.len() {
            1 => format!("{first} has errors"),
            count => format!("{count} files have errors (the first is {first})"),
        };
        Some(format!(
            "{who}: results are shown without their thresholds and directions; `kubebench validate` lists the errors"
        ))
    }

    /// Takes what was selected of a project that compiles.
    pub fn of(start: &Start, project: CompiledProject) -> Result<Self> {
        let settings = &project.compilation.project.as_ref().context("there is no project")?.settings;
        let directory = settings.results.directory.clone();
        let mut evaluation = Self::new(start, project.root.clone(), Some(settings), directory);
        evaluation.take_specs(project);
        Ok(evaluation)
    }

    /// A project before its specs and results are read; `settings` are those of a project file that can be read.
    fn new(start: &Start, root: PathBuf, settings: Option<&Settings>, directory: String) -> Self {
        Self {
            start: start.clone(),
            root,
            name: settings.and_then(|settings| settings.name.clone()),
            site: settings.and_then(|settings| settings.report_url.clone()),
            across: settings.map(|settings| settings.compare_across.clone()).unwrap_or_default(),
            output: settings.map_or_else(|| "generated".to_owned(), |settings| settings.output.clone()),
            directory,
            judge_from: settings.and_then(|settings| settings.judge_from.clone()),
            recording: settings.map(|settings| settings.results.clone()).filter(|results| results.mode != "local"),
            recorded: recorded::Recorded::default(),
            change: None,
            folder: None,
            rules: Vec::new(),
            expected: Vec::new(),
            policies: Policies::default(),
            places: Places::new(),
            sources: SourceMap::default(),
            dataset: Dataset::default(),
            left_out: Vec::new(),
            diagnostics: Diagnostics::default(),
            faults: Diagnostics::default(),
            newest: String::new(),
            project: None,
            no_project: None,
            readings: Vec::new(),
            keys: settings.map(|settings| settings.results.keys.clone()).unwrap_or_default(),
            counted: settings.map_or(Counted::All, |settings| settings.results.counted),
            uncounted: Uncounted::default(),
            orphans: Vec::new(),
            unreachable: Unreachable::Apart,
        }
    }

    fn take_specs(&mut self, project: CompiledProject) {
        self.sources = project.compilation.sources.clone();
        for benchmark in project.benchmarks().into_iter().map(|compiled| &compiled.benchmark) {
            self.rules.extend(together(benchmark).iter().map(|held| specs::rule(benchmark, &held.gate)));
            self.take_policies(benchmark);
            self.expected.push(specs::expected(benchmark));
        }
        self.project = Some(project);
    }

    /// Returns the names that targets have now by those that they had.
    pub fn former_targets(&self) -> BTreeMap<String, String> {
        let project = self.project.as_ref().and_then(|project| project.compilation.project.as_ref());
        project.map(kubebench_compiler::lower::Project::former_targets).unwrap_or_default()
    }

    /// Reads the results of a place by the rules that specs have now.
    fn reading(&mut self, place: &ResultsPlace<'_>) -> Result<Reading> {
        let rules = || self.project.as_ref().map(CompiledProject::current_rules).unwrap_or_default();
        let mut reading = results::read(place, &self.keys, self.counted, &rules, &mut self.sources)?;
        reading.dataset.rename_targets(&self.former_targets());
        self.uncounted.extend(std::mem::take(&mut reading.uncounted));
        self.orphans.append(&mut reading.orphans);
        self.readings.push(reading.how.clone());
        Ok(reading)
    }

    /// Returns the folders into which nothing about the results may be written: those of acknowledgements, results and generated files,
    /// and the `results` that a person named.
    pub fn kept_folders(&self, results: &[&Path]) -> Result<Vec<String>> {
        let mut kept = vec![self.output.clone(), self.directory.clone(), ACKS.to_owned()];
        for folder in results {
            let place = std::path::absolute(self.start.path(folder))
                .with_context(|| format!("cannot resolve the folder {}", folder.display()))?;
            kept.push(place.to_string_lossy().into_owned());
        }
        Ok(kept)
    }

    /// Forgets all but these benchmarks; nothing where none are named.
    pub fn keep(&mut self, benchmarks: &[String]) -> Result<()> {
        if benchmarks.is_empty() {
            return Ok(());
        }
        let dataset = &self.dataset;
        let own = dataset.places(|row| benchmarks.contains(&dataset.subject(row).benchmark));
        let names = |at: &usize| dataset.rows().get(*at).map(|row| row.path.clone());
        let paths: BTreeSet<String> = own.iter().filter_map(names).collect();
        self.refuse_unknown_benchmarks(benchmarks)?;
        self.dataset.retain(|row| paths.contains(&row.path));
        self.left_out.retain(|file| benchmarks.iter().any(|name| is_of(&file.path, name)));
        let left_out: BTreeSet<&str> = self.left_out.iter().map(|file| file.path.as_str()).collect();
        let diagnostics = std::mem::take(&mut self.diagnostics);
        let is_kept = |fault: &Diagnostic| ends_with_any(fault.path(&self.sources), &left_out);
        self.diagnostics = diagnostics.into_iter().filter(is_kept).collect();
        self.expected.retain(|expected| benchmarks.contains(&expected.benchmark));
        self.rules.retain(|(rule, _)| benchmarks.contains(&rule.benchmark));
        Ok(())
    }

    /// Refuses benchmarks that there are not.
    pub fn refuse_unknown_benchmarks(&self, benchmarks: &[String]) -> Result<()> {
        let dataset = &self.dataset;
        let measured = dataset.rows().iter().map(|row| dataset.subject(row).benchmark.as_str());
        let known: BTreeSet<&str> =
            measured.chain(self.expected.iter().map(|expected| expected.benchmark.as_str())).collect();
        let Some(unknown) = benchmarks.iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
        let near = nearest(unknown, known);
        bail!("there is no benchmark `{unknown}`, neither in a spec nor in a result{near}");
    }

    /// Refuses metrics that no result has.
    pub fn refuse_unknown(&self, metrics: &[MetricSelector]) -> Result<()> {
        refuse_unknown(metrics, || {
            let rows = self.dataset.rows().iter();
            rows.flat_map(|row| self.dataset.metrics(row))
                .map(|(definition, _)| (definition.name.as_str(), &definition.labels))
        })
    }

    /// Adds all results of another folder as they are, and returns their places.
    pub fn add(&mut self, place: &ResultsPlace<'_>) -> Result<BTreeSet<usize>> {
        let first = self.dataset.rows().len();
        self.take(place)?;
        self.question_unsigned();
        Ok((first..self.dataset.rows().len()).collect())
    }

    /// Leaves out the results that would be the newest of their cases and do not count for want of a signature, each with a finding.
    fn question_unsigned(&mut self) {
        self.uncounted.forget(&self.dataset);
        let known: BTreeSet<String> = self.left_out.iter().map(|file| file.path.clone()).collect();
        for (path, fault) in self.uncounted.newest(&self.dataset) {
            if !known.contains(&path) {
                self.left_out.push(LeftOut { path, code: fault.code.id.to_owned(), message: fault.message.clone() });
                self.diagnostics.push(fault);
            }
        }
    }

    /// Adds all results of a place as they are.
    fn take(&mut self, place: &ResultsPlace<'_>) -> Result<()> {
        let Reading { dataset: more, left_out, diagnostics, .. } = self.reading(place)?;
        self.left_out.extend(left_out);
        self.diagnostics.extend(diagnostics);
        if self.dataset.rows().is_empty() {
            self.dataset = more;
        } else {
            more.rows().iter().for_each(|row| self.dataset.adopt(row.clone(), &more));
        }
        self.settle();
        Ok(())
    }

    /// Adds those results of another place that are not known yet, and returns the digests of all that it has: a run that is in both
    /// counts once.
    pub fn join(&mut self, place: &ResultsPlace<'_>) -> Result<BTreeSet<String>> {
        let mut more = self.reading(place)?;
        let known: BTreeSet<&str> = self.dataset.rows().iter().map(|row| row.digest.as_str()).collect();
        let new: Vec<&Row> = more.dataset.rows().iter().filter(|row| !known.contains(row.digest.as_str())).collect();
        let own: BTreeSet<String> = self.dataset.rows().iter().map(|row| row.path.clone()).collect();
        let theirs: BTreeSet<String> = new.iter().map(|row| row.path.clone()).collect();
        let digests: BTreeSet<String> = more.dataset.rows().iter().map(|row| row.digest.clone()).collect();
        for row in new {
            self.dataset.adopt(row.clone(), &more.dataset);
        }
        self.dataset.note_known(&digests);
        self.dataset.note_signatures(&more.dataset);
        let rules = || self.project.as_ref().map(CompiledProject::current_rules).unwrap_or_default();
        let names = |path: &str| {
            let here = own.contains(path).then(|| format!("{}/{path}", self.directory));
            here.into_iter().chain(theirs.contains(path).then(|| place.shown(path))).collect()
        };
        more.doubts_of(&mut self.dataset, &rules, &names);
        self.settle();
        self.left_out.extend(more.left_out);
        self.diagnostics.extend(more.diagnostics);
        Ok(digests)
    }

    /// Reads what the project accepts: its acknowledgements, and all that began before `judgeFrom`; what is wrong with the former is added
    /// to `found`.
    pub fn acks(&mut self, found: &mut Diagnostics) -> Result<Vec<Ack>> {
        let mut acks = acks_of(&self.root, &mut self.sources, found);
        self.hold_acks(&mut acks)?;
        let names = self.former_targets();
        for target in acks.iter_mut().filter_map(|ack| ack.target.as_mut()) {
            if let Some(name) = names.get(target) {
                target.clone_from(name);
            }
        }
        if let Some(from) = &self.judge_from {
            acks.push(beginning::before(from, self.commits()?.as_deref())?);
        }
        Ok(acks)
    }

    /// Counts who recorded the results, where there are keys to check that by, and says it in words.
    pub fn signatures(&self) -> (Option<Signatures>, Option<String>) {
        let counts = (!self.keys.is_empty()).then(|| self.uncounted.beside(&self.dataset));
        let note = counts.as_ref().and_then(|counts| self.uncounted.note(counts));
        (counts, note)
    }

    /// Returns whether there is no result file, whether it counts or not.
    pub fn has_no_results(&self) -> bool {
        self.dataset.rows().is_empty() && self.left_out.is_empty()
    }

    /// Opens the repository of the project; nothing where there is none.
    pub fn commits(&self) -> Result<Option<ResultCommits>> {
        let commits = Commits::open(&self.root, &self.output, &self.directory)?;
        Ok(commits.map(|commits| ResultCommits::new(commits, &self.dataset, self.unreachable, self.former_targets())))
    }

    /// Returns the sessions of all results, in the order of these commits.
    pub fn sequences(&self, lineage: Option<&Lineage>) -> Vec<Partition> {
        sequences(&self.dataset, 0..self.dataset.rows().len(), &self.across, lineage)
    }

    /// Returns what comments of pull requests about the project are found by.
    pub fn subject(&self) -> Subject {
        subject(&self.root, self.name.clone())
    }

    /// Returns the day of the newest result, on which acknowledgements are evaluated: the same one whatever part of the results is kept.
    pub fn as_of(&self) -> String {
        words::day(&self.newest).to_owned()
    }

    /// Notes the newest result, and lets each metric have one unit, after results were added.
    fn settle(&mut self) {
        self.dataset.unify_units(|benchmark, metric, labels| self.policies.unit(benchmark, metric, labels));
        let newest = self.dataset.rows().iter().map(|row| row.started_at.as_str()).max().unwrap_or_default();
        self.newest = self.newest.as_str().max(newest).to_owned();
    }

    /// Adds what a spec says of metrics and of their gates.
    fn take_policies(&mut self, benchmark: &Benchmark) {
        let mut place = |name: &str, span: Span| {
            self.places.entry((benchmark.name.clone(), name.to_owned())).or_insert(span);
        };
        for metric in &benchmark.metrics {
            metric.brought().iter().for_each(|(selector, _)| place(selector.name(), metric.span));
        }
        for gate in &benchmark.gates {
            place(MetricSelector::of(&gate.metric).name(), gate.span);
        }
        specs::state(&mut self.policies, benchmark);
    }
}

/// Returns what the specs of the project around `start` say of metrics; nothing where no project compiles.
pub(super) fn policies_around(start: &Start) -> Policies {
    let mut policies = Policies::default();
    if let Ok(project) = CompiledProject::open(start, &Selector::default(), Pods::Kept) {
        project.benchmarks().into_iter().for_each(|compiled| specs::state(&mut policies, &compiled.benchmark));
    }
    policies
}

/// Returns whether a path is one of these below a folder.
fn ends_with_any(path: &str, ends: &BTreeSet<&str>) -> bool {
    path.match_indices('/').any(|(at, _)| path.get(at + 1..).is_some_and(|end| ends.contains(end)))
}

/// Returns whether a path below the results folder is of this benchmark.
fn is_of(path: &str, benchmark: &str) -> bool {
    path.split_once('/').is_some_and(|(own, _)| own == benchmark)
}
