//! A chart: one metric of a case on the hardware that is in use, what gates say of it, and what of that needs attention.

use super::paths;
use kubebench_results::compare::model::{
    Acknowledged, Kind, LevelChange, Line, NOT_SHOWN, OpenChange, PendingChange, SeriesHistory, SessionValue, Size,
    Turn, Verdict,
};
use kubebench_results::compare::words;
use kubebench_stats as stats;

/// The maximum number of charts on a page of a case.
pub(super) const ON_A_PAGE: usize = 7;
/// The number of charts of a case that are drawn; a table has a row for each of the others.
pub(super) const DRAWN: usize = 140;
/// The maximum number of rows of that table on a page.
pub(super) const ROWS_ON_A_PAGE: usize = 250;
/// The number of sessions that are recent.
pub(super) const LATELY: usize = 10;

/// One metric of a case on the hardware that is in use.
#[derive(Debug)]
pub(super) struct Chart<'a> {
    pub(super) history: &'a SeriesHistory,
    /// The series on hardware that was replaced, the oldest first.
    pub(super) replaced: Vec<&'a SeriesHistory>,
    /// What gates say of its newest session, the worst first.
    pub(super) lines: Vec<&'a Line>,
    /// Whether newer sessions have this metric in another unit, or not at all where the case runs now.
    pub(super) is_stale: bool,
    /// Its anchor on the pages of its case: the same in every report.
    pub(super) anchor: String,
    /// The page of the case that it is on.
    pub(super) page: usize,
}

/// A regression that needs attention.
#[derive(Clone, Copy, Debug)]
pub(super) struct Finding<'a> {
    /// What changed.
    pub(super) chart: &'a Chart<'a>,
    /// How.
    pub(super) what: What<'a>,
    /// The limit that was passed too, as the gate says it.
    pub(super) limit: Option<&'a str>,
    /// When its first session began.
    pub(super) since: &'a str,
    /// The commit of that session.
    pub(super) commit: Option<&'a str>,
    /// The commit before it.
    pub(super) after: Option<&'a str>,
    /// In how many sessions it was seen.
    pub(super) sessions: usize,
    /// How many of them it was measured in.
    pub(super) measured: usize,
}

/// A change that the newest session shows, and that is no level yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit<'a> {
    /// How large it is.
    pub(super) size: Size,
    /// Whether it is a regression or an improvement.
    pub(super) verdict: Verdict,
    pub(super) session: &'a SessionValue,
    /// The commit of the session before it.
    pub(super) after: Option<&'a str>,
}

/// How something got worse.
#[derive(Clone, Copy, Debug)]
pub(super) enum What<'a> {
    /// By this much against the baseline.
    Level(Size),
    /// Beyond a limit or a fixed value, as the gate says it.
    Limit(&'a str),
}

