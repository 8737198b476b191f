//! When schedules start benchmarks next.

use kubebench_compiler::model::{Benchmark, Schedule};
use kubebench_format::plan::v1;
use kubebench_syntax::unit::Start;

/// The number of starts that are shown.
const SHOWN: usize = 3;

/// Returns the schedule of a benchmark, or of its suite, with the next starts after `now` (RFC 3339); none where it runs once.
pub fn schedule(benchmark: &Benchmark, now: &str) -> Option<v1::Schedule> {
    let Schedule { cron, timezone } = benchmark.schedule.as_ref()?;
    let start = |Start { local, utc }| v1::Start { local, utc };
    Some(v1::Schedule {
        cron: cron.to_string(),
        timezone: timezone.to_string(),
        next: cron.next(timezone, now, SHOWN).into_iter().map(start).collect(),
    })
}
