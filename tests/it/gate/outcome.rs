//! `gate`: verdicts, open changes, baselines, confirmation, acknowledgements, status.

use std::fs;

use kubebench_format::result::v1::Status;
use kubebench_testing::snapshot::{assert_line, assert_text, str};
use serde_json::json;

use crate::support::steady::steady;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

#[test]
fn what_did_not_change_passes() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    assert_eq!(line["threshold"], 0.03);
    assert!(line["detectable"].as_f64().unwrap() < 0.05, "{line:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), 19);
}

#[test]
fn a_regression_fails_and_stays_open() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let first = project.session(92.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    let change = line["change"].as_f64().unwrap();
    assert!((change + 0.08).abs() < 0.005, "{change}");
    assert!(line["adjustedP"].as_f64().unwrap() < 0.001);
    // The new level lasts, and is not the new normal.
    project.sessions(&[92.1, 91.8, 92.4, 91.9, 92.2, 92.0, 91.7, 92.3], &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), line["reason"].as_str().unwrap()), (1, "regressed", "open"), "{line:#}");
    assert_eq!(line["open"]["session"], first);
    assert_eq!(line["open"]["sessions"], 9, "with the one that is judged");
    let (_, text) = project.whole(&[]);
    assert!(text.contains("kubebench ack train --metric speed"), "{text}");
    assert_line(&text, str! {"gate failed: 1 already open (speed of train −7.9 %)"});
    // It comes back.
    project.session(100.4, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!(
        (status, verdict(&line), line["open"]["session"].as_str().unwrap()),
        (0, "pending", &*first),
        "{line:#}"
    );
    assert_text(
        line["message"].as_str().unwrap(),
        str! {"−7.9 % [−8.5, −7.3] since 2026-02-01, in 9 sessions; the newest is within the threshold again; after 4 more such sessions the regression is resolved"},
    );
    project.sessions(&[99.8, 100.2, 99.9, 100.1], &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line.get("open")), (0, None), "{line:#}");
}

#[test]
fn an_improvement_is_the_new_normal_at_once() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(110.0, &Special::default());
    assert_eq!(verdict(&project.gate(&[]).1), "improved");
    project.sessions(&[110.5, 109.6, 110.2, 109.8, 110.1, 110.3], &Special::default());
    project.session(100.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "the level before the improvement is worse: {line:#}");
}

#[test]
fn too_little_history_is_inconclusive() {
    let mut project = Project::with(SPEC);
    project.sessions(&[100.0, 101.0], &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "inconclusive"), "{line:#}");
    assert_eq!(project.gate(&["--on-inconclusive", "fail"]).0, 1);
    assert_line(
        line["message"].as_str().unwrap(),
        str! {"only 1 earlier session; with 3, significant regressions of twice the threshold fail the gate; with 5, those of the threshold do"},
    );
    let (_, notice, _) = project.says(&["gate", "--output-format", "github"]);
    assert_line(
        notice.lines().find(|line| line.starts_with("::")).unwrap(),
        str! {"::notice file=kubebench.yaml,title=KB0462 inconclusive gate::gate is inconclusive: 1 inconclusive%0Anote: the gate passes; with `--on-inconclusive fail`, it fails for inconclusive series"},
    );
    let (_, _, note) = project.says(&["gate", "--output-format", "sarif"]);
    assert_line(note, str! {"note: gate is inconclusive: 1 inconclusive"});
    project.session(100.5, &Special::default());
    assert_line(
        project.gate(&[]).1["message"].as_str().unwrap(),
        str! {"only 2 earlier sessions; with 3, significant regressions of twice the threshold fail the gate; with 5, those of the threshold do"},
    );
    project.session(100.2, &Special::default());
    assert_line(
        project.gate(&[]).1["message"].as_str().unwrap(),
        str! {"only 3 earlier sessions; with 5, significant regressions of the threshold fail the gate"},
    );
}

