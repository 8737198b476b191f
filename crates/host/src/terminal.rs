//! What the process was given: its terminal, its environment, its working directory.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, Result};

use kubebench_syntax::text::plain_lines;

/// A stream of the process that people may look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Error,
}

/// Returns true when `stream` is a terminal that wants color, as far as `NO_COLOR`, `CLICOLOR_FORCE` and `TERM` say.
pub fn wants_color(stream: Stream) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if set("NO_COLOR") {
        return false;
    }
    set("CLICOLOR_FORCE") || (is_terminal(stream) && !dumb)
}

/// Returns true when a person may be looking at `stream`.
pub fn is_terminal(stream: Stream) -> bool {
    match stream {
        Stream::Output => io::stdout().is_terminal(),
        Stream::Error => io::stderr().is_terminal(),
    }
}

/// Returns how many columns `stream` has, where it is a terminal that says so.
pub fn columns(stream: Stream) -> Option<usize> {
    let size = match stream {
        Stream::Output => terminal_size::terminal_size_of(io::stdout()),
        Stream::Error => terminal_size::terminal_size_of(io::stderr()),
    };
    size.map(|(width, _)| usize::from(width.0)).filter(|width| *width > 0)
}

/// Returns the working directory.
pub fn working_directory() -> Result<PathBuf> {
    std::env::current_dir().context("cannot determine the working directory")
}

/// Writes data to standard output; a reader that went away is no fault.
pub fn print(text: &str) -> Result<()> {
    written(io::stdout().lock().write_all(text.as_bytes()).and_then(|()| io::stdout().lock().flush()))
        .context("cannot write to standard output")
}

/// Writes a message to standard error, which may hold texts of specs and logs: without what a terminal would obey.
pub fn tell(text: &str) {
    tell_styled(&plain_lines(text));
}

/// Writes to standard error what has colors, and no text that was not made harmless.
pub fn tell_styled(text: &str) {
    let mut stderr = io::stderr().lock();
    drop(stderr.write_all(text.as_bytes()).and_then(|()| stderr.write_all(b"\n")));
}

fn written(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        other => other,
    }
}
