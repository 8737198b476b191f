//! What the values of sessions say: by how much a candidate differs from its baseline, how sure that is, and the verdict.
//!
//! Pure, of numbers alone. The method is `docs/explanation/statistics.md`'s: session medians, on a logarithmic scale where all are positive; a t
//! prediction interval against a history, exact rank and sign tests for groups and pairs; a verdict of change needs significance and
//! practical size.

mod baseline;
mod commits;
mod drift_segments;
mod effect;
mod first_session;
mod judge;
mod scale;
mod settled;
mod watch;

pub use baseline::{Baseline, Change, Mark, Open, Turn, baseline, baseline_of_commits};
pub(crate) use effect::FEW;
pub(crate) use effect::Method;
pub(crate) use effect::against_history;
pub(crate) use effect::of_few;
pub(crate) use effect::of_groups;
pub(crate) use effect::of_pairs;
pub use effect::{Effect, measure};
pub(crate) use judge::without_scale;
pub use judge::{Judgement, Policy, Reason, Verdict, judge, worse};
pub(crate) use scale::ROUNDED;
pub use scale::Scale;
pub use settled::baseline_after;
pub use watch::{Pending, Why};

/// A probability of at most this is significant.
pub(crate) const SIGNIFICANT: f64 = 0.05;
/// A metric without a gate is judged by a change of this.
pub const DEFAULT_THRESHOLD: f64 = 0.02;
/// The minimum number of sessions of a history that is evaluated, and of a level.
pub(crate) const LEAST_HISTORY: usize = 5;
/// The minimum number of earlier sessions before a regression can fail: below [`LEAST_HISTORY`], one of twice the threshold.
pub(crate) const SHORTEST_HISTORY: usize = 3;
/// The maximum number of sessions that are looked back on.
pub(crate) const WINDOW: usize = 60;

#[cfg(test)]
mod tests;