#[test]
fn no_result_is_no_pass() {
    let mut project = Project::with(SPEC);
    fs::create_dir(project.folder.path().join("none")).unwrap();
    let (status, line) = project.gate(&["--candidate", "none"]);
    assert_eq!((status, verdict(&line)), (1, "missing"));
    assert_eq!(project.gate(&["--candidate", "none", "--on-missing", "pass"]).0, 0);
    project.sessions(&QUIET, &Special::default());
    project.session(100.0, &Special { status: Some(Status::Failed), ..Special::default() });
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "invalid"), "{line:#}");
    assert_line(line["message"].as_str().unwrap(), str! {"3 of 3 runs did not succeed: worker-0 exited with 1"});
}

/// What a candidate did not run is one line for a benchmark and target, with the names of some.
#[test]
fn cases_that_a_candidate_lacks_are_named() {
    let spec = SPEC.replace("  repeats: 3\n", "  matrix: {axes: {size: [1, 2, 3, 4, 5, 6]}}\n  repeats: 3\n");
    let project = Project::with(&spec);
    fs::create_dir(project.folder.path().join("none")).unwrap();
    let (status, answer) = project.json(&["gate", "--candidate", "none", "--markdown", "gate.md"]);
    assert_eq!((status, answer["lines"].as_array().unwrap().len()), (1, 6), "{answer:#}");
    let said = fs::read_to_string(project.folder.path().join("gate.md")).unwrap();
    assert_line(
        &said,
        str! {"- Missing: 6 cases of train have no result of the candidate on default: size=1; size=2; size=3 and 3 more"},
    );
    assert_eq!(said.matches("have no result").count(), 1, "{said}");
}

/// What could not have been seen is said, where it is for want of sessions and not of a threshold.
#[test]
fn a_series_that_could_show_nothing_is_counted() {
    let says = |spec: &str, values: &[f64]| {
        let mut project = Project::with(spec);
        project.sessions(values, &Special::default());
        let (status, _, said) = project.says(&["gate", "--markdown", "gate.md"]);
        assert_eq!(status, 0, "{said}");
        fs::read_to_string(project.folder.path().join("gate.md")).unwrap()
    };
    let blind = "**1 of them is too noisy or too short to detect even a 50 % regression.**";
    let wild = [100.0, 40.0, 160.0, 70.0, 130.0, 55.0, 150.0, 90.0];
    let said = says(SPEC, &wild);
    assert!(said.contains(blind), "{said}");
    assert!(!says(&SPEC.replace("maxRegression: 3%", "maxRegression: 60%"), &QUIET).contains(blind));
}

#[test]
fn limits_decide_by_themselves() {
    let spec = SPEC.replace("{metric: speed, maxRegression: 3%}", "{metric: speed, min: 95}");
    let mut project = Project::with(&spec);
    project.session(96.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str().unwrap()), (0, "withinLimits"));
    project.session(94.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["message"].as_str().unwrap()), (1, "94 images/s is below `min: 95`"));
}

#[test]
fn a_fixed_baseline_is_a_limit() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, baseline: {value: 100}}");
    let mut project = Project::with(&spec);
    project.session(98.0, &Special::default());
    assert_eq!(project.gate(&[]).0, 0);
    // It is no change that anybody measured.
    project.session(120.0, &Special::default());
    let (status, text, _) = project.says(&["gate"]);
    assert!(status == 0, "{text}");
    assert_line(&text, str! {"train      default  speed   100 images/s  120 images/s  +20.0 %  within limits"});
    assert_text(text.lines().last().unwrap(), str! {"gate passed: 1 within limits"});
    project.session(96.0, &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str().unwrap()), (1, "fixedBaseline"), "{line:#}");
}

