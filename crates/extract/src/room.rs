//! How many values the series of a run may keep together.
//!
//! A median needs every value, so a series keeps them; a log may have more than memory does. Whether there are too many
//! depends on how many values each series has in the end, and not on the order in which logs were read: the same logs give
//! the same result.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The maximum number of values kept of all logs of a run together, and of a file: 64 MB. One a second is as many in three months.
const MOST: u64 = 8_000_000;
/// A series up to this length keeps its values in any case: they need less memory than the code that looks for them.
pub(crate) const FEW: u64 = 1_000;

/// The memory for values that the series of a run use together.
#[derive(Clone, Debug)]
pub struct Room {
    most: u64,
    taken: Arc<AtomicU64>,
}

impl Default for Room {
    fn default() -> Self {
        Self::of(MOST)
    }
}

impl Room {
    /// Makes room for this many values.
    pub(crate) fn of(most: u64) -> Self {
        Self { most, taken: Arc::default() }
    }

    /// Returns for how many values there is room.
    pub(crate) fn most(&self) -> u64 {
        self.most
    }

    /// Reserves room for more values of a series that has `count`, each as large as `size` numbers, and returns for how many.
    pub(crate) fn take(&self, count: u64, size: u64) -> u64 {
        let more = count.clamp(8, FEW);
        self.taken.fetch_add(more * size, Ordering::Relaxed);
        more
    }

    /// Returns true if there are more values than may be kept: series that are not short drop theirs.
    pub(crate) fn is_over(&self) -> bool {
        self.taken.load(Ordering::Relaxed) > self.most
    }
}

#[cfg(test)]
mod tests {
    use super::Room;

    /// Reserves room for a series of this many values.
    fn fill(room: &Room, values: u64) {
        let mut count = 0;
        while count < values {
            count += room.take(count, 1);
        }
    }

    #[test]
    fn real_runs_keep_all_their_values() {
        let room = Room::default();
        // Twenty metrics, one value of each every ten seconds for a month; the last losses of 512 replicas.
        (0..20).for_each(|_| fill(&room, 30 * 24 * 360));
        (0..512).for_each(|_| fill(&room, 4_000));
        assert!(!room.is_over());
        fill(&room, 160_000_000);
        assert!(room.is_over());
    }
}
