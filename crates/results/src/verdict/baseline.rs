//! Which of the earlier sessions a new one is compared with.
//!
//! A regression never becomes the new normal by itself: it stays open, and its sessions stay out of the baseline, until somebody
//! acknowledges it or the level comes back. An improvement is the new normal once it is a level.

use std::ops::Range;

use super::commits::{self, Differs};
use super::drift_segments;
use super::first_session;
use super::judge::worse;
use super::watch::{Pending, SETTLED, Series, State, Why, recent};
use super::{LEAST_HISTORY, Policy, Scale, WINDOW};
use kubebench_format::result::v1::Direction;
use kubebench_stats::change;
use kubebench_stats::{self as stats, hampel};
use kubebench_syntax::invariant::Invariant as _;

/// Of the sessions of a change, one in so many may be nearer to the level before.
const STRAYS: usize = 5;

/// A place from which people accepted the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The first session that is accepted.
    pub at: usize,
    /// The greatest regression that was accepted, as a share; any, where that is not said.
    pub at_most: Option<f64>,
}

impl Mark {
    /// Returns how much worse than before is accepted, on the scale; nothing where that is whatever comes, as 100 % is of what `loses_all`.
    pub(crate) fn limit(self, scale: Scale, policy: Policy, loses_all: bool) -> Option<f64> {
        let share = self.at_most.filter(|share| *share < 1.0 || !loses_all);
        share.map(|share| scale.bound(share, policy.direction))
    }
}

/// How a level turned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It got worse, and stays open.
    Worse,
    /// It got worse, and people accepted that.
    Accepted,
    /// It got better.
    Better,
    /// It came back from an open change.
    Back,
    /// It moved by less than the threshold, or nothing says which way is better.
    Neither,
}

/// A change of level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The first session of the new level.
    pub at: usize,
    pub turn: Turn,
    /// By how much, on the scale, against the level before.
    pub difference: f64,
}

/// A regression that is neither acknowledged nor over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Open {
    /// Its first session.
    pub from: usize,
    /// How many sessions it has had.
    pub sessions: usize,
}

/// What earlier sessions are good for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The sessions that a new one is compared with, the oldest first.
    pub sessions: Vec<usize>,
    /// The change that is open.
    pub open: Option<Open>,
    /// A change that the newest sessions do not show, and that is not over.
    pub pending: Option<Pending>,
    /// Sessions that may be of another level: they show how much values vary, and not where the level is.
    pub held: Vec<usize>,
    /// The changes of level, the oldest first.
    pub changes: Vec<Change>,
    /// How many first sessions are separate, and are of no level.
    pub apart: usize,
}

/// Finds the baseline in `values`, one a session in the order of time; `marks` are acknowledgements.
pub fn baseline(values: &[f64], policy: Policy, marks: &[Mark]) -> Baseline {
    baseline_of_commits(values, &[], policy, marks)
}

/// The same of sessions of which it is known where another commit `begins`.
pub fn baseline_of_commits(values: &[f64], begins: &[usize], policy: Policy, marks: &[Mark]) -> Baseline {
    let everything = || (0..values.len()).collect();
    let plain = || Scale::of(values, &[]).map(|scale| (scale, scale.places(values)));
    let Some((scale, places)) = floored(values).or_else(plain) else {
        return Baseline { sessions: everything(), ..Baseline::default() };
    };
    let bound = scale.bound(policy.threshold, policy.direction);
    let commits = commits::that_differ(values, begins);
    let cuts = marks.iter().map(|mark| mark.at).chain(commits.iter().map(|commit| commit.at)).collect();
    let rounding = scale.rounding(values);
    let (starts, steady) = segments(Series { scale, policy, bound, places: &places, rounding }, cuts);
    let mut walk = Walk {
        loses_all: policy.loses_all(values.iter().copied()),
        steady,
        places,
        scale,
        policy,
        bound,
        rounding,
        commits,
        accepted: Vec::new(),
        reference: None,
        found: Baseline { apart: starts.first().copied().unwrap_or_default(), ..Baseline::default() },
    };
    for (start, end) in starts.iter().zip(starts.iter().skip(1).chain([&values.len()])) {
        walk.segment(*start, *end, marks);
    }
    walk.newest();
    walk.draw_to_commits(begins, marks);
    let Walk { accepted, mut found, .. } = walk;
    found.sessions = recent(&accepted).to_vec();
    if let Some(open) = &mut found.open {
        open.sessions = values.len() - open.from;
    }
    found
}

