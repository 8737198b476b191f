//! What decides at once, and what waits for a second session of the same revision: the same for changes, limits and fixed values.

use super::super::super::history::size;
use super::super::super::model::{Line, OTHER_UNIT, OpenChange, Sessions};
use super::super::super::words;
use super::{Against, Draft, Rule, says};
use crate::dataset::Point;
use crate::verdict::{Scale, Verdict, against_history, judge, measure};
use kubebench_format::result::v1::Direction;
use kubebench_syntax::unit::MetricUnit;

impl Draft<'_> {
    /// Returns the sessions of the newest revision that are hits by themselves, where the gate waits for a second one.
    fn hits(&self, is_hit: impl Fn(f64) -> bool) -> Vec<&Point> {
        self.alike.iter().filter_map(|at| self.point(*at)).filter(|point| is_hit(point.median)).collect()
    }

    /// A first hit waits where the gate says so; a second one decides, and the change began with the first.
    pub(super) fn confirm(&self, line: &mut Line) {
        if !self.rule.is_confirmed || line.verdict != Verdict::Regressed || line.open.is_some() {
            return;
        }
        let base: Vec<f64> = self.base().map(|point| point.median).collect();
        let hits = self.hits(|value| {
            let scale = Scale::of(&base, &[value]);
            let effect = scale.and_then(|scale| against_history(scale, &base, &[value]));
            judge(effect, self.policy, None).verdict == Verdict::Regressed
        });
        let [first, _, ..] = hits.as_slice() else {
            let message = std::mem::take(&mut line.message);
            return waits(line, "firstHit", &message);
        };
        let is_since = |at: &usize| self.point(*at).is_some_and(|point| point.session >= first.session);
        let seen = self.medians(&self.alike.iter().copied().filter(is_since).collect::<Vec<_>>());
        let effect = Scale::of(&base, &seen).and_then(|scale| measure(scale, &base, &[], &seen));
        line.open = self.since(first.session, seen.len()).map(|since| OpenChange {
            after: line.baseline.sessions.last().and_then(|session| session.commit.clone()),
            size: effect.map(|effect| size(&effect, &base, &seen)),
            ..since
        });
    }

    /// A fixed value has no sessions, and so no noise: it is a limit.
    pub(super) fn against_value(&self, line: &mut Line, fixed: f64) {
        let Some(median) = line.candidate.median else { return };
        if fixed == 0.0 {
            let said = "a change from a fixed 0 has no percentage: write `min` or `max`".to_owned();
            return says(line, Verdict::Inconclusive, "noScale", said);
        }
        let limit = self.policy.threshold;
        let change = |value: f64| (value - fixed) / fixed.abs();
        let worse = |value: f64| if self.policy.direction == Direction::Lower { change(value) } else { -change(value) };
        (line.change, line.interval, line.p, line.adjusted_p) = (Some(change(median)), None, None, None);
        (line.method, line.detectable, line.more_sessions) = (None, None, None);
        line.baseline = Sessions { median: Some(fixed), ..Sessions::default() };
        let fixed = words::in_unit(fixed, line.unit.as_deref());
        let said = format!("{} compared with the fixed {fixed}", words::change(change(median), None));
        says(line, Verdict::NoChangeSeen, "fixedBaseline", said.clone());
        if worse(median) > limit {
            self.passes_limit(line, "fixedBaseline", said, |value| worse(value) > limit);
        }
    }

    /// Returns the unit in which the spec has limits and fixed values, where that of the candidate measures something else.
    pub(super) fn other_unit(&self) -> Option<MetricUnit> {
        let metric = &self.series.metric;
        let unit = self.request.policies.unit(&self.rule.benchmark, &metric.name, &metric.labels)?;
        let own = MetricUnit::of_metric(metric.unit.as_deref());
        own.conversion_to(&unit).is_none().then_some(unit)
    }

    /// Numbers of the spec say nothing of a value that measures something else.
    pub(super) fn without_limits(&self, line: &mut Line, unit: &MetricUnit) {
        let Rule { min, max, max_regression, against, .. } = self.rule;
        let is_fixed = max_regression.is_some() && matches!(against, Against::Value(_));
        let limits = [(min.is_some(), "`min`"), (max.is_some(), "`max`"), (is_fixed, "the `value` of the baseline")];
        let limits: Vec<&str> = limits.into_iter().filter(|(is_there, _)| *is_there).map(|(_, what)| what).collect();
        if limits.is_empty() {
            return;
        }
        let said = format!(
            "the candidate is {}, but {} of the spec in {}, and these units cannot be converted",
            line.unit.as_ref().map_or_else(|| "without a unit".to_owned(), |unit| format!("in {unit}")),
            limits.join(" and "),
            unit.text()
        );
        if line.verdict == Verdict::Regressed && !is_fixed {
            line.notes.push(said);
            return;
        }
        (line.change, line.interval, line.p, line.adjusted_p) = (None, None, None, None);
        (line.method, line.detectable, line.more_sessions) = (None, None, None);
        if is_fixed {
            line.baseline = Sessions::default();
        }
        says(line, Verdict::Incomparable, OTHER_UNIT, said);
    }

    /// Limits decide by themselves.
    pub(super) fn limits(&self, line: &mut Line) {
        let Some(median) = line.candidate.median else { return };
        let unit = line.unit.clone();
        let shown = |value: f64| words::in_unit(value, unit.as_deref());
        let below = self.rule.min.filter(|min| median < *min);
        let above = self.rule.max.filter(|max| median > *max);
        if let Some(min) = below {
            let said = format!("{} is below `min: {min}`", shown(median));
            self.passes_limit(line, "belowMin", said, |value| value < min);
        } else if let Some(max) = above {
            let said = format!("{} is above `max: {max}`", shown(median));
            self.passes_limit(line, "aboveMax", said, |value| value > max);
        }
    }

    /// A value that passes a limit fails the gate, unless it is a first hit that waits; what failed already waits for nothing.
    fn passes_limit(&self, line: &mut Line, reason: &str, said: String, is_hit: impl Fn(f64) -> bool) {
        if !self.rule.is_confirmed || self.hits(is_hit).len() > 1 {
            says(line, Verdict::Regressed, reason, said);
        } else if line.verdict == Verdict::Regressed {
            line.notes.push(said);
        } else {
            waits(line, reason, &said);
        }
    }
}

fn waits(line: &mut Line, reason: &str, said: &str) {
    says(line, Verdict::Pending, reason, format!("{said}; a second session of the same revision decides"));
}
