//! Hostile and mistaken remotes: nothing starts, and no secret is repeated.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, assert_text, named, str};

use crate::support::steady::steady;

use super::*;

#[test]
fn hostile_names_start_nothing() {
    let site = Site::new();
    let trap = site.path().join("trap");
    let touch = format!("touch {}", trap.display());
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    let names = [
        format!("--upload-pack={touch}"),
        format!("--receive-pack={touch};"),
        "-oProxyCommand=x:y".to_owned(),
        "git@-oProxyCommand=x:y".to_owned(),
        format!("ext::sh -c '{touch}'"),
        "fd::7".to_owned(),
        format!("hg::{}", trap.display()),
        "foo://host/x".to_owned(),
        "ssh://-oProxyCommand=x/y".to_owned(),
        "https://git.example/a?access_token=hunter2".to_owned(),
        String::new(),
    ];
    for name in &names {
        for mode in [Mode::Branch, Mode::Inbox] {
            // Neither as an argument nor as the address of a remote in git's configuration.
            let mut destination = Destination { remote: name.clone(), ..site.destination(mode) };
            let fault = git::record(&results(0..1), &destination).unwrap_err();
            assert_eq!(fault.kind, Kind::Refused, "{name}: {fault:?}");
            assert!(!format!("{fault:?}").contains("hunter2"), "{fault:?}");
            run(&project, &["config", "remote.origin.url", name]);
            destination.remote = "origin".to_owned();
            let fault = git::record(&results(0..1), &destination).unwrap_err();
            assert_eq!(fault.kind, Kind::Refused, "{name}: {fault:?}");
        }
    }
    assert!(!trap.exists(), "a hostile name was obeyed");
}

/// A rewrite in the user's own configuration leads to a helper: git may not start it.
#[test]
fn rewritten_addresses_start_no_helper() {
    let site = Site::new();
    let trap = site.path().join("trap");
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    run(&project, &["config", &format!("url.ext::touch {} .insteadOf", trap.display()), "https://git.example/"]);
    run(&project, &["config", "protocol.ext.allow", "always"]);
    let remote = "https://git.example/a.git".to_owned();
    let destination = Destination { remote, deadline: Duration::from_secs(3), ..site.destination(Mode::Branch) };
    let fault = git::record(&results(0..1), &destination).unwrap_err();
    assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
    assert!(!trap.exists());
}

#[test]
fn passwords_in_addresses_are_refused_without_repeating_them() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    for url in ["https://bot:hunter2@git.example/a.git", "https://ghp_hunter2hunter2hunter2hunter2@git.example/a.git"] {
        run(&project, &["config", "remote.origin.url", url]);
        for remote in [url, "origin"] {
            let destination = Destination { remote: remote.to_owned(), ..site.destination(Mode::Branch) };
            let fault = git::record(&results(0..1), &destination).unwrap_err();
            let said = format!("{fault:?}");
            assert!(!said.contains("hunter2"), "{said}");
            let names = [("https://[redacted]@git.example/a.git", "REMOTE"), ("origin", "REMOTE")];
            assert_text(
                named(&fault.message, &names),
                str! {"the remote `REMOTE` is refused: the address holds a password or token"},
            );
            assert_eq!(fault.kind, Kind::Refused);
        }
    }
}

#[test]
fn hostile_branches_and_inboxes_are_refused() {
    let site = Site::new();
    for branch in ["", "-x", "a..b", "a b", "a:b", "x/", "a\nb", "refs/../x", "@{1}", "*"] {
        let destination = Destination { branch: branch.to_owned(), ..site.destination(Mode::Branch) };
        assert_eq!(git::record(&results(0..1), &destination).unwrap_err().kind, Kind::Refused, "{branch:?}");
    }
    for inbox in ["", "inbox", "--x", "refs/a b", "refs/*", "refs/x:y", "refs/kubebench/inbox/"] {
        let destination = Destination { inbox: inbox.to_owned(), ..site.destination(Mode::Inbox) };
        assert_eq!(git::record(&results(0..1), &destination).unwrap_err().kind, Kind::Refused, "{inbox:?}");
    }
    assert_eq!(site.refs("refs"), Vec::<String>::new());
}

#[test]
fn an_unknown_remote_is_said() {
    let site = Site::new();
    run(&site.path().join("project"), &["init", "--quiet"]);
    let destination = Destination { remote: "upstream".to_owned(), ..site.destination(Mode::Branch) };
    let fault = git::record(&results(0..1), &destination).unwrap_err();
    assert_line(steady(&fault.message), str! {"there is no remote `upstream` in the repository of `FOLDER/project`"});
}

#[test]
fn remotes_are_found_as_git_finds_them() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    std::fs::create_dir(project.join("below")).unwrap();
    run(&project, &["config", "remote.origin.url", "https://git.example/fetched.git"]);
    run(&project, &["config", "remote.origin.pushurl", "../remote.git"]);
    run(&project, &["config", "remote.team/results.url", "results:a.git"]);
    run(&project, &["config", &format!("url.{}.insteadOf", site.remote().display()), "results:a.git"]);
    let names =
        ["origin", "team/results", "../remote.git", "results:a.git", &format!("file://{}", site.remote().display())];
    for (number, name) in (0_u32..).zip(names) {
        for folder in [project.clone(), project.join("below")] {
            let destination = Destination { remote: name.to_owned(), folder, ..site.destination(Mode::Branch) };
            git::record(&[result(number)], &destination).unwrap_or_else(|fault| panic!("{name}: {fault:?}"));
        }
    }
    assert_eq!(site.files(), expected(&results(0..5)));
}