#[test]
fn a_first_hit_waits_where_the_gate_says_so() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}");
    let before = Special { image: Some("sha256:1".to_owned()), ..Special::default() };
    let after = Special { image: Some("sha256:2".to_owned()), ..Special::default() };
    let mut project = Project::with(&spec);
    project.sessions(&QUIET, &before);
    let first = project.session(93.0, &after);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "pending"), "{line:#}");
    assert_line(
        &project.says(&["gate"]).1,
        str! {"  next: run train again with `kubebench run`: another session decides"},
    );
    project.session(93.2, &after);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "the second session of the revision agrees");
    assert_eq!((line["open"]["session"].as_str(), line["open"]["sessions"].as_u64()), (Some(first.as_str()), Some(2)));
    let mut project = Project::with(&spec);
    project.sessions(&QUIET, &before);
    project.session(93.0, &after);
    project.session(100.1, &after);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "the second session does not: {line:#}");
}

/// The gate, the history and the report say the same of a change, however few sessions it has had.
#[test]
fn a_young_change_began_where_the_history_says_so() {
    for confirm in ["", ", confirm: required"] {
        let spec = SPEC.replace("maxRegression: 3%}", &format!("maxRegression: 3%{confirm}}}"));
        let mut project = Project::with(&spec);
        let commits = ["good", "bad"].map(|message| project.commit(message));
        project.sessions(&QUIET, &Special { commit: Some(commits[0].clone()), ..Special::default() });
        let bad = Special { commit: Some(commits[1].clone()), ..Special::default() };
        let mut first = None;
        for (at, value) in [94.0, 93.6, 94.3, 93.9, 94.1, 93.8, 94.2].into_iter().enumerate() {
            let session = project.session(value, &bad);
            let first = first.get_or_insert(session).clone();
            let (status, line) = project.gate(&[]);
            if at == 0 {
                assert_eq!(status, i32::from(confirm.is_empty()), "{line:#}");
                continue;
            }
            assert_eq!(status, 1, "{line:#}");
            let open = &line["open"];
            assert_eq!(
                (open["session"].as_str(), open["sessions"].as_u64()),
                (Some(first.as_str()), Some(at as u64 + 1))
            );
            assert_eq!((open["commit"].as_str(), open["after"].as_str()), (Some(&*commits[1]), Some(&*commits[0])));
            let told = project.json(&["history"]).1["series"][0].clone();
            if told["open"].is_string() {
                let change = told["changes"].as_array().unwrap().last().unwrap().clone();
                assert_eq!((&told["open"], &change["session"]), (&open["session"], &open["session"]));
                assert_eq!((&change["change"], &change["interval"]), (&open["change"], &open["interval"]), "{at}");
            }
            let (_, text) = project.whole(&[]);
            assert!(text.contains(&format!("--from {first} ")), "{text}");
        }
    }
}

#[test]
fn an_acknowledgement_names_its_case_and_says_something() {
    let mut project = Project::with(SPEC);
    project.commit("all");
    let size = |size: u32| Special { params: Some(("size".to_owned(), json!(size))), ..Special::default() };
    let small = Special { same_session: true, ..size(1) };
    for value in QUIET.into_iter().chain([92.0, 92.2, 91.9, 92.1, 92.0]) {
        project.session(value, &size(22));
        project.session(value, &small);
    }
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada"];
    let (status, _, error) = project.says(&[&ack[..], &["--reason", "known"]].concat());
    assert_eq!(status, 2, "{error}");
    assert_line(
        &error,
        str! {"error: 2 cases of train have an open change of `speed`: choose one, or all with --case '*'"},
    );
    assert!(error.contains("--case size-1-00000000  # size=1") && error.contains("--case '*'"), "{error}");
    let (status, _, error) = project.says(&[&ack[..], &["--reason", " "]].concat());
    assert!(status == 2, "{error}");
    assert_line(&error, str! {"error: invalid value ' ' for '--reason <WHY>': it is empty"});
    let one = [&ack[..], &["--reason", "known", "--case", "size=1", "--from", "session-021"]].concat();
    assert_eq!(project.says(&one).0, 0);
    // Now one is left.
    assert_eq!(project.says(&[&ack[..], &["--reason", "known"]].concat()).0, 0);
    let files: Vec<String> =
        project.folder.tree("acks").into_iter().map(|(_, text)| String::from_utf8(text).unwrap()).collect();
    assert!(files.iter().any(|text| text.contains("case: size-22-00000000")), "{files:?}");
    let (status, _, error) = project.says(&one);
    assert!(status == 2, "{error}");
    assert_line(
        steady(&error),
        str! {"error: acks/train-ID.yaml already acknowledges this regression; `maxChange: 11%` would accept the current regression; edit `expires` or `maxChange` in that file, or delete the file and run this command again"},
    );
    for (path, text) in project.folder.tree("acks") {
        project.folder.write(&format!("acks/{path}"), String::from_utf8(text).unwrap().replace("by: ada", "by: ' '"));
    }
    let (status, out, error) = project.says(&["validate"]);
    assert!(status == 1 && out.contains("KB0205"), "{out}{error}");
    assert_line(&out, str! {"error[KB0205]: it is empty"});
}

