//! Repositories that somebody else prepared: nothing of theirs is started, read forever or taken for another place.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, assert_texts, str};

use crate::support::steady::steady;

use super::*;

/// Two modes that know the repository's remotes, and the one that commits in it.
const MODES: [Mode; 3] = Mode::ALL;

#[test]
fn a_folder_of_a_work_tree_that_looks_like_a_bare_repository_names_no_program() {
    let site = Site::new();
    let checkout = site.path().join("checkout");
    run(site.path(), &["init", "--quiet", "checkout"]);
    let planted = checkout.join("benchmarks");
    run(&checkout, &["init", "--quiet", "--bare", "benchmarks"]);
    let trap = site.path().join("trap");
    run(&planted, &["config", "remote.origin.url", "git@git.example:a.git"]);
    for key in ["core.sshCommand", "core.fsmonitor", "gpg.program", "credential.helper"] {
        run(&planted, &["config", key, &format!("!touch {}; touch {}", trap.display(), trap.display())]);
    }
    for mode in MODES {
        let destination =
            Destination { remote: "origin".to_owned(), folder: planted.clone(), ..site.destination(mode) };
        let destination = Destination { deadline: Duration::from_secs(1), ..destination };
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
        assert_line(
            steady(&fault.message),
            str! {"`FOLDER/checkout/benchmarks` looks like a bare repository inside a work tree"},
        );
    }
    assert!(!trap.exists());
}

#[test]
fn settings_of_the_checkout_start_nothing_in_it() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet", "-b", "main"]);
    let trap = site.path().join("trap");
    let touch = format!("touch {}", trap.display());
    for name in ["post-index-change", "reference-transaction", "pre-commit", "post-commit", "pre-push"] {
        hook(&project.join(".git"), name, &touch);
    }
    std::fs::create_dir(project.join("hooks")).unwrap();
    std::fs::rename(project.join(".git/hooks/pre-push"), project.join("hooks/pre-push")).unwrap();
    for (key, value) in [("core.hooksPath", "hooks"), ("core.fsmonitor", &touch), ("core.editor", &touch)] {
        run(&project, &["config", key, value]);
    }
    for (number, mode) in (0..).zip(MODES) {
        let recorded = site.record(mode, &results(number..number + 1)).unwrap();
        assert_eq!(recorded.added.len(), 1, "{mode:?}");
    }
    assert!(!trap.exists());
}

#[test]
fn what_is_no_file_in_the_work_tree_is_not_opened() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet", "-b", "main"]);
    let (pipe, endless) = (project.join(result(0).path), project.join(result(1).path));
    for path in [&pipe, &endless] {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    std::os::unix::fs::symlink("/dev/zero", &endless).unwrap();
    let recorded = site.record(Mode::Local, &results(0..3)).unwrap();
    assert_eq!(recorded.added, [result(2).path]);
    let theirs: Vec<&str> = recorded.conflicts.iter().map(|conflict| conflict.theirs.as_str()).collect();
    assert_texts(
        &theirs,
        &[
            str! {"`results/bench-0/case-0/20261121T154111Z-00000000-r1-a1.json` is not a readable file"},
            str! {"`results/bench-1/case-1/20261121T154111Z-00000001-r1-a1.json` is not a readable file"},
        ],
    );
}

#[test]
fn protocols_that_the_configuration_forbids_stay_forbidden() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    for (key, value) in [("protocol.file.allow", "never"), ("protocol.allow", "never")] {
        run(&project, &["config", key, value]);
        for mode in [Mode::Branch, Mode::Inbox] {
            let destination = Destination { deadline: Duration::from_secs(1), ..site.destination(mode) };
            let fault = git::record(&results(0..1), &destination).unwrap_err();
            assert!(fault.message.contains("'file' not allowed"), "{key}: {fault:?}");
        }
        run(&project, &["config", "--unset", key]);
    }
    site.record(Mode::Branch, &results(0..1)).unwrap();
}

/// The address of a remote is in the configuration of a scratch repository.
#[test]
fn a_folder_whose_name_is_a_setting_is_a_folder() {
    let site = Site::new();
    let trap = site.path().join("trap");
    let name =
        format!("x\"\n[core]\n\tsshCommand = touch {}\n\tgitProxy = \\", trap.display().to_string().replace('/', "%"));
    let remote = site.path().join(name);
    std::fs::rename(site.remote(), &remote).unwrap();
    std::os::unix::fs::symlink(&remote, site.remote()).unwrap();
    for mode in [Mode::Branch, Mode::Inbox] {
        let recorded = site.record(mode, &results(0..2)).unwrap();
        assert_eq!(recorded.added.len() + recorded.already.len(), 2);
    }
    assert_eq!(files(&remote, "kubebench/results"), expected(&results(0..2)));
}

#[test]
fn a_project_below_a_folder_whose_name_is_no_text() {
    use std::os::unix::ffi::OsStrExt as _;
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet", "-b", "main"]);
    let folder = project.join(std::ffi::OsStr::from_bytes(b"caf\xe9"));
    if std::fs::create_dir(&folder).is_err() {
        let name = "a_project_below_a_folder_whose_name_is_no_text";
        return crate::support::judges::skip(name, "a file system that takes any bytes as a name", "run it on Linux");
    }
    let destination = Destination { folder, ..site.destination(Mode::Local) };
    let fault = git::record(&results(0..1), &destination).unwrap_err();
    assert_line(steady(&fault.message), str! {"the path of `FOLDER/project/caf�` is not UTF-8"});
    assert_eq!(run(&project, &["ls-files"]), "");
}

#[test]
fn a_repository_of_somebody_else_is_called_that() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet", "-b", "main"]);
    run(&project, &["config", "remote.origin.url", &site.remote().display().to_string()]);
    hook(site.path(), "git", "export GIT_TEST_ASSUME_DIFFERENT_OWNER=1\nexec git \"$@\"");
    for mode in MODES {
        let program = site.path().join("hooks/git");
        let destination = Destination { program, remote: "origin".to_owned(), ..site.destination(mode) };
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert!(fault.message.contains("dubious ownership"), "{mode:?}: {fault:?}");
        assert!(fault.help.as_ref().unwrap().contains("safe.directory"), "{mode:?}: {fault:?}");
    }
}

#[test]
fn a_folder_without_a_repository_is_called_that() {
    let site = Site::new();
    for mode in MODES {
        let destination = Destination { remote: "origin".to_owned(), ..site.destination(mode) };
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert!(fault.message.contains("not a git repository"), "{mode:?}: {fault:?}");
    }
    // An address needs none.
    site.record(Mode::Branch, &results(0..1)).unwrap();
}
