//! The signals by which people and systems stop a run.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The signal's number.
    pub signal: i32,
}

impl Stop {
    /// Ends this process by the signal, so that the process that waits for it sees what happened. A hang-up counts as SIGTERM.
    pub fn die(self) {
        let signal = if self.signal == SIGHUP { SIGTERM } else { self.signal };
        drop(signal_hook::low_level::emulate_default_handler(signal));
    }

    /// Returns the signal's name.
    pub fn name(self) -> &'static str {
        signal_hook::low_level::signal_name(self.signal).unwrap_or("a signal")
    }
}

/// Takes a stop in; says whether anybody is there for it.
type Taker = Box<dyn Fn(Stop) -> bool + Send>;

/// Who takes stops now: the session that began last.
static TAKER: Mutex<Option<Taker>> = Mutex::new(None);

/// How many results are being made that are not on disk yet.
static UNSTORED: AtomicUsize = AtomicUsize::new(0);
/// How long after the first signal no further one kills this process before the result is on disk.
const PATIENCE: Duration = Duration::from_mins(1);

/// While this is held, an impatient person does not lose what was measured.
#[derive(Debug)]
pub struct Unstored(());

impl Unstored {
    /// Says that from now on there is a result to lose.
    pub fn begin() -> Self {
        UNSTORED.fetch_add(1, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for Unstored {
    fn drop(&mut self) {
        UNSTORED.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Sends every SIGINT, SIGTERM and SIGHUP from now on to `to`, instead of dying of it. When there is no receiver any
/// more, or at the third, this process dies of it after all, but not while there is a result to lose ([`Unstored`]).
///
/// Under `nohup` a hang-up stays without effect.
pub fn stops<T: Send + 'static>(to: Sender<T>, wrap: fn(Stop) -> T) -> Result<()> {
    let take: Taker = Box::new(move |stop| to.send(wrap(stop)).is_ok());
    let is_first = TAKER.lock().unwrap_or_else(PoisonError::into_inner).replace(take).is_none();
    if !is_first {
        return Ok(());
    }
    let hang_up = (!ignores_hang_up()).then_some(SIGHUP);
    let wanted = [SIGINT, SIGTERM].into_iter().chain(hang_up);
    let mut signals = Signals::new(wanted).context("cannot wait for signals")?;
    std::thread::spawn(move || {
        let mut first = None;
        for (signal, count) in signals.forever().zip(1..) {
            let stop = Stop { signal };
            let since = first.get_or_insert_with(Instant::now).elapsed();
            let taker = TAKER.lock().unwrap_or_else(PoisonError::into_inner);
            let is_taken = taker.as_ref().is_some_and(|take| take(stop));
            // Two are enough where processes run: then this one is busy, and the supervisors end what is left.
            let has_more_to_do = UNSTORED.load(Ordering::SeqCst) > 0 && since < PATIENCE;
            if (count > 2 || !is_taken) && !has_more_to_do {
                stop.die();
            }
        }
    });
    Ok(())
}

/// Returns true when this process was started to outlive the terminal.
fn ignores_hang_up() -> bool {
    let Ok(status) = std::fs::read_to_string("/proc/self/status") else { return false };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
