//! The signals by which people and systems stop a run.

use std::sync::mpsc::Sender;

use anyhow::{Context as _, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// A wish to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The signal's number.
    pub signal: i32,
}

impl Stop {
    /// Ends this process by the signal, so that whoever waits for it sees what happened. A hang-up counts as SIGTERM.
    pub fn die(self) {
        let signal = if self.signal == SIGHUP { SIGTERM } else { self.signal };
        drop(signal_hook::low_level::emulate_default_handler(signal));
    }

    /// Returns the signal's name.
    pub fn name(self) -> &'static str {
        signal_hook::low_level::signal_name(self.signal).unwrap_or("a signal")
    }
}

/// Sends every SIGINT, SIGTERM and SIGHUP from now on to `to`, in place of dying of it.
pub fn stops<T: Send + 'static>(to: Sender<T>, wrap: fn(Stop) -> T) -> Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).context("cannot wait for signals")?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            if to.send(wrap(Stop { signal })).is_err() {
                break;
            }
        }
    });
    Ok(())
}
