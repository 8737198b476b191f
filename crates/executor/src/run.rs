//! Runs a benchmark on this machine: in order, each run in a folder of its own, each with a result file when it ends.
//!
//! A result is written as soon as its run has ended, so that nothing that happens later loses it.

mod assemble;
mod evidence;
mod images;
mod reparse;
mod replica_log;
mod single_run;
mod wait;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use anyhow::{Result, bail};

use crate::collect::{self, Echo, Hurry, Stored};
use crate::local::{Containers, Engine, Folders, Secrets};
use kubebench_compiler::compile::Compiled;
use kubebench_compiler::model::{Benchmark, Case, Env};
use kubebench_contract::Run;
use kubebench_extract::rules::Rules;
use kubebench_format::result::fingerprint;
use kubebench_format::result::v1::{Cluster, Node, Status};
use kubebench_git::CheckedOut;
use kubebench_host::experiment::{self, Reserve};
use kubebench_host::fault;
use kubebench_host::machine::{self, Name};
use kubebench_host::process::{self, Stop};
use kubebench_syntax::redact::{self, Redactor};

pub use reparse::{reparse, store_again};
pub use replica_log::ReplicaLog;

/// What to run, and how.
pub struct Request<'a> {
    /// The project's folder.
    pub root: &'a Path,
    /// What the results of all benchmarks that are run together have in common.
    pub session: String,
    /// The benchmark.
    pub compiled: &'a Compiled,
    /// The text of `rules.json`.
    pub rules: &'a str,
    /// Where result files go.
    pub results: PathBuf,
    /// What runs the replicas.
    pub engine: Engine,
    /// The environment of the engine's client.
    pub client: BTreeMap<String, String>,
    /// Variables that every process gets.
    pub base: BTreeMap<String, String>,
    /// Values of Secrets and ConfigMaps.
    pub secrets: Secrets,
    /// The runs, in order.
    pub runs: Vec<Run>,
    /// What to do after a run that did not succeed.
    pub after_failure: AfterFailure,
    /// The largest log that is kept of a replica.
    pub log_limit: u64,
    /// How this machine is named in results.
    pub name: Name,
    /// The commit of the project, and the files that differ from it.
    pub commit: Option<CheckedOut>,
    /// The version of this program.
    pub version: &'static str,
}

impl Request<'_> {
    /// Returns the run's folders as replicas know them, and how containers are started where replicas are such.
    pub fn views(&self, host: Folders) -> (Folders, Option<Containers>) {
        if !self.engine.runs_images() {
            return (host, None);
        }
        let inside = Folders::in_containers(host.id.clone());
        let user = process::container::user();
        (inside, Some(Containers { engine: self.engine, client: self.client.clone(), user, host }))
    }
}

/// What to do after a run that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterFailure {
    /// Start no other.
    Stop,
    /// Continue with the next.
    KeepGoing,
}

/// An observer of a session.
pub trait Watcher {
    /// A run starts.
    fn started(&self, run: &Run, case: &Case, number: usize, of: usize);
    /// A run continues; called about twice a second.
    fn continues(&self, elapsed: Duration, last_value: Option<f64>);
    /// A run ended, and its result is on disk if any took it.
    fn ended(&self, stored: &Stored);
    /// These logs show why the run that just ended, or what precedes all runs, did not succeed.
    fn failed(&self, logs: &[ReplicaLog]);
    /// Something that people should know.
    fn tell(&self, text: &str);
    /// Takes a line that a replica printed; none when lines are not wanted.
    fn echo(&self) -> Option<Echo>;
}

/// How a session ended.
pub struct Outcome {
    /// The results that were written, in order.
    pub stored: Vec<Stored>,
    /// The runs that were not started.
    pub not_started: Vec<Run>,
    /// Whether a process of any run was started.
    pub has_run: bool,
    /// The signal that ended it.
    pub stopped: Option<Stop>,
    /// Why nothing more could be started, or kept where it should be.
    pub problem: Option<String>,
}

impl Outcome {
    /// Says that nothing has been done of `request`.
    pub fn before(request: &Request<'_>) -> Self {
        let not_started = request.runs.clone();
        Self { stored: Vec::new(), not_started, has_run: false, stopped: None, problem: None }
    }
}

/// What happens while processes run.
#[derive(Debug)]
pub(crate) enum Event {
    /// The output of a replica ended.
    OutputEnded,
    /// The run is to stop.
    Stop(Stop),
}

/// A session: what all its runs share.
struct LocalRun<'a> {
    request: &'a Request<'a>,
    watcher: &'a dyn Watcher,
    rules: Rules,
    redactor: Arc<Redactor>,
    /// `.kubebench` of the project.
    place: PathBuf,
    cluster: Cluster,
    /// The version of the engine, by its name.
    software: BTreeMap<String, String>,
    /// Digests of images that are here, by their names.
    images: BTreeMap<String, String>,
    node: Node,
    events: (Sender<Event>, Receiver<Event>),
    stop: Option<Stop>,
    /// Space for a result on a disk that the run fills.
    reserve: Option<Reserve>,
    /// Whether a process was started since this was last taken back.
    has_started: bool,
    /// The logs that show why the last run did not succeed, or what precedes or follows it.
    logs: Vec<ReplicaLog>,
}