#[test]
fn an_acknowledgement_accepts_until_its_day_is_over() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.sessions(&[92.0, 92.3, 91.8, 92.1, 91.9, 92.2, 92.0], &Special::default());
    assert_eq!(project.gate(&[]).0, 1);
    let ack = [
        "ack",
        "train",
        "--metric",
        "speed",
        "--by",
        "ada",
        "--reason",
        "was wrong: \"fast\"",
        "--expires",
        "2026-12-31",
    ];
    let (status, path, _) = project.says(&ack);
    assert_eq!(status, 0);
    assert!(path.starts_with("acks/train-"), "{path}");
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    assert_eq!(line["acks"][0]["reason"], "was wrong: \"fast\"");
    assert_eq!(project.gate(&["--as-of", "2026-12-31"]).0, 0);
    let (status, line) = project.gate(&["--as-of", "2027-01-01"]);
    assert_eq!((status, line["acks"][0]["expired"].as_bool()), (1, Some(true)), "{line:#}");
    assert_eq!(project.says(&ack).0, 2, "it is there already");
    // What is worse than was accepted is open.
    project.sessions(&[80.0, 80.2, 79.8, 80.1, 79.9, 80.0], &Special::default());
    assert_eq!(project.gate(&[]).0, 1);
}

#[test]
fn a_change_is_accepted_together_with_what_brings_it() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let session = project.session(92.0, &Special::default());
    assert_eq!(project.gate(&[]).0, 1);
    let ack = [
        "ack",
        "train",
        "--metric",
        "speed",
        "--by",
        "ada",
        "--reason",
        "right",
        "--max-change",
        "10%",
        "--from",
        &session,
    ];
    assert_eq!(project.says(&ack).0, 0);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str().unwrap()), (0, "accepted"), "{line:#}");
    project.session(80.0, &Special::default());
    let (status, line) = project.gate(&[]);
    let message = line["message"].as_str().unwrap();
    assert!(status == 1 && message.starts_with("more than the 10 % that acks/"), "{line:#}");
    let broken = project.folder.tree("acks").remove(0).0;
    project.folder.write(&format!("acks/{broken}"), "kind: Ack\n");
    assert_eq!(project.says(&["gate"]).0, 2, "it could be the one that matters");
}

#[test]
fn a_failed_second_session_confirms_nothing() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, min: 85, confirm: required}");
    let one = Special { image: Some("sha256:1".to_owned()), ..Special::default() };
    let mut project = Project::with(&spec);
    project.sessions(&QUIET, &one);
    project.session(99.0, &Special { status: Some(Status::Failed), ..one.clone() });
    assert_eq!(verdict(&project.gate(&[]).1), "invalid");
    project.session(80.0, &one);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "pending"), "{line:#}");
    assert_eq!(line["candidate"]["median"], 80.0);
    project.session(80.1, &one);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["reason"].as_str().unwrap()), (1, "belowMin"), "{line:#}");
}

#[test]
fn what_recovered_in_part_stays_open() {
    let mut project = Project::with(&SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}"));
    project.sessions(&QUIET, &Special::default());
    let bad = project.sessions(&QUIET[..12].iter().map(|value| value * 0.8).collect::<Vec<_>>(), &Special::default());
    project.sessions(&QUIET[..8].iter().map(|value| value * 0.94).collect::<Vec<_>>(), &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["open"]["session"].as_str()), (1, Some(&*bad[0])), "{line:#}");
}

