//! `kubebench step record`: the results on the volume become part of git.
//!
//! Jobs may write to some volumes, so nothing there is trusted: no link is followed, a result must be whole, of this benchmark (on the
//! volume of a suite, of the one whose run the folder is called after) and of the run list of its Workflow, and a marker counts only for
//! the very bytes that it names. What is not recorded has no marker and stays, and the next Workflow of the benchmark records it.

mod admission;
mod commits;
mod signing;

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value as Json, json};

use super::Environment;
use super::volume_state::{self, RESULT};
use crate::collect::addition;
use admission::Admission;
use kubebench_contract::instance;
use kubebench_contract::{ResultsSettings, Settings};
use kubebench_format::result::{self, Sealed};
use kubebench_git::record::{Addition, Conflict, Kind, Mode, NotRecorded, Recorded, Signing, place};
use kubebench_git::{self as git, Destination};
use kubebench_host::experiment::{RunFolder, run_folders};
use kubebench_host::fault::{InternalFault, caught};
use kubebench_host::fs;
use kubebench_host::terminal;
use kubebench_syntax::digest::Digest;
use kubebench_syntax::invariant::Invariant as _;

/// How long to keep trying: nothing waits for the step, and what it does not record waits for another Workflow.
pub const DEADLINE: Duration = Duration::from_mins(30);
/// What says that it is recorded.
const MARKER: &str = "recorded.json";
/// A marker is never larger.
const MARKER_BYTES: usize = 16 << 10;
/// The limits of what is in memory at once, and in one commit.
const BATCH_BYTES: usize = 64 << 20;
const BATCH: usize = 250;

/// A result that is not recorded yet.
struct Waiting {
    run: RunFolder,
    digest: Digest,
    sealed: Sealed,
    addition: Addition,
}

/// What the step has done so far, and why it cannot report that all is recorded.
#[derive(Default)]
struct Tally {
    /// How many results were not recorded before.
    found: usize,
    /// How many of them are now.
    recorded: usize,
    faults: Option<Kind>,
}

impl Tally {
    fn fault(&mut self, kind: Kind, words: &str) {
        terminal::tell(&format!("error: {words}"));
        // That it makes sense to try again is what counts where both are so.
        if self.faults != Some(Kind::TryAgain) {
            self.faults = Some(kind);
        }
    }
}

/// Whose results lie on the volume.
enum Owner<'e> {
    /// Those of this benchmark.
    Benchmark(&'e str),
    /// Those of the benchmarks that this suite has, or once had.
    Suite(&'e str),
}

impl<'e> Owner<'e> {
    fn of(environment: &'e Environment) -> Result<Self> {
        match environment.suite() {
            Some(suite) => Ok(Self::Suite(suite)),
            None => environment.benchmark().map(Self::Benchmark),
        }
    }

    /// Returns the benchmark whose run the folder called `name` is of, if it is of one.
    fn benchmark_of<'n>(&self, name: &'n str) -> Option<&'n str> {
        instance::benchmark_of(name).filter(|benchmark| match self {
            Self::Benchmark(own) => benchmark == own,
            Self::Suite(_) => true,
        })
    }

    fn name(&self) -> &'e str {
        match self {
            Self::Benchmark(name) | Self::Suite(name) => name,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Benchmark(_) => "benchmark",
            Self::Suite(_) => "suite",
        }
    }

    fn again(&self) -> &'static str {
        match self {
            Self::Benchmark(_) => "the next Workflow of the benchmark records it",
            Self::Suite(_) => "the next Workflow of the suite records it",
        }
    }
}

