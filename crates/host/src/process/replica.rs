//! One replica as the run sees it: started under its supervisor, its output read as it comes, stopped, waited for.

use std::collections::BTreeMap;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::container;
use super::foreign::Foreign;
use super::supervise::Report;
use super::tree;
use super::usage::Usage;
use crate::fault::{InternalFault, caught};
use kubebench_syntax::invariant::Invariant as _;

/// How long output that still comes is read after the last process ended.
const DRAIN: Duration = Duration::from_secs(2);

/// What to start.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The program and its arguments.
    pub argv: &'a [String],
    /// All of its environment.
    pub env: &'a BTreeMap<String, String>,
    /// Its working directory.
    pub directory: &'a Path,
    /// The engine and the name of the container that the program is the client of.
    pub container: Option<(&'static str, &'a str)>,
}

/// A container that must be gone in the end.
#[derive(Debug)]
struct Contained {
    engine: &'static str,
    name: String,
    env: BTreeMap<String, String>,
}

/// A replica that runs.
#[derive(Debug)]
pub struct Replica<T> {
    supervisor: Child,
    /// Its standard input: closed when this process ends, however it ends, and the supervisor waits for that. At its end
    /// the supervisor says here how it went, which needs no disk.
    socket: UnixStream,
    container: Option<Contained>,
    output: Arc<Mutex<Output<T>>>,
}

/// What became of the output of a replica.
#[derive(Debug)]
pub struct Output<T> {
    /// What took it; none when it was taken before.
    pub sink: Option<T>,
    /// The internal fault that ended its processing.
    pub fault: Option<InternalFault>,
}

fn locked<T>(output: &Mutex<Output<T>>) -> MutexGuard<'_, Output<T>> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads all of a replica's output, whatever becomes of it: a program whose output is not read waits forever.
fn pump<T>(mut reader: impl Read, output: &Mutex<Output<T>>, take: fn(&mut T, &[u8])) {
    let mut buffer = vec![0; 256 << 10];
    while let Ok(count) = reader.read(&mut buffer) {
        let mut output = locked(output);
        let Output { sink: Some(sink), fault } = &mut *output else { break };
        match buffer.get(..count) {
            None | Some([]) => break,
            Some(_) if fault.is_some() => {}
            Some(bytes) => *fault = caught(|| take(sink, bytes)).err(),
        }
    }
}

/// How a replica ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// Why it could not be started.
    pub error: Option<String>,
    /// The exit code.
    pub code: Option<i32>,
    /// The signal that ended it, such as `SIGKILL`.
    pub signal: Option<String>,
    /// Whether it ended before it was asked to.
    pub by_itself: bool,
    /// How long the program itself ran; none when its supervisor was killed.
    pub seconds: Option<f64>,
    /// What it used; none when its supervisor was killed.
    pub usage: Option<Usage>,
}

impl From<Report> for Ended {
    fn from(report: Report) -> Self {
        let Report { error, code, signal, by_itself, seconds, usage } = report;
        Self { error, code, signal, by_itself, seconds: Some(seconds), usage: Some(usage) }
    }
}

/// Says how a replica ended whose supervisor was ended first, and with it, at the latest by now, the replica.
fn lost(status: Option<ExitStatus>) -> Ended {
    let signal = status.and_then(|status| Signal::try_from(status.signal()?).ok());
    let error = signal.is_none().then(|| "its supervisor failed".to_owned());
    let signal = signal.map(|signal| signal.as_str().to_owned());
    Ended { error, code: None, signal, by_itself: false, seconds: None, usage: None }
}

impl Ended {
    /// Returns true when the supervisor was ended before it could say how it went.
    pub fn is_lost(&self) -> bool {
        self.seconds.is_none()
    }

    /// Returns false when the program could not be started.
    pub fn was_started(&self) -> bool {
        self.error.is_none() || self.is_lost()
    }

    /// Returns true when the program ended by itself with 0.
    pub fn is_success(&self) -> bool {
        self.code == Some(0)
    }
}

