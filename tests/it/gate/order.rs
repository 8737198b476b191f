//! In which order sessions are: on the line of the default branch by their commits, where each of them is known, else by time.

use kubebench_git::{Looked, checked_out};
use kubebench_testing::snapshot::{assert_line, assert_text, str};
use serde_json::Value as Json;

use super::{Project, QUIET, SPEC, Special, texts, verdict};
use crate::support::steady::steady;

fn on(commit: &str) -> Special {
    Special { commit: Some(commit.to_owned()), ..Special::default() }
}

/// A project with two sessions of each of ten commits of `main`; from the seventh on, they are slower.
fn stepped() -> (Project, Vec<String>) {
    let mut project = Project::with(SPEC);
    let commits: Vec<String> = (0..10).map(|number| project.commit(&format!("change {number}"))).collect();
    for (number, commit) in commits.iter().enumerate() {
        let level = if number < 6 { 1.0 } else { 0.9 };
        for value in &QUIET[number * 2..number * 2 + 2] {
            project.session(value * level, &on(commit));
        }
    }
    (project, commits)
}

/// The sessions of the only series in their order, by their ids.
fn order(project: &Project) -> Vec<String> {
    let (_, history) = project.json(&["history", "train"]);
    let sessions = history["series"][0]["sessions"].as_array().unwrap();
    sessions.iter().map(|session| session["session"].as_str().unwrap().to_owned()).collect()
}

fn change(project: &Project) -> Json {
    project.json(&["history", "train"]).1["series"][0]["changes"].clone()
}

#[test]
fn a_bisection_ends_no_regression_and_the_newest_commit_is_evaluated() {
    let (mut project, commits) = stepped();
    let (before, changes) = (project.gate(&[]), change(&project));
    assert_eq!((before.0, before.1["open"]["commit"].as_str()), (1, Some(&*commits[6])), "{before:?}");
    // The last of them, and all of four commits, are as before the regression.
    for at in [2, 4, 5, 3] {
        project.sessions(&[100.2, 99.9], &on(&commits[at]));
    }
    let (status, answer) = project.json(&["gate"]);
    let line = &answer["lines"][0];
    assert_eq!((status, line["open"]["commit"].as_str()), (1, Some(&*commits[6])), "{answer:#}");
    assert_eq!(line["candidate"]["sessions"][0]["commit"], commits[9], "{line:#}");
    assert_eq!(line["open"]["sessions"], before.1["open"]["sessions"], "{line:#}");
    assert_line(
        texts(&answer["notes"]),
        str! {"8 sessions that began after the evaluated ones are from earlier commits: sessions are ordered by commit; to evaluate others, pass a session or a commit to `--candidate`"},
    );
    let now = change(&project);
    assert_eq!((now.as_array().unwrap().len(), &now[0]["session"]), (1, &changes[0]["session"]), "{now:#}");
    assert_eq!(now[0]["after"], commits[5], "{now:#}");
    // An old commit is compared with those before it alone.
    let (status, line) = project.gate(&["--candidate", &commits[4]]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    for session in line["baseline"]["sessions"].as_array().unwrap() {
        assert!(commits[..4].contains(&session["commit"].as_str().unwrap().to_owned()), "{line:#}");
    }
    // Re-runs of one commit are in the order of time.
    let order = order(&project);
    let own: Vec<&str> = order.iter().map(String::as_str).skip_while(|id| *id != "session-005").take(4).collect();
    assert_eq!(own, ["session-005", "session-006", "session-021", "session-022"]);
}

#[test]
fn a_back_fill_of_slow_commits_opens_nothing() {
    let mut project = Project::with(SPEC);
    let commits: Vec<String> = (0..4).map(|number| project.commit(&format!("change {number}"))).collect();
    project.sessions(&QUIET, &on(&commits[3]));
    project.sessions(&[80.0, 80.3, 79.8, 80.1, 79.9, 80.2], &on(&commits[1]));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["candidate"]["sessions"][0]["commit"].as_str()), (0, Some(&*commits[3])), "{line:#}");
    assert!(line.get("open").is_none_or(Json::is_null), "{line:#}");
    assert_eq!(order(&project)[..6], (21..=26).map(|number| format!("session-{number:03}")).collect::<Vec<_>>());
}

