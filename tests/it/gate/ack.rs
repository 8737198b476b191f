//! `ack`: what it bounds, what it refuses, and what the gate says after it.

use kubebench_testing::snapshot::{assert_line, assert_text, named, str};
use serde_json::{Value as Json, json};

use crate::support::steady::steady;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

const ACK: [&str; 7] = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason=known"];

/// Returns the only acknowledgement.
fn file(project: &Project) -> String {
    let mut files = project.folder.tree("acks");
    assert_eq!(files.len(), 1);
    String::from_utf8(files.remove(0).1).unwrap()
}

fn scaled(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|value| value * by).collect()
}

#[test]
fn a_fresh_hit_is_accepted_as_far_as_it_went() {
    for sessions in 1..=3 {
        let mut project = Project::with(SPEC);
        project.sessions(&QUIET, &Special::default());
        let bad = project.sessions(&[90.0, 90.4, 89.7][..sessions], &Special::default());
        let (status, text) = project.whole(&[]);
        assert!(status == 1 && text.contains(&format!("--from {} ", bad[0])), "{text}");
        let (status, _, error) = project.says(&[&ACK[..], &["--from", &bad[0]]].concat());
        assert!(status == 0 && !error.contains("stays open"), "{error}");
        let text = file(&project);
        let bound = text.split_once("maxChange: ").unwrap().1.split_once('%').unwrap().0.trim_matches('"');
        let bound: u32 = bound.parse().unwrap();
        assert!((12..=16).contains(&bound), "{text}");
        let (status, line) = project.gate(&[]);
        assert_eq!(status, 0, "{line:#}");
        // What is far worse was never accepted, also while the level that was is no baseline yet.
        project.sessions(&[60.0], &Special::default());
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
        project.sessions(&[60.2, 59.8], &Special::default());
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
        project.sessions(&[60.1, 59.9, 60.3, 59.7, 60.0, 60.2], &Special::default());
        assert_eq!(project.gate(&[]).0, 1);
    }
}

/// A gate fails by one session, and a change of level takes several: until then `ack` takes what the gate named, and says so.
#[test]
fn what_the_gate_calls_regressed_is_named_where_no_change_is_open() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let (status, _, error) = project.says(&ACK);
    assert!(status == 2 && error.contains("no regression is open, so there is nothing to accept"), "{error}");
    let bad = project.session(90.0, &Special::default());
    let (status, text) = project.whole(&[]);
    assert!(status == 1 && text.contains(&format!("--from {bad} ")), "{text}");
    let (status, _, error) = project.says(&[&ACK[..], &["--expires", "2026-12-31", "--target=default"]].concat());
    assert_eq!(status, 2, "{error}");
    let (said, command) = error.trim_end().split_once("\n  ").unwrap();
    assert_line(
        said,
        str! {"error: this regression is not open yet, because only the newest session shows it; to accept it anyway, run:"},
    );
    assert!(command.contains("--target default") && command.contains("--expires 2026-12-31"), "{command}");
    assert!(command.contains(&format!(" --from {bad} --by ada --reason known")), "{command}");
    let words: Vec<&str> = command.split(' ').skip(1).collect();
    let (status, _, error) = project.says(&words);
    assert_eq!(status, 0, "{error}");
    assert_eq!(project.gate(&[]).0, 0);
    // What is accepted is not named again, nor is another metric or target.
    for other in [&ACK[..], &[&ACK[..], &["--target", "elsewhere"]].concat()] {
        let (status, _, error) = project.says(other);
        assert!(status == 2 && !error.contains("kubebench ack"), "{error}");
    }
}