impl<T: Send + 'static> Replica<T> {
    /// Starts a replica. `take` gets its output as it comes, with `sink`; `ended` is called when all of it has ended.
    pub fn start(
        start: Start<'_>,
        sink: T,
        take: fn(&mut T, &[u8]),
        ended: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let myself = std::env::current_exe().context("cannot determine the path of this program")?;
        let (reader, writer) = std::io::pipe().context("cannot create a pipe")?;
        let errors = writer.try_clone().context("cannot create a pipe")?;
        let (socket, theirs) = UnixStream::pair().context("cannot create a pair of sockets")?;
        let of_container =
            start.container.map_or_else(Vec::new, |(engine, name)| vec!["--engine", engine, "--container", name]);
        let supervisor = Command::new(myself)
            .arg("supervise")
            .args(of_container)
            .arg("--")
            .args(start.argv)
            .env_clear()
            .envs(start.env)
            .current_dir(start.directory)
            .stdin(OwnedFd::from(theirs))
            .stdout(writer)
            .stderr(errors)
            .process_group(0)
            .spawn()
            .context("cannot start a supervisor")?;
        let output = Arc::new(Mutex::new(Output { sink: Some(sink), fault: None }));
        let shared = Arc::clone(&output);
        std::thread::spawn(move || {
            pump(reader, &shared, take);
            ended();
        });
        let container =
            start.container.map(|(engine, name)| Contained { engine, name: name.to_owned(), env: start.env.clone() });
        Ok(Self { supervisor, socket, container, output })
    }

    /// Returns the supervisor's process id.
    pub fn pid(&self) -> i32 {
        i32::try_from(self.supervisor.id()).expected("a process id")
    }

    /// Looks at the sink while output comes.
    pub fn look<R>(&self, look: impl FnOnce(&mut T) -> R) -> Option<R> {
        locked(&self.output).sink.as_mut().map(look)
    }

    /// Asks all processes to end; their supervisor kills them after ten seconds.
    pub fn stop(&self) {
        let _ = kill(Pid::from_raw(self.pid()), Signal::SIGTERM);
    }

    /// Kills all processes at once.
    pub fn kill(&self) {
        tree::kill_tree(self.pid());
    }

    /// Returns true when the supervisor has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.supervisor.try_wait(), Ok(None))
    }

    /// Waits for the end, and returns how it was and what the output became.
    pub fn finish(mut self) -> (Ended, Output<T>) {
        let status = self.supervisor.wait().ok();
        // A process that escaped its supervisor may hold the output; the run does not wait for it.
        let started = Instant::now();
        while Arc::strong_count(&self.output) > 1 && started.elapsed() < DRAIN {
            std::thread::sleep(Duration::from_millis(1));
        }
        let output = {
            let mut output = locked(&self.output);
            Output { sink: output.sink.take(), fault: output.fault.take() }
        };
        let mut text = Vec::new();
        let _ = self.socket.set_read_timeout(Some(DRAIN));
        let _ = self.socket.read_to_end(&mut text);
        let report = serde_json::from_slice::<Report>(&text).ok();
        // A supervisor that was killed could not remove it.
        if let (None, Some(Contained { engine, name, env })) = (&report, &self.container) {
            container::remove(engine, name, env);
        }
        let ended = report.map_or_else(|| lost(status), Ended::from);
        (ended, output)
    }
}

/// Ends what this process adopted when a supervisor was killed, but for what is not of the run.
pub fn end_orphans(foreign: &Foreign) {
    tree::end_descendants(&foreign.ids(), Duration::ZERO);
}

/// Makes this process the parent of orphans, so that [`end_orphans`] finds them.
pub fn adopt_orphans() {
    tree::adopt_orphans();
}

/// Returns why `program` cannot be started with this `PATH` from `directory`; nothing when it can.
pub fn find_program(program: &str, path: &str, directory: &Path) -> Option<String> {
    if program.contains('/') {
        return judge(program, &directory.join(program));
    }
    let mut problem = None;
    for folder in path.split(':').filter(|folder| !folder.is_empty()) {
        let candidate = Path::new(folder).join(program);
        match judge(program, &candidate) {
            None => return None,
            Some(reason) if candidate.exists() => problem = problem.or(Some(reason)),
            Some(_) => {}
        }
    }
    // The folders are not named: reasons are recorded, and folders reveal who ran this.
    let place = if path.is_empty() { "PATH, which is empty" } else { "PATH" };
    problem.or_else(|| Some(format!("there is no program `{program}` in {place}")))
}

fn judge(program: &str, path: &Path) -> Option<String> {
    match path.metadata() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(format!("there is no file `{program}`")),
        Err(error) => Some(format!("`{program}` cannot be read: {error}")),
        Ok(found) if found.is_dir() => Some(format!("`{program}` is a folder")),
        Ok(found) if found.permissions().mode() & 0o111 == 0 => {
            Some(format!("`{program}` is not executable: run `chmod +x`, or name the interpreter first, such as `sh`"))
        }
        Ok(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, repeat};
    use std::sync::Mutex;

    use super::{Output, pump};

    #[test]
    fn output_is_read_to_its_end_after_a_fault_in_taking_it() {
        let mut left = repeat(7).take(1 << 20);
        let output = Mutex::new(Output { sink: Some(0), fault: None });
        let take = |taken: &mut usize, bytes: &[u8]| {
            assert_eq!(*taken, 0, "a fault of the second piece");
            *taken += bytes.len();
        };
        pump(&mut left, &output, take);
        let Output { sink, fault } = output.into_inner().unwrap();
        assert_eq!((left.limit(), sink), (0, Some(256 << 10)));
        assert!(fault.unwrap().to_string().contains("a fault of the second piece"));
    }
}