/// The commits between were measured afterwards: the change begins with one of these, and was first measured before.
#[test]
fn a_change_that_was_back_filled_was_there_before_its_first_session_ran() {
    let mut project = Project::with(SPEC);
    let commits: Vec<String> = (0..12).map(|number| project.commit(&format!("change {number}"))).collect();
    let at = |number: usize| QUIET[number] * if number < 5 { 1.0 } else { 0.9 };
    // All that has an even number, each four times; then what is between.
    for number in (0..12).step_by(2) {
        project.sessions(&[at(number), at(number) * 1.001, at(number) * 0.999, at(number)], &on(&commits[number]));
    }
    let day = |line: &Json| line["open"]["since"].as_str().unwrap().to_owned();
    let (status, before) = project.gate(&[]);
    assert_eq!((status, before["open"]["commit"].as_str()), (1, Some(&*commits[6])), "{before:#}");
    project.sessions += 5 * 24;
    for number in (1..12).step_by(2) {
        project.session(at(number), &on(&commits[number]));
    }
    let (status, after) = project.gate(&[]);
    assert_eq!((status, after["open"]["commit"].as_str()), (1, Some(&*commits[5])), "{after:#}");
    assert_eq!(after["open"]["after"], commits[4], "{after:#}");
    assert_eq!(day(&after), day(&before), "it was measured then, by a later commit");
    let (_, history) = project.json(&["history", "train"]);
    let session = after["open"]["session"].as_str().unwrap();
    let sessions = history["series"][0]["sessions"].as_array().unwrap();
    let own = sessions.iter().find(|own| own["session"] == session).unwrap();
    assert!(own["startedAt"].as_str().unwrap() > day(&after).as_str(), "{own:#}");
    assert_eq!(history["series"][0]["changes"][0]["since"], after["open"]["since"], "{history:#}");
    // What is accepted until that day is listed as since that day.
    let until = &day(&after)[..10];
    let all = ["ack", "--all", "--until", until, "--by", "ada", "--reason", "known"];
    let (status, path, error) = project.says(&all);
    assert_eq!(status, 0, "{error}");
    let text = std::fs::read_to_string(project.folder.path().join(path.trim())).unwrap();
    assert!(text.contains(&format!(" since {until} (session {session}, ")), "{text}");
    assert_eq!(project.gate(&[]).0, 0);
}

#[test]
fn what_a_merge_or_a_squash_brought_is_where_it_was_brought() {
    for squash in [false, true] {
        let mut project = Project::with(SPEC);
        let first = project.commit("first");
        project.session(100.0, &on(&first));
        project.git(&["checkout", "-q", "-b", "topic"]);
        project.commit("topic");
        let looked = Looked { results: "results", ..Looked::default() };
        let known = checked_out(project.folder.path(), &looked).unwrap().unwrap();
        let topic = Special { commit: Some(known.commit), content: known.content, ..Special::default() };
        project.session(100.1, &topic);
        project.git(&["checkout", "-q", "main"]);
        let second = project.commit("second");
        project.session(100.2, &on(&second));
        if squash {
            project.git(&["merge", "-q", "--squash", "topic"]);
            project.git(&["commit", "-q", "-m", "squash"]);
        } else {
            project.git(&["merge", "-q", "--no-edit", "topic"]);
        }
        let brought = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
        let third = project.commit("third");
        project.session(100.3, &on(&third));
        project.session(100.4, &on(&brought));
        let wanted = ["session-001", "session-003", "session-002", "session-005", "session-004"];
        assert_eq!(order(&project), wanted, "squash: {squash}");
    }
}

/// The culprit of a merge is looked for among what it brought, and the last of these sessions ends nothing.
#[test]
fn a_bisection_of_a_merge_ends_no_regression() {
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    project.sessions(&QUIET[..12], &on(&first));
    project.git(&["checkout", "-q", "-b", "topic"]);
    let topic: Vec<String> = (0..4).map(|number| project.commit(&format!("topic {number}"))).collect();
    project.git(&["checkout", "-q", "-b", "part", &topic[0]]);
    let part = project.commit("part");
    project.git(&["checkout", "-q", "topic"]);
    project.git(&["merge", "-q", "--no-edit", "part"]);
    project.git(&["checkout", "-q", "main"]);
    let second = project.commit("second");
    project.git(&["merge", "-q", "--no-edit", "topic"]);
    let merge = project.git(&["rev-parse", "HEAD"]).trim().to_owned();
    project.sessions(&[90.0, 90.3, 89.8, 90.1], &on(&merge));
    for (commit, value) in [(&topic[3], 90.2), (&topic[1], 100.1), (&topic[2], 89.9), (&part, 99.8), (&second, 100.2)] {
        project.session(value, &on(commit));
    }
    let order = order(&project);
    let place = |session: &str| order.iter().position(|own| own == session).unwrap();
    let [merged, last, early, late, beside, second] =
        ["session-013", "session-017", "session-018", "session-019", "session-020", "session-021"].map(place);
    assert!(second < early && early < late && late < last && last < merged, "{order:?}");
    assert!(second < beside && beside < merged, "{order:?}");
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    assert_eq!(line["candidate"]["sessions"][0]["commit"], merge, "{line:#}");
}

