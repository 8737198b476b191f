//! The logs of several pods at once: each line with the replica that printed it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::cli::ExitStatus;
use crate::cli::args::LogsArgs;
use crate::cli::outside::Outside;
use crate::cli::status::read;
use crate::edge::cluster::{Cluster, Fault, LogQuery};
use crate::edge::terminal;
use crate::follow::Replica;
use crate::gather::harmless;
use crate::ingest::line::without_terminal_codes;
use crate::redact::Redactor;
use crate::status::{JobStatus, sessions};

/// How often pods are looked for that came later.
const LOOK: Duration = Duration::from_secs(3);
/// A longer line is shown in pieces.
const PIECE: u64 = 1024 * 1024;

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

/// Prints the logs of `printed`, and goes on with those of its job if that is asked.
pub(super) fn print(
    outside: &Outside<'_>,
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
    for one in &printed {
        if !one.has_started {
            terminal::tell(&format!("{}: its container has not started; `kubebench status` says why", one.name));
            continue;
        }
        let query = LogQuery::default();
        let stream = match outside.cluster.log(&outside.target.namespace, &one.pod, &one.container, &query) {
            Ok(stream) => stream,
            Err(fault) => bail!("{fault}"),
        };
        let mut reader = BufReader::new(stream);
        while let Some(line) = next_line(&mut reader)? {
            shown.print(&one.name, &line)?;
        }
    }
    Ok(ExitStatus::Yes)
}

fn next_line(reader: &mut impl std::io::BufRead) -> std::io::Result<Option<Vec<u8>>> {
    use std::io::Read as _;
    let mut line = Vec::new();
    let count = reader.by_ref().take(PIECE).read_until(b'\n', &mut line)?;
    Ok((count > 0).then_some(line))
}

/// Lines of one replica, or its end.
enum Word {
    Line(String, Vec<u8>),
    End(String),
}

fn follow(
    outside: &Outside<'_>,
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
        loop {
            match words.recv_timeout(LOOK) {
                Ok(Word::Line(name, line)) => shown.print(&name, &line)?,
                Ok(Word::End(uid)) => {
                    open.remove(&uid);
                    break;
                }
                Err(RecvTimeoutError::Timeout) => break,
                Err(RecvTimeoutError::Disconnected) => bail!("the logs ended unexpectedly"),
            }
        }
        // An outage is no end: the job is looked for again.
        let Ok(seen) = read(outside) else { continue };
        let found = sessions(&seen, usize::MAX);
        let runs = found.iter().flat_map(|session| &session.runs);
        let now = runs.filter(|run| run.job.as_ref().is_some_and(|other| other.name == job.name)).next_back();
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

/// Reads the log of one container to its end, through outages, on a thread of its own.
fn start(outside: &Outside<'_>, one: Printed, words: Sender<Word>) {
    let (cluster, namespace) = (outside.cluster.clone(), outside.target.namespace.clone());
    std::thread::spawn(move || {
        let mut last = String::new();
        while read_on(&cluster, &namespace, &one, &mut last, &words) {
            std::thread::sleep(Duration::from_millis(500));
        }
        drop(words.send(Word::End(one.uid)));
    });
}

/// Reads on after the line of `last`; returns true when it has to be read on again.
fn read_on(cluster: &Cluster, namespace: &str, one: &Printed, last: &mut String, words: &Sender<Word>) -> bool {
    let since = (!last.is_empty()).then(|| last.clone());
    let query = LogQuery { follow: true, timestamps: true, since, ..LogQuery::default() };
    let stream = match cluster.log(namespace, &one.pod, &one.container, &query) {
        Ok(stream) => stream,
        Err(Fault::Unreachable(_)) => return true,
        // Gone with its pod.
        Err(Fault::Refused(_) | Fault::Stopped) => return false,
    };
    let mut reader = BufReader::new(stream);
    // Whether the next piece goes on with the line of the one before, and whether that one was shown.
    let (mut goes_on, mut is_new) = (false, true);
    loop {
        match next_line(&mut reader) {
            Ok(None) => return false,
            Ok(Some(line)) => {
                let is_rest = std::mem::replace(&mut goes_on, !line.ends_with(b"\n"));
                if is_rest {
                    if is_new && words.send(Word::Line(one.name.clone(), line)).is_err() {
                        return false;
                    }
                    continue;
                }
                let space = line.iter().position(|byte| *byte == b' ').unwrap_or_default();
                let (time, rest) = line.split_at(space);
                let time = String::from_utf8_lossy(time).into_owned();
                // The second in which the stream was cut comes again.
                is_new = last.is_empty() || comparable(&time) > comparable(last);
                if !is_new {
                    continue;
                }
                let text = rest.get(1..).unwrap_or_default().to_vec();
                *last = time;
                if words.send(Word::Line(one.name.clone(), text)).is_err() {
                    return false;
                }
            }
            Err(_) => return true,
        }
    }
}

/// Returns a time with all nine digits of its second, as those at the end may be left out.
fn comparable(time: &str) -> String {
    let (whole, fraction) = time.trim_end_matches('Z').split_once('.').unwrap_or((time.trim_end_matches('Z'), ""));
    format!("{whole}.{fraction:0<9}")
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
