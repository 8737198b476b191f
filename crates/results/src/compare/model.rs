//! What a comparison, a gate and a history say, as the rest of the program works on it. What is promised to other programs is
//! [`v1`](super::v1), which is made from this.

use std::collections::{BTreeMap, BTreeSet};

pub use crate::verdict::{Turn, Verdict, Why};
use kubebench_format::attestation::v1::Signatures;
pub use kubebench_format::result::v1::{Direction, Kind};

/// The reason of a line whose case has no session at all.
pub(crate) const NO_SESSION: &str = "noSession";
/// The message of a case without a session of the named candidate.
pub(crate) const NONE_OF_NAMED: &str = "the named candidate has no result";

/// The reason of a pending line of which an earlier session was worse, and the newest one is not.
pub const NOT_SHOWN: &str = "notShown";

/// The reason of a line whose value measures something else than the limits of the spec do.
pub(crate) const OTHER_UNIT: &str = "otherUnit";

/// What `kubebench compare` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
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
    /// Who recorded the results, where the project has keys.
    pub signatures: Option<Signatures>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
}

/// What `kubebench gate` answers.
#[derive(Clone, Debug, PartialEq)]
pub struct GateReport {
    /// Whether the candidate passes.
    pub outcome: Outcome,
    /// What the candidate was compared with, unless a gate says otherwise.
    pub baseline: String,
    /// What was judged.
    pub candidate: String,
    /// The results, where others than the project's were asked for.
    pub results: Option<String>,
    /// Where the sessions that were judged and the others come from, where that is a folder and a branch.
    pub origin: Option<String>,
    /// The day on which acknowledgements were judged: that of the newest result, or as asked for.
    pub as_of: Option<String>,
    /// Whether a line that the default branch fails too decides nothing.
    pub only_new: bool,
    /// What was judged: by benchmark, case and metric.
    pub lines: Vec<Line>,
    /// What the change weakens of what its base demands.
    pub weakened: Vec<Weakened>,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// Who recorded the results, where the project has keys.
    pub signatures: Option<Signatures>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
}

/// What a change weakens of what its base demands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weakened {
    /// Where: a file, with line and column where there are any.
    pub place: String,
    /// The code of its finding.
    pub code: String,
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
    /// Whether the gate fails for it.
    pub fails: bool,
}

/// What a gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The candidate passes.
    Passed,
    /// It does not.
    Failed,
    /// A file among what is judged cannot be trusted.
    NoAnswer,
    /// Results are recorded on a branch that is not here, and none to compare with is.
    NoHistory,
    /// No spec has a gate, or nothing has ever run.
    NothingToEvaluate,
}

/// The history of metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The series: by benchmark, case, hardware and metric.
    pub series: Vec<SeriesHistory>,
    /// In how many other series of the same benchmarks and cases a regression is open.
    pub open_elsewhere: usize,
    /// Result files that did not count, and why.
    pub left_out: Vec<LeftOut>,
    /// Who recorded the results, where the project has keys.
    pub signatures: Option<Signatures>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
}

