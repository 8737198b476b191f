//! Acknowledgements: regressions that people accepted, in files that were reviewed.

use std::collections::BTreeSet;

/// One acknowledgement.
#[derive(Clone, Debug, PartialEq)]
pub struct Ack {
    pub file: String,
    /// The benchmark; [`ANY`] is each.
    pub benchmark: String,
    /// The case, by id or name; `*` matches any.
    pub case: String,
    /// The metric; [`ANY`] is each.
    pub metric: String,
    /// The target; any, where none is named.
    pub target: Option<String>,
    /// What of these is accepted.
    pub accepts: Accepts,
    /// The greatest regression that is accepted, as a share.
    pub max_change: Option<f64>,
    /// Why.
    pub reason: String,
    /// Who accepted.
    pub by: String,
    /// The last day on which it applies, as year-month-day.
    pub expires: Option<String>,
}

/// The benchmark or metric of an acknowledgement that is about all.
pub const ANY: &str = "*";

/// What an acknowledgement accepts.
#[derive(Clone, Debug, PartialEq)]
pub enum Accepts {
    /// The level that begins with this session: its id, its commit, or a time at or before its beginning.
    From(String),
    /// Every change that began before.
    Before(Before),
}

/// A point in the history that parts sessions in earlier and later ones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Before {
    /// As a person wrote it.
    pub written: String,
    /// The first day or time that is later.
    pub time: String,
    /// Commits whose sessions are earlier, whenever they ran.
    pub commits: BTreeSet<String>,
}

impl Before {
    /// Returns whether a session is earlier.
    pub fn has(&self, started_at: &str, commit: Option<&str>) -> bool {
        // A second and its parts: `…:05Z` comes before `…:05.2Z`.
        let [started, time] = [started_at, &self.time].map(|time| time.trim_end_matches('Z'));
        started < time || commit.is_some_and(|commit| self.commits.contains(commit))
    }
}

impl Ack {
    /// Returns the first session of the level that is accepted, where it accepts one.
    pub fn from(&self) -> Option<&str> {
        match &self.accepts {
            Accepts::From(from) => Some(from),
            Accepts::Before(_) => None,
        }
    }

    /// Returns whether it is about a benchmark.
    pub fn has_benchmark(&self, name: &str) -> bool {
        [ANY, name].contains(&self.benchmark.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::Before;

    #[test]
    fn a_day_and_a_time_are_the_first_that_are_later() {
        for (time, earlier, later) in [
            ("2026-02-01", "2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00Z"),
            ("2026-02-01T08:00:05Z", "2026-02-01T08:00:04.9Z", "2026-02-01T08:00:05Z"),
            ("2026-02-01T08:00:05Z", "2026-02-01T08:00:04Z", "2026-02-01T08:00:05.2Z"),
        ] {
            let before = Before { time: time.to_owned(), ..Before::default() };
            assert!(before.has(earlier, None) && !before.has(later, None), "{time}");
            let before = Before { commits: ["c".to_owned()].into(), ..before };
            assert!(before.has(later, Some("c")) && !before.has(later, Some("d")), "{time}");
        }
    }
}
