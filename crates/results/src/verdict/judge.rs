//! From an effect to a verdict.

use super::effect::{self, Effect, Method};
use super::{LEAST_HISTORY, SHORTEST_HISTORY, SIGNIFICANT};
use kubebench_format::result::v1::Direction;
use kubebench_stats::{self as stats, prediction};

/// What is said of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// It got worse, significantly and by at least the threshold.
    Regressed,
    /// A first hit that waits for a second session of the same revision.
    Pending,
    /// There are runs of the candidate, and none of them counts.
    Invalid,
    /// There is no run of the candidate.
    Missing,
    /// The sides differ in something that makes a comparison meaningless.
    Incomparable,
    /// Nothing can be said yet.
    Inconclusive,
    /// The default branch never ran it, so that there is nothing to compare with.
    New,
    /// It got better, significantly and by at least the threshold.
    Improved,
    /// Nothing is significant, and the estimate is within the threshold.
    NoChangeSeen,
    /// The whole interval is within the threshold.
    Unchanged,
}

impl Verdict {
    /// Returns whether it fails a gate that does not say otherwise.
    pub fn fails(self) -> bool {
        matches!(self, Self::Regressed | Self::Invalid | Self::Incomparable | Self::Missing)
    }

    /// Returns its name in data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Regressed => "regressed",
            Self::Pending => "pending",
            Self::Invalid => "invalid",
            Self::Missing => "missing",
            Self::Incomparable => "incomparable",
            Self::Inconclusive => "inconclusive",
            Self::New => "new",
            Self::Improved => "improved",
            Self::NoChangeSeen => "noChangeSeen",
            Self::Unchanged => "unchanged",
        }
    }

    /// Returns its name for people.
    pub fn words(self) -> &'static str {
        if self == Self::NoChangeSeen { "no change seen" } else { self.name() }
    }
}

/// The direction and the threshold of a verdict.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Policy {
    /// Which way is better.
    pub direction: Direction,
    /// The change that matters, as a share.
    pub threshold: f64,
}

impl Policy {
    /// Returns whether 100 % is all that there is to lose of these values.
    pub(crate) fn loses_all(self, mut values: impl Iterator<Item = f64>) -> bool {
        self.direction == Direction::Higher && values.all(|value| value >= 0.0)
    }
}

/// Why a verdict is what it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Significant, and at least the threshold.
    Change,
    /// The whole interval is within the threshold.
    Equivalent,
    /// Neither significant nor beyond the threshold.
    Nothing,
    /// Beyond the threshold, and not significant.
    NotSignificant,
    /// Significant by itself, and not among so many metrics.
    NotAmongSoMany,
    /// Significant, and the estimate within the threshold while the interval is not.
    MayBeBeyond,
    /// Significant, and earlier sessions were once as far off, and came back.
    SeenBefore,
    /// There are too few sessions to be significant.
    TooFew {
        /// How many each would do.
        wanted: usize,
    },
    /// Such a short history is trusted only where the change is large.
    ShortHistory {
        /// How many would do.
        wanted: usize,
    },
    /// It changed, and nothing says which way is better.
    NoDirection,
    /// Not significant, and so uncertain that the interval says nothing.
    Vague,
    /// Values have no change that can be said: the baseline's median is 0, and values are on both sides of it.
    NoScale,
    /// The same: a value is so far from the others that no share of these is a number.
    TooFar {
        /// That value.
        value: f64,
    },
}

/// A verdict, and what it rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The effect, where there are enough sessions to measure one.
    pub effect: Option<Effect>,
    /// The p value among all that were judged together, where they were.
    pub adjusted_p: Option<f64>,
    /// The least regression that would be seen with a probability of 90 %, as a share; nothing where that is not known.
    pub detectable: Option<f64>,
    /// How many more sessions of the candidate (of both sides of groups and pairs) would decide, if its level and the noise stay
    /// as they are; 0 where nothing is open, nothing where no number of them would.
    pub more: Option<usize>,
}

