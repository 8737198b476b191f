//! `fold`: the inbox becomes files of the branch, and what may not enter is set aside.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, str};

use super::*;

/// Puts a commit with these files under a ref of the inbox, as somebody who does not use kubebench might.
pub(super) fn plant(site: &Site, name: &str, files: &[(&str, &str)]) {
    let repository = git2::Repository::open(site.remote()).unwrap();
    let mut index = git2::Index::new().unwrap();
    for (path, text) in files {
        let entry = git2::IndexEntry {
            ctime: git2::IndexTime::new(0, 0),
            mtime: git2::IndexTime::new(0, 0),
            dev: 0,
            ino: 0,
            mode: 0o100_644,
            uid: 0,
            gid: 0,
            file_size: 0,
            id: repository.blob(text.as_bytes()).unwrap(),
            flags: 0,
            flags_extended: 0,
            path: path.as_bytes().to_vec(),
        };
        index.add(&entry).unwrap();
    }
    let tree = repository.find_tree(index.write_tree_to(&repository).unwrap()).unwrap();
    let who = git2::Signature::new("Eve", "eve@example.com", &git2::Time::new(1, 0)).unwrap();
    let name = format!("refs/kubebench/inbox/{name}");
    repository.commit(Some(&name), &who, &who, "Planted", &tree, &[]).unwrap();
}

#[test]
fn an_inbox_becomes_one_commit() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..30)).unwrap();
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.dropped.len(), folded.rejected.len()), (30, 0, 0));
    assert_eq!(site.files(), expected(&results(0..30)));
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
    assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "1");
    let again = site.fold().unwrap();
    assert_eq!((again.added.len(), again.commit), (0, None));
    site.assert_clean();
}

#[test]
fn more_than_one_batch() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..520)).unwrap();
    assert_eq!(site.fold().unwrap().added.len(), 520);
    assert_eq!(site.files(), expected(&results(0..520)));
    assert_eq!(run(&site.remote(), &["rev-list", "--count", "kubebench/results"]), "3");
}

#[test]
fn what_the_branch_has_is_dropped() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..3)).unwrap();
    site.record(Mode::Branch, &results(0..3)).unwrap();
    let before = run(&site.remote(), &["rev-parse", "kubebench/results"]);
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.dropped.len(), folded.commit), (0, 3, None));
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
    assert_eq!(run(&site.remote(), &["rev-parse", "kubebench/results"]), before);
}

#[test]
fn what_is_behind_a_ref_is_not_fetched() {
    let site = Site::new();
    site.record(Mode::Inbox, &[result(1)]).unwrap();
    let repository = git2::Repository::open(site.remote()).unwrap();
    let tree = repository.find_tree(repository.treebuilder(None).unwrap().write().unwrap()).unwrap();
    let who = git2::Signature::new("Eve", "eve@example.com", &git2::Time::new(1, 0)).unwrap();
    let mut chain: Vec<git2::Oid> = Vec::new();
    for number in 0..5 {
        let parent = chain.last().map(|last| repository.find_commit(*last).unwrap());
        let parents: Vec<_> = parent.iter().collect();
        let name = "refs/kubebench/inbox/long";
        chain.push(repository.commit(Some(name), &who, &who, &number.to_string(), &tree, &parents).unwrap());
    }
    // A request for the first one reports it.
    let first = chain[0].to_string();
    std::fs::remove_file(site.remote().join("objects").join(&first[..2]).join(&first[2..])).unwrap();
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.rejected.len()), (1, 1));
    assert_eq!(folded.rejected[0].reason, "it has parent commits, but a result has none");
}

#[test]
fn what_may_not_enter_is_set_aside_and_the_rest_folded() {
    let site = Site::new();
    site.record(Mode::Inbox, &[result_saying(9, "second"), result(1), result(2)]).unwrap();
    site.record(Mode::Branch, &[result_saying(9, "first")]).unwrap();
    let good = String::from_utf8(result(3).bytes).unwrap();
    let huge = "x".repeat(3 << 20);
    plant(&site, "a-no-json", &[("results/x.json", "{")]);
    plant(&site, "b-two", &[("results/x.json", &good), ("results/y.json", &good)]);
    plant(&site, "c-elsewhere", &[(".github/workflows/x.yaml", &good)]);
    plant(&site, "d-huge", &[("results/x.json", &huge)]);
    plant(&site, "e-empty", &[]);
    plant(&site, "f/nested/name", &[(&result(4).path, &String::from_utf8(result(4).bytes).unwrap())]);
    let folded = site.fold().unwrap();
    let mut all = results(1..3);
    all.extend([result(4), result_saying(9, "first")]);
    assert_eq!(site.files(), expected(&all));
    assert_eq!(site.refs("refs/kubebench/inbox"), Vec::<String>::new());
    assert_eq!(folded.rejected.len(), 6);
    assert_eq!(site.refs("refs/kubebench/rejected").len(), 6);
    let reasons: Vec<&str> = folded.rejected.iter().map(|rejected| rejected.reason.as_str()).collect();
    for words in ["has other content", "no JSON", "2 files", "its content belongs at", "larger than", "0 files"] {
        assert!(reasons.iter().any(|reason| reason.contains(words)), "{words}: {reasons:#?}");
    }
    for rejected in &folded.rejected {
        assert!(site.refs("refs").contains(&rejected.to), "{rejected:?}");
    }
    // Nothing is left to do, and what was set aside stays.
    assert_eq!(site.fold().unwrap().rejected, []);
    assert_eq!(site.refs("refs/kubebench/rejected").len(), 6);
}

