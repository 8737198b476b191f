//! Asks a program that answers soon.

use kubebench_syntax::invariant::Invariant as _;
use std::io::{self, Read};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Between two looks at whether it has ended.
const PAUSE: Duration = Duration::from_millis(5);
/// How long what it printed is read after its end; something that it started may hold its output forever.
const DRAIN: Duration = Duration::from_secs(1);

/// Runs `command` without input and returns what it printed, of its errors where these are piped; one that takes longer than `patience` is killed.
pub(super) fn ask(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    // Read while it runs: a program whose pipe is full waits for that.
    let output = child.stdout.take().map(Reading::start);
    let errors = child.stderr.take().map(Reading::start);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if started.elapsed() > patience {
            child.kill()?;
        }
        std::thread::sleep(PAUSE);
    };
    let finish = |reading: Option<Reading>| reading.map(Reading::finish).unwrap_or_default();
    Ok(Output { status, stdout: finish(output), stderr: finish(errors) })
}

/// What comes out of a pipe, read by a thread.
struct Reading {
    bytes: Arc<Mutex<Vec<u8>>>,
    /// Says nothing; it ends with the pipe.
    end: Receiver<()>,
}

impl Reading {
    fn start(mut pipe: impl Read + Send + 'static) -> Self {
        let (sender, end) = channel();
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let shared = Arc::clone(&bytes);
        std::thread::spawn(move || {
            let _until_the_end = sender;
            let mut buffer = vec![0; 64 << 10];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                let read = buffer.get(..count).expected("at most a buffer of bytes");
                shared.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(read);
            }
        });
        Self { bytes, end }
    }

    fn finish(self) -> Vec<u8> {
        let _ = self.end.recv_timeout(DRAIN);
        std::mem::take(&mut self.bytes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {

    use std::process::Command;
    use std::time::Duration;

    use super::ask;
    use kubebench_testing::watchdog::returns;

    fn of(script: &'static str, patience: u64) -> std::process::Output {
        returns(script, move || {
            let mut command = Command::new("sh");
            let patience = Duration::from_secs(patience);
            ask(command.args(["-c", script]).stderr(std::process::Stdio::piped()), patience).unwrap()
        })
    }

    #[test]
    fn more_than_a_pipe_holds() {
        let output = of("head -c 300000 /dev/zero; head -c 200000 /dev/zero >&2; exit 3", 1000);
        assert_eq!((output.stdout.len(), output.stderr.len(), output.status.code()), (300_000, 200_000, Some(3)));
    }

    #[test]
    fn nobody_waits_for_what_holds_the_output() {
        let output = of("sleep 1000 & echo $!; echo done", 1000);
        assert!(output.stdout.ends_with(b"done\n"));
        let text = String::from_utf8(output.stdout).unwrap();
        Command::new("kill").arg(text.lines().next().unwrap()).status().unwrap();
    }

    #[test]
    fn who_takes_too_long_is_killed() {
        let output = of("echo begun; exec sleep 1000", 1);
        assert!(!output.status.success() && output.stdout == b"begun\n");
    }
}