/// One metric of one case over time.
#[derive(Clone, Debug, PartialEq)]
pub struct SeriesHistory {
    pub benchmark: String,
    /// The identity of the case.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact.
    pub environment: BTreeMap<String, String>,
    /// Whether newer sessions of the case ran on other hardware.
    pub replaced: bool,
    pub metric: String,
    /// What distinguishes it from others of its name.
    pub labels: BTreeMap<String, String>,
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// What part it plays.
    pub kind: Kind,
    /// The change that matters, as a share.
    pub threshold: f64,
    /// The sessions, the oldest first: by their commits, else by time.
    pub sessions: Vec<SessionValue>,
    /// The ids of sessions that are not of the baseline's commits, and so change nothing.
    pub aside: BTreeSet<String>,
    /// The ids of first sessions that are separate, as those with cold caches are, and are of no level.
    pub apart: BTreeSet<String>,
    /// The changes of level, the oldest first.
    pub changes: Vec<LevelChange>,
    /// The first session of the change that is open: not resolved or acknowledged.
    pub open: Option<String>,
    /// How large that change is now: its newest level against the one before it opened.
    pub open_size: Option<Size>,
    /// The regression that the newest sessions do not show, and that is not over.
    pub pending: Option<PendingChange>,
    /// Facts that changed without keeping results apart: the kernel, the system, an image.
    pub environment_changes: Vec<FactChange>,
    /// The slow drift of the newest level, where it has one.
    pub drift: Option<Drift>,
    /// The autocorrelation of neighboring sessions, where it is more than chance.
    pub correlation: Option<f64>,
    /// The acknowledgements that apply.
    pub acks: Vec<Acknowledged>,
    /// Whether nothing ran and the numbers were made.
    pub synthetic: bool,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelChange {
    /// The first session of the new level.
    pub session: String,
    /// When it was first measured: in that session, or in one of a later commit that ran before.
    pub since: String,
    pub turn: Turn,
    /// The commit of that session.
    pub commit: Option<String>,
    /// The commit of the session before it.
    pub after: Option<String>,
    /// The change as a share, against the level that was normal before; nothing where that was 0.
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// The medians of the level before and of this one.
    pub levels: (f64, f64),
}

/// How large a change is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// The change as a share; nothing where the level before is 0.
    pub change: Option<f64>,
    /// The 95 % confidence interval.
    pub interval: Option<(f64, f64)>,
    /// The medians of the level before and of the new one.
    pub levels: (f64, f64),
}

/// A fact that changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// The first session with the new value.
    pub session: String,
    /// When that began.
    pub since: String,
    pub fact: String,
    /// Its value before.
    pub before: String,
    /// Its value since.
    pub after: String,
}

/// A slow drift: significant by Mann and Kendall at 1 %.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The change by session, as a share, by Theil and Sen.
    pub per_session: f64,
    /// How likely so steady a drift is by chance.
    pub p: f64,
    /// The sessions in which it was seen.
    pub sessions: usize,
}

/// One metric of one case, judged.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub benchmark: String,
    /// The benchmark of the baseline, where that is another one.
    pub baseline_benchmark: Option<String>,
    /// The identity of the case; of the candidate where both sides have cases of their own.
    pub case: String,
    /// The case as shown to people.
    pub case_name: String,
    /// What it ran on, by fact: target, engine, cpu or gpu, driver, instanceType.
    pub environment: BTreeMap<String, String>,
    pub metric: String,
    /// What distinguishes it from others of its name.
    pub labels: BTreeMap<String, String>,
    pub unit: Option<String>,
    /// Which way is better.
    pub direction: Direction,
    /// What part it plays.
    pub kind: Kind,
    pub verdict: Verdict,
    /// Why, as a word for programs.
    pub reason: String,
    /// Why, as a sentence for people.
    pub message: String,
    /// The change as a share: −0.08 for 8 % less.
    pub change: Option<f64>,
    /// The 95 % confidence interval of the change, not adjusted for other metrics.
    pub interval: Option<(f64, f64)>,
    /// How likely so large a change is where nothing changed, on both sides.
    pub p: Option<f64>,
    /// The same among all metrics that were gated together, by Benjamini and Hochberg.
    pub adjusted_p: Option<f64>,
    /// How it was measured.
    pub method: Option<String>,
    /// The change that matters, as a share.
    pub threshold: f64,
    /// The least regression that would be seen with a probability of 90 %, as a share.
    pub detectable: Option<f64>,
    /// How many more sessions would decide; left out where nothing is open, or no number of them would.
    pub more_sessions: Option<usize>,
    /// The value of `run` in the spec that starts another session of the same revision, where that decides.
    pub next_run: Option<u32>,
    /// The autocorrelation of neighboring sessions, where it is more than chance.
    pub correlation: Option<f64>,
    /// The sessions that it was compared with.
    pub baseline: Sessions,
    /// The sessions that were judged.
    pub candidate: Sessions,
    /// The regression that is not resolved or acknowledged; of a pending line, where it began before the candidate.
    pub open: Option<OpenChange>,
    /// The acknowledgements that apply.
    pub acks: Vec<Acknowledged>,
    /// What else a reader has to know.
    pub notes: Vec<String>,
    /// Whether the default branch fails this without the candidate, which is not worse than that by more than the threshold.
    pub on_default: bool,
    /// How many earlier sessions are of commits that no branch has, and are not in the baseline.
    pub unreachable: usize,
    /// Whether nothing ran and the numbers were made.
    pub synthetic: bool,
}

