//! Whether a log may lack lines in the middle of a stream that nothing has cut.
//!
//! A kubelet that passes a log on more slowly than the container writes it reads the file it holds to its end, while the node
//! begins one file after another. Then it continues with the newest, and those between are never read. Only the stamps show it:
//! lines that were written long after each other come at once, though before and behind the gap the container writes so much that
//! it would have filled it.

use std::time::Duration;

use jiff::Timestamp;
use kubebench_syntax::invariant::Invariant as _;

const SECOND: u64 = 1_000_000_000;
/// A kubelet looks no more often whether a log wants another file, so no file covers less.
const SHORTEST: u64 = 3 * SECOND;
/// What a container would have written in a gap that may be a skipped file: a kubelet's limit is hardly ever less.
const SMALLEST: u128 = (1 << 20) * SECOND as u128;
/// A container that writes so little that a file lasts longer is not too fast for a kubelet.
const LONGEST: u64 = 60 * SECOND;
/// The time over which it is counted how much is written.
const WINDOW: i64 = 10 * SECOND.cast_signed();

/// A span of time of which lines may be missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    after: i64,
    before: i64,
}

impl std::fmt::Display for Gap {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let time = |nanos: i64| Timestamp::from_nanosecond(nanos.into()).expected("a moment of some nanoseconds");
        write!(formatter, "between {:.3} and {:.3}", time(self.after), time(self.before))
    }
}

/// With which file a stream begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum File {
    /// With the one that was read before, or the first.
    Known,
    /// With another, which the node has begun since.
    Another,
}

/// How fast a log is written, and how it comes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pace {
    /// When the stream was opened: lines that were written before are in one file.
    opened: i64,
    is_another: bool,
    /// The last stamp, and when it came.
    last: Option<(i64, Duration)>,
    /// From which stamp on `bytes` are counted.
    from: i64,
    bytes: u64,
    /// What was written in a second before that.
    rate: u64,
}

impl Pace {
    /// Says that a stream was opened at this time.
    pub(crate) fn open(&mut self, clock: Timestamp, file: File) {
        self.opened = i64::try_from(clock.as_nanosecond()).expected("a clock of our time");
        self.is_another = file == File::Another;
    }

    /// Records bytes that `came` some time after a moment that stays the same, and the stamp of the last line among them.
    pub(crate) fn see(&mut self, stamp: i64, bytes: usize, came: Duration) -> Option<Gap> {
        let gap = self.last.and_then(|(last, last_came)| self.judge(last, stamp, came.saturating_sub(last_came)));
        if self.last.is_none() || !(0..WINDOW).contains(&stamp.saturating_sub(self.from)) {
            self.rate = self.recent_rate();
            (self.from, self.bytes) = (stamp, 0);
        }
        self.bytes += bytes as u64;
        self.last = Some((stamp, came));
        self.is_another = false;
        gap
    }

    fn judge(&self, last: i64, stamp: i64, waited: Duration) -> Option<Gap> {
        let span = u64::try_from(stamp.checked_sub(last)?).ok().filter(|span| *span >= SHORTEST)?;
        let is_late = waited.as_nanos() * 2 < span.into();
        let is_full = u128::from(self.rate.max(self.recent_rate())) * u128::from(span.min(LONGEST)) >= SMALLEST;
        let is_one_file = !self.is_another && stamp <= self.opened.saturating_add(SHORTEST.cast_signed());
        (is_late && is_full && !is_one_file).then_some(Gap { after: last, before: stamp })
    }

    /// Returns how many bytes were written in a second lately.
    fn recent_rate(&self) -> u64 {
        let span = self.last.map_or(0, |(last, _)| last.saturating_sub(self.from));
        self.bytes.saturating_mul(SECOND) / u64::try_from(span).unwrap_or(0).max(SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: i64 = 1_795_000_000_000_000_000;

    fn at(seconds: f64) -> i64 {
        i64::try_from(time(seconds).as_nanosecond()).unwrap()
    }

    fn time(seconds: f64) -> Timestamp {
        Timestamp::from_nanosecond(START.into()).unwrap() + Duration::from_secs_f64(seconds)
    }

    /// Feeds `bytes` for each `(stamp, came)` in seconds.
    fn gaps(opened: f64, bytes: usize, lines: &[(f64, f64)]) -> Vec<String> {
        let mut pace = Pace::default();
        pace.open(time(opened), File::Known);
        let see = |(stamp, came): &(f64, f64)| pace.see(at(*stamp), bytes, Duration::from_secs_f64(*came));
        lines.iter().filter_map(see).map(|gap| gap.to_string()).collect()
    }

    /// Lines of `count` pieces, 16 a second, each of which comes `late` seconds after it was written.
    fn steady(from: f64, count: u32, late: f64) -> Vec<(f64, f64)> {
        (0..count).map(|at| from + f64::from(at) / 16.0).map(|stamp| (stamp, stamp + late)).collect()
    }

    #[test]
    fn a_reader_that_lags_behind_a_busy_container_and_jumps_has_skipped_a_file() {
        // It takes 30 s for what was written in 10, and then continues with what was written in between.
        let slow = steady(0.0, 160, 0.0).into_iter().map(|(stamp, _)| (stamp, stamp * 3.0));
        let lines: Vec<_> = slow.chain([(28.0, 30.1)]).collect();
        assert_eq!(gaps(0.0, 64 << 10, &lines), ["between 2026-11-18T11:06:49.937Z and 2026-11-18T11:07:08.000Z"]);
    }

    #[test]
    fn a_container_that_pauses_has_not_lost_a_line() {
        let lines: Vec<_> = steady(0.0, 160, 0.2).into_iter().chain(steady(40.0, 160, 0.2)).collect();
        assert_eq!(gaps(0.0, 64 << 10, &lines), [""; 0], "the lines came as late as they were written");
    }

    #[test]
    fn what_was_written_before_the_stream_was_opened_is_in_one_file() {
        let all_at_once = |opened: f64| {
            let lines = steady(0.0, 160, 0.0).into_iter().chain(steady(40.0, 160, 0.0));
            gaps(opened, 64 << 10, &lines.map(|(stamp, _)| (stamp, 60.0)).collect::<Vec<_>>()).len()
        };
        assert_eq!((all_at_once(60.0), all_at_once(30.0)), (0, 1));
    }

    #[test]
    fn a_container_that_writes_little_does_not_fill_a_file_while_a_reader_is_held_up() {
        let lines: Vec<_> = (0..20).map(|at| (f64::from(at) * 60.0, 1500.0 + f64::from(at))).collect();
        assert_eq!(gaps(0.0, 100, &lines).len(), 0);
        assert_eq!(gaps(0.0, 1 << 20, &lines).len(), 19);
    }

    #[test]
    fn another_file_that_begins_later_than_the_one_before_ended_is_judged_too() {
        let first_of_another = |came: f64| {
            let mut pace = Pace::default();
            pace.open(time(0.0), File::Known);
            for (stamp, came) in steady(0.0, 160, 20.0) {
                assert_eq!(pace.see(at(stamp), 64 << 10, Duration::from_secs_f64(came)), None);
            }
            pace.open(time(came), File::Another);
            let first = pace.see(at(25.0), 100, Duration::from_secs_f64(came));
            let later = pace.see(at(29.0), 100, Duration::from_secs_f64(came));
            (first.is_some(), later.is_some())
        };
        assert_eq!(first_of_another(31.0), (true, false), "what follows is of one file");
        assert_eq!(first_of_another(50.0), (false, false), "nothing was written before it was read");
    }
}
