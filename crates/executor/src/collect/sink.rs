//! Where the output of one replica goes: into its log, past the rules, and to the observer.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use super::Echo;
use kubebench_extract::line::without_terminal_codes;
use kubebench_extract::rules::RuleScan;
use kubebench_host::process::KeptLog;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::redact::Redactor;
use kubebench_syntax::text::reorders;

/// Lines that are kept for a message when the replica fails.
const LAST_LINES: usize = 20;
/// A longer line is cut in messages.
const LINE: usize = 400;
/// How much of a line is kept until secrets are removed from it: four bytes a letter, and a secret that begins with the last.
const RAW_LINE: usize = 4 * LINE + 8192;

/// Takes the output of one replica.
pub struct Sink {
    /// Where it is kept.
    pub log: KeptLog,
    /// What the rules want of it.
    pub scan: RuleScan,
    lines: Lines,
}

/// Makes lines of the output, for the observer, and keeps the last of them.
struct Lines {
    role: String,
    index: u32,
    echo: Option<Echo>,
    redactor: Arc<Redactor>,
    last: VecDeque<String>,
    line: Vec<u8>,
    /// How many lines may still be of the private key that began; none of them is shown.
    key_left: u32,
}

/// More lines than any private key has: one that never ends must not hide the rest of the output.
const KEY_LINES: u32 = 500;

impl Sink {
    /// Makes the sink of `role`'s replica `index`.
    pub(crate) fn new(
        log: KeptLog,
        scan: RuleScan,
        role: &str,
        index: u32,
        echo: Option<Echo>,
        redactor: Arc<Redactor>,
    ) -> Self {
        let (role, last, line) = (role.to_owned(), VecDeque::new(), Vec::new());
        let lines = Lines { role, index, echo, redactor, last, line, key_left: 0 };
        Self { log, scan, lines }
    }

    /// Takes the next bytes.
    pub(crate) fn take(&mut self, bytes: &[u8]) {
        self.log.write(bytes);
        self.scan.feed(bytes);
        self.lines.take(bytes);
    }

    /// Reads what a resumed log already contains, as if it came now, and returns how many bytes are left out in it.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub(crate) fn look_back(&mut self) -> io::Result<u64> {
        let Self { log, scan, lines } = self;
        log.read_back(|bytes| {
            scan.feed(bytes);
            lines.take(bytes);
        })
    }

    /// Ends the output: returns the log, the scan, and the last lines without secrets.
    pub(crate) fn finish(self) -> (KeptLog, RuleScan, Vec<String>) {
        let Self { mut log, mut scan, mut lines } = self;
        // What cannot be read is said when the log is ended.
        let _ = log.take_in_rest(|bytes| {
            scan.feed(bytes);
            lines.take(bytes);
        });
        lines.end_line();
        let last_lines = lines.clean();
        (log, scan, last_lines)
    }
}

impl Lines {
    fn take(&mut self, bytes: &[u8]) {
        let is_end = |byte: &u8| matches!(byte, b'\n' | b'\r');
        // Without a watcher only the last lines matter; they are in the last part, from its first whole line on.
        let tail = bytes.len().saturating_sub(LAST_LINES * LINE * 2);
        let mut rest = bytes;
        if let (None, Some((skipped, after))) = (&self.echo, bytes.split_at_checked(tail))
            && let Some(first) = after.iter().position(is_end).filter(|_| skipped.iter().any(is_end))
        {
            rest = after.get(first + 1..).expected("what follows an end of line");
            self.line.clear();
            if self.key_left > 0 && skipped.windows(8).any(|part| part == b"-----END") {
                self.key_left = 0;
            }
        }
        for piece in rest.split_inclusive(is_end) {
            let room = RAW_LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(piece.get(..room.min(piece.len())).expected("as much as there is room for"));
            if piece.ends_with(b"\n") || piece.ends_with(b"\r") {
                self.end_line();
            }
        }
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let clean = without_terminal_codes(&line);
        let text = String::from_utf8_lossy(&clean);
        // First of all, as what a terminal does not show may be inside a secret.
        let text = harmless(text.trim_end());
        if text.is_empty() || self.is_in_key(&text) {
            return;
        }
        if let Some(echo) = &self.echo {
            echo(&self.role, self.index, &self.redactor.text(&text));
        }
        if self.last.len() == LAST_LINES {
            self.last.pop_front();
        }
        self.last.push_back(text);
    }

    /// Returns true for a line of a private key behind its first, from which the redactor takes what there is.
    fn is_in_key(&mut self, text: &str) -> bool {
        let (_, last) = text.rsplit_once("-----BEGIN").unwrap_or_default();
        let names_a_key = |text: &str| text.contains("PRIVATE KEY-----") || text.contains("PRIVATE KEY BLOCK-----");
        let begins = names_a_key(last) && !last.contains("-----END");
        let ends = text.contains("-----END") && names_a_key(text);
        let was_in_key = self.key_left > 0;
        if begins {
            self.key_left = KEY_LINES;
        } else if ends && !text.contains("-----BEGIN") {
            if !was_in_key {
                // Its beginning was skipped.
                self.last.clear();
            }
            self.key_left = 0;
            return true;
        } else {
            self.key_left = self.key_left.saturating_sub(1);
        }
        was_in_key && !begins
    }

    fn clean(&self) -> Vec<String> {
        self.last.iter().map(|line| self.redactor.text(line).chars().take(LINE).collect()).collect()
    }
}

/// Returns a line without characters that a terminal obeys, or that show it in another order than it has.
pub fn harmless(line: &str) -> String {
    line.chars().filter(|letter| (!letter.is_control() || *letter == '\t') && !reorders(*letter)).collect()
}
