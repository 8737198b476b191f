//! `deploy/install/install.sh`: it installs the program of a release, or changes nothing and says why.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use kubebench_syntax::digest::Digest;
use kubebench_testing::server::{Act, Server};
use kubebench_testing::snapshot::{assert_text, str};
use kubebench_testing::watchdog::until;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::support::judges::{missing, tool};
use crate::support::project::repository;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const PROGRAM: &str = "#!/bin/sh\necho kubebench 1.2.3\n";
const OLDER: &str = "#!/bin/sh\necho kubebench 1.2.2\n";
/// What the script calls.
const NEEDED: [&str; 11] = ["curl", "cut", "gzip", "mkdir", "mktemp", "mv", "rm", "sed", "sha256sum", "shasum", "tar"];
const RELEASES: &str = "https://github.com/kubebench/kubebench/releases";

fn has_curl(test: &str) -> bool {
    let has = tool("curl").is_some();
    if !has {
        missing(test, "curl", "install curl");
    }
    has
}

/// A user of Linux on x86-64 with an empty home.
struct User {
    home: tempfile::TempDir,
    programs: tempfile::TempDir,
}

impl User {
    fn new() -> Self {
        let user = Self { home: tempfile::tempdir().unwrap(), programs: tempfile::tempdir().unwrap() };
        for name in NEEDED {
            if let Some(program) = tool(name) {
                symlink(program, user.programs.path().join(name)).unwrap();
            }
        }
        user.on("Linux", "x86_64");
        user
    }

    /// A user who has installed an older version.
    fn of_older() -> Self {
        let user = Self::new();
        fs::create_dir_all(user.folder()).unwrap();
        write_program(&user.folder().join("kubebench"), OLDER);
        user
    }

    fn on(&self, system: &str, machine: &str) {
        self.has("uname", &format!("#!/bin/sh\ncase $1 in -s) echo {system} ;; -m) echo {machine} ;; esac\n"));
    }

    fn has(&self, name: &str, text: &str) {
        let place = self.programs.path().join(name);
        let _ = fs::remove_file(&place);
        write_program(&place, text);
    }

    fn folder(&self) -> PathBuf {
        self.home.path().join(".local/bin")
    }

    fn command(&self, script: &[&str], variables: &[(&str, &str)]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(script).stdin(Stdio::null()).current_dir(self.home.path());
        for name in ["KUBEBENCH_INSTALL", "KUBEBENCH_VERSION", "KUBEBENCH_DOWNLOADS"] {
            command.env_remove(name);
        }
        command.env("HOME", self.home.path()).env("PATH", self.programs.path());
        command.envs(variables.iter().copied());
        command
    }

    /// What the script says, without what differs from one day to the next, and its exit status.
    fn installs(&self, variables: &[(&str, &str)]) -> String {
        let script = repository().join("deploy/install/install.sh");
        let output = self.command(&[script.to_str().unwrap()], variables).output().unwrap();
        let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        let mut said = said.replace(self.home.path().to_str().unwrap(), "HOME");
        said = said.replace(self.programs.path().to_str().unwrap(), "PROGRAMS");
        if let Some((_, url)) = variables.iter().find(|(name, _)| *name == "KUBEBENCH_DOWNLOADS") {
            said = said.replace(url, "URL");
        }
        let ours = said
            .lines()
            .filter(|line| ["error: ", "note: ", "add ", "kubebench "].iter().any(|begin| line.starts_with(begin)));
        format!("{} {}", output.status.code().unwrap(), ours.map(|line| format!("{line}\n")).collect::<String>())
    }

    /// The files of the folder, with their texts.
    fn files(&self) -> BTreeMap<String, String> {
        let Ok(entries) = fs::read_dir(self.folder()) else { return BTreeMap::new() };
        let named = |entry: fs::DirEntry| {
            (entry.file_name().into_string().unwrap(), fs::read_to_string(entry.path()).unwrap_or_default())
        };
        entries.map(|entry| named(entry.unwrap())).collect()
    }
}

fn write_program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// An archive of a version as `.ci/release` makes it, with this program.
fn archive(version: &str, program: &str) -> (String, Vec<u8>) {
    let name = format!("kubebench-{version}-{TARGET}");
    let place = tempfile::tempdir().unwrap();
    fs::create_dir(place.path().join(&name)).unwrap();
    write_program(&place.path().join(&name).join("kubebench"), program);
    fs::write(place.path().join(&name).join("LICENSE"), "Apache\n").unwrap();
    let mut tar = Command::new("tar");
    assert!(tar.args(["-czf", "archive.tar.gz", &name]).current_dir(place.path()).status().unwrap().success());
    (format!("{name}.tar.gz"), fs::read(place.path().join("archive.tar.gz")).unwrap())
}

/// Lines of SHA256SUMS for these files, between those of others.
fn sums(files: &[(String, Vec<u8>)]) -> String {
    let zeros = "0".repeat(64);
    let lines = files.iter().map(|(name, bytes)| format!("{}  {name}\n", Digest::of(bytes).hex()));
    format!(
        "{zeros}  install.sh\n{zeros}  kubebench-1.2.3-aarch64-unknown-linux-gnu.tar.gz\n{}{zeros}  kubebench-1.2.3-{TARGET}.cdx.json\n",
        lines.collect::<String>()
    )
}

