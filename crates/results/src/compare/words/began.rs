//! Since when a line is as it is, in which steps, and how sure that is.

use super::super::model::{Direction, Line, NOT_SHOWN, OpenChange, PendingChange, Size, Verdict, Why};
use super::{counted, day, limit, probability, seen, share, short, size};
use crate::verdict::LEAST_HISTORY;

/// How the words begin for a candidate that was not named.
pub const NEWEST: &str = "the newest session";

/// Since when a line is as it is, and in how many sessions that was seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Began<'a> {
    /// The first session.
    pub(crate) session: &'a str,
    /// When that began.
    pub(crate) at: &'a str,
    pub(crate) commit: Option<&'a str>,
    /// `since`; of a limit, which earlier sessions may have passed as well, `on`.
    pub(crate) since: &'static str,
    /// In how many sessions, in words.
    pub(crate) seen: String,
}

/// A step of an open change that has several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Step<'a> {
    /// When its first session began.
    pub(crate) at: &'a str,
    /// The commit of that session.
    pub(crate) commit: Option<&'a str>,
    /// How large it is, against the level before it.
    pub(crate) size: Option<Size>,
}

/// Returns since when a line is as it is; nothing of what did not get worse, nor of two sides that are compared.
pub(crate) fn began<'a>(line: &'a Line, candidate: &str) -> Option<Began<'a>> {
    if let Some(open) = &line.open {
        let count = open.steps.len() + 1;
        let steps = if count > 1 { format!("in {count} steps, ") } else { String::new() };
        return Some(Began {
            session: &open.session,
            at: &open.since,
            commit: open.commit.as_deref(),
            since: "since",
            seen: format!("{steps}{}", seen(open.sessions, open.measured)),
        });
    }
    let is_hit = matches!(line.verdict, Verdict::Regressed | Verdict::Pending) && line.reason != NOT_SHOWN;
    let is_of_limit = limit(line).is_some();
    let first = line.candidate.sessions.first().filter(|_| is_hit && (is_of_limit || line.adjusted_p.is_some()))?;
    let seen = match line.candidate.sessions.len() {
        1 if candidate.starts_with(NEWEST) => format!("in {NEWEST}"),
        count => format!("seen in {}", counted(count, "session")),
    };
    let since = if is_of_limit { "on" } else { "since" };
    Some(Began { session: &first.session, at: &first.started_at, commit: first.commit.as_deref(), since, seen })
}

/// Returns the steps of an open change, the oldest first; none, where it is one alone.
pub(crate) fn steps(line: &Line) -> Vec<Step<'_>> {
    let Some(OpenChange { since, commit, first, steps, .. }) = line.open.as_ref().filter(|open| !open.steps.is_empty())
    else {
        return Vec::new();
    };
    let first = Step { at: since, commit: commit.as_deref(), size: *first };
    let later =
        steps.iter().map(|step| Step { at: &step.since, commit: step.commit.as_deref(), size: Some(step.size()) });
    [first].into_iter().chain(later).collect()
}

impl Began<'_> {
    /// Says it in few words: `since 2026-01-20 (0e2887728d), in the newest session`.
    pub(crate) fn sentence(&self) -> String {
        format!("{} {}{}, {}", self.since, day(self.at), in_brackets(self.commit), self.seen)
    }
}

impl Step<'_> {
    /// Says when it was, and how large it is: `2026-01-22 (0e2887728d): −7.8 % [−8.9, −6.6]`.
    pub(crate) fn sentence(&self, unit: Option<&str>) -> String {
        let size = self.size.map_or_else(String::new, |size| format!(": {}", self::size(size, unit)));
        format!("{}{}{size}", day(self.at), in_brackets(self.commit))
    }
}

/// Says of a pending regression why it is not over, and what ends it.
pub(crate) fn pending(of: &PendingChange, unit: Option<&str>, threshold: f64) -> String {
    let since = day(&of.since);
    let size = of.size.map_or_else(|| "worse".to_owned(), |known| size(known, unit));
    let seen = format!("{size} since {since}, in {}", counted(of.sessions, "session"));
    match of.why {
        Why::NotShown => format!(
            "may have got worse on {since} in session {}; later sessions neither show it nor rule it out",
            of.session
        ),
        Why::Back(back) => {
            let newest = if back == 1 { "the newest is".to_owned() } else { format!("the newest {back} are") };
            let left = counted(LEAST_HISTORY.saturating_sub(back).max(1), "more such session");
            format!("{seen}; {newest} within the threshold again; after {left} the regression is resolved")
        }
        Why::Shrunk => {
            format!(
                "{seen}; less than half of the {} threshold now, and beyond it before: more sessions decide",
                share(threshold)
            )
        }
    }
}

fn in_brackets(commit: Option<&str>) -> String {
    commit.map_or_else(String::new, |commit| format!(" ({})", short(commit)))
}

/// Says which way is better, where that is known.
pub fn better(direction: Direction) -> Option<&'static str> {
    match direction {
        Direction::Higher => Some("higher is better"),
        Direction::Lower => Some("lower is better"),
        Direction::None => None,
    }
}

/// Returns the p value that decides: adjusted, where several metrics were adjusted together.
pub(crate) fn sureness(line: &Line) -> Option<String> {
    match (line.adjusted_p, line.p) {
        (Some(adjusted), p) if p != Some(adjusted) => Some(format!("adjusted {}", probability(adjusted))),
        (_, p) => p.map(probability),
    }
}

#[cfg(test)]
mod tests {
    use super::Step;
    use crate::compare::model::Size;

    #[test]
    fn a_step_says_what_is_known() {
        let size = Size { change: Some(-0.078), interval: Some((-0.089, -0.066)), levels: (100.0, 92.2) };
        let step = Step { at: "2026-01-22T10:00:00Z", commit: Some("0e2887728d2f"), size: Some(size) };
        assert_eq!(step.sentence(None), "2026-01-22 (0e2887728d): −7.8 % [−8.9, −6.6]");
        assert_eq!(Step { commit: None, size: None, ..step }.sentence(None), "2026-01-22");
    }
}
