//! `report`: it says of a gate what the gate says.

use kubebench_testing::snapshot::{assert_line, assert_text, str};

use super::super::{Project, QUIET, SPEC, Special};
use super::{json, site, words};
use crate::support::steady::steady;

/// A project of one metric with these gates, after these sessions.
fn gated(gates: &str, values: &[f64]) -> Project {
    let spec = SPEC.replace("gates: [{metric: speed, maxRegression: 3%}]", &format!("gates: [{gates}]"));
    let mut project = Project::with(&spec);
    project.sessions(values, &Special::default());
    project
}

#[test]
fn of_several_gates_the_strictest_decides() {
    let dropped: Vec<f64> = QUIET.iter().copied().chain([90.0]).collect();
    let project = gated("{metric: speed, maxRegression: 3%}, {metric: speed, min: 10}", &dropped);
    assert_eq!(project.says(&["gate"]).0, 1);
    let overview = words(&site(&project, &[])["index.html"]);
    assert_line(&overview, str! {"1 regression is open"});
}

#[test]
fn what_the_gate_calls_over_is_not_open() {
    let mut values = QUIET[..12].to_vec();
    values.extend([90.0, 90.2, 89.9, 90.1, 90.0, 89.8, 90.3, 100.2]);
    let project = gated("{metric: speed, maxRegression: 3%}", &values);
    let (status, answer, error) = project.says(&["gate"]);
    assert_eq!(status, 0, "{answer}{error}");
    let files = site(&project, &[]);
    assert!(!words(&files["index.html"]).contains("open"), "{}", words(&files["index.html"]));
    assert_line(words(&files["badge.svg"].replace("</", "\n</")), str! {"1 pending"});
}

#[test]
fn what_a_gate_does_not_look_at_does_not_fail_it_here_either() {
    let mut values = QUIET[..12].to_vec();
    values.extend([95.0, 95.2, 94.9, 95.1, 95.0, 94.8, 95.3]);
    let project = gated("{metric: speed, min: 10}", &values);
    assert_eq!(project.says(&["gate"]).0, 0);
    let overview = words(&site(&project, &[])["index.html"]);
    assert_line(&overview, str! {"Nothing got worse"});
    assert_line(&overview, str! {"1 series kept the limits."});
}

#[test]
fn a_limit_that_was_passed_is_reported_as_a_limit() {
    let project = gated("{metric: speed, min: 110}", &QUIET);
    assert_eq!(project.says(&["gate"]).0, 1);
    let files = site(&project, &[]);
    let overview = words(&files["index.html"]);
    assert_line(&overview, str! {"1 regression is open"});
    assert!(!overview.contains("95 % sure"), "{overview}");
    assert_line(
        &overview,
        str! {"train (default): speed 99.7 images/s is below `min: 110` in the session of 2026-02-01 20:01 UTC on 1 × synthetic, target default; a limit, regardless of noise."},
    );
    assert!(json(&files["index.json"])["open"][0].get("change").is_none());
}

