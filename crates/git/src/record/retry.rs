//! When to try again, and when not to.

use kubebench_syntax::invariant::Invariant as _;
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(8);

/// Returns how long to wait after the failure number `failures` (from 0): anything up to 0.2·2ⁿ seconds, 8 at most.
///
/// The whole range is drawn from ("full jitter"), because writers that lost one race together would meet in the next one too.
pub(crate) fn pause(failures: u32, random: u64) -> Duration {
    let ceiling = FIRST.saturating_mul(1_u32.checked_shl(failures.min(16)).unwrap_or(u32::MAX)).min(LONGEST);
    let nanoseconds = u64::try_from(ceiling.as_nanos()).expected("a pause of less than 584 years");
    Duration::from_nanos(random % nanoseconds.saturating_add(1))
}

/// How often failures that continue are reported.
const REMINDER: Duration = Duration::from_secs(30);

/// Decides when a retry is reported: nobody should wonder for minutes, nor read the same each second.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Telling {
    last: Option<Duration>,
}

impl Telling {
    /// Returns whether a failure is reported now, `elapsed` after the start: the first at once, others every 30 s.
    pub(crate) fn of_failure(&mut self, elapsed: Duration) -> bool {
        self.last.is_none() && self.is_reported(elapsed) || self.of_delay(elapsed)
    }

    /// Returns whether a delay is reported now that is no error, such as a lost race: every 30 s, the first among them.
    pub(crate) fn of_delay(&mut self, elapsed: Duration) -> bool {
        elapsed.saturating_sub(self.last.unwrap_or_default()) >= REMINDER && self.is_reported(elapsed)
    }

    fn is_reported(&mut self, elapsed: Duration) -> bool {
        self.last = Some(elapsed);
        true
    }
}

/// Counts answers of no that nothing has changed between: the second one is final.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strikes {
    last: Option<(String, String)>,
    count: u32,
}

impl Strikes {
    /// Notes that a server said no with `words` to a push onto `state`, the names of all it would have changed.
    pub(crate) fn strike(&mut self, state: &str, words: &str) {
        let same = self.last.as_ref().is_some_and(|(last, _)| last == state);
        self.count = if same { self.count + 1 } else { 1 };
        self.last = Some((state.to_owned(), words.to_owned()));
    }

    /// Returns the words of the refusal when `state` was refused twice in a row and is still what the server has.
    pub(crate) fn refused(&self, state: &str) -> Option<&str> {
        let (last, words) = self.last.as_ref()?;
        (self.count >= 2 && last == state).then_some(words.as_str())
    }
}
