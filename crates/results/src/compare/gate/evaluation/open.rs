//! What is open among the sessions up to the candidate, and what is pending.

use super::super::super::accepted::applying;
use super::super::super::history::{Levels, OpenLevel, level_change, levels, size};
use super::super::super::model::{Acknowledged, Line, NOT_SHOWN, OpenChange, PendingChange, Size};
use super::super::super::words;
use super::{Draft, says};
use crate::verdict::{
    LEAST_HISTORY, Open, Policy, ROUNDED, SIGNIFICANT, Scale, Turn, Verdict, Why, baseline, judge, measure, worse,
};

impl Draft<'_> {
    /// An open change fails the gate until it is acknowledged, or the level has come back.
    pub(super) fn open(&self, line: &mut Line) {
        let is_aside = self.is_aside();
        let open = match (self.now.open, self.found.open) {
            // One session above zeros opens a change, and is nevertheless a first hit.
            (Some(open), _) if self.rule.is_confirmed && open.sessions == 1 => {
                let said = words::reason(&judge(self.effect, self.policy, None), self.policy);
                return says(line, Verdict::Regressed, "change", said);
            }
            (Some(open), _) => open,
            (None, Some(open)) if is_aside => {
                line.notes.push(
                    "the newest session is from another branch and does not show the open regression; `--candidate` \
                     evaluates that session alone"
                        .to_owned(),
                );
                open
            }
            (None, _) => return,
        };
        let further = self.further(open);
        let found = || self.change(&self.shown(), Levels::open);
        line.open = found().or_else(|| self.change(&self.earlier, Levels::open));
        let since = line.open.as_mut().map_or_else(String::new, |open| {
            open.further = further;
            let seen = words::seen(open.sessions, open.measured);
            let seen = open.size.map_or_else(
                || seen.clone(),
                |size| format!("{} vs. the baseline ({seen})", words::size(size, self.series.metric.unit.as_deref())),
            );
            format!(" since {}: {seen}", words::day(&open.since))
        });
        let unit = self.series.metric.unit.as_deref();
        let further = further.map_or_else(String::new, |size| format!("; {}", words::further(size, unit)));
        let size = line.open.as_ref().and_then(|open| open.size?.change);
        let share = size.and_then(|change| worse(change, self.policy.direction));
        let shrank = share.filter(|share| *share < self.policy.threshold * ROUNDED).map(|_| {
            let threshold = words::share(self.policy.threshold);
            format!(
                "beyond the {threshold} threshold when it began or with its earlier steps, and {}",
                words::UNRESOLVED
            )
        });
        let state = self.exceeded(open).or(shrank).unwrap_or_else(|| words::UNRESOLVED.to_owned());
        says(line, Verdict::Regressed, "open", format!("open{since}; {state}{further}"));
    }

    /// Returns whether the sessions that are judged were not named, and they are not of the default branch: what is open there is not over
    /// because a branch does not have it.
    fn is_aside(&self) -> bool {
        self.request.is_usual(self.rule) && !self.is_of_baseline()
    }

    /// Returns whether the candidate is of the commits whose sessions are its baseline.
    pub(super) fn is_of_baseline(&self) -> bool {
        self.candidate.iter().filter_map(|at| self.point(*at)).any(|point| self.origin().is_member(point))
    }

    /// Says which acknowledgement of the change that is open does not reach: within its bound it would have closed the change.
    fn exceeded(&self, open: Open) -> Option<String> {
        let id = |at: &usize| Some(self.partition.sessions.get(self.point(*at)?.session)?.id.as_str());
        let since: Vec<&str> = self.known.iter().skip(open.from).filter_map(id).collect();
        let holds = |ack: &&Acknowledged| {
            !ack.expired && ack.session.as_deref().is_some_and(|session| since.contains(&session))
        };
        let (file, share) = self.acks.iter().filter(holds).find_map(|ack| Some((&ack.file, ack.max_change?)))?;
        Some(more_than_accepted(share, file))
    }

    /// Returns how much worse the candidate is than the newest level of the change that is open, without it, where that is a change of its
    /// own. A few sessions of the default branch decide that only for the candidate of another branch, whose line has to say why it fails.
    fn further(&self, open: Open) -> Option<Size> {
        let found = if self.now.open.is_some() { &self.now } else { &self.found };
        let newest = found.changes.iter().map(|change| change.at).rfind(|at| *at < self.earlier.len());
        let begin = newest.unwrap_or(open.from).max(open.from);
        let (level, new) = (self.medians(self.earlier.get(begin..)?), self.medians(&self.candidate));
        let is_level = level.len() >= LEAST_HISTORY;
        if level.is_empty() || !is_level && self.is_of_baseline() || !self.is_beyond(&level) {
            return None;
        }
        let scale = Scale::of(&level, &new)?;
        let effect = measure(scale, &level, &[], &new).filter(|_| is_level);
        let plain = || {
            let between = Size::between(&level, &new);
            let (before, after) = between.levels;
            Size { change: scale.change(scale.place(after) - scale.place(before)), ..between }
        };
        Some(effect.map_or_else(plain, |effect| size(&effect, &level, &new)))
    }

    /// A level that people accepted may have too few sessions to be a baseline. Then what is worse than they accepted of the level before is
    /// a regression.
    pub(super) fn beyond_accepted(&self, line: &mut Line) {
        let is_short = line.verdict == Verdict::Inconclusive && self.found.sessions.len() < LEAST_HISTORY;
        let Some(first) = self.found.sessions.first().copied().filter(|_| is_short) else { return };
        let session = self.earlier.get(first).and_then(|at| self.partition.sessions.get(self.point(*at)?.session));
        let is_about = |ack: &&Acknowledged| !ack.expired && ack.session.as_ref() == session.map(|session| &session.id);
        let bound = self.acks.iter().find(is_about).and_then(|ack| Some((&ack.file, ack.max_change?)));
        let Some((file, share)) = bound else { return };
        let before = self.earlier.get(..first).unwrap_or_default();
        let found = baseline(&self.medians(before), self.policy, &[]);
        let places: Vec<usize> = found.sessions.iter().filter_map(|at| before.get(*at).copied()).collect();
        let (base, new) = (self.medians(&places), self.medians(&self.candidate));
        let effect = Scale::of(&base, &new).and_then(|scale| measure(scale, &base, &[], &new));
        let policy = Policy { threshold: share, ..self.policy };
        let judged = judge(effect, policy, effect.map(|effect| effect.p));
        if judged.verdict != Verdict::Regressed {
            return;
        }
        let origin = self.origin();
        let of_bound = origin.line(&self.series, policy, &judged);
        let message = more_than_accepted(share, file) + ", compared with the level before";
        *line = Line {
            threshold: line.threshold,
            message,
            baseline: origin.sessions(places.iter().filter_map(|at| self.point(*at))),
            candidate: line.candidate.clone(),
            acks: line.acks.clone(),
            notes: line.notes.clone(),
            environment: line.environment.clone(),
            unreachable: line.unreachable,
            ..of_bound
        };
    }

    /// A regression that the candidate does not show passes until later sessions show whether it is there.
    pub(super) fn pending(&self, line: &mut Line, adjusted_p: Option<f64>) {
        let Some(pending) = self.now.pending else { return };
        let is_decided = matches!(line.verdict, Verdict::Regressed | Verdict::Pending | Verdict::Improved);
        let is_chance = pending.why == Why::NotShown && adjusted_p.is_none_or(|p| p > SIGNIFICANT);
        // What a branch measures before it is merged says nothing of the default one.
        if is_decided || is_chance || !self.is_of_baseline() || line.reason == "accepted" {
            return;
        }
        let Some(first) = self.known.get(pending.from).filter(|at| !self.candidate.contains(at)) else { return };
        let since = || self.since(self.point(*first)?.session, self.known.len() - pending.from);
        let Some(change) = self.change(&self.shown(), Levels::pending).or_else(since) else { return };
        let said = PendingChange {
            session: change.session.clone(),
            since: change.since.clone(),
            sessions: change.sessions,
            why: pending.why,
            size: change.size,
        };
        let said = words::pending(&said, self.series.metric.unit.as_deref(), self.policy.threshold);
        line.open = Some(change).filter(|_| pending.why != Why::NotShown);
        says(line, Verdict::Pending, NOT_SHOWN, said);
    }

    /// A hit may be that of a change which began before the candidate, also one that waits: then it is reported from there on.
    pub(super) fn begin(&self, line: &mut Line) {
        let is_hit = matches!(
            (line.verdict, line.reason.as_str()),
            (Verdict::Regressed, "change") | (Verdict::Pending, "firstHit")
        );
        if let Some(change) = is_hit.then(|| self.change(&self.shown(), Levels::open)).flatten()
            && change.sessions > self.candidate.len()
        {
            line.open = Some(change);
        }
    }

    /// Returns the value of `run` in the spec that starts another session of what the candidate ran.
    pub(super) fn next_run(&self) -> Option<u32> {
        let session = self.sessions.last().and_then(|at| self.partition.sessions.get(*at))?;
        let row = session.first(self.request.dataset)?;
        self.request.dataset.origin(row).run.checked_add(1)
    }

    /// Returns the places of the points that `history` shows, up to the candidate.
    fn shown(&self) -> Vec<usize> {
        let Some(last) = self.candidate.last() else { return Vec::new() };
        self.origin().members(&self.series).into_iter().filter(|at| at <= last).collect()
    }

    /// Returns a change among the points at `places`, as `history` shows it: the one that is open, or another `of` the levels.
    fn change(&self, places: &[usize], of: impl Fn(&Levels) -> Option<OpenLevel>) -> Option<OpenChange> {
        let (request, origin) = (self.request, self.origin());
        let about = applying(request.acks, origin, &self.series.metric, request.as_of);
        let levels = levels(about, origin, &self.series, places, self.policy);
        let OpenLevel { from, sessions, measured, size } = of(&levels)?;
        let steps = levels.found.changes.iter().filter(|change| change.at > from && change.turn == Turn::Worse);
        let steps = steps.filter_map(|step| level_change(*step, origin, &self.series, places, &levels.found));
        let steps = steps.filter(|step| !step.is_back_in_part(self.policy.direction));
        let first = levels.found.changes.iter().find(|change| change.at == from);
        let first = first.and_then(|step| level_change(*step, origin, &self.series, places, &levels.found));
        let session = |at: usize| places.get(at).and_then(|at| self.point(*at)).map(|point| point.session);
        Some(OpenChange {
            after: from.checked_sub(1).and_then(session).and_then(|before| origin.commit(before)),
            measured,
            size,
            first: first.map(|step| step.size()),
            steps: steps.collect(),
            ..self.since(session(from)?, sessions)?
        })
    }

    /// Returns a change since a session, of which nothing else is known.
    pub(super) fn since(&self, first: usize, sessions: usize) -> Option<OpenChange> {
        let session = self.partition.sessions.get(first)?;
        Some(OpenChange {
            session: session.id.clone(),
            since: self.origin().first_measured(first, &self.series)?,
            commit: self.origin().measured_commit(first),
            after: None,
            sessions,
            measured: sessions,
            size: None,
            first: None,
            steps: Vec::new(),
            further: None,
        })
    }
}

fn more_than_accepted(share: f64, file: &str) -> String {
    format!("more than the {} that {file} accepts", words::share(share))
}
