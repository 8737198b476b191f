//! Mode `inbox` against a repository in a folder.

use kubebench_git::record::Mode;
use kubebench_testing::snapshot::{assert_line, str};

use crate::support::steady::steady;

use super::*;

#[test]
fn each_run_has_a_ref_with_its_file_alone() {
    let site = Site::new();
    let recorded = site.record(Mode::Inbox, &results(0..3)).unwrap();
    assert_eq!(recorded.added.len(), 3);
    let names: Vec<String> = (0..3).map(|number| format!("refs/kubebench/inbox/{}", result(number).run_id)).collect();
    assert_eq!(site.refs("refs"), names);
    let tree = run(&site.remote(), &["ls-tree", "-r", "--name-only", &names[1]]);
    assert_eq!(tree, result(1).path);
    assert_eq!(run(&site.remote(), &["log", "--format=%P%at %ct", &names[1]]), "1795275672 1795275672");
    site.assert_clean();
}

#[test]
fn a_replay_is_the_same_commit() {
    let site = Site::new();
    let first = site.record(Mode::Inbox, &results(5..6)).unwrap();
    let again = site.record(Mode::Inbox, &results(5..6)).unwrap();
    assert_eq!(again.already.len() + again.added.len(), 1);
    assert_eq!(again.conflicts, []);
    assert_eq!(run(&site.remote(), &["rev-parse", &site.refs("refs")[0]]), first.commit.unwrap());
}

#[test]
fn the_same_file_by_another_author_is_the_same_result() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(5..6)).unwrap();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    run(&project, &["config", "user.name", "Grace"]);
    run(&project, &["config", "user.email", "grace@example.com"]);
    let again = site.record(Mode::Inbox, &results(4..7)).unwrap();
    assert_eq!(again.already, [result(5).path]);
    assert_eq!(again.added, [result(4).path, result(6).path]);
    assert_eq!(site.refs("refs").len(), 3);
}

#[test]
fn another_result_under_one_id_is_refused() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(5..6)).unwrap();
    let recorded = site.record(Mode::Inbox, &[result_saying(5, "otherwise"), result(6)]).unwrap();
    assert_eq!(recorded.added, [result(6).path]);
    let words = recorded.conflicts[0].to_string();
    assert!(words.contains(&kubebench_syntax::digest::Digest::of(&result(5).bytes).to_string()), "{words}");
    site.fold().unwrap();
    assert_eq!(site.files(), expected(&results(5..7)));
}

#[test]
fn what_was_folded_is_not_pushed_again() {
    let site = Site::new();
    site.record(Mode::Inbox, &results(0..3)).unwrap();
    site.fold().unwrap();
    let again = site.record(Mode::Inbox, &results(0..3)).unwrap();
    assert_eq!((again.added.len(), again.already.len(), again.commit), (0, 3, None));
    assert_eq!(site.refs("refs/kubebench"), Vec::<String>::new());
    let more = site.record(Mode::Inbox, &results(2..5)).unwrap();
    assert_eq!((more.added, more.already), (vec![result(3).path, result(4).path], vec![result(2).path]));
    let other = site.record(Mode::Inbox, &[result_saying(1, "otherwise"), result(6)]).unwrap();
    assert_eq!(other.added, [result(6).path]);
    let words = other.conflicts[0].to_string();
    assert_line(
        steady(&words),
        str! {"`results/bench-1/case-1/RUN-a1.json` has other content in branch `kubebench/results`: sha256:DIGEST there, sha256:DIGEST in `results/kept-1.json`"},
    );
    assert!(words.contains(&kubebench_syntax::digest::Digest::of(&result(1).bytes).to_string()), "{words}");
}

/// A token may be allowed to write the inbox and nothing else.
#[test]
fn a_branch_that_cannot_be_read_does_not_keep_a_result_out_of_the_inbox() {
    let site = Site::new();
    site.record(Mode::Branch, &results(0..1)).unwrap();
    run(&site.remote(), &["config", "uploadpack.hideRefs", "refs/heads/kubebench"]);
    let recorded = site.record(Mode::Inbox, &results(0..2)).unwrap();
    assert_eq!(recorded.added.len(), 2);
    run(&site.remote(), &["config", "--unset", "uploadpack.hideRefs"]);
    let folded = site.fold().unwrap();
    assert_eq!((folded.added.len(), folded.dropped.len()), (1, 1));
}

#[test]
fn ids_are_not_taken_for_more_than_ids() {
    let site = Site::new();
    for id in ["", "x", "../../heads/main", "0123456789abcdef0123456789ABCDEF", "0123456789abcdef0123456789abcdef0"] {
        let mut addition = result(1);
        addition.run_id = id.to_owned();
        assert!(site.record(Mode::Inbox, &[addition]).is_err(), "{id}");
    }
}
