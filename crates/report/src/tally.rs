//! How series and cases stand, counted; and what is said where no change for the worse is open: how much that means.

use super::chart::Chart;
use super::site::{Case, Obstacle};
use kubebench_results::compare::model::Verdict;
use kubebench_results::compare::words;

/// How series and cases stand.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// The series with a change for the worse that is open.
    pub(super) worse: usize,
    /// Those that may have got worse, and a second session decides.
    pub(super) pending: usize,
    /// Those in which no change was seen.
    pub(super) quiet: usize,
    /// Those among them that would not have shown even a change by half.
    blind: usize,
    /// Those that improved.
    pub(super) improved: usize,
    /// Those that got worse, and that was accepted.
    pub(super) accepted: usize,
    /// Those that have limits alone, and keep them.
    pub(super) limited: usize,
    /// The files that did not count.
    left_out: usize,
    /// Those that cannot be judged.
    pub(super) undecided: usize,
    /// The cases whose newest session failed, and those that never ran.
    pub(super) failing: usize,
    pub(super) missing: usize,
    /// The changes that would have been seen, sorted.
    seen: Vec<f64>,
}

impl Tally {
    /// Counts what is known of cases; `left_out` files did not count.
    pub(super) fn of<'a, 'b: 'a>(cases: impl Iterator<Item = &'a Case<'b>>, left_out: usize) -> Self {
        let mut tally = Self { left_out, ..Self::default() };
        for case in cases {
            for trouble in &case.troubles {
                if trouble.what == Obstacle::NeverRan { tally.missing += 1 } else { tally.failing += 1 }
            }
            case.charts.iter().filter(|chart| chart.is_watched()).for_each(|chart| tally.count(chart));
        }
        tally.seen.sort_by(f64::total_cmp);
        tally
    }

    /// Returns in how many series nothing changed, or only what was accepted.
    pub(super) fn calm(&self) -> usize {
        self.quiet + self.accepted + self.limited
    }

    fn count(&mut self, chart: &Chart<'_>) {
        let line = chart.line();
        let count = match (chart.verdict(), line.map(|line| line.reason.as_str())) {
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), Some("accepted")) => &mut self.accepted,
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), Some("withinLimits" | "fixedBaseline")) => {
                &mut self.limited
            }
            (Some(Verdict::NoChangeSeen | Verdict::Unchanged), _) => {
                if line.is_some_and(words::is_blind) {
                    self.blind += 1;
                } else {
                    self.seen.extend(line.and_then(|line| line.detectable));
                }
                &mut self.quiet
            }
            (Some(Verdict::Improved), _) => &mut self.improved,
            (Some(Verdict::Regressed), _) => &mut self.worse,
            (Some(Verdict::Pending), _) => &mut self.pending,
            _ => &mut self.undecided,
        };
        *count += 1;
    }

    /// Returns the heading.
    pub(super) fn heading(&self) -> &'static str {
        let known = self.calm() + self.improved;
        match (known, self.pending + self.undecided + self.failing + self.missing + self.left_out) {
            (0, _) => "Nothing can be said yet",
            (_, 0) if self.accepted == 0 => "Nothing got worse",
            _ => "No regression is open",
        }
    }

    /// Says in how many series nothing was seen, what would have been, and what nobody knows.
    pub(super) fn sentence(&self) -> String {
        let series = |count: usize, what: &str| (count > 0).then(|| format!("{count} series {what}."));
        let cases = |count: usize, one: &str, many: &str| match count {
            0 => None,
            1 => Some(format!("1 case {one}.")),
            count => Some(format!("{count} cases {many}.")),
        };
        let parts = [
            (self.quiet > 0).then(|| format!("No change seen in {} series{}.", self.quiet, self.would_have_seen())),
            (self.blind > 0).then(|| {
                format!(
                    "{} of them would not have shown even a change by half: too few sessions, or too unsteady ones.",
                    self.blind
                )
            }),
            series(self.pending, "may have got worse, and a second session decides"),
            series(self.improved, "improved"),
            series(self.accepted, "got worse, and that was accepted"),
            series(self.limited, "kept the limits"),
            series(self.undecided, "cannot be judged yet"),
            cases(self.failing, "fails", "fail"),
            cases(self.missing, "has no result", "have no result"),
            (self.left_out > 0).then(|| format!("{} result files did not count.", self.left_out)),
        ];
        let said: Vec<String> = parts.into_iter().flatten().collect();
        if said.is_empty() { "There is no result that counts.".to_owned() } else { said.join(" ") }
    }

    fn would_have_seen(&self) -> String {
        let share = |place: usize| self.seen.get(place).map(|share| words::about(*share));
        match (share(self.seen.len() / 2), share(self.seen.len().saturating_sub(1))) {
            (Some(middle), Some(largest)) if middle != largest => {
                format!("; would have seen ±{middle} in half of them, ±{largest} in all")
            }
            (Some(seen), _) => format!("; would have seen ±{seen}"),
            _ => String::new(),
        }
    }
}