/// Sessions of one side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sessions {
    /// The median of the sessions.
    pub median: Option<f64>,
    /// The coefficient of variation between sessions.
    pub variation: Option<f64>,
    /// How many runs they had that count.
    pub runs: usize,
    /// The sessions, the oldest first: by their commits, else by time.
    pub sessions: Vec<SessionValue>,
}

/// One session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionValue {
    /// The id of the session.
    pub session: String,
    /// When its first run began.
    pub started_at: String,
    /// The commit, where that is known.
    pub commit: Option<String>,
    /// The median of its runs.
    pub value: f64,
    /// The result files of these runs, below the results folder; left out in the data of a report where the first series of the file that
    /// has this session names the same.
    pub results: Vec<String>,
    /// Who shared a node with one of these runs: names of benchmarks, and those of pods that are of none.
    pub neighbors: BTreeSet<String>,
}

/// A regression that the newest sessions do not show, and that is not over.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingChange {
    /// Its first session.
    pub session: String,
    /// When that began.
    pub since: String,
    /// How many sessions there are since then that are not back.
    pub sessions: usize,
    /// Why it is neither open nor over.
    pub why: Why,
    /// How large it is, where it was open.
    pub size: Option<Size>,
}

/// A regression that is not resolved or acknowledged.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenChange {
    /// Its first session.
    pub session: String,
    /// When it was first measured: in that session, or in one of a later commit that ran before.
    pub since: String,
    /// The commit of that session.
    pub commit: Option<String>,
    /// The commit of the session before it.
    pub after: Option<String>,
    /// How many sessions it has had: with those that are judged, unless they are of another branch.
    pub sessions: usize,
    /// How many of them are of its newest level, which `change` is of.
    pub measured: usize,
    /// How large it is: its newest level against the one before it opened.
    pub size: Option<Size>,
    /// How large its first step was, where it has several.
    pub first: Option<Size>,
    /// The later levels of it that were worse again, the oldest first.
    pub steps: Vec<LevelChange>,
    /// How much worse than that level the candidate is, where it is so significantly and by more than the threshold.
    pub further: Option<Size>,
}

/// An acknowledgement that applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Acknowledged {
    pub file: String,
    /// Who accepted.
    pub by: String,
    /// Why it was accepted.
    pub reason: String,
    /// The first session of the level that it accepts.
    pub session: Option<String>,
    /// The greatest regression that it accepts, as a share; any, where that is not said.
    pub max_change: Option<f64>,
    /// Until when.
    pub expires: Option<String>,
    /// Whether that day is over, so that it does not hold any more.
    pub expired: bool,
}

/// The geometric mean of changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Geomean {
    pub metric: String,
    /// The change as a share.
    pub change: f64,
    /// The cases that it is made of.
    pub cases: usize,
    /// The cases that have no ratio: incomparable ones, and those with values that are not positive.
    pub excluded: usize,
}

/// A case that only one side has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unmatched {
    pub benchmark: String,
    /// The case as shown to people.
    pub case_name: String,
    /// `baseline` or `candidate`.
    pub only: String,
}

/// A result file that did not count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftOut {
    pub path: String,
    /// The code that says why.
    pub code: String,
    /// Why it did not count.
    pub message: String,
}
