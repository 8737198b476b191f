//! Reads the log of one container: its pods and their instances one after the other, through everything that cuts it.

use std::io::{ErrorKind, Read as _};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::mark::Mark;
use super::shared::{Instance, MAX_FAULTS, Shared};
use super::{Ask, LogName, LogOrigin, NoLog};
use crate::observe::stamped::pace::{File, Pace};
use crate::observe::stamped::{Otherwise, Position, Stamped};
use kubebench_host::machine;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

const BUFFER: usize = 32 << 10;
const FIRST_PAUSE: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 200 });
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// A container runtime may show that a container has ended before it has written the last of what that printed: containerd keeps up to
/// 16 KiB back, and on a busy node not for a moment alone.
const SETTLES: Duration = Duration::from_millis(if cfg!(test) { 1 } else { 1000 });
/// How often something other than the log of a container that has ended is accepted as an answer.
const PATIENCE: u32 = 6;
/// How many requests may fail for a pod that has been replaced.
const PATIENCE_REPLACED: u32 = 15;
/// What is kept of words that others chose.
const WORDS: usize = 300;

/// Reads the log of one container.
pub(super) struct Reader {
    origin: Arc<dyn LogOrigin>,
    shared: Arc<Shared>,
    seed: String,
    mark: Mark,
    begun: Instant,
    pace: Pace,
    has_gap: bool,
    /// In a row, without a byte between them.
    failures: u32,
}

/// How a stream ended.
#[derive(Debug)]
enum End {
    /// As a log ends that is not written any more.
    Eof {
        /// Whether it was, without a doubt, the log that the position is of.
        is_known: bool,
    },
    /// It is another log than that which the position is of.
    Strange,
    /// Nothing came for long.
    Silent,
    /// Nothing came, and the container is not what it was when the stream was opened: a kubelet that missed its end would never end
    /// the stream.
    Outdated,
    /// It was cut.
    Cut(String),
    /// The kubelet said something instead of the log.
    Said(String),
    /// There is none.
    No(NoLog),
    /// It is not wanted any more.
    Unwanted,
}

/// What is known of the pod that is read, in addition to its mark.
struct Sight {
    /// At which restart the last stream was opened that went to its end.
    whole_at: Option<u32>,
    /// Whether lines may have come since the last one that were not read.
    is_lost: bool,
    /// What to do with a log that does not begin where the last one ended.
    otherwise: Otherwise,
    /// How often something else than a log came, in a row.
    answers: u32,
    /// How far the log was when it was last read to its end after the container's.
    settled: Option<Position>,
}

impl Reader {
    pub(super) fn new(origin: Arc<dyn LogOrigin>, shared: Arc<Shared>, name: &LogName, mark: Mark) -> Self {
        Self {
            origin,
            shared,
            seed: name.path(),
            mark,
            begun: Instant::now(),
            pace: Pace::default(),
            has_gap: false,
            failures: 0,
        }
    }

    pub(super) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Reads until there is nothing to come.
    pub(super) fn run(mut self) {
        while let Some(pod) = self.shared.next_pod(&self.mark) {
            if self.mark.uid != pod.uid {
                if !self.mark.uid.is_empty() && !self.mark.is_whole {
                    self.fail("the rest of what an earlier pod printed is lost, because that pod is gone");
                }
                self.begin_instance(0);
                self.mark.is_whole = false;
                self.mark.before = Position::default();
                (self.mark.uid, self.mark.created) = (pod.uid, pod.created);
                self.keep(b"");
            }
            if !self.mark.is_whole {
                self.mark.is_whole = self.read_pod();
                if !self.keep(b"") {
                    return;
                }
            }
            self.shared.end_pod();
        }
    }

