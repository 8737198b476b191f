//! Servers that fail: what passes is tried again, what is refused is not, and what took place without an answer is found.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, str};
use kubebench_testing::watchdog::returns;

use crate::support::steady::steady;

use super::server::{Daemon, Fault, Http};
use super::*;

fn record_at(site: &Site, mode: Mode, url: &str, deadline: Duration) -> Result<Recorded, NotRecorded> {
    let destination = Destination { remote: url.to_owned(), deadline, ..site.destination(mode) };
    git::record(&results(0..3), &destination)
}

/// The same at a server that never answers, so that nothing but the deadline is a reason to return.
fn not_recorded_at(site: &Site, mode: Mode, url: &str, deadline: Duration) -> NotRecorded {
    let destination = Destination { remote: url.to_owned(), deadline, ..site.destination(mode) };
    returns("a record", move || git::record(&results(0..3), &destination)).unwrap_err()
}

fn fold_at(site: &Site, url: &str) -> Folded {
    let destination = Destination { remote: url.to_owned(), ..site.destination(Mode::Inbox) };
    git::fold(&destination, &judge).unwrap()
}

#[test]
fn http_and_git_daemon() {
    let site = Site::new();
    let http = Http::serve(site.path(), &[], None, None);
    assert_eq!(record_at(&site, Mode::Branch, &http.url("remote.git"), WATCHDOG).unwrap().added.len(), 3);
    assert_eq!(record_at(&site, Mode::Branch, &http.url("remote.git"), WATCHDOG).unwrap().already.len(), 3);
    assert_eq!(record_at(&site, Mode::Inbox, &http.url("remote.git"), WATCHDOG).unwrap().already.len(), 3);
    assert_eq!(site.files(), expected(&results(0..3)));

    let site = Site::new();
    let Some(daemon) = Daemon::serve("http_and_git_daemon", site.path()) else { return };
    record_at(&site, Mode::Inbox, &daemon.url("remote.git"), WATCHDOG).unwrap();
    assert_eq!(fold_at(&site, &daemon.url("remote.git")).added.len(), 3);
    assert_eq!(record_at(&site, Mode::Branch, &daemon.url("remote.git"), WATCHDOG).unwrap().already.len(), 3);
}

#[test]
fn every_passing_fault_is_survived() {
    let faults = [Fault::CloseMidPack, Fault::Status500, Fault::DropAnswer];
    for mode in [Mode::Branch, Mode::Inbox] {
        for fault in faults {
            let site = Site::new();
            let http = Http::serve(site.path(), &[fault], None, None);
            let recorded = record_at(&site, mode, &http.url("remote.git"), WATCHDOG).unwrap();
            assert_eq!((recorded.added.len(), recorded.tries), (3, 2), "{mode:?} {fault:?}");
            // What took place is not done again.
            let pushes = if fault == Fault::DropAnswer { 1 } else { 2 };
            assert_eq!(http.pushes(), pushes, "{mode:?} {fault:?}");
            if mode == Mode::Inbox {
                let http = Http::serve(site.path(), &[fault], None, None);
                let folded = fold_at(&site, &http.url("remote.git"));
                assert_eq!((folded.added.len(), folded.rejected.len(), http.pushes()), (3, 0, pushes), "{fault:?}");
                assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
            }
            assert_eq!(site.files(), expected(&results(0..3)), "{mode:?} {fault:?}");
            assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "1");
            site.assert_clean();
        }
    }
}

#[test]
fn a_server_that_hangs_does_not_hold_us_beyond_the_deadline() {
    for mode in [Mode::Branch, Mode::Inbox] {
        let site = Site::new();
        let http = Http::serve(site.path(), &[], Some(Fault::Hang), None);
        let fault = not_recorded_at(&site, mode, &http.url("remote.git"), Duration::from_secs(1));
        assert_eq!(fault.kind, Kind::TryAgain);
        assert_line(steady(&fault.message), str! {"not recorded after 1 attempt in SECONDS s: no answer within 1 s"});
        let help = fault.help.unwrap();
        assert_line(
            &help,
            str! {"all 3 results are kept, the first in `results/kept-0.json`; record it again with `kubebench record`"},
        );
        site.assert_clean();
    }
}

/// A server that takes connections and says nothing.
#[test]
fn silence_is_not_waited_for_beyond_the_deadline() {
    let site = Site::new();
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap();
    for scheme in ["http", "git"] {
        for mode in [Mode::Branch, Mode::Inbox] {
            let url = format!("{scheme}://{address}/a.git");
            let fault = not_recorded_at(&site, mode, &url, Duration::from_millis(400));
            assert_eq!(fault.kind, Kind::TryAgain, "{fault:?}");
        }
    }
    site.assert_clean();
}

