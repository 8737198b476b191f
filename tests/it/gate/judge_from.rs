//! `spec.judgeFrom`: earlier sessions are a baseline, and what began among them is not open, in whatever command.

use std::fs;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

const PROJECT: &str = "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec:\n  lints: {KB0402: 'off', KB0401: 'off'}\n";

fn scaled(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|value| value * by).collect()
}

fn judge_from(project: &Project, from: &str) {
    project.folder.write("kubebench.yaml", format!("{PROJECT}  judgeFrom: {from:?}\n"));
}

/// Two steps for the worse: the second one begins with the session of 2026-02-03T00.
fn two_steps() -> Project {
    let mut project = Project::with(SPEC);
    let values = [&QUIET[..], &QUIET[..3], &scaled(&QUIET, 0.8)[..], &scaled(&QUIET, 0.8)[..5]].concat();
    project.sessions(&values, &Special::default());
    project.sessions(&scaled(&QUIET, 0.6), &Special::default());
    project
}

#[test]
fn what_began_before_is_not_open_in_any_command() {
    let project = two_steps();
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["open"]["session"].as_str()), (1, Some("session-024")), "{line:#}");
    // The second step is of the day itself, which counts.
    judge_from(&project, "2026-02-03");
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["open"]["session"].as_str()), (1, Some("session-049")), "{line:#}");
    let change = line["open"]["change"].as_f64().unwrap();
    assert!((change + 0.25).abs() < 0.01, "against the level that is accepted: {line:#}");
    assert_eq!(
        (line["acks"][0]["file"].as_str(), line["acks"][0]["session"].as_str()),
        (Some("kubebench.yaml"), Some("session-024"))
    );
    let (_, history) = project.json(&["history", "train"]);
    let series = &history["series"][0];
    assert_eq!(series["open"], line["open"]["session"], "{series:#}");
    assert_eq!(series["openSize"]["change"], line["open"]["change"]);
    assert_eq!(series["changes"][0]["turn"], "accepted");
    assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
    let page = fs::read_to_string(project.folder.path().join("site/benchmarks/train/index.html")).unwrap();
    assert!(page.contains("worse, accepted") && page.contains("−25.0 %"), "{page}");
    assert!(page.contains("since <time datetime=\"2026-02-03T01:01:00Z\">"), "{page}");
    for from in ["2026-02-04", "2026-02-03T01:01:01Z", "2026-02-03T02:01:01+01:00"] {
        judge_from(&project, from);
        let (status, line) = project.gate(&[]);
        assert_eq!((status, line["open"].is_null()), (0, true), "{from}: {line:#}");
        assert!(project.json(&["history", "train"]).1["series"][0]["open"].is_null(), "{from}");
    }
}

#[test]
fn earlier_sessions_are_a_baseline_for_later_ones() {
    let mut project = Project::with(SPEC);
    project.sessions(&scaled(&QUIET, 1.0), &Special::default());
    judge_from(&project, "2026-02-01T21:00:00Z");
    project.session(90.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), QUIET.len());
}

#[test]
fn when_everything_is_earlier_nothing_is_red_and_a_note_says_so() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(80.0, &Special::default());
    assert_eq!(project.gate(&[]).0, 1);
    judge_from(&project, "2030-01-01");
    let (status, answer) = project.json(&["gate"]);
    let line = &answer["lines"][0];
    assert_eq!(
        (status, line["reason"].as_str(), line["acks"][0]["reason"].as_str()),
        (0, Some("accepted"), Some("judgeFrom: 2030-01-01")),
        "{answer:#}"
    );
    assert!(
        texts(&answer["notes"])
            .contains("kubebench.yaml accepts every regression so far: no session is later than `2030-01-01`"),
        "{answer:#}"
    );
}

#[test]
fn a_revision_parts_sessions_by_their_commits() {
    let with = |from: &dyn Fn(&[String]) -> String| {
        let mut project = Project::with(SPEC);
        let mut commits = Vec::new();
        for (message, by) in [("good", 1.0), ("bad", 0.8), ("adopted", 0.8), ("worse", 0.6)] {
            project.commit(message);
            project.git(&["commit", "-q", "--amend", "--no-edit", "--date=2026-01-01T00:00:00Z"]);
            let commit = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
            if message == "adopted" {
                project.git(&["tag", "v1"]);
            }
            project.sessions(&scaled(&QUIET, by), &Special { commit: Some(commit.clone()), ..Special::default() });
            commits.push(commit);
        }
        judge_from(&project, &from(&commits));
        project
    };
    let from: [&dyn Fn(&[String]) -> String; 4] = [
        &|_| "v1".to_owned(),
        &|commits| commits[2].clone(),
        &|commits| commits[2][..8].to_owned(),
        // Inclusive: what this commit itself brought counts.
        &|commits| commits[3].clone(),
    ];
    for from in from {
        let project = with(from);
        let (status, line) = project.gate(&[]);
        assert_eq!((status, line["open"]["session"].as_str()), (1, Some("session-061")), "{line:#}");
        assert_eq!(project.json(&["history", "train"]).1["series"][0]["open"], "session-061");
    }
    let project = with(&|commits| commits[1].clone());
    assert_eq!(project.gate(&[]).1["open"]["session"], "session-021");
}

