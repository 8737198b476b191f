//! Processes of one run from their start to the end of the last, and why they ended.

use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::{Event, LocalRun};
use crate::collect::{self, KeptOf, Sink};
use crate::local::{Folders, Plan, Process};
use kubebench_extract::room::Room;
use kubebench_extract::rules::{From, RuleScan};
use kubebench_format::result::ReasonCode;
use kubebench_format::result::v1::{Exit, Status, StatusReason};
use kubebench_host::experiment;
use kubebench_host::fault::{InternalFault, caught};
use kubebench_host::process::{self, Ended, Foreign, KeptLog, Output, Replica, Sampler, Start};

/// How long replicas that do not decide have to end after those that do.
const LINGER: Duration = Duration::from_secs(5);
/// How often the loop looks around when nothing happens.
const TICK: Duration = Duration::from_millis(250);
/// Between two samples of what processes use.
pub(super) const SAMPLE_STEP: Duration = Duration::from_secs(1);

/// One replica after its end.
pub(super) struct Finished {
    pub(super) process: Process,
    pub(super) ended: Ended,
    pub(super) scan: RuleScan,
    pub(super) last_lines: Vec<String>,
    /// The name of its log below the output folder.
    pub(super) log: String,
    pub(super) dropped: u64,
    pub(super) log_fault: Option<String>,
    /// Seconds from the start of the run.
    started: f64,
}

/// What became of the processes of a run.
pub(super) struct Waited {
    pub(super) finished: Vec<Finished>,
    pub(super) status: Status,
    pub(super) reasons: Vec<StatusReason>,
    pub(super) samples: Sampler,
    /// Seconds from the first start to the last.
    pub(super) startup: f64,
    /// Seconds from the first start to the end of the last process that counts; none when nothing was started, or when
    /// such an end is not known because a supervisor was killed.
    pub(super) run: Option<f64>,
}

impl Waited {
    /// Returns true when at least one program was started.
    pub(super) fn began(&self) -> bool {
        self.finished.iter().any(|finished| finished.ended.error.is_none())
    }

    /// Says that nothing was started, and nothing of why.
    pub(super) fn of_nothing(status: Status) -> Self {
        let (finished, reasons, samples) = (Vec::new(), Vec::new(), Sampler::default());
        Self { finished, status, reasons, samples, startup: 0.0, run: None }
    }

    /// Says that nothing was started.
    pub(super) fn without_start(status: Status, code: ReasonCode, message: &str) -> Self {
        let reasons = vec![StatusReason { code, message: message.to_owned() }];
        Self { reasons, ..Self::of_nothing(status) }
    }

    /// Says that a bug of this program ended its part in the run.
    pub(super) fn break_off(&mut self, fault: &InternalFault) {
        collect::break_off(&mut self.status, &mut self.reasons, fault);
    }

    /// Returns what was done, or says that it broke off.
    pub(super) fn unless_broken_off<T>(&mut self, done: Result<T, InternalFault>) -> Option<T> {
        done.map_err(|fault| self.break_off(&fault)).ok()
    }
}

struct Running {
    process: Process,
    replica: Replica<Sink>,
    started: f64,
}

struct State {
    running: Vec<Running>,
    finished: Vec<Finished>,
    status: Status,
    reasons: Vec<StatusReason>,
    is_stopping: bool,
    /// What the values of all logs may take.
    room: Room,
    /// How many replicas decide.
    deciders: usize,
    /// Whether the reason to stop it does not count if the replicas that decide have succeeded anyway.
    is_pardonable: bool,
}

/// What is seen while processes run.
struct Seen {
    samples: Sampler,
    /// When the last was started, in seconds from the first on.
    startup: f64,
}

