//! What processes use: exact sums at the end, samples while they run.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::tree;
use kubebench_syntax::invariant::Invariant as _;

/// What the processes of one replica used, from start to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Usage {
    /// CPU time in user and kernel mode.
    pub cpu_seconds: f64,
    /// Peak resident memory of the largest single process; none of a small one that ended at once.
    pub max_rss_bytes: Option<f64>,
    /// Bytes fetched from storage; none where the system does not count them.
    pub read_bytes: Option<f64>,
    /// Bytes sent to storage; none where the system does not count them.
    pub write_bytes: Option<f64>,
}

impl Usage {
    /// Returns what the children of this process used that have ended and been waited for, with theirs.
    pub(super) fn of_children(memory: &Memory) -> Self {
        let children = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_CHILDREN);
        let children = children.ok().expected("what children used: the call has no way to fail");
        let seconds = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 + time.tv_usec() as f64 / 1e6;
        // Linux counts kibibytes, macOS bytes.
        let unit = if cfg!(target_os = "macos") { 1.0 } else { 1024.0 };
        let io = io_of("self");
        Self {
            cpu_seconds: seconds(children.user_time()) + seconds(children.system_time()),
            max_rss_bytes: memory.judge(children.max_rss() as f64 * unit),
            read_bytes: io.map(|(read, _)| read),
            write_bytes: io.map(|(_, written)| written),
        }
    }
}

/// The peak memory of a program that may be smaller than its supervisor.
///
/// The system counts a child from before its program is loaded, when it still is its parent: what it says of a child is
/// exact where it is more than the parent had, and says nothing otherwise. Only such children are looked at while they run.
#[derive(Debug)]
pub(super) struct Memory {
    own: f64,
    since: Instant,
    seen: Arc<AtomicU64>,
}

/// How often a small process is looked at: what it takes after the last look is not seen.
const LOOK: Duration = Duration::from_millis(10);
/// A process that ended before it was looked at so often says nothing of its peak.
const LOOKS: u32 = 10;

impl Memory {
    /// Records what this process has.
    pub(super) fn of_myself() -> Self {
        // The counts of a process are up to some hundred pages late.
        let own = peak_of("self").map_or(0.0, |own| own as f64 * 1.1);
        Self { own, since: Instant::now(), seen: Arc::default() }
    }

    /// Looks at `pid` and its descendants until one is larger than this process.
    pub(super) fn watch(&self, pid: i32) {
        let (own, seen) = (self.own, Arc::clone(&self.seen));
        std::thread::spawn(move || {
            while let Some(main) = peak_of(&pid.to_string()) {
                let below = children(pid).into_iter().filter_map(|pid| peak_of(&pid.to_string()));
                let peak = below.fold(main, u64::max);
                seen.fetch_max(peak, Ordering::Relaxed);
                if peak as f64 > own {
                    break;
                }
                std::thread::sleep(LOOK);
            }
        });
    }

    /// Returns the peak, where the system says `counted`.
    fn judge(&self, counted: f64) -> Option<f64> {
        if counted > self.own {
            return Some(counted);
        }
        let seen = self.seen.load(Ordering::Relaxed);
        (seen > 0 && self.since.elapsed() >= LOOK * LOOKS).then_some(seen as f64)
    }
}

/// Returns the peak resident memory of a living process.
fn peak_of(pid: &str) -> Option<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<u64>().ok()? * 1024)
}

/// Returns the descendants of `root` that its first thread started, by the files that cost least to read.
fn children(root: i32) -> Vec<i32> {
    let mut found = Vec::new();
    let mut next = vec![root];
    while let Some(pid) = next.pop() {
        // One that has ended has none.
        let Ok(text) = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")) else { continue };
        let below: Vec<i32> = text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// Returns the bytes that a process and its children that ended read from and wrote to storage; nothing of one that has ended, which
/// is in its parent's count, and where the system does not count them.
fn io_of(pid: &str) -> Option<(f64, f64)> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/io")).ok()?;
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line?.trim().parse().ok()
    };
    Some((field("read_bytes")?, field("write_bytes")?))
}

/// Samples of a running tree: CPU time and storage used so far, and memory held now.
#[derive(Clone, Debug, Default)]
pub struct Sampler {
    /// Seconds of CPU time of all processes up to each sample.
    pub cpu_seconds: Vec<f64>,
    /// Bytes fetched from storage by all processes up to each sample.
    pub read_bytes: Vec<f64>,
    /// Bytes sent to storage by all processes up to each sample.
    pub write_bytes: Vec<f64>,
    /// Bytes of memory of all processes together, at each sample.
    pub rss_bytes: Vec<f64>,
    /// Samples since the last at which any process held memory.
    idle: usize,
}

