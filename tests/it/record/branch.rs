//! Mode `branch` against a repository in a folder.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use crate::support::steady::steady;

use super::*;

#[test]
fn a_missing_branch_is_created_and_then_grows() {
    let site = Site::new();
    let first = site.record(Mode::Branch, &results(0..1)).unwrap();
    assert_eq!(first.added, [result(0).path]);
    assert_eq!(first.tries, 1);
    let second = site.record(Mode::Branch, &results(1..4)).unwrap();
    assert_eq!(second.added.len(), 3);
    assert_eq!(site.files(), expected(&results(0..4)));
    let log = run(&site.remote(), &["log", "--format=%s|%P", "kubebench/results"]);
    let lines: Vec<&str> = log.lines().collect();
    assert_text(lines[0].split('|').next().unwrap(), str! {"Record 3 results of 3 benchmarks"});
    assert_eq!(lines[1], "Record bench-0 batchSize=0 r1: succeeded|");
    assert_eq!(lines.len(), 2);
    assert_eq!(second.commit.unwrap(), run(&site.remote(), &["rev-parse", "kubebench/results"]));
    site.assert_clean();
}

#[test]
fn the_same_again_is_nothing_to_do() {
    let site = Site::new();
    site.record(Mode::Branch, &results(0..2)).unwrap();
    let before = run(&site.remote(), &["rev-parse", "kubebench/results"]);
    let again = site.record(Mode::Branch, &results(0..2)).unwrap();
    assert_eq!((again.added.len(), again.already.len(), again.commit), (0, 2, None));
    assert_eq!(run(&site.remote(), &["rev-parse", "kubebench/results"]), before);
}

#[test]
fn other_content_at_a_path_is_refused_and_the_rest_recorded() {
    let site = Site::new();
    site.record(Mode::Branch, &results(0..1)).unwrap();
    let other = result_saying(0, "otherwise");
    let recorded = site.record(Mode::Branch, &[other.clone(), result(1)]).unwrap();
    assert_eq!(recorded.added, [result(1).path]);
    assert_eq!(recorded.conflicts.len(), 1);
    let words = recorded.conflicts[0].to_string();
    for part in [
        other.path.clone(),
        kubebench_syntax::digest::Digest::of(&other.bytes).to_string(),
        kubebench_syntax::digest::Digest::of(&result(0).bytes).to_string(),
        other.kept,
    ] {
        assert!(words.contains(&part), "{words}");
    }
    assert_eq!(site.files(), expected(&results(0..2)));
    let alone = site.record(Mode::Branch, &[result_saying(0, "otherwise")]).unwrap();
    assert_eq!((alone.added.len(), alone.conflicts.len()), (0, 1));
}

#[test]
fn what_else_is_in_the_branch_stays() {
    let site = Site::new();
    let clone = site.path().join("clone");
    run(site.path(), &["clone", "--quiet", "remote.git", "clone"]);
    run(&clone, &["checkout", "--quiet", "-b", "kubebench/results"]);
    std::fs::create_dir_all(clone.join("results/bench-0")).unwrap();
    std::fs::write(clone.join("README.md"), "ours\n").unwrap();
    std::fs::write(clone.join("results/bench-0/notes.txt"), "ours\n").unwrap();
    std::os::unix::fs::symlink("README.md", clone.join("link")).unwrap();
    // A file where the folder of a result would have to be.
    std::fs::create_dir_all(clone.join("results/bench-1")).unwrap();
    std::fs::write(clone.join("results/bench-1/case-1"), "in the way\n").unwrap();
    run(&clone, &["add", "."]);
    run(&clone, &["commit", "--quiet", "-m", "Ours"]);
    run(&clone, &["push", "--quiet", "origin", "kubebench/results"]);
    let recorded = site.record(Mode::Branch, &results(0..2)).unwrap();
    assert_eq!(recorded.added, [result(0).path]);
    assert_line(
        steady(recorded.conflicts[0].to_string()),
        str! {"`results/bench-1/case-1/RUN-a1.json` has other content in branch `kubebench/results`: a folder, a link, or a file in the way of a folder there, sha256:DIGEST in `results/kept-1.json`"},
    );
    let tip = run(&site.remote(), &["show", "--format=", "--name-status", "kubebench/results"]);
    assert_eq!(tip, format!("A\t{}", result(0).path));
    assert!(run(&site.remote(), &["ls-tree", "kubebench/results", "link"]).starts_with("120000"));
}

