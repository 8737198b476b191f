//! How long a whole process takes and how much memory, so that start-up counts too.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What one run of a process took.
#[derive(Clone, Copy)]
pub(crate) struct Figure {
    pub(crate) time: Duration,
    /// Peak resident memory in KiB.
    pub(crate) peak: u64,
}

/// Returns the figure in the middle of `runs`.
pub(crate) fn median(runs: usize, once: impl FnMut() -> Figure) -> Figure {
    let mut figures: Vec<Figure> = std::iter::repeat_with(once).take(runs).collect();
    figures.sort_by_key(|figure| figure.time);
    figures[runs / 2]
}

/// Runs a process, which must end with at most this exit status.
pub(crate) fn run(command: &mut Command, highest: i32) -> Figure {
    let start = Instant::now();
    let mut child = command.stdout(Stdio::null()).spawn().expect("the program starts");
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        let high = fs::read_to_string(&status_file).ok().and_then(|text| {
            text.lines().find(|line| line.starts_with("VmHWM"))?.split_whitespace().nth(1)?.parse().ok()
        });
        peak = peak.max(high.unwrap_or(0));
        if let Some(status) = child.try_wait().expect("a child process") {
            break status;
        }
        std::thread::sleep(Duration::from_micros(500));
    };
    assert!(status.code().is_some_and(|code| code <= highest), "{command:?} failed");
    Figure { time: start.elapsed(), peak }
}

/// Returns all files below a folder.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

/// Returns how large a file is.
pub(crate) fn size(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |meta| meta.len())
}

/// Returns how large files are together.
pub(crate) fn megabytes(files: &[PathBuf]) -> f64 {
    files.iter().map(|path| size(path)).sum::<u64>() as f64 / 1e6
}
