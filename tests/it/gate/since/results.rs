//! Results and acknowledgements that a change brings, removes or rewrites.

use kubebench_format::result::read;
use kubebench_format::result::v1::BenchmarkResult;

use super::super::{Project, QUIET, verdict};
use super::{on, project, since, verdicts, weakened};

#[test]
fn results_of_the_base_stay_as_they_are() {
    let (mut project, feature) = project();
    project.session(100.0, &on(&feature));
    project.commit("measured");
    let results = project.git(&["ls-files", "results"]);
    let first = results.lines().next().unwrap().to_owned();
    let place = project.folder.path().join(&first);
    let bytes = std::fs::read(&place).unwrap();
    std::fs::remove_file(&place).unwrap();
    let (status, out, _) = project.says(&["gate", "--since", "main"]);
    assert!(
        status == 1 && out.replace("\n       ", " ").contains("1 result of train that the base has is gone"),
        "{out}"
    );
    project.commit("removed");
    let (status, out, _) = project.says(&["gate", "--since", "main", "--output-format", "concise"]);
    assert!(status == 1 && out.contains(&format!("{first}: error[KB0464]: 1 result")), "{out}");
    // Sealed again with another value.
    let mut result = read(&bytes).unwrap().result;
    result.metrics[0].value = Some(1000.0);
    std::fs::write(&place, kubebench_format::result::seal(result).bytes).unwrap();
    project.commit("sealed again");
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, answer["outcome"].as_str()), (1, Some("failed")), "{answer:#}");
    assert!(weakened(&answer)[0].contains("1 result of train that the base has is changed"), "{answer:#}");
    std::fs::remove_dir_all(project.folder.path().join("results")).unwrap();
    let (status, answer) = since(&project, &["--on-missing", "pass"]);
    assert!(status == 1 && weakened(&answer)[0].contains("60 results of train"), "{answer:#}");
}

#[test]
fn results_that_a_change_brings_are_no_baseline() {
    let (mut project, feature) = project();
    let main = project.git(&["rev-list", "--reverse", "main"]).lines().next().unwrap().to_owned();
    project.session(80.0, &on(&feature));
    project.sessions(&[80.1, 79.9, 80.0, 80.2, 79.8, 80.0, 80.1, 79.9, 80.0, 80.0], &on(&main));
    project.commit("measured");
    let (status, answer) = since(&project, &["--only-new"]);
    let line = &answer["lines"][0];
    assert_eq!((status, verdict(line)), (1, "regressed"), "{answer:#}");
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
    assert!(answer["notes"].to_string().contains("this change adds 33 results"), "{answer:#}");
}

#[test]
fn results_that_a_change_brings_close_nothing() {
    let mut project = project().0;
    project.git(&["checkout", "-q", "main"]);
    let slower = project.commit("slower");
    project.sessions(&[80.0, 80.3, 79.8, 80.1], &on(&slower));
    project.commit("measured on main");
    project.git(&["checkout", "-q", "-b", "forged"]);
    let main = project.git(&["rev-parse", "main"]).trim().to_owned();
    project.sessions(&QUIET[..12], &on(&main));
    project.commit("forged");
    let (status, _) = project.json(&["gate"]);
    assert_eq!(status, 0, "without a base they are sessions of main");
    let (status, answer) = since(&project, &[]);
    assert_eq!(status, 1, "{answer:#}");
    assert!(!answer["lines"][0]["open"].is_null(), "{answer:#}");
}

#[test]
fn a_result_that_claims_an_earlier_run_does_not_replace_it() {
    let (mut project, feature) = project();
    project.session(80.0, &on(&feature));
    let first = project.git(&["ls-files", "results"]).lines().next().unwrap().to_owned();
    let bytes = std::fs::read(project.folder.path().join(&first)).unwrap();
    let mut twin = read(&bytes).unwrap().result;
    twin.run.started_at = "2026-03-01T00:00:00Z".to_owned();
    twin.run.finished_at = "2026-03-01T00:00:30Z".to_owned();
    let place = project.put(twin);
    project.commit("a twin");
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, answer["outcome"].as_str()), (2, Some("noAnswer")), "{answer:#}");
    let left_out = answer["leftOut"].as_array().unwrap();
    assert_eq!(left_out.len(), 1, "{answer:#}");
    assert!(place.ends_with(left_out[0]["path"].as_str().unwrap()), "{answer:#}");
    let (status, answer) = since(&project, &["--skip-bad"]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
}

