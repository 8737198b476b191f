//! The wire types of what `compare`, `gate` and `history` answer, version 1.

mod from;

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use kubebench_format::attestation::v1::Signatures;
pub use kubebench_format::result::v1::{Direction, Kind};
use kubebench_format::schema::generate_answer;

/// The version of these formats.
pub const SCHEMA_VERSION: u32 = 1;
/// The committed schema of what `compare` answers.
pub const COMPARE_FILE: &str = "compare.v1.json";
/// That of `gate`.
pub const GATE_FILE: &str = "gate.v1.json";
/// That of `history`.
pub const HISTORY_FILE: &str = "history.v1.json";

/// Returns the schemas of these formats, by the name of the committed file.
pub fn schemas() -> [(&'static str, Json); 3] {
    [
        (COMPARE_FILE, generate_answer::<Comparison>(COMPARE_FILE, "Comparison")),
        (GATE_FILE, generate_answer::<Gated>(GATE_FILE, "Gated")),
        (HISTORY_FILE, generate_answer::<History>(HISTORY_FILE, "History")),
    ]
}

/// What `kubebench compare` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Comparison {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// The first side, as it was asked for.
    pub baseline: String,
    /// The second side.
    pub candidate: String,
    /// What was compared: by benchmark, case and metric.
    pub lines: Vec<Line>,
    /// The geometric mean of the changes, by metric.
    pub geomeans: Vec<Geomean>,
    /// The cases that only one side has.
    pub unmatched: Vec<Unmatched>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// Who recorded the results; left out where the project has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What `kubebench gate` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Gated {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// Whether the candidate passes.
    pub outcome: Outcome,
    /// What the candidate was compared with, unless a gate says otherwise.
    pub baseline: String,
    /// What was evaluated.
    pub candidate: String,
    /// The results, if others than the project's were requested: a folder, or `recorded:` and a branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<String>,
    /// The day on which acknowledgements were evaluated: the day of the newest result, or the one requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub as_of: Option<String>,
    /// Whether lines that the default branch fails too are ignored: `--only-new`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_new: bool,
    /// What was evaluated: by benchmark, case and metric.
    pub lines: Vec<Line>,
    /// What the change weakens compared with its base: `--since`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weakened: Vec<Weakened>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// Who recorded the results; left out where the project has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Something that a change weakens; the base's rules apply nevertheless.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Weakened {
    /// Where: a file, with line and column if known.
    pub place: String,
    /// The code of its finding.
    pub code: String,
    /// What it is.
    pub message: String,
    /// What to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
    /// Whether the gate fails for it.
    pub fails: bool,
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Outcome {
    /// The candidate passes.
    Passed,
    /// It does not.
    Failed,
    /// A result file under test cannot be trusted.
    NoAnswer,
    /// The recorded results are on a branch that is not in this clone, so there is nothing to compare with: a note says how to fetch it.
    NoHistory,
    /// No spec has a gate, or nothing has ever run.
    NothingToEvaluate,
}

/// What `kubebench history` answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct History {
    /// The version of this format.
    #[schemars(extend("enum" = [1]))]
    pub schema_version: u32,
    /// The series: by benchmark, case, hardware and metric.
    pub series: Vec<SeriesHistory>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// Who recorded the results; left out where the project has no keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signatures: Option<Signatures>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// One metric of one case over time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SeriesHistory {
    /// The benchmark.
    pub benchmark: String,
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact.
    pub environment: BTreeMap<String, String>,
    /// Whether newer sessions of the case ran on other hardware.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replaced: bool,
    /// The metric.
    pub metric: String,
    /// Labels that distinguish it from metrics of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// Its role.
    pub kind: Kind,
    /// The change that matters, as a share.
    pub threshold: f64,
    /// The sessions, the oldest first: by their commits, else by time.
    pub sessions: Vec<SessionValue>,
    /// The ids of sessions that are not from commits of the baseline, and so change nothing.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub aside: BTreeSet<String>,
    /// The ids of first sessions that are outliers, for example because of cold caches, and belong to no level.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub apart: BTreeSet<String>,
    /// The changes of level, the oldest first.
    pub changes: Vec<LevelChange>,
    /// The first session of the change that is open: not resolved or acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<String>,
    /// How large that change is now: its newest level compared with the one before it opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open_size: Option<Size>,
    /// The regression that the newest sessions do not show, and that is not resolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingChange>,
    /// Facts that changed without separating results: the kernel, the system, an image.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment_changes: Vec<FactChange>,
    /// The slow drift of the newest level, where it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drift: Option<Drift>,
    /// The autocorrelation of neighboring sessions, where it is significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
    /// The acknowledgements that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<Acknowledged>,
    /// Whether nothing ran and the numbers were generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// A regression that the newest sessions do not show, and that is not resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PendingChange {
    /// Its first session.
    pub session: String,
    /// When that began.
    pub since: String,
    /// How many sessions since then have not recovered.
    pub sessions: usize,
    /// Why it is neither open nor resolved.
    pub why: Why,
    /// If `why` is `back`, how many of the newest sessions have recovered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub back: Option<usize>,
    /// How large it is, where it was open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<Size>,
}

