//! The lines of a gate as people look at them: what got worse first, equal lines as one, and what distinguishes lines that look
//! the same.

use std::collections::{BTreeMap, BTreeSet};

use super::super::model::{GateReport, Line, NO_SESSION, NONE_OF_NAMED, Outcome, Verdict};
use super::super::words;
use super::{by_weight, named};
use crate::verdict::worse;

/// What a gate says, sorted by what somebody has to do about it; the worst first.
#[derive(Debug)]
pub(super) struct Parts<'a> {
    /// What got worse and is not on the default branch.
    pub(super) worse: Vec<&'a Line>,
    /// What is open there already.
    pub(super) known: Vec<&'a Line>,
    /// What has no value there either; equal ones together.
    pub(super) known_failing: Vec<Group<'a>>,
    /// What the default branch never ran; equal ones together.
    pub(super) new: Vec<Group<'a>>,
    /// What later sessions decide.
    pub(super) pending: Vec<&'a Line>,
    /// What has no value, or none that can be compared; equal ones together.
    pub(super) failing: Vec<Group<'a>>,
    /// What is inconclusive although it is worse by what was measured.
    pub(super) doubtful: Vec<&'a Line>,
    /// What is inconclusive, and better by what was measured.
    pub(super) undecided: Vec<&'a Line>,
    /// What is inconclusive without one; equal ones together.
    pub(super) unmeasured: Vec<Group<'a>>,
    /// All others.
    pub(super) decided: Vec<&'a Line>,
}

/// Lines of which the same is said.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) lines: Vec<&'a Line>,
}

/// How an answer is marked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Passed,
    Failed,
    /// It passes, and an earlier session was worse.
    Pending,
    /// It passes, and at least half of the series are inconclusive.
    Inconclusive,
    /// It passes, since the default branch never ran any of it.
    New,
}

/// In which part a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Worse,
    Known,
    KnownFailing,
    Pending,
    New,
    Failing,
    Doubtful,
    Undecided,
    Unmeasured,
    Decided,
}

impl Part {
    fn of(line: &Line) -> Self {
        match line.verdict {
            Verdict::Regressed if line.on_default => Self::Known,
            Verdict::Regressed => Self::Worse,
            Verdict::Invalid | Verdict::Missing | Verdict::Incomparable if line.on_default => Self::KnownFailing,
            Verdict::New => Self::New,
            Verdict::Pending => Self::Pending,
            Verdict::Invalid | Verdict::Missing | Verdict::Incomparable => Self::Failing,
            Verdict::Inconclusive if words::shown(line).is_none() || is_short(line) => Self::Unmeasured,
            Verdict::Inconclusive if is_regression(line) => Self::Doubtful,
            Verdict::Inconclusive => Self::Undecided,
            Verdict::Improved | Verdict::NoChangeSeen | Verdict::Unchanged => Self::Decided,
        }
    }
}

impl<'a> Parts<'a> {
    pub(super) fn of(lines: &'a [Line]) -> Self {
        let sorted: Vec<(&Line, Part)> = by_weight(lines).into_iter().map(|line| (line, Part::of(line))).collect();
        let all = |wanted: Part| -> Vec<&Line> {
            sorted.iter().filter(|(_, part)| *part == wanted).map(|(line, _)| *line).collect()
        };
        Self {
            worse: all(Part::Worse),
            known: all(Part::Known),
            known_failing: groups(all(Part::KnownFailing)),
            new: groups(all(Part::New)),
            pending: all(Part::Pending),
            failing: groups(all(Part::Failing)),
            doubtful: all(Part::Doubtful),
            undecided: all(Part::Undecided),
            unmeasured: groups(all(Part::Unmeasured)),
            decided: all(Part::Decided),
        }
    }

    /// Returns how an answer with these lines is marked: nothing that was not decided is called a pass.
    pub(super) fn standing(&self, answer: &GateReport) -> Standing {
        let (blind, decided): (Vec<&Line>, Vec<&Line>) =
            self.decided.iter().partition(|line| line.verdict != Verdict::Improved && words::is_blind(line));
        let open =
            self.doubtful.len() + self.undecided.len() + count(&self.unmeasured) + count(&self.failing) + blind.len();
        match answer.outcome {
            Outcome::Passed if !self.pending.is_empty() => Standing::Pending,
            Outcome::Passed if open == 0 && decided.is_empty() && !self.new.is_empty() => Standing::New,
            Outcome::Passed if open >= decided.len() + self.known.len() => Standing::Inconclusive,
            Outcome::Passed => Standing::Passed,
            _ => Standing::Failed,
        }
    }
}

/// Returns how many lines groups have.
pub(super) fn count(groups: &[Group<'_>]) -> usize {
    groups.iter().map(|group| group.lines.len()).sum()
}

/// Returns whether the sessions of a series are too few to say something of interest.
fn is_short(line: &Line) -> bool {
    matches!(line.reason.as_str(), "shortHistory" | "tooFewSessions")
}

/// Returns whether the estimate is worse, or nothing says which way is better.
fn is_regression(line: &Line) -> bool {
    let change = words::shown(line).map(|size| size.change.unwrap_or(size.levels.1 - size.levels.0));
    change.is_some_and(|change| worse(change, line.direction).is_none_or(|worse| worse > 0.0))
}

/// Puts lines together of which the same is said: of what never ran, all cases of a target.
fn groups(lines: Vec<&Line>) -> Vec<Group<'_>> {
    let mut places: BTreeMap<(Verdict, &str, &str), usize> = BTreeMap::new();
    let mut groups: Vec<Group<'_>> = Vec::new();
    for line in lines {
        let target = if line.reason == NO_SESSION { target(line) } else { "" };
        let at = *places.entry((line.verdict, &line.message, target)).or_insert(groups.len());
        match groups.get_mut(at) {
            Some(group) => group.lines.push(line),
            None => groups.push(Group { lines: vec![line] }),
        }
    }
    groups
}