/// Returns where segments begin, which is at the `cuts` and at change points, and the places with outliers drawn in. Each part between cuts is
/// by itself. A first session that is an outlier is in none.
fn segments(series: Series<'_>, mut cuts: Vec<usize>) -> (Vec<usize>, Vec<f64>) {
    let Series { bound, places, .. } = series;
    let first = usize::from(first_session::is_outlier(series));
    cuts.retain(|at| (first..places.len()).contains(at));
    cuts.extend([first, places.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let (mut starts, mut steady) = (Vec::new(), places.get(..first).expected("at most all of the places").to_vec());
    for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
        let ends: Vec<usize> = [*from].into_iter().chain(series.early_turn(*from..*to)).chain([*to]).collect();
        for (from, to) in ends.iter().zip(ends.iter().skip(1)) {
            let part = hampel::drawn_in(places.get(*from..*to).expected("parts of the places, in order"));
            let cuts = change::change_points(&part, LEAST_HISTORY).into_iter().map(|point| point.at);
            let cuts: Vec<usize> = [0].into_iter().chain(cuts).chain([part.len()]).collect();
            for (first, next) in cuts.iter().zip(cuts.iter().skip(1)) {
                let level = part.get(*first..*next).expected("parts of the part, in order");
                let steps = drift_segments::cuts(level, bound);
                starts.extend([0].into_iter().chain(steps).map(|step| from + first + step));
            }
            steady.extend(part);
        }
    }
    (starts, steady)
}

/// Returns logarithms of values of which few are zero and none is less, each zero as a hundredth of the least other one: in shares of the
/// median of all, one zero would make a change of a later level look larger or smaller than it is.
fn floored(values: &[f64]) -> Option<(Scale, Vec<f64>)> {
    const NOTHING: f64 = 0.01;
    let (zeros, others): (Vec<f64>, Vec<f64>) = values.iter().partition(|value| **value == 0.0);
    let is_rare = !zeros.is_empty() && zeros.len() <= values.len() / STRAYS;
    if !is_rare || others.iter().any(|value| !value.is_finite() || *value < 0.0) {
        return None;
    }
    let least = others.iter().copied().fold(f64::INFINITY, f64::min);
    let place = |value: &f64| Scale::Log.place(if *value == 0.0 { least * NOTHING } else { *value });
    let places: Vec<f64> = values.iter().map(place).collect();
    places.iter().all(|place| place.is_finite()).then_some((Scale::Log, places))
}

struct Walk {
    /// Whether 100 % is all that there is to lose.
    loses_all: bool,
    places: Vec<f64>,
    /// The same with outliers drawn in: a single outlier neither is a level nor hides one.
    steady: Vec<f64>,
    scale: Scale,
    policy: Policy,
    bound: f64,
    /// By how much values vary at least.
    rounding: f64,
    /// The commits that `compare` finds to differ from those before them.
    commits: Vec<Differs>,
    /// The sessions of the level that is normal.
    accepted: Vec<usize>,
    /// That level as it was when it began: many small regressions are one large one.
    reference: Option<f64>,
    found: Baseline,
}

impl Walk {
    fn segment(&mut self, start: usize, end: usize, marks: &[Mark]) {
        let Some(reference) = self.reference else {
            self.accept_only(start, end);
            return;
        };
        let marks: Vec<Mark> = marks.iter().copied().filter(|mark| mark.at == start).collect();
        let level = if marks.is_empty() { self.level(start, end) } else { self.median(start, end) };
        let difference = level - reference;
        let worse = worse(difference, self.policy.direction);
        let is_accepted = self.is_accepted(difference, &marks);
        let beyond = if is_accepted { None } else { self.beyond(start, end, reference, &marks) };
        if let Some(at) = beyond.filter(|at| end - at > 1) {
            self.segment(start, at, &marks);
            self.segment(at, end, &[]);
            return;
        }
        // What was accepted for many cases accepts nothing where nothing got worse.
        if is_accepted
            && self.found.open.is_none()
            && worse.is_some_and(|worse| worse.abs() < self.bound / 2.0)
            && self.is_as_accepted(start, end)
        {
            self.accepted.extend(start..end);
            return;
        }
        // One session alone is no change yet.
        let is_accepted = is_accepted || beyond.is_some();
        let worse = worse.map(|worse| {
            let prefixes = (start + LEAST_HISTORY..end).map(|to| mean(&self.steady, start, to) - reference);
            let by_commit =
                self.differs(start).filter(|commit| commit.scale == self.scale).map(|commit| commit.difference);
            let once =
                prefixes.chain(by_commit).filter_map(|difference| self::worse(difference, self.policy.direction));
            once.fold(worse, f64::max)
        });
        let turn = match worse {
            _ if is_accepted => Turn::Accepted,
            Some(worse) if worse >= self.bound => Turn::Worse,
            Some(worse) if worse <= -self.bound => Turn::Better,
            None if difference.abs() >= self.bound => Turn::Better,
            _ if self.found.open.is_some() => Turn::Back,
            _ => Turn::Neither,
        };
        let commit = self.found.open.and_then(|open| self.differs(open.from)).map(|commit| commit.end);
        if matches!(turn, Turn::Back | Turn::Neither) && commit.is_some_and(|end| start < end) {
            return;
        }
        let mut change = Change { at: start, turn, difference };
        match turn {
            Turn::Worse => {
                if marks.is_empty() {
                    change.at = self.begin(start, end);
                    // The newest few may be too few for more than standing alone.
                    let is_short = end - change.at <= LEAST_HISTORY;
                    let places = if is_short { &self.places } else { &self.steady };
                    change.difference = mean(places, change.at, end) - reference;
                }
                self.found.open.get_or_insert(Open { from: change.at, sessions: 0 });
            }
            Turn::Accepted | Turn::Better => {
                self.found.open = None;
                self.accept_only(start, end);
            }
            Turn::Back | Turn::Neither => {
                self.found.open = None;
                if !self.is_as_accepted(start, end) {
                    self.accepted.clear();
                }
                self.accepted.extend(start..end);
            }
        }
        // Without a direction the turn is unknown.
        let turn = if self.policy.direction == Direction::None { Turn::Neither } else { turn };
        self.found.changes.push(Change { turn, ..change });
    }

    fn is_accepted(&self, difference: f64, marks: &[Mark]) -> bool {
        let worse = worse(difference, self.policy.direction);
        marks.iter().any(|mark| {
            let limit = mark.limit(self.scale, self.policy, self.loses_all);
            limit.is_none_or(|limit| worse.is_none_or(|worse| worse <= limit))
        })
    }

    /// Returns where a level that people accepted, and that is worse than what they accepted, got worse since: the sessions before are
    /// what was accepted, and the others are a change of their own.
    fn beyond(&self, start: usize, end: usize, reference: f64, marks: &[Mark]) -> Option<usize> {
        marks.first()?;
        let parts = (start + 1..end).map(|at| (at, self.median(start, at), self.median(at, end)));
        let accepted = parts.filter(|(_, first, _)| self.is_accepted(first - reference, marks));
        let differ = accepted.filter(|(_, first, second)| {
            worse(second - first, self.policy.direction).is_some_and(|worse| worse >= self.bound)
        });
        let squares = |from: usize, to: usize| self.squares(from, to, mean(&self.places, from, to));
        let rest = |at: usize| squares(start, at) + squares(at, end);
        differ.min_by(|(one, ..), (other, ..)| rest(*one).total_cmp(&rest(*other))).map(|(at, ..)| at)
    }

    /// Returns the sum of the squared distances from a level.
    fn squares(&self, start: usize, end: usize, level: f64) -> f64 {
        stats::sum(
            self.places.get(start..end).expected("sessions of the series").iter().map(|place| (place - level).powi(2)),
        )
    }

    fn median(&self, start: usize, end: usize) -> f64 {
        stats::quantile(self.steady.get(start..end).expected("sessions of the series").iter().copied(), 0.5)
    }

    /// Returns where the newest level begins if it is as short as a level can be: the first of its sessions may be of the level before,
    /// and are in it because it would be too short without them.
    fn begin(&mut self, start: usize, end: usize) -> usize {
        let follows = self.accepted.last().is_some_and(|last| last + 1 == start);
        if end < self.places.len() || end - start > LEAST_HISTORY || !follows {
            return start;
        }
        let recent = recent(&self.accepted).iter();
        let old = stats::mean(recent.filter_map(|at| self.places.get(*at).copied()));
        let rest = |at: &usize| self.squares(start, *at, old) + self.squares(*at, end, mean(&self.places, *at, end));
        let begin = (start..end.saturating_sub(1)).min_by(|one, other| rest(one).total_cmp(&rest(other)));
        let begin = begin.unwrap_or(start);
        self.accepted.extend(start..begin);
        begin
    }

    fn accept_only(&mut self, start: usize, end: usize) {
        self.accepted = (start..end).collect();
        self.reference = Some(self.level(start, end.min(start + WINDOW)));
    }

    /// Returns whether nothing distinguishes these sessions from the newest accepted ones. Two levels in one baseline would look
    /// like noise and correlation, and hide what comes.
    fn is_as_accepted(&self, start: usize, end: usize) -> bool {
        let both = recent(&self.accepted).iter().copied().chain(start..end);
        let both: Vec<f64> = both.filter_map(|at| self.steady.get(at).copied()).collect();
        change::change_points(&both, LEAST_HISTORY).is_empty()
    }

    /// Looks at the newest sessions one after the other: what they are is not a level yet.
    fn newest(&mut self) {
        let direction = self.policy.direction;
        if direction == Direction::None {
            return;
        }
        let places = self.places.clone();
        let series = Series {
            scale: self.scale,
            policy: self.policy,
            bound: self.bound,
            places: &places,
            rounding: self.rounding,
        };
        if let Some(open) = self.found.open {
            return self.back(open, series);
        }
        let watched = series.watch(&self.accepted);
        for (index, (at, turn)) in watched.turns.iter().enumerate() {
            let next = watched.turns.get(index + 1).map(|(next, _)| *next).filter(|next| next > at);
            self.change(*at..next.unwrap_or(self.places.len()), *turn);
        }
        match watched.state {
            State::Normal => {}
            State::Worse(from) => {
                self.change(from..self.places.len(), Turn::Worse);
                self.found.open = Some(Open { from, sessions: 0 });
            }
            State::Pending(pending) => self.found.pending = Some(pending),
        }
        self.accepted = watched.normal;
        self.found.held = watched.held;
    }

    /// Looks at the newest sessions of a change that is open: where they are back they are not a level yet.
    fn back(&mut self, open: Open, series: Series<'_>) {
        let from = self.found.changes.last().map_or(open.from, |change| change.at);
        let level: Vec<usize> = (from..series.places.len()).collect();
        // What a commit brought is over in sessions of another one.
        let end = self.differs(open.from).map_or(from, |commit| commit.end.max(from));
        let since = level.len() - series.back(&self.accepted, &level).min(series.places.len() - end);
        let Some(at) = level.get(since).copied() else { return self.shrunk(open, &level) };
        self.found.open = None;
        if level.len() - since < LEAST_HISTORY {
            let why = Why::Back(level.len() - since);
            self.found.pending = Some(Pending { from: open.from, p: 0.0, why });
            self.found.held = level;
        } else {
            self.change(at..self.places.len(), Turn::Back);
            self.accepted.extend(level.iter().skip(since));
        }
    }

    /// Lets changes begin with commits, but for those that people accepted from a session on.
    fn draw_to_commits(&mut self, begins: &[usize], marks: &[Mark]) {
        let found: Vec<usize> = self.found.changes.iter().map(|change| change.at).collect();
        let ends = found.iter().copied().skip(1).chain([self.places.len()]);
        let mut start = self.found.apart;
        for (change, end) in self.found.changes.iter_mut().zip(ends) {
            let at = change.at;
            if begins.binary_search(&at).is_err() && marks.iter().all(|mark| mark.at != at) {
                change.at = commits::began(&self.steady, start..end, at, begins);
            }
            if let Some(open) = self.found.open.as_mut().filter(|open| open.from == at) {
                open.from = change.at;
            }
            start = change.at;
        }
    }

    /// Looks at a change that is open, and worse by less than half of the threshold now: it is over when that is so for as many sessions as
    /// decide at the beginning of a series, too.
    fn shrunk(&mut self, open: Open, level: &[usize]) {
        let Some(reference) = self.reference else { return };
        let has_shrunk = |sessions: &[usize]| {
            let places = sessions.iter().filter_map(|at| self.places.get(*at).copied());
            let difference = stats::quantile(places, 0.5) - reference;
            worse(difference, self.policy.direction).is_some_and(|worse| worse < self.bound / 2.0)
        };
        let newest = level.get(level.len().saturating_sub(SETTLED)..).unwrap_or_default();
        if !has_shrunk(level) || !has_shrunk(newest) {
            return;
        }
        self.found.open = None;
        if let Some(at) = newest.first().filter(|_| level.len() > SETTLED) {
            self.change(*at..self.places.len(), Turn::Neither);
            self.accepted.extend(newest);
        } else {
            self.found.pending = Some(Pending { from: open.from, p: 0.0, why: Why::Shrunk });
            self.found.held = level.to_vec();
        }
    }

    /// Returns the commit that begins with a session, where `compare` finds it to differ from the one before it.
    fn differs(&self, start: usize) -> Option<&Differs> {
        self.commits.iter().find(|commit| commit.at == start)
    }

    /// Adds a change that the newest sessions show, with the level that it began; what seemed to be one since then is part of it.
    fn change(&mut self, level: Range<usize>, turn: Turn) {
        let at = level.start;
        self.found.changes.retain(|change| change.at < at);
        let before = self.found.changes.last().map_or(self.found.apart, |change| change.at);
        let difference = mean(&self.places, at, level.end) - mean(&self.places, before, at);
        self.found.changes.push(Change { at, turn, difference });
    }

    /// Returns the mean; of few sessions, in which an outlier has a large part, the median.
    fn level(&self, start: usize, end: usize) -> f64 {
        if end - start < hampel::AROUND { self.median(start, end) } else { mean(&self.steady, start, end) }
    }
}

fn mean(places: &[f64], start: usize, end: usize) -> f64 {
    stats::mean(places.get(start..end).expected("sessions of the series").iter().copied())
}
