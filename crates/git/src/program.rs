//! The `git` program: it fetches and pushes, because it knows the credentials, proxies and keys that people have set up.
//!
//! What it is given is the same everywhere: no terminal to ask on, English, none of the variables that hooks leave behind, no
//! hook, no helper but those of known protocols, and never longer than it is allowed.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::Tell;
use crate::record::redact::Redactor;
use crate::record::{NotRecorded, answer::Trouble};
use kubebench_syntax::invariant::Invariant as _;

/// The oldest git that does all that is asked of it: 2.34 is the first that signs with SSH keys.
const FLOOR: (u32, u32) = (2, 34);
/// What git may reach. `ext` and `fd`, and helpers of any other name, would run programs that an address names.
const PROTOCOLS: [&str; 5] = ["file", "git", "http", "https", "ssh"];
/// What of git's words is kept.
const WORDS: usize = 64 << 10;
/// After how long it is reported what git is waiting for, and how often: longer than HTTP is silent before it counts as broken,
/// which is reported then.
const PATIENCE: Duration = Duration::from_secs(35);
/// How long words may keep coming after git has ended: an ssh connection that is shared stays, and holds standard error.
const GRACE: Duration = Duration::from_secs(1);

/// Variables that would turn git to another repository, show secrets, or let an editor or a prompt open.
const SCRUBBED: [&str; 27] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_PARAMETERS",
    "GIT_CURL_VERBOSE",
    "GIT_DEFAULT_HASH",
    "GIT_DIR",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_PUSH_OPTION_COUNT",
    "GIT_QUARANTINE_PATH",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
    "LANGUAGE",
];
/// How more of them begin: traces, and secrets of benchmarks, which are no business of git, its helpers and its hooks.
const SCRUBBED_PREFIXES: [&str; 2] = ["GIT_TRACE", "KUBEBENCH_SECRET_"];

/// The git program with all that its calls have in common.
#[derive(Clone)]
pub(super) struct Git {
    program: PathBuf,
    environment: Vec<(OsString, Option<OsString>)>,
    settings: Vec<(String, String)>,
    folder: PathBuf,
    redactor: Redactor,
    /// What is asked, and who is notified when it takes long.
    watcher: Option<(String, Tell)>,
}

/// What one call of git gave.
#[derive(Debug)]
pub(super) struct Answer {
    /// Whether it exited with 0.
    pub(super) succeeded: bool,
    /// The exit status, unless a signal ended it.
    pub(super) code: Option<i32>,
    /// Its standard output.
    pub(super) output: Vec<u8>,
    /// Its standard error, without secrets.
    pub(super) words: String,
    /// Whether it was killed because its time was over.
    pub(super) timed_out: bool,
}

impl Answer {
    /// Returns standard output as text without its last line end.
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.output).trim_end_matches('\n').to_owned()
    }
}

impl Git {
    /// Finds `program` and its version; calls start in `folder`.
    pub(super) fn find(program: &Path, folder: &Path) -> Result<Self, NotRecorded> {
        let set = |name: &str, value: &str| (OsString::from(name), Some(OsString::from(value)));
        let mut environment: Vec<_> = SCRUBBED.iter().map(|name| (OsString::from(name), None)).collect();
        let inherited = std::env::vars_os().map(|(name, _)| name);
        environment.extend(inherited.filter(|name| is_scrubbed(name)).map(|name| (name, None)));
        environment.extend([
            set("LC_ALL", "C"),
            set("GIT_TERMINAL_PROMPT", "0"),
            set("GIT_OPTIONAL_LOCKS", "0"),
            set("GIT_NO_REPLACE_OBJECTS", "1"),
            set("GIT_LITERAL_PATHSPECS", "1"),
            set("GIT_MERGE_AUTOEDIT", "no"),
            set("GIT_EDITOR", "true"),
            set("GIT_ALLOW_PROTOCOL", &protocols(|_| true)),
        ]);
        let git = Self {
            program: program.to_owned(),
            environment,
            settings: Vec::new(),
            folder: folder.to_owned(),
            redactor: Redactor::default(),
            watcher: None,
        }
        .with_setting("core.hooksPath", "/dev/null")
        .with_setting("core.fsmonitor", "false");
        let answer = git.call(&["version"], None, Duration::from_secs(20))?;
        let text = answer.text();
        match version(&text) {
            Some(version) if version >= FLOOR => Ok(git),
            Some((major, minor)) => Err(NotRecorded::try_again(format!(
                "this is git {major}.{minor}, but recording needs {}.{} or newer",
                FLOOR.0, FLOOR.1
            ))
            .help("install a newer git")),
            None => Err(NotRecorded::try_again(format!("`{}` does not answer like git", program.display()))),
        }
    }