#[test]
fn the_bound_of_two_steps_is_that_of_both() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%", "maxRegression: 5%"));
    for by in [1.0, 0.953, 0.908] {
        project.sessions(&scaled(&QUIET[..10], by), &Special::default());
    }
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    let (status, path, error) = project.says(&[&ACK[..], &["--max-change", "7%"]].concat());
    assert_eq!(status, 0, "{error}");
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 1, "{line:#}");
    let message = named(line["message"].as_str().unwrap(), &[(path.trim(), "PATH")]);
    assert_text(
        message,
        str! {"open since 2026-02-01: −4.7 % [−5.6, −3.9] vs. the baseline (seen in 10 sessions); more than the 7 % that PATH accepts"},
    );
    project.folder.remove(path.trim());
    let (status, _, error) = project.says(&ACK);
    assert_eq!(status, 0);
    assert_text(
        &error,
        str! {[r#"
accepted in every case since session session-021, up to 12 % worse
it counts in this clone now, and in CI after the merge: send the file for review

"#]},
    );
    let text = file(&project);
    assert!(["11%", "12%", "13%"].iter().any(|bound| text.contains(bound)), "{text}");
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 0, "{line:#}");
}

#[test]
fn an_open_change_of_several_levels_is_accepted_as_it_is_now() {
    let mut project = Project::with(SPEC);
    let first: Vec<String> = [1.0, 0.9, 0.8]
        .into_iter()
        .map(|by| project.sessions(&scaled(&QUIET[..10], by), &Special::default()).remove(0))
        .collect();
    assert_eq!(project.gate(&[]).0, 1);
    let (status, path, error) = project.says(&ACK);
    assert!(status == 0 && error.contains(&first[2]), "{error}");
    assert_text(
        &error,
        str! {[r#"
accepted in every case since session session-021, up to 23 % worse
it counts in this clone now, and in CI after the merge: send the file for review

"#]},
    );
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 0, "{line:#}");
    // The first level alone leaves the second one open, and says so.
    project.folder.remove(path.trim());
    let (status, _, error) = project.says(&[&ACK[..], &["--from", &first[1]]].concat());
    assert!(status == 0 && error.contains(&format!("--from {}`", first[2])), "{error}");
    assert_text(
        &error,
        str! {[r#"
accepted in every case since session session-011, up to 13 % worse
it counts in this clone now, and in CI after the merge: send the file for review
the regression since session session-021 of 2026-02-01 is still open, because it is a separate change; accept it with `--from session-021`

"#]},
    );
    assert_eq!(project.gate(&[]).0, 1);
    assert_eq!(project.says(&[&ACK[..], &["--from", &first[2]]].concat()).0, 0);
    assert_eq!(project.gate(&[]).0, 0);
}

/// A wrong name in a file that somebody wrote by hand accepts nothing, and nobody would know why the gate fails.
#[test]
fn an_acknowledgement_of_nothing_is_reported() {
    let mut project = Project::with(SPEC);
    let first = project.sessions(&QUIET, &Special::default()).remove(0);
    let ack = |benchmark: &str, case: &str, metric: &str, from: &str| {
        format!(
            "apiVersion: kubebench.dev/v1\nkind: Ack\nspec: {{benchmark: {benchmark}, case: '{case}', metric: {metric}, \
             from: '{from}', by: ada, reason: known}}\n"
        )
    };
    let says = |text: String| {
        project.folder.write("acks/one.yaml", text);
        assert_eq!(project.says(&["report", "--out", "site"]).0, 0);
        let overview = std::fs::read_to_string(project.folder.path().join("site/index.html")).unwrap();
        let (status, answer) = project.json(&["gate"]);
        assert_eq!(status, 0);
        let notes: Vec<String> = serde_json::from_value(answer["notes"].clone()).unwrap();
        let told = notes.into_iter().find(|note| note.starts_with("acks/one.yaml accepts nothing: "));
        assert_eq!(told.is_some(), overview.contains("acks/one.yaml accepts nothing: "));
        told
    };
    for (text, expected) in [
        (ack("trian", "*", "speed", &first), "no result is from the benchmark `trian`; did you mean `train`?"),
        (ack("train", "gpus=9", "speed", &first), "no result of train is from the case `gpus=9`"),
        (ack("train", "*", "sped", &first), "no result of train has the metric `sped`; did you mean `speed`?"),
        (
            ack("train", "*", "speed", "0123456789abcdef"),
            "`0123456789abcdef` is neither a session, nor the commit of one",
        ),
        (ack("train", "*", "speed", "2027-01-01T00:00:00Z"), "nor a time before one"),
    ] {
        let told = says(text).unwrap();
        assert!(told.contains(expected), "{told}");
    }
    assert_eq!(says(ack("train", "*", "speed", &first)), None);
    assert_eq!(says(ack("train", "*", "speed", "2026-01-01")), None);
}

/// Times are times, whatever their zone, and what is written is read again.
#[test]
fn a_time_is_read_as_a_time() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(90.0, &Special::default());
    for wrong in ["2026-01-2", "2026-01-20 12:00", "2026-01-20T00"] {
        let (status, _, error) = project.says(&[&ACK[..], &["--from", wrong]].concat());
        assert!(status == 2, "{error}");
        assert_line(
            named(&error, &[(wrong, "WRONG")]),
            str! {"error: invalid value 'WRONG' for '--from <START>': `WRONG` is not a time; write a day such as `2027-03-31`, or a time such as `2027-03-31T08:00:00Z`"},
        );
    }
    for (reason, from) in [("2026-01-20 12:00", "2026-02-01T21:00:00Z"), ("on", "2026-02-02T00:01:00+03:00")] {
        let ack = ["ack", "train", "--metric", "speed", "--by=10.0.0.1:80", "--reason", reason, "--from", from];
        let (status, path, error) = project.says(&ack);
        assert_eq!(status, 0, "{error}");
        assert!(file(&project).contains("2026-02-01T21:0"), "{}", file(&project));
        let (status, line) = project.gate(&[]);
        assert_eq!((status, line["reason"].as_str()), (0, Some("accepted")), "{line:#}");
        project.folder.remove(path.trim());
    }
    let text = "apiVersion: kubebench.dev/v1\nkind: Ack\nspec: {benchmark: train, metric: speed, from: '2026-02-1', by: a, reason: b}\n";
    project.folder.write("acks/one.yaml", text);
    let (status, out, error) = project.says(&["validate"]);
    assert!(status == 1 && format!("{out}{error}").contains("acks/one.yaml:3"), "{out}{error}");
}

/// All that there is to lose is 100 %, in the gate as in the history.
#[test]
fn a_bound_of_all_accepts_all() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let bad = project.session(0.5, &Special::default());
    assert_eq!(project.says(&[&ACK[..], &["--from", &bad, "--max-change", "100%"]].concat()).0, 0);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str()), (0, Some("accepted")), "{line:#}");
}