/// Why a regression is neither open nor resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Why {
    /// One session was worse, and later ones neither show it nor rule it out.
    NotShown,
    /// It was open, and the newest sessions have recovered: too few for a level.
    Back,
    /// It was open, and is now worse by less than half of the threshold.
    Shrunk,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LevelChange {
    /// The first session of the new level.
    pub session: String,
    /// When it was first measured: in that session, or in one of a later commit that ran before.
    pub since: String,
    /// What it is.
    pub turn: Turn,
    /// The commit of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit of the session before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// The relative change from the normal level before; null where that was 0.
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The medians of the level before and of the new one, in the unit of the metric.
    pub levels: (f64, f64),
}

/// How large a change is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Size {
    /// The relative change; null where the level before is 0.
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The medians of the level before and of the new one, in the unit of the metric.
    pub levels: (f64, f64),
}

/// A fact that changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FactChange {
    /// The first session with the new value.
    pub session: String,
    /// When that began.
    pub since: String,
    /// The fact.
    pub fact: String,
    /// Its value before.
    pub before: String,
    /// Its value since.
    pub after: String,
}

/// A slow drift: significant at 1 % by the Mann–Kendall test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Drift {
    /// The relative change per session, by the Theil–Sen estimator.
    pub per_session: f64,
    /// The p-value.
    pub p: f64,
    /// The sessions in which it was seen.
    pub sessions: usize,
}

/// The verdict on one metric of one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Line {
    /// The benchmark.
    pub benchmark: String,
    /// The benchmark of the baseline, where that is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline_benchmark: Option<String>,
    /// The identity of the case; of the candidate, if the two sides have different cases.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact: target, engine, cpu or gpu, driver, instanceType.
    pub environment: BTreeMap<String, String>,
    /// The metric.
    pub metric: String,
    /// Labels that distinguish it from metrics of the same name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// The unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// Its role.
    pub kind: Kind,
    /// The verdict.
    pub verdict: Verdict,
    /// Why, as a word for programs.
    pub reason: String,
    /// Why, as a sentence for people.
    pub message: String,
    /// The change as a share: −0.08 for 8 % less.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// The 95 % confidence interval of the change, not adjusted for other metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The two-sided p-value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The p-value, adjusted for all metrics that were gated together, by Benjamini and Hochberg.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adjusted_p: Option<f64>,
    /// How it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// The change that matters, as a share.
    pub threshold: f64,
    /// The smallest regression that would be detected with a probability of 90 %, as a share.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// About how many more sessions would settle it; left out where nothing is open, or no number would.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_sessions: Option<usize>,
    /// The value of `run` in the spec that starts another session of the same revision, where that would decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_run: Option<u32>,
    /// The autocorrelation of neighboring sessions, where it is significant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<f64>,
    /// The sessions that it was compared with.
    pub baseline: Sessions,
    /// The sessions that were evaluated.
    pub candidate: Sessions,
    /// The regression that is not resolved or acknowledged; for a pending line, if it began before the candidate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenChange>,
    /// The acknowledgements that apply.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub acks: Vec<Acknowledged>,
    /// Further notes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Whether the default branch (or what the gate compares with instead) fails this without the candidate, which is not worse than
    /// that by more than the threshold.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub on_default: bool,
    /// Whether nothing ran and the numbers were generated.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// Sessions of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Sessions {
    /// The median of the sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub median: Option<f64>,
    /// The coefficient of variation between sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<f64>,
    /// How many runs they had that count.
    pub runs: usize,
    /// The sessions, the oldest first: by their commits, else by time.
    pub sessions: Vec<SessionValue>,
}

