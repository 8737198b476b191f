//! What the default branch has without the candidate: whoever made it worse, it is not this candidate.

use std::collections::BTreeSet;

use super::super::super::accepted::applying;
use super::super::super::history::{levels, newest_level};
use super::super::super::line::Origin;
use super::super::super::model::Line;
use super::super::Head;
use super::{Adjusted, Against, Draft};
use crate::dataset::Point;
use crate::verdict::{LEAST_HISTORY, Reason, Scale, Verdict, judge, measure, worse};
use kubebench_stats as stats;

impl Draft<'_> {
    /// Returns whether the newest session of the default branch before the candidate fails this too, and the candidate is not worse than it
    /// by more than the threshold.
    pub(super) fn is_on_default(&self, line: &Line) -> bool {
        let origin = Origin { lineage: self.request.default_lineage(), ..self.origin() };
        let is_of_default = || self.sessions.iter().any(|session| origin.has(*session));
        let is_elsewhere = matches!(self.request.head, Head::Elsewhere { .. }) && self.request.candidate.is_newest();
        if self.is_standing || is_elsewhere && is_of_default() {
            return true;
        }
        let Some(before) = self.newest_before(origin) else { return false };
        let own = self.request.around(self.rule, self.partition, BTreeSet::from([before]));
        let draft = self.request.draft(self.rule, self.partition, &own, self.series.clone(), self.absence);
        // A first hit of the default branch is one among as many as that of the candidate.
        let among = line.adjusted_p.zip(line.p).filter(|(_, p)| *p > 0.0).map_or(1.0, |(adjusted, p)| adjusted / p);
        let candidate = draft.tested_p().map(|p| (p * among).min(1.0));
        let main = draft.line(Adjusted { candidate, pending: None });
        if !main.verdict.fails() {
            return line.reason == "open" && self.began_before();
        }
        self.candidate.is_empty() || !self.is_worse_than(&draft, &main, origin)
    }

    /// Returns whether the candidate, which is not of the default branch, shows a change that began there: sessions of it that were too few
    /// to show that, and are as bad.
    fn began_before(&self) -> bool {
        let Some(open) = self.now.open.filter(|_| !self.is_of_baseline()) else { return false };
        let since = self.medians(self.earlier.get(open.from..).unwrap_or_default());
        !since.is_empty() && !self.is_beyond(&since)
    }

    /// Returns the newest session of the default branch before the candidate: one with a value, where the candidate has one.
    fn newest_before(&self, origin: Origin<'_>) -> Option<usize> {
        let first = self.sessions.first().copied()?;
        let is_of_target = |at: usize| self.request.is_of_target(self.rule, self.partition, at);
        let is_before = |at: &usize| *at < first && origin.has(*at) && is_of_target(*at);
        if self.candidate.is_empty() {
            return (0..first).rev().find(is_before);
        }
        self.series.points.iter().rev().map(|point| point.session).find(is_before)
    }

    /// Returns whether the candidate is worse than the default branch is already, by more than the threshold.
    fn is_worse_than(&self, draft: &Self, main: &Line, origin: Origin<'_>) -> bool {
        let is_first_hit = main.reason == "change" && self.rule.against == Against::Default;
        let level = if is_first_hit { draft.medians(&draft.candidate) } else { self.level(origin) };
        self.is_beyond(&level)
    }

    /// Returns whether the candidate is worse than a level by more than the threshold: significantly, where the level has enough sessions.
    pub(super) fn is_beyond(&self, level: &[f64]) -> bool {
        let new = self.medians(&self.candidate);
        let Some(scale) = Scale::of(level, &new) else { return true };
        if level.len() >= LEAST_HISTORY {
            let judged = judge(measure(scale, level, &[], &new), self.policy, None);
            return judged.verdict == Verdict::Regressed || judged.reason == Reason::NoDirection;
        }
        let middle = |values: &[f64]| stats::quantile(values.iter().map(|value| scale.place(*value)), 0.5);
        let difference = middle(&new) - middle(level);
        let lost = worse(difference, self.policy.direction).unwrap_or(difference.abs());
        lost >= scale.bound(self.policy.threshold, self.policy.direction)
    }

    /// Returns the newest level of the default branch before the candidate.
    fn level(&self, origin: Origin<'_>) -> Vec<f64> {
        let first = self.sessions.first().copied();
        let is_earlier = |point: &Point| Some(point.session) < first && origin.is_member(point);
        let points = self.series.points.iter().enumerate().filter(|(_, point)| is_earlier(point));
        let places: Vec<usize> = points.map(|(at, _)| at).collect();
        if places.is_empty() {
            return Vec::new();
        }
        let about = applying(self.request.acks, origin, &self.series.metric, self.request.as_of);
        let levels = levels(about, origin, &self.series, &places, self.policy);
        newest_level(&levels.values, &levels.found).to_vec()
    }
}
