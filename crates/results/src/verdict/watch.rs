//! What the newest sessions say of the normal level, one after the other, as the gates of their time saw them.
//!
//! A level needs five sessions to be found in the whole series. A change must not wait for that, nor be forgotten because the next
//! session looks better. So each session is compared with the level by itself, and together with those before it. What was worse by
//! itself is suspected until the evidence adds up to a change, or until later sessions show that nothing changed.

use std::ops::{Range, RangeInclusive};

use super::effect::{self, Effect, Method, correlation, of_history};
use super::judge::worse;
use super::{LEAST_HISTORY, Policy, SIGNIFICANT, Scale, Turn, WINDOW};
use kubebench_stats::distribution::t_two_sided;
use kubebench_stats::{self as stats, hampel, prediction, rank};
use kubebench_syntax::invariant::Invariant as _;

/// The newest sessions are of another level where that is this unlikely by chance: each session is another look.
pub(super) const CHANGED: f64 = 0.0005;
/// How many of the newest sessions are looked at together.
const TOGETHER: RangeInclusive<usize> = 2..=20;
/// Among this many first sessions there may be a change that a search for levels does not see.
pub(super) const SETTLED: usize = 3 * LEAST_HISTORY;
/// The fewest sessions before a change.
const LEAST_BEFORE: usize = 3;
/// Sessions are back at the normal level where they are this many times likelier there than at the changed one (Wald 1945, Page 1954).
pub(super) const LIKELIER: f64 = 300.0;
/// The first session of a change is noticed because it looks bad, so that it overstates the change: this share of it is taken for real.
const REAL: f64 = 0.6;
/// The maximum number of deviations from both levels that a session counts: an outlier decides nothing.
const FARTHEST: f64 = 2.0;

/// A series of sessions as it is watched.
#[derive(Clone, Copy)]
pub(super) struct Series<'a> {
    pub(super) scale: Scale,
    pub(super) policy: Policy,
    /// The change that matters, on the scale.
    pub(super) bound: f64,
    /// The sessions, on the scale.
    pub(super) places: &'a [f64],
    /// By how much they vary at least.
    pub(super) rounding: f64,
}

/// A regression that the newest sessions do not show, and that is not over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pending {
    /// Its first session.
    pub from: usize,
    /// How likely that session is where nothing changed.
    pub p: f64,
    /// Why it is neither open nor over.
    pub why: Why,
}

/// Why a regression is neither open nor over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its session was worse by itself, and later ones neither show it nor rule it out.
    NotShown,
    /// It was open, and this many of the newest sessions are back: too few for a level.
    Back(usize),
    /// It was open, and is worse by less than half of the threshold now.
    Shrunk,
}

/// What the newest sessions are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    /// Of the normal level, or better.
    Normal,
    /// Worse, since this session.
    Worse(usize),
    /// Perhaps worse.
    Pending(Pending),
}

/// What became of the sessions of the normal level.
pub(super) struct Watched {
    /// Those that are of it.
    pub(super) normal: Vec<usize>,
    /// Those that may be of another one.
    pub(super) held: Vec<usize>,
    /// Where it got better, and where it got worse and came back.
    pub(super) turns: Vec<(usize, Turn)>,
    pub(super) state: State,
}

/// A change that is there, or suspected.
#[derive(Clone, Copy)]
struct Shift {
    from: usize,
    /// By how much its first sessions are worse.
    worse: f64,
    p: f64,
    /// Whether several sessions together show it.
    is_shown: bool,
    back: Back,
}

/// The normal level.
struct Level {
    center: f64,
    variance: f64,
    /// Of how many sessions it is.
    sessions: usize,
}

/// How many of the newest sessions are back at the normal level, and how surely: the logarithm of the ratio of likelihoods.
#[derive(Clone, Copy, Default)]
struct Back {
    sessions: usize,
    evidence: f64,
}

impl Back {
    fn with(self, evidence: f64) -> Self {
        let evidence = (self.evidence + evidence).max(0.0);
        Self { sessions: if evidence > 0.0 { self.sessions + 1 } else { 0 }, evidence }
    }
}

