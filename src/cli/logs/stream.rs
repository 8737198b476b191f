//! The logs of several pods at once: each line with the replica that printed it.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::Value as Json;

use crate::app::cluster::{TargetCluster, clean, read};
use crate::cli::ExitStatus;
use crate::cli::args::LogsArgs;
use kubebench_cluster::{Cluster, Fault, LogQuery, Resource};
use kubebench_executor::collect::harmless;
use kubebench_executor::observe::Replica;
use kubebench_executor::observe::stamped::{Otherwise, Position, Stamped};
use kubebench_executor::status::{JobStatus, sessions};
use kubebench_extract::line::without_terminal_codes;
use kubebench_host::terminal;
use kubebench_syntax::invariant::Invariant as _;
use kubebench_syntax::redact::Redactor;

/// How often pods are looked for that came later.
const LOOK: Duration = Duration::from_secs(3);
/// A longer line is shown in pieces.
const PIECE: usize = 1 << 20;
/// Bytes that are read at once.
const BUFFER: usize = 64 << 10;
/// The pause before a log is opened again that was cut.
const AGAIN: Duration = Duration::from_secs(1);

/// A container that prints.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Printed {
    /// `worker-0`
    name: String,
    pod: String,
    uid: String,
    container: String,
    has_started: bool,
    is_over: bool,
}

impl Printed {
    /// Returns the container of `replica` that does the work.
    pub(super) fn of(replica: &Replica, container: &str) -> Self {
        Self {
            name: format!("{}-{}", replica.role, replica.index),
            pod: replica.pod.name.clone(),
            uid: replica.pod.uid.clone(),
            container: container.to_owned(),
            has_started: replica.pod.has_started(),
            is_over: replica.pod.is_over() || replica.is_gone,
        }
    }
}

/// Prints the logs of `printed`, and continues with those of its job if that is asked.
pub(super) fn print(
    outside: &TargetCluster,
    args: &LogsArgs,
    job: &JobStatus,
    printed: Vec<Printed>,
) -> Result<ExitStatus> {
    let width = printed.iter().map(|one| one.name.len()).max().unwrap_or_default();
    let is_one = printed.len() == 1 && !args.follow;
    let mut shown = Shown { is_raw: args.raw, width: if is_one { 0 } else { width }, redactor: Redactor::default() };
    if args.follow {
        return follow(outside, args, job, printed, &mut shown);
    }
    let mut status = ExitStatus::Yes;
    for one in &printed {
        if !one.has_started {
            terminal::tell(&format!("{}: its container has not started; `kubebench status` says why", one.name));
            continue;
        }
        let query = LogQuery::default();
        let stream = match outside.cluster.log(&outside.target.namespace, &one.pod, &one.container, &query) {
            Ok(stream) => stream,
            // The others may have theirs.
            Err(fault @ Fault::Refused(_)) => {
                terminal::tell(&format!("{}: {}", one.name, clean(&fault.to_string())));
                status = ExitStatus::No;
                continue;
            }
            Err(fault) => bail!("{fault}"),
        };
        let mut reader = BufReader::new(stream);
        while let Some(line) = next_line(&mut reader)? {
            shown.print(&one.name, &line)?;
        }
    }
    Ok(status)
}

fn next_line(reader: &mut impl BufRead) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let count = reader.by_ref().take(PIECE as u64).read_until(b'\n', &mut line)?;
    Ok((count > 0).then_some(line))
}

/// Lines of one replica, or its end.
enum Word {
    Line(String, Vec<u8>),
    End(String),
}

fn follow(
    outside: &TargetCluster,
    args: &LogsArgs,
    job: &JobStatus,
    mut printed: Vec<Printed>,
    shown: &mut Shown,
) -> Result<ExitStatus> {
    let (sender, words) = channel();
    let mut begun: BTreeSet<String> = BTreeSet::new();
    let mut open: BTreeSet<String> = BTreeSet::new();
    let mut is_there = true;
    loop {
        shown.width = printed.iter().map(|one| one.name.len()).max().unwrap_or_default().max(shown.width);
        for one in printed.iter().filter(|one| one.has_started) {
            if begun.insert(one.uid.clone()) {
                open.insert(one.uid.clone());
                start(outside, one.clone(), sender.clone());
            }
        }
        if !is_there && open.is_empty() {
            return Ok(ExitStatus::Yes);
        }
        if let Some(uid) = hear(&words, LOOK, &mut |name, line| shown.print(name, line))? {
            open.remove(&uid);
        }
        // An outage is no end: the job is looked for again.
        let Ok(seen) = read(outside) else { continue };
        let found = sessions(&seen, usize::MAX);
        let mut runs = found.iter().flat_map(|session| &session.runs);
        let now = runs.rfind(|run| run.job.as_ref().is_some_and(|other| other.name == job.name));
        is_there = now.is_some_and(|run| run.state.is_active());
        let replicas = now.and_then(|run| run.job.as_ref()).map(|job| job.replicas.as_slice()).unwrap_or_default();
        printed = replicas
            .iter()
            .filter(|replica| args.role.as_ref().is_none_or(|role| *role == replica.role))
            .filter(|replica| args.index.is_none_or(|index| index == replica.index))
            .map(|replica| Printed::of(replica, job.container))
            .collect();
    }
}

