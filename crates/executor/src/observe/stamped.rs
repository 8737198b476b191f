//! The log of a container as the kubelet gives it: each line behind the time at which it was written.
//!
//! Asked again from a moment on, the kubelet gives lines that were given before: its moments are whole seconds. A
//! [`Position`] says which lines these are, so that each byte is passed on once, wherever the connection was cut.

pub(crate) mod pace;

use jiff::Timestamp;
use kubebench_syntax::invariant::Invariant as _;
use serde::{Deserialize, Serialize};

/// No stamp is longer: nine digits of a fraction and an offset from UTC.
const LONGEST_STAMP: usize = 36;
/// No more is kept of text without a stamp, which is a message of the kubelet's instead of the log.
const HELD: usize = 64 << 10;
const SECOND: i64 = 1_000_000_000;

/// How far a log has been passed on.
///
/// Lines are in the order in which the container runtime wrote them. Their stamps may be equal, and those of the two outputs of a
/// container may cross, so the lines of the last two seconds are counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Position {
    /// The latest stamp of a whole line, in nanoseconds since the Unix epoch; none before the first.
    latest: Option<i64>,
    /// Whole lines of the second of `latest`.
    within: u64,
    /// Whole lines of the second before.
    before: u64,
    /// The line that was passed on in part.
    open: Option<Open>,
    /// Up to which stamp lines came before the clock of the node was set back.
    set_back: Option<i64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Open {
    stamp: i64,
    bytes: u64,
}

impl Position {
    /// Returns the moment from which the kubelet is to be asked; none means from the beginning.
    pub fn since(&self) -> Option<String> {
        let second = self.latest?.div_euclid(SECOND).checked_sub(1)?;
        Some(Timestamp::from_second(second).ok()?.to_string())
    }

    /// Returns the latest stamp of a whole line, in nanoseconds since the Unix epoch.
    pub(crate) fn latest(&self) -> Option<i64> {
        self.latest
    }

    /// Returns whether nothing was passed on.
    pub(crate) fn is_start(&self) -> bool {
        self.latest.is_none() && self.open.is_none()
    }

    /// Returns whether a line was passed on in part.
    pub(crate) fn is_in_line(&self) -> bool {
        self.open.is_some()
    }

    fn begin_line(&mut self, stamp: i64) {
        self.open = Some(Open { stamp, bytes: 0 });
    }

    fn pass(&mut self, bytes: usize) {
        if let Some(open) = &mut self.open {
            open.bytes += bytes as u64;
        }
    }

    fn end_line(&mut self) {
        let Some(Open { stamp, .. }) = self.open.take() else { return };
        let second = |stamp: i64| stamp.div_euclid(SECOND);
        let Some(latest) = self.latest else {
            (self.latest, self.within) = (Some(stamp), 1);
            return;
        };
        match second(stamp).saturating_sub(second(latest)) {
            0 => {
                self.within += 1;
                self.latest = Some(latest.max(stamp));
            }
            -1 => self.before += 1,
            later @ 1.. => {
                self.before = if later == 1 { self.within } else { 0 };
                (self.latest, self.within) = (Some(stamp), 1);
            }
            // What is counted from now on says nothing of the lines that bear later stamps.
            _ => {
                self.set_back = self.set_back.max(Some(latest));
                (self.latest, self.within, self.before) = (Some(stamp), 1, 0);
            }
        }
        if self.set_back.is_some_and(|before| second(stamp) > second(before) + 1) {
            self.set_back = None;
        }
    }
}

/// What to do with a log that does not begin with what was passed on of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Otherwise {
    /// Stop, as it may be that of another instance of the container.
    Stop,
    /// Continue: it is known that nothing else is available.
    GoOn,
}

/// Takes the stamps off a log, and leaves out what was passed on before.
#[derive(Debug)]
pub struct Stamped {
    position: Position,
    state: State,
    skip: Option<Skip>,
    otherwise: Otherwise,
    /// Whether a line came that was passed on before.
    is_known: bool,
    /// The beginning of a line, which may be a stamp.
    prefix: Vec<u8>,
    /// Text that has no stamp.
    held: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Prefix,
    /// In a line that is passed on.
    Line,
    /// In a line whose first bytes were passed on before.
    Rest(u64),
    /// In a line that was passed on before.
    Known,
    /// In a line without a stamp.
    Unstamped,
    /// This is another log.
    Strange,
}

/// Which lines were passed on before.
#[derive(Clone, Copy, Debug)]
enum Skip {
    /// This many, none later than `latest`.
    Lines { left: u64, latest: i64 },
    /// All to the one with this stamp.
    UpTo(i64),
    /// None but a part of the first.
    Open,
}

impl Stamped {
    /// Reads a log from its beginning.
    pub(crate) fn new() -> Self {
        Self::after(Position::default(), Otherwise::GoOn)
    }

    /// Reads a log that was asked for from `position` on.
    pub fn after(position: Position, otherwise: Otherwise) -> Self {
        let skip = match (&position.latest, &position.set_back) {
            (Some(latest), Some(_)) => Some(Skip::UpTo(*latest)),
            (Some(latest), None) => Some(Skip::Lines { left: position.within + position.before, latest: *latest }),
            (None, _) => position.open.map(|_| Skip::Open),
        };
        Self { position, state: State::Prefix, skip, otherwise, is_known: false, prefix: Vec::new(), held: Vec::new() }
    }

