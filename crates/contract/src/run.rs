//! One run, as in the run list.

use serde::{Deserialize, Serialize};

/// One run, as in the run list, here and in the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// `<case>-r1`, or `<case>-w1` for a warm-up.
    pub id: String,
    pub case: String,
    /// From 1; warm-ups are counted separately.
    pub repeat: u32,
    /// Whether it is a warm-up.
    pub warmup: bool,
    /// The name of the job of its first attempt.
    pub job: String,
}

impl Run {
    /// Reads what an id says, `<case>-r1` or `<case>-w1`; it does not say the name of the job. Nothing else is an id.
    pub fn of_id(id: &str) -> Option<Self> {
        let (case, of_run) = id.rsplit_once('-')?;
        let repeat = of_run.get(1..)?.parse().ok()?;
        let warmup = of_run.starts_with('w');
        let run = Self { case: case.to_owned(), repeat, warmup, job: String::new(), id: id.to_owned() };
        (run.round() == of_run).then_some(run)
    }

    /// Returns the round as used in names: `r1`, or `w1` for a warm-up.
    pub fn round(&self) -> String {
        round(self.repeat, self.warmup)
    }
}

/// The order of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Order {
    /// c1 c2 c1 c2
    Interleaved,
    /// c1 c1 c2 c2
    Grouped,
}

/// Returns a round as used in names.
pub fn round(repeat: u32, warmup: bool) -> String {
    format!("{}{repeat}", if warmup { 'w' } else { 'r' })
}