/// A limit that is passed says nothing of when a change began, and by how much.
#[test]
fn a_limit_hides_no_open_change() {
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    let both =
        ["{metric: speed, maxRegression: 5%, min: 90}", "{metric: speed, min: 90}, {metric: speed, maxRegression: 5%}"];
    for gates in both {
        let mut project = gated(gates, &[]);
        let commits = ["first", "second", "third"].map(|message| project.commit(message));
        project.sessions(&QUIET[..10], &on(&commits[0]));
        project.sessions(&[85.0, 85.3, 84.6, 85.1, 84.9, 85.2], &on(&commits[1]));
        project.session(84.8, &on(&commits[2]));
        let files = site(&project, &[]);
        let open = &json(&files["index.json"])["open"][0];
        let change = open["change"].as_f64().unwrap();
        assert!((change + 0.15).abs() < 0.01, "{open:#}");
        assert_eq!(
            (open["commit"].as_str(), open["sessions"].as_u64()),
            (Some(commits[1].as_str()), Some(7)),
            "{open:#}"
        );
        let limit = open["limit"].as_str().unwrap();
        assert_text(limit, str! {"84.8 images/s is below `min: 90`"});
        let sentence = open["sentence"].as_str().unwrap();
        assert!(sentence.contains("since 2026-02-01"), "{sentence}");
        assert_line(
            steady(sentence),
            str! {"train (default): speed −15.0 % [−15.7, −14.2] since 2026-02-01 11:01 UTC (COMMIT), and 84.8 images/s is below `min: 90` on 1 × synthetic, target default; seen in 7 sessions; brackets are the 95 % confidence interval."},
        );
        let overview = words(&files["index.html"]);
        let markdown = project.says(&["report", "--format", "markdown"]).1;
        for page in [&overview, &words(&files["feed.xml"]), &markdown.replace('\\', "")] {
            assert!(page.contains(limit) && page.contains(&commits[1][..10]), "{page}");
        }
        let id = |feed: &str| feed.split("<id>").nth(2).map(|rest| rest[..45].to_owned());
        let before = id(&files["feed.xml"]);
        project.session(84.7, &on(&commits[2]));
        assert_eq!(id(&site(&project, &[])["feed.xml"]), before, "one change is one entry");
    }
}

#[test]
fn a_gated_metric_without_a_value_is_named() {
    let project = gated("{metric: speed, maxRegression: 3%}, {metric: loss, max: 3}", &QUIET);
    assert_eq!(project.says(&["gate"]).0, 1);
    let overview = words(&site(&project, &[])["index.html"]);
    assert_line(&overview, str! {"train (default): no value of loss on default: none of 3 runs has a value of `loss`"});
    assert_line(&overview, str! {"No regression is open"});
    assert_line(
        &overview,
        str! {"No regressions in 1 series. A regression of 4.2 % or more would have been detected with 90 % probability. 1 case fails."},
    );
}

#[test]
fn targets_that_keep_nothing_apart_have_their_verdicts() {
    let dropped: Vec<f64> = QUIET.iter().copied().chain([90.0]).collect();
    let project = gated("{metric: speed, maxRegression: 3%}", &dropped);
    project.folder.write(
        "kubebench.yaml",
        "apiVersion: kubebench.dev/v1\nkind: Project\nmetadata: {name: p}\nspec: {compareAcross: [target], lints: {KB0402: 'off', KB0401: 'off'}}\n",
    );
    assert_eq!(project.says(&["gate"]).0, 1);
    let overview = words(&site(&project, &[])["index.html"]);
    assert_line(&overview, str! {"1 regression is open"});
}

#[test]
fn a_unit_that_changed_leaves_no_open_change_behind() {
    let mut values = QUIET[..12].to_vec();
    values.extend([90.0, 90.2, 89.9, 90.1, 90.0, 89.8, 90.3]);
    let mut project = gated("{metric: speed, maxRegression: 3%}", &values);
    project.sessions(&QUIET[..8], &Special { unit: Some("tokens/s".to_owned()), ..Special::default() });
    let overview = words(&site(&project, &[])["index.html"]);
    assert!(!overview.contains("is open"), "{overview}");
    assert_line(
        &overview,
        str! {"No regressions in 1 series. A regression of 4.5 % or more would have been detected with 90 % probability."},
    );
}

/// A branch that is not checked out has nothing to say about the default one, however new its sessions are.
#[test]
fn a_session_of_another_branch_is_not_evaluated() {
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    let mut project = gated("{metric: speed, maxRegression: 3%}", &[]);
    let main = project.commit("first");
    project.sessions(&QUIET[..12], &on(&main));
    project.git(&["checkout", "-q", "-b", "topic"]);
    let topic = project.commit("topic");
    project.session(80.0, &on(&topic));
    let overview = |project: &Project| words(&site(project, &[])["index.html"]);
    assert_line(overview(&project), str! {"1 regression is open"});
    project.git(&["checkout", "-q", "main"]);
    assert_eq!(project.says(&["gate"]).0, 0);
    assert_line(overview(&project), str! {"Nothing got worse"});
}
