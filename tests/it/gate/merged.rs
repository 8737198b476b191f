//! Whose the results of a branch are once it was merged: by whatever command, they are of what the default branch holds.

use kubebench_format::result::v1::BenchmarkResult;
use kubebench_git::{Looked, checked_out};

use super::{Project, QUIET, SPEC, Special, verdict};

const SESSIONS: usize = 8;

/// Sessions of a branch each, while the default branch moves on; `merge` brings the branch called `topic` to `main`, where it is not
/// deleted unmerged. Then a session that is slower, of the newest commit of `main`.
fn project(commits: usize, merge: &[&[&str]]) -> Project {
    let mut project = Project::with(SPEC);
    project.commit("first");
    for (number, value) in QUIET[..SESSIONS].iter().enumerate() {
        project.git(&["checkout", "-q", "-b", "topic"]);
        for part in 0..commits {
            project.commit(&format!("topic {number} {part}"));
        }
        let on = here(&project);
        project.session(*value, &on);
        project.git(&["checkout", "-q", "main"]);
        project.commit(&format!("other {number}"));
        for command in merge {
            project.git(command);
        }
        project.git(&["checkout", "-q", "main"]);
        project.git(&["branch", "-q", "-D", "topic"]);
    }
    forget(&project);
    let on = here(&project);
    project.session(80.0, &on);
    project
}

/// Drops all commits that no branch has, as another clone never had them.
fn forget(project: &Project) {
    project.git(&["reflog", "expire", "--expire=now", "--all"]);
    project.git(&["gc", "-q", "--prune=now"]);
}

/// A session of what is checked out.
fn here(project: &Project) -> Special {
    let known =
        checked_out(project.folder.path(), &Looked { results: "results", ..Looked::default() }).unwrap().unwrap();
    Special { commit: Some(known.commit), content: known.content, ..Special::default() }
}

#[track_caller]
fn assert_counts(project: &Project) {
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), SESSIONS, "{line:#}");
    let main = project.git(&["rev-list", "main"]);
    for session in line["baseline"]["sessions"].as_array().unwrap() {
        assert!(main.contains(session["commit"].as_str().unwrap()), "{session:#}");
    }
    let (_, history) = project.json(&["history", "train"]);
    assert!(history["series"][0]["aside"].is_null(), "{history:#}");
}

const SQUASH: [&[&str]; 2] = [&["merge", "-q", "--squash", "topic"], &["commit", "-q", "-m", "topic"]];

#[test]
fn a_merge_keeps_commits() {
    assert_counts(&project(2, &[&["merge", "-q", "--no-edit", "topic"]]));
}

#[test]
fn a_squash_makes_the_same_change() {
    assert_counts(&project(1, &SQUASH));
    assert_counts(&project(3, &SQUASH));
}

#[test]
fn a_clone_without_old_files_cannot_tell_and_does_not_pass() {
    let project = project(1, &SQUASH);
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = [project.folder.path(), folder.path()].map(|path| path.to_str().unwrap().to_owned());
    project.git(&["config", "uploadpack.allowFilter", "true"]);
    let (source, clone) = (format!("file://{from}"), format!("{to}/clone"));
    project.git(&["clone", "-q", "--no-checkout", "--filter=blob:none", &source, &clone]);
    for file in ["kubebench.yaml", "specs/train.yaml"] {
        let place = std::path::Path::new(&clone).join(file);
        std::fs::create_dir_all(place.parent().unwrap()).unwrap();
        std::fs::copy(project.folder.path().join(file), place).unwrap();
    }
    let results = format!("{from}/results");
    let (status, answer) = project.json(&["gate", "-C", &clone, "--results", &results]);
    assert_eq!((status, answer["outcome"].as_str()), (1, Some("failed")), "{answer:#}");
    let line = &answer["lines"][0];
    assert!(line["notes"].to_string().contains("are from commits that are on no branch here"), "{line:#}");
}

#[test]
fn a_rebase_makes_the_same_changes() {
    assert_counts(&project(
        3,
        &[&["rebase", "-q", "main", "topic"], &["checkout", "-q", "main"], &["merge", "-q", "--ff-only", "topic"]],
    ));
}

#[test]
fn a_cherry_pick_makes_the_same_change() {
    assert_counts(&project(2, &[&["cherry-pick", "main..topic"]]));
}

