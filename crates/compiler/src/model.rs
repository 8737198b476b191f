//! The resolved benchmark: no option that means "unset", no string that means a type, no lookup left.
//!
//! Spans are kept for everything that checks may report; nothing here knows YAML, JSON Schema or Kubernetes objects' layout.

mod api;
pub mod carried;
pub mod estimate;
pub mod placement;
pub mod pods;
pub(crate) mod serving;
pub mod suite;
pub mod suppressions;
pub mod target;
pub(crate) mod workload;

use std::collections::BTreeMap;
use std::sync::Arc;

use kubebench_extract::naming::Naming;
use kubebench_extract::narrow::Narrow;
use kubebench_extract::tool::tool;
use serde_json::Value as Json;

pub use api::Api;
pub(crate) use api::GROUPS_OF_RIGHTS;
pub use carried::CarriedFile;
pub(crate) use carried::CarriedFiles;
pub use kubebench_contract::{Endpoint, Order, Probe, Served};
use kubebench_format::result::v1::Direction;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::text::Span;
use kubebench_syntax::unit::MetricSelector;
use kubebench_syntax::unit::{Cron, Duration, Quantity, TimeZone};
pub(crate) use serving::Protocol;
pub use serving::Serving;
pub use suite::Suite;
pub use target::Target;
pub(crate) use workload::OfServer;
pub(crate) use workload::Supporting;
pub(crate) use workload::TemplateAt;
pub(crate) use workload::TemplateForm;
pub(crate) use workload::TemplateStep;
pub use workload::{Env, Given, LongestName, Role, Serves, Workload, literal};

/// The volume of a pod that holds results, where the pod sees some of it.
pub(crate) const VOLUME_OF_RESULTS: &str = "kubebench-results";
/// What follows the name of a benchmark or suite in that of the claim on which its results are kept until they are recorded.
pub(crate) const CLAIM_OF_RESULTS: &str = "-results";

/// One benchmark on one target.
#[derive(Debug)]
pub struct Benchmark {
    pub name: String,
    /// Where the name is written.
    pub name_span: Span,
    /// The spec's path.
    pub path: String,
    /// Its own description.
    pub description: Option<String>,
    /// The digest of its text.
    pub spec_digest: Digest,
    /// Labels for selection and reports.
    pub labels: BTreeMap<String, String>,
    /// Where it runs.
    pub target: Arc<Target>,
    /// The suite that runs it there, if any.
    pub suite: Option<String>,
    /// Raised to run again.
    pub run: u32,
    /// When it runs, unless once.
    pub schedule: Option<Schedule>,
    /// Measured runs of each case.
    pub repeats: u32,
    /// Unmeasured runs of each case.
    pub warmups: u32,
    /// The order of runs.
    pub order: Order,
    /// Runs in the cluster at once.
    pub parallelism: u32,
    /// Where that is said.
    pub parallelism_span: Span,
    /// Whether the spec or the project says it.
    pub timeout_is_set: bool,
    /// How long a run may wait to be scheduled.
    pub queue_timeout: Duration,
    /// Upper bounds.
    pub budget: Budget,
    /// The cases, in order.
    pub cases: Vec<Case>,
    /// What is measured.
    pub metrics: Vec<Metric>,
    /// Prometheus queries, and where they are written.
    pub queries: Vec<(String, Span)>,
    /// Metric names that checks and gates refer to.
    pub references: Vec<MetricReference>,
    /// What `kubebench gate` decides by.
    pub gates: Vec<Gate>,
    /// Kept logs, and what the metrics must find in them.
    pub fixtures: Vec<Fixture>,
    /// Files of the repository that every container of every case finds in [`carried::FOLDER`].
    pub files: CarriedFiles,
    /// The Job before the runs.
    pub prepare: Option<StepJob>,
    /// The volume for results.
    pub claim: Claim,
    /// Whether the workload's pods mount that volume.
    pub mount_in_job: bool,
    /// Where that is said.
    pub mount_in_job_span: Span,
    /// How many bytes of each replica's log are kept, where the spec says it.
    pub log_limit: Option<u64>,
    /// Names of axes and parameters that no lookup uses.
    pub unused: Vec<Unused>,
    /// Axes that set a number of pods.
    pub scalings: Vec<Scaling>,
    /// Texts that reach manifests and are not in a role's command, variables or patches.
    pub literals: Vec<Literal>,
}