/// A squash makes another commit, which an acknowledgement of the first one does not know.
#[test]
fn an_acknowledgement_of_a_commit_that_was_squashed_is_reported() {
    let mut project = Project::with(SPEC);
    let [_, feature] = project.with_feature(&QUIET, &[90.0]);
    assert_eq!(project.says(&[&ACK[..], &["--from", &feature]].concat()).0, 0);
    assert_eq!(project.gate(&[]).0, 0);
    let squashed = project.commit("squashed");
    project.session(90.2, &Special { commit: Some(squashed), ..Special::default() });
    let (status, answer) = project.json(&["gate"]);
    assert!(status == 1, "{answer:#}");
    assert_line(
        steady(texts(&answer["notes"])),
        str! {"acks/train-ID.yaml accepts nothing: the sessions since `COMMIT` are in no baseline; after a squash or a rebase, name the new commit"},
    );
}

#[test]
fn nothing_that_got_worse_is_nothing_to_accept() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let better = project.session(110.0, &Special::default());
    let from = [&ACK[..], &["--from", &better]].concat();
    let (status, _, error) = project.says(&from);
    assert!(status == 2 && error.contains(&better), "{error}");
    assert_text(
        &error,
        str! {[r#"
error: nothing got worse since `session-021`, so there is nothing to accept; to accept a later regression, pass its largest size with `--max-change`

"#]},
    );
    assert!(!project.folder.path().join("acks").exists());
    assert_eq!(project.says(&[&from[..], &["--max-change", "4%"]].concat()).0, 0);
    assert!(file(&project).contains("4%"));
}

#[test]
fn an_acknowledgement_that_does_not_reach_says_what_would() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let bad = project.session(90.0, &Special::default());
    let from = [&ACK[..], &["--from", &bad]].concat();
    assert_eq!(project.says(&[&from[..], &["--max-change", "4%"]].concat()).0, 0);
    assert_eq!(project.gate(&[]).0, 1);
    let (status, _, error) = project.says(&from);
    assert!(status == 2, "{error}");
    assert_line(
        steady(&error),
        str! {"error: acks/train-ID.yaml already acknowledges this regression; `maxChange: 14%` would accept the current regression; edit `expires` or `maxChange` in that file, or delete the file and run this command again"},
    );
    // One that does not hold any more is not the one to fix.
    let tight = project.folder.tree("acks").remove(0).0;
    let expired = file(&project).replace("maxChange: 4%", "maxChange: 90%\n  expires: '2026-01-01'");
    project.folder.write("acks/a-first.yaml", expired);
    let (_, said, _) = project.says(&["gate"]);
    assert!(said.contains(&format!("acks/{tight}")), "{said}");
    assert_line(
        named(&said, &[(&tight, "TIGHT")]),
        str! {"  next: fix it, or accept it in acks/TIGHT: raise its `maxChange`, and send the file"},
    );
}