impl<'a> Chart<'a> {
    /// Returns what the strictest gate says of its newest session.
    pub(super) fn line(&self) -> Option<&'a Line> {
        self.lines.first().copied()
    }

    /// Returns whether it represents its benchmark: it is primary, a gate looks at it, or a regression of it is open.
    pub(super) fn counts(&self) -> bool {
        !self.is_stale && (self.history.kind == Kind::Primary || self.verdict().is_some())
    }

    /// Returns the verdict of its newest session; a metric without a gate has one only while a change is open.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        match self.line() {
            _ if self.is_stale => None,
            Some(line) => Some(line.verdict),
            None => self.history.open.as_ref().map(|_| Verdict::Regressed),
        }
    }

    /// Returns that verdict for people.
    pub(super) fn word(&self) -> Option<&'static str> {
        let line = self.line().filter(|_| !self.is_stale);
        line.map(words::verdict).or_else(|| self.verdict().map(Verdict::words))
    }

    /// Returns what was accepted of it: of its history, and by gates of its newest session.
    pub(super) fn acks(&self) -> Vec<&'a Acknowledged> {
        let mut acks: Vec<&Acknowledged> = self.history.acks.iter().collect();
        for ack in self.lines.iter().flat_map(|line| &line.acks) {
            if !acks.iter().any(|known| known.file == ack.file) {
                acks.push(ack);
            }
        }
        acks
    }

    /// Returns the first session of the change that is open: a gate decides that where there is one.
    pub(super) fn open(&self) -> Option<&str> {
        match self.line() {
            _ if self.is_stale => None,
            // What waits is not open yet.
            Some(line) if line.verdict == Verdict::Pending => None,
            Some(_) => self.open_line().map(|(_, open)| open.session.as_str()),
            None => self.history.open.as_deref(),
        }
    }

    /// Returns the change that a gate found open, and its line: where several gates fail, another one may be the first.
    fn open_line(&self) -> Option<(&'a Line, &'a OpenChange)> {
        self.lines.iter().find_map(|line| Some((*line, line.open.as_ref()?)))
    }

    /// Returns the first place among its sessions that is lately.
    pub(super) fn lately(&self) -> usize {
        self.history.sessions.len().saturating_sub(LATELY)
    }

    /// Returns whether a change is the one that is open, or a later step of it.
    pub(super) fn is_open(&self, change: &LevelChange) -> bool {
        self.open().is_some_and(|open| open == change.session || self.history.is_step_of(open, change))
    }

    /// Returns its levels.
    pub(super) fn levels(&self) -> Vec<(usize, usize, f64)> {
        levels(self.history)
    }

    /// Returns the level that is there now; of a metric that only other branches have, its newest session.
    pub(super) fn level(&self) -> Option<f64> {
        let newest = || self.history.sessions.last().map(|session| session.value);
        self.levels().last().map(|(_, _, level)| *level).or_else(newest)
    }

    /// Returns the change that its newest session shows, where its history has no change of level for it yet.
    pub(super) fn hit(&self) -> Option<Hit<'a>> {
        let verdict = self.verdict()?;
        if !matches!(verdict, Verdict::Regressed | Verdict::Improved) || self.open_line().is_some() {
            return None;
        }
        let line = self.lines.iter().find(|line| line.verdict == verdict && !is_limit(line)).copied()?;
        let session = line.candidate.sessions.first()?;
        let before = &line.baseline.sessions;
        // A level of so few sessions that the baseline is the one before it is in the history nevertheless.
        let is_level = |change: &LevelChange| {
            change.session == session.session
                || verdict == Verdict::Improved
                    && matches!(change.turn, Turn::Better | Turn::Back)
                    && !before.iter().any(|known| known.session == change.session)
        };
        let is_known = self.history.changes.last().is_some_and(is_level);
        let after = before.last().and_then(|known| known.commit.as_deref());
        (!is_known).then_some(Hit { size: line.size()?, verdict, session, after })
    }

    /// Returns how large the regression or improvement is that its verdict is about.
    pub(super) fn changed(&self) -> Option<Size> {
        match (self.verdict()?, self.finding().map(|finding| finding.what)) {
            (Verdict::Regressed, Some(What::Level(size))) => Some(size),
            (Verdict::Improved, _) => self.line()?.size(),
            _ => None,
        }
    }

    /// Returns how large what its verdict is about is; nothing where that is noise.
    pub(super) fn size(&self) -> f64 {
        let is_noise = matches!(self.verdict(), None | Some(Verdict::NoChangeSeen | Verdict::Unchanged));
        let of_line = || self.line().filter(|_| !is_noise).and_then(Line::size).map_or(0.0, distance);
        self.finding().map_or_else(of_line, |finding| finding.size())
    }

    /// Returns the page that it is on, with its anchor.
    pub(super) fn place(&self) -> String {
        format!("{}#{}", paths::case(&self.history.benchmark, &self.history.case, self.page), self.anchor)
    }

    /// Returns what needs attention.
    pub(super) fn finding(&self) -> Option<Finding<'_>> {
        if self.is_stale {
            return None;
        }
        let Some(line) = self.line() else { return self.open_level() };
        if !matches!(line.verdict, Verdict::Regressed | Verdict::Pending) {
            return None;
        }
        let is_as_bad = |other: &&&Line| other.verdict == line.verdict;
        let limit = self.lines.iter().filter(is_as_bad).find(|line| is_limit(line)).copied();
        let claim = limit.map(|line| line.message.split_once("; ").map_or(line.message.as_str(), |(claim, _)| claim));
        if let Some((line, open)) = self.open_line() {
            let level = open.size.map(What::Level);
            return Some(Finding {
                chart: self,
                what: level.unwrap_or(What::Limit(claim.unwrap_or(&line.message))),
                limit: claim.filter(|_| level.is_some()),
                since: &open.since,
                commit: open.commit.as_deref(),
                after: open.after.as_deref(),
                sessions: open.sessions,
                measured: open.measured,
            });
        }
        // A first hit of one gate may pass the limit of another one.
        let hit = self.lines.iter().filter(is_as_bad).find(|line| !is_limit(line)).copied();
        let Some((line, size)) = hit.and_then(|line| Some((line, line.size()?))) else {
            let line = limit?;
            return Some(self.found(What::Limit(claim?), line.candidate.sessions.first()?, None, line));
        };
        let before = line.baseline.sessions.last().and_then(|session| session.commit.as_deref());
        let newest = line.candidate.sessions.first()?;
        let finding = Finding { limit: claim, ..self.found(What::Level(size), newest, before, line) };
        // An earlier session was worse: it is since then, and the newest one says how large it is now.
        Some(match self.history.pending.as_ref().filter(|_| line.reason == NOT_SHOWN) {
            Some(PendingChange { since, sessions, .. }) => {
                Finding { since, commit: None, after: None, sessions: *sessions, measured: *sessions, ..finding }
            }
            None => finding,
        })
    }

    fn found<'f>(
        &'f self,
        what: What<'f>,
        first: &'f SessionValue,
        after: Option<&'f str>,
        line: &'f Line,
    ) -> Finding<'f> {
        Finding {
            chart: self,
            what,
            limit: None,
            since: &first.started_at,
            commit: first.commit.as_deref(),
            after,
            sessions: line.candidate.sessions.len(),
            measured: line.candidate.sessions.len(),
        }
    }

    /// Returns the open change of a metric that no gate looks at.
    fn open_level(&self) -> Option<Finding<'_>> {
        let open = self.history.open.as_ref()?;
        let change =
            self.history.changes.iter().find(|change| change.session == *open && change.turn == Turn::Worse)?;
        let since = self.history.sessions.iter().position(|session| session.session == change.session)?;
        let is_own = |session: &&SessionValue| self.history.outside(session).is_none();
        let size = self.history.compound().unwrap_or_else(|| change.size());
        Some(Finding {
            chart: self,
            what: What::Level(size),
            limit: None,
            since: &change.since,
            commit: change.commit.as_deref(),
            after: change.after.as_deref(),
            sessions: self.history.sessions.iter().skip(since).filter(|session| is_own(session)).count(),
            measured: self.history.level().len(),
        })
    }
}