#[test]
fn a_candidate_that_is_named_is_confirmed_by_its_own_sessions() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, confirm: required}");
    let ran = |values: &[f64]| {
        let mut project = Project::with(&spec);
        let mut on = |message: &str, values: &[f64]| {
            let (commit, image) = (Some(project.commit(message)), Some(format!("sha256:{message}")));
            let sessions = project.sessions(values, &Special { commit: commit.clone(), image, ..Special::default() });
            (commit.unwrap(), sessions)
        };
        on("good", &QUIET);
        let (commit, sessions) = on("bad", values);
        (project, commit, sessions)
    };
    let (project, bad, of_bad) = ran(&[93.0, 93.2]);
    let (_, line) = project.gate(&["--candidate", &of_bad[0]]);
    assert_eq!(verdict(&line), "pending", "{line:#}");
    for candidate in [&bad, &of_bad[1]] {
        let (status, line) = project.gate(&["--candidate", candidate]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{candidate}: {line:#}");
        let open = &line["open"];
        assert_eq!((open["session"].as_str(), open["sessions"].as_u64()), (Some(&*of_bad[0]), Some(2)), "{line:#}");
        assert!((open["change"].as_f64().unwrap() + 0.07).abs() < 0.005, "the size is of both: {line:#}");
    }
    let (project, flaky, _) = ran(&[99.8, 92.0]);
    let (status, line) = project.gate(&["--candidate", &flaky]);
    assert_eq!((status, verdict(&line), line["nextRun"].as_u64()), (0, "pending", Some(2)), "one of two: {line:#}");
}

#[test]
fn limits_and_fixed_values_wait_as_changes_do_and_no_acknowledgement_is_offered() {
    let fixed = "maxRegression: 5%, baseline: {value: 100}";
    for (gate, reason, waits, next) in [
        (
            "min: 95",
            "belowMin",
            str! {[r#"- ⚪ `speed` of **train** (default): pending on 2026-02-01, in the newest session; 90 images/s is below \`min: 95\`; a second session of the same revision decides, on 1 × synthetic, target default."#]},
            str! {"  next: fix it, or change `min` for `speed` in the spec of train: `ack` does not apply to limits"},
        ),
        (
            fixed,
            "fixedBaseline",
            str! {"- ⚪ `speed` of **train** (default): pending on 2026-02-01, in the newest session; −10.0 % compared with the fixed 100 images/s; a second session of the same revision decides, on 1 × synthetic, target default."},
            str! {"  next: fix it, or change the `value` of its baseline for `speed` in the spec of train: `ack` does"},
        ),
    ] {
        let spec = SPEC.replace("maxRegression: 3%}", &format!("{gate}, confirm: required}}"));
        let image = |name: &str| Special { image: Some(name.to_owned()), ..Special::default() };
        let mut project = Project::with(&spec);
        project.sessions(&QUIET, &image("sha256:1"));
        project.session(90.0, &image("sha256:2"));
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line), line["reason"].as_str().unwrap()), (0, "pending", reason), "{line:#}");
        assert_eq!(project.says(&["gate", "--markdown", "gate.md"]).0, 0);
        let comment = fs::read_to_string(project.folder.path().join("gate.md")).unwrap();
        assert_line(&comment, waits);
        assert_line(
            &project.says(&["gate"]).1,
            str! {"  next: run train again with `kubebench run`: another session decides"},
        );
        let session = project.session(90.2, &image("sha256:2"));
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line), line["reason"].as_str().unwrap()), (1, "regressed", reason), "{line:#}");
        let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "right", "--max-change", "20%"];
        assert_eq!(project.says(&[&ack[..], &["--from", &session]].concat()).0, 0);
        let (status, text, _) = project.says(&["gate"]);
        assert_eq!(status, 1, "{text}");
        assert_line(&text, next);
        assert!(!text.contains("kubebench ack") && !text.contains("accepted by"), "{text}");
    }
}

