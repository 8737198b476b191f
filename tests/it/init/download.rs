//! The step that installs the program: it takes the archive of a release, and nothing else.
#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::LazyLock;

use kubebench_syntax::digest::Digest;
use kubebench_testing::server::Server;

use super::{INSTALL, PROGRAM, Program, Site, on_github, on_gitlab, script_in};
use crate::support::judges::{missing, tool};
use crate::support::project::repository;

const GITHUB: &str = ".github/workflows/kubebench-perf.yml";
const GITLAB: &str = ".gitlab/kubebench-perf.yml";
const MAIN: &str = "refs/remotes/origin/main";

/// The name of the archive of a release for this machine, and its bytes: as `.ci/release` makes it.
static ARCHIVE: LazyLock<(String, Vec<u8>)> = LazyLock::new(|| {
    let machine = Command::new("uname").arg("-m").output().unwrap().stdout;
    let machine = String::from_utf8(machine).unwrap();
    let name = format!("kubebench-{}-{}-unknown-linux-gnu", env!("CARGO_PKG_VERSION"), machine.trim());
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join(&name);
    fs::create_dir(&folder).unwrap();
    for (from, to) in [
        (Path::new(PROGRAM), "kubebench"),
        (&repository().join("LICENSE"), "LICENSE"),
        (&repository().join("README.md"), "README.md"),
    ] {
        fs::copy(from, folder.join(to)).unwrap();
    }
    let mut tar = Command::new("tar");
    tar.args([
        "--create",
        "--use-compress-program=gzip -1",
        "--file",
        "archive.tar.gz",
        "--owner=0",
        "--group=0",
        "--format=ustar",
        &name,
    ]);
    assert!(tar.current_dir(place.path()).status().unwrap().success());
    (format!("{name}.tar.gz"), fs::read(place.path().join("archive.tar.gz")).unwrap())
});

fn sums(bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).hex();
    format!("{digest}  {}\n{}  kubebench-{}.oci.tar\n", ARCHIVE.0, "0".repeat(64), env!("CARGO_PKG_VERSION"))
}

fn release(archive: &[u8], sums: &str) -> Server {
    Server::of_files(BTreeMap::from([
        (ARCHIVE.0.clone(), archive.to_vec()),
        ("SHA256SUMS".to_owned(), sums.as_bytes().to_vec()),
    ]))
}

/// A project in `perf`, as `init` writes it.
fn site(arguments: &[&str]) -> Site {
    let site = Site::new();
    site.write("SHA256SUMS", &sums(&ARCHIVE.1));
    site.init("perf", arguments);
    site.commit("Add benchmarks");
    site
}

fn has_curl(test: &str) -> bool {
    let has = tool("curl").is_some();
    if !has {
        missing(test, "curl", "install curl");
    }
    has
}

#[test]
fn a_workflow_runs_with_the_program_that_it_downloads() {
    if !has_curl("a_workflow_runs_with_the_program_that_it_downloads") {
        return;
    }
    let none = tempfile::tempdir().unwrap();
    let server = release(&ARCHIVE.1, &sums(&ARCHIVE.1));
    for (arguments, requests) in [(&[][..], 2), (&["--checksums", "../SHA256SUMS"], 1)] {
        let (site, before) = (site(arguments), server.requests().len());
        let steps = on_github(&site.clone(), GITHUB, MAIN, Program::From(server.url(), none.path()));
        assert_eq!(steps.len(), 5, "{steps:#?}");
        assert!(steps.iter().all(|step| step.status == Some(0)), "{steps:#?}");
        assert_eq!(server.requests().len() - before, requests, "{:?}", server.requests());
    }
    let site = site(&["--ci", "gitlab"]);
    let step = on_gitlab(&site.clone(), GITLAB, "origin/main", server.url());
    assert_eq!((step.status, step.output.contains("manifests of 1 spec")), (Some(0), true), "{step:#?}");
    assert_eq!(site.read("kubebench.json").trim(), "[]");
    assert_eq!(site.read(".gitlab-ci.yml"), "include:\n  - local: /.gitlab/kubebench-perf.yml\n");
    let step = on_gitlab(&site.clone(), GITLAB, "HEAD", "http://127.0.0.1:1");
    assert_eq!((step.status, step.output.trim()), (Some(0), "nothing of the project changed"), "{step:#?}");
}

