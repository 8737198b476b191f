//! What people accepted of a series: levels that a session began, and all that began before some time.

use super::ack;
use super::line::Origin;
use super::model::Acknowledged;
use crate::dataset::{MetricKey, Series};
use crate::verdict::{Baseline, Mark, Policy, baseline_after};
use kubebench_format::result::{Accepts, Ack};

/// The acknowledgements that are about the points of a series, by the places of these points.
pub(super) struct Accepted<'a> {
    /// Levels that begin with a point.
    levels: Vec<(Mark, &'a Ack, Holds)>,
    /// Changes that began with one of this many first points.
    before: Vec<(usize, &'a Ack, Holds)>,
    /// The ids of the sessions of the points.
    sessions: Vec<String>,
    /// Where another commit begins.
    commits: Vec<usize>,
}

/// An acknowledgement that is about a series, and whether it still holds.
pub(super) type About<'a> = (&'a Ack, Holds);

/// Whether an acknowledgement holds on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holds {
    /// It does.
    Still,
    /// Its last day is over.
    Expired,
}

/// Returns the acknowledgements that are about a series, and whether they hold on a day.
pub(super) fn applying<'a>(acks: &'a [Ack], origin: Origin<'_>, metric: &MetricKey, as_of: &str) -> Vec<About<'a>> {
    let about = acks.iter().filter(|ack| ack::is_about(ack, origin.dataset, origin.partition, metric));
    about.map(|ack| (ack, if ack::holds(ack, as_of) { Holds::Still } else { Holds::Expired })).collect()
}

impl<'a> Accepted<'a> {
    /// Finds what is accepted among the points at `places`.
    pub(super) fn of(about: Vec<About<'a>>, origin: Origin<'_>, series: &Series, places: &[usize]) -> Self {
        let points = places.iter().filter_map(|at| series.points.get(*at));
        let described: Vec<(String, String, Option<String>)> = points
            .filter_map(|point| {
                let session = origin.partition.sessions.get(point.session)?;
                Some((session.id.clone(), session.started_at.clone(), origin.commit(point.session)))
            })
            .collect();
        let said = || described.iter().map(|(id, time, commit)| (id.as_str(), time.as_str(), commit.as_deref()));
        let (mut levels, mut before) = (Vec::new(), Vec::new());
        for (ack, holds) in about {
            match &ack.accepts {
                Accepts::From(_) => levels.extend(ack::mark(ack, said()).map(|mark| (mark, ack, holds))),
                Accepts::Before(end) => {
                    let earlier: Vec<bool> = said().map(|(_, time, commit)| end.has(time, commit)).collect();
                    // An old commit that is measured again, as a bisection does, settles nothing that came between.
                    let later = earlier.iter().position(|is_earlier| !is_earlier).unwrap_or(earlier.len());
                    let last = earlier.iter().rposition(|is_earlier| *is_earlier).map_or(0, |at| at + 1);
                    before.push((if end.commits.is_empty() { last } else { later }, ack, holds));
                }
            }
        }
        let sessions = described.into_iter().map(|(id, _, _)| id).collect();
        Self { levels, before, sessions, commits: origin.begins(series, places) }
    }

    /// Returns where the first level begins that is accepted.
    pub(super) fn first_level(&self) -> Option<usize> {
        self.levels.first().map(|(mark, ..)| mark.at)
    }

    /// Finds the levels among the values of the first points, and returns the acknowledgements that say so; of those that expired, the
    /// ones that would.
    pub(super) fn baseline(&self, values: &[f64], policy: Policy) -> (Baseline, Vec<Acknowledged>) {
        let held = self.levels.iter().filter(|(_, _, holds)| *holds == Holds::Still);
        let marks: Vec<Mark> = held.map(|(mark, ..)| *mark).filter(|mark| mark.at < values.len()).collect();
        let settled = self.before.iter().filter(|(_, _, holds)| *holds == Holds::Still);
        let settled = settled.map(|(count, ..)| *count).max().unwrap_or_default();
        let commits: Vec<usize> = self.commits.iter().copied().filter(|at| *at < values.len()).collect();
        let (found, accepted) = baseline_after(values, &commits, policy, &marks, settled);
        let of_levels = self.levels.iter().map(|(mark, ack, holds)| self.shown(ack, *holds, mark.at));
        let mut shown: Vec<Acknowledged> = of_levels.collect();
        for (count, ack, holds) in &self.before {
            let open = found.open.map(|open| open.from).filter(|_| *holds == Holds::Expired);
            if let Some(at) = accepted.iter().copied().chain(open).rfind(|at| at < count) {
                shown.push(self.shown(ack, *holds, at));
            }
        }
        (found, shown)
    }

    /// Returns what is accepted of the points from `first` on, and by which acknowledgements: levels that begin there, and the level of
    /// `first` itself where it began early enough.
    pub(super) fn since(&self, first: usize) -> Vec<(Mark, Acknowledged)> {
        let held = |holds: &Holds| *holds == Holds::Still;
        let levels = self.levels.iter().filter(|(mark, _, holds)| mark.at >= first && held(holds));
        let levels = levels.map(|(mark, ack, holds)| (*mark, self.shown(ack, *holds, mark.at)));
        let before = self.before.iter().filter(|(count, _, holds)| *count > first && held(holds));
        let any = Mark { at: first, at_most: None };
        levels.chain(before.map(|(_, ack, holds)| (any, self.shown(ack, *holds, first)))).collect()
    }

    fn shown(&self, ack: &Ack, holds: Holds, at: usize) -> Acknowledged {
        ack::shown(ack, holds, self.sessions.get(at).cloned())
    }
}