#[test]
fn sessions_of_other_branches_come_after_those_that_began_before_them() {
    let mut project = Project::with(SPEC);
    let [first, second] = ["first", "second"].map(|name| project.commit(name));
    project.git(&["checkout", "-q", "-b", "feature"]);
    let feature = project.commit("feature");
    project.git(&["checkout", "-q", "main"]);
    project.session(100.0, &on(&second));
    project.session(100.0, &on(&feature));
    project.session(100.0, &on(&first));
    project.session(100.0, &on(&feature));
    assert_eq!(order(&project), ["session-003", "session-001", "session-002", "session-004"]);
}

/// Where the commit of one session is unknown, or the line is, all of the series are in the order of time.
#[test]
fn where_a_place_is_unknown_time_decides() {
    let in_time = ["session-001", "session-002", "session-003"];
    let mut project = Project::with(SPEC);
    assert_eq!(project.says(&["compile"]).0, 0);
    let [first, second] = ["first", "second"].map(|name| project.commit(name));
    project.session(100.0, &on(&second));
    project.session(100.0, &on(&first));
    assert_eq!(order(&project), ["session-002", "session-001"]);
    // It is of main by its run digest alone.
    project.session(100.0, &Special::default());
    assert_eq!(order(&project), in_time);
    // `main` ends in two commits of which neither follows the other.
    let mut project = Project::with(SPEC);
    let first = project.commit("first");
    let there = project.commit("there");
    project.git(&["update-ref", "refs/remotes/origin/main", &there]);
    project.git(&["reset", "-q", "--hard", &first]);
    let here = project.commit("here");
    for commit in [&there, &here, &first] {
        project.session(100.0, &on(commit));
    }
    assert_eq!(order(&project), in_time);
}

#[test]
fn the_first_line_says_that_an_earlier_commit_is_evaluated() {
    let mut project = Project::with(SPEC);
    let [first, second] = ["first", "second"].map(|name| project.commit(name));
    project.sessions(&QUIET[..8], &on(&first));
    project.sessions(&[70.0, 70.2, 69.9, 70.1], &on(&second));
    project.git(&["checkout", "-q", "--orphan", "kubebench/results"]);
    project.git(&["rm", "-q", "-r", "--cached", "."]);
    project.git(&["add", "-f", "results"]);
    project.git(&["commit", "-q", "-m", "results"]);
    project.git(&["checkout", "-q", "-f", "main"]);
    project.session(100.2, &on(&first));
    let (status, answer) = project.json(&["gate"]);
    let line = &answer["lines"][0];
    assert_eq!((status, line["baseline"]["sessions"].as_array().unwrap().len()), (0, 8), "{answer:#}");
    let first_line = |project: &Project| {
        let text = project.says(&["gate"]).1;
        let first = text.lines().enumerate().take_while(|(at, line)| *at == 0 || line.starts_with(' '));
        first.map(|(_, line)| line.trim()).collect::<Vec<_>>().join(" ")
    };
    assert_text(
        steady(first_line(&project)),
        str! {"evaluated: the newest sessions measured on main (COMMIT) in results; kubebench/results has the history and sessions of later commits, which are not evaluated"},
    );
    project.session(70.1, &on(&second));
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(status, 1, "{answer:#}");
    assert_text(
        steady(first_line(&project)),
        str! {"evaluated: the newest sessions measured on main (COMMIT) in results; kubebench/results has the history"},
    );
}

/// What is accepted from a time on begins after all that ran before it, wherever an old commit that ran later is.
#[test]
fn a_time_that_accepts_is_after_the_sessions_before_it() {
    let (mut project, commits) = stepped();
    project.sessions(&[100.2, 99.9], &on(&commits[1]));
    let (_, line) = project.gate(&[]);
    let since = line["open"]["since"].as_str().unwrap().to_owned();
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--from", &since];
    let (status, _, error) = project.says(&ack);
    assert_eq!(status, 0, "{error}");
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 0, "{line:#}");
    assert_eq!(line["acks"][0]["session"], "session-013", "{line:#}");
}

/// Sessions that began in one second have an order, and times of older results, without a fraction, come before them.
#[test]
fn milliseconds_decide_within_a_second() {
    let mut project = Project::with(SPEC);
    let commit = project.commit("main");
    for fraction in [".900Z", ".250Z", "Z", ".001Z"] {
        project.session_as(100.0, &on(&commit), |made| {
            made.run.started_at = format!("2026-02-01T08:00:00{fraction}");
            made.run.finished_at = "2026-02-01T08:00:00.950Z".to_owned();
        });
    }
    assert_eq!(order(&project), ["session-003", "session-004", "session-002", "session-001"]);
    let (_, line) = project.gate(&[]);
    assert_eq!(line["candidate"]["sessions"][0]["startedAt"], "2026-02-01T08:00:00.900Z", "{line:#}");
    let (status, out, error) = project.says(&["validate", "results"]);
    assert_eq!(status, 0, "{out}{error}");
    assert!(out.is_empty(), "{out}");
}
