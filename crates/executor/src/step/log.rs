//! Logs of the containers of a run, kept on the volume from the first line to the last.
//!
//! A thread for each container reads its log as the kubelet gives it, reconnects, continues in the log of the instance after a
//! restart, and says in a checkpoint how far it is, so that a step that was killed resumes there.

mod follower;
mod mark;
mod name;
mod origin;
mod reader;
mod shared;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::collect::Sink;
use crate::observe::container::{Container, containers, created};
use crate::observe::{Places, Pod};
use follower::{Follower, PodName};
use kubebench_extract::room::Room;
use kubebench_extract::rules::{RuleScan, Rules};
use kubebench_host::experiment;
use kubebench_host::process::KeptLog;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::redact::Redactor;
use mark::Mark;
pub use name::FOLDER;
pub(crate) use name::LogName;
pub use origin::OfCluster;

/// Which log is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    pub pod: String,
    pub container: String,
    /// Whether that of the instance before the last restart is meant.
    pub previous: bool,
    /// Whether the container may still print, so that the stream waits for more. A kubelet that misses the end of a container
    /// keeps such a stream open forever.
    pub follow: bool,
    /// From which second on; none means from the beginning.
    pub since: Option<String>,
}

/// Why there is no log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoLog {
    /// There is no answer; there may be one later.
    Later(String),
    /// It was refused: the container has no log, or not yet.
    Refused(String),
    /// There is no such pod any more.
    Gone(String),
}

/// Who gives logs, with the stamp of each line.
pub trait LogOrigin: Send + Sync + 'static {
    /// Opens a log, which continues until the container ends. A stream that is silent for half a minute fails with `TimedOut`,
    /// since it is unknown whether it is still connected; until then one that is followed fails with `WouldBlock` now and then,
    /// and can be read on.
    ///
    /// # Errors
    /// Why there is none.
    fn open(&self, ask: &Ask) -> Result<Box<dyn Read + Send>, NoLog>;
}

/// Where logs are kept.
#[derive(Clone, Debug)]
pub struct Place {
    /// The output folder of the run.
    pub output: PathBuf,
    /// The folder for what is needed to resume; it is to be removed once what became of the logs is kept, and not before.
    pub state: PathBuf,
    /// How many bytes a log has at most.
    pub limit: u64,
}

/// The log of one container, after its end.
pub struct Followed {
    /// Whose it is.
    pub name: LogName,
    /// What the rules want of it: nothing, where the container does not do the work.
    pub scan: RuleScan,
    /// Its last lines, without secrets.
    pub last_lines: Vec<String>,
    /// How many bytes its limit, or a disk that was full, left out.
    pub dropped: u64,
    /// Why it is not all that was printed, or may not be.
    pub fault: Option<String>,
}

/// The logs of one run.
pub struct Logs {
    origin: Arc<dyn LogOrigin>,
    place: Place,
    rules: Arc<Rules>,
    /// What the values of all logs may take.
    room: Room,
    redactor: Arc<Redactor>,
    followers: BTreeMap<LogName, Follower>,
    is_listed: bool,
    /// Where logs begin that another run has left, by their names.
    left: BTreeMap<String, String>,
}

impl Logs {
    /// Makes ready to keep logs; what a step that was killed kept of them is found again.
    pub fn new(origin: Arc<dyn LogOrigin>, place: Place, rules: Arc<Rules>, redactor: Arc<Redactor>) -> Self {
        // A volume that does not take folders does not take logs, and each of them says so.
        let _ = (experiment::make(place.output.join(FOLDER)), experiment::make(&place.state));
        let room = Room::default();
        Self {
            origin,
            place,
            rules,
            room,
            redactor,
            followers: BTreeMap::new(),
            is_listed: false,
            left: BTreeMap::new(),
        }
    }

    /// Resumes logs where another run has left them, by their names.
    pub(crate) fn continue_from(&mut self, marks: BTreeMap<String, String>) {
        self.left = marks;
    }

    /// Says that the containers of these roles continue, and their logs are to end where they are.
    pub(crate) fn cut(&self, roles: &[String]) {
        let is_meant = |name: &LogName| roles.iter().any(|role| role == name.role());
        self.followers.iter().filter(|(name, _)| is_meant(name)).for_each(|(_, follower)| follower.cut());
    }

    /// Returns for which replicas an earlier step began logs, by the uid of the pod that it read last.
    pub(crate) fn places(&self) -> Places {
        let begun = KeptLog::begun(&self.place.state);
        let place = |name: &String| {
            let mark: Mark = serde_json::from_str(&KeptLog::last_mark(&self.place.state, name)?).ok()?;
            let log = LogName::of_file(name)?;
            Some((mark.uid, (log.role().to_owned(), log.index())))
        };
        begun.iter().filter_map(place).filter(|(uid, _)| !uid.is_empty()).collect()
    }