#[test]
fn a_revision_that_cannot_be_found_is_an_error_everywhere() {
    let mut project = Project::with(SPEC);
    let refused = |project: &Project, said: &str| {
        for command in [&["gate"][..], &["history"], &["report", "--out", "site"], &["compare", "--by", "cpu"]] {
            let (status, out, error) = project.says(command);
            assert!(status == 2 && error.contains(said), "{command:?}: {status} {out}{error}");
        }
    };
    project.session(100.0, &Special::default());
    judge_from(&project, "v1");
    refused(
        &project,
        "`judgeFrom: v1` in kubebench.yaml cannot be found: a revision needs a git repository, and this is not one",
    );
    let commit = project.commit("main");
    project.session(100.0, &Special { commit: Some(commit), ..Special::default() });
    refused(&project, "this clone has no tag or commit `v1`; fetch it (`git fetch --tags`), or write a day");
    for moving in ["main", "HEAD"] {
        judge_from(&project, moving);
        refused(&project, &format!("`{moving}` moves with every commit"));
    }
}

#[test]
fn a_shallow_clone_says_what_to_fetch() {
    let mut project = Project::with(SPEC);
    let mut commits = Vec::new();
    for message in ["one", "two", "three"] {
        commits.push(project.commit(message));
        project.session(100.0, &Special { commit: commits.last().cloned(), ..Special::default() });
    }
    judge_from(&project, &commits[0]);
    project.commit("from");
    let folder = tempfile::tempdir().unwrap();
    let clone = folder.path().join("clone").to_string_lossy().into_owned();
    let source = format!("file://{}", project.folder.path().display());
    project.git(&["clone", "-q", "--depth=2", &source, &clone]);
    let results = project.folder.path().join("results").to_string_lossy().into_owned();
    let (status, _, error) = project.says(&["history", "-C", &clone, "--results", &results]);
    assert!(status == 2 && error.contains("this clone is shallow: fetch the history"), "{error}");
}

#[test]
fn what_is_no_day_and_no_name_is_refused_with_its_place() {
    let project = Project::with(SPEC);
    for (wrong, said) in [
        ("2026-02-30", "is not a time"),
        ("2026-2-3 noon", "names neither a day nor a commit"),
        ("", "names neither a day nor a commit"),
        ("a..b", "names neither a day nor a commit"),
        ("--all", "names neither a day nor a commit"),
    ] {
        judge_from(&project, wrong);
        for command in [&["validate"][..], &["gate"]] {
            let (status, out, error) = project.says(command);
            let text = format!("{out}{error}");
            assert!(
                status == 1 && text.contains(said) && text.contains("kubebench.yaml:6:14"),
                "{wrong}: {status} {text}"
            );
        }
    }
}

#[test]
fn cases_side_by_side_say_the_same() {
    let mut project = Project::with(SPEC);
    let size = |size: u32| Special {
        params: Some(("size".to_owned(), size.into())),
        same_session: size > 1,
        ..Special::default()
    };
    for (one, other) in QUIET.iter().zip(&QUIET).chain(QUIET[..9].iter().zip(&scaled(&QUIET, 0.8))) {
        project.session(*one, &size(1));
        project.session_as(*other, &size(2), |made| made.run.id.replace_range(8..16, "00000002"));
    }
    let open = |project: &Project| {
        let (status, answer) = project.json(&["compare", "--by", "size"]);
        assert_eq!(status, 0, "{answer:#}");
        answer.to_string().contains("\"open\":\"session-021\"")
    };
    let in_history = |project: &Project| project.json(&["history"]).1.to_string().contains("\"open\":\"session-021\"");
    assert!(open(&project) && in_history(&project));
    judge_from(&project, "2026-02-01T22:00:00Z");
    assert!(!open(&project) && !in_history(&project));
}

/// A bisection measures old commits again: that accepts nothing which began since.
#[test]
fn an_old_commit_that_is_measured_again_settles_nothing() {
    let mut project = Project::with(SPEC);
    let commits = ["good", "adopted", "worse"].map(|message| {
        project.commit(message);
        project.git(&["commit", "-q", "--amend", "--no-edit", "--date=2026-01-01T00:00:00Z"]);
        let commit = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let by = if message == "worse" { 0.8 } else { 1.0 };
        project.sessions(&scaled(&QUIET, by), &Special { commit: Some(commit.clone()), ..Special::default() });
        commit
    });
    judge_from(&project, &commits[1]);
    project.session(80.0, &Special { commit: Some(commits[0].clone()), ..Special::default() });
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["open"]["session"].as_str()), (1, Some("session-041")), "{line:#}");
}