/// One case, fully resolved.
#[derive(Debug)]
pub struct Case {
    /// The identity: a slug and a digest.
    pub id: String,
    /// As shown to people, with the spelling of every value.
    pub name: String,
    /// The value of each axis, which may have lost the spelling of a number.
    pub values: BTreeMap<String, Json>,
    /// What is run.
    pub workload: Workload,
    /// How long one run may take.
    pub timeout: Duration,
    /// What the run reads.
    pub inputs: Json,
    /// The Job after each run.
    pub postprocess: Option<StepJob>,
}

impl Case {
    /// Returns whether people mean this case by `wanted`: its id, its name, or its axes in any order (`workers=3,mode=a`).
    pub fn is_called(&self, wanted: &str) -> bool {
        fn axes(name: &str) -> Vec<&str> {
            let mut axes: Vec<&str> = name.split(',').map(str::trim).collect();
            axes.sort_unstable();
            axes
        }
        self.id == wanted || axes(&self.name) == axes(wanted)
    }
}

/// When to run.
#[derive(Clone, Debug)]
pub struct Schedule {
    /// The line.
    pub cron: Cron,
    /// By whose clock.
    pub timezone: TimeZone,
}

/// Upper bounds on what all runs may use.
#[derive(Clone, Debug, Default)]
pub struct Budget {
    /// GPU-hours, and where that is said.
    pub gpu_hours: Option<(f64, Span)>,
    /// Money, and where that is said.
    pub cost: Option<(f64, Span)>,
}

/// What checks need to know of a metric.
#[derive(Clone, Debug)]
pub struct Metric {
    /// The name; a tool's metrics that are not listed have none.
    pub name: Option<String>,
    /// Where the metric is written.
    pub span: Span,
    /// The unit, where the spec says so.
    pub unit: Option<String>,
    /// Where the spec says the unit.
    pub unit_span: Option<Span>,
    /// What its source is called, and the unit that it has of itself.
    pub own_unit: Option<(&'static str, &'static str)>,
    /// Which way is better, where the spec says so.
    pub direction: Option<Direction>,
    /// Whether it is the benchmark's primary metric.
    pub primary: bool,
    /// Whether it is the output of a known tool, which brings names and directions.
    pub tool: Option<ToolMetrics>,
    /// The file it is read from, if it is read from one.
    pub file_span: Option<Span>,
    /// Whether a run without it is invalid.
    pub is_needed: bool,
    /// The role whose log it is read from, and where that is said.
    pub role: Option<(String, Span)>,
    /// The replica whose log it is read from, and where that is said.
    pub index: Option<(u32, Span)>,
    /// The source and the window, where the window counts steps and values of this source never have one.
    pub stepless_window: Option<(&'static str, Span)>,
    /// What is narrow about its pattern, where the group `value` does not take all numbers.
    pub narrow: Option<NarrowPattern>,
    /// The duration that it is, by its word in specs, and where that is said.
    pub duration: Option<(String, Span)>,
    /// The part of the workload that it is read from, and where that is said.
    pub of_part: Option<(Part, Span)>,
}

/// A pattern whose group `value` does not take all numbers.
#[derive(Clone, Debug)]
pub struct NarrowPattern {
    /// What the group takes and misses.
    pub narrow: Narrow,
    /// Where the pattern is.
    pub span: Span,
    /// What to write there instead, unless the pattern is written over several lines.
    pub rewritten: Option<String>,
}

impl Metric {
    /// Returns the metrics of results that it gives, as far as they are known before a run, and where they are written.
    pub fn brought(&self) -> Vec<(MetricSelector, Span)> {
        let Some(of_tool) = &self.tool else {
            let own = self.name.as_deref().map(|name| (MetricSelector::of_series(name, &BTreeMap::new()), self.span));
            return own.into_iter().collect();
        };
        let named = |(own, span): (MetricSelector, Span)| (of_tool.naming.selector(&own), span);
        of_tool.asked().into_iter().map(named).collect()
    }
}

/// A part of a workload that the cluster divides.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// The node of a Workflow of this step or task.
    Node(String),
    /// This metric of the trials of an Experiment.
    Trials(String),
}

/// The metrics of a known tool.
#[derive(Clone, Debug)]
pub struct ToolMetrics {
    pub tool: String,
    /// Where it is named.
    pub span: Span,
    /// The names asked for; none means all that the tool has.
    pub names: Option<Vec<(String, Span)>>,
    /// The tool's own names of the metrics that are renamed, and where they are written.
    pub renamed: Vec<(String, Span)>,
    /// What the metrics are called in results.
    pub naming: Naming,
}

