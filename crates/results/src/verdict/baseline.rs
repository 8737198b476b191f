//! Which of the earlier sessions a new one is held against.
//!
//! A change for the worse never becomes the new normal by itself: it stays open, and its sessions stay out of the baseline, until
//! somebody acknowledges it or the level comes back. A change for the better is the new normal once it is a level.

use std::ops::RangeInclusive;

use super::drift_segments;
use super::effect::{self, Effect, correlation, of_history};
use super::judge::{opposite, worse};
use super::short_history::{self, SETTLED, YOUNGEST};
use super::{LEAST_HISTORY, LEAST_SEGMENT, Policy, SIGNIFICANT, Scale, WINDOW};
use kubebench_format::result::v1::Direction;
use kubebench_stats::change::{self, LEAST_CORRELATION};
use kubebench_stats::{self as stats, hampel};
use kubebench_syntax::invariant::Invariant as _;

/// So many of the newest sessions are looked at together, and open a change where they are this unlikely. Each is a look of its own, so
/// that this is stricter than one verdict; with 0.005 a gate that wants a second hit fails by itself more often than in 1.5 % of
/// histories whose neighbors are correlated by 0.5 (`cargo bench --bench gate`).
const TOGETHER: usize = 20;
/// See [`TOGETHER`].
const OPENS: f64 = 0.0008;
/// What is better for a while is this unlikely before it is left out; of a series that is not young, and so shows it better, the second.
const FRESH: [f64; 2] = [0.001, 0.0001];
/// Of the sessions of a change, one in so many may be nearer to the level before.
const STRAYS: usize = 5;

/// A place from which people accepted the level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// The first session that is accepted.
    pub at: usize,
    /// The greatest change for the worse that was accepted, as a share; any, where that is not said.
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
    /// What it is.
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

impl Open {
    /// Returns whether `new` sessions are past the change: they are nearer to the baseline, of the sessions `before` it, than to those
    /// `since` it.
    pub fn is_over(self, scale: Scale, before: &[f64], since: &[f64], new: &[f64], policy: Policy) -> bool {
        // By medians: a session that failed halfway may have no place on the scale, and one that is wild moves a mean anywhere.
        let level = |values: &[f64]| scale.place(stats::quantile(values.iter().copied(), 0.5));
        let from_baseline = worse(level(new) - level(before), policy.direction);
        let from_change = worse(level(since) - level(new), policy.direction);
        from_baseline.zip(from_change).is_some_and(|(lost, regained)| lost < regained)
    }
}

/// What earlier sessions are good for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Baseline {
    /// The sessions that a new one is held against, the oldest first.
    pub sessions: Vec<usize>,
    /// The change that is open.
    pub open: Option<Open>,
    /// The changes of level, the oldest first.
    pub changes: Vec<Change>,
    /// How many first sessions stand alone, and are of no level.
    pub apart: usize,
}

/// Finds the baseline in `values`, one a session in the order of time; `marks` are acknowledgements.
pub fn baseline(values: &[f64], policy: Policy, marks: &[Mark]) -> Baseline {
    let everything = || (0..values.len()).collect();
    // What fell to nothing is measured by what it was, also when it has been nothing for longer.
    let by_first = || values.split_at_checked(LEAST_HISTORY).and_then(|(first, rest)| Scale::of(first, rest));
    let Some((scale, places)) = floored(values).or_else(|| {
        let scale = Scale::of(values, &[]).or_else(by_first)?;
        Some((scale, scale.places(values)))
    }) else {
        return Baseline { sessions: everything(), ..Baseline::default() };
    };
    let bound = scale.bound(policy.threshold, policy.direction);
    let (starts, steady) = segments(&places, scale, policy, bound, marks);
    let mut walk = Walk {
        loses_all: policy.loses_all(values.iter().copied()),
        steady,
        places,
        scale,
        policy,
        bound,
        accepted: Vec::new(),
        reference: None,
        found: Baseline { apart: starts.first().copied().unwrap_or_default(), ..Baseline::default() },
    };
    for (start, end) in starts.iter().zip(starts.iter().skip(1).chain([&values.len()])) {
        walk.segment(*start, *end, marks);
    }
    walk.tail();
    let Walk { accepted, mut found, .. } = walk;
    found.sessions = recent(&accepted).to_vec();
    if let Some(open) = &mut found.open {
        open.sessions = values.len() - open.from;
    }
    found
}