/// Judges an effect; `adjusted_p` decides instead of its own p where several were judged together.
pub fn judge(effect: Option<Effect>, policy: Policy, adjusted_p: Option<f64>) -> Judgement {
    let Some(effect) = effect else {
        let reason = Reason::TooFew { wanted: LEAST_HISTORY };
        let more = None;
        return Judgement { verdict: Verdict::Inconclusive, reason, effect: None, adjusted_p, detectable: None, more };
    };
    let bound = effect.scale.bound(policy.threshold, policy.direction);
    let (verdict, reason) = decide(&effect, policy, bound, adjusted_p.unwrap_or(effect.p));
    let more = if verdict == Verdict::Inconclusive { more(&effect, bound) } else { Some(0) };
    let detectable = detectable(&effect, policy.direction, bound);
    Judgement { verdict, reason, effect: Some(effect), adjusted_p, detectable, more }
}

/// Returns the judgement of values that have no scale.
pub(crate) fn without_scale(baseline: &[f64], candidate: &[f64]) -> Judgement {
    let median = stats::quantile(baseline.iter().copied(), 0.5);
    let distance = |value: &f64| (value - median).abs();
    let all = baseline.iter().chain(candidate).copied();
    let farthest = all.max_by(|one, other| distance(one).total_cmp(&distance(other))).filter(|_| median != 0.0);
    let reason = farthest.map_or(Reason::NoScale, |value| Reason::TooFar { value });
    let verdict = Verdict::Inconclusive;
    Judgement { verdict, reason, effect: None, adjusted_p: None, detectable: None, more: None }
}

fn decide(effect: &Effect, policy: Policy, bound: f64, p: f64) -> (Verdict, Reason) {
    let size = effect.difference.abs();
    let (low, high) = effect.interval;
    let (baseline, candidate) = effect.counts;
    // Values that are all the same have no small p either, however many they are.
    if effect.least_p > SIGNIFICANT && baseline.min(candidate) < least_group(effect.method) {
        return (Verdict::Inconclusive, Reason::TooFew { wanted: least_group(effect.method) });
    }
    let is_history = effect.method == Method::Prediction;
    if is_history && baseline < SHORTEST_HISTORY {
        return (Verdict::Inconclusive, Reason::ShortHistory { wanted: LEAST_HISTORY });
    }
    let is_beyond = size >= bound;
    let is_significant = p <= SIGNIFICANT;
    if is_history && baseline < LEAST_HISTORY && !(is_significant && size >= 2.0 * bound) {
        return (Verdict::Inconclusive, Reason::ShortHistory { wanted: LEAST_HISTORY });
    }
    let is_new = !is_history || candidate > baseline || effect.is_new();
    let inside = low > -bound && high < bound;
    match (is_significant, is_beyond) {
        (true, true) if !is_new => (Verdict::Inconclusive, Reason::SeenBefore),
        (true, true) => match worse(effect.difference, policy.direction) {
            Some(worse) if worse > 0.0 => (Verdict::Regressed, Reason::Change),
            Some(_) => (Verdict::Improved, Reason::Change),
            None => (Verdict::Inconclusive, Reason::NoDirection),
        },
        (false, _) if effect.is_vague() => (Verdict::Inconclusive, Reason::Vague),
        _ if inside => (Verdict::Unchanged, Reason::Equivalent),
        (true, false) => (Verdict::Inconclusive, Reason::MayBeBeyond),
        (false, false) => (Verdict::NoChangeSeen, Reason::Nothing),
        (false, true) if effect.p <= SIGNIFICANT => (Verdict::Inconclusive, Reason::NotAmongSoMany),
        (false, true) => (Verdict::Inconclusive, Reason::NotSignificant),
    }
}

/// Returns how much worse a difference is: negative for better.
pub fn worse(difference: f64, direction: Direction) -> Option<f64> {
    match direction {
        Direction::Higher => Some(-difference),
        Direction::Lower => Some(difference),
        Direction::None => None,
    }
}