impl Series<'_> {
    /// Watches the sessions of the normal level, in the order of time.
    pub(super) fn watch(&self, accepted: &[usize]) -> Watched {
        let first = accepted.len().saturating_sub(WINDOW).max(LEAST_BEFORE.min(accepted.len()));
        let (before, watched) = accepted.split_at_checked(first).expected("at most all of the sessions");
        let mut normal = before.to_vec();
        let (mut held, mut turns) = (Vec::new(), Vec::new());
        let mut shift: Option<Shift> = None;
        for at in watched.iter().copied() {
            shift = self.suspect(shift, &normal, &held, at);
            if shift.is_some() {
                held.push(at);
            } else {
                normal.push(at);
            }
            if shift.is_none_or(|shift| !shift.is_shown)
                && let Some(shown) = self.together(&normal, &held)
            {
                let mut all = normal;
                all.append(&mut held);
                all.sort_unstable();
                let since = all.split_off(all.partition_point(|at| *at < shown.from));
                let is_level = shown.worse < 0.0 && since.len() >= LEAST_HISTORY;
                (normal, held) = if is_level { (since, Vec::new()) } else { (all, since) };
                turns.extend(is_level.then_some((shown.from, Turn::Better)));
                // What is better may still become a level.
                shift = Some(Shift { is_shown: shown.worse > 0.0, ..shown }).filter(|_| !is_level);
            }
            if let Some(known) = shift
                && self.is_back(known.back, &normal, &held)
                && (!known.is_shown || known.back.sessions >= LEAST_HISTORY)
            {
                let mut back = held.split_off(held.len() - known.back.sessions);
                if known.is_shown {
                    turns.extend(
                        [Some(known.from), back.first().copied()].into_iter().flatten().zip([Turn::Worse, Turn::Back]),
                    );
                    held.clear();
                }
                // What no gate was sure of is part of what the benchmark does.
                normal.append(&mut held);
                normal.append(&mut back);
                normal.sort_unstable();
                shift = None;
            }
        }
        let state = match shift.filter(|shift| shift.worse > 0.0) {
            None => State::Normal,
            Some(shift) if shift.is_shown && !self.is_back(shift.back, &normal, &held) => State::Worse(shift.from),
            Some(Shift { from, p, is_shown, back, .. }) => {
                let why = if is_shown { Why::Back(back.sessions) } else { Why::NotShown };
                State::Pending(Pending { from, p, why })
            }
        };
        if matches!(state, State::Worse(_)) {
            held.clear();
        }
        Watched { normal, held, turns, state }
    }

    /// Returns where a part of the series changed so early that the sessions before are no level.
    pub(super) fn early_turn(&self, part: Range<usize>) -> Option<usize> {
        let watched = self.watch(&part.take(SETTLED).collect::<Vec<_>>());
        match watched.state {
            State::Worse(from) => Some(from),
            State::Normal | State::Pending(_) => {
                watched.turns.iter().rfind(|(_, turn)| *turn == Turn::Better).map(|(at, _)| *at)
            }
        }
    }

    /// Returns how many of the newest sessions of a level that is worse are back at the normal one.
    pub(super) fn back(&self, normal: &[usize], level: &[usize]) -> usize {
        let mut back = Back::default();
        let usual = self.level(normal);
        for end in 2..level.len() {
            let (since, at) = (level.get(..end - back.sessions), level.get(end));
            let Some((since, at)) = since.zip(at) else { continue };
            back = back.with(self.evidence(&usual, self.shown(&usual, since), *at));
        }
        if self.is_back(back, normal, level) { back.sessions } else { 0 }
    }

    /// Returns whether the newest of the sessions `since` a change are back, and not only better than it.
    fn is_back(&self, back: Back, normal: &[usize], since: &[usize]) -> bool {
        let newest = since.get(since.len().saturating_sub(back.sessions)..).unwrap_or_default();
        let worse = |difference: f64| self.worse(difference) >= self.bound;
        let by_all = || {
            let (normal, newest) = (values(self.places, recent(normal)), values(self.places, newest));
            of_history(self.scale, self.rounding, &normal, &[], &newest).filter(|effect| effect.p <= CHANGED)
        };
        let remains = || by_all().is_some_and(|effect| worse(effect.difference));
        // Outliers of the normal level hide what most of the newest sessions show.
        let lasts = || self.differ(recent(normal), newest).is_some_and(|(difference, _)| worse(difference));
        back.evidence >= stats::ln(LIKELIER) && !remains() && !lasts()
    }

    /// Returns the change that is suspected after another session.
    fn suspect(&self, shift: Option<Shift>, normal: &[usize], held: &[usize], at: usize) -> Option<Shift> {
        let hit = || {
            let (worse, effect) = self.hit(normal, at)?;
            // Zeros have no noise: what is above many of them need not be seen twice.
            let is_shown = worse > 0.0 && effect.method == Method::FromZero && effect.p <= SIGNIFICANT;
            Some(Shift { from: at, worse, p: effect.p, is_shown, back: Back::default() })
        };
        let Some(known) = shift else { return hit() };
        if known.is_shown {
            let since = held.get(..held.len() - known.back.sessions).unwrap_or_default();
            let level = self.level(normal);
            let evidence = self.evidence(&level, self.shown(&level, since), at);
            return Some(Shift { back: known.back.with(evidence), ..known });
        }
        if let Some(other) = hit().filter(|hit| (hit.worse > 0.0) != (known.worse > 0.0)) {
            return Some(other);
        }
        if known.worse > 0.0 && self.rose_from_zeros(normal, held, at) {
            return Some(Shift { is_shown: true, ..known });
        }
        let suspected = (self.worse(known.worse) * REAL, 1);
        Some(Shift { back: known.back.with(self.evidence(&self.level(normal), suspected, at)), ..known })
    }

    /// Returns whether the sessions that are held and the next one are significantly above a level of zeros.
    fn rose_from_zeros(&self, normal: &[usize], held: &[usize], at: usize) -> bool {
        let normal = values(self.places, recent(normal));
        let since: Vec<f64> = held.iter().chain([&at]).filter_map(|at| self.places.get(*at).copied()).collect();
        let p = || rank::compare(&normal, &since).map(|found| found.p_greater);
        effect::is_of_zeros(self.scale, &normal, &since) && p().is_some_and(|p| p <= SIGNIFICANT)
    }

    /// Returns by how much a session is worse than the normal level, and its effect, where a gate would say that it differs.
    fn hit(&self, normal: &[usize], at: usize) -> Option<(f64, Effect)> {
        let (normal, place) = (values(self.places, recent(normal)), *self.places.get(at)?);
        let difference = place - stats::mean(normal.iter().copied());
        let is_near = difference.abs() < stats::deviation(normal.iter().copied());
        if normal.len() < LEAST_HISTORY || difference.abs() < self.bound || is_near {
            return None;
        }
        let effect = of_history(self.scale, self.rounding, &normal, &[], &[place])?;
        // One session after few zeros cannot be significant.
        let is_suspect = effect.p <= SIGNIFICANT || effect.method == Method::FromZero;
        (is_suspect && effect.is_new()).then(|| (self.worse(difference), effect))
    }

    /// Returns the change that the newest sessions show together, where they are surely of another level.
    fn together(&self, normal: &[usize], held: &[usize]) -> Option<Shift> {
        let all: Vec<usize> = normal.iter().chain(held).copied().collect();
        let all_places = values(self.places, &all);
        let calm = Sums::of(hampel::without_outliers(&all_places));
        let places = Sums::of(all_places);
        let shown = TOGETHER.filter_map(|count| {
            let start = all.len().checked_sub(count)?;
            // Sessions that are suspected, and not among these, are of neither level.
            let end = start.min(normal.len());
            let begin = end.saturating_sub(WINDOW);
            let (before, after) = (begin..end, start..all.len());
            let is_near = |of: &Sums| places.shift(&after, of, &before) < self.bound;
            if end < LEAST_BEFORE || is_near(&places) && is_near(&calm) {
                return None;
            }
            let (before, after) = (all.get(before)?, all.get(after)?);
            let (difference, p) = self.differ(before, after)?;
            let (n, m) = (before.len() as f64, after.len() as f64);
            let from = *after.first()?;
            let shift = Shift { from, worse: self.worse(difference), p, is_shown: true, back: Back::default() };
            // The division that leaves the least sum of squares.
            Some((shift, difference * difference * n * m / (n + m)))
        });
        shown.max_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(shift, _)| shift)
    }

    /// Returns the difference of sessions from those before them, and how likely it is where nothing changed, where they are surely of
    /// another level: by Student's t test, without the outliers before, and no outlier deciding after.
    fn differ(&self, before: &[usize], after: &[usize]) -> Option<(f64, f64)> {
        let usual = hampel::without_outliers(&values(self.places, before));
        let new = values(self.places, after);
        let (center, level) = (stats::mean(usual.iter().copied()), stats::mean(new.iter().copied()));
        let difference = level - center;
        if difference.abs() < self.bound {
            return None;
        }
        let squares = |values: &[f64], center: f64| stats::sum(values.iter().map(|value| (value - center).powi(2)));
        let correlation = correlation(&usual);
        let (n, m) = (usual.len(), new.len());
        let freedom = (n + m - 2) as f64;
        let own = squares(&usual, center) * prediction::hidden(n, correlation);
        let error =
            ((own + squares(&new, level)) / freedom).sqrt().max(self.rounding) * prediction::spread(n, m, correlation);
        let all = values(self.places, before);
        let p = if effect::is_of_zeros(self.scale, &all, &new) {
            rank::compare(&all, &new)?.p_greater
        } else {
            let by_t = if error > 0.0 {
                t_two_sided(difference / error, prediction::freedom(n + m - 1, correlation))
            } else {
                0.0
            };
            // Where neither side varies, their order says how likely that is by chance.
            if effect::varies(&usual) || effect::varies(&new) { by_t } else { by_t.min(1.0 / effect::ways((n, m))) }
        };
        let gone = |values: &[f64]| -> Vec<f64> {
            values.iter().map(|place| (place - center) * difference.signum()).collect()
        };
        let lasting = lasting(&gone(&new));
        if p.is_nan() || p > CHANGED || lasting < difference.abs() / 2.0 {
            return None;
        }
        let noise = effect::noise(&usual);
        let is_new =
            gone(&all).windows(m).all(|stretch| lasting > effect::next_of_its_kind(self::lasting(stretch), noise, m));
        is_new.then_some((difference, p))
    }

    /// Returns where the newest sessions of the normal level are, and how much they vary, without outliers.
    fn level(&self, normal: &[usize]) -> Level {
        let usual = hampel::without_outliers(&values(self.places, recent(normal)));
        let hidden = prediction::hidden(usual.len(), correlation(&usual));
        Level {
            center: stats::mean(usual.iter().copied()),
            variance: stats::deviation(usual.iter().copied()).powi(2) * hidden,
            sessions: usual.len(),
        }
    }

    /// Returns the level of the sessions `since` a change that they show, as a difference from the normal one, and of how many it is.
    fn shown(&self, normal: &Level, since: &[usize]) -> (f64, usize) {
        (stats::quantile(values(self.places, since).into_iter(), 0.5) - normal.center, since.len())
    }

    /// Returns how much a session speaks for the normal level, and not for one that differs by `shift` and is known by so many sessions.
    fn evidence(&self, normal: &Level, (shift, sessions): (f64, usize), at: usize) -> f64 {
        let Some(from) = self.places.get(at).map(|place| place - normal.center) else { return 0.0 };
        if normal.sessions < 2 || !shift.is_finite() {
            return 0.0;
        }
        let variance = normal.variance * (1.0 + 1.0 / normal.sessions as f64 + 1.0 / sessions as f64);
        if variance <= 0.0 {
            return if from.abs() <= (from - shift).abs() { f64::INFINITY } else { f64::NEG_INFINITY };
        }
        let far = FARTHEST * variance.sqrt();
        let from = from.clamp(shift.min(0.0) - far, shift.max(0.0) + far);
        ((from - shift).powi(2) - from.powi(2)) / (2.0 * variance)
    }

    /// Returns by how much a difference is worse.
    fn worse(&self, difference: f64) -> f64 {
        worse(difference, self.policy.direction).unwrap_or(difference)
    }
}