#[test]
fn what_a_part_of_a_branch_was_measured_with_is_not_there() {
    // The last commit alone is on `main`; what was measured had another one before it.
    let project = project(2, &[&["cherry-pick", "topic"]]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "inconclusive"), "{line:#}");
}

#[test]
fn a_branch_that_was_deleted_is_of_nothing_until_it_is_asked_for() {
    let project = project(1, &[]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "inconclusive"), "{line:#}");
    let notes = line["notes"].to_string();
    assert!(notes.contains("8 earlier sessions are from commits that are on no branch here"), "{notes}");
    let (status, line) = project.gate(&["--count-unreachable"]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
}

#[test]
fn a_forced_push_keeps_what_commits_hold() {
    let mut project = Project::with(SPEC);
    let mut trees = Vec::new();
    for (number, value) in QUIET[..SESSIONS].iter().chain(&[80.0]).enumerate() {
        project.commit(&format!("change {number}"));
        let on = here(&project);
        project.session(*value, &on);
        trees.push(project.git(&["rev-parse", "HEAD^{tree}"]).trim().to_owned());
    }
    let mut tip = String::new();
    for tree in &trees {
        let parent = if tip.is_empty() { Vec::new() } else { vec!["-p", tip.as_str()] };
        let made = project.git(&[&["commit-tree", tree, "-m", "rewritten"], parent.as_slice()].concat());
        tip = made.trim().to_owned();
    }
    project.git(&["reset", "-q", "--hard", &tip]);
    forget(&project);
    assert_counts(&project);
}

#[test]
fn results_that_were_committed_on_the_branch_are_no_part_of_its_change() {
    let mut project = Project::with(SPEC);
    project.folder.write(".gitignore", ".cache\n");
    project.commit("first");
    for (number, value) in QUIET[..SESSIONS].iter().chain(&[80.0]).enumerate() {
        project.git(&["checkout", "-q", "-b", "topic"]);
        project.commit(&format!("topic {number}"));
        let on = here(&project);
        project.session(*value, &on);
        project.git(&["add", "-A"]);
        project.git(&["commit", "-q", "-m", "results"]);
        project.git(&["checkout", "-q", "main"]);
        for command in SQUASH {
            project.git(command);
        }
        project.git(&["branch", "-q", "-D", "topic"]);
    }
    forget(&project);
    assert_counts(&project);
}

/// As of a container job of CI, in which git refuses a checkout of another user.
#[test]
fn results_without_a_commit_are_of_no_branch_where_others_have_one() {
    let mut project = Project::with(SPEC);
    project.commit("first");
    let on = here(&project);
    project.sessions(&QUIET[..SESSIONS], &on);
    project.sessions(&[80.0; 6], &Special::default());
    project.session(100.0, &on);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), SESSIONS);
    assert!(line["notes"].to_string().contains("6 earlier sessions"), "{line:#}");
}

/// What ran in a cluster is what a generated tree says, wherever the commit is that it names; on a machine, programs run that no run digest
/// covers.
#[test]
fn a_run_of_a_cluster_is_of_the_branch_that_asks_for_the_same() {
    for (engine, counted) in [("kubernetes", SESSIONS), ("process", 0)] {
        let mut project = Project::with(SPEC);
        assert_eq!(project.says(&["compile"]).0, 0);
        let main = project.commit("squash");
        let lost = Special { commit: Some("c0ffee0123".repeat(4)), ..Special::default() };
        let runs_there = |made: &mut BenchmarkResult| engine.clone_into(&mut made.environment.cluster.engine);
        for value in &QUIET[..SESSIONS] {
            project.session_as(*value, &lost, runs_there);
        }
        // What ran with files that differed is of nothing.
        project.session_as(100.0, &Special { dirty: Some(true), ..lost }, runs_there);
        project.session_as(80.0, &Special { commit: Some(main.clone()), ..Special::default() }, runs_there);
        let (status, line) = project.gate(&[]);
        let sessions = line["baseline"]["sessions"].as_array().unwrap();
        assert_eq!((status, sessions.len()), (1, counted), "{line:#}");
        assert!(sessions.iter().all(|session| session["commit"] == main), "{line:#}");
        assert_eq!(verdict(&line), if counted > 0 { "regressed" } else { "inconclusive" }, "{line:#}");
        let notes = line["notes"].to_string();
        assert!(notes.contains("1 earlier session is not from commits of the baseline"), "{notes}");
    }
}

