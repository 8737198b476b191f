//! What the commands that judge results start from: the project with its gates, its results, acknowledgements and commits.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};

use super::ExitStatus;
use super::args::{Global, SelectArgs};
use super::findings::{self, Findings, Output, refuse_place, refuse_report_places};
use super::project::{Project, VERSION, from_start};
use super::reading::{self, Reading, Results};
use super::session::{Session, current_rules};
use kubebench_compiler::compile::{Compilation, Input, Workspace, acks};
use kubebench_compiler::model::target::{ResultsSettings, Settings};
use kubebench_compiler::model::{Benchmark, Gate, GateBaseline};
use kubebench_format::result::Ack;
use kubebench_git::{Commits, Reached};
use kubebench_host::fs::{self, Content};
use kubebench_report::Asked;
use kubebench_results::archive::Archive;
use kubebench_results::compare::v1::LeftOut;
use kubebench_results::compare::{Against, Lineage, Policies, Rule, Side, Stated, words};
use kubebench_results::verdict::DEFAULT_THRESHOLD;
use kubebench_syntax::diag::render::listed;
use kubebench_syntax::diag::{Diagnostic, Diagnostics, Severity, code, nearest};
use kubebench_syntax::text::{SourceMap, Span};

/// The label by which nodes say what they are.
const INSTANCE_TYPE: &str = "node.kubernetes.io/instance-type";

/// The folder of acknowledgements, below the project's.
pub(super) const ACKS: &str = "acks";

/// Where the metrics of specs stand, by benchmark and metric.
pub(super) type Places = BTreeMap<(String, String), Span>;

/// A project whose results are judged, and what was read of them.
pub(super) struct Judging<'a> {
    global: &'a Global,
    /// The folder of the project.
    pub(super) root: PathBuf,
    /// The facts that do not keep results apart.
    pub(super) across: BTreeSet<String>,
    /// The gates of its specs, and where their metrics stand.
    pub(super) rules: Vec<(Rule, Span)>,
    /// What its specs ask for.
    pub(super) asked: Vec<Asked>,
    /// What its specs say of metrics.
    pub(super) policies: Policies,
    /// Where they say it.
    pub(super) places: Places,
    /// The texts into which findings point.
    pub(super) sources: SourceMap,
    /// The results that count; none before they are read.
    pub(super) archive: Archive,
    /// When the newest result began, of whatever benchmark.
    newest: String,
    /// The result files that do not count, and why.
    pub(super) left_out: Vec<LeftOut>,
    /// The same as findings.
    pub(super) diagnostics: Diagnostics,
    /// What is wrong with its specs.
    faults: Diagnostics,
    /// The specs, as far as they compile.
    compilation: Option<Compilation>,
    /// The folder of generated files, below the project's.
    pub(super) output: String,
    /// The folder of results, below the project's.
    pub(super) directory: String,
    /// The branch on which results are recorded, where it is one of their own.
    pub(super) recorded_on: Option<String>,
}

/// The commits whose sessions are the baseline where nobody asks for others.
pub(super) enum Usual {
    /// Those of the default branch.
    Known {
        /// As `--baseline` names it: `branch:main`.
        name: String,
        /// Its commits.
        lineage: Lineage,
    },
    /// There is no repository, so that all sessions count.
    NoRepository,
    /// There is one, and nobody knows which branch is the default.
    NoBranch,
}

/// Refuses metrics that are not among the known ones: an answer about them would be empty, and look like one.
pub(super) fn refuse_unknown<'a, I: Iterator<Item = &'a str>>(metrics: &[String], known: impl Fn() -> I) -> Result<()> {
    let Some(unknown) = metrics.iter().find(|name| !known().any(|own| own == name.as_str())) else { return Ok(()) };
    let known: BTreeSet<&str> = known().collect();
    if known.is_empty() {
        bail!("no result has the metric `{unknown}`: there is no result that counts");
    }
    bail!("no result has the metric `{unknown}`; there are {}", listed(known))
}