#[test]
fn an_acknowledgement_accepts_nothing_in_the_change_that_brings_it() {
    let (mut project, feature) = project();
    let session = project.session(80.0, &on(&feature));
    project.commit("measured");
    let ack = [
        "ack",
        "train",
        "--metric",
        "speed",
        "--from",
        &session,
        "--by",
        "ada",
        "--reason",
        "needed",
        "--max-change",
        "any",
    ];
    let (status, _, error) = project.says(&ack);
    assert_eq!(status, 0, "{error}");
    project.commit("accepted");
    assert_eq!(project.json(&["gate"]).0, 0);
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    let said = weakened(&answer);
    assert!(said[0].starts_with("acks/train-") && said[0].contains("accepts nothing until it is merged"), "{said:?}");
    // It is merged before what it accepts.
    let file = said[0].split(':').next().unwrap();
    let text = std::fs::read_to_string(project.folder.path().join(file)).unwrap();
    project.git(&["checkout", "-q", "main"]);
    project.folder.write(file, &text);
    project.git(&["add", "acks"]);
    project.git(&["commit", "-q", "-m", "accepted"]);
    project.git(&["checkout", "-q", "feature"]);
    project.git(&["merge", "-q", "--no-edit", "main"]);
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
    // One that is rewritten accepts what it accepted.
    project.folder.write(file, text.replace("session-", "session-0"));
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer).len()), (0, 1), "{answer:#}");
}

