//! The descendants of a process, and their end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kubebench_syntax::invariant::Invariant as _;
use nix::sys::signal::{Signal, kill, killpg};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

/// This signal asks a supervisor to kill everything at once.
pub(super) const AT_ONCE: Signal = Signal::SIGINT;

/// Becomes the parent of orphaned descendants, where the system knows that (Linux).
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_child_subreaper(true);
}

/// Changes what this process is called where processes are listed (Linux).
pub(super) fn rename(name: &std::ffi::CStr) {
    #[cfg(target_os = "linux")]
    let _ = nix::sys::prctl::set_name(name);
    #[cfg(not(target_os = "linux"))]
    let _ = name;
}

/// Returns all descendants of `roots`, without these, and without `spared` and theirs. Empty where there is no /proc.
pub(super) fn descendants(roots: &[i32], spared: &[i32]) -> Vec<i32> {
    let mut children: BTreeMap<i32, Vec<i32>> = BTreeMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else { continue };
        if let Some(parent) = stat(pid).and_then(|fields| fields.get(1)?.parse().ok()) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = roots.to_vec();
    while let Some(pid) = next.pop() {
        let mut below = children.remove(&pid).unwrap_or_default();
        below.retain(|pid| !spared.contains(pid));
        found.extend(&below);
        next.extend(below);
    }
    found
}

/// Returns the fields of `/proc/<pid>/stat` behind the name, which may hold blanks and parentheses: state, parent, …
pub(super) fn stat(pid: i32) -> Option<Vec<String>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    Some(rest.split_whitespace().map(str::to_owned).collect())
}

/// Returns all descendants of this process.
pub(super) fn below_me() -> Vec<i32> {
    descendants(&[me()], &[])
}

/// Whether the system shows the descendants of a process. Where it does not, the program's group is used instead.
pub(super) const SHOWS_DESCENDANTS: bool = cfg!(target_os = "linux");

/// Signals all descendants of this process, where the system shows them, and else the process group that `leader` leads.
pub(super) fn signal_all(leader: Pid, signal: Signal) {
    if !SHOWS_DESCENDANTS {
        let _ = killpg(leader, signal);
    }
    for pid in below_me() {
        let _ = kill(Pid::from_raw(pid), signal);
    }
}

/// Returns true when nothing is left that [`signal_all`] could reach.
pub(super) fn all_ended(leader: Pid) -> bool {
    // A group of which only zombies are left refuses signals on macOS.
    below_me().is_empty() && (SHOWS_DESCENDANTS || killpg(leader, None).is_err())
}

fn me() -> i32 {
    i32::try_from(std::process::id()).expected("a process id")
}

/// Ends every descendant of this process but `spared` and theirs: SIGTERM, and after `grace` SIGKILL.
pub(super) fn end_descendants(spared: &[i32], grace: Duration) {
    let rest = || -> Vec<i32> {
        reap(spared);
        descendants(&[me()], spared).into_iter().filter(|pid| !is_dead(*pid)).collect()
    };
    let started = Instant::now();
    let mut signalled: Vec<i32> = Vec::new();
    let mut pause = Duration::from_millis(2);
    // A process that SIGKILL does not end hangs in the kernel; waiting for that is useless.
    while started.elapsed() < grace + Duration::from_secs(5) {
        let left = rest();
        if left.is_empty() {
            return;
        }
        let signal = if started.elapsed() < grace { Signal::SIGTERM } else { Signal::SIGKILL };
        for pid in left {
            // SIGTERM once: some programs take the second for "at once".
            if signal == Signal::SIGKILL || !signalled.contains(&pid) {
                let _ = kill(Pid::from_raw(pid), signal);
                signalled.push(pid);
            }
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

/// Kills every descendant of `supervisor`, and it, at once. Where the system does not show them, the supervisor does.
pub(super) fn kill_tree(supervisor: i32) {
    if !SHOWS_DESCENDANTS {
        let _ = kill(Pid::from_raw(supervisor), AT_ONCE);
        return;
    }
    for pid in descendants(&[supervisor], &[]).into_iter().chain([supervisor]) {
        let _ = kill(Pid::from_raw(pid), Signal::SIGKILL);
    }
}

/// Reaps adopted processes that ended, except `spared`, whose ends are awaited elsewhere.
pub(super) fn reap(spared: &[i32]) {
    for pid in descendants(&[me()], spared) {
        let is_child = || stat(pid).and_then(|fields| fields.get(1)?.parse::<i32>().ok()) == Some(me());
        if is_dead(pid) && is_child() {
            let _ = waitpid(Pid::from_raw(pid), Some(WaitPidFlag::WNOHANG));
        }
    }
}

fn is_dead(pid: i32) -> bool {
    stat(pid).and_then(|fields| fields.first().cloned()).is_none_or(|state| matches!(state.as_str(), "Z" | "X"))
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// By itself, with a code.
    Code(i32),
    /// By a signal.
    Signal(Signal),
}

/// Returns how `child` ended if it has, taking note of every other child that ended.
pub(super) fn ended(child: Pid) -> Option<End> {
    loop {
        let (pid, end) = match waitpid(None, Some(WaitPidFlag::WNOHANG)) {
            Ok(WaitStatus::Exited(pid, code)) => (pid, End::Code(code)),
            Ok(WaitStatus::Signaled(pid, signal, _)) => (pid, End::Signal(signal)),
            Ok(WaitStatus::StillAlive) | Err(_) => return None,
            Ok(_) => continue,
        };
        if pid == child {
            return Some(end);
        }
    }
}
