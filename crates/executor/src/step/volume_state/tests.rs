#![expect(clippy::disallowed_methods, reason = "tests look at files")]

use crate::step::tests::cluster;
use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::Value as Json;

use super::super::tests::{attempt, session};
use super::{Found, RESULT, is_run, judge, result_of};
use kubebench_format::result::v1::Reason;
use kubebench_format::result::{BenchmarkResult, seal};
use kubebench_testing::server::{Server, stall};

/// The result of an attempt at the run of [`attempt`], of which `change` says what is special.
fn result() -> BenchmarkResult {
    serde_json::from_str(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../format/testdata/result.json"))).unwrap()
}

fn bytes(number: u32, change: impl FnOnce(&mut BenchmarkResult)) -> Vec<u8> {
    let mut made = result();
    made.source.run_digest = attempt(number).run_digest;
    (made.run.repeat, made.run.attempt, made.run.reason) = (1, number, Reason::Change);
    change(&mut made);
    seal(made).bytes
}

fn write(volume: &Path, path: &str, bytes: &[u8]) {
    let path = volume.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn a_result_is_that_of_the_run_whose_folder_it_is_in() {
    let job = attempt(1).job;
    let judged = |bytes: &[u8]| judge(bytes, "matmul", &job).map(drop);
    assert_eq!(judged(&bytes(1, |_| {})), Ok(()));
    let others: [fn(&mut BenchmarkResult); 6] = [
        |result| result.run.attempt = 2,
        |result| result.run.repeat = 2,
        |result| result.run.warmup = true,
        |result| result.run.reason = Reason::Schedule,
        |result| result.metadata.case = "size-512-0a1b2c3d".to_owned(),
        |result| result.source.run_digest = format!("sha256:{}", "0b".repeat(32)),
    ];
    for change in others {
        let why = judged(&bytes(1, change)).unwrap_err();
        assert!(why.contains(&format!("this folder belongs to `{job}`")), "{why}");
    }
    let why = judged(&bytes(1, |result| result.metadata.benchmark = "disk".to_owned())).unwrap_err();
    assert!(why.contains("it names the benchmark `disk`"), "{why}");
    let mut edited = String::from_utf8(bytes(1, |_| {})).unwrap();
    edited = edited.replacen("\"succeeded\"", "\"failed\"", 1);
    assert!(judged(edited.as_bytes()).unwrap_err().contains("was edited"));
    // The sessions of a schedule have jobs of their own.
    let mut scheduled = attempt(1);
    scheduled.workflow.is_scheduled = true;
    let own = kubebench_contract::instance::job_name(
        "matmul",
        &scheduled.run_digest,
        &scheduled.run.case,
        "r1",
        1,
        scheduled.workflow.session(),
    );
    let of_session = bytes(1, |result| (result.run.reason, result.run.session) = (Reason::Schedule, "w".to_owned()));
    assert!(judge(&of_session, "matmul", &own).is_ok() && own != job);
}

#[test]
fn what_is_no_result_of_the_run_is_put_aside_and_does_not_count() {
    let (server, job) = (Server::new(|_, _| stall()), attempt(1).job);
    for kind in ["none", "own", "of another", "no result", "link", "link to an own one", "pipe", "folder"] {
        let volume = tempfile::tempdir().unwrap();
        let session = session(cluster(&server), volume.path());
        let place = volume.path().join(&job).join(RESULT);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        write(volume.path(), "elsewhere", &bytes(1, |_| {}));
        match kind {
            "none" => {}
            "own" => std::fs::write(&place, bytes(1, |_| {})).unwrap(),
            "of another" => std::fs::write(&place, bytes(2, |_| {})).unwrap(),
            "no result" => std::fs::write(&place, "{\"rate\": 1}").unwrap(),
            "pipe" => nix::unistd::mkfifo(&place, nix::sys::stat::Mode::S_IRWXU).unwrap(),
            "folder" => std::fs::create_dir(&place).unwrap(),
            _ => symlink(volume.path().join("elsewhere"), &place).unwrap(),
        }
        let looked = result_of(volume.path(), "matmul", &job).unwrap();
        assert_eq!(matches!(looked, Found::Foreign(_)), !matches!(kind, "none" | "own"), "{kind}");
        assert_eq!(session.result_of(&job).unwrap().is_some(), kind == "own", "{kind}");
        let aside = volume.path().join(&job).join("result.json.foreign");
        assert_eq!(aside.symlink_metadata().is_ok(), !matches!(kind, "none" | "own"), "{kind}");
        assert_eq!(place.symlink_metadata().is_ok(), kind == "own", "{kind}");
    }
}

#[test]
fn how_far_a_run_is_says_its_own_file_alone() {
    let (server, one) = (Server::new(|_, _| stall()), attempt(1));
    for kind in ["own", "of another attempt", "renamed", "no attempt", "no time", "link"] {
        let volume = tempfile::tempdir().unwrap();
        let session = session(cluster(&server), volume.path());
        let place = one.folder(volume.path()).join("attempt.json");
        one.keep(volume.path()).unwrap();
        let mut another = attempt(2);
        match kind {
            "own" => {}
            "no attempt" => std::fs::write(&place, "{}").unwrap(),
            "no time" => {
                let mut text: Json = serde_json::from_slice(&std::fs::read(&place).unwrap()).unwrap();
                text["began"]["seconds"] = (-1e300).into();
                std::fs::write(&place, text.to_string()).unwrap();
            }
            "link" => {
                std::fs::rename(&place, volume.path().join("elsewhere")).unwrap();
                symlink(volume.path().join("elsewhere"), &place).unwrap();
            }
            _ => {
                if kind == "renamed" {
                    another.job.clone_from(&one.job);
                }
                another.keep(volume.path()).unwrap();
                std::fs::rename(another.folder(volume.path()).join("attempt.json"), &place).unwrap();
            }
        }
        let known = session.attempt_of(&one.job).unwrap();
        assert_eq!(known.map(|known| known.id), (kind == "own").then(|| one.id.clone()), "{kind}");
        let aside = one.folder(volume.path()).join("attempt.json.foreign");
        assert_eq!(aside.symlink_metadata().is_ok(), kind != "own", "{kind}");
    }
}

#[test]
fn runs_have_the_name_of_the_benchmark_and_eight_digits() {
    for (name, expected) in [
        ("disk-0123abcd", true),
        ("disk-0123abcD", false),
        ("disk-0123abc", false),
        ("disk-io-0123abcd", false),
        ("disk", false),
        ("lost+found", false),
        ("disk-../../../x", false),
    ] {
        assert_eq!(is_run("disk", name), expected, "{name}");
    }
}
