//! Asks a program that answers soon.

use std::io;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs `command` without input and returns what it printed, of its errors where these are piped; one that takes longer than `patience` is killed.
pub(super) fn ask(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let started = Instant::now();
    while child.try_wait()?.is_none() {
        if started.elapsed() > patience {
            child.kill()?;
        }
        std::thread::sleep(PAUSE);
    }
    child.wait_with_output()
}