/// Passes on the lines that come within `time`, and returns the replica that came to its end, if one did before that.
fn hear(
    words: &Receiver<Word>,
    time: Duration,
    print: &mut dyn FnMut(&str, &[u8]) -> Result<()>,
) -> Result<Option<String>> {
    let end = Instant::now() + time;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        // Where lines never stop, one is always there.
        if left.is_zero() {
            return Ok(None);
        }
        match words.recv_timeout(left) {
            Ok(Word::Line(name, line)) => print(&name, &line)?,
            Ok(Word::End(uid)) => return Ok(Some(uid)),
            Err(RecvTimeoutError::Timeout) => return Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("the logs ended unexpectedly"),
        }
    }
}

/// Reads the log of one container to its end, through outages, on a thread of its own.
fn start(outside: &TargetCluster, one: Printed, words: Sender<Word>) {
    let (cluster, namespace) = (outside.cluster.clone(), outside.target.namespace.clone());
    std::thread::spawn(move || {
        let (mut position, mut line) = (Position::default(), Vec::new());
        while read_on(&cluster, &namespace, &one, (&mut position, &mut line), &words) {
            std::thread::sleep(AGAIN);
        }
        if !line.is_empty() {
            drop(words.send(Word::Line(one.name, line)));
        }
        drop(words.send(Word::End(one.uid)));
    });
}

/// Reads on after `position`, whose last line is in `line` as far as it came; returns true when there may be more.
fn read_on(
    cluster: &Cluster,
    namespace: &str,
    one: &Printed,
    (position, line): (&mut Position, &mut Vec<u8>),
    words: &Sender<Word>,
) -> bool {
    let query = LogQuery { follow: true, timestamps: true, since: position.since(), ..LogQuery::default() };
    let mut stream = match cluster.log(namespace, &one.pod, &one.container, &query) {
        Ok(stream) => stream,
        Err(Fault::Unreachable(_)) => return true,
        // Gone with its pod.
        Err(Fault::Refused(_) | Fault::Stopped) => return false,
    };
    let mut stamped = Stamped::after(position.clone(), Otherwise::GoOn);
    let mut buffer = vec![0; BUFFER];
    let continues = loop {
        let read = match stream.read(&mut buffer) {
            // The end of the API server's connection to the node looks the same.
            Ok(0) => break is_alive(cluster, namespace, &one.pod),
            Ok(read) => read,
            Err(_) => break true,
        };
        let mut plain = Vec::new();
        stamped.take(buffer.get(..read).expected("at most a buffer of bytes"), &mut plain);
        for part in plain.split_inclusive(|byte| *byte == b'\n') {
            line.extend_from_slice(part);
            if line.ends_with(b"\n") || line.len() >= PIECE {
                drop(words.send(Word::Line(one.name.clone(), std::mem::take(line))));
            }
        }
    };
    *position = stamped.end().0;
    continues
}

/// Returns whether a pod may print more.
fn is_alive(cluster: &Cluster, namespace: &str, pod: &str) -> bool {
    match cluster.get(&Resource::pods(), namespace, pod) {
        Ok(Some(pod)) => !matches!(pod.pointer("/status/phase").and_then(Json::as_str), Some("Succeeded" | "Failed")),
        Ok(None) => false,
        Err(fault) => matches!(fault, Fault::Unreachable(_)),
    }
}

/// How lines are printed.
struct Shown {
    is_raw: bool,
    /// The width of the names before lines; 0 for none.
    width: usize,
    redactor: Redactor,
}

impl Shown {
    fn print(&self, name: &str, line: &[u8]) -> Result<()> {
        let width = self.width;
        let prefix = if width == 0 { String::new() } else { format!("{name:<width$} | ") };
        if self.is_raw {
            let text = String::from_utf8_lossy(line);
            let end = if text.ends_with('\n') { "" } else { "\n" };
            return terminal::print(&format!("{prefix}{text}{end}"));
        }
        let clean = without_terminal_codes(line);
        let text = String::from_utf8_lossy(&clean);
        // A progress bar rewrites its line.
        for part in text.split(['\r', '\n']) {
            let part = harmless(part.trim_end());
            if !part.is_empty() {
                terminal::print(&format!("{prefix}{}\n", self.redactor.text(&part)))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;
    use std::time::Duration;

    use super::{Word, hear};
    use kubebench_testing::watchdog::returns;

    #[test]
    fn a_replica_that_prints_all_the_time_keeps_no_other_from_being_looked_for() {
        let (sender, words) = channel();
        // The next line is there as soon as one is shown.
        let print = move || sender.send(Word::Line("worker-0".to_owned(), b"step\n".to_vec())).unwrap();
        print();
        let (ended, lines) = returns("what is heard of a replica that never stops", move || {
            let mut lines = 0;
            let ended = hear(&words, Duration::from_millis(100), &mut |_, _| {
                lines += 1;
                print();
                Ok(())
            });
            (ended, lines)
        });
        assert!(ended.is_ok_and(|ended| ended.is_none()) && lines > 0);
    }
}