    /// Reads the log of a pod; returns false when it is not wanted any more.
    fn read_pod(&mut self) -> bool {
        let mut sight = Sight { whole_at: None, is_lost: true, otherwise: Otherwise::Stop, answers: 0, settled: None };
        loop {
            let Some(now) = self.shared.now() else { return true };
            if !self.shared.is_wanted() {
                return false;
            }
            let is_past = self.mark.position.is_start() && now.restarts > self.mark.looked;
            let known = self.mark.position.clone();
            let from = if is_past { self.mark.before.clone() } else { known.clone() };
            let end = self.stream(&now, is_past, from, sight.otherwise);
            if self.mark.position != known {
                sight.answers = 0;
                sight.otherwise = Otherwise::Stop;
            }
            if is_past && self.has_looked(&end, &mut sight) {
                self.mark.looked = now.restarts;
                self.keep(b"");
                continue;
            }
            match end {
                End::Unwanted => return false,
                End::Eof { is_known: true } => {
                    (sight.whole_at, sight.is_lost) = (Some(now.restarts), false);
                    if now.is_gone {
                        return true;
                    }
                    if !now.has_ended {
                        self.pause(&now);
                    } else if sight.settled.replace(self.mark.position.clone()).as_ref() == Some(&self.mark.position) {
                        return true;
                    } else {
                        self.shared.wait(&now, SETTLES);
                    }
                }
                End::Eof { is_known: false } if now.has_ended => {
                    if self.catch_up(&now, &mut sight) {
                        return true;
                    }
                }
                End::Eof { is_known: false } => self.pause(&now),
                // Another instance has run since that which was read last.
                End::Strange if is_past => self.mark.before = Position::default(),
                End::Strange => drop(self.catch_up(&now, &mut sight)),
                End::Outdated => (),
                End::Silent if now.is_gone => {
                    self.fail("no more data arrived, and its pod is gone");
                    return true;
                }
                End::Silent => {
                    sight.whole_at = None;
                    self.stumble("no data arrived for a long time".to_owned());
                    self.pause(&now);
                }
                End::Cut(why) => {
                    (sight.is_lost, sight.whole_at) = (true, None);
                    self.stumble(why);
                    self.pause(&now);
                }
                End::No(NoLog::Later(why)) => {
                    sight.is_lost = true;
                    if now.is_replaced && self.failures >= PATIENCE_REPLACED {
                        self.fail(&format!("the end of the previous pod's log is no longer available: {why}"));
                        return true;
                    }
                    self.stumble(why);
                    self.pause(&now);
                }
                End::Said(why) | End::No(NoLog::Refused(why)) => {
                    sight.is_lost = true;
                    sight.answers += 1;
                    if sight.answers >= PATIENCE && (now.has_ended || now.is_gone) {
                        self.fail(&format!("the answer to the request for it was: {why}"));
                        return true;
                    }
                    self.stumble(why);
                    self.pause(&now);
                }
                End::No(NoLog::Gone(why)) => {
                    if sight.whole_at != Some(now.restarts) {
                        self.fail_gone(&why);
                    }
                    return true;
                }
            }
        }
    }

    /// Returns whether the look at the instance before, of which nothing is known to be read, has come to its end.
    fn has_looked(&mut self, end: &End, sight: &mut Sight) -> bool {
        match end {
            End::Eof { .. } | End::No(NoLog::Refused(_)) => true,
            End::Said(why) if sight.answers >= PATIENCE => {
                sight.answers = 0;
                self.fail(&format!("what it printed before its last restart is lost: {why}"));
                true
            }
            _ => false,
        }
    }

    /// Reads the rest of the instance that was read last, after another one has taken its place. Returns true when that is
    /// all there is.
    fn catch_up(&mut self, now: &Instance, sight: &mut Sight) -> bool {
        let end = match self.stream(now, true, self.mark.position.clone(), Otherwise::Stop) {
            End::Said(why) => {
                sight.answers += 1;
                // The kubelet knows of an instance whose log it does not have any more.
                if sight.answers < PATIENCE { End::Cut(why) } else { End::No(NoLog::Refused(why)) }
            }
            end => end,
        };
        match end {
            End::Eof { is_known: true } => self.begin_instance(now.restarts),
            End::Eof { is_known: false } | End::Strange => {
                self.fail(
                    "what it printed before one of its restarts is lost: it was restarted again before that was read",
                );
                self.begin_instance(now.restarts.saturating_sub(1));
            }
            End::No(NoLog::Refused(_)) => {
                // There is no other instance: the kubelet has begun another file.
                if std::mem::take(&mut sight.is_lost) {
                    let since = self.mark.position.since().unwrap_or_default();
                    self.fail(&format!(
                        "lines may be missing after {since}: the log was rotated before the rest was read"
                    ));
                }
                sight.otherwise = Otherwise::GoOn;
                return now.has_ended && sight.whole_at.is_some();
            }
            End::No(NoLog::Gone(why)) => {
                self.fail_gone(&why);
                return true;
            }
            End::Cut(why) | End::Said(why) | End::No(NoLog::Later(why)) => {
                self.stumble(why);
                self.pause(now);
            }
            End::Silent | End::Outdated => self.pause(now),
            End::Unwanted => return true,
        }
        false
    }