#[test]
fn what_no_bound_covers_is_accepted_only_by_name() {
    let mut project = Project::with(&SPEC.replacen("better: higher", "better: lower", 1));
    project.sessions(&QUIET, &Special::default());
    let bad = project.session(300.0, &Special::default());
    let from = [&ACK[..], &["--from", &bad]].concat();
    let (status, _, error) = project.says(&from);
    assert!(status == 2 && error.contains("--max-change any"), "{error}");
    assert_eq!(project.says(&[&from[..], &["--max-change", "any"]].concat()).0, 0);
    assert!(!file(&project).contains("maxChange"), "{}", file(&project));
    assert_eq!(project.gate(&[]).0, 0);
    // Who has bounded it takes the bound out.
    let place = format!("acks/{}", project.folder.tree("acks").remove(0).0);
    project.folder.write(&place, format!("{}  maxChange: 100%\n", file(&project)));
    let (status, said) = project.whole(&[]);
    assert!(status == 1, "{said}");
    assert_line(
        steady(&said),
        str! {"  next: fix it, or accept it in acks/train-ID.yaml: remove its `maxChange`, and send the file for review"},
    );
}

/// Where the far end of an interval alone is out of reach, the largest bound is enough.
#[test]
fn what_may_have_doubled_is_accepted_up_to_that() {
    let mut project = Project::with(&SPEC.replacen("better: higher", "better: lower", 1));
    project.sessions(&scaled(&QUIET, 1.0)[..5], &Special::default());
    project.session(197.0, &Special::default());
    let (_, said) = project.whole(&[]);
    let command = said.lines().find_map(|line| line.split_once("kubebench ack ")).unwrap().1;
    assert!(command.contains("--max-change 100%"), "{said}");
    let words = command.split(' ').map(|word| match word {
        "YOU" => "ada",
        "WHY" => "known",
        word => word.trim_matches('\''),
    });
    let (status, _, error) = project.says(&["ack"].into_iter().chain(words).collect::<Vec<_>>());
    assert_eq!((status, project.gate(&[]).0), (0, 0), "{error}");
}