impl LocalRun<'_> {
    /// Starts the processes of `plan`, waits for the end of all, and says how it was.
    pub(super) fn wait_for(&mut self, plan: &Plan, folders: &Folders, timeout: Duration) -> Result<Waited> {
        let mut foreign = Foreign::now();
        let mut state = State {
            running: Vec::new(),
            finished: Vec::new(),
            status: Status::Succeeded,
            reasons: Vec::new(),
            is_stopping: false,
            room: Room::default(),
            deciders: plan.processes.iter().filter(|process| process.decides).count(),
            is_pardonable: false,
        };
        let mut seen = Seen { samples: Sampler::default(), startup: 0.0 };
        match caught(|| self.follow((plan, folders), timeout, &mut foreign, &mut state, &mut seen)) {
            Ok(followed) => followed?,
            Err(fault) => state.break_off(&fault),
        }
        // A supervisor that was not killed has ended all that was below it.
        if state.finished.iter().any(|finished| finished.ended.is_lost()) {
            process::end_orphans(&foreign);
        }
        state.pardon();
        state.finished.sort_by_key(|finished| {
            let same =
                |process: &Process| process.role == finished.process.role && process.index == finished.process.index;
            plan.processes.iter().position(same)
        });
        let end = |finished: &Finished| Some(finished.started + finished.ended.seconds?);
        let counts = |finished: &&Finished| state.status != Status::Succeeded || finished.process.decides;
        let ends: Option<Vec<f64>> = state.finished.iter().filter(counts).map(end).collect();
        let first = state.finished.iter().map(|finished| finished.started).fold(f64::INFINITY, f64::min);
        let last = ends.and_then(|ends| ends.into_iter().reduce(f64::max));
        let run = last.map(|last| (last - first).max(0.0));
        let State { finished, status, reasons, .. } = state;
        let Seen { samples, startup } = seen;
        Ok(Waited { finished, status, reasons, samples, startup, run })
    }

    /// Starts the processes of a plan, and waits until the last of them has ended.
    fn follow(
        &mut self,
        (plan, folders): (&Plan, &Folders),
        timeout: Duration,
        foreign: &mut Foreign,
        state: &mut State,
        seen: &mut Seen,
    ) -> Result<()> {
        let started = Instant::now();
        let mut pending = plan.processes.iter();
        let asks_for_processes = self.rules.metrics.iter().any(|rule| matches!(rule.from, From::Process(_)));
        let is_sampled = asks_for_processes && !self.request.engine.runs_images();
        let mut next_sample = SAMPLE_STEP;
        let mut deciders_ended: Option<Instant> = None;
        loop {
            while !state.is_stopping
                && state.running.len() < plan.at_once
                && let Some(process) = pending.next()
            {
                match self.start(process, folders, &state.room, started.elapsed().as_secs_f64()) {
                    Ok(running) => {
                        seen.startup = running.started;
                        self.has_started = true;
                        state.running.push(running);
                    }
                    Err(problem) => state.stop(Status::Failed, ReasonCode::CannotStart, problem.to_string()),
                }
            }
            if state.running.is_empty() && (state.is_stopping || pending.len() == 0) {
                break;
            }
            self.react(state)?;
            foreign.refresh();
            state.collect();
            let elapsed = started.elapsed();
            if elapsed > timeout && !state.is_stopping && !state.is_decided() {
                let seconds = timeout.as_secs();
                state.is_pardonable = true;
                state.stop(Status::TimedOut, ReasonCode::Timeout, format!("stopped after its timeout of {seconds} s"));
            }
            if state.is_decided() {
                let since = *deciders_ended.get_or_insert_with(Instant::now);
                if since.elapsed() > LINGER && !state.is_stopping {
                    state.is_stopping = true;
                    state.running.iter().for_each(|running| running.replica.stop());
                }
            }
            if is_sampled && elapsed >= next_sample {
                let pids: Vec<i32> = state.running.iter().map(|running| running.replica.pid()).collect();
                let ended = state.finished.iter().filter_map(|finished| finished.ended.usage);
                seen.samples.sample(&pids, ended);
                next_sample += SAMPLE_STEP;
            }
            self.watcher.continues(elapsed, self.last_value(state));
        }
        Ok(())
    }

    /// Waits for an event, and handles it.
    fn react(&mut self, state: &mut State) -> Result<()> {
        let event = match self.events.1.recv_timeout(TICK) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => return Ok(()),
            Err(RecvTimeoutError::Disconnected) => anyhow::bail!("the run lost its events"),
        };
        if let Event::Stop(stop) = event {
            if self.stop.is_some() {
                self.watcher.tell("killing all processes");
                state.running.iter().for_each(|running| running.replica.kill());
            } else {
                self.stop = Some(stop);
                self.watcher.tell(&format!("{}: stopping; a second signal kills immediately", stop.name()));
                state.stop(Status::Interrupted, ReasonCode::Interrupted, format!("stopped by {}", stop.name()));
            }
        }
        Ok(())
    }

    fn start(&self, process: &Process, folders: &Folders, room: &Room, started: f64) -> Result<Running> {
        let experiment = PathBuf::from(folders.experiment());
        let name = format!("{}-{}", process.role, process.index);
        let directory = experiment.join("work").join(&name);
        experiment::make(&directory)?;
        let path = process.env.get("PATH").map_or("", String::as_str);
        let program = process.argv.first().map_or("", String::as_str);
        if let Some(problem) = process::find_program(program, path, &directory) {
            anyhow::bail!("{name} cannot be started: {problem}");
        }
        let log = Path::new(&folders.output()).join(log_name(process));
        let log = KeptLog::create(&log, self.request.log_limit)?;
        let scan = self.rules.scan(&process.role, process.index, room);
        let echo = self.watcher.echo();
        let sink = Sink::new(log, scan, &process.role, process.index, echo, self.redactor.clone());
        let start = Start {
            argv: &process.argv,
            env: &process.env,
            directory: &directory,
            container: process.container.as_deref().map(|name| (self.request.engine.name(), name)),
        };
        let events = self.events.0.clone();
        let replica = Replica::start(start, sink, Sink::take, move || {
            let _ = events.send(Event::OutputEnded);
        })?;
        Ok(Running { process: process.clone(), replica, started })
    }

    /// Returns the last value of the primary metric that some replica printed.
    fn last_value(&self, state: &State) -> Option<f64> {
        let primary = self.rules.metrics.iter().position(|rule| rule.is_primary)?;
        state.running.iter().find_map(|running| running.replica.look(|sink| sink.scan.last_value(primary))?)
    }
}

