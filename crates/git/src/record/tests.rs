use std::time::Duration;

use super::answer::{Pushed, Trouble, is_missing_ref, pushed, trouble, without_address};
use super::place::{inbox_ref, is_address, is_folder, refuse_address, refuse_inbox, refuse_path, rejected_ref};
use super::redact::Redactor;
use super::retry::{Strikes, Telling, pause};

#[test]
fn one_race_has_many_names() {
    for reason in [
        "[rejected] (fetch first)",
        "[rejected] (non-fast-forward)",
        "[rejected] (stale info)",
        "[rejected] (already exists)",
        "[remote rejected] (cannot lock ref 'refs/heads/x': is at a but expected b)",
        "[remote rejected] (failed to update ref)",
        "[remote rejected] (incorrect old value provided)",
        "[remote rejected] (reference already exists)",
    ] {
        let porcelain = format!("To /srv/x.git\n!\tabc:refs/heads/x\t{reason}\nDone");
        assert_eq!(pushed(false, &porcelain, ""), Pushed::Raced, "{reason}");
    }
}

#[test]
fn refusals_carry_the_servers_words() {
    let porcelain =
        "To x\n!\ta:b\t[remote rejected] (atomic push failure)\n!\tc:d\t[remote rejected] (pre-receive hook declined)";
    let words =
        "remote: GH006: Protected branch update failed        \nremote: \nremote: Ask Ada.\nerror: failed to push";
    let expected = "pre-receive hook declined: GH006: Protected branch update failed; Ask Ada.";
    assert_eq!(pushed(false, porcelain, words), Pushed::Rejected(expected.to_owned()));
    let alone = "!\tc:d\t[remote rejected] (atomic transaction failed)";
    assert!(matches!(pushed(false, alone, ""), Pushed::Rejected(_)));
}

#[test]
fn success_needs_status_and_answer() {
    assert_eq!(pushed(true, "To x\n*\ta:b\t[new branch]\nDone", ""), Pushed::Accepted);
    assert_eq!(pushed(true, "To x\n=\ta:b\t[up to date]\nDone", ""), Pushed::Accepted);
    assert!(matches!(pushed(true, "!\ta:b\t[remote failure] (remote failed to report status)", ""), Pushed::Broken(_)));
    assert!(matches!(
        pushed(false, "", "fatal: the remote end hung up unexpectedly"),
        Pushed::Broken(Trouble::Passing(_))
    ));
}

#[test]
fn what_passes_and_what_lasts() {
    for words in [
        "fatal: unable to access 'http://x/': Failed to connect to x port 80: Connection refused",
        "error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500",
        "error: RPC failed; HTTP 503",
        "fatal: early EOF",
        "ssh: Could not resolve hostname x: Temporary failure in name resolution",
        "",
    ] {
        assert!(matches!(trouble(words), Trouble::Passing(_)), "{words}");
    }
    for words in [
        "remote: HTTP Basic: Access denied\nfatal: Authentication failed for 'https://x/'",
        "fatal: could not read Username for 'https://x': terminal prompts disabled",
        "git@x: Permission denied (publickey).\nfatal: Could not read from remote repository.",
        "remote: Repository not found.\nfatal: repository 'https://x/' not found",
        "fatal: unable to access 'https://x/': The requested URL returned error: 403",
        "fatal: mismatched algorithms: client sha1; server sha256",
    ] {
        assert!(matches!(trouble(words), Trouble::Lasting(_)), "{words}");
    }
    assert_eq!(trouble("warning: x\nhint: y\nfatal: it broke\n").words(), "it broke");
    assert!(is_missing_ref("fatal: couldn't find remote ref refs/heads/x"));
}

#[test]
fn two_strikes_on_one_state_are_final() {
    let mut strikes = Strikes::default();
    strikes.strike("a", "no");
    assert_eq!(strikes.refused("a"), None);
    strikes.strike("b", "no");
    assert_eq!(strikes.refused("b"), None, "it moved between");
    strikes.strike("b", "never");
    assert_eq!(strikes.refused("b"), Some("never"));
    assert_eq!(strikes.refused("c"), None, "it moved since");
}

#[test]
fn pauses_grow_to_a_limit_and_use_their_whole_range() {
    assert_eq!(pause(0, 0), Duration::ZERO);
    for (failures, ceiling) in [(0, 200), (1, 400), (5, 6400), (6, 8000), (40, 8000), (u32::MAX, 8000)] {
        let longest = (0..2000_u64).map(|n| pause(failures, n.wrapping_mul(0x9E37_79B9_7F4A_7C15))).max().unwrap();
        let ceiling = Duration::from_millis(ceiling);
        assert!(longest <= ceiling && longest > ceiling * 9 / 10, "{failures}: {longest:?}");
    }
}