#[test]
fn a_limit_that_waits_weakens_no_change_that_is_decided() {
    let spec = SPEC.replace("maxRegression: 3%}", "maxRegression: 3%, min: 90, confirm: required}");
    let image = |name: &str| Special { image: Some(name.to_owned()), ..Special::default() };
    let mut project = Project::with(&spec);
    project.sessions(&QUIET, &image("sha256:1"));
    project.sessions(&[92.0, 89.0], &image("sha256:2"));
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), line["reason"].as_str().unwrap()), (1, "regressed", "open"), "{line:#}");
    assert_line(texts(&line["notes"]), str! {"89 images/s is below `min: 90`"});
}

#[test]
fn an_open_change_in_the_unit_before_is_reported() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let begun = project.session(80.0, &Special::default());
    project.sessions(&[80.1, 79.9, 80.2, 79.8, 80.0, 80.1], &Special::default());
    let other = Special { unit: Some("tokens/s".to_owned()), ..Special::default() };
    project.sessions(&[0.08, 0.0801, 0.0799, 0.0802, 0.0798, 0.08], &other);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["lines"].as_array().unwrap().len()), (0, 1), "{answer:#}");
    let note = texts(&answer["notes"]);
    assert!(note.contains(&begun), "{note}");
    assert_line(
        &note,
        str! {"not evaluated: `speed` of train (default) got worse on 1 × synthetic, target default in session session-021 of 2026-02-01, not resolved or acknowledged; the metric has another unit since then (tokens/s)"},
    );
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "known", "--from", &begun];
    assert_eq!(project.says(&ack).0, 0);
    assert!(!project.json(&["gate"]).1["notes"].to_string().contains("not judged"));
}

#[test]
fn the_order_of_files_and_the_scale_of_units_change_no_verdict() {
    let verdicts = |factor: f64| {
        let mut project = Project::with(SPEC);
        project.sessions(&QUIET.map(|value| value * factor), &Special::default());
        project.session(95.0 * factor, &Special::default());
        let (_, line) = project.gate(&[]);
        (verdict(&line).to_owned(), line["change"].as_f64().unwrap(), line["p"].as_f64().unwrap())
    };
    let (one, thousand) = (verdicts(1.0), verdicts(1000.0));
    assert_eq!(one.0, thousand.0);
    assert!((one.1 - thousand.1).abs() < 1e-12 && (one.2 / thousand.2 - 1.0).abs() < 1e-6, "{one:?} {thousand:?}");
}

#[test]
fn failures_are_on_the_line_of_the_gate() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.session(90.0, &Special::default());
    let (status, text, _) = project.says(&["gate", "--output-format", "github"]);
    assert_eq!(status, 1);
    assert!(text.contains("\n::error file=specs/train.yaml,line=9,") && text.contains("KB0460"), "{text}");
    let (_, _, _) = project.says(&["gate", "--report", "sarif=gate.sarif", "--markdown", "gate.md"]);
    let sarif = fs::read_to_string(project.folder.path().join("gate.sarif")).unwrap();
    assert!(sarif.contains("\"KB0460\"") && sarif.contains("specs/train.yaml"), "{sarif}");
    let comment = fs::read_to_string(project.folder.path().join("gate.md")).unwrap();
    assert!(comment.starts_with("<!-- kubebench gate . p -->\n### ❌ Kubebench gate failed\n"), "{comment}");
}

#[test]
fn the_spec_says_which_way_is_better_and_the_candidate_in_which_unit() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    let old = project.session(110.0, &Special::default());
    project.session(110.0, &Special { unit: Some("tokens/s".to_owned()), ..Special::default() });
    assert_eq!(project.gate(&[]).1["unit"], "tokens/s");
    let (_, line) = project.gate(&["--candidate", &old]);
    assert_eq!((verdict(&line), line["unit"].as_str()), ("improved", Some("images/s")), "{line:#}");
    // What was recorded said `higher`, and was wrong.
    project.folder.write("specs/train.yaml", SPEC.replacen("better: higher", "better: lower", 1));
    let (status, line) = project.gate(&["--candidate", &old]);
    assert_eq!((status, verdict(&line), line["direction"].as_str()), (1, "regressed", Some("lower")), "{line:#}");
}

