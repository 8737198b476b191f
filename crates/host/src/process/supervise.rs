//! The supervisor of one replica: starts the program, ends its whole tree, and says how it went.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::container;
use super::tree::{self, End};
use super::usage::{Memory, Usage};
use kubebench_syntax::invariant::Invariant as _;

/// How long processes have between SIGTERM and SIGKILL.
pub(super) const GRACE: Duration = Duration::from_secs(10);

/// What a supervisor says when everything has ended.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Report {
    /// Why the program could not be started.
    pub(super) error: Option<String>,
    /// The exit code.
    pub(super) code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    pub(super) signal: Option<String>,
    /// Whether it ended before it was asked to.
    pub(super) by_itself: bool,
    /// Seconds from its start to its end, without its descendants.
    pub(super) seconds: f64,
    /// What it and its descendants used.
    pub(super) usage: Usage,
}

/// What the supervisor is called where processes are listed, so that `killall -9 kubebench` leaves it to do its work.
const NAME: &std::ffi::CStr = c"kb-supervisor";

/// Runs `argv` in the working directory and environment of this process, and says through its standard input, a socket,
/// what became of it.
///
/// `container` names an engine and the container that the program is the client of; it is gone when this returns.
pub fn supervise(argv: &[String], container: Option<(&str, &str)>) -> Result<()> {
    tree::adopt_orphans();
    tree::rename(NAME);
    let mut signals = Signals::new([SIGCHLD, SIGHUP, SIGINT, SIGTERM]).context("cannot wait for signals")?;
    let socket = std::io::stdin().as_fd().try_clone_to_owned().map(File::from);
    let mut socket = socket.context("there is no supervisor to report to")?;
    // Nothing is ever written: this input ends when the process that started us does.
    std::thread::spawn(|| {
        let mut byte = [0];
        while std::io::stdin().read(&mut byte).is_ok_and(|count| count > 0) {}
        let _ = kill(Pid::this(), Signal::SIGTERM);
    });
    let outcome = run(argv, &mut signals);
    if let Some((engine, name)) = container {
        let texts =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        container::remove(engine, name, &texts.collect());
    }
    // Who started us may be gone.
    let _ = socket.write_all(&serde_json::to_vec(&outcome).expected("JSON of our own types"));
    Ok(())
}

fn run(argv: &[String], signals: &mut Signals) -> Report {
    let Some((program, arguments)) = argv.split_first() else {
        return Report { error: Some("there is no program to start".to_owned()), ..Report::default() };
    };
    let memory = Memory::of_myself();
    let started = Instant::now();
    let child = match Command::new(program).args(arguments).stdin(Stdio::null()).process_group(0).spawn() {
        Ok(child) => child,
        Err(error) => {
            let error = format!("`{program}` cannot be started: {}", plain(&error));
            return Report { error: Some(error), ..Report::default() };
        }
    };
    let pid = i32::try_from(child.id()).expected("a process id");
    memory.watch(pid);
    let (end, stopping) = wait(Pid::from_raw(pid), signals);
    let seconds = started.elapsed().as_secs_f64();
    let by_itself = stopping.is_none();
    match stopping {
        Some(stopping) => {
            while !stopping.is_finished() {
                tree::reap(&[]);
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        None if tree::SHOWS_DESCENDANTS => tree::end_descendants(&[], GRACE),
        None => stop_all(Pid::from_raw(pid), GRACE),
    }
    let mut report = Report { seconds, by_itself, usage: Usage::of_children(&memory), ..Report::default() };
    match end {
        End::Code(code) => report.code = Some(code),
        End::Signal(signal) => report.signal = Some(signal.as_str().to_owned()),
    }
    report
}

/// Waits for the program. When asked to stop, it ends the whole tree in a thread, which is returned if it began.
fn wait(child: Pid, signals: &mut Signals) -> (End, Option<JoinHandle<()>>) {
    let mut stopping = None;
    loop {
        if let Some(end) = tree::ended(child) {
            return (end, stopping);
        }
        for signal in signals.wait() {
            let grace = if signal == tree::AT_ONCE as i32 { Duration::ZERO } else { GRACE };
            if signal != SIGCHLD && (stopping.is_none() || grace.is_zero()) {
                stopping = Some(std::thread::spawn(move || stop_all(child, grace)));
            }
        }
    }
}

/// Asks all descendants of this process, `leader` and its group to end, and kills those that have not after `grace`.
/// Another thread records the ends.
fn stop_all(leader: Pid, grace: Duration) {
    let all_end_within = |time: Duration| {
        let started = Instant::now();
        while started.elapsed() < time {
            std::thread::sleep(Duration::from_millis(20));
            if tree::all_ended(leader) {
                return true;
            }
        }
        false
    };
    if !grace.is_zero() {
        tree::signal_all(leader, Signal::SIGTERM);
        if all_end_within(grace) {
            return;
        }
    }
    // Several times, as a process may start another one between the listing and the signal.
    for _ in 0..50 {
        tree::signal_all(leader, Signal::SIGKILL);
        if all_end_within(Duration::from_millis(100)) {
            return;
        }
    }
}

/// Says an error of the system without its number.
fn plain(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_lowercase()
}
