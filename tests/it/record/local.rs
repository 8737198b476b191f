//! Mode `local`: exactly the results are committed, whatever kind of repository it is and whatever else happens in it.

use kubebench_git::record::{Kind, Mode};
use kubebench_testing::snapshot::{assert_line, assert_text, str};

use super::*;

/// A repository with one commit, whose project is its folder.
fn repository(site: &Site, options: &[&str]) -> PathBuf {
    let project = site.path().join("project");
    run(&project, &[&["init", "--quiet", "-b", "main"], options].concat());
    std::fs::write(project.join("a"), "one\n").unwrap();
    run(&project, &["add", "."]);
    run(&project, &["commit", "--quiet", "-m", "One"]);
    project
}

fn record_in(site: &Site, folder: &Path, additions: &[Addition]) -> Result<Recorded, NotRecorded> {
    let mut destination = site.destination(Mode::Local);
    folder.clone_into(&mut destination.folder);
    destination.deadline = Duration::from_secs(2);
    git::record(additions, &destination)
}

/// Asserts that the last commit of `folder` added these results and nothing else, and that they are in the work tree.
fn assert_committed(folder: &Path, additions: &[Addition]) {
    let mut expected: Vec<String> = additions.iter().map(|addition| format!("A\t{}", addition.path)).collect();
    expected.sort();
    let shown = run(folder, &["show", "--format=", "--name-status", "--no-renames", "HEAD"]);
    assert_eq!(shown.lines().collect::<Vec<_>>(), expected);
    for addition in additions {
        assert_eq!(
            run(folder, &["show", &format!("HEAD:{}", addition.path)]).as_bytes(),
            addition.bytes.trim_ascii_end()
        );
        assert_eq!(std::fs::read(folder.join(&addition.path)).unwrap(), addition.bytes);
    }
}

#[test]
fn a_clean_repository_stays_clean() {
    let site = Site::new();
    let project = repository(&site, &[]);
    let recorded = record_in(&site, &project, &results(0..3)).unwrap();
    assert_eq!(recorded.added.len(), 3);
    assert_committed(&project, &results(0..3));
    assert_eq!(run(&project, &["status", "--porcelain"]), "");
    assert_eq!(run(&project, &["diff-files"]), "", "the index knows the files' times");
    assert_text(&recorded.place, str! {"branch `main` of this repository"});
    let again = record_in(&site, &project, &results(0..3)).unwrap();
    assert_eq!((again.added.len(), again.already.len(), again.commit), (0, 3, None));
    assert_eq!(run(&project, &["rev-list", "--count", "HEAD"]), "2");
    site.assert_clean();
}

#[test]
fn a_result_that_is_in_the_work_tree_is_committed() {
    let site = Site::new();
    let project = repository(&site, &[]);
    let path = project.join(&result(1).path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, &result(1).bytes).unwrap();
    // Ignored or not: it was asked for by name.
    std::fs::write(project.join(".git/info/exclude"), "results/\n").unwrap();
    record_in(&site, &project, &results(1..2)).unwrap();
    assert_committed(&project, &results(1..2));
}

#[test]
fn staged_and_unstaged_changes_stay_what_they_are() {
    let site = Site::new();
    let project = repository(&site, &[]);
    std::fs::write(project.join("a"), "staged\n").unwrap();
    std::fs::write(project.join("b"), "new\n").unwrap();
    run(&project, &["add", "a", "b"]);
    std::fs::write(project.join("a"), "and changed\n").unwrap();
    std::fs::write(project.join("c"), "untracked\n").unwrap();
    let before = run(&project, &["status", "--porcelain"]);
    record_in(&site, &project, &results(0..2)).unwrap();
    assert_committed(&project, &results(0..2));
    assert_eq!(run(&project, &["status", "--porcelain"]), before);
    assert_eq!(run(&project, &["show", ":a"]), "staged");
}

#[test]
fn conflicts_in_commit_index_and_work_tree_are_refused() {
    let site = Site::new();
    let project = repository(&site, &[]);
    record_in(&site, &project, &results(0..1)).unwrap();
    let head = run(&project, &["rev-parse", "HEAD"]);
    let other = [result_saying(0, "otherwise")];
    let recorded = record_in(&site, &project, &other).unwrap();
    let digest = kubebench_syntax::digest::Digest::of(&result(0).bytes).to_string();
    assert!(recorded.conflicts[0].to_string().contains(&digest), "{}", recorded.conflicts[0]);

    let path = project.join(&result(1).path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "mine\n").unwrap();
    let recorded = record_in(&site, &project, &results(1..2)).unwrap();
    assert_text(&recorded.conflicts[0].place, str! {"the work tree"});
    run(&project, &["add", &result(1).path]);
    std::fs::remove_file(&path).unwrap();
    let recorded = record_in(&site, &project, &results(1..2)).unwrap();
    assert_text(&recorded.conflicts[0].place, str! {"the index"});

    // A link out of the repository is not followed.
    std::os::unix::fs::symlink(site.path(), project.join("results/bench-2")).unwrap();
    let recorded = record_in(&site, &project, &results(2..3)).unwrap();
    assert_line(&recorded.conflicts[0].theirs, str! {"`results/bench-2` is not a folder"});
    assert_eq!(run(&project, &["rev-parse", "HEAD"]), head);
}