/// A user's repository with everything that could be disturbed: staged and unstaged changes, a branch, hooks.
#[test]
fn the_users_repository_is_not_touched() {
    for mode in [Mode::Branch, Mode::Inbox] {
        let site = Site::new();
        let project = site.path().join("project");
        run(&project, &["init", "--quiet", "-b", "main"]);
        std::fs::write(project.join("a"), "one\n").unwrap();
        run(&project, &["add", "."]);
        run(&project, &["commit", "--quiet", "-m", "One"]);
        run(&project, &["remote", "add", "origin", "../remote.git"]);
        std::fs::write(project.join("a"), "two\n").unwrap();
        std::fs::write(project.join("b"), "staged\n").unwrap();
        run(&project, &["add", "b"]);
        for name in ["pre-push", "pre-commit", "post-commit", "reference-transaction", "post-index-change"] {
            hook(&project.join(".git"), name, "touch \"$(git rev-parse --show-toplevel)/../HOOK\"; exit 1");
        }
        let look = || {
            let head = std::fs::read(project.join(".git/HEAD")).unwrap();
            let index = std::fs::read(project.join(".git/index")).unwrap();
            (head, index, crate::support::project::files_below(&project))
        };
        let before = look();
        let mut destination = site.destination(mode);
        destination.remote = "origin".to_owned();
        git::record(&results(0..2), &destination).unwrap();
        assert_eq!(look(), before, "{mode:?}");
        assert!(!site.path().join("HOOK").exists(), "a hook of the user's ran");
    }
}

#[test]
fn the_author_is_gits_or_said_to_be_nobody() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    run(&project, &["config", "user.name", "Grace <H>"]);
    run(&project, &["config", "user.email", "grace@example.com"]);
    let recorded = site.record(Mode::Branch, &results(0..1)).unwrap();
    assert_eq!(recorded.notes, Vec::<String>::new());
    let author = run(&site.remote(), &["log", "-1", "--format=%an|%ae|%cn|%ce", "kubebench/results"]);
    assert_eq!(author, "Grace H|grace@example.com|Grace H|grace@example.com");
}

/// Settings that people have for their own `origin` and their own pushes.
#[test]
fn the_users_other_settings_do_no_harm() {
    let site = Site::new();
    let project = site.path().join("project");
    run(&project, &["init", "--quiet"]);
    run(&project, &["remote", "add", "origin", "../remote.git"]);
    for (key, value) in [
        ("remote.origin.fetch", "+refs/pull/*/head:refs/remotes/origin/pull/*"),
        ("remote.origin.mirror", "true"),
        ("remote.origin.receivepack", "false"),
        ("push.gpgSign", "true"),
        ("push.followTags", "true"),
        ("core.hooksPath", "hooks"),
        ("fetch.prune", "true"),
        ("commit.gpgSign", "true"),
        ("core.worktree", "/nowhere"),
    ] {
        run(&project, &["config", key, value]);
    }
    let destination = Destination { remote: "origin".to_owned(), ..site.destination(Mode::Branch) };
    git::record(&results(0..2), &destination).unwrap();
    assert_eq!(site.files(), expected(&results(0..2)));
}

#[test]
fn the_message_has_trailers_that_git_reads() {
    let site = Site::new();
    let mut addition = result(7);
    addition.case = "text=a\nKubebench-Status: succeeded".to_owned();
    addition.status = "failed".to_owned();
    site.record(Mode::Branch, &[addition]).unwrap();
    let trailers = run(&site.remote(), &["log", "-1", "--format=%(trailers:only,unfold)", "kubebench/results"]);
    let expected = [
        "Kubebench-Benchmark: bench-1".to_owned(),
        "Kubebench-Case: text=a Kubebench-Status: succeeded".to_owned(),
        "Kubebench-Status: failed".to_owned(),
        format!("Kubebench-Run-Digest: sha256:{:064x}", 7),
        format!("Kubebench-Run: {}", result(7).run_id),
    ];
    assert_eq!(trailers.trim().lines().collect::<Vec<_>>(), expected);
}

#[test]
fn paths_that_leave_the_repository_are_refused() {
    let site = Site::new();
    for path in
        ["", "/etc/x", "../x", "a/../b", "a//b", ".git/hooks/x", "a/.GIT/x", "a/git~1/x", "a\\b", "a\nb", ".git./x"]
    {
        let mut addition = result(1);
        addition.path = path.to_owned();
        for mode in Mode::ALL {
            let fault = site.record(mode, &[addition.clone()]).unwrap_err();
            assert_eq!(fault.kind, Kind::Refused, "{path:?}");
        }
    }
    assert_eq!(site.refs("refs"), Vec::<String>::new());
}

#[test]
fn two_results_that_want_one_path_are_distinguished() {
    let site = Site::new();
    let recorded = site.record(Mode::Branch, &[result(1), result(1), result_saying(1, "otherwise")]).unwrap();
    assert_eq!((recorded.added.len(), recorded.conflicts.len()), (1, 1));
    assert_eq!(site.files(), expected(&results(1..2)));
}

#[test]
fn a_repository_with_sha256_names_is_refused_clearly() {
    let site = Site::new();
    run(site.path(), &["init", "--quiet", "--bare", "--object-format=sha256", "new.git"]);
    for mode in [Mode::Branch, Mode::Inbox] {
        let mut destination = site.destination(mode);
        destination.remote = site.path().join("new.git").display().to_string();
        let fault = git::record(&results(0..1), &destination).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused, "{fault:?}");
        assert!(fault.help.as_ref().unwrap().contains("SHA-256"), "{fault:?}");
    }
}