#[test]
fn two_refs_that_want_one_path_do_not_overwrite_each_other() {
    let site = Site::new();
    let text = |words: &str| String::from_utf8(result_saying(3, words).bytes).unwrap();
    plant(&site, "a", &[(&result(3).path, &text("one"))]);
    plant(&site, "b", &[(&result(3).path, &text("two"))]);
    plant(&site, "c", &[(&result(3).path, &text("one"))]);
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.dropped.len(), folded.rejected.len()), (1, 1, 1));
    assert_eq!(site.files(), expected(&[result_saying(3, "one")]));
}

#[test]
fn many_folds_at_once_lose_nothing() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..40)).unwrap();
    std::thread::scope(|scope| {
        let folds: Vec<_> = (0..4).map(|_| scope.spawn(|| site.fold().unwrap())).collect();
        let writer = scope.spawn(|| site.record(Mode::Inbox, &results(40..50)).unwrap());
        let folded: usize = folds.into_iter().map(|fold| fold.join().unwrap().added.len()).sum();
        writer.join().unwrap();
        assert_eq!(folded + site.fold().unwrap().added.len(), 50, "each is counted once");
    });
    assert_eq!(site.files(), expected(&results(0..50)));
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
}

/// Folds with a git whose first push waits until `meanwhile` is done, and then does `then`, a line of shell.
fn folded_around(site: &Site, then: &str, meanwhile: impl FnOnce()) -> Folded {
    let script = format!(
        "case \" $* \" in *\" push \"*) if mkdir '{0}/pushing' 2>/dev/null; then read -r x < '{0}/go'; {then}; fi;; esac; \
         exec git \"$@\"",
        site.path().display()
    );
    hook(site.path(), "slow-git", &script);
    assert!(Command::new("mkfifo").arg(site.path().join("go")).status().unwrap().success());
    let program = site.path().join("hooks/slow-git");
    let destination = Destination { program, ..site.destination(Mode::Inbox) };
    std::thread::scope(|scope| {
        let fold = scope.spawn(|| git::fold(&destination, &judge).unwrap());
        // Opens only when the push is about to begin.
        let mut go = std::fs::OpenOptions::new().write(true).open(site.path().join("go")).unwrap();
        meanwhile();
        std::io::Write::write_all(&mut go, b"\n").unwrap();
        fold.join().unwrap()
    })
}

#[test]
fn a_fold_that_was_raced_counts_nothing_of_the_others() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..3)).unwrap();
    plant(&site, "broken", &[("results/x.json", "{")]);
    let raced = folded_around(&site, "true", || {
        let other = site.fold().unwrap();
        assert_eq!((other.added.len(), other.rejected.len()), (3, 1));
    });
    assert_eq!((raced.added, raced.dropped, raced.rejected, raced.commit), (vec![], vec![], vec![], None));
    assert_eq!(site.files(), expected(&results(0..3)));
}

#[test]
fn after_a_broken_push_only_what_is_seen_there_is_counted() {
    let site = Site::new();
    site.record(Mode::Inbox, &[result(1), result_saying(3, "second")]).unwrap();
    plant(&site, "broken", &[("results/x.json", "{")]);
    let broken = "echo 'fatal: the remote end hung up unexpectedly' >&2; exit 128";
    let folded = folded_around(&site, broken, || {
        site.record(Mode::Branch, &[result_saying(3, "first")]).unwrap();
        assert_eq!(site.fold().unwrap().rejected.len(), 2);
    });
    // Who brought it there is not known any more, but there it is.
    assert_eq!(folded.added, [result(1).path]);
    assert_eq!(folded.rejected.len(), 1, "the one that was moved aside as this fold meant to: {folded:?}");
    assert_line(&folded.rejected[0].reason, str! {"it is no JSON: EOF while parsing an object at line 1 column 1"});
    assert_eq!(site.files(), expected(&[result(1), result_saying(3, "first")]));
}

#[test]
fn a_server_that_refuses_the_branch_keeps_the_inbox() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..5)).unwrap();
    site.hook("pre-receive", "echo 'this branch is protected' >&2; exit 1");
    let fault = site.fold().unwrap_err();
    assert_eq!(fault.kind, Kind::Refused);
    assert!(fault.message.contains("this branch is protected"), "{fault:?}");
    assert_eq!(site.refs("refs/kubebench/inbox").len(), 5);
    assert_eq!(site.files(), BTreeMap::new());
}