#[test]
fn a_series_that_the_candidate_lacks_is_missing() {
    let mut project = Project::with(SPEC);
    let with = |names: &'static [&'static str]| {
        move |made: &mut kubebench_format::result::v1::BenchmarkResult| {
            let one = made.metrics.remove(0);
            made.metrics.extend(names.iter().map(|name| {
                let labels = [("rank".to_owned(), (*name).to_owned())].into();
                kubebench_format::result::v1::Metric { labels, ..one.clone() }
            }));
        }
    };
    for value in QUIET {
        project.session_as(value, &Special::default(), with(&["0", "1"]));
    }
    assert_eq!(project.json(&["gate"]).0, 0);
    let half = project.session_as(100.0, &Special::default(), with(&["0"]));
    let (status, answer) = project.json(&["gate"]);
    assert_eq!(
        (status, verdict(&answer["lines"][1]), &answer["lines"][1]["labels"]["rank"]),
        (1, "missing", &json!("1"))
    );
    assert_eq!(project.json(&["gate", "--on-missing", "pass"]).0, 0);
    project.session_as(100.0, &Special::default(), with(&["0"]));
    assert_eq!(project.json(&["gate"]).0, 1, "it does not become normal by itself");
    let ack = ["ack", "train", "--metric", "speed", "--by", "ada", "--reason", "one rank", "--from", &half];
    assert_eq!(project.says(&ack).0, 0);
    let (status, answer) = project.json(&["gate"]);
    assert_eq!((status, answer["lines"][1]["reason"].as_str()), (0, Some("accepted")), "{answer:#}");
}

/// What partially recovered is not a regression, and no commit that brought it is looked for.
#[test]
fn what_recovered_in_part_is_no_step() {
    let mut project = Project::with(SPEC);
    for by in [1.0, 0.85, 0.92, 0.8] {
        let commit = project.commit("next");
        let values: Vec<f64> = QUIET[..10].iter().map(|value| value * by).collect();
        project.sessions(&values, &Special { commit: Some(commit), ..Special::default() });
    }
    let (_, line) = project.gate(&[]);
    assert_eq!(line["open"]["steps"].as_array().unwrap().len(), 1, "{line:#}");
    let (_, text, _) = project.says(&["history"]);
    assert_line(
        steady(&text),
        str! {"  2026-02-01T21:01:00Z partially recovered: +8.2 % [+7.3, +9.2] since session session-021, git log COMMIT..COMMIT"},
    );
}

/// Before the first commit there is no branch, and nothing that only a branch would show.
#[test]
fn a_repository_without_a_commit_is_none_yet() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    project.git(&["init", "-q", "-b", "trunk"]);
    assert_eq!(project.gate(&[]).0, 0);
}

/// Each step of an open change has commits of its own.
#[test]
fn the_commits_of_every_step_are_named() {
    let mut project = Project::with(SPEC);
    let commits = ["good", "worse", "worst"].map(|message| project.commit(message));
    for (commit, by) in commits.iter().zip([1.0, 0.9, 0.8]) {
        let values: Vec<f64> = QUIET[..10].iter().map(|value| value * by).collect();
        project.sessions(&values, &Special { commit: Some(commit.clone()), ..Special::default() });
    }
    let (status, text) = project.whole(&["--markdown", "comment.md"]);
    assert_eq!(status, 1, "{text}");
    let comment = fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    for ends in commits.windows(2) {
        let log = format!("git log {}..{}", &ends[0][..10], &ends[1][..10]);
        assert!(text.contains(&log) && comment.contains(&log), "{log}: {text}{comment}");
    }
    let (_, line) = project.gate(&[]);
    assert_eq!(line["open"]["steps"][0]["commit"].as_str(), Some(&*commits[2]), "{line:#}");
}