#[test]
fn unborn_branches_detached_heads_and_shallow_clones() {
    let site = Site::new();
    let unborn = site.path().join("unborn");
    run(site.path(), &["init", "--quiet", "-b", "main", "unborn"]);
    record_in(&site, &unborn, &results(0..1)).unwrap();
    assert_committed(&unborn, &results(0..1));

    let project = repository(&site, &[]);
    run(&project, &["commit", "--quiet", "--allow-empty", "-m", "Two"]);
    run(site.path(), &["clone", "--quiet", "--depth=1", &format!("file://{}", project.display()), "shallow"]);
    record_in(&site, &site.path().join("shallow"), &results(0..1)).unwrap();
    assert_committed(&site.path().join("shallow"), &results(0..1));

    run(&project, &["checkout", "--quiet", "--detach"]);
    let recorded = record_in(&site, &project, &results(0..1)).unwrap();
    assert_committed(&project, &results(0..1));
    assert!(recorded.place.contains("detached"), "{}", recorded.place);
    assert_eq!(run(&project, &["rev-list", "--count", "main"]), "2");
}

#[test]
fn bare_repositories_and_those_with_sha256_names() {
    let site = Site::new();
    let recorded = record_in(&site, &site.remote(), &results(0..1)).unwrap();
    assert_eq!(recorded.added.len(), 1);
    let files = run(&site.remote(), &["ls-tree", "-r", "--name-only", "HEAD"]);
    assert_eq!(files, result(0).path);

    let project = repository(&site, &["--object-format=sha256"]);
    let recorded = record_in(&site, &project, &results(0..2)).unwrap();
    assert_eq!(recorded.commit.unwrap().len(), 64);
    assert_committed(&project, &results(0..2));
    assert_eq!(run(&project, &["status", "--porcelain"]), "");
}

#[test]
fn linked_work_trees_and_submodules() {
    let site = Site::new();
    let project = repository(&site, &[]);
    run(&project, &["worktree", "add", "--quiet", "-b", "other", "../linked"]);
    let linked = site.path().join("linked");
    record_in(&site, &linked, &results(0..1)).unwrap();
    assert_committed(&linked, &results(0..1));
    assert_eq!(run(&project, &["rev-list", "--count", "main"]), "1");
    assert_eq!(run(&project, &["status", "--porcelain"]), "");

    run(site.path(), &["init", "--quiet", "-b", "main", "super"]);
    let outer = site.path().join("super");
    run(&outer, &["submodule", "--quiet", "add", "../project", "inner"]);
    run(&outer, &["commit", "--quiet", "-m", "Add the submodule"]);
    let before = run(&outer, &["rev-parse", "HEAD"]);
    let inner = outer.join("inner");
    record_in(&site, &inner, &results(0..1)).unwrap();
    assert_committed(&inner, &results(0..1));
    assert_eq!(run(&outer, &["rev-parse", "HEAD"]), before);
    assert_eq!(run(&outer, &["diff", "--cached", "--name-only"]), "");

    // From outside, the submodule's folder is no place for the outer repository's results.
    let mut addition = result(1);
    addition.path = format!("inner/{}", addition.path);
    let recorded = record_in(&site, &outer, &[addition]).unwrap();
    assert_line(&recorded.conflicts[0].theirs, str! {"`inner` is a separate repository"});
}

#[test]
fn a_project_below_the_top_keeps_its_results_there() {
    let site = Site::new();
    let project = repository(&site, &[]);
    std::fs::create_dir_all(project.join("teams/vision")).unwrap();
    record_in(&site, &project.join("teams/vision"), &results(0..1)).unwrap();
    let shown = run(&project, &["show", "--format=", "--name-only"]);
    assert_eq!(shown, format!("teams/vision/{}", result(0).path));
    assert!(project.join("teams/vision").join(result(0).path).is_file());
}

#[test]
fn no_hook_runs_and_no_filter_changes_the_bytes() {
    let site = Site::new();
    let project = repository(&site, &[]);
    for name in
        ["pre-commit", "commit-msg", "post-commit", "reference-transaction", "post-index-change", "prepare-commit-msg"]
    {
        hook(&project.join(".git"), name, "touch \"$0.ran\"; exit 1");
    }
    std::fs::write(project.join(".git/info/attributes"), "*.json filter=shout text eol=crlf\n").unwrap();
    run(&project, &["config", "filter.shout.clean", "tr a-z A-Z"]);
    record_in(&site, &project, &results(0..1)).unwrap();
    let blob = run(&project, &["cat-file", "blob", &format!("HEAD:{}", result(0).path)]);
    assert_eq!(blob.as_bytes(), result(0).bytes.trim_ascii_end());
    let ran = std::fs::read_dir(project.join(".git/hooks")).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(ran.filter(|name| name.to_string_lossy().ends_with(".ran")).count(), 0);
}

