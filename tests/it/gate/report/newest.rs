//! What only the newest session shows is everywhere, and what never ran is called as the gate calls it.

use kubebench_testing::snapshot::{assert_line, str};

use super::super::{Project, QUIET, SPEC, Special};
use super::{site, words};

/// A project whose newest session has `value`.
fn with_newest(value: f64) -> Project {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(value, &Special::default());
    project
}

/// The first page of the only case.
fn case_page(files: &std::collections::BTreeMap<String, String>) -> &String {
    let is_case = |path: &&String| path.starts_with("benchmarks/train/cases/") && path.ends_with(".html");
    &files[files.keys().find(is_case).unwrap()]
}

#[test]
fn an_improvement_of_the_newest_session_is_in_all_lists() {
    let files = site(&with_newest(112.0), &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"1 improved"});
    let entry = str! {"2026-02-01 train (default), speed: better in the newest session +12.0 % [+10.1, +14.1]"};
    for page in [&overview, &words(&files["changes.html"]), &words(&files["improvements.html"])] {
        assert_line(page, entry.clone());
    }
    assert_line(&overview, str! {"All improvements (1)"});
    assert!(overview.contains("▲ improved+12.0 %") && overview.contains("99.95 → 112 images/s"), "{overview}");
    assert_line(
        words(case_page(&files)),
        str! {"speed: +12.0 % [+10.1, +14.1] (higher is better) on 1 × synthetic, target default"},
    );
}

#[test]
fn an_improvement_is_listed_once_whether_it_is_a_level_yet_or_not() {
    let mut project = with_newest(112.0);
    for more in 1..8 {
        let files = site(&project, &[]);
        let improved = words(&files["improvements.html"]);
        let count = improved.matches("speed: better").count();
        assert_eq!(count, 1, "after {more} sessions: {improved}");
        project.session(112.0 + f64::from(more % 3), &Special::default());
    }
}

#[test]
fn a_regression_of_the_newest_session_is_among_the_changes() {
    let files = site(&with_newest(88.0), &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"1 regression is open"});
    assert_line(
        words(&files["changes.html"]),
        str! {"2026-02-01 train (default), speed: worse in the newest session −12.0 % [−13.5, −10.4]"},
    );
    // It is reported above already.
    assert_line(&overview, str! {"Nothing else changed in the last 10 sessions of any series. All changes (1)"});
    assert!(overview.contains("99.95 → 88 images/s"), "the level before and after it: {overview}");
    let case = case_page(&files);
    let [news, plots] = ["id=\"news\"", "<h2>Metrics</h2>"].map(|part| case.find(part).unwrap());
    assert!(news < plots, "{case}");
    let (_, anchor) = case[news..plots].split_once('#').unwrap();
    let anchor = anchor.split('"').next().unwrap();
    assert!(case[plots..].contains(&format!("id=\"{anchor}\"")), "{anchor}: {case}");
}

#[test]
fn a_series_without_a_change_has_its_level_and_a_whole_sentence() {
    let files = site(&with_newest(100.0), &[]);
    let overview = words(&files["index.html"]);
    assert!(!overview.contains(" → 100 images/s"), "{overview}");
    assert_line(words(&files["changes.html"]), str! {"No metric and no environment has changed."});
    let case = words(case_page(&files));
    assert!(case.contains("would have been detected with 90 % probability."), "{case}");
    assert!(!files.keys().any(|path| path == "improvements.html"));
}

#[test]
fn what_is_inconclusive_is_no_noise_and_says_why() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..10], &Special::default());
    project.session(70.0, &Special::default());
    project.sessions(&QUIET[..9], &Special::default());
    project.session(70.0, &Special::default());
    let files = site(&project, &[]);
    let listed = words(&files["series/inconclusive.html"]);
    assert!(listed.contains("an earlier session was as far off and recovered"), "{listed}");
    assert!(!listed.contains('~'), "{listed}");
}

#[test]
fn a_case_that_never_ran_is_new_and_missing_only_where_the_gate_says_so() {
    let project = with_newest(100.0);
    project.folder.write("specs/other.yaml", SPEC.replace("name: train", "name: other").as_bytes());
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    for line in [str! {"1 new case"}, str! {"New cases"}, str! {"new: other (default) has no result on default"}] {
        assert_line(&overview, line);
    }
    assert!(overview.contains("+ new") && !overview.contains("missing"), "{overview}");
    assert_line(words(&files["benchmarks/other/index.html"]), str! {"1 case is new and has no result yet."});
    assert_line(words(&files["badge.svg"].replace("</", "\n</")), str! {"no change"});

    let case = project.folder.tree("results")[0].0.split('/').nth(1).unwrap().to_owned();
    project.folder.write(&format!("results/other/{case}/2026/broken.json"), "{");
    let (status, _, error) = project.says(&["report", "--out", "site"]);
    assert_eq!(status, 1, "{error}");
    let overview = words(&std::fs::read_to_string(project.folder.path().join("site/index.html")).unwrap());
    for line in [
        str! {"1 missing case"},
        str! {"Failing and missing"},
        str! {"missing: other (default) has no result on default"},
    ] {
        assert_line(&overview, line);
    }
    assert!(overview.contains("✕ missing") && !overview.contains("New cases"), "{overview}");
}