    /// Returns the folder that calls start in.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The same, in another folder.
    pub(super) fn at(&self, folder: &Path) -> Self {
        Self { folder: folder.to_owned(), ..self.clone() }
    }

    /// The same, with a setting that counts more than any of the user's. It is not passed as an argument, because those are seen
    /// by everybody on the machine.
    pub(super) fn with_setting(mut self, key: &str, value: &str) -> Self {
        self.settings.push((key.to_owned(), value.to_owned()));
        self
    }

    /// The same, with a variable of the environment.
    pub(super) fn with_variable(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.environment.push((name.into(), Some(value.as_ref().to_owned())));
        self
    }

    /// The same, reaching only those of our protocols that are also allowed by `allows`.
    pub(super) fn allowing(self, allows: impl Fn(&str) -> bool) -> Self {
        self.with_variable("GIT_ALLOW_PROTOCOL", protocols(allows))
    }

    /// The same, without a variable of the environment.
    pub(super) fn without_variable(mut self, name: &str) -> Self {
        self.environment.push((name.into(), None));
        self
    }

    /// The same, which reports by `tell` when it takes long to get an answer from `remote`.
    pub(super) fn telling(self, remote: &str, tell: Tell) -> Self {
        Self { watcher: Some((remote.to_owned(), tell)), ..self }
    }

    /// The same, hiding secrets that are known.
    pub(super) fn hiding(self, redactor: Redactor) -> Self {
        Self { redactor, ..self }
    }

    /// Returns what `--porcelain` printed, without secrets but with the tabs between its fields.
    pub(super) fn porcelain(&self, answer: &Answer) -> String {
        let lines = String::from_utf8_lossy(&answer.output);
        let fields =
            |line: &str| line.split('\t').map(|field| self.redactor.clean(field)).collect::<Vec<_>>().join("\t");
        lines.lines().map(fields).collect::<Vec<_>>().join("\n")
    }

    /// Runs git, killing it and all it started when `limit` has passed.
    pub(super) fn call(
        &self,
        arguments: &[&str],
        input: Option<Vec<u8>>,
        limit: Duration,
    ) -> Result<Answer, NotRecorded> {
        self.run(arguments, input, limit).map_err(|error| {
            let fault = match error.kind() {
                io::ErrorKind::NotFound => format!("there is no program `{}`", self.program.display()),
                _ => format!("cannot run `{}`: {}", self.program.display(), kubebench_host::fs::words(&error)),
            };
            let (major, minor) = FLOOR;
            NotRecorded::try_again(fault).help(format!("install git {major}.{minor} or newer in PATH"))
        })
    }

    /// Runs git for an answer that it gives at once unless something is wrong with the repository.
    pub(super) fn ask(&self, arguments: &[&str]) -> Result<Answer, NotRecorded> {
        self.call(arguments, None, Duration::from_mins(1))
    }

    fn run(&self, arguments: &[&str], input: Option<Vec<u8>>, limit: Duration) -> io::Result<Answer> {
        let started = Instant::now();
        let (until, mut next) = (started + limit, started + PATIENCE);
        let mut child = self.command(arguments, input.is_some()).spawn()?;
        let group = child.id();
        let (sender, receiver) = mpsc::channel();
        if let (Some(mut stdin), Some(bytes)) = (child.stdin.take(), input) {
            // A git that does not read to the end says why on standard error.
            thread::spawn(move || drop(stdin.write_all(&bytes)));
        }
        if let Some(stdout) = child.stdout.take() {
            listen(stdout, sender.clone(), Heard::Output, Some(Heard::OutputEnd));
        }
        if let Some(stderr) = child.stderr.take() {
            listen(stderr, sender.clone(), Heard::Words, None);
        }
        wait(child, sender);
        let mut answer =
            Answer { succeeded: false, code: None, output: Vec::new(), words: String::new(), timed_out: false };
        let (mut words, mut status, mut until) = (Vec::new(), None, until);
        // Standard output is heard to its end, however long that takes on a busy machine: half of it would be another answer.
        let mut is_complete = false;
        loop {
            match receiver.recv_timeout(until.min(next).saturating_duration_since(Instant::now())) {
                Ok(Heard::Output(bytes)) => answer.output.extend(bytes),
                Ok(Heard::Words(bytes)) if words.len() < WORDS => words.extend(bytes),
                Ok(Heard::Words(_)) => {}
                Ok(Heard::OutputEnd) => is_complete = true,
                Ok(Heard::Ended(ended)) => status = Some(ended?),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if next < until => {
                    next += PATIENCE;
                    self.tell_wait(arguments, started.elapsed());
                }
                Err(RecvTimeoutError::Timeout) if status.is_some() && (is_complete || answer.timed_out) => break,
                Err(RecvTimeoutError::Timeout) => {
                    kill_group(group);
                    answer.timed_out = true;
                    until = Instant::now() + Duration::from_secs(5);
                    status = status.or(Some(ExitStatus::default()));
                }
            }
            if status.is_some() && is_complete && !answer.timed_out {
                until = until.min(Instant::now() + GRACE);
            }
        }
        // One whose end was not seen has not succeeded.
        let status = status.filter(|_| !answer.timed_out);
        answer.succeeded = status.is_some_and(|status| status.success());
        answer.code = status.and_then(|status| status.code());
        answer.words = self.redactor.clean(&String::from_utf8_lossy(&words));
        if answer.timed_out {
            answer.words = format!("no answer within {} s\n{}", limit.as_secs_f64().ceil(), answer.words);
        }
        Ok(answer)
    }