/// What commits change is kept, and a cache that is damaged changes nothing.
#[test]
fn what_commits_change_is_looked_up_once() {
    let project = project(1, &SQUASH);
    let first = project.json(&["gate"]);
    let folder = project.folder.path().join(".cache/kubebench/archive");
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let caches: Vec<_> = names.filter(|path| path.to_string_lossy().contains("/changes-")).collect();
    let [cache] = caches.as_slice() else { panic!("one cache: {caches:?}") };
    let kept = std::fs::read_to_string(cache).unwrap();
    assert!(kept.lines().count() > 2 * SESSIONS, "{kept}");
    assert_eq!(project.json(&["gate"]), first);
    assert_eq!(std::fs::read_to_string(cache).unwrap(), kept);
    for damaged in ["", "no cache", &kept.replace('a', "b")] {
        std::fs::write(cache, damaged).unwrap();
        assert_eq!(project.json(&["gate"]), first, "{damaged}");
        assert_eq!(std::fs::read_to_string(cache).unwrap(), kept, "{damaged}");
    }
}

/// A branch that is `topic` at `value`, while `main` goes from `before` to `after` with a commit of its own; then `topic` is merged.
fn outdated(merge: &[&[&str]], [before, topic, after]: [f64; 3]) -> (Project, Special) {
    let mut project = Project::with(SPEC);
    project.commit("first");
    let on = here(&project);
    project.sessions(&QUIET[..12].iter().map(|value| value * before).collect::<Vec<_>>(), &on);
    project.git(&["checkout", "-q", "-b", "topic"]);
    project.commit("topic");
    let on_topic = here(&project);
    project.git(&["checkout", "-q", "main"]);
    project.commit("second");
    let on = here(&project);
    project.sessions(&QUIET[4..10].iter().map(|value| value * after).collect::<Vec<_>>(), &on);
    project.sessions(&QUIET[..4].iter().map(|value| value * topic).collect::<Vec<_>>(), &on_topic);
    for command in merge {
        project.git(command);
    }
    project.git(&["checkout", "-q", "main"]);
    project.git(&["branch", "-q", "-D", "topic"]);
    forget(&project);
    (project, on)
}

const MERGES: [&[&[&str]]; 4] = [
    &[&["merge", "-q", "--no-edit", "topic"]],
    &SQUASH,
    &[&["rebase", "-q", "main", "topic"], &["checkout", "-q", "main"], &["merge", "-q", "--ff-only", "topic"]],
    &[&["cherry-pick", "main..topic"]],
];

#[test]
fn what_was_measured_without_a_regression_of_main_does_not_resolve_it() {
    for merge in MERGES {
        let (mut project, second) = outdated(merge, [1.0, 1.0, 0.9]);
        let (status, line) = project.gate(&[]);
        assert_eq!(
            (status, verdict(&line), line["open"]["commit"].as_str()),
            (1, "regressed", second.commit.as_deref())
        );
        let (_, history) = project.json(&["history", "train"]);
        let series = &history["series"][0];
        assert_eq!(series["aside"].as_array().unwrap().len(), 4, "{series:#}");
        assert_eq!(series["changes"].as_array().unwrap().len(), 1, "{series:#}");
        // Nor do they hide what the merge brought.
        let merged = here(&project);
        project.session(80.0, &merged);
        let (status, line) = project.gate(&[]);
        assert_eq!(
            (status, verdict(&line), line["open"]["commit"].as_str()),
            (1, "regressed", second.commit.as_deref())
        );
        let notes = line["notes"].to_string();
        assert!(notes.contains("4 earlier sessions are from branches that lacked commits"), "{notes}");
    }
}

/// A release that was tagged before is no place for them either.
#[test]
fn what_was_measured_without_a_commit_of_main_is_of_no_tag() {
    for merge in MERGES {
        let (mut project, _) = outdated(merge, [1.0, 1.0, 0.9]);
        project.git(&["tag", "v1", "main~1"]);
        let merged = here(&project);
        project.session(80.0, &merged);
        let (status, line) = project.gate(&["--baseline", "tag:v1"]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    }
}

#[test]
fn what_was_measured_without_a_fix_of_main_opens_nothing() {
    for merge in MERGES {
        let (mut project, _) = outdated(merge, [0.9, 0.9, 1.0]);
        let (status, line) = project.gate(&[]);
        assert_eq!((status, line["open"].is_null()), (0, true), "{line:#}");
        // What the merge brings is seen by its first session, although the branch ran as slowly before.
        let merged = here(&project);
        project.session(90.0, &merged);
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    }
}