/// One session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SessionValue {
    /// The id of the session.
    pub session: String,
    /// When its first run began.
    pub started_at: String,
    /// The commit, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The median of its runs.
    pub value: f64,
    /// The result files of these runs, below the results folder; left out in the data of a report where the first series of the file that
    /// has this session names the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub results: Vec<String>,
    /// What shared a node with one of these runs: names of benchmarks, and of pods that belong to none. It does not change verdicts.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub neighbors: BTreeSet<String>,
}

/// A regression that is not resolved or acknowledged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenChange {
    /// Its first session.
    pub session: String,
    /// When it was first measured: in that session, or in one of a later commit that ran before.
    pub since: String,
    /// The commit of that session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit of the session before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How many sessions it has had, with those that are evaluated, unless they are from another branch.
    pub sessions: usize,
    /// How many of them are at its newest level, which `change` describes.
    pub measured: usize,
    /// The relative change: its newest level compared with the one before it opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<(f64, f64)>,
    /// The medians of the level before it opened and of its newest one, in the unit of the metric.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub levels: Option<(f64, f64)>,
    /// The later levels of it that were worse again, the oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<LevelChange>,
    /// How much worse than that level the candidate is, if significantly and by more than the threshold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub further: Option<Size>,
}

/// An acknowledgement that applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Acknowledged {
    /// Its file.
    pub file: String,
    /// Who accepted.
    pub by: String,
    /// Why it was accepted.
    pub reason: String,
    /// The first session of the level that it accepts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The largest regression that it accepts, as a share; any, if left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_change: Option<f64>,
    /// The last day on which it applies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// Whether that day is over, so it no longer applies.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub expired: bool,
}

/// The geometric mean of changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Geomean {
    /// The metric.
    pub metric: String,
    /// The change as a share.
    pub change: f64,
    /// The cases in it.
    pub cases: usize,
    /// The cases that have no ratio: incomparable ones, and those with values that are not positive.
    pub excluded: usize,
}

/// A case that only one side has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Unmatched {
    /// The benchmark.
    pub benchmark: String,
    /// The case as shown to people.
    pub case_name: String,
    /// `baseline` or `candidate`.
    pub only: String,
}

/// A result file that did not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LeftOut {
    /// Its path.
    pub path: String,
    /// The code that says why: the code of a finding; if a history names a run without a value, the reason of the run, or `noValue`.
    pub code: String,
    /// Why it did not count.
    pub message: String,
}

/// The verdict on a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Verdict {
    /// It got worse, significantly and by at least the threshold.
    Regressed,
    /// A first hit that waits for a second session of the same revision.
    Pending,
    /// The candidate has runs, but none of them counts.
    Invalid,
    /// The candidate has no run.
    Missing,
    /// The sides differ in something that makes a comparison meaningless.
    Incomparable,
    /// There is not enough evidence yet.
    Inconclusive,
    /// The default branch never ran it, so there is nothing to compare with.
    New,
    /// It got better, significantly and by at least the threshold.
    Improved,
    /// Nothing is significant, and the estimate is within the threshold.
    NoChangeSeen,
    /// The whole interval is within the threshold.
    Unchanged,
}

/// How a level changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
pub enum Turn {
    /// It got worse, and stays open.
    Worse,
    /// It got worse, and the change was accepted.
    Accepted,
    /// It got better.
    Better,
    /// It recovered from an open change.
    Back,
    /// It moved by less than the threshold, or the metric has no direction.
    Neither,
}