/// A release in a folder of a server.
fn release(below: &str, files: &[(String, Vec<u8>)], sums: &str) -> Server {
    let below = |name: &str| format!("{below}{name}");
    let mut served: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, bytes)| (below(name), bytes.clone())).collect();
    served.insert(below("SHA256SUMS"), sums.as_bytes().to_vec());
    Server::of_files(served)
}

#[test]
fn the_program_of_the_release_replaces_an_older_one() {
    if !has_curl("the_program_of_the_release_replaces_an_older_one") {
        return;
    }
    let files = [archive("1.2.3", PROGRAM)];
    let server = release("", &files, &sums(&files));
    let mirror = [("KUBEBENCH_DOWNLOADS", server.url())];
    let only = BTreeMap::from([("kubebench".to_owned(), PROGRAM.to_owned())]);
    let mut said = String::new();
    for user in [User::new(), User::of_older()] {
        said += &user.installs(&mirror);
        assert_eq!(user.files(), only);
        let mode = fs::metadata(user.folder().join("kubebench")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o755);
    }
    // Into another folder, which is in PATH or comes after another program.
    let user = User::new();
    let place = user.home.path().join("a folder");
    said += &user.installs(&[mirror[0], ("KUBEBENCH_INSTALL", place.to_str().unwrap())]);
    assert_eq!(fs::read_to_string(place.join("kubebench")).unwrap(), PROGRAM);
    said += &user.installs(&[mirror[0], ("KUBEBENCH_INSTALL", user.programs.path().to_str().unwrap())]);
    said += &user.installs(&mirror);
    assert_text(
        said,
        str! {[r#"
0 kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
0 kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
0 kubebench 1.2.3 is installed in HOME/a folder
add it to your PATH: export PATH="HOME/a folder:$PATH"
0 kubebench 1.2.3 is installed in PROGRAMS
0 kubebench 1.2.3 is installed in HOME/.local/bin
note: PROGRAMS/kubebench comes first in your PATH

"#]},
    );
}

#[test]
fn what_goes_wrong_changes_nothing() {
    if !has_curl("what_goes_wrong_changes_nothing") {
        return;
    }
    let good = [archive("1.2.3", PROGRAM)];
    let mut damaged = good.clone();
    *damaged[0].1.last_mut().unwrap() ^= 1;
    let foreign = [archive("1.2.3", "#!/no/such/loader\n")];
    let empty = [(good[0].0.clone(), archive("9.9.9", PROGRAM).1)];
    let both = [good[0].clone(), archive("1.2.2", OLDER)];
    let whole = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", good[0].1.len());
    let (half, listed) = ([whole.as_bytes(), &good[0].1[..100]].concat(), sums(&good));
    let interrupted = Server::new(move |request, _| {
        let list = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{listed}", listed.len());
        vec![Act::Send(if request.contains("SHA256SUMS") { list.into_bytes() } else { half.clone() })]
    });
    let mut said = String::new();
    for (what, server) in [
        ("another checksum", release("", &damaged, &sums(&good))),
        ("no archive", release("", &[], &sums(&good))),
        ("no checksum of it", release("", &good, &sums(&[]))),
        ("two archives", release("", &both, &sums(&both))),
        ("no checksums", Server::of_files(BTreeMap::from([good[0].clone()]))),
        ("half an archive", interrupted),
        ("an archive of something else", release("", &empty, &sums(&empty))),
        ("a program for another system", release("", &foreign, &sums(&foreign))),
    ] {
        let user = User::of_older();
        said += &format!("{what}: {}", user.installs(&[("KUBEBENCH_DOWNLOADS", server.url())]));
        assert_eq!(user.files(), BTreeMap::from([("kubebench".to_owned(), OLDER.to_owned())]), "{what}");
    }

    let server = release("", &good, &sums(&good));
    let mirror = ("KUBEBENCH_DOWNLOADS", server.url());
    for (system, machine) in [("Linux", "riscv64"), ("Darwin", "x86_64"), ("MINGW64_NT-10.0", "x86_64")] {
        let user = User::new();
        user.on(system, machine);
        said += &user.installs(&[mirror]);
    }
    let user = User::new();
    let file = user.home.path().join("file");
    fs::write(&file, "").unwrap();
    said += &user.installs(&[mirror, ("KUBEBENCH_INSTALL", file.join("bin").to_str().unwrap())]);
    assert_eq!(server.requests(), Vec::<String>::new(), "nothing is downloaded for them");
    assert_text(
        said,
        str! {[r#"
another checksum: 1 error: kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz does not match SHA256SUMS; nothing was installed
no archive: 1 error: cannot download URL/kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz; nothing was installed
no checksum of it: 1 error: URL/SHA256SUMS does not name one archive for x86_64-unknown-linux-gnu; nothing was installed
two archives: 1 error: URL/SHA256SUMS does not name one archive for x86_64-unknown-linux-gnu; nothing was installed
no checksums: 1 error: cannot download URL/SHA256SUMS; nothing was installed
half an archive: 1 error: cannot download URL/kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz; nothing was installed
an archive of something else: 1 error: kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz has no program; nothing was installed
a program for another system: 1 error: the program does not run here, so it was not installed; it needs glibc 2.17 or later, which Alpine Linux lacks: use the image ghcr.io/kubebench/kubebench, or build it from source: https://github.com/kubebench/kubebench#install
1 error: there is no program for Linux on riscv64; build it from source: https://github.com/kubebench/kubebench#install
1 error: there is no program for Darwin on x86_64; build it from source: https://github.com/kubebench/kubebench#install
1 error: there is no program for MINGW64_NT-10.0 on x86_64; build it from source: https://github.com/kubebench/kubebench#install
1 error: cannot write to HOME/file/bin; set KUBEBENCH_INSTALL to a folder that you can write to

"#]},
    );
}

/// GitHub keeps attestations of what it serves itself.
#[test]
fn who_built_the_archive_is_verified_where_gh_can() {
    let Some(curl) = tool("curl") else {
        missing("who_built_the_archive_is_verified_where_gh_can", "curl", "install curl");
        return;
    };
    let files = [archive("1.2.3", PROGRAM)];
    let mut said = String::new();
    for (version, below) in [("", "latest/download/"), ("1.2.3", "download/v1.2.3/")] {
        let server = release(below, &files, &sums(&files));
        for (logged_in, verified) in [(1, 0), (0, 0), (0, 1)] {
            let user = User::new();
            user.has(
                "curl",
                &format!(
                    "#!/bin/sh\nfor word; do\n    set -- \"$@\" \"$(echo \"$word\" | sed 's#^{RELEASES}#{}#')\"\n    shift\ndone\nexec '{}' \"$@\"\n",
                    server.url(),
                    curl.display()
                ),
            );
            let seen = user.home.path().join("seen");
            user.has(
                "gh",
                &format!(
                    "#!/bin/sh\n[ \"$1\" != auth ] || exit {logged_in}\necho \"$@\" >'{}'\ntest -f \"$3\" && exit {verified}\n",
                    seen.display()
                ),
            );
            said += &user.installs(&[("KUBEBENCH_VERSION", version)]);
            assert_eq!(user.files().len(), usize::from(verified == 0));
            if logged_in == 0 {
                let asked = fs::read_to_string(seen).unwrap();
                let (_, rest) = asked.split_once(&format!("/{}", files[0].0)).unwrap();
                assert!(asked.starts_with("attestation verify /"), "{asked}");
                assert_eq!(
                    rest,
                    " --repo kubebench/kubebench --signer-workflow kubebench/kubebench/.github/workflows/release.yml\n"
                );
            }
        }
    }
    assert_text(
        said,
        str! {[r#"
0 note: only the checksum was verified; who built the archive is verified if gh is installed and logged in
kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
0 kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
1 error: gh cannot verify who built kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz; nothing was installed
0 note: only the checksum was verified; who built the archive is verified if gh is installed and logged in
kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
0 kubebench 1.2.3 is installed in HOME/.local/bin
add it to your PATH: export PATH="HOME/.local/bin:$PATH"
1 error: gh cannot verify who built kubebench-1.2.3-x86_64-unknown-linux-gnu.tar.gz; nothing was installed

"#]},
    );
}

#[test]
fn a_script_that_arrives_in_part_does_nothing() {
    let files = [archive("1.2.3", PROGRAM)];
    let server = release("", &files, &sums(&files));
    let script = fs::read_to_string(repository().join("deploy/install/install.sh")).unwrap();
    let user = User::new();
    let mirror = [("KUBEBENCH_DOWNLOADS", server.url())];
    let ends: Vec<usize> = script.match_indices('\n').map(|(end, _)| end).collect();
    for end in &ends[..ends.len() - 1] {
        user.command(&["-c", &script[..*end]], &mirror).output().unwrap();
    }
    assert_eq!((server.requests(), user.files()), (Vec::new(), BTreeMap::new()));
    assert!(!user.folder().exists());
}

#[test]
fn an_interrupt_leaves_nothing() {
    if !has_curl("an_interrupt_leaves_nothing") {
        return;
    }
    let server = Server::new(|_, _| vec![Act::Stall]);
    let user = User::of_older();
    let script = repository().join("deploy/install/install.sh");
    let mut command = user.command(&[script.to_str().unwrap()], &[("KUBEBENCH_DOWNLOADS", server.url())]);
    let mut shell = command.process_group(0).stderr(Stdio::null()).spawn().unwrap();
    until("the download", || !server.requests().is_empty());
    assert_eq!(user.files().len(), 2, "what is downloaded has a folder of its own");
    killpg(Pid::from_raw(shell.id().try_into().unwrap()), Signal::SIGTERM).unwrap(); // a shell in the background ignores SIGINT
    assert!(!shell.wait().unwrap().success());
    assert_eq!(user.files(), BTreeMap::from([("kubebench".to_owned(), OLDER.to_owned())]));
}
