//! What the default branch has without the candidate: this candidate did not make it worse.

use std::collections::BTreeSet;

use super::super::super::accepted::applying;
use super::super::super::history::{levels, newest_level};
use super::super::super::line::Origin;
use super::super::super::model::Line;
use super::super::super::words;
use super::super::{Head, Lacks};
use super::{Adjusted, Against, Draft};
use crate::verdict::{LEAST_HISTORY, Reason, Scale, Verdict, judge, measure, worse};
use kubebench_stats as stats;

impl Draft<'_> {
    /// Marks what the default branch fails too, or says why that does not count.
    pub(super) fn mark_known(&self, line: &mut Line) {
        if !line.verdict.fails() {
            return;
        }
        let lacks = self.lacks();
        line.on_default = self.is_on_default(line, lacks);
        let began = lacks.and_then(|lacks| self.lacked(line, lacks));
        if let (false, Some(began)) = (line.on_default, began)
            && self.is_on_default(line, None)
        {
            line.notes.push(format!(
                "{} fails this too since {}, which the branch of the candidate does not contain",
                self.request.default.map_or("the default branch", words::branch),
                words::short(&began)
            ));
        }
    }

    /// Returns whether the newest session of the default branch before the candidate, of a commit that the candidate does not lack, fails
    /// this too, and the candidate is not worse than it by more than the threshold.
    fn is_on_default(&self, line: &Line, lacks: Option<&Lacks>) -> bool {
        let origin = self.of_default();
        let is_of_default = || self.sessions.iter().any(|session| origin.has(*session));
        let is_elsewhere = matches!(self.request.head, Head::Elsewhere(_)) && self.request.candidate.is_newest();
        if self.is_standing || is_elsewhere && is_of_default() {
            return true;
        }
        let shared = self.shared(lacks);
        let Some(before) = shared.last().copied() else { return false };
        let own = self.request.around(self.rule, self.partition, BTreeSet::from([before]));
        let draft = self.request.draft(self.rule, self.partition, &own, self.series.clone(), self.absence);
        // A first hit of the default branch is one among as many as that of the candidate.
        let among = line.adjusted_p.zip(line.p).filter(|(_, p)| *p > 0.0).map_or(1.0, |(adjusted, p)| adjusted / p);
        let candidate = draft.tested_p().map(|p| (p * among).min(1.0));
        let main = draft.line(Adjusted { candidate, pending: None });
        if !main.verdict.fails() {
            // What the candidate lacks may be open there while the candidate is as good as what it has.
            let is_as_good = || lacks.is_some() && !self.is_beyond(&self.level(&shared));
            return line.reason == "open" && (self.began_before(&shared) || is_as_good());
        }
        self.candidate.is_empty() || !self.is_worse_than(&draft, &main, &shared)
    }

    /// Returns whether the candidate, which is not of the default branch, shows a change that began there: sessions of it that were too few
    /// to show that, and are as bad.
    fn began_before(&self, shared: &[usize]) -> bool {
        let Some(open) = self.now.open.filter(|_| !self.is_of_baseline()) else { return false };
        let is_shared = |at: &usize| self.point(*at).is_some_and(|point| shared.contains(&point.session));
        let since: Vec<usize> =
            self.earlier.get(open.from..).unwrap_or_default().iter().copied().filter(is_shared).collect();
        !since.is_empty() && !self.is_beyond(&self.medians(&since))
    }

    /// Returns where sessions of the default branch are from.
    fn of_default(&self) -> Origin<'_> {
        Origin { lineage: self.request.default_lineage(), ..self.origin() }
    }

    /// Returns what of the default branch the commit of the candidate lacks, where that is known.
    fn lacks(&self) -> Option<&Lacks> {
        let newest = self.partition.sessions.get(self.sessions.last().copied()?)?;
        let commit = self.request.dataset.origin(newest.first(self.request.dataset)?).commit.as_deref()?;
        self.request.head.lacks(commit)
    }

    /// Returns the commit among those that are lacked with which a change began, as far as that is known.
    fn lacked(&self, line: &Line, lacks: &Lacks) -> Option<String> {
        let shared = self.shared(Some(lacks));
        let first = self.before().into_iter().find(|at| !shared.contains(at));
        let open = line.open.as_ref().and_then(|open| open.commit.clone());
        open.filter(|commit| lacks.commits.contains(commit)).or_else(|| self.of_default().commit(first?))
    }

    /// Returns the sessions of the default branch before the candidate: those with a value, where the candidate has one.
    fn before(&self) -> Vec<usize> {
        let Some(first) = self.sessions.first().copied() else { return Vec::new() };
        let origin = self.of_default();
        let is_of_target = |at: usize| self.request.is_of_target(self.rule, self.partition, at);
        let is_before = |at: &usize| *at < first && origin.has(*at) && is_of_target(*at);
        if self.candidate.is_empty() {
            return (0..first).filter(is_before).collect();
        }
        self.series.points.iter().map(|point| point.session).filter(is_before).collect()
    }

    /// Returns those of the sessions before the candidate that are of commits which it does not lack. Where it left the default branch
    /// between two sessions, it may have what the second one shows.
    fn shared(&self, lacks: Option<&Lacks>) -> Vec<usize> {
        let before = self.before();
        let Some(lacks) = lacks else { return before };
        let commits: Vec<Option<String>> = before.iter().map(|at| self.of_default().commit(*at)).collect();
        let is_lacked = |commit: &&Option<String>| commit.as_ref().is_some_and(|name| lacks.commits.contains(name));
        let is_sure = commits.iter().flatten().any(|commit| lacks.forks.contains(commit));
        let in_doubt = commits.iter().find(is_lacked).filter(|_| !is_sure);
        let of_commits = before.into_iter().zip(&commits);
        of_commits.filter(|(_, commit)| !is_lacked(commit) || Some(*commit) == in_doubt).map(|(at, _)| at).collect()
    }

    /// Returns whether the candidate is worse than the default branch is already, by more than the threshold.
    fn is_worse_than(&self, draft: &Self, main: &Line, shared: &[usize]) -> bool {
        let is_first_hit = main.reason == "change" && self.rule.against == Against::Default;
        let level = if is_first_hit { draft.medians(&draft.candidate) } else { self.level(shared) };
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

    /// Returns the newest level of these sessions of the default branch.
    fn level(&self, shared: &[usize]) -> Vec<f64> {
        let points = self.series.points.iter().enumerate();
        let places: Vec<usize> =
            points.filter(|(_, point)| shared.contains(&point.session)).map(|(at, _)| at).collect();
        if places.is_empty() {
            return Vec::new();
        }
        let origin = self.of_default();
        let about = applying(self.request.acks, origin, &self.series.metric, self.request.as_of);
        let levels = levels(about, origin, &self.series, &places, self.policy);
        newest_level(&levels.values, &levels.found).to_vec()
    }
}