#[test]
fn a_gate_against_a_release_bounds_by_the_release() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {tag: v1}}");
    let mut project = Project::with(&spec);
    let commits = ["release", "later"].map(|message| project.commit(message));
    let on = |commit: &str| Special { commit: Some(commit.to_owned()), ..Special::default() };
    project.git(&["tag", "v1", &commits[0]]);
    project.sessions(&QUIET, &on(&commits[0]));
    project.sessions(&scaled(&QUIET[..12], 0.98), &on(&commits[1]));
    let bad = project.session(93.0, &on(&commits[1]));
    assert_eq!(project.gate(&[]).0, 1);
    assert_eq!(project.says(&[&ACK[..], &["--from", &bad]].concat()).0, 0);
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 0, "{line:#} {}", file(&project));
}

/// The first of two hits that confirm each other is the session from which the gate says to accept.
#[test]
fn a_confirmed_change_is_accepted_from_its_first_hit() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}"));
    project.sessions(&QUIET, &Special { image: Some("sha256:1".to_owned()), ..Special::default() });
    let bad = Special { image: Some("sha256:2".to_owned()), ..Special::default() };
    let first = project.sessions(&[92.0, 92.3], &bad);
    let (status, text) = project.whole(&[]);
    assert!(status == 1 && text.contains(&format!("--from {} ", first[0])), "{text}");
    assert_eq!(project.says(&[&ACK[..], &["--from", &first[0]]].concat()).0, 0);
    for _ in 0..3 {
        let (status, line) = project.gate(&[]);
        assert_eq!(status, 0, "{line:#}");
        project.session(92.1, &bad);
    }
}

/// One file accepts it for every case, and the next one would for one of them.
#[test]
fn what_is_accepted_for_every_case_is_accepted_for_each() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let bad = project.sessions(&scaled(&QUIET[..8], 0.9), &Special::default());
    let ack = |case: &str| project.says(&[&ACK[..], &["--from", &bad[0], "--case", case]].concat());
    let (status, path, error) = ack("*");
    assert_eq!(status, 0, "{error}");
    let (_, told) = project.json(&["history"]);
    let case = told["series"][0]["case"].as_str().unwrap().to_owned();
    let (status, _, error) = ack(&case);
    assert_eq!(status, 2, "{error}");
    assert_line(
        named(&error, &[(path.trim(), "PATH")]),
        str! {"error: PATH already acknowledges this regression; `maxChange: 13%` would accept the current regression; edit `expires` or `maxChange` in that file, or delete the file and run this command again"},
    );
    assert_eq!(project.folder.tree("acks").len(), 1);
}

/// What fell to nothing lost all of it, and a bound of 100 % covers that.
#[test]
fn what_fell_to_nothing_is_accepted() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET[..12], &Special::default());
    project.sessions(&[0.0; 8], &Special::default());
    assert_eq!(project.gate(&[]).0, 1);
    let (status, _, error) = project.says(&ACK);
    assert_eq!(status, 0, "{error}");
    assert!(file(&project).contains("100%"));
    project.sessions(&[0.0; 2], &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!(status, 0, "{line:#}");
}