#[test]
fn a_wrong_archive_ends_the_step() {
    if !has_curl("a_wrong_archive_ends_the_step") {
        return;
    }
    let none = tempfile::tempdir().unwrap();
    let mut wrong = ARCHIVE.1.clone();
    *wrong.last_mut().unwrap() ^= 1;
    let of_others = format!("{}  kubebench-0.0.0-x86_64-unknown-linux-gnu.tar.gz\n", Digest::of(&ARCHIVE.1).hex());
    let pinned = ["--checksums", "../SHA256SUMS"];
    for (arguments, server, why) in [
        (&[][..], release(&wrong, &sums(&ARCHIVE.1)), "did NOT match"),
        (&[], release(&ARCHIVE.1, &of_others), "no file was verified"),
        (&[], release(&ARCHIVE.1, ""), "no properly formatted"),
        (&[], Server::of_files(BTreeMap::from([(ARCHIVE.0.clone(), ARCHIVE.1.clone())])), "404"),
        (&[], Server::of_files(BTreeMap::new()), "404"),
        // Whoever can exchange the archive can exchange the checksums next to it.
        (&pinned, release(&wrong, &sums(&wrong)), "did NOT match"),
    ] {
        let site = site(arguments);
        let steps = on_github(&site.clone(), GITHUB, MAIN, Program::From(server.url(), none.path()));
        let last = steps.last().unwrap();
        assert_eq!((steps.len(), last.name.as_str()), (2, INSTALL), "{steps:#?}");
        assert!(last.status != Some(0) && last.output.contains(why), "{why}: {steps:#?}");
    }
    let site = site(&["--ci", "gitlab"]);
    let step = on_gitlab(&site.clone(), GITLAB, "origin/main", release(&wrong, &sums(&ARCHIVE.1)).url());
    assert!(step.status != Some(0) && step.output.contains("did NOT match"), "{step:#?}");
}

/// GitHub keeps an attestation of what it serves itself.
#[test]
fn an_archive_of_github_needs_its_attestation() {
    let Some(curl) = tool("curl") else {
        missing("an_archive_of_github_needs_its_attestation", "curl", "install curl");
        return;
    };
    let server = release(&ARCHIVE.1, &sums(&ARCHIVE.1));
    let address = "https://github.com/kubebench/kubebench/releases/download/v0";
    let programs = tempfile::tempdir().unwrap();
    let seen = programs.path().join("seen");
    script_in(
        programs.path(),
        "curl",
        &format!(
            "#!/usr/bin/env bash\nwords=()\nfor word; do words+=(\"${{word/#{}/{}}}\"); done\nexec '{}' \"${{words[@]}}\"\n",
            address.replace('/', "\\/"),
            server.url().replace('/', "\\/"),
            curl.display()
        ),
    );
    for (status, count) in [(0, 5), (1, 2)] {
        script_in(
            programs.path(),
            "gh",
            &format!("#!/bin/sh\necho \"$@\" >'{}'\ntest -f \"$3\" || exit 9\nexit {status}\n", seen.display()),
        );
        let site = site(&[]);
        let steps = on_github(&site.clone(), GITHUB, MAIN, Program::From(address, programs.path()));
        assert_eq!(steps.len(), count, "{steps:#?}");
        assert_eq!(steps[1].status, Some(status), "{steps:#?}");
        let expected = format!(
            "attestation verify {} --repo kubebench/kubebench --signer-workflow kubebench/kubebench/.github/workflows/release.yml\n",
            ARCHIVE.0
        );
        assert_eq!(fs::read_to_string(&seen).unwrap(), expected);
    }
}