/// Records what is not recorded yet, and retries for as long as `deadline`; returns why something could not be, if something
/// could not.
///
/// # Errors
/// When the step has no inputs, or cannot read the volume.
pub fn run(environment: &Environment, deadline: Duration) -> Result<Option<Kind>> {
    let owner = Owner::of(environment)?;
    let experiments = environment.experiments()?;
    let text = fs::read_text(&environment.settings()?.join("settings.json"))?;
    let settings = Settings::read(&text).map_err(anyhow::Error::msg)?.results;
    let names = run_folders(experiments, |name| owner.benchmark_of(name).is_some())
        .with_context(|| format!("cannot read the volume at {}", experiments.display()))?;
    let destination = signing::key(environment).and_then(|key| {
        Ok(destination(environment, &settings, &owner, deadline)?.map(|destination| (destination, key)))
    });
    let mut admission = Admission::of(environment);
    let mut tally = Tally::default();
    let mut waiting = Vec::new();
    let mut reached = destination.as_ref().is_ok_and(Option::is_some);
    for name in names {
        let benchmark = owner.benchmark_of(&name).expected("the folder of a run");
        let found = RunFolder::open(experiments, &name).map_err(|error| Unusable::Unreadable(error.to_string()));
        let looked = caught(|| found.and_then(|run| unrecorded(run, benchmark, &settings, &mut admission)));
        match looked.unwrap_or_else(|fault| Err(Unusable::Fault(fault))) {
            Ok(None) => {}
            Ok(Some(result)) => {
                tally.found += 1;
                if reached {
                    waiting.push(result);
                }
            }
            Err(unusable) => {
                let shown = experiments.join(&name).join(RESULT);
                tally.fault(unusable.kind(), &format!("{}: {unusable}", shown.display()));
            }
        }
        if let Ok(Some((destination, key))) = &destination
            && is_full(&waiting)
        {
            commits::name(&mut waiting, destination, &settings);
            signing::sign(&mut waiting, &settings, key.as_ref());
            reached = record(&waiting, destination, &mut tally, &git::record);
            waiting.clear();
        }
    }
    match &destination {
        Ok(Some((destination, key))) => {
            commits::name(&mut waiting, destination, &settings);
            signing::sign(&mut waiting, &settings, key.as_ref());
            record(&waiting, destination, &mut tally, &git::record);
        }
        Ok(None) => tell_kept(&owner, tally.found),
        Err(fault) => tell_failure(fault, &mut tally),
    }
    if !matches!(destination, Ok(None)) {
        tell_left(&owner, &tally);
    }
    Ok(tally.faults)
}

/// Returns where results go: nowhere in mode `local`.
fn destination(
    environment: &Environment,
    settings: &ResultsSettings,
    owner: &Owner<'_>,
    deadline: Duration,
) -> Result<Option<Destination>, NotRecorded> {
    let Some(mode) = Mode::parse(&settings.mode) else {
        return Err(NotRecorded::refused(format!("unknown recording mode `{}`", settings.mode))
            .help("use the step image of the Kubebench version that compiled the tree"));
    };
    if mode == Mode::Local {
        return Ok(None);
    }
    let remote = settings.remote.clone().filter(|remote| place::is_address(remote)).ok_or_else(|| {
        let named = settings.remote.as_ref().map_or_else(
            || "`results.remote` does not name the repository for results".to_owned(),
            |name| format!("the remote `{name}` is a name in a checkout, but a step has no checkout"),
        );
        NotRecorded::refused(named).help(
            "set `results.remote` in `kubebench.yaml` to an address such as `https://git.example/team/benchmarks.git`, \
             compile and commit",
        )
    })?;
    Ok(Some(Destination {
        mode,
        // A step has no checkout, and what is on the volume may be anybody's.
        folder: "/".into(),
        remote,
        branch: settings.branch.clone(),
        inbox: settings.inbox.clone(),
        deadline,
        credential: environment.credential(),
        authorities: environment.authorities(),
        host_keys: git::HostKeys::of(settings.ssh_host_keys.as_deref()),
        signing: Signing::Never,
        cache: git::cache_place(),
        program: "git".into(),
        again: owner.again(),
        tell: terminal::tell,
    }))
}

/// Why a result on the volume is not recorded.
enum Unusable {
    /// It cannot be read.
    Unreadable(String),
    /// It was read, and is not a result.
    Refused(String),
    /// A bug of this program ended its evaluation.
    Fault(InternalFault),
}

impl Unusable {
    fn kind(&self) -> Kind {
        match self {
            Self::Unreadable(_) | Self::Fault(_) => Kind::TryAgain,
            Self::Refused(_) => Kind::Refused,
        }
    }
}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unreadable(words) => write!(f, "it cannot be read: {words}"),
            Self::Refused(words) => f.write_str(words),
            Self::Fault(fault) => write!(f, "a bug in kubebench interrupted recording it: {fault}"),
        }
    }
}

/// Returns the result of `run` unless there is none, or it is recorded.
fn unrecorded(
    run: RunFolder,
    benchmark: &str,
    settings: &ResultsSettings,
    admission: &mut Admission<'_>,
) -> Result<Option<Waiting>, Unusable> {
    let unreadable = |error: std::io::Error| Unusable::Unreadable(error.to_string());
    let Some(bytes) = run.read(RESULT, result::MAX_BYTES).map_err(unreadable)? else { return Ok(None) };
    let digest = Digest::of(&bytes);
    if is_marked(&run, &digest) {
        return Ok(None);
    }
    let job = run.place().file_name().expected("the name of a folder").to_string_lossy().into_owned();
    let sealed = volume_state::judge(&bytes, benchmark, &job).map_err(Unusable::Refused)?;
    admission.admit(&run, &sealed, benchmark)?;
    let addition = addition(&sealed, &run.place().join(RESULT), &settings.directory);
    Ok(Some(Waiting { run, digest, sealed, addition }))
}