impl Group<'_> {
    /// Says what is known of all, and names some of them.
    pub(super) fn sentence(&self, places: &Places) -> [String; 2] {
        let Some(first) = self.lines.first() else { return Default::default() };
        if first.reason == NO_SESSION {
            return self.never_ran(first);
        }
        let metric = |line: &Line| (words::benchmark(line), words::metric(line));
        let is_one = self.lines.iter().all(|line| metric(line) == metric(first));
        let name = |line: &&Line| if is_one { places.case(line) } else { places.name(line) };
        let names: Vec<String> = self.lines.iter().map(name).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let series = match names.len() {
            1 => places.name(first),
            count if is_one => format!("{count} cases of {}, {}", words::benchmark(first), words::metric(first)),
            count => format!("{count} series"),
        };
        let some = if names.len() > 1 { named(&names) } else { String::new() };
        [format!("{}: {series}: {}", first.verdict.words(), first.message), some]
    }

    fn never_ran(&self, first: &Line) -> [String; 2] {
        let cases: BTreeSet<(&str, &str)> =
            self.lines.iter().map(|line| (line.benchmark.as_str(), line.case.as_str())).collect();
        let benchmarks: BTreeSet<&str> = cases.iter().map(|(benchmark, _)| *benchmark).collect();
        let names: Vec<&str> = self.lines.iter().map(|line| line.case_name.as_str()).collect();
        let names = distinct(&names);
        let of = if first.message == NONE_OF_NAMED { "of the candidate " } else { "" };
        let (on, verdict) = (format!("{of}on {}", target(first)), first.verdict.words());
        match (cases.len(), benchmarks.len()) {
            (1, _) => {
                let case = if first.case_name.is_empty() { String::new() } else { format!(" [{}]", first.case_name) };
                [format!("{verdict}: {}{case} has no result {on}", first.benchmark), String::new()]
            }
            (count, 1) => {
                [format!("{verdict}: {count} cases of {} have no result {on}", first.benchmark), named(&names)]
            }
            (count, of) => {
                let benchmarks: Vec<&str> = benchmarks.into_iter().collect();
                [format!("{verdict}: {count} cases of {of} benchmarks have no result {on}"), named(&benchmarks)]
            }
        }
    }
}

/// Returns texts without those that were there before, in their order.
fn distinct<'t>(texts: &[&'t str]) -> Vec<&'t str> {
    let mut known = BTreeSet::new();
    texts.iter().copied().filter(|text| known.insert(*text)).collect()
}

fn target(line: &Line) -> &str {
    line.environment.get("target").map_or("", String::as_str)
}

/// What distinguishes lines whose benchmark, case and metric are the same: the target, or the hardware.
#[derive(Debug, Default)]
pub(super) struct Places {
    targets: BTreeMap<Series, BTreeSet<String>>,
    hardware: BTreeMap<Series, BTreeSet<String>>,
}

/// Benchmark, case, and metric with its labels.
type Series = (String, String, String);

impl Places {
    pub(super) fn of(lines: &[Line]) -> Self {
        let mut places = Self::default();
        for line in lines {
            places.targets.entry(series(line)).or_default().insert(target(line).to_owned());
            places.hardware.entry(series(line)).or_default().insert(words::hardware(&line.environment));
        }
        places
    }

    /// Returns where a line is of, where another one differs in that alone.
    pub(super) fn place(&self, line: &Line) -> Option<String> {
        let count = |all: &BTreeMap<Series, BTreeSet<String>>| all.get(&series(line)).map_or(0, BTreeSet::len);
        let (targets, hardware) = (count(&self.targets), count(&self.hardware));
        match (targets, hardware) {
            (0 | 1, 0 | 1) => None,
            (targets, hardware) if targets == hardware => Some(target(line).to_owned()),
            _ => Some(words::hardware(&line.environment)),
        }
    }

    /// Returns whether it distinguishes some lines.
    pub(super) fn are_needed(&self, lines: &[&Line]) -> bool {
        lines.iter().any(|line| self.place(line).is_some())
    }

    /// Names the case of a line: `size=1 on gpu-eu`.
    pub(super) fn case(&self, line: &Line) -> String {
        let on = self.place(line).map_or_else(String::new, |place| format!(" on {place}"));
        format!("{}{on}", line.case_name)
    }

    /// Names the metric of a line, of whatever case: `train on gpu-eu, speed`.
    pub(super) fn metric(&self, line: &Line) -> String {
        let on = self.place(line).map_or_else(String::new, |place| format!(" on {place}"));
        format!("{}{on}, {}", words::benchmark(line), words::metric(line))
    }

    /// Names a line: `train [size=1] on gpu-eu, speed`.
    pub(super) fn name(&self, line: &Line) -> String {
        let case = if line.case_name.is_empty() { String::new() } else { format!(" [{}]", line.case_name) };
        let on = self.place(line).map_or_else(String::new, |place| format!(" on {place}"));
        format!("{}{case}{on}, {}", words::benchmark(line), words::metric(line))
    }
}

fn series(line: &Line) -> Series {
    (line.benchmark.clone(), line.case.clone(), words::metric(line))
}