/// Returns where segments begin, which is at change points and where people accepted a level, and the places with what stands alone
/// drawn in. Each part between these is by itself. A first session that stands alone is in none.
fn segments(places: &[f64], scale: Scale, policy: Policy, bound: f64, marks: &[Mark]) -> (Vec<usize>, Vec<f64>) {
    let first = usize::from(short_history::begins_apart(scale, policy, places));
    let mut cuts: Vec<usize> =
        marks.iter().map(|mark| mark.at).filter(|at| (first..places.len()).contains(at)).collect();
    cuts.extend([first, places.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let (mut starts, mut steady) = (Vec::new(), places.get(..first).expected("at most all of the places").to_vec());
    for (from, to) in cuts.iter().zip(cuts.iter().skip(1)) {
        let part = places.get(*from..*to).expected("parts of the places, in order");
        let turn = short_history::turn(scale, policy, part).map(|turn| from + turn);
        let ends: Vec<usize> = [*from].into_iter().chain(turn).chain([*to]).collect();
        for (from, to) in ends.iter().zip(ends.iter().skip(1)) {
            let part = hampel::drawn_in(places.get(*from..*to).expected("parts of the part, in order"));
            let cuts = change::change_points(&part, LEAST_SEGMENT).into_iter().map(|point| point.at);
            let cuts: Vec<usize> = [0].into_iter().chain(cuts).chain([part.len()]).collect();
            for (first, next) in cuts.iter().zip(cuts.iter().skip(1)) {
                let steps =
                    drift_segments::cuts(part.get(*first..*next).expected("parts of the part, in order"), bound);
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
    /// The same, what stands alone drawn in: one wild session neither is a level nor hides one.
    steady: Vec<f64>,
    scale: Scale,
    policy: Policy,
    bound: f64,
    /// The sessions of the level that is normal.
    accepted: Vec<usize>,
    /// That level as it was when it began: many small steps for the worse are one large one.
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
        let turn = match worse {
            _ if is_accepted => Turn::Accepted,
            Some(worse) if worse >= self.bound => Turn::Worse,
            Some(worse) if worse <= -self.bound => Turn::Better,
            None if difference.abs() >= self.bound => Turn::Better,
            _ if self.found.open.is_some() => Turn::Back,
            _ => Turn::Neither,
        };
        let mut change = Change { at: start, turn, difference };
        match turn {
            Turn::Worse => {
                if marks.is_empty() {
                    change.at = self.begin(start, end);
                    // The newest few may be too few for more than standing alone.
                    let is_short = end - change.at <= LEAST_SEGMENT;
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
        // Nobody knows a direction without one.
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
        if end < self.places.len() || end - start > LEAST_SEGMENT || !follows {
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

    /// Returns whether nothing tells these sessions and the newest accepted ones apart. Two levels in one baseline would look like noise
    /// and correlation, and hide what comes.
    fn is_as_accepted(&self, start: usize, end: usize) -> bool {
        let both = recent(&self.accepted).iter().copied().chain(start..end);
        let both: Vec<f64> = both.filter_map(|at| self.steady.get(at).copied()).collect();
        change::change_points(&both, LEAST_SEGMENT).is_empty()
    }

    /// Returns the mean; of few sessions, where one that is wild has a large part in it, the median.
    fn level(&self, start: usize, end: usize) -> f64 {
        if end - start < hampel::AROUND { self.median(start, end) } else { mean(&self.steady, start, end) }
    }

    /// Looks at the newest sessions, which are too few to be a level: several that are surely worse together open a change, and what
    /// is worse or better by one verdict stays out of the baseline until more sessions are there.
    fn tail(&mut self) {
        let direction = self.policy.direction;
        if self.found.open.is_some() || direction == Direction::None {
            return;
        }
        let since = self.leave_fresh();
        let all = self.accepted.len();
        let effects = |counts: RangeInclusive<usize>, direction: Direction| -> Vec<(usize, Effect)> {
            counts.filter_map(|count| Some((count, self.effect(all.checked_sub(count)?, direction)?))).collect()
        };
        let as_worse = effects(1..=TOGETHER.min(since), direction);
        let rest = |count: usize| self.rest(all - count);
        let surely = as_worse.iter().filter(|(count, effect)| *count > 1 && effect.p <= OPENS);
        if let Some((count, effect)) = surely.min_by(|(one, _), (other, _)| rest(*one).total_cmp(&rest(*other))) {
            let from =
                self.accepted.split_off(all - count).first().copied().expected("the sessions that open a change");
            self.found.open = Some(Open { from, sessions: *count });
            self.found.changes.push(Change { at: from, turn: Turn::Worse, difference: effect.difference });
        } else {
            // Of a short history, one alone: what is left would look steadier than it is.
            let most = if all >= SETTLED { LEAST_SEGMENT - 1 } else { 1 };
            let most = most.min(since);
            let few =
                as_worse.into_iter().filter(|(count, _)| *count <= most).chain(effects(1..=most, opposite(direction)));
            let out = few.map(|(count, _)| count).min_by(|one, other| rest(*one).total_cmp(&rest(*other)));
            self.accepted.truncate(all - out.unwrap_or_default());
        }
    }

    /// Leaves out the newest sessions that are surely better than those before, and too few to be a level: what got worse after them would
    /// look like the noise of both. Returns how many sessions are since these, which together with earlier ones are no neighbors.
    fn leave_fresh(&mut self) -> usize {
        let all = self.accepted.len();
        let direction = opposite(self.policy.direction);
        let ends = (0..2 * LEAST_SEGMENT).filter_map(|since| all.checked_sub(since));
        let stretches =
            ends.flat_map(|end| (2..LEAST_SEGMENT).filter_map(move |count| Some(end.checked_sub(count)?..end)));
        let surely = stretches.filter_map(|stretch| {
            let effect =
                self.between(self.accepted.get(..stretch.start)?, self.accepted.get(stretch.clone())?, direction)?;
            let [of_young, of_old] = FRESH;
            (effect.p <= if stretch.start < SETTLED { of_young } else { of_old }).then_some((stretch, effect.p))
        });
        let Some((stretch, _)) = surely.min_by(|(_, one), (_, other)| one.total_cmp(other)) else { return all };
        let since = all - stretch.end;
        self.accepted.drain(stretch);
        since
    }

    /// Returns what two levels that part at `at` leave of the recent accepted sessions: the sum of the squared distances from them.
    fn rest(&self, at: usize) -> f64 {
        let recent = self.accepted.len().saturating_sub(WINDOW + TOGETHER);
        let squares = |sessions: &[usize]| {
            let places = || sessions.iter().filter_map(|session| self.places.get(*session).copied());
            let level = stats::mean(places());
            stats::sum(places().map(|place| (place - level).powi(2)))
        };
        let parts = self.accepted.split_at_checked(at).expected("a cut among the accepted sessions");
        squares(parts.0.get(recent..).expected("a look back from before the cut")) + squares(parts.1)
    }

    /// Returns how the accepted sessions from `at` differ from those before, where that is significant, matters, and is for the worse as
    /// `direction` has it.
    fn effect(&self, at: usize, direction: Direction) -> Option<Effect> {
        let (before, after) = self.accepted.split_at_checked(at)?;
        self.between(before, after, direction)
    }

    /// The same of any sessions and those before them.
    fn between(&self, before: &[usize], after: &[usize], direction: Direction) -> Option<Effect> {
        let before = recent(before);
        if before.len() < YOUNGEST || before.len() < LEAST_HISTORY && after.len() > 1 {
            return None;
        }
        let bound = if before.len() < LEAST_HISTORY { 2.0 * self.bound } else { self.bound };
        let of = |places: &[f64], sessions: &[usize]| -> Vec<f64> {
            sessions.iter().filter_map(|session| places.get(*session).copied()).collect()
        };
        // What was slow for once says little of how much several in a row vary.
        let usual = of(if after.len() > 1 { &self.steady } else { &self.places }, before);
        let (count, after) = (after.len(), of(&self.places, after));
        let center = stats::mean(usual.iter().copied());
        // Before what takes long: most sessions are where the others are.
        let level = worse(stats::mean(after.iter().copied()) - center, direction)?;
        if level < bound {
            return None;
        }
        // Neighbors that follow each other are not always seen to do so, and several of them are not several sessions.
        let least = if after.len() > 1 || usual.len() >= LEAST_HISTORY { LEAST_CORRELATION } else { 0.0 };
        let correlation = correlation(&usual).unwrap_or_default().max(least);
        let effect = of_history(self.scale, &usual, &after, Some(correlation))?;
        let lost = |places: Vec<f64>| -> Vec<f64> {
            places.into_iter().filter_map(|place| worse(place - center, direction)).collect()
        };
        // A change is in its sessions, all but one of five; what was slow for once is in none but itself.
        let lasting = lasting(&lost(after));
        if effect.p > SIGNIFICANT || lasting < level / 2.0 {
            return None;
        }
        let noise = effect::noise(&usual);
        let is_new = lost(of(&self.places, before))
            .windows(count)
            .all(|stretch| lasting > effect::next_of_its_kind(self::lasting(stretch), noise, count));
        is_new.then_some(effect)
    }
}

/// Returns those of the accepted sessions that are looked back on.
fn recent(accepted: &[usize]) -> &[usize] {
    accepted.get(accepted.len().saturating_sub(WINDOW)..).expected("the newest of the accepted sessions")
}

/// Returns what all but one of five of these losses are at least.
fn lasting(losses: &[f64]) -> f64 {
    let mut sorted = losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(losses.len() / STRAYS).copied().unwrap_or_default()
}

fn mean(places: &[f64], start: usize, end: usize) -> f64 {
    stats::mean(places.get(start..end).expected("sessions of the series").iter().copied())
}
