//! `gate --only-new`: what the default branch fails without the candidate decides nothing.

use std::fs;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

const ONLY_NEW: &[&str] = &["--only-new"];

fn on(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

fn scaled(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|value| value * by).collect()
}

/// A project whose `main` has these sessions, and then `feature` those; `feature` is checked out.
fn project(spec: &str, on_main: &[f64], on_feature: &[f64]) -> Project {
    let mut project = Project::with(spec);
    project.with_feature(on_main, on_feature);
    project.git(&["checkout", "-q", "feature"]);
    project
}

#[track_caller]
fn assert_says(project: &Project, wanted: (i32, &str, Option<bool>)) {
    let (status, line) = project.gate(ONLY_NEW);
    assert_eq!((status, verdict(&line), line["onDefault"].as_bool()), wanted, "{line:#}");
}

#[test]
fn what_is_open_on_main_does_not_decide() {
    let slow = [&QUIET[..], &scaled(&QUIET, 0.9)].concat();
    let project = project(SPEC, &slow, &[90.1]);
    assert_eq!(project.gate(&[]).0, 1);
    assert_says(&project, (0, "regressed", Some(true)));
    let (status, text, _) = project.says(&["gate", "--only-new", "--markdown", "comment.md"]);
    assert!(status == 0 && text.contains("Already on main:\n"), "{text}");
    assert!(text.contains("gate passed: 1 already on main (speed of train −10.0 %)"), "{text}");
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert!(
        comment.contains("Already on main: 1 regression<") && comment.contains("**No new regression.**"),
        "{comment}"
    );
    let (_, answer) = project.json(&["gate", "--only-new"]);
    assert_eq!((answer["onlyNew"].as_bool(), answer["baseline"].as_str()), (Some(true), Some("branch:main")));
    let (status, text, _) = project.says(&["gate", "--only-new", "--output-format", "github"]);
    assert!(status == 0 && !text.contains("::error"), "{text}");
    // The candidate itself does not show it.
    let mut faster = self::project(SPEC, &slow, &[100.2]);
    assert_says(&faster, (0, "regressed", Some(true)));
    let commit = faster.commit("more");
    faster.session(100.1, &on(&commit));
    let (status, answer) = faster.json(&["gate", "--only-new", "--candidate", &commit]);
    assert_eq!(status, 0, "{answer:#}");
}

#[test]
fn what_a_branch_brings_decides() {
    for (values, wanted) in [
        (vec![90.0], (1, "regressed", None)),
        (vec![90.0, 90.2, 89.9], (1, "regressed", None)),
        (vec![100.2], (0, "noChangeSeen", None)),
    ] {
        let project = project(SPEC, &QUIET, &values);
        let (status, line) = project.gate(ONLY_NEW);
        let is_fine = verdict(&line) == "unchanged" && wanted.1 == "noChangeSeen";
        assert!(status == wanted.0 && (verdict(&line) == wanted.1 || is_fine), "{line:#}");
        assert_eq!(line["onDefault"].as_bool(), wanted.2, "{line:#}");
    }
}

#[test]
fn a_further_worsening_decides() {
    let slow = [&QUIET[..], &scaled(&QUIET, 0.9)].concat();
    assert_says(&project(SPEC, &slow, &[80.0]), (1, "regressed", None));
    // Beyond what the noise explains, and within the threshold.
    assert_says(&project(SPEC, &slow, &[89.4]), (0, "regressed", Some(true)));
}

#[test]
fn the_first_bad_session_of_main_is_not_the_branch_s() {
    let bad = [&QUIET[..], &[90.0]].concat();
    assert_says(&project(SPEC, &bad, &[90.4]), (0, "regressed", Some(true)));
    assert_says(&project(SPEC, &bad, &[89.2]), (0, "regressed", Some(true)));
    assert_says(&project(SPEC, &bad, &[80.0]), (1, "regressed", None));
}