/// The push takes place, but its answer does not come before the deadline.
#[test]
fn after_the_deadline_there_is_one_last_look() {
    for mode in [Mode::Branch, Mode::Inbox] {
        let site = Site::new();
        site.hook("post-receive", "exec sleep 20");
        let destination = Destination { deadline: Duration::from_secs(2), ..site.destination(mode) };
        let recorded = git::record(&results(0..1), &destination).unwrap();
        assert_eq!(recorded.added, [result(0).path], "{mode:?}");
        assert_eq!(site.refs("refs").len(), 1);
    }
}

#[test]
fn a_hook_of_the_servers_is_trusted_the_second_time() {
    for mode in [Mode::Branch, Mode::Inbox] {
        let site = Site::new();
        let script = "echo x >> \"$GIT_DIR/asked\"; printf 'results need a ticket\\033[31m\\n' >&2; exit 1";
        site.hook("pre-receive", script);
        let fault = site.record(mode, &results(0..2)).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
        assert!(fault.message.contains("results need a ticket"), "{fault:?}");
        assert!(!fault.message.contains('\u{1b}'), "{fault:?}");
        let asked = std::fs::read_to_string(site.remote().join("asked")).unwrap();
        assert_eq!(asked.lines().count(), 2);
        assert_eq!(site.refs("refs"), Vec::<String>::new());
    }
}

#[test]
fn every_other_push_rejected_is_no_refusal() {
    let site = Site::new();
    let script = "cd \"$GIT_DIR\" && if test -e once; then rm once; else touch once; echo 'try later' >&2; exit 1; fi";
    site.hook("pre-receive", script);
    for number in 0..4 {
        let recorded = site.record(Mode::Branch, &results(number..number + 1)).unwrap();
        assert_eq!((recorded.added.len(), recorded.tries), (1, 2));
    }
    let recorded = site.record(Mode::Inbox, &results(4..6)).unwrap();
    assert_eq!(recorded.added.len(), 2);
    site.fold().unwrap();
    assert_eq!(site.files(), expected(&results(0..6)));
}

#[test]
fn a_branch_that_moves_during_the_push_is_a_race() {
    let site = Site::new();
    site.record(Mode::Branch, &results(0..1)).unwrap();
    // The first three pushes find that another push was faster by a moment.
    let script = "cd \"$GIT_DIR\"; n=$(ls raced.* 2>/dev/null | wc -l); test $n -ge 3 && exit 0; touch raced.$n\n\
        unset GIT_QUARANTINE_PATH GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES\n\
        tip=$(git rev-parse refs/heads/kubebench/results)\n\
        new=$(echo other | git -c user.name=a -c user.email=a@b commit-tree $tip^{tree} -p $tip)\n\
        git update-ref refs/heads/kubebench/results $new";
    site.hook("pre-receive", script);
    let recorded = site.record(Mode::Branch, &results(1..2)).unwrap();
    assert_eq!((recorded.added.len(), recorded.tries), (1, 4));
    assert_eq!(site.files(), expected(&results(0..2)));
    assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "5");
}

#[test]
fn what_time_does_not_fix_is_refused_soon() {
    let site = Site::new();
    let http = Http::serve(site.path(), &[], Some(Fault::Forbidden), None);
    for (url, words) in [
        (http.url("remote.git"), "403"),
        (http.url("absent.git"), "not found"),
        (site.path().join("absent.git").display().to_string(), "not appear to be a git repository"),
    ] {
        for mode in [Mode::Branch, Mode::Inbox] {
            let fault = record_at(&site, mode, &url, WATCHDOG).unwrap_err();
            assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
            assert!(fault.message.contains(words), "{words}: {fault:?}");
        }
    }
}

#[test]
fn a_server_that_is_not_there_may_come_back() {
    let site = Site::new();
    let gone = Http::serve(site.path(), &[], None, None).url("remote.git");
    std::thread::sleep(Duration::from_millis(100));
    let fault = record_at(&site, Mode::Branch, &gone, Duration::from_millis(500)).unwrap_err();
    assert_eq!(fault.kind, Kind::TryAgain, "{fault:?}");
    assert_line(
        fault.help.as_ref().unwrap(),
        str! {"all 3 results are kept, the first in `results/kept-0.json`; record it again with `kubebench record`"},
    );
}

#[test]
fn without_git_or_with_an_old_one_it_is_said() {
    let site = Site::new();
    hook(site.path(), "git", "echo git version 2.30.2");
    for (program, words) in [("no-such-git", "there is no program `no-such-git`"), ("hooks/git", "this is git 2.30")] {
        for mode in Mode::ALL {
            let program = if program.contains('/') { site.path().join(program) } else { PathBuf::from(program) };
            let destination = Destination { program, ..site.destination(mode) };
            let fault = git::record(&results(0..1), &destination).unwrap_err();
            assert!(fault.message.contains(words), "{fault:?}");
            assert!(fault.help.unwrap().contains("results/kept-0.json"));
        }
    }
}
