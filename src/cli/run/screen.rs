//! What people see of a session, written by its own thread: a terminal that is paused, or a reader that does not read, must hold
//! neither a run nor its timeout.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use kubebench_host::terminal;
use kubebench_syntax::text::plain;

/// More lines of replicas do not wait for the terminal; they are in the logs.
const MOST_WAITING: usize = 10_000;

/// The screen of a session.
pub(super) struct Screen {
    queue: Sender<Message>,
    lines: Arc<Lines>,
    bar: Option<ProgressBar>,
    writer: JoinHandle<()>,
}

enum Message {
    /// A line that everybody sees.
    Line(String),
    /// A line that a replica printed.
    Echo(String),
    /// How many runs are done.
    Position(u64),
    /// What is behind the bar.
    Status(String),
    /// That was all.
    End,
}

/// Lines of replicas.
#[derive(Default)]
struct Lines {
    /// How many wait to be shown.
    waiting: AtomicUsize,
    /// How many are not, because too many waited.
    missed: AtomicUsize,
}

impl Screen {
    /// Starts a screen; with a bar for `runs`, where one is wanted.
    pub(super) fn new(runs: Option<u64>) -> Self {
        let bar = runs.map(|runs| {
            let bar = ProgressBar::with_draw_target(Some(runs), ProgressDrawTarget::stderr_with_hz(4));
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len}  {msg}") {
                bar.set_style(style);
            }
            bar
        });
        let (queue, messages) = channel();
        let lines = Arc::new(Lines::default());
        let (shown, shared) = (bar.clone(), Arc::clone(&lines));
        let writer = std::thread::spawn(move || write(&messages, &shared, shown.as_ref()));
        Self { queue, lines, bar, writer }
    }

    /// Returns true when there is a bar.
    pub(super) fn has_bar(&self) -> bool {
        self.bar.is_some()
    }

    /// Shows a line.
    pub(super) fn line(&self, text: String) {
        self.send(Message::Line(text));
    }

    /// Shows how many runs are done.
    pub(super) fn position(&self, done: usize) {
        self.send(Message::Position(done as u64));
    }

    /// Shows `text` behind the bar.
    pub(super) fn status(&self, text: String) {
        self.send(Message::Status(text));
    }

    /// Returns what takes the lines of replicas.
    pub(super) fn echo(&self) -> impl Fn(String) + Send + Sync + use<> {
        let (queue, lines) = (self.queue.clone(), Arc::clone(&self.lines));
        move |line| {
            if lines.waiting.load(Ordering::Relaxed) < MOST_WAITING {
                lines.waiting.fetch_add(1, Ordering::Relaxed);
                drop(queue.send(Message::Echo(line)));
            } else {
                lines.missed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Shows what waits, and takes the bar away.
    pub(super) fn finish(self) {
        self.send(Message::End);
        drop(self.writer.join());
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn send(&self, message: Message) {
        // There is no receiver after the end, and then there is nothing to see.
        drop(self.queue.send(message));
    }
}

fn write(messages: &Receiver<Message>, lines: &Lines, bar: Option<&ProgressBar>) {
    let line = |text: &str| match bar {
        Some(bar) => bar.suspend(|| terminal::tell(text)),
        None => terminal::tell(text),
    };
    let tell_missed = || match lines.missed.swap(0, Ordering::Relaxed) {
        0 => {}
        missed => line(&format!("({missed} lines are not shown; they are in the logs)")),
    };
    for message in messages {
        match (message, bar) {
            (Message::Line(text), _) => line(&text),
            (Message::Echo(text), _) => {
                lines.waiting.fetch_sub(1, Ordering::Relaxed);
                line(&text);
                tell_missed();
            }
            (Message::Position(done), Some(bar)) => bar.set_position(done),
            (Message::Status(text), Some(bar)) => bar.set_message(plain(&text)),
            (Message::Position(_) | Message::Status(_), None) => {}
            (Message::End, _) => break,
        }
    }
    tell_missed();
}