/// Each case is accepted from where its own change began, and one that did not change stays as it is.
#[test]
fn every_case_is_accepted_from_its_own_change() {
    let mut project = Project::with(SPEC);
    let case = |nodes: u32| Special { params: Some(("nodes".to_owned(), json!(nodes))), ..Special::default() };
    for (at, value) in scaled(&QUIET, 1.0).into_iter().chain(scaled(&QUIET[..9], 1.0)).enumerate() {
        let by = |nodes: u32| match nodes {
            1 if at >= 20 => 0.9,
            2 if at >= 22 => 0.85,
            _ => 1.0,
        };
        project.session(value * by(1), &case(1));
        project.session(value * by(2), &case(2));
        project.session(value * by(3), &case(3));
    }
    let (status, _, error) = project.says(&ACK);
    assert!(status == 2 && error.contains("2 cases"), "{error}");
    let (status, files, error) = project.says(&[&ACK[..], &["--case", "*"]].concat());
    assert!(status == 0 && files.lines().count() == 2, "{files}{error}");
    assert_text(
        &error,
        str! {[r#"
accepted in the case `nodes-1-00000000` since session session-061, up to 13 % worse
accepted in the case `nodes-2-00000000` since session session-068, up to 18 % worse
it counts in this clone now, and in CI after the merge: send the file for review

"#]},
    );
    let (_, told) = project.json(&["history"]);
    let turns =
        |at: usize| told["series"][at]["changes"].as_array().unwrap().iter().map(|change| change["turn"].clone());
    let all: Vec<Vec<Json>> = (0..3).map(|at| turns(at).collect()).collect();
    assert_eq!(all, [vec![json!("accepted")], vec![json!("accepted")], vec![]], "{told:#}");
    // One file for all of them changes nothing where nothing got worse.
    files.lines().for_each(|file| project.folder.remove(file));
    let from = told["series"][1]["changes"][0]["session"].as_str().unwrap().to_owned();
    let (status, _, error) = project.says(&[&ACK[..], &["--case", "*", "--from", &from]].concat());
    assert_eq!(status, 0, "{error}");
    let (_, told) = project.json(&["history"]);
    assert_eq!(told["series"][2]["changes"], json!([]), "{told:#}");
}

/// The day of the newest result is that of all results, whichever benchmarks are asked for.
#[test]
fn a_day_is_judged_by_the_newest_result_of_any_benchmark() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[92.0, 92.2, 91.9, 92.1, 92.0, 91.8, 92.3], &Special::default());
    project.session_as(1.0, &Special::default(), |made| {
        made.metadata.benchmark = "other".to_owned();
        (made.run.started_at, made.run.finished_at) =
            ("2026-06-01T00:00:00Z".to_owned(), "2026-06-01T00:00:30Z".to_owned());
        made.run.id = format!("{:0>32}", made.run.repeat);
    });
    let (status, _, error) = project.says(&[&ACK[..], &["--expires", "2026-05-01"]].concat());
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: the acknowledgement would accept nothing: it expires on 2026-05-01, before the newest result of 2026-06-01"},
    );
    assert_eq!(project.says(&[&ACK[..], &["--expires", "2026-07-01"]].concat()).0, 0);
    let (path, _) = project.folder.tree("acks").into_iter().next().unwrap();
    let written = std::fs::read_to_string(project.folder.path().join("acks").join(&path)).unwrap();
    project.folder.write(&format!("acks/{path}"), written.replace("2026-07-01", "2026-05-01"));
    for benchmark in [&[][..], &["train"]] {
        let (_, said, _) = project.says(&[&["history"], benchmark].concat());
        assert_line(&said, str! {"  2026-02-01T21:01:00Z worse, open: −7.9 % [−8.6, −7.2] since session session-021"});
    }
    let report = |more: &[&str]| project.says(&[&["report", "--format", "markdown"], more].concat()).1;
    assert!(report(&["--benchmark", "train"]).contains("**Worse:** train"), "{}", report(&[]));
}

/// The line that a gate prints is valid as it is, but for what only people know.
#[test]
fn the_printed_line_accepts_what_more_than_doubled() {
    let mut project = Project::with(&SPEC.replacen("better: higher", "better: lower", 1));
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[240.0, 241.0, 239.0, 240.5, 239.5], &Special::default());
    let (_, said) = project.whole(&[]);
    let line = said.lines().find_map(|line| line.split_once("kubebench ack ")).unwrap().1;
    assert!(line.contains("--max-change any"), "{line}");
    let words: Vec<&str> = ["ack"].into_iter().chain(line.split(' ')).collect();
    let (status, _, error) = project.says(&words);
    assert!(status == 2, "{error}");
    assert_line(
        &error,
        str! {"error: invalid value 'YOU' for '--by <WHO>': this is a placeholder: write who accepts, and why"},
    );
    let words: Vec<&str> =
        words.into_iter().map(|word| if matches!(word, "YOU" | "WHY") { "ada" } else { word }).collect();
    assert_eq!(project.says(&words).0, 0);
    assert_eq!(project.gate(&[]).0, 0);
}