    fn tell_wait(&self, arguments: &[&str], waited: Duration) {
        if let (Some((remote, tell)), Some(command)) = (&self.watcher, arguments.first()) {
            tell(&format!("still waiting for `git {command}` after {} s: {remote} has not answered", waited.as_secs()));
        }
    }

    fn command(&self, arguments: &[&str], has_input: bool) -> Command {
        let mut command = Command::new(&self.program);
        command.arg("--no-pager").args(arguments).current_dir(&self.folder);
        command.stdin(if has_input { Stdio::piped() } else { Stdio::null() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, value) in &self.environment {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        // Settings that the user's environment brings come first: later ones count more.
        let brought = std::env::var("GIT_CONFIG_COUNT").ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(0);
        for (index, (key, value)) in self.settings.iter().enumerate() {
            command.env(format!("GIT_CONFIG_KEY_{}", brought + index), key);
            command.env(format!("GIT_CONFIG_VALUE_{}", brought + index), value);
        }
        command.env("GIT_CONFIG_COUNT", (brought + self.settings.len()).to_string());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        command
    }
}

/// Returns why a call failed, as trouble of the transport.
pub(super) fn trouble_of(answer: &Answer) -> Trouble {
    if answer.timed_out {
        return Trouble::Passing(answer.words.lines().next().unwrap_or_default().to_owned());
    }
    crate::record::answer::trouble(&answer.words)
}

/// What a call receives while it waits.
enum Heard {
    Output(Vec<u8>),
    OutputEnd,
    Words(Vec<u8>),
    Ended(io::Result<ExitStatus>),
}

fn listen(
    mut stream: impl Read + Send + 'static,
    sender: Sender<Heard>,
    heard: fn(Vec<u8>) -> Heard,
    end: Option<Heard>,
) {
    thread::spawn(move || {
        let mut buffer = vec![0; 64 << 10];
        loop {
            match stream.read(&mut buffer) {
                Ok(length @ 1..)
                    if sender
                        .send(heard(buffer.get(..length).expected("at most a buffer of bytes").to_vec()))
                        .is_ok() => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        drop(end.map(|end| sender.send(end)));
    });
}

fn wait(mut child: Child, sender: Sender<Heard>) {
    thread::spawn(move || drop(sender.send(Heard::Ended(child.wait()))));
}

/// Ends git and what it started: `git-remote-https`, `ssh`, a credential helper.
fn kill_group(group: u32) {
    if let Ok(group) = i32::try_from(group) {
        let _ = nix::sys::signal::killpg(nix::unistd::Pid::from_raw(group), nix::sys::signal::Signal::SIGKILL);
    }
}

fn is_scrubbed(name: &OsStr) -> bool {
    SCRUBBED_PREFIXES.iter().any(|prefix| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
}

/// Returns the protocols that git may use: no others than ours, and no others than the user allows.
fn protocols(allows: impl Fn(&str) -> bool) -> String {
    let given = std::env::var("GIT_ALLOW_PROTOCOL").ok();
    // As in git, the variable takes the place of the configuration.
    let is_allowed =
        |name: &str| given.as_ref().map_or_else(|| allows(name), |given| given.split(':').any(|other| other == name));
    PROTOCOLS.into_iter().filter(|name| is_allowed(name)).collect::<Vec<_>>().join(":")
}

/// Reads `git version 2.39.5 (Apple Git-154)`.
fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.strip_prefix("git version ")?.split(['.', ' ']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}
