//! Credentials reach only the server: no argument, no file that stays, no message.

use kubebench_git::HostKeys;
use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, str};

use super::server::{Http, base64};
use super::*;

const SECRET: &str = "s3cr3t-Of-The-Recorder";

/// A git that notes its arguments and its environment before it does what it is asked.
fn watched(site: &Site) -> PathBuf {
    let script = "{ printf 'ARG %s\\n' \"$@\"; env; cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; } >> \"${0%/*}/log\"\n\
        exec git \"$@\"";
    hook(site.path(), "git", script);
    site.path().join("hooks/git")
}

fn secret_folder(site: &Site, files: &[(&str, &str)]) -> PathBuf {
    let folder = site.path().join("secret");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in files {
        std::fs::write(folder.join(name), text).unwrap();
    }
    folder
}

#[test]
fn a_password_is_seen_by_the_server_alone() {
    // Of this test alone: the watch sees the arguments of every program, those of other tests too.
    let secret = format!("watched-{}-Of-The-Recorder", std::process::id());
    let site = Site::new();
    let http = Http::serve(site.path(), &[], None, Some(&format!("robot:{secret}")));
    let credential = Some(secret_folder(&site, &[("username", "robot"), ("password", &format!("{secret}\n"))]));
    let program = watched(&site);
    for (number, mode) in [(0, Mode::Branch), (1, Mode::Inbox)] {
        let destination = Destination {
            remote: http.url("remote.git"),
            credential: credential.clone(),
            program: program.clone(),
            ..site.destination(mode)
        };
        let recorded = git::record(&[result(number)], &destination).unwrap();
        assert_eq!(recorded.added.len(), 1);
        assert!(!format!("{recorded:?}").contains(&secret));
    }
    let destination =
        Destination { remote: http.url("remote.git"), credential, program, ..site.destination(Mode::Inbox) };
    assert_eq!(git::fold(&destination, &judge).unwrap().added.len(), 1);
    let log = String::from_utf8_lossy(&std::fs::read(site.path().join("hooks/log")).unwrap()).into_owned();
    assert!(log.contains("ARG push") && log.contains("KUBEBENCH_GIT_CREDENTIAL="), "the watch saw nothing");
    for spelled in [secret.clone(), base64(secret.as_bytes()), base64(format!("robot:{secret}").as_bytes())] {
        assert!(!log.contains(&spelled), "the secret is in an argument or in the environment");
    }
    site.assert_clean();
}

#[test]
fn a_wrong_password_is_refused_and_not_repeated() {
    let site = Site::new();
    let http = Http::serve(site.path(), &[], None, Some("robot:another"));
    let credential = secret_folder(&site, &[("username", "robot"), ("password", SECRET)]);
    for (credential, words) in [(Some(credential), "Authentication failed"), (None, "could not read")] {
        let destination = Destination { remote: http.url("remote.git"), credential, ..site.destination(Mode::Branch) };
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
        assert!(fault.message.contains(words), "{fault:?}");
        assert_line(
            fault.help.as_ref().unwrap(),
            str! {"check that `git push` works here without asking for a password (by a credential helper or a key in an SSH agent); in a cluster, check the Secret of `results.credential`; the result is kept in `results/kept-0.json`"},
        );
        assert!(!format!("{fault:?}").contains(SECRET), "{fault:?}");
    }
}

/// What the user's repository is configured with works from the scratch repository too: this is what CI systems set up.
#[test]
fn credentials_of_the_checkout_are_used() {
    let site = Site::new();
    let http = Http::serve(site.path(), &[], None, Some(&format!("robot:{SECRET}")));
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    run(&project, &["remote", "add", "origin", &http.url("remote.git")]);
    let header = format!("Authorization: Basic {}", base64(format!("robot:{SECRET}").as_bytes()));
    run(&project, &["config", &format!("http.{}.extraheader", http.url("")), &header]);
    let destination = Destination { remote: "origin".to_owned(), ..site.destination(Mode::Branch) };
    git::record(&results(0..1), &destination).unwrap();
    run(&project, &["config", "--remove-section", &format!("http.{}", http.url(""))]);
    let helper = format!("!f() {{ echo username=robot; echo password={SECRET}; }}; f");
    run(&project, &["config", "credential.helper", &helper]);
    git::record(&results(1..2), &destination).unwrap();
    assert_eq!(site.files(), expected(&results(0..2)));
}