/// Sessions of main that are too few to show a change by themselves are no reason to blame a branch that shows it too.
#[test]
fn what_began_on_main_is_not_the_branch_s() {
    let (mut known, mut new) = (0, 0);
    for (first, newest) in [(95.0, 97.4), (95.5, 97.2), (95.6, 97.6), (96.0, 97.0), (96.2, 96.9)] {
        for on_feature in [95.5, 96.5, 85.0] {
            let project = project(SPEC, &[&QUIET[..], &[first, newest]].concat(), &[on_feature]);
            let (status, line) = project.gate(ONLY_NEW);
            let began = line["open"]["session"].as_str().is_some_and(|session| session < "session-023");
            if on_feature < 90.0 {
                assert_eq!((status, line["onDefault"].as_bool()), (1, None), "{line:#}");
                new += usize::from(began);
            } else if began {
                assert_eq!((status, line["onDefault"].as_bool()), (0, Some(true)), "{line:#}");
                known += 1;
            }
        }
    }
    assert!(known > 0 && new > 0, "{known} {new}");
}

#[test]
fn on_main_it_is_what_the_newest_session_adds() {
    let mut project = Project::with(SPEC);
    let commit = project.commit("main");
    project.sessions(&QUIET, &on(&commit));
    project.session(90.0, &on(&commit));
    assert_says(&project, (1, "regressed", None));
    project.sessions(&[90.2, 89.8, 90.1, 90.3], &on(&commit));
    assert_says(&project, (0, "regressed", Some(true)));
    project.session(70.0, &on(&commit));
    assert_says(&project, (1, "regressed", None));
}

#[test]
fn a_branch_that_measured_nothing_brings_nothing() {
    let mut project = project(SPEC, &[&QUIET[..], &[90.0]].concat(), &[]);
    assert_says(&project, (0, "regressed", Some(true)));
    let unmeasured = "the checked-out branch has no results of its own";
    assert!(texts(&project.json(&["gate", "--only-new"]).1["notes"]).contains(unmeasured));
    assert!(!project.says(&["gate"]).1.contains(unmeasured));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["onDefault"].as_bool()), (1, Some(true)), "it is said without the option: {line:#}");
    project.git(&["checkout", "-q", "main"]);
    assert_says(&project, (1, "regressed", None));
    // Named, it is asked about whatever is checked out.
    project.git(&["checkout", "-q", "feature"]);
    let (status, line) = project.gate(&["--only-new", "--candidate", "session-021"]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    let feature = project.commit("measured");
    project.session(90.1, &on(&feature));
    assert_says(&project, (0, "regressed", Some(true)));
}

#[test]
fn limits_that_main_passes_too_do_not_decide() {
    let spec = SPEC.replace("maxRegression: 3%", "min: 95");
    assert_says(&project(&spec, &scaled(&QUIET, 0.9), &[90.0]), (0, "regressed", Some(true)));
    assert_says(&project(&spec, &scaled(&QUIET, 0.9), &[80.0]), (1, "regressed", None));
    assert_says(&project(&spec, &QUIET, &[90.0]), (1, "regressed", None));
    let both = SPEC.replace("maxRegression: 3%", "maxRegression: 3%, min: 95");
    assert_says(&project(&both, &scaled(&QUIET, 0.9), &[80.0]), (1, "regressed", None));
}

#[test]
fn what_main_lost_since_a_release_does_not_decide() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {tag: v1}}");
    let with = |on_feature: f64| {
        let mut project = Project::with(&spec);
        let first = project.commit("first");
        project.sessions(&QUIET, &on(&first));
        project.git(&["tag", "v1"]);
        let second = project.commit("second");
        project.sessions(&scaled(&QUIET, 0.9), &on(&second));
        project.git(&["checkout", "-q", "-b", "feature"]);
        let feature = project.commit("feature");
        project.session(on_feature, &on(&feature));
        project
    };
    assert_says(&with(90.2), (0, "regressed", Some(true)));
    assert_says(&with(80.0), (1, "regressed", None));
}

#[test]
fn runs_that_fail_on_main_too_do_not_decide() {
    let failed = |commit: &str| Special { status: Some(kubebench_format::result::v1::Status::Failed), ..on(commit) };
    let mut project = Project::with(SPEC);
    let main = project.commit("main");
    project.sessions(&QUIET, &on(&main));
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.session(100.0, &failed(&feature));
    assert_says(&project, (1, "invalid", None));
    project.session(100.0, &failed(&main));
    project.session(100.0, &failed(&feature));
    assert_says(&project, (0, "invalid", Some(true)));
}

#[test]
fn without_a_repository_it_is_what_the_newest_session_adds() {
    let mut project = Project::with(SPEC);
    project.sessions(&[&QUIET[..], &scaled(&QUIET[..8], 0.9)].concat(), &Special::default());
    let (status, text, _) = project.says(&["gate", "--only-new"]);
    assert!(status == 0 && text.contains("Already open:"), "{text}");
    project.session(70.0, &Special::default());
    assert_says(&project, (1, "regressed", None));
}