    /// Records a pod as it is now: that of replica `index` of `role`, whose work is done by the container `main`.
    pub fn see(&mut self, role: &str, index: u32, pod: &Pod, main: &str) {
        let (Some(name), Some(uid)) = (&pod.metadata.name, &pod.metadata.uid) else { return };
        let name = PodName { name, uid, created: created(pod) };
        for container in containers(pod, main) {
            let log = LogName::new(role, index, (!container.is_main).then_some(container.name.as_str()));
            self.see_container(&log, &name, &container);
        }
    }

    fn see_container(&mut self, log: &LogName, pod: &PodName<'_>, container: &Container) {
        if !self.followers.contains_key(log) {
            if !container.has_started {
                return;
            }
            let follower = Follower::start(&self.origin, log, self.begin(log));
            if self.is_listed {
                follower.list();
            }
            self.followers.insert(log.clone(), follower);
        }
        let Some(follower) = self.followers.get(log) else { return };
        follower.see(pod, container);
    }

    /// Says that all pods were seen that there are. Only then does a log that an earlier step began continue with another pod.
    pub fn list(&mut self) {
        if !std::mem::replace(&mut self.is_listed, true) {
            self.followers.values().for_each(Follower::list);
        }
    }

    /// Says that the API server does not have the pod with this uid any more.
    pub(crate) fn lose(&mut self, uid: &str) {
        self.followers.values().for_each(|follower| follower.lose(uid));
    }

    /// Returns whether a container that has ended has printed more than was read.
    pub(crate) fn lags(&self) -> bool {
        self.followers.values().any(Follower::lags)
    }

    /// Returns how many bytes of all logs came since this step began.
    pub(crate) fn bytes(&self) -> u64 {
        self.followers.values().map(Follower::bytes).sum()
    }

    /// Reads all logs to their ends, but no longer than `within`, and ends them. Those that a step that was killed began,
    /// and whose pods were not seen since, are among them.
    pub fn finish(mut self, within: Duration) -> Vec<Followed> {
        for log in KeptLog::begun(&self.place.state).iter().filter_map(|name| LogName::of_file(name)) {
            if !self.followers.contains_key(&log) {
                let begun = self.begin(&log);
                self.followers.insert(log, Follower::of_the_past(begun));
            }
        }
        self.followers.values().for_each(Follower::close);
        let until = Instant::now() + within;
        self.followers.into_iter().filter_map(|(name, follower)| follower.finish(name, until)).collect()
    }

    /// Leaves everything as a step that is killed does.
    #[cfg(test)]
    fn kill(self) {
        self.followers.into_values().for_each(Follower::kill);
    }

    /// Returns where the log begins, if another run has left it: what was wrong with it until there is not of this run.
    fn mark_left(&self, log: &LogName) -> String {
        let path = log.path();
        let name = path.rsplit_once('/').map_or(path.as_str(), |(_, name)| name);
        let mark = self.left.get(name).and_then(|mark| serde_json::from_str::<Mark>(mark).ok());
        let mark = mark.map(Mark::left);
        mark.map_or_else(String::new, |mark| serde_json::to_string(&mark).expected("JSON of our own types"))
    }

    /// Begins a log, or resumes it with all that it contains.
    fn begin(&self, log: &LogName) -> Begun {
        let path = self.place.output.join(log.path());
        let resumed = KeptLog::resume(&path, &self.place.state, self.place.limit);
        let resumed = resumed.or_else(|fault| KeptLog::nowhere(fault).map(|kept| (kept, String::new())));
        let (kept, mark) = match resumed {
            Ok((kept, mark)) if mark.is_empty() => (kept, self.mark_left(log)),
            Ok(resumed) => resumed,
            Err(fault) => return Begun { sink: None, mark: String::new(), fault: Some(fault.to_string()) },
        };
        let scan =
            if log.is_main() { self.rules.scan(log.role(), log.index(), &self.room) } else { RuleScan::of_nothing() };
        let mut sink = Sink::new(kept, scan, log.role(), log.index(), None, Arc::clone(&self.redactor));
        let fault = match sink.look_back() {
            Ok(0) => None,
            Ok(missing) => Some(format!(
                "the step was restarted, and values in {missing} bytes that the log limit had cut are not counted \
                 (`results.logLimit`)"
            )),
            Err(error) => Some(format!("it cannot be read again after the step was restarted: {error}")),
        };
        Begun { sink: Some(sink), mark, fault }
    }
}

/// A log that a follower resumes.
struct Begun {
    /// Where it goes; nowhere if the machine has no place at all.
    sink: Option<Sink>,
    /// Up to where it was read.
    mark: String,
    /// What is wrong with it already.
    fault: Option<String>,
}

#[cfg(test)]
mod tests;