/// A server in place of the right one, or a redirect, gets nothing: the credential is bound to the host.
#[test]
fn a_secret_that_does_not_fit_is_said() {
    let site = Site::new();
    for (files, remote, words) in [
        (("ssh-privatekey", "x"), "https://git.example/a.git", "holds an SSH key"),
        (("password", SECRET), "git@git.example:a.git", "holds a password"),
    ] {
        drop(std::fs::remove_dir_all(site.path().join("secret")));
        let credential = Some(secret_folder(&site, &[files]));
        let destination = Destination { remote: remote.to_owned(), credential, ..site.destination(Mode::Branch) };
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused);
        assert!(fault.message.contains(words) && !format!("{fault:?}").contains(SECRET), "{fault:?}");
    }
}

/// The key is given to ssh as a file of this user's alone, and ssh asks nobody.
#[test]
fn a_key_is_given_by_file() {
    let site = Site::new();
    hook(
        site.path(),
        "git",
        "if test \"$2\" = fetch; then\n\
        echo \"$GIT_SSH_COMMAND\" > \"${0%/*}/log\"; eval set -- $GIT_SSH_COMMAND; eval \"key=\\${$#}\"\n\
        stat -c %a \"$key\" >> \"${0%/*}/log\"; cat \"$key\" > \"${0%/*}/key\"; echo 'Permission denied (publickey).' >&2; exit 128; fi\n\
        exec git \"$@\"",
    );
    let credential =
        Some(secret_folder(&site, &[("ssh-privatekey", "a key without a line end"), ("known_hosts", "x")]));
    let destination = Destination {
        remote: "git@git.example:a.git".to_owned(),
        credential,
        program: site.path().join("hooks/git"),
        ..site.destination(Mode::Branch)
    };
    let fault = git::record(&results(0..1), &destination).unwrap_err();
    assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
    let log = std::fs::read_to_string(site.path().join("hooks/log")).unwrap();
    assert!(
        log.contains("BatchMode=yes") && log.contains("StrictHostKeyChecking=yes") && log.ends_with("\n600\n"),
        "{log}"
    );
    assert_eq!(std::fs::read_to_string(site.path().join("hooks/key")).unwrap(), "a key without a line end\n");
    site.assert_clean();
}

/// Any server that answers would be trusted, so none is asked, unless the project says so.
#[test]
fn a_server_of_unknown_key_is_refused_unless_asked_for() {
    let site = Site::new();
    hook(
        site.path(),
        "git",
        "if test \"$2\" = fetch; then echo \"$GIT_SSH_COMMAND\" > \"${0%/*}/log\"; echo 'Permission denied (publickey).' >&2; exit 128; fi\n\
        exec git \"$@\"",
    );
    let log = site.path().join("hooks/log");
    let record = |files: &[(&str, &str)], remote: &str, host_keys: HostKeys| {
        drop(std::fs::remove_dir_all(site.path().join("secret")));
        let destination = Destination {
            remote: remote.to_owned(),
            credential: Some(secret_folder(&site, files)),
            host_keys,
            program: site.path().join("hooks/git"),
            ..site.destination(Mode::Branch)
        };
        git::record(&results(0..1), &destination).unwrap_err()
    };
    let key = ("ssh-privatekey", "a key");
    let remotes = ["git@git.example:a.git", "ssh://git@git.example:2222/a.git"];
    for remote in remotes {
        for known in [None, Some(""), Some("\n# git.example\n")] {
            let files: Vec<(&str, &str)> = [key].into_iter().chain(known.map(|text| ("known_hosts", text))).collect();
            let fault = record(&files, remote, HostKeys::Known);
            assert_eq!(fault.kind, Kind::Refused);
            assert!(fault.message.contains("no `known_hosts`"), "{fault:?}");
            let help = fault.help.as_deref().unwrap();
            assert!(help.contains("ssh-keyscan") && help.contains("fingerprints"), "{fault:?}");
            assert!(!log.exists(), "nobody was asked");
        }
    }
    for (known, expected) in [
        (None, "StrictHostKeyChecking=accept-new"),
        (Some("git.example ssh-ed25519 AAAA"), "StrictHostKeyChecking=yes"),
    ] {
        let files: Vec<(&str, &str)> = [key].into_iter().chain(known.map(|text| ("known_hosts", text))).collect();
        let fault = record(&files, remotes[0], HostKeys::AcceptNew);
        assert!(!fault.message.contains("known_hosts"), "{fault:?}");
        let asked = std::fs::read_to_string(&log).unwrap();
        assert!(asked.contains(expected), "{asked}");
    }
    site.assert_clean();
}