/// Reads the acknowledgements of the project at `root`; what is wrong with them is added to `found`.
pub(super) fn acks_of(root: &Path, sources: &mut SourceMap, found: &mut Diagnostics) -> Vec<Ack> {
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

impl<'a> Judging<'a> {
    /// Opens the project at hand with its specs as far as they compile: a comparison needs none.
    pub(super) fn open(global: &'a Global) -> Result<Self> {
        let project = Project::find(global)?;
        let workspace = Workspace::open(project.file.clone(), VERSION);
        let settings = workspace.project().map(|project| &project.settings);
        let mut judging = Self::new(global, project.root, settings, workspace.results_dir());
        match Session::open(global, &SelectArgs::default()) {
            Ok(session) => {
                judging.faults = session.diagnostics();
                judging.take_specs(session);
            }
            // Results are read without a project too.
            Err(_) if project.file.is_none() => {}
            Err(error) => return Err(error),
        }
        Ok(judging)
    }

    /// Reports what keeps specs from being judged by; nothing where all compile.
    pub(super) fn refused(&self) -> Option<Result<ExitStatus>> {
        let faults = self.faults.clone();
        let findings = Findings { diagnostics: faults, sources: &self.sources, checked: &[], unreadable: false };
        self.faults.has_errors().then(|| findings::report(self.global, Output::Findings, findings))
    }

    /// Says which files keep gates and directions from being known.
    pub(super) fn note_of_faults(&self) -> Option<String> {
        let errors = self.faults.as_slice().iter().filter(|fault| fault.severity == Severity::Error);
        let files: BTreeSet<&str> = errors.map(|fault| fault.path(&self.sources)).collect();
        let first = files.first()?;
        let who = match files.len() {
            1 => format!("{first} has errors"),
            count => format!("{count} files have errors, the first is {first}"),
        };
        Some(format!(
            "{who}: thresholds and directions in them are unknown, so results are shown without them; `kubebench validate` says \
             more"
        ))
    }

    /// Takes what was selected of a project that compiles.
    pub(super) fn of(global: &'a Global, session: Session<'_>) -> Result<Self> {
        let project = session.compilation.project.as_ref().context("there is no project")?;
        let settings = &project.settings;
        let directory = settings.results.directory.clone();
        let mut judging = Self::new(global, session.root.clone(), Some(settings), directory);
        judging.take_specs(session);
        Ok(judging)
    }

    /// A project before its specs and results are read; `settings` are those of a project file that can be read.
    fn new(global: &'a Global, root: PathBuf, settings: Option<&Settings>, directory: String) -> Self {
        Self {
            global,
            root,
            across: settings.map(|settings| settings.compare_across.clone()).unwrap_or_default(),
            output: settings.map_or_else(|| "generated".to_owned(), |settings| settings.output.clone()),
            directory,
            recorded_on: settings.and_then(|settings| recorded_on(&settings.results)),
            rules: Vec::new(),
            asked: Vec::new(),
            policies: Policies::default(),
            places: Places::new(),
            sources: SourceMap::default(),
            archive: Archive::default(),
            left_out: Vec::new(),
            diagnostics: Diagnostics::default(),
            faults: Diagnostics::default(),
            newest: String::new(),
            compilation: None,
        }
    }

    fn take_specs(&mut self, session: Session<'_>) {
        self.sources = session.compilation.sources.clone();
        for benchmark in session.benchmarks().into_iter().map(|compiled| &compiled.benchmark) {
            self.rules.extend(benchmark.gates.iter().map(|gate| rule(benchmark, gate)));
            self.take_policies(benchmark);
            self.asked.push(asked(benchmark));
        }
        self.compilation = Some(session.compilation);
    }

    /// Reads the results of a folder by the rules that specs have now.
    fn reading(&mut self, place: &Results) -> Reading {
        let rules = || self.compilation.as_ref().map(current_rules).unwrap_or_default();
        reading::read(self.global, place, &rules, &mut self.sources)
    }

    /// Refuses to write the reports that were asked for, and `comment`, over what they are about: specs, acknowledgements, results and
    /// generated files.
    pub(super) fn refuse_places(&self, comment: Option<&Path>, results: &[&Path]) -> Result<()> {
        let folders = results.iter().map(|folder| from_start(self.global, folder));
        let folders: Vec<String> = folders
            .filter_map(|folder| std::path::absolute(folder).ok())
            .map(|folder| folder.to_string_lossy().into_owned())
            .collect();
        let own = [self.output.as_str(), &self.directory, ACKS];
        let kept: Vec<&str> = own.into_iter().chain(folders.iter().map(String::as_str)).collect();
        refuse_report_places(self.global, &self.root, &kept)?;
        let comment = comment.map(|path| from_start(self.global, path));
        comment.map_or(Ok(()), |path| refuse_place("comment", &path, &self.root, &kept))
    }

    /// Reads the results of the folder that was asked for, or of the project's.
    pub(super) fn read(&mut self, asked: Option<&Path>) -> Result<()> {
        let place = Results::of(self.global, asked, &self.root, &self.directory)?;
        let Reading { archive, left_out, diagnostics } = self.reading(&place);
        self.archive = archive;
        self.note_newest();
        self.left_out.extend(left_out);
        self.diagnostics.extend(diagnostics);
        Ok(())
    }

    /// Forgets all but these benchmarks; nothing where none are named.
    pub(super) fn keep(&mut self, benchmarks: &[String]) -> Result<()> {
        if benchmarks.is_empty() {
            return Ok(());
        }
        let archive = &self.archive;
        let own = archive.places(|row| benchmarks.contains(&archive.subject(row).benchmark));
        let names = |at: &usize| archive.rows().get(*at).map(|row| row.path.clone());
        let paths: BTreeSet<String> = own.iter().filter_map(names).collect();
        self.refuse_unknown_benchmarks(benchmarks)?;
        self.archive.retain(|row| paths.contains(&row.path));
        self.left_out.retain(|file| benchmarks.iter().any(|name| is_of(&file.path, name)));
        let left_out: BTreeSet<&str> = self.left_out.iter().map(|file| file.path.as_str()).collect();
        let diagnostics = std::mem::take(&mut self.diagnostics);
        let is_kept = |fault: &Diagnostic| ends_with_any(fault.path(&self.sources), &left_out);
        self.diagnostics = diagnostics.into_iter().filter(is_kept).collect();
        self.asked.retain(|asked| benchmarks.contains(&asked.benchmark));
        self.rules.retain(|(rule, _)| benchmarks.contains(&rule.benchmark));
        Ok(())
    }

    /// Refuses benchmarks that there are not.
    pub(super) fn refuse_unknown_benchmarks(&self, benchmarks: &[String]) -> Result<()> {
        let archive = &self.archive;
        let measured = archive.rows().iter().map(|row| archive.subject(row).benchmark.as_str());
        let known: BTreeSet<&str> = measured.chain(self.asked.iter().map(|asked| asked.benchmark.as_str())).collect();
        let Some(unknown) = benchmarks.iter().find(|name| !known.contains(name.as_str())) else { return Ok(()) };
        let near = nearest(unknown, known);
        bail!("there is no benchmark `{unknown}`: no spec is called so, and no result is of one{near}");
    }

    /// Refuses metrics that no result has.
    pub(super) fn refuse_unknown(&self, metrics: &[String]) -> Result<()> {
        refuse_unknown(metrics, || {
            let rows = self.archive.rows().iter();
            rows.flat_map(|row| self.archive.metrics(row)).map(|(definition, _)| definition.name.as_str())
        })
    }

    /// Adds all results of another folder as they are, and returns their places.
    pub(super) fn add(&mut self, place: &Results) -> BTreeSet<usize> {
        let Reading { archive: more, left_out, diagnostics } = self.reading(place);
        self.left_out.extend(left_out);
        self.diagnostics.extend(diagnostics);
        let first = self.archive.rows().len();
        more.rows().iter().for_each(|row| self.archive.adopt(row.clone(), &more));
        self.note_newest();
        (first..self.archive.rows().len()).collect()
    }

    /// Adds those results of another folder that are not known yet, and returns the places of all that it has: a run that
    /// is in both counts once.
    pub(super) fn join(&mut self, place: &Results) -> BTreeSet<usize> {
        let mut more = self.reading(place);
        let known: BTreeSet<String> = self.archive.rows().iter().map(|row| row.digest.clone()).collect();
        let digests: BTreeSet<String> = more.archive.rows().iter().map(|row| row.digest.clone()).collect();
        for row in more.archive.rows().iter().filter(|row| !known.contains(&row.digest)) {
            self.archive.adopt(row.clone(), &more.archive);
        }
        let rules = || self.compilation.as_ref().map(current_rules).unwrap_or_default();
        more.doubts_of(&mut self.archive, &rules, place);
        self.note_newest();
        self.left_out.extend(more.left_out);
        self.diagnostics.extend(more.diagnostics);
        self.archive.places(|row| digests.contains(&row.digest))
    }

    /// Reads the acknowledgements of the project; what is wrong with them is added to `found`.
    pub(super) fn acks(&mut self, found: &mut Diagnostics) -> Vec<Ack> {
        acks_of(&self.root, &mut self.sources, found)
    }

    /// Opens the repository of the project; nothing where there is none.
    pub(super) fn commits(&self) -> Result<Option<Commits>> {
        Commits::open(&self.root, &self.output)
    }

    /// Returns the day of the newest result, on which acknowledgements are judged: the same one whatever part of the results is kept.
    pub(super) fn as_of(&self) -> String {
        words::day(&self.newest).to_owned()
    }

    fn note_newest(&mut self) {
        let newest = self.archive.rows().iter().map(|row| row.started_at.as_str()).max().unwrap_or_default();
        self.newest = self.newest.as_str().max(newest).to_owned();
    }

    /// Adds what a spec says of metrics: of several gates of one the strictest one's threshold.
    fn take_policies(&mut self, benchmark: &Benchmark) {
        let threshold = |name: &str| {
            let shares =
                benchmark.gates.iter().filter(|gate| gate.metric == name).filter_map(|gate| gate.max_regression);
            shares.min_by(f64::total_cmp).unwrap_or(DEFAULT_THRESHOLD)
        };
        let named =
            benchmark.metrics.iter().filter_map(|metric| Some((metric.name.as_ref()?, metric.direction, metric.span)));
        // The metrics of a tool are gated by names that the spec does not list.
        let gated = benchmark.gates.iter().map(|gate| (&gate.metric, None, gate.span));
        for (name, direction, span) in named.chain(gated) {
            let key = (benchmark.name.clone(), name.clone());
            if !self.places.contains_key(&key) {
                self.places.insert(key.clone(), span);
                self.policies.0.insert(key, Stated { threshold: threshold(name), direction });
            }
        }
    }
}

impl Usual {
    /// Finds the commits of the default branch.
    pub(super) fn of(commits: Option<&Commits>) -> Result<Self> {
        let Some(commits) = commits else { return Ok(Self::NoRepository) };
        let Some(name) = commits.default_branch() else { return Ok(Self::NoBranch) };
        let side = Side::Branch(name);
        Ok(Self::Known { name: side.to_string(), lineage: lineage(commits, &side)? })
    }

    /// Returns the commits, where they are known.
    pub(super) fn lineage(&self) -> Option<&Lineage> {
        match self {
            Self::Known { lineage, .. } => Some(lineage),
            Self::NoRepository | Self::NoBranch => None,
        }
    }
}

/// Returns commits that the repository reached as those by which results are told apart.
pub(super) fn known(reached: Reached) -> Lineage {
    Lineage::new(reached.commits, reached.trees)
}

/// Returns the commits that a side names.
pub(super) fn lineage(commits: &Commits, side: &Side) -> Result<Lineage> {
    match side {
        Side::Branch(name) => {
            let found = known(commits.of_branch(name)?);
            // Where nobody knows the default branch, the one that is named stands for it.
            let is_default = commits.default_branch().is_none_or(|default| default == *name);
            Ok(if is_default { found.of_default() } else { found })
        }
        Side::Tag(name) => commits.of_tag(name).map(known),
        Side::Revision(name) => commits.of_revision(name).map(known),
        Side::Folder(_) | Side::Label(..) | Side::Variant(_) | Side::Environment(_) => {
            bail!("`{side}` names no commits")
        }
    }
}

/// Returns the commits that a baseline names, which stands in a gate or in `--baseline`.
pub(super) fn lineage_of_baseline(commits: &Commits, name: &str) -> Result<Lineage> {
    match Side::parse(name, |_| false) {
        Ok(side @ (Side::Branch(_) | Side::Tag(_) | Side::Revision(_))) => lineage(commits, &side),
        _ => Err(anyhow!("`{name}` is no baseline: write branch:NAME, tag:NAME or a revision")),
    }
}

/// Adds the commits that gates name as their baselines to `lineages`.
pub(super) fn add_baselines<'r>(
    lineages: &mut BTreeMap<String, Lineage>,
    rules: impl Iterator<Item = &'r Rule>,
    commits: Option<&Commits>,
) -> Result<()> {
    for rule in rules {
        if let (Against::Lineage(name), Some(commits)) = (&rule.against, commits)
            && !lineages.contains_key(name)
        {
            lineages.insert(name.clone(), lineage_of_baseline(commits, name)?);
        }
    }
    Ok(())
}