/// Sums of the first values, by which the mean of any neighbors is known at once.
struct Sums(Vec<f64>);

impl Sums {
    fn of(values: Vec<f64>) -> Self {
        let mut total = 0.0;
        let sums = values.into_iter().map(|value| {
            total += value;
            total
        });
        Self([0.0].into_iter().chain(sums).collect())
    }

    /// Returns how far the mean of a part is from that of another one.
    fn shift(&self, part: &Range<usize>, others: &Self, other: &Range<usize>) -> f64 {
        let mean =
            |sums: &[f64], part: &Range<usize>| Some((sums.get(part.end)? - sums.get(part.start)?) / part.len() as f64);
        mean(&self.0, part).zip(mean(&others.0, other)).map_or(0.0, |(one, other)| (one - other).abs())
    }
}

/// Returns those of the sessions that are looked back on.
pub(super) fn recent(sessions: &[usize]) -> &[usize] {
    sessions.get(sessions.len().saturating_sub(WINDOW)..).expected("the newest of the sessions")
}

fn values(places: &[f64], sessions: &[usize]) -> Vec<f64> {
    sessions.iter().filter_map(|at| places.get(*at).copied()).collect()
}

/// Returns what two of three of these losses are at least: what was slow for once is in none but itself.
fn lasting(losses: &[f64]) -> f64 {
    let mut sorted = losses.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(losses.len().saturating_sub(1) / 3).copied().unwrap_or_default()
}