impl Finding<'_> {
    /// Returns when it began: the day, and the minute where other sessions are of that day.
    pub(super) fn when(&self) -> String {
        let day = words::day(self.since);
        let is_before = |session: &&SessionValue| session.started_at.as_str() < self.since;
        let earlier = self.chart.history.sessions.iter().filter(is_before);
        match self.since.get(11..16) {
            Some(minute) if earlier.into_iter().any(|session| words::day(&session.started_at) == day) => {
                format!("{day} {minute} UTC")
            }
            _ => day.to_owned(),
        }
    }

    /// Returns whether a later session decides.
    pub(super) fn is_pending(&self) -> bool {
        self.pending().is_some()
    }

    /// Returns what a pending one waits for, as the gate says it.
    pub(super) fn pending(&self) -> Option<&str> {
        self.chart.line().filter(|line| line.verdict == Verdict::Pending).map(|line| line.message.as_str())
    }

    /// Returns what is said of an earlier session that was worse, where the newest one is not.
    pub(super) fn not_shown(&self) -> Option<&str> {
        let line = self.chart.line().filter(|line| line.verdict == Verdict::Pending && line.reason == NOT_SHOWN)?;
        Some(&line.message)
    }

    /// Returns how much worse the newest session is than the level that is open, where that is a change of its own.
    pub(super) fn further(&self) -> Option<Size> {
        self.chart.open_line()?.1.further
    }

    /// Returns whether its size is that of the newest session, and of no earlier one.
    pub(super) fn is_of_newest(&self) -> bool {
        self.chart.line().is_some_and(|line| line.open.is_none())
    }

    /// Returns whether it was seen on another branch alone.
    pub(super) fn is_aside(&self) -> bool {
        let newest = self.chart.history.sessions.last();
        self.sessions == 1 && newest.is_some_and(|newest| self.chart.history.aside.contains(&newest.session))
    }

    /// Returns how large it is; what passed a limit is larger than any change.
    pub(super) fn size(&self) -> f64 {
        match self.what {
            What::Level(size) if self.limit.is_none() => distance(size),
            What::Level(..) | What::Limit(_) => f64::INFINITY,
        }
    }
}

/// Returns the levels of a series: from and to which of its sessions, and the median of the sessions between two changes.
pub(super) fn levels(history: &SeriesHistory) -> Vec<(usize, usize, f64)> {
    let place = |session: &String| history.sessions.iter().position(|own| own.session == *session);
    let mut cuts: Vec<usize> = history.changes.iter().filter_map(|change| place(&change.session)).collect();
    cuts.extend([0, history.sessions.len()]);
    cuts.sort_unstable();
    cuts.dedup();
    let level = |(from, to): (&usize, &usize)| {
        let own = history.sessions.get(*from..*to)?.iter().filter(|session| history.outside(session).is_none());
        let values: Vec<f64> = own.map(|session| session.value).collect();
        (!values.is_empty()).then(|| (*from, to - 1, stats::quantile(values.into_iter(), 0.5)))
    };
    cuts.iter().zip(cuts.iter().skip(1)).filter_map(level).collect()
}

/// Returns how far a change goes: half as much is as far as twice as much, and nothing is as far as what began or ended at 0.
pub(super) fn distance(size: Size) -> f64 {
    size.change.filter(|change| *change > -1.0).map_or(f64::MAX, |change| stats::ln_1p(change).abs())
}

/// Returns whether a line is of a limit or a fixed value.
fn is_limit(line: &Line) -> bool {
    matches!(line.reason.as_str(), "belowMin" | "aboveMax" | "fixedBaseline")
}

/// Returns the page of a case that the metric at this place is on.
pub(super) fn page(place: usize) -> usize {
    if place < DRAWN { place / ON_A_PAGE + 1 } else { DRAWN / ON_A_PAGE + (place - DRAWN) / ROWS_ON_A_PAGE + 1 }
}