impl ToolMetrics {
    /// Returns the requested metrics, by the tool's own names, and where they are written: all whose names are known before a run
    /// when none are listed.
    pub fn asked(&self) -> Vec<(MetricSelector, Span)> {
        let of = |(name, span): &(String, Span)| (MetricSelector::of(name), *span);
        if let Some(names) = &self.names {
            return names.iter().map(of).collect();
        }
        let tool = tool(&self.tool);
        let names = tool.into_iter().flat_map(|tool| tool.fixed_names().into_iter().filter(|name| tool.brings(name)));
        names.map(|name| of(&(name, self.span))).collect()
    }
}

/// A use of a metric's name.
#[derive(Clone, Debug)]
pub struct MetricReference {
    pub name: String,
    /// Where it is written.
    pub span: Span,
    /// `check`, `gate` or `fixture`.
    pub by: &'static str,
}

/// What a metric is compared with.
#[derive(Clone, Debug)]
pub struct Gate {
    pub metric: String,
    /// Where the gate is written.
    pub span: Span,
    /// How much worse than the baseline it may get, as a share.
    pub max_regression: Option<f64>,
    /// The least value.
    pub min: Option<f64>,
    /// The greatest value.
    pub max: Option<f64>,
    /// Whether a first hit waits for a second session of the same revision.
    pub is_confirmed: bool,
    /// What the newest session is compared with.
    pub baseline: GateBaseline,
}

/// What a gate holds the newest session against.
#[derive(Clone, Debug, PartialEq)]
pub enum GateBaseline {
    /// The accepted level of the default branch.
    Default,
    /// That of the commits that a branch reaches.
    Branch(String),
    /// That of the commits that a tag reaches.
    Tag(String),
    Value(f64),
}

/// A kept log that tests the extraction.
#[derive(Clone, Debug)]
pub struct Fixture {
    /// The log, relative to the project root.
    pub log: String,
    /// Where it is named.
    pub log_span: Span,
    /// What must be read from it, by metric.
    pub expect: BTreeMap<String, Expectation>,
}

/// What the extraction must give for a metric.
#[derive(Clone, Copy, Debug)]
pub struct Expectation {
    /// The value; none where the metric must not be found.
    pub value: Option<f64>,
    /// Where it is said.
    pub span: Span,
}

/// A Job of one pod outside the runs.
#[derive(Clone, Debug)]
pub struct StepJob {
    /// Its pod.
    pub role: Role,
    /// How long it may take.
    pub timeout: Duration,
}

/// The PersistentVolumeClaim for results.
#[derive(Clone, Debug)]
pub struct Claim {
    /// How large.
    pub size: Quantity,
    /// Which class; none means the cluster's default.
    pub storage_class: Option<String>,
    /// How it may be mounted.
    pub access_modes: Vec<&'static str>,
    /// Where it is described.
    pub span: Span,
}

/// An axis that sets a number of pods.
#[derive(Clone, Debug)]
pub struct Scaling {
    pub axis: String,
    /// Where it sets the number.
    pub span: Span,
    /// Whether a command, argument or variable of the workload follows it too.
    pub is_followed: bool,
}

/// A text as written.
#[derive(Clone, Debug)]
pub struct Literal {
    /// What it is, such as ``the label `team` ``.
    pub name: String,
    pub text: String,
    /// Where it is written.
    pub span: Span,
}

/// A declared name that nothing uses.
#[derive(Clone, Debug)]
pub struct Unused {
    /// `axis` or `parameter`.
    pub what: &'static str,
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

impl Benchmark {
    /// Returns the name by which people know the Workflow that runs it: its own name, or its suite.
    pub fn started_as(&self) -> String {
        self.suite.as_ref().map_or_else(|| self.name.clone(), |suite| format!("suite {suite}"))
    }

    /// Returns the number of runs of one Workflow: cases times repeats and warm-ups. What loads a server is warmed up when that
    /// comes up, by no runs of its own.
    pub fn runs(&self) -> u64 {
        let is_load = |case: &&Case| case.workload.load().is_some();
        let loads = self.cases.iter().filter(is_load).count() as u64;
        self.cases.len() as u64 * u64::from(self.repeats + self.warmups) - loads * u64::from(self.warmups)
    }

    /// Iterates over the pods of every case's workload, and of the Jobs outside the runs.
    pub fn roles(&self) -> impl Iterator<Item = &Role> {
        let beside = self.prepare.iter().chain(self.cases.iter().filter_map(|case| case.postprocess.as_ref()));
        self.cases.iter().flat_map(|case| case.workload.pods()).chain(beside.map(|job| &job.role))
    }
}
