//! Recording against real repositories and real servers: what was said to be recorded is there, once, and nothing else moved.
#![cfg(unix)]

mod branch;
mod credentials;
mod crowds;
mod envelopes;
mod faults;
mod files;
mod fold;
mod hostile;
mod inbox;
mod kill;
mod local;
mod remotes;
mod server;
mod step;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use kubebench_git::record::{Addition, Folded, Mode, NotRecorded, Recorded, Signing};
use kubebench_git::{self as git, Destination};
use kubebench_testing::watchdog::WATCHDOG;
use serde_json::{Value, json};

/// A folder with a bare repository `remote.git`, a separate project next to it, and a cache.
pub(crate) struct Site {
    pub(crate) place: tempfile::TempDir,
}

impl Site {
    pub(crate) fn new() -> Self {
        let place = tempfile::tempdir().unwrap();
        let site = Self { place };
        run(site.path(), &["init", "--quiet", "--bare", "remote.git"]);
        // Servers of tests need not tidy up, nor survive a power cut.
        for (key, value) in [("http.receivepack", "true"), ("receive.autogc", "false"), ("core.fsync", "none")] {
            run(&site.remote(), &["config", key, value]);
        }
        std::fs::create_dir(site.path().join("project")).unwrap();
        site
    }

    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    pub(crate) fn remote(&self) -> PathBuf {
        self.path().join("remote.git")
    }

    pub(crate) fn destination(&self, mode: Mode) -> Destination {
        Destination {
            mode,
            folder: self.path().join("project"),
            remote: self.remote().display().to_string(),
            branch: "kubebench/results".to_owned(),
            inbox: "refs/kubebench/inbox".to_owned(),
            deadline: WATCHDOG,
            credential: None,
            authorities: None,
            host_keys: git::HostKeys::Known,
            signing: Signing::Never,
            cache: self.path().join("cache"),
            program: PathBuf::from("git"),
            again: "record it again with `kubebench record`",
            tell: |_| {},
        }
    }

    pub(crate) fn record(&self, mode: Mode, additions: &[Addition]) -> Result<Recorded, NotRecorded> {
        git::record(additions, &self.destination(mode))
    }

    pub(crate) fn fold(&self) -> Result<Folded, NotRecorded> {
        git::fold(&self.destination(Mode::Inbox), &judge)
    }

    /// Writes a hook of the server's.
    pub(crate) fn hook(&self, name: &str, script: &str) {
        hook(&self.remote(), name, script);
    }

    /// Every file of the results branch, by path.
    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        files(&self.remote(), "kubebench/results")
    }

    /// The refs of the remote below `prefix`.
    pub(crate) fn refs(&self, prefix: &str) -> Vec<String> {
        run(&self.remote(), &["for-each-ref", "--format=%(refname)", prefix]).lines().map(str::to_owned).collect()
    }

    /// Asserts that no scratch repository is left.
    pub(crate) fn assert_clean(&self) {
        let left: Vec<_> =
            std::fs::read_dir(self.path().join("cache")).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert_eq!(left, Vec::<PathBuf>::new());
    }
}

/// Makes an executable hook in the repository at `place`.
pub(crate) fn hook(place: &Path, name: &str, script: &str) {
    use std::os::unix::fs::PermissionsExt as _;
    let hooks = place.join("hooks");
    std::fs::create_dir_all(&hooks).unwrap();
    let file = hooks.join(name);
    // Written by another process: a file that is open for writing cannot be executed, and a fork of another thread may hold it.
    let mut child = Command::new("sh")
        .args(["-c", "cat > \"$1\"", "sh"])
        .arg(&file)
        .stdin(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), format!("#!/bin/sh\n{script}\n").as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

/// Every file of a branch, by path, with its content.
pub(crate) fn files(repository: &Path, branch: &str) -> BTreeMap<String, String> {
    let repository = git2::Repository::open(repository).unwrap();
    let Ok(reference) = repository.find_reference(&format!("refs/heads/{branch}")) else { return BTreeMap::new() };
    let mut files = BTreeMap::new();
    let tree = reference.peel_to_tree().unwrap();
    tree.walk(git2::TreeWalkMode::PreOrder, |folder, entry| {
        if entry.kind() == Some(git2::ObjectType::Blob) {
            let blob = repository.find_blob(entry.id()).unwrap();
            let text = String::from_utf8(blob.content().to_vec()).unwrap();
            files.insert(format!("{folder}{}", entry.name().unwrap()), text);
        }
        git2::TreeWalkResult::Ok
    })
    .unwrap();
    files
}

/// The result number `number`: its bytes say all that it is, as those of real results do.
pub(crate) fn result(number: u32) -> Addition {
    result_saying(number, "as measured")
}

/// The result number `number` with other content.
pub(crate) fn result_saying(number: u32, words: &str) -> Addition {
    let run_id = format!("{number:08x}{:024x}", 7);
    let path = format!("results/bench-{}/case-{}/20261121T154111Z-{number:08x}-r1-a1.json", number % 3, number % 5);
    let content = json!({"number": number, "path": path, "runId": run_id, "words": words});
    Addition {
        envelope: None,
        bytes: format!("{content}\n").into_bytes(),
        benchmark: format!("bench-{}", number % 3),
        case: format!("batchSize={}", number % 5),
        round: "r1".to_owned(),
        status: "succeeded".to_owned(),
        run_digest: format!("sha256:{number:064x}"),
        ended: 1_795_275_671 + i64::from(number),
        kept: format!("results/kept-{number}.json"),
        path,
        run_id,
    }
}

/// The results with the numbers of `range`.
pub(crate) fn results(range: std::ops::Range<u32>) -> Vec<Addition> {
    range.map(result).collect()
}

/// What the branch must hold when these results are in it.
pub(crate) fn expected(additions: &[Addition]) -> BTreeMap<String, String> {
    let text = |addition: &Addition| String::from_utf8(addition.bytes.clone()).unwrap();
    additions.iter().map(|addition| (addition.path.clone(), text(addition))).collect()
}

/// Reads a result back from its bytes.
pub(crate) fn judge(bytes: &[u8], _envelope: Option<&[u8]>) -> Result<Addition, String> {
    let value: Value = serde_json::from_slice(bytes).map_err(|error| format!("it is no JSON: {error}"))?;
    let number = value["number"].as_u64().and_then(|number| u32::try_from(number).ok()).ok_or("it has no number")?;
    let words = value["words"].as_str().ok_or("it has no words")?;
    Ok(result_saying(number, words))
}

/// Runs git, which must succeed, as a user of these tests would.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = git_in(folder, arguments).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {arguments:?} in {}: {said}", folder.display());
    String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
}

/// Git, to be started in `folder`.
pub(crate) fn git_in(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command.args(["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "-c", "init.defaultBranch=main"]);
    command.args(["-c", "protocol.file.allow=always", "-c", "commit.gpgSign=false"]);
    command.args(arguments).current_dir(folder);
    command
}
