//! The states of series and cases, counted; and what is said where no regression is open: how much that means.

use std::collections::BTreeMap;

use super::chart::Chart;
use super::site::{Case, Obstacle};
use kubebench_results::compare::model::Verdict;
use kubebench_results::compare::words;

/// How a series is, as the counters of the first page have it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// A regression is open.
    Worse,
    /// It may have got worse, and a later session decides.
    Pending,
    Improved,
    /// No change was seen.
    Quiet,
    /// It got worse, and that was accepted.
    Accepted,
    /// It has limits alone, and keeps them.
    Limited,
    /// It is inconclusive.
    Undecided,
    /// The default branch never ran it.
    New,
}

impl State {
    /// All, in the order of the counters.
    pub(super) const ALL: [Self; 8] = [
        Self::Worse,
        Self::Pending,
        Self::Improved,
        Self::Quiet,
        Self::Accepted,
        Self::Limited,
        Self::Undecided,
        Self::New,
    ];

    /// Returns the state of a series.
    pub(super) fn of(chart: &Chart<'_>) -> Self {
        match (chart.verdict(), chart.line().map(|line| line.reason.as_str())) {
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), Some("accepted")) => Self::Accepted,
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), Some("withinLimits" | "fixedBaseline")) => Self::Limited,
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), _) => Self::Quiet,
            (Some(Verdict::Improved), _) => Self::Improved,
            (Some(Verdict::Regressed), _) => Self::Worse,
            (Some(Verdict::Pending), _) => Self::Pending,
            (Some(Verdict::New), _) => Self::New,
            _ => Self::Undecided,
        }
    }

    /// Returns what it is called.
    pub(super) fn words(self) -> &'static str {
        match self {
            Self::Worse => "worse",
            Self::Pending => "pending",
            Self::Improved => "improved",
            Self::Quiet => "no change",
            Self::Accepted => "accepted",
            Self::Limited => "within limits",
            Self::Undecided => "inconclusive",
            Self::New => "new",
        }
    }

    /// Returns its name in paths.
    pub(super) fn slug(self) -> String {
        self.words().replace(' ', "-")
    }
}

/// The states of series and cases, counted.
#[derive(Debug, Default)]
pub(super) struct Tally {
    series: BTreeMap<State, usize>,
    /// Those without a change that are too noisy or too short to detect even a 50 % regression.
    blind: usize,
    /// The files that did not count.
    left_out: usize,
    /// The cases whose newest session failed, those that a gate misses, and those that are new: of each target one.
    pub(super) failing: usize,
    pub(super) missing: usize,
    pub(super) new: usize,
    /// The changes that would have been seen, sorted.
    seen: Vec<f64>,
}

impl Tally {
    /// Counts what is known of cases; `left_out` files did not count.
    pub(super) fn of<'a, 'b: 'a>(cases: impl Iterator<Item = &'a Case<'b>>, left_out: usize) -> Self {
        let mut tally = Self { left_out, ..Self::default() };
        for case in cases {
            for trouble in &case.troubles {
                let count = match trouble.what {
                    Obstacle::New => &mut tally.new,
                    Obstacle::Missing => &mut tally.missing,
                    Obstacle::Failed { .. } | Obstacle::NoValue { .. } => &mut tally.failing,
                };
                *count += 1;
            }
            case.charts.iter().filter(|chart| chart.counts()).for_each(|chart| tally.add(chart));
        }
        tally.seen.sort_by(f64::total_cmp);
        tally
    }

    /// Returns how many series are in a state.
    pub(super) fn count(&self, state: State) -> usize {
        self.series.get(&state).copied().unwrap_or_default()
    }

    /// Returns in how many series nothing got worse, or only what was accepted.
    pub(super) fn known(&self) -> usize {
        [State::Quiet, State::Accepted, State::Limited, State::Improved]
            .into_iter()
            .map(|state| self.count(state))
            .sum()
    }

    fn add(&mut self, chart: &Chart<'_>) {
        let line = chart.line();
        let state = State::of(chart);
        if state == State::Quiet && line.is_some_and(words::is_blind) {
            self.blind += 1;
        } else if state == State::Quiet {
            self.seen.extend(line.and_then(|line| line.detectable));
        }
        *self.series.entry(state).or_default() += 1;
    }

    /// Returns the heading.
    pub(super) fn heading(&self) -> &'static str {
        let open = self.count(State::Pending) + self.count(State::Undecided) + self.count(State::New);
        match (self.known(), open + self.failing + self.missing + self.new + self.left_out) {
            (0, _) => "Nothing can be said yet",
            (_, 0) if self.count(State::Accepted) == 0 => "Nothing got worse",
            _ => "No regression is open",
        }
    }

    /// Says in how many series nothing was seen, what would have been, and what is unknown.
    pub(super) fn sentence(&self) -> String {
        let quiet = self.count(State::Quiet);
        let series = |state: State, what: &str| {
            Some(self.count(state)).filter(|count| *count > 0).map(|count| format!("{count} series {what}."))
        };
        let cases = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 case {one}.")),
            count => Some(format!("{count} cases {many}.")),
        };
        let parts = [
            (quiet > 0).then(|| format!("No regressions in {quiet} series.{}", self.would_have_seen())),
            (self.blind > 0).then(|| {
                let (count, is) = (self.blind, if self.blind == 1 { "is" } else { "are" });
                format!("{count} of them {is} too noisy or too short to detect even a 50 % regression.")
            }),
            series(State::Pending, "may have got worse: a later session decides"),
            series(State::Improved, "improved"),
            series(State::Accepted, "got worse, and that was accepted"),
            series(State::Limited, "kept the limits"),
            series(
                State::Undecided,
                if self.count(State::Undecided) == 1 { "is inconclusive" } else { "are inconclusive" },
            ),
            series(State::New, if self.count(State::New) == 1 { "is new" } else { "are new" }),
            cases(self.failing, "fails", "fail"),
            cases(self.missing, "is missing", "are missing"),
            cases(self.new, "is new and has no result yet", "are new and have no result yet"),
            (self.left_out > 0).then(|| format!("{} result files did not count.", self.left_out)),
        ];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        if said.is_empty() { "There is no result that counts.".to_owned() } else { said.join(" ") }
    }

    fn would_have_seen(&self) -> String {
        let share = |place: usize| self.seen.get(place).map(|share| words::about(*share));
        match (share(self.seen.len() / 2), share(self.seen.len().saturating_sub(1))) {
            (Some(middle), Some(largest)) if middle != largest => format!(
                " With 90 % probability, a regression of {middle} would have been detected in half of them, one of {largest} in all."
            ),
            (Some(seen), _) => {
                format!(" A regression of {seen} or more would have been detected with 90 % probability.")
            }
            _ => String::new(),
        }
    }
}