fn rule(benchmark: &Benchmark, gate: &Gate) -> (Rule, Span) {
    let against = match &gate.baseline {
        GateBaseline::Default => Against::Default,
        GateBaseline::Branch(name) => Against::Lineage(Side::Branch(name.clone()).to_string()),
        GateBaseline::Tag(name) => Against::Lineage(Side::Tag(name.clone()).to_string()),
        GateBaseline::Value(value) => Against::Value(*value),
    };
    let named = benchmark.metrics.iter().find(|metric| metric.name.as_ref() == Some(&gate.metric));
    let place = named.map_or(gate.span, |metric| metric.span);
    let rule = Rule {
        benchmark: benchmark.name.clone(),
        target: benchmark.target.name.clone(),
        cases: benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect(),
        metric: gate.metric.clone(),
        max_regression: gate.max_regression,
        min: gate.min,
        max: gate.max,
        is_confirmed: gate.is_confirmed,
        direction: named.and_then(|metric| metric.direction),
        against,
    };
    (rule, place)
}

fn recorded_on(results: &ResultsSettings) -> Option<String> {
    (results.mode == "branch").then(|| results.branch.clone())
}

/// Returns whether a path is one of these below a folder.
fn ends_with_any(path: &str, ends: &BTreeSet<&str>) -> bool {
    path.match_indices('/').any(|(at, _)| path.get(at + 1..).is_some_and(|end| ends.contains(end)))
}

/// Returns whether a path below the results folder is of this benchmark.
fn is_of(path: &str, benchmark: &str) -> bool {
    path.split_once('/').is_some_and(|(own, _)| own == benchmark)
}

fn asked(benchmark: &Benchmark) -> Asked {
    Asked {
        benchmark: benchmark.name.clone(),
        path: benchmark.path.clone(),
        description: benchmark.description.clone(),
        target: benchmark.target.name.clone(),
        instance_type: benchmark.target.node_selector.get(INSTANCE_TYPE).cloned(),
        cases: benchmark.cases.iter().map(|case| (case.id.clone(), case.name.clone())).collect(),
    }
}