impl State {
    /// Handles replicas that ended; one that failed stops the others.
    fn collect(&mut self) {
        let mut index = 0;
        while let Some(running) = self.running.get_mut(index) {
            if !running.replica.has_ended() {
                index += 1;
                continue;
            }
            let Running { process, replica, started } = self.running.remove(index);
            let (ended, Output { sink, fault }) = replica.finish();
            let Some(sink) = sink else { continue };
            let (log, scan, last_lines) = sink.finish();
            let kept = log.finish();
            let finished = Finished {
                log: log_name(&process),
                process,
                ended,
                scan,
                last_lines,
                dropped: kept.dropped,
                log_fault: kept.fault.map(|fault| fault.to_string()),
                started,
            };
            if !finished.ended.is_success() && !self.is_stopping && !self.is_decided() {
                let (code, message) = failure(&finished);
                self.is_pardonable = !finished.process.decides;
                self.stop(Status::Failed, code, message);
            }
            self.finished.push(finished);
            if let Some(fault) = fault {
                self.break_off(&fault);
            }
        }
    }

    /// Returns true when all replicas that decide have ended. While nothing is stopped, they have succeeded.
    fn is_decided(&self) -> bool {
        self.deciders > 0 && self.finished.iter().filter(|finished| finished.process.decides).count() == self.deciders
    }

    /// Takes back a stop that came between the success of the replicas that decide and the news of it: a worker dies when
    /// its master is gone, while the supervisor of the master still ends what that left.
    fn pardon(&mut self) {
        let mut deciders = self.finished.iter().filter(|finished| finished.process.decides);
        let succeeded = |finished: &Finished| finished.ended.is_success() && finished.ended.by_itself;
        if self.is_pardonable && self.is_decided() && deciders.all(succeeded) {
            self.status = Status::Succeeded;
            self.reasons.clear();
        }
    }

    /// Ends everything since a bug of this program ended its part in the run; what the replicas have printed is kept.
    fn break_off(&mut self, fault: &InternalFault) {
        (self.is_stopping, self.is_pardonable) = (true, false);
        collect::break_off(&mut self.status, &mut self.reasons, fault);
        self.running.iter().for_each(|running| running.replica.stop());
        while !self.running.is_empty() {
            std::thread::sleep(TICK);
            self.collect();
        }
    }

    fn stop(&mut self, status: Status, code: ReasonCode, message: String) {
        if self.is_stopping {
            return;
        }
        self.is_stopping = true;
        self.status = status;
        self.reasons.push(StatusReason { code, message });
        self.running.iter().for_each(|running| running.replica.stop());
    }
}

/// Returns the name of a replica's log below the output folder.
pub(super) fn log_name(process: &Process) -> String {
    format!("logs/{}-{}.log", process.role, process.index)
}

fn failure(finished: &Finished) -> (ReasonCode, String) {
    let name = format!("{}-{}", finished.process.role, finished.process.index);
    match &finished.ended {
        Ended { error: Some(error), .. } => (ReasonCode::CannotStart, format!("{name}: {error}")),
        // By this code Docker and Podman say that there is no container.
        Ended { code: Some(125), .. } if finished.process.container.is_some() => {
            let why = finished.last_lines.last().map_or("the engine gave no reason", String::as_str);
            (ReasonCode::CannotStart, format!("{name}: the container was not created: {why}"))
        }
        Ended { signal: Some(signal), .. } => (ReasonCode::Signal, format!("{name} was terminated by {signal}")),
        Ended { code: Some(code), .. } => (ReasonCode::ExitCode, format!("{name} exited with {code}")),
        _ => (ReasonCode::Lost, format!("{name} exited, but its exit status is unknown")),
    }
}

impl Finished {
    /// Returns its log, for the list of artifacts.
    pub(super) fn kept(&self) -> KeptOf {
        KeptOf { name: self.log.clone(), dropped: self.dropped }
    }

    /// Returns how it ended, for the result.
    pub(super) fn exit(&self) -> Exit {
        Exit {
            role: self.process.role.clone(),
            index: self.process.index,
            code: self.ended.code,
            signal: self.ended.signal.clone(),
            last_lines: self.last_lines.clone(),
        }
    }
}
