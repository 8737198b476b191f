//! Trying until a deadline: what to do after each way to fail.

use std::time::{Duration, Instant};

use super::{Destination, Tell, random};
use crate::record::NotRecorded;
use crate::record::answer::{self, Trouble};
use crate::record::retry::{Strikes, Telling, pause};
use kubebench_syntax::unit;

/// The shortest time that a call of git is given while the deadline lets it.
const SHORTEST: Duration = Duration::from_secs(5);

/// The attempts of one recording.
pub(super) struct Attempts {
    /// The address that is asked, for people.
    remote: String,
    deadline: Duration,
    started: Instant,
    telling: Telling,
    tell: Tell,
    until: Instant,
    failures: u32,
    strikes: Strikes,
    /// Whether the last answer was one that time does not fix.
    lasting: bool,
}

impl Attempts {
    /// The attempts for `destination`, whose remote is called `remote`.
    pub(super) fn new(destination: &Destination, remote: &str) -> Self {
        let Destination { deadline, tell, .. } = *destination;
        let started = Instant::now();
        Self {
            remote: remote.to_owned(),
            deadline,
            started,
            telling: Telling::default(),
            tell,
            until: started + deadline,
            failures: 0,
            strikes: Strikes::default(),
            lasting: false,
        }
    }

    /// Returns the number of the attempt, from 1.
    pub(super) fn number(&self) -> u32 {
        self.failures + 1
    }

    /// Returns how long a look may take that is made after the deadline, when a push was answered by nothing.
    pub(super) const LAST_LOOK: Duration = Duration::from_secs(2);

    /// Returns how long the next call of git may take: half of all, so that one that hangs leaves time for another.
    pub(super) fn limit(&self) -> Duration {
        let left = self.until.saturating_duration_since(Instant::now());
        left.min((self.deadline / 2).max(SHORTEST)).max(Duration::from_millis(100))
    }

    /// Waits after git or the connection failed.
    pub(super) fn after_trouble(&mut self, trouble: &Trouble) -> Result<(), NotRecorded> {
        if let (Trouble::Lasting(words), true) = (trouble, self.lasting) {
            let fault = NotRecorded::refused(format!("git could not reach the repository: {words}"));
            return Err(with_help(fault, words));
        }
        self.lasting = matches!(trouble, Trouble::Lasting(_));
        // What lasts ends it with the next attempt, and is said then.
        let is_reported = |telling: &mut Telling, elapsed| match trouble {
            Trouble::Passing(_) => telling.of_failure(elapsed),
            Trouble::Lasting(_) => telling.of_delay(elapsed),
        };
        let words = answer::without_address(trouble.words());
        self.tell(is_reported, &format!("cannot reach {}: {words}", self.remote));
        self.wait(trouble.words())
    }

    /// Waits after another push was faster.
    pub(super) fn after_race(&mut self) -> Result<(), NotRecorded> {
        self.lasting = false;
        self.tell(Telling::of_delay, "another push came first each time");
        self.wait("another push came first each time")
    }

    /// Waits after the server said no to a push onto `state`.
    pub(super) fn after_no(&mut self, state: &str, words: &str) -> Result<(), NotRecorded> {
        self.lasting = false;
        self.strikes.strike(state, words);
        let words = format!("the server refused the push: {words}");
        self.tell(Telling::of_delay, &words);
        self.wait(&words)
    }

    /// Ends it when the server has said no twice, and `state` is still what it said no to.
    pub(super) fn check(&self, state: &str) -> Result<(), NotRecorded> {
        let Some(words) = self.strikes.refused(state) else { return Ok(()) };
        Err(NotRecorded::refused(format!("the server refused the push twice: {words}"))
            .help("check the branch protection and the server-side hooks of the repository"))
    }

    /// Reports the reason of the delay, when it is time to, and unless it is the end anyway.
    fn tell(&mut self, is_reported: impl Fn(&mut Telling, Duration) -> bool, words: &str) {
        if Instant::now() < self.until && is_reported(&mut self.telling, self.started.elapsed()) {
            let deadline = unit::Duration::from_seconds(self.deadline.as_secs());
            (self.tell)(&format!("{words}; retrying for up to {deadline}"));
        }
    }

    fn wait(&mut self, words: &str) -> Result<(), NotRecorded> {
        let left = self.until.saturating_duration_since(Instant::now());
        std::thread::sleep(pause(self.failures, random()).min(left));
        self.failures += 1;
        if Instant::now() < self.until {
            return Ok(());
        }
        let (tries, seconds) = (self.failures, self.deadline.as_secs_f64());
        let attempts = if tries == 1 { "attempt" } else { "attempts" };
        let fault = format!("not recorded after {tries} {attempts} in {seconds} s: {words}");
        Err(with_help(NotRecorded::try_again(fault), words))
    }
}

fn with_help(fault: NotRecorded, words: &str) -> NotRecorded {
    match answer::help(words) {
        Some(help) => fault.help(help),
        None => fault,
    }
}