#[test]
fn the_first_failure_is_reported_at_once_and_later_ones_now_and_then() {
    let reported = |ask: fn(&mut Telling, Duration) -> bool, seconds: &[u64]| {
        let mut telling = Telling::default();
        seconds.iter().copied().filter(|&at| ask(&mut telling, Duration::from_secs(at))).collect::<Vec<_>>()
    };
    let seconds: Vec<u64> = (0..100).collect();
    assert_eq!(reported(Telling::of_failure, &seconds), [0, 30, 60, 90]);
    assert_eq!(reported(Telling::of_failure, &[7, 36, 37, 300]), [7, 37, 300]);
    assert_eq!(reported(Telling::of_delay, &seconds), [30, 60, 90], "a race that was lost is nothing to be told of");
    let words = "unable to access 'https://x/': Could not resolve host: x";
    assert_eq!(without_address(words), "Could not resolve host: x");
    assert_eq!(without_address("early EOF"), "early EOF");
}

#[test]
fn words_lose_their_secrets_and_keep_their_sense() {
    let redactor = Redactor::knowing(["hunter2-and-more".to_owned(), "hunter2".to_owned(), "a".to_owned()]);
    for (text, expected) in [
        (
            "fatal: unable to access 'https://bot:pw@git.example/a.git/': x",
            "fatal: unable to access 'https://[redacted]@git.example/a.git/': x",
        ),
        ("https://ghp_0123456789abcdef0123@github.com/a", "https://[redacted]@github.com/a"),
        (
            "ssh://git@git.example/a and https://ada@git.example/b",
            "ssh://git@git.example/a and https://ada@git.example/b",
        ),
        ("GET https://x/a?access_token=abc&b=1 failed", "GET https://x/a?access_token=[redacted]&b=1 failed"),
        ("Authorization: Basic Zm9vOmJhcg==", "Authorization: Basic [redacted]"),
        ("=> Send header: PRIVATE-TOKEN: glpat-x", "=> Send header: PRIVATE-TOKEN: [redacted]"),
        ("it is hunter2-and-more and hunter2", "it is [redacted] and [redacted]"),
        ("a normal sentence", "a normal sentence"),
        ("red \u{1b}[31mtext\u{202e}\u{7}", "red  [31mtext "),
        ("10%\r20%\r\n\ndone\n", "10%\n20%\ndone"),
    ] {
        assert_eq!(redactor.clean(text), expected);
    }
    assert!(!format!("{redactor:?}").contains("hunter2"));
}

#[test]
fn addresses_names_and_folders() {
    for (text, address, folder) in [
        ("origin", false, true),
        ("../x.git", true, true),
        ("/srv/x.git", true, true),
        ("./a:b", true, true),
        ("host:x.git", true, false),
        ("git@host:team/x.git", true, false),
        ("https://host/x.git", true, false),
        ("file:///srv/x.git", true, true),
    ] {
        assert_eq!((is_address(text), is_folder(text)), (address, folder), "{text}");
        assert_eq!(refuse_address(text), Ok(()));
    }
    for text in ["-x", "ext::sh", "a@-x:b", "https://a:b@c/d", "https://c/d?token=x", "https://c/d#x", "foo://x"] {
        assert!(refuse_address(text).is_err(), "{text}");
    }
}

#[test]
fn an_inbox_holds_nothing_else() {
    for inbox in ["refs/kubebench/inbox", "refs/heads/kubebench/inbox", "refs/x/y"] {
        assert_eq!(refuse_inbox(inbox, "kubebench/results"), Ok(()), "{inbox}");
    }
    for inbox in
        ["refs/heads", "refs/kubebench", "refs/heads/kubebench", "refs/tags/x", "refs", "refs/heads/kubebench/results"]
    {
        assert!(refuse_inbox(inbox, "kubebench/results").is_err(), "{inbox}");
    }
    let id = "0123456789abcdef0123456789abcdef";
    let named = |path| inbox_ref("refs/a/inbox", id, path).unwrap();
    assert_eq!(named("r/b/c-p0a1b2c3/20260102T030405Z-01234567-r1-a1.json"), format!("refs/a/inbox/{id}"));
    let again = named("r/b/c/20260102T030405Z-01234567-r1-a1-p0a1b2c3d.json");
    assert_eq!(again, format!("refs/a/inbox/{id}-p0a1b2c3d"), "a result and what was read again do not collide");
    assert!(inbox_ref("refs/a/inbox", "x", "").is_err());
    assert_eq!(rejected_ref("refs/a/inbox", "refs/a/inbox/x", "0123456789abcdef"), "refs/a/rejected/x-0123456789ab");
    assert_eq!(rejected_ref("refs/a/b", "refs/a/b/x", "01"), "refs/a/b-rejected/x-01");
}

#[test]
fn paths_of_results() {
    assert_eq!(refuse_path("results/resnet50-ddp/bs64-0123abcd/20261121T154111Z-01234567-r1-a1.json"), Ok(()));
    assert!(refuse_path(&"a/".repeat(600)).is_err());
}