/// Returns how many sessions each side needs at least before a test can be significant at all.
fn least_group(method: Method) -> usize {
    match method {
        Method::Pairs | Method::PairsByT => 6,
        Method::Unequal | Method::Ranks | Method::RanksApproximate | Method::Correlated => 4,
        Method::Prediction | Method::FromZero => LEAST_HISTORY,
    }
}

/// Returns the degrees of freedom, and the error of the difference, with `more` sessions: of the candidate, or of both sides of groups and
/// pairs.
fn error(effect: &Effect, more: usize) -> (f64, f64) {
    let (baseline, candidate) = effect.counts;
    let follows = effect.correlation;
    let now = candidate + more;
    let (freedom, spread) = match effect.method {
        Method::Prediction | Method::FromZero => {
            (prediction::freedom(baseline, follows), prediction::spread(baseline, now, follows))
        }
        Method::Correlated => (
            effect::correlated_freedom((baseline + more, now), follows),
            prediction::spread(baseline + more, now, follows),
        ),
        Method::Pairs | Method::PairsByT => (now as f64 - 1.0, (1.0 / now as f64).sqrt()),
        Method::Unequal => {
            ((baseline.min(candidate) + more) as f64 - 1.0, prediction::spread(baseline + more, now, 0.0))
        }
        Method::Ranks | Method::RanksApproximate => {
            ((baseline + more + now) as f64 - 2.0, prediction::spread(baseline + more, now, 0.0))
        }
    };
    (freedom, effect.deviation * spread)
}

/// Returns how many more sessions would decide: the interval would leave out 0, or lie within the bound.
fn more(effect: &Effect, bound: f64) -> Option<usize> {
    const MOST: usize = 30;
    let size = effect.difference.abs();
    let (baseline, candidate) = effect.counts;
    let least = match effect.method {
        Method::Prediction if baseline < LEAST_HISTORY => return Some(LEAST_HISTORY - baseline),
        // Each is above all that were 0.
        Method::FromZero => {
            return (1..=MOST).find(|more| effect::ways((baseline, candidate + more)) >= 1.0 / SIGNIFICANT);
        }
        Method::Prediction => 1,
        method => least_group(method).saturating_sub(candidate.min(baseline)).max(1),
    };
    let is_decided = |more: &usize| {
        let (freedom, error) = error(effect, *more);
        let half = prediction::quantile(0.975, freedom) * error;
        if size >= bound { half < size } else { size + half < bound }
    };
    (least..=MOST.max(least)).find(is_decided)
}

/// Returns the least regression that is seen with a probability of 90 %: what the interval, the threshold and the worst of
/// the history ask for, and the noise of the candidate above that.
fn detectable(effect: &Effect, direction: Direction, bound: f64) -> Option<f64> {
    // A little more than is said, for the sessions that are kept out of the baseline because they looked worse.
    const POWER: f64 = 0.92;
    let (freedom, error) = error(effect, 0);
    let half = prediction::quantile(0.975, freedom) * error;
    if !half.is_finite() {
        return None;
    }
    let worst = match direction {
        Direction::Higher | Direction::None => -effect.beyond.0,
        Direction::Lower => effect.beyond.1,
    };
    let noise = prediction::quantile(POWER, freedom) * error;
    let least = half.max(bound).max(worst) + noise;
    let sign = if direction == Direction::Lower { 1.0 } else { -1.0 };
    let change = effect.scale.change(sign * least).filter(|_| effect.method != Method::FromZero && !effect.is_vague());
    change.map(f64::abs).filter(|change| change.is_finite())
}

impl Judgement {
    /// Returns the change as a share: −0.08 for 8 % less.
    pub(crate) fn change(&self) -> Option<f64> {
        self.effect.and_then(|effect| effect.change())
    }

    /// Returns the interval of 95 % around the change.
    pub(crate) fn interval(&self) -> Option<(f64, f64)> {
        self.effect.filter(|effect| effect.counts.0 > 1)?.change_interval()
    }
}