#[test]
fn sessions_of_other_branches_are_no_candidate() {
    let mut project = project(SPEC, &QUIET, &[90.0]);
    project.git(&["checkout", "-q", "-b", "mine", "main"]);
    let mine = project.commit("mine");
    // Another pull request got worse, and this one measured nothing yet.
    assert_eq!(project.gate(&[]).0, 0);
    let (status, answer) = project.json(&["gate", "--only-new"]);
    assert_eq!((status, answer["lines"][0]["candidate"]["sessions"][0]["session"].as_str()), (0, Some("session-020")));
    assert!(texts(&answer["notes"]).contains("has no results of its own"), "{answer:#}");
    project.session(100.1, &on(&mine));
    project.git(&["checkout", "-q", "feature"]);
    assert_says(&project, (1, "regressed", None));
    // Nor is that of a commit which is gone: a pull request that was closed is of no branch.
    project.git(&["checkout", "-q", "mine"]);
    project.session(90.0, &on("0123456789012345678901234567890123456789"));
    let (status, line) = project.gate(ONLY_NEW);
    assert_eq!((status, line["candidate"]["sessions"][0]["commit"].as_str()), (0, Some(&*mine)), "{line:#}");
}

/// Of an old regression, what came last is named with its own commits.
#[test]
fn the_newest_step_is_named_with_its_commits() {
    let mut project = Project::with(SPEC);
    let commits = ["good", "worse", "worst"].map(|message| {
        let commit = project.commit(message);
        let by = match message {
            "good" => 1.0,
            "worse" => 0.9,
            _ => 0.8,
        };
        project.sessions(&scaled(&QUIET, by), &on(&commit));
        commit
    });
    let (status, line) = project.gate(&[]);
    let log = format!("git log {}..{}", &commits[1][..10], &commits[2][..10]);
    let message = line["message"].as_str().unwrap();
    assert!(status == 1 && message.starts_with("open since "), "{message}");
    let (_, text, _) = project.says(&["gate", "-v"]);
    assert!(
        text.contains(", −11.1 % [−11.6, −10.6]: git log")
            && text.contains("the step of 2026-02-0")
            && text.contains(&log),
        "{text}"
    );
    let steps = line["open"]["steps"].as_array().unwrap();
    let newest = steps.last().unwrap();
    assert_eq!(
        (newest["after"].as_str(), newest["commit"].as_str()),
        (Some(&*commits[1]), Some(&*commits[2])),
        "{line:#}"
    );
    // Of one step nothing else is said.
    let mut project = Project::with(SPEC);
    let commit = project.commit("main");
    project.sessions(&[&QUIET[..], &scaled(&QUIET, 0.9)].concat(), &on(&commit));
    assert!(!project.gate(&[]).1["message"].as_str().unwrap().contains("newest step"));
}

/// However many sessions of main show a regression, a branch that shows it too passes, and one that is far worse does not.
#[test]
fn a_branch_answers_for_what_it_adds() {
    let mut state = 7_u64;
    let mut noise = || {
        let uniform = |state: &mut u64| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (*state >> 11) as f64 / (1_u64 << 53) as f64
        };
        (0..12).map(|_| uniform(&mut state)).sum::<f64>() - 6.0
    };
    let (mut blamed, mut missed) = (Vec::new(), Vec::new());
    for bad in [0, 1, 3] {
        for history in 0..2 {
            let mut at = |level: f64| level * (1.0 + 0.01 * noise());
            let mut on_main: Vec<f64> = (0..25).map(|_| at(100.0)).collect();
            on_main.extend((0..bad).map(|_| at(92.0)));
            let level = if bad == 0 { 100.0 } else { 92.0 };
            let (same, worse) = (at(level), at(level * 0.85));
            if project(SPEC, &on_main, &[same]).gate(ONLY_NEW).0 != 0 {
                blamed.push((bad, history, on_main.clone(), same));
            }
            if project(SPEC, &on_main, &[worse]).gate(ONLY_NEW).0 != 1 {
                missed.push((bad, history));
            }
        }
    }
    assert!(missed.is_empty() && blamed.is_empty(), "{missed:?} {blamed:?}");
}