    /// Reads one stream from `position` on as far as it goes.
    fn stream(&mut self, now: &Instance, previous: bool, position: Position, otherwise: Otherwise) -> End {
        let since = position.since();
        let follow = !previous && !now.has_ended;
        let ask = Ask { pod: now.pod.clone(), container: now.container.clone(), previous, follow, since };
        let mut source = match self.origin.open(&ask) {
            Ok(source) => source,
            Err(no) => return End::No(no),
        };
        let file = if otherwise == Otherwise::GoOn { File::Another } else { File::Known };
        self.pace.open(machine::clock(), file);
        let mut stamped = Stamped::after(position, otherwise);
        let (mut buffer, mut plain) = (vec![0; BUFFER], Vec::new());
        let end = loop {
            match source.read(&mut buffer) {
                Ok(0) => break End::Eof { is_known: stamped.is_known() || otherwise == Otherwise::GoOn },
                Ok(count) => stamped.take(buffer.get(..count).expected("at most a buffer of bytes"), &mut plain),
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    if !self.shared.is_wanted() {
                        break End::Unwanted;
                    }
                    if self.shared.now().is_none_or(|seen| seen.has_ended || seen.restarts != now.restarts) {
                        break End::Outdated;
                    }
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::TimedOut => break End::Silent,
                Err(error) => break End::Cut(error.to_string()),
            }
            if stamped.is_strange() {
                break End::Strange;
            }
            if !plain.is_empty() {
                self.failures = 0;
                self.shared.recover();
                self.mark.position.clone_from(stamped.position());
                self.look_for_a_gap(plain.len());
                if !self.keep(&plain) {
                    break End::Unwanted;
                }
                plain.clear();
            } else if !self.shared.is_wanted() {
                break End::Unwanted;
            }
        };
        match (end, stamped.end().1) {
            (End::Eof { .. }, Some(said)) => End::Said(cut(&said)),
            (end, _) => end,
        }
    }

    /// Begins the log of another instance, before which `looked` restarts leave nothing to read.
    fn begin_instance(&mut self, looked: u32) {
        let is_in_line = self.mark.position.is_in_line();
        self.mark.looked = looked;
        self.pace = Pace::default();
        self.mark.before = std::mem::take(&mut self.mark.position);
        // The last line of one and the first of the other are two.
        self.keep(if is_in_line { b"\n" } else { b"" });
    }

    /// Reports the first gap alone.
    fn look_for_a_gap(&mut self, bytes: usize) {
        let Some(latest) = self.mark.position.latest() else { return };
        let Some(gap) = self.pace.see(latest, bytes, self.begun.elapsed()) else { return };
        if !std::mem::replace(&mut self.has_gap, true) {
            self.fail(&format!(
                "lines may be missing {gap}, and later: the log was written faster than it was read, and a kubelet \
                 skips what it has not read when the node rotates the file"
            ));
        }
    }

    fn keep(&self, bytes: &[u8]) -> bool {
        self.shared.put(bytes, &serde_json::to_string(&self.mark).expected("JSON of our own types"))
    }

    fn fail(&mut self, why: &str) {
        let why = cut(why);
        self.shared.fail(why.clone());
        if self.mark.faults.len() < MAX_FAULTS && !self.mark.faults.contains(&why) {
            self.mark.faults.push(why);
        }
        self.keep(b"");
    }

    /// Says that the pod is gone, and what had kept it from being read.
    fn fail_gone(&mut self, why: &str) {
        let before = self.shared.trouble().map_or_else(String::new, |trouble| format!("; before that: {trouble}"));
        self.fail(&format!("its pod was gone before the whole log was read: {why}{before}"));
    }

    fn stumble(&self, why: String) {
        self.shared.stumble(why);
    }

    /// Waits until something is known of the container that was not, for a while at most.
    fn pause(&mut self, now: &Instance) {
        let ceiling = FIRST_PAUSE.saturating_mul(1 << self.failures.min(10)).min(LONGEST_PAUSE);
        // A thousand readers that were cut at once do not come back at once.
        let draw = Digest::of(format!("{} {}", self.seed, self.failures)).hex();
        let draw =
            u8::from_str_radix(draw.get(..2).expected("hex digits of a digest"), 16).expected("hex digits of a digest");
        self.failures += 1;
        self.shared.wait(now, ceiling.mul_f64(0.5 + f64::from(draw) / 512.0));
    }
}

fn cut(words: &str) -> String {
    words.chars().take(WORDS).collect()
}