#[test]
fn the_middle_of_a_merge_is_no_time_to_commit() {
    let site = Site::new();
    let project = repository(&site, &[]);
    run(&project, &["checkout", "--quiet", "-b", "other"]);
    std::fs::write(project.join("a"), "theirs\n").unwrap();
    run(&project, &["commit", "--quiet", "-am", "Theirs"]);
    run(&project, &["checkout", "--quiet", "main"]);
    std::fs::write(project.join("a"), "ours\n").unwrap();
    run(&project, &["commit", "--quiet", "-am", "Ours"]);
    for (operation, word) in [("merge", "a merge"), ("rebase", "a rebase"), ("cherry-pick", "a cherry-pick")] {
        assert!(!git_in(&project, &[operation, "other"]).output().unwrap().status.success());
        let fault = record_in(&site, &project, &results(0..1)).unwrap_err();
        assert_eq!(fault.kind, Kind::Refused);
        assert!(fault.message.contains(word), "{fault:?}");
        assert!(fault.help.unwrap().contains("results/kept-0.json"));
        run(&project, &[operation, "--abort"]);
    }
    record_in(&site, &project, &results(0..1)).unwrap();
}

#[test]
fn a_lock_is_waited_for_and_then_named() {
    let site = Site::new();
    let project = repository(&site, &[]);
    let lock = project.join(".git/index.lock");
    std::fs::write(&lock, "").unwrap();
    let head = run(&project, &["rev-parse", "HEAD"]);
    let fault = record_in(&site, &project, &results(0..1)).unwrap_err();
    assert_eq!(fault.kind, Kind::TryAgain);
    assert!(fault.message.contains("index.lock"), "{fault:?}");
    assert_eq!(run(&project, &["rev-parse", "HEAD"]), head);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            std::fs::remove_file(&lock).unwrap();
        });
        record_in(&site, &project, &results(0..1)).unwrap();
    });
    assert_committed(&project, &results(0..1));
}

#[test]
fn a_branch_that_moves_meanwhile_keeps_both() {
    let site = Site::new();
    let project = repository(&site, &[]);
    std::thread::scope(|scope| {
        let records = (0..6).map(|number| {
            let (site, project) = (&site, &project);
            scope.spawn(move || {
                let mut destination = site.destination(Mode::Local);
                destination.folder = project.clone();
                git::record(&[result(number)], &destination).unwrap()
            })
        });
        let records: Vec<_> = records.collect();
        for record in records {
            record.join().unwrap();
        }
    });
    assert_eq!(run(&project, &["rev-list", "--count", "HEAD"]), "7");
    assert_eq!(run(&project, &["status", "--porcelain"]), "");
    let mut all = expected(&results(0..6));
    all.insert("a".to_owned(), "one\n".to_owned());
    assert_eq!(files(&project, "main"), all);
}

#[test]
fn no_repository_is_said_and_changes_nothing() {
    let site = Site::new();
    let fault = site.record(Mode::Local, &results(0..1)).unwrap_err();
    assert_eq!(fault.kind, Kind::Refused);
    assert!(fault.message.contains("not a git repository"), "{fault:?}");
}

#[test]
fn commits_are_signed_when_that_is_asked_for() {
    let site = Site::new();
    let project = repository(&site, &[]);
    let key = site.path().join("key");
    let made = Command::new("ssh-keygen").args(["-q", "-t", "ed25519", "-N", "", "-C", "Ada", "-f"]).arg(&key).status();
    if !made.is_ok_and(|status| status.success()) {
        return crate::support::judges::missing(
            "commits_are_signed_when_that_is_asked_for",
            "ssh-keygen",
            "install OpenSSH's client",
        );
    }
    run(&project, &["config", "gpg.format", "ssh"]);
    run(&project, &["config", "user.name", "Ada"]);
    run(&project, &["config", "user.email", "ada@example.com"]);
    run(&project, &["config", "commit.gpgSign", "true"]);
    let mut destination = site.destination(Mode::Local);
    destination.folder.clone_from(&project);
    let is_signed = |folder: &Path, commit: &str| run(folder, &["cat-file", "commit", commit]).contains("gpgsig");
    git::record(&results(0..1), &destination).unwrap();
    assert!(!is_signed(&project, "HEAD"), "nobody asked for it");

    destination.signing = Signing::AsConfigured;
    let fault = git::record(&results(1..2), &destination).unwrap_err();
    assert!(fault.message.contains("user.signingKey"), "{fault:?}");
    run(&project, &["config", "user.signingKey", &key.display().to_string()]);
    git::record(&results(1..2), &destination).unwrap();
    assert!(is_signed(&project, "HEAD"));
    for mode in [Mode::Branch, Mode::Inbox] {
        destination.mode = mode;
        git::record(&results(2..3), &destination).unwrap();
    }
    for name in site.refs("refs") {
        assert!(is_signed(&site.remote(), &name), "{name}");
    }
}