    /// Returns how far the log has been passed on.
    pub(crate) fn position(&self) -> &Position {
        &self.position
    }

    /// Returns whether this is, without a doubt, the log that the position is of.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known || self.skip.is_none()
    }

    /// Returns whether this log was found not to begin with what was passed on; nothing of it has been passed on then.
    pub(crate) fn is_strange(&self) -> bool {
        self.state == State::Strange
    }

    /// Takes the next bytes, and appends to `plain` what is to be passed on.
    pub fn take(&mut self, mut bytes: &[u8], plain: &mut Vec<u8>) {
        while !bytes.is_empty() {
            bytes = match self.state {
                State::Prefix => self.take_prefix(bytes, plain),
                State::Strange => return,
                _ => self.take_line(bytes, plain),
            };
        }
    }

    fn take_prefix<'a>(&mut self, bytes: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
        let room = (LONGEST_STAMP + 1).saturating_sub(self.prefix.len());
        let window = bytes.get(..room).unwrap_or(bytes);
        let end = window.iter().position(|byte| matches!(byte, b' ' | b'\n'));
        let (part, rest) = bytes.split_at(end.unwrap_or(window.len()));
        self.prefix.extend_from_slice(part);
        if rest.first() == Some(&b' ')
            && let Some(stamp) = stamp(&self.prefix)
        {
            self.prefix.clear();
            self.begin_line(stamp, plain);
            return rest.get(1..).expected("what follows a blank");
        }
        if end.is_some() || self.prefix.len() > LONGEST_STAMP {
            self.held.append(&mut self.prefix);
            self.state = State::Unstamped;
        }
        rest
    }

    fn begin_line(&mut self, stamp: i64, plain: &mut Vec<u8>) {
        if self.skip.is_some() {
            // The rest of a line that began before the moment that was asked for.
            self.held.clear();
        }
        self.state = match &mut self.skip {
            Some(Skip::Lines { left, latest }) if *left > 0 && stamp <= *latest => {
                *left -= 1;
                self.is_known = true;
                State::Known
            }
            Some(Skip::UpTo(last)) if !self.is_known && self.otherwise == Otherwise::Stop => {
                self.is_known = stamp == *last;
                State::Known
            }
            Some(_) => self.begin_new_line(stamp, plain),
            None => {
                // It is not all that there is, so it is no message.
                plain.append(&mut self.held);
                self.position.begin_line(stamp);
                State::Line
            }
        };
    }

    /// Begins the first line that was not passed on to its end.
    fn begin_new_line(&mut self, stamp: i64, plain: &mut Vec<u8>) -> State {
        let open = self.position.open.filter(|open| open.stamp == stamp);
        if !self.is_known && open.is_none() && self.otherwise == Otherwise::Stop {
            return State::Strange;
        }
        self.is_known = true;
        self.skip = None;
        if let Some(open) = open {
            return State::Rest(open.bytes);
        }
        if self.position.open.is_some() {
            // Its end is lost; the next line is not to be joined to it.
            plain.push(b'\n');
            self.position.end_line();
        }
        self.position.begin_line(stamp);
        State::Line
    }

    fn take_line<'a>(&mut self, bytes: &'a [u8], plain: &mut Vec<u8>) -> &'a [u8] {
        let end = memchr::memchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1);
        let (mut line, rest) = bytes.split_at(end);
        let is_end = line.ends_with(b"\n");
        if let State::Rest(left) = self.state {
            let known = usize::try_from(left).unwrap_or(usize::MAX).min(line.len() - usize::from(is_end));
            line = line.get(known..).expected("what follows what is known");
            let left = left - known as u64;
            self.state = if left == 0 { State::Line } else { State::Rest(left) };
        }
        match self.state {
            State::Known | State::Strange => {}
            State::Unstamped | State::Prefix => {
                let room = HELD.saturating_sub(self.held.len()).min(line.len());
                self.held.extend_from_slice(line.get(..room).expected("as much as there is room for"));
            }
            State::Line | State::Rest(_) => {
                self.position.pass(line.len());
                plain.extend_from_slice(line);
                if is_end {
                    self.position.end_line();
                }
            }
        }
        if is_end {
            self.state = State::Prefix;
        }
        rest
    }

    /// Ends the log, and returns text without a stamp at its end: what the kubelet said instead of continuing.
    pub fn end(mut self) -> (Position, Option<String>) {
        self.held.append(&mut self.prefix);
        let text = String::from_utf8_lossy(&self.held).trim().to_owned();
        (self.position, Some(text).filter(|text| !text.is_empty()))
    }
}

impl Default for Stamped {
    fn default() -> Self {
        Self::new()
    }
}

fn stamp(prefix: &[u8]) -> Option<i64> {
    let text = std::str::from_utf8(prefix).ok()?;
    if !text.starts_with(|letter: char| letter.is_ascii_digit()) || text.as_bytes().get(10) != Some(&b'T') {
        return None;
    }
    i64::try_from(text.parse::<Timestamp>().ok()?.as_nanosecond()).ok()
}

#[cfg(test)]
mod tests;