#[test]
fn a_folder_that_is_a_link_hides_nothing() {
    let (mut project, feature) = project();
    let main = project.git(&["rev-list", "--reverse", "main"]).lines().next().unwrap().to_owned();
    project.git(&["checkout", "-q", "main"]);
    project.git(&["rm", "-rq", "results"]);
    project.commit("no results");
    project.git(&["checkout", "-q", "-b", "linked"]);
    project.sessions(&QUIET, &on(&main));
    project.session(100.0, &on(&feature));
    std::fs::rename(project.folder.path().join("results"), project.folder.path().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", project.folder.path().join("results")).unwrap();
    project.commit("linked");
    let (_, answer) = since(&project, &[]);
    assert!(answer["notes"].to_string().contains("this change adds 63 results"), "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 0, "{answer:#}");
}

#[test]
fn an_acknowledgement_may_accept_less() {
    let (mut project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    let slower = project.commit("slower");
    let session = project.session(80.0, &on(&slower));
    let ack = format!(
        "apiVersion: kubebench.dev/v1\nkind: Ack\nspec: {{benchmark: train, case: '*', metric: speed, from: {session}, maxChange: 50%, by: ada, reason: needed}}\n"
    );
    project.folder.write("acks/a.yaml", &ack);
    project.commit("accepted");
    project.git(&["checkout", "-q", "-b", "change"]);
    for (from, to, said) in [
        ("needed", "still needed", 0),
        ("50%", "40%", 0),
        ("by:", "expires: '2030-01-01', by:", 0),
        ("50%", "60%", 1),
        ("maxChange: 50%, ", "", 1),
        ("metric: speed", "metric: loss", 1),
    ] {
        project.folder.write("acks/a.yaml", ack.replace(from, to));
        let (status, answer) = since(&project, &[]);
        assert_eq!((status, weakened(&answer).len()), (0, said), "{from} {to} {answer:#}");
    }
}

/// A project whose branch is 20 % slower than `main`, in results that `forge` made other ones.
fn forged(forge: impl Fn(&Project, &mut BenchmarkResult)) -> Project {
    let (mut project, feature) = project();
    project.session_as(80.0, &on(&feature), |_| {});
    let files = project.git(&["ls-files", "--others", "--exclude-standard", "results"]);
    for file in files.lines() {
        let place = project.folder.path().join(file);
        let mut result = read(&std::fs::read(&place).unwrap()).unwrap().result;
        std::fs::remove_file(&place).unwrap();
        forge(&project, &mut result);
        project.put(result);
    }
    project.commit("forged");
    project
}

#[track_caller]
fn assert_red(project: &Project) {
    let (status, answer) = since(project, &["--only-new"]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    let line = &answer["lines"][0];
    assert_eq!(line["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
    assert!(line["change"].as_f64().unwrap() < -0.19, "{answer:#}");
}

#[test]
fn results_of_a_change_are_of_no_session_that_was_there_before() {
    for session in ["session-001", "session-010", "session-020"] {
        assert_red(&forged(|_, result| result.run.session = session.to_owned()));
    }
    // In addition to the honest slow session, runs that would move or mix up the sessions of the baseline.
    let (mut project, feature) = project();
    project.session(80.0, &on(&feature));
    for number in 1..=20_u32 {
        for repeat in 4..=9_u32 {
            let mut more = project.run(80.0, repeat, &on(&feature));
            more.run.id = format!("{number:08x}{repeat:08x}0000000000000000");
            more.run.session = format!("session-{number:03}");
            more.run.started_at = format!("2020-01-01T00:{number:02}:0{repeat}Z");
            more.run.finished_at = format!("2020-01-01T00:{number:02}:1{repeat}Z");
            project.put(more);
        }
    }
    project.commit("forged");
    let (status, answer) = since(&project, &["--only-new"]);
    assert_eq!(status, 1, "{answer:#}");
    assert_eq!(answer["lines"][0]["baseline"]["sessions"].as_array().unwrap().len(), 20, "{answer:#}");
}

#[test]
fn results_of_a_change_come_after_what_was_there_before() {
    assert_red(&forged(|_, result| {
        result.run.started_at = result.run.started_at.replace("2026-", "2020-");
        result.run.finished_at = result.run.finished_at.replace("2026-", "2020-");
    }));
    assert_red(&forged(|_, result| {
        result.run.started_at = result.run.started_at.replace("2026-", "2031-");
        result.run.finished_at = result.run.finished_at.replace("2026-", "2031-");
    }));
}

#[test]
fn an_attempt_of_an_earlier_run_replaces_nothing() {
    let (mut project, feature) = project();
    project.session(80.0, &on(&feature));
    let first = project.git(&["ls-files", "results"]).lines().next().unwrap().to_owned();
    let mut again = read(&std::fs::read(project.folder.path().join(&first)).unwrap()).unwrap().result;
    again.run.attempt = 2;
    project.put(again);
    project.commit("an attempt");
    let (status, answer) = since(&project, &["--skip-bad"]);
    assert_eq!((status, verdicts(&answer)), (1, vec!["regressed"]), "{answer:#}");
    assert_eq!(answer["leftOut"].as_array().unwrap().len(), 1, "{answer:#}");
}

#[test]
fn results_that_count_for_nothing_may_go_or_be_repaired() {
    let (mut project, feature) = project();
    project.git(&["checkout", "-q", "main"]);
    let first = project.git(&["ls-files", "results"]).lines().next().unwrap().to_owned();
    let place = project.folder.path().join(&first);
    let sound = std::fs::read(&place).unwrap();
    std::fs::write(&place, String::from_utf8(sound.clone()).unwrap().replace("  ", "   ")).unwrap();
    project.commit("damaged");
    project.git(&["checkout", "-q", "feature"]);
    project.git(&["merge", "-q", "--no-edit", "main"]);
    project.session(100.0, &on(&feature));
    project.commit("measured");
    assert_eq!(since(&project, &[]).0, 2);
    std::fs::write(&place, &sound).unwrap();
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
    std::fs::remove_file(&place).unwrap();
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
}

#[cfg(unix)]
#[test]
fn results_that_may_be_executed_are_the_same() {
    use std::os::unix::fs::PermissionsExt as _;
    let (mut project, feature) = project();
    project.session(100.0, &on(&feature));
    for file in project.git(&["ls-files", "results"]).lines() {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(project.folder.path().join(file), mode).unwrap();
    }
    project.commit("modes");
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
}

#[test]
fn an_acknowledgement_may_move() {
    let (mut project, _) = project();
    project.git(&["checkout", "-q", "main"]);
    let slower = project.commit("slower");
    let session = project.session(80.0, &on(&slower));
    project.folder.write("acks/a.yaml", format!(
        "apiVersion: kubebench.dev/v1\nkind: Ack\nspec: {{benchmark: train, case: '*', metric: speed, from: {session}, maxChange: 50%, by: ada, reason: needed}}\n"
    ));
    project.commit("accepted");
    project.git(&["checkout", "-q", "-b", "change"]);
    project.git(&["mv", "acks/a.yaml", "acks/b.yaml"]);
    let (status, answer) = since(&project, &[]);
    assert_eq!((status, weakened(&answer)), (0, Vec::new()), "{answer:#}");
}
