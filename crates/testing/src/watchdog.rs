//! What stops a test that hangs. No test asks how long anything takes.

use std::fmt::Debug;
use std::io::Read;
use std::process::{Child, Output};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than anything here takes on the busiest machine: only what would never end meets it.
pub const WATCHDOG: Duration = Duration::from_mins(4);

/// Waits until `is_so`.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < WATCHDOG, "{what}: it did not come true");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Waits for the next thing that comes.
pub fn next<T>(what: &str, coming: &Receiver<T>) -> T {
    coming.recv_timeout(WATCHDOG).unwrap_or_else(|error| panic!("{what}: it did not come: {error}"))
}

/// Waits until nothing can come any more.
pub fn ended<T: Debug>(what: &str, coming: &Receiver<T>) {
    let found = coming.recv_timeout(WATCHDOG);
    assert!(matches!(found, Err(RecvTimeoutError::Disconnected)), "{what}: it did not end: {found:?}");
}

/// Does something that might never return.
pub fn returns<T: Send + 'static>(what: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = channel();
    let worker = thread::spawn(move || {
        let _ = sender.send(work());
    });
    match done.recv_timeout(WATCHDOG) {
        Ok(result) => result,
        Err(RecvTimeoutError::Timeout) => panic!("{what}: it did not return"),
        Err(RecvTimeoutError::Disconnected) => std::panic::resume_unwind(worker.join().unwrap_err()),
    }
}

/// Waits for the end of a program, and returns what it printed into its pipes.
pub fn output(mut child: Child) -> Output {
    let (stdout, stderr) = (child.stdout.take().map(reading), child.stderr.take().map(reading));
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        if started.elapsed() > WATCHDOG {
            drop(child.kill());
            child.wait().unwrap();
            panic!("the program did not end");
        }
        thread::sleep(Duration::from_millis(5));
    };
    let read = |reader: Option<thread::JoinHandle<Vec<u8>>>| {
        reader.map_or_else(Vec::new, |reader| {
            until("the end of what the program printed", || reader.is_finished());
            reader.join().unwrap()
        })
    };
    Output { status, stdout: read(stdout), stderr: read(stderr) }
}

/// Reads a pipe to its end while its program runs, so that it is never full.
fn reading(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).unwrap();
        bytes
    })
}
