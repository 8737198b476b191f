//! The supervisor of one replica: starts the program, ends its whole tree, and says how it went.

#![expect(clippy::disallowed_methods, reason = "the edge starts programs and writes files")]

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::tree::{self, End};
use super::usage::Usage;

/// How long processes have between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// What a supervisor writes down when everything has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Why the program could not be started.
    pub(super) error: Option<String>,
    /// The exit code.
    pub(super) code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    pub(super) signal: Option<String>,
    /// Seconds from its start to its end, without its descendants.
    pub(super) seconds: f64,
    /// What it and its descendants used.
    pub(super) usage: Usage,
}

static WAS_TOLD: AtomicBool = AtomicBool::new(false);

/// Runs `argv` in the working directory and environment of this process, and writes what became of it to `report`.
pub fn supervise(argv: &[String], report: &Path) -> Result<()> {
    tree::adopt_orphans();
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).context("cannot wait for signals")?;
    // Nobody ever writes: this input ends when the one who started us does.
    std::thread::spawn(|| {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|count| count > 0) {}
        let _ = kill(Pid::this(), Signal::SIGTERM);
    });
    let outcome = run(argv, &mut signals);
    let text = serde_json::to_vec(&outcome).unwrap_or_default();
    std::fs::write(report, text).with_context(|| format!("cannot write {}", report.display()))
}

fn run(argv: &[String], signals: &mut Signals) -> Report {
    let Some((program, arguments)) = argv.split_first() else {
        return Report { error: Some("there is no program to start".to_owned()), ..Report::default() };
    };
    let started = Instant::now();
    let child = match Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            let error = format!("`{program}` cannot be started: {}", plain(&error));
            return Report { error: Some(error), ..Report::default() };
        }
    };
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap_or_default());
    let end = wait(pid, signals);
    let seconds = started.elapsed().as_secs_f64();
    tree::end_descendants(&[], if WAS_TOLD.load(Ordering::Relaxed) { Duration::ZERO } else { GRACE });
    let mut report = Report { seconds, usage: Usage::of_children(), ..Report::default() };
    match end {
        End::Code(code) => report.code = Some(code),
        End::Signal(signal) => report.signal = Some(signal.as_str().to_owned()),
    }
    report
}

/// Waits for the program; when told to stop, tells its whole tree, and kills what is left after the grace time.
fn wait(child: Pid, signals: &mut Signals) -> End {
    loop {
        if let Some(end) = tree::ended(child) {
            return end;
        }
        for signal in signals.wait() {
            if signal == SIGCHLD || WAS_TOLD.swap(true, Ordering::Relaxed) {
                continue;
            }
            // Waiting for the end goes on here, while this ends everything in good order.
            std::thread::spawn(|| {
                stop_all();
                // The loop may be waiting for a child that ended just before.
                let _ = kill(Pid::this(), Signal::SIGCHLD);
            });
        }
    }
}

/// Tells all descendants to end, and kills those that have not after the grace time.
fn stop_all() {
    let me = i32::try_from(std::process::id()).unwrap_or_default();
    let tell = |signal| {
        for pid in tree::descendants(me) {
            let _ = kill(Pid::from_raw(pid), signal);
        }
    };
    tell(Signal::SIGTERM);
    let step = Duration::from_millis(50);
    for _ in 0..GRACE.as_millis() / step.as_millis() {
        std::thread::sleep(step);
        if tree::descendants(me).is_empty() {
            return;
        }
    }
    for _ in 0..20 {
        tell(Signal::SIGKILL);
        std::thread::sleep(step);
        if tree::descendants(me).is_empty() {
            return;
        }
    }
}

/// Says an error of the system without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
