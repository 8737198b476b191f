//! The progress of a session: a bar on a terminal, plain lines elsewhere.

use std::path::Path;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::screen::Screen;
use super::{called, shown};
use crate::cli::args::Global;
use crate::cli::findings::counted;
use kubebench_compiler::model::Case;
use kubebench_contract::Run;
use kubebench_executor::collect::{Echo, Stored};
use kubebench_executor::run::{ReplicaLog, Request, Watcher};
use kubebench_format::result::v1::Status;
use kubebench_host::terminal;
use kubebench_results::compare::words;

/// The most logs of one run that are shown.
const LOGS: usize = 3;
/// The most lines of these logs together.
const LINES: usize = 24;

/// Shows how far a session is.
pub(super) struct Progress<'a> {
    global: &'a Global,
    root: &'a Path,
    screen: Screen,
    primary: Option<String>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    current: String,
    done: usize,
    of: usize,
    /// When this run began.
    began: Option<Instant>,
    /// How long those took that are done.
    spent: Duration,
}

impl<'a> Progress<'a> {
    /// Starts showing the progress of `request`.
    pub(super) fn new(global: &'a Global, request: &Request<'a>) -> Self {
        let is_shown = !global.quiet && terminal::is_terminal(terminal::Stream::Error);
        let screen = Screen::new(is_shown.then_some(request.runs.len() as u64));
        let metrics = request.compiled.benchmark.metrics.as_slice();
        let primary = metrics.iter().find(|metric| metric.primary || metrics.len() == 1);
        let primary = primary.and_then(|metric| metric.name.clone());
        Self { global, root: request.root, screen, primary, state: Mutex::default() }
    }

    /// Shows all that is to be seen, and removes the bar.
    pub(super) fn finish(self) {
        self.screen.finish();
    }

    fn say(&self, text: String) {
        if !self.global.quiet {
            self.screen.line(text);
        }
    }
}

impl State {
    /// Returns how long the rest takes if the runs take as long as those before; `current` is how long this one has run.
    ///
    /// That is unknown of the first, and of the last once it takes longer than the others.
    fn left(&self, current: Duration) -> Option<Duration> {
        let done = u32::try_from(self.done).ok()?;
        let after = u32::try_from(self.of.checked_sub(self.done + 1)?).ok()?;
        let usual = self.spent.checked_div(done)?;
        let rest = usual.saturating_sub(current);
        Some(usual * after + rest).filter(|left| !left.is_zero())
    }
}

impl Watcher for Progress<'_> {
    fn started(&self, run: &Run, case: &Case, number: usize, of: usize) {
        let Ok(mut state) = self.state.lock() else { return };
        let (current, began, spent) = (called(run, std::slice::from_ref(case)), Some(Instant::now()), state.spent);
        *state = State { current, done: number - 1, of, began, spent };
        self.screen.position(number - 1);
        self.screen.status(state.current.clone());
    }

    fn continues(&self, elapsed: Duration, last_value: Option<f64>) {
        let Some(state) = self.state.lock().ok().filter(|_| self.screen.has_bar()) else { return };
        let mut parts = vec![state.current.clone(), words::lasted(elapsed)];
        if let (Some(name), Some(value)) = (&self.primary, last_value) {
            parts.push(format!("{name} {}", words::number(value)));
        }
        parts.extend(
            state
                .left(state.began.map_or(elapsed, |began| began.elapsed()))
                .map(|left| format!("about {} left", words::lasted(left))),
        );
        self.screen.status(parts.join("  "));
    }

    fn ended(&self, stored: &Stored) {
        let result = &stored.sealed.result;
        let (current, done, of) = match self.state.lock() {
            Ok(mut state) => {
                let took = state.began.take().map_or(Duration::ZERO, |began| began.elapsed());
                state.spent += took;
                (state.current.clone(), state.done + 1, state.of)
            }
            Err(_) => return,
        };
        self.screen.position(done);
        let value = result.primary().and_then(|metric| {
            let unit = metric.unit.as_deref().filter(|unit| !matches!(*unit, "" | "1"));
            Some(format!(", {} {}", metric.name, words::value(metric.value?, unit)))
        });
        let took = words::lasted(Duration::from_secs_f64(result.run.duration_seconds));
        let how = word(result.run.status);
        self.say(format!("[{done}/{of}] {current}: {how} in {took}{}", value.unwrap_or_default()));
        for reason in &result.run.reasons {
            self.say(format!("    {}", reason.message));
        }
    }

    fn failed(&self, logs: &[ReplicaLog]) {
        let each = LINES / logs.len().clamp(1, LOGS);
        for ReplicaLog { replica, path, last_lines, .. } in logs.iter().take(LOGS) {
            // With `-v`, every line was shown when it came.
            let shown_lines = if self.global.verbose == 0 { each } else { 0 };
            for line in last_lines.iter().skip(last_lines.len().saturating_sub(shown_lines)) {
                self.say(format!("    {replica} | {line}"));
            }
            let empty = if last_lines.is_empty() { " (empty)" } else { "" };
            self.say(format!("    log of {replica}: {}{empty}", shown(path, self.root)));
        }
        if let Some(folder) = logs.get(LOGS).and_then(|log| log.path.parent()) {
            let more = counted(logs.len() - LOGS, "more log");
            self.say(format!("    {more} in {}", shown(folder, self.root)));
        }
    }

    fn tell(&self, text: &str) {
        self.say(text.to_owned());
    }

    fn echo(&self) -> Option<Echo> {
        if self.global.verbose == 0 {
            return None;
        }
        let show = self.screen.echo();
        Some(Arc::new(move |role: &str, index: u32, line: &str| show(format!("{role}-{index} | {line}"))))
    }
}

/// Returns the word for a status.
fn word(status: Status) -> &'static str {
    match status {
        Status::Succeeded => "succeeded",
        Status::Failed => "failed",
        Status::TimedOut => "timed out",
        Status::Interrupted => "interrupted",
        Status::Invalid => "invalid",
        Status::Preempted => "preempted",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::State;

    #[test]
    fn the_time_left_never_counts_up() {
        let seconds = Duration::from_secs;
        let state = |done| State { done, of: 4, spent: seconds(10) * u32::try_from(done).unwrap(), ..State::default() };
        let left = |done, current| state(done).left(seconds(current));
        assert_eq!(left(0, 3), None);
        assert_eq!(
            [0, 4, 10, 11, 500].map(|current| left(1, current)),
            [30, 26, 20, 20, 20].map(|left| Some(seconds(left)))
        );
        assert_eq!([0, 9, 10, 500].map(|current| left(3, current)), [Some(seconds(10)), Some(seconds(1)), None, None]);
    }
}