/// Runs all of `request`.
///
/// # Errors
/// When the machine does not let it start.
pub fn run(request: &Request<'_>, watcher: &dyn Watcher) -> Result<Outcome> {
    let mut session = LocalRun::new(request, watcher)?;
    let mut outcome = Outcome::before(request);
    if let Some(job) = &request.compiled.benchmark.prepare {
        outcome.problem = session.step("prepare", &job.role, job.timeout, &session.new_folders()?)?;
        watcher.failed(&std::mem::take(&mut session.logs));
    }
    let total = request.runs.len();
    for (run, number) in request.runs.iter().zip(1..) {
        session.hear();
        if outcome.problem.is_some() || session.stop.is_some() {
            break;
        }
        let Some(case) = request.compiled.benchmark.cases.iter().find(|case| case.id == run.case) else { continue };
        watcher.started(run, case, number, total);
        session.hold_reserve();
        let unstored = process::Unstored::begin();
        session.has_started = false;
        let result = session.one(run, case);
        let stored = result
            .map(|result| collect::store_somewhere(&request.results, &session.refuge(), &mut session.reserve, result));
        drop(unstored);
        outcome.has_run |= session.has_started;
        if session.has_started || stored.is_ok() {
            outcome.not_started.remove(0);
        }
        let stored = match stored {
            Ok((stored, problem)) => {
                outcome.problem = problem;
                stored
            }
            // What was measured before is on disk, and is shown as ever.
            Err(error) => {
                outcome.problem = Some(format!("{error:#}"));
                break;
            }
        };
        watcher.ended(&stored);
        watcher.failed(&std::mem::take(&mut session.logs));
        let status = stored.sealed.result.run.status;
        outcome.stored.push(stored);
        if status == Status::Interrupted || status != Status::Succeeded && request.after_failure == AfterFailure::Stop {
            break;
        }
    }
    // A request to stop that came while the last result was made counts too.
    session.hear();
    outcome.stopped = session.stop;
    Ok(outcome)
}

impl<'a> LocalRun<'a> {
    fn new(request: &'a Request<'a>, watcher: &'a dyn Watcher) -> Result<Self> {
        let rules = match Rules::read(request.rules) {
            Ok(rules) => rules,
            Err(reason) => bail!("{reason}"),
        };
        let place = experiment::private_folder(request.root)?;
        experiment::prepare(&request.results)?;
        let (sender, receiver) = channel();
        process::stops(sender.clone(), Event::Stop)?;
        process::adopt_orphans();
        let cluster = Cluster { name: "local".to_owned(), engine: request.engine.name().to_owned(), version: None };
        let redactor = Arc::new(redactor(&request.compiled.benchmark, &request.secrets, &request.base));
        fault::redact_by(&redactor);
        Ok(Self {
            request,
            watcher,
            rules,
            redactor,
            place,
            cluster,
            software: images::software(request)?,
            images: BTreeMap::new(),
            node: machine::describe(request.name),
            events: (sender, receiver),
            stop: None,
            reserve: None,
            has_started: false,
            logs: Vec::new(),
        })
    }

    /// Returns the folder for results that cannot be written where they belong.
    fn refuge(&self) -> PathBuf {
        self.place.join("results")
    }

    /// Sees that there is space for the result of the run that comes, where the disk has it.
    fn hold_reserve(&mut self) {
        if self.reserve.is_some() {
            return;
        }
        match Reserve::hold(&self.refuge()) {
            Ok(reserve) => self.reserve = Some(reserve),
            Err(error) => {
                let place = self.place.display();
                self.watcher.tell(&format!("note: cannot reserve space in {place} for the result: {error}"));
            }
        }
    }

    /// Handles a request to stop that came while no process ran.
    fn hear(&mut self) {
        let events = self.events.1.try_iter();
        let mut stops = events.filter_map(|event| if let Event::Stop(stop) = event { Some(stop) } else { None });
        self.stop = self.stop.or_else(|| stops.next());
    }

    /// Returns folders for something that runs now, under a name that nothing else has.
    fn new_folders(&self) -> Result<Folders> {
        self.folders(&machine::random_id()?)
    }

    fn folders(&self, id: &str) -> Result<Folders> {
        let text = |path: PathBuf| match path.into_os_string().into_string() {
            Ok(path) => Ok(path),
            Err(path) => bail!("{} is not UTF-8, but environment variables must be", path.display()),
        };
        let short: String = id.chars().take(8).collect();
        Ok(Folders::new(
            text(self.place.join("experiments"))?,
            format!("{}-{short}", self.request.compiled.benchmark.name),
            text(self.place.join("data"))?,
        ))
    }

    /// Returns the fingerprint of this environment.
    fn fingerprint(&self) -> String {
        fingerprint::fingerprint(&self.cluster, std::slice::from_ref(&self.node)).to_string()
    }
}

impl Hurry for LocalRun<'_> {
    fn was_wanted(&mut self) -> bool {
        // What came until now was meant for the processes.
        self.hear();
        self.stop.is_some()
    }

    fn comes(&mut self) -> bool {
        let events = self.events.1.try_iter();
        let Some(stop) =
            events.filter_map(|event| if let Event::Stop(stop) = event { Some(stop) } else { None }).last()
        else {
            return false;
        };
        self.stop = self.stop.or(Some(stop));
        self.watcher.tell(&format!("{}: writing the result without the missing digests", stop.name()));
        true
    }

    fn tell(&self, text: &str) {
        self.watcher.tell(text);
    }
}

/// Returns what takes the secrets of a benchmark out of texts: those that were handed in, and the values of variables whose
/// names say that they hold some.
pub fn redactor(benchmark: &Benchmark, secrets: &Secrets, base: &BTreeMap<String, String>) -> Redactor {
    let of_spec = benchmark.roles().flat_map(|role| &role.env).filter_map(|(name, (value, _))| match value {
        Env::Text(text) => Some((name, text)),
        _ => None,
    });
    let suspects = of_spec.chain(base).filter(|(name, _)| redact::names_a_secret(name));
    Redactor::new(secrets.values()).suspecting(suspects.map(|(_, value)| value.as_str()))
}

#[cfg(test)]
mod tests;