impl Sampler {
    /// Takes a sample of the trees below `supervisors`; `ended` is what replicas used that have ended.
    pub fn sample(&mut self, supervisors: &[i32], ended: impl Iterator<Item = Usage>) {
        let ticks =
            nix::unistd::sysconf(nix::unistd::SysconfVar::CLK_TCK).ok().flatten().expected("the ticks of a second")
                as f64;
        let page =
            nix::unistd::sysconf(nix::unistd::SysconfVar::PAGE_SIZE).ok().flatten().expected("the size of a page")
                as f64;
        // Fields 14 to 17 and 24 of proc(5), counted from the state, which is field 3.
        let of = |pid: i32, fields: &[usize]| -> f64 {
            let text = tree::stat(pid).unwrap_or_default();
            let field = |index: &usize| text.get(*index).and_then(|text| text.parse::<f64>().ok());
            fields.iter().filter_map(field).sum()
        };
        // A supervisor's own time is not the run's; that of its children which ended is.
        let waited_for: f64 = supervisors.iter().map(|pid| of(*pid, &[13, 14])).sum();
        let mut sums = Sums { cpu_seconds: waited_for / ticks, ..Sums::default() };
        let mut rss = 0.0;
        for usage in ended {
            sums.add(usage.cpu_seconds, usage.read_bytes.zip(usage.write_bytes));
        }
        // As at the end, when a supervisor's own is in its count.
        for pid in supervisors {
            sums.add(0.0, io_of(&pid.to_string()));
        }
        for pid in tree::descendants(supervisors, &[]) {
            sums.add(of(pid, &[11, 12, 13, 14]) / ticks, io_of(&pid.to_string()));
            rss += of(pid, &[21]) * page;
        }
        self.take(sums, rss);
    }

    /// Takes one sample. Time without any process counts between processes, and not behind the last.
    fn take(&mut self, now: Sums, rss: f64) {
        if rss <= 0.0 {
            self.idle += 1;
            return;
        }
        // What a process used that ended is not seen until its parent has waited for it.
        let last = |values: &[f64]| values.last().copied().unwrap_or_default();
        let before = Sums {
            cpu_seconds: last(&self.cpu_seconds),
            storage: now.storage.map(|_| (last(&self.read_bytes), last(&self.write_bytes))),
        };
        for _ in 0..std::mem::take(&mut self.idle) {
            self.push(before, before, 0.0);
        }
        self.push(before, now, rss);
    }

    fn push(&mut self, before: Sums, now: Sums, rss: f64) {
        self.cpu_seconds.push(now.cpu_seconds.max(before.cpu_seconds));
        if let (Some((read, written)), Some((read_before, written_before))) = (now.storage, before.storage) {
            self.read_bytes.push(read.max(read_before));
            self.write_bytes.push(written.max(written_before));
        }
        self.rss_bytes.push(rss);
    }
}

/// What all processes used up to a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    cpu_seconds: f64,
    /// Bytes read and written, where the system counts them.
    storage: Option<(f64, f64)>,
}

impl Sums {
    fn add(&mut self, cpu_seconds: f64, storage: Option<(f64, f64)>) {
        self.cpu_seconds += cpu_seconds;
        if let Some((read, written)) = storage {
            let (all_read, all_written) = self.storage.unwrap_or_default();
            self.storage = Some((all_read + read, all_written + written));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Sampler, Sums};

    #[test]
    fn sums_never_fall_and_the_end_is_no_sample() {
        let mut sampler = Sampler::default();
        for (cpu, rss) in [(0.0, 0.0), (1.0, 10.0), (0.5, 20.0), (0.5, 0.0), (3.0, 5.0), (0.0, 0.0), (4.0, 0.0)] {
            sampler.take(Sums { cpu_seconds: cpu, storage: Some((cpu * 2.0, 10.0 - cpu)) }, rss);
        }
        assert_eq!(sampler.cpu_seconds, [0.0, 1.0, 1.0, 1.0, 3.0]);
        assert_eq!(sampler.read_bytes, [0.0, 2.0, 2.0, 2.0, 6.0]);
        assert_eq!(sampler.write_bytes, [0.0, 9.0, 9.5, 9.5, 9.5]);
        assert_eq!(sampler.rss_bytes, [0.0, 10.0, 20.0, 0.0, 5.0]);
    }

    #[test]
    fn what_the_system_does_not_count_is_no_zero() {
        let mut sampler = Sampler::default();
        sampler.take(Sums { cpu_seconds: 1.0, storage: None }, 10.0);
        assert_eq!((sampler.cpu_seconds, sampler.read_bytes, sampler.write_bytes), (vec![1.0], vec![], vec![]));
    }
}