/// Returns true when a marker says that the file with `digest` is recorded. A job cannot have written it before there was the
/// result, for it does not know the digest.
fn is_marked(run: &RunFolder, digest: &Digest) -> bool {
    let marker = run.read(MARKER, MARKER_BYTES).ok().flatten();
    let marker: Option<Json> = marker.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    marker.is_some_and(|marker| marker.get("digest").and_then(Json::as_str) == Some(digest.to_string().as_str()))
}

/// How additions are recorded.
type Add = dyn Fn(&[Addition], &Destination) -> Result<Recorded, NotRecorded>;

/// Records a batch; returns false when it makes no sense to continue with another.
fn record(waiting: &[Waiting], destination: &Destination, tally: &mut Tally, add: &Add) -> bool {
    if waiting.is_empty() {
        return true;
    }
    let additions: Vec<Addition> = waiting.iter().map(|waiting| waiting.addition.clone()).collect();
    let recorded = match caught(|| add(&additions, destination)) {
        Ok(Ok(recorded)) => recorded,
        Ok(Err(fault)) => {
            tell_failure(&fault, tally);
            return false;
        }
        // One of them breaks it, and the others are recorded.
        Err(_) if waiting.len() > 1 => return waiting.chunks(1).all(|one| record(one, destination, tally, add)),
        Err(fault) => {
            let [broken, ..] = waiting else { return true };
            let fault = Unusable::Fault(fault);
            tally.fault(fault.kind(), &format!("{}: {fault}", broken.run.place().join(RESULT).display()));
            return true;
        }
    };
    for conflict in &recorded.conflicts {
        tally.fault(Kind::Refused, &format!("{conflict}\n  {}", Conflict::HELP));
    }
    for path in &recorded.added {
        terminal::tell(&format!("recorded {path}"));
    }
    let commit = recorded.commit.as_ref().map_or_else(String::new, |commit| format!(", commit {commit}"));
    terminal::tell(&format!("{}{commit}", recorded.summary(&destination.branch)));
    let there: BTreeSet<&String> = recorded.added.iter().chain(&recorded.already).collect();
    for Waiting { run, digest, addition, .. } in waiting {
        let is_refused = |conflict: &Conflict| conflict.path == addition.path && conflict.ours == *digest;
        if !there.contains(&addition.path) || recorded.conflicts.iter().any(is_refused) {
            continue;
        }
        tally.recorded += 1;
        if let Err(error) = run.put(MARKER, &marker(&recorded, destination, digest, addition)) {
            // It is recorded, and the next step finds it there.
            let place = run.place().display();
            terminal::tell(&format!(
                "note: cannot mark {place} as recorded, so the next step checks it again: {error}"
            ));
        }
    }
    true
}

/// Returns what is kept next to a result that is recorded.
fn marker(recorded: &Recorded, destination: &Destination, digest: &Digest, addition: &Addition) -> Vec<u8> {
    let is_new = recorded.added.contains(&addition.path);
    result::canonical(&json!({
        "schemaVersion": 1,
        "digest": digest.to_string(),
        "mode": destination.mode.name(),
        "place": recorded.place,
        "path": addition.path,
        "commit": recorded.commit.as_ref().filter(|_| is_new),
    }))
}

fn is_full(waiting: &[Waiting]) -> bool {
    let bytes: usize = waiting.iter().map(|waiting| waiting.addition.bytes.len()).sum();
    waiting.len() >= BATCH || bytes >= BATCH_BYTES
}

fn tell_failure(fault: &NotRecorded, tally: &mut Tally) {
    let help = fault.help.as_ref().map_or_else(String::new, |help| format!("\n  {help}"));
    tally.fault(fault.kind, &format!("{fault}{help}"));
}

/// Says where results stay that are not pushed.
fn tell_kept(owner: &Owner<'_>, count: usize) {
    let results = if count == 1 { "1 result stays" } else { &format!("{count} results stay") };
    terminal::tell(&format!(
        "`results.mode` is `local`, so nothing is pushed: {results} on the volume of the claim `{}-results`, each at \
         <run>/{RESULT}; https://github.com/kubebench/kubebench/blob/main/docs/how-to/record-results.md says how to fetch them",
        owner.name()
    ));
}

/// Says what is not recorded, or that there was nothing to do.
fn tell_left(owner: &Owner<'_>, tally: &Tally) {
    let left = tally.found - tally.recorded;
    match left {
        1.. => {
            let results = if left == 1 { "1 result that is" } else { &format!("{left} results that are") };
            terminal::tell(&format!(
                "the volume of the claim `{}-results` holds {results} not recorded; once the cause is fixed, the next \
                 Workflow of the {} records what is left",
                owner.name(),
                owner.kind()
            ));
        }
        0 if tally.found == 0 && tally.faults.is_none() => terminal::tell("all results are already recorded"),
        0 => {}
    }
}

#[cfg(test)]
mod tests;
