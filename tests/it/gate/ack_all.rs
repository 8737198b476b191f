//! `ack --all --until`: one file that accepts all that began until a day.

use std::process::Stdio;

use super::{Project, QUIET, SPEC, Special, texts, verdict};

const WHO: [&str; 3] = ["--by", "ada", "--reason=before we adopted Kubebench"];

fn all(until: &str) -> Vec<String> {
    ["ack", "--all", "--until", until].iter().chain(&WHO).map(|text| (*text).to_owned()).collect()
}

fn run(project: &Project, until: &str) -> (i32, String, String) {
    let all = all(until);
    project.says(&all.iter().map(String::as_str).collect::<Vec<_>>())
}

fn scaled(values: &[f64], by: f64) -> Vec<f64> {
    values.iter().map(|value| value * by).collect()
}

fn case(number: usize) -> Special {
    Special { params: Some(("size".to_owned(), number.into())), same_session: number > 0, ..Special::default() }
}

/// Sixty series, each of which became more than three times as slow.
fn sixty() -> Project {
    let spec = SPEC.replace("better: higher", "better: lower");
    let mut project = Project::with(&spec);
    for value in [&QUIET[..8], &scaled(&QUIET[..8], 3.5)].concat() {
        for number in 0..60 {
            project.session_as(value, &case(number), |made| made.run.id.replace_range(8..16, &format!("{number:08x}")));
        }
    }
    project
}

fn open(project: &Project) -> usize {
    let (_, history) = project.json(&["history", "train"]);
    history["series"].as_array().unwrap().iter().filter(|told| !told["open"].is_null()).count()
}

#[test]
fn one_file_accepts_sixty_series_beyond_all_bounds() {
    let project = sixty();
    assert_eq!(open(&project), 60);
    let (status, out, error) = run(&project, "2026-02-01");
    assert_eq!((status, out.as_str()), (0, "acks/until-2026-02-01.yaml\n"), "{error}");
    assert!(error.contains("accepted 60 open regressions that began by 2026-02-01"), "{error}");
    assert_eq!(open(&project), 0);
    let files = project.folder.tree("acks");
    assert_eq!(files.len(), 1);
    let text = String::from_utf8(files[0].1.clone()).unwrap();
    assert_eq!(text.lines().filter(|line| line.starts_with("# - ")).count(), 60, "{text}");
    assert!(text.contains("until: \"2026-02-01\"") && !text.contains("maxChange"), "{text}");
    let (status, _, error) = project.says(&["validate"]);
    assert_eq!(status, 0, "{error}");
    // Again, it changes nothing.
    let (status, out, error) = run(&project, "2026-02-01");
    assert_eq!((status, out.as_str()), (0, "acks/until-2026-02-01.yaml\n"), "{error}");
    assert!(error.contains("already"), "{error}");
    assert_eq!(project.folder.tree("acks"), files);
}

#[test]
fn what_begins_later_is_open() {
    let mut project = Project::with(SPEC);
    project.sessions(
        &[&QUIET[..], &QUIET[..3], &scaled(&QUIET, 0.8), &scaled(&QUIET, 0.8)[..5]].concat(),
        &Special::default(),
    );
    assert_eq!(project.gate(&[]).0, 1);
    assert_eq!(run(&project, "2026-02-02").0, 0);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, line["acks"][0]["by"].as_str()), (0, Some("ada")), "{line:#}");
    project.sessions(&scaled(&QUIET[..8], 0.6), &Special::default());
    let (status, line) = project.gate(&[]);
    assert_eq!(
        (status, verdict(&line), line["open"]["session"].as_str()),
        (1, "regressed", Some("session-049")),
        "{line:#}"
    );
    // Of what began later it says that it stays open, and does not refuse a second file.
    let (status, _, error) = run(&project, "2026-02-02");
    assert!(status == 0 && error.contains("still open: 1 regression that began later"), "{error}");
    assert_eq!(run(&project, "2026-02-03").1, "acks/until-2026-02-03.yaml\n");
    assert_eq!(project.gate(&[]).0, 0);
}

#[test]
fn it_holds_until_its_last_day() {
    let mut project = Project::with(SPEC);
    project.sessions(&[&QUIET[..], &QUIET[..3], &scaled(&QUIET, 0.8)].concat(), &Special::default());
    let mut arguments = all("2026-02-02");
    arguments.extend(["--expires".to_owned(), "2026-03-01".to_owned()]);
    assert_eq!(project.says(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).0, 0);
    assert_eq!(project.gate(&["--as-of", "2026-03-01"]).0, 0);
    let (status, line) = project.gate(&["--as-of", "2026-03-02"]);
    assert_eq!((status, line["acks"][0]["expired"].as_bool()), (1, Some(true)), "{line:#}");
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let mut project = Project::with(SPEC);
    project.sessions(&QUIET, &Special::default());
    for (until, said) in [
        ("2026-02-01", "no regression is open, so there is nothing to accept"),
        (
            "2026-02-02",
            "`--until 2026-02-02` would accept regressions that are not measured yet: write `--until 2026-02-01`",
        ),
        ("2026-02-30", "there is no day"),
    ] {
        let (status, _, error) = run(&project, until);
        assert!(status == 2 && error.contains(said), "{until}: {status} {error}");
    }
    for wrong in [
        &["train", "--all", "--until", "2026-02-01"][..],
        &["--all", "--until", "2026-02-01", "--metric", "speed"],
        &["--all", "--until", "2026-02-01", "--from", "session-001"],
        &["--all", "--until", "2026-02-01", "--max-change", "any"],
        &["--all"],
        &["train", "--metric", "speed", "--until", "2026-02-01"],
        &["train"],
        &[],
    ] {
        let (status, _, error) = project.says(&[&["ack"], wrong, &WHO].concat());
        assert_eq!(status, 2, "{wrong:?}: {error}");
    }
    assert!(!project.folder.path().join("acks").exists());
    project.sessions(&scaled(&QUIET, 0.8), &Special::default());
    let (status, _, error) = run(&project, "2026-01-31");
    assert!(
        status == 2 && error.contains("no open regression began by 2026-01-31") && error.contains("1 began later"),
        "{error}"
    );
}

#[test]
fn a_folder_that_cannot_be_written_is_said() {
    let mut project = Project::with(SPEC);
    project.sessions(&[&QUIET[..], &scaled(&QUIET, 0.8)].concat(), &Special::default());
    project.folder.write("acks", "a file in its place");
    let (status, out, error) = run(&project, "2026-02-01");
    assert!(status == 2 && out.is_empty() && error.contains("acks"), "{error}");
}

#[test]
fn two_at_once_leave_one_file() {
    let project = sixty();
    let start = || {
        let arguments = all("2026-02-01");
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        project.folder.command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    for process in [start(), start()] {
        let output = process.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        // The file may not be whole yet when the other one looks.
        assert!(output.status.success() || said.contains("is there already"), "{said}");
    }
    assert_eq!(project.folder.tree("acks").len(), 1);
    assert_eq!(open(&project), 0);
}

#[test]
fn a_file_says_from_or_until() {
    let project = Project::with(SPEC);
    let head = "apiVersion: kubebench.dev/v1\nkind: Ack\nspec:\n  by: ada\n  reason: known\n";
    for (fields, said) in [
        ("", "neither `from` nor `until` says what is accepted"),
        ("  from: session-001\n", "`benchmark` is missing"),
        ("  benchmark: train\n  from: session-001\n", "`metric` is missing"),
        ("  until: \"2026-02-01\"\n  from: session-001\n", "cannot be combined with"),
        ("  until: \"2026-02-01\"\n  maxChange: 5%\n", "changes of any size"),
        ("  until: \"2026-02-30\"\n", "there is no day"),
    ] {
        project.folder.write("acks/one.yaml", format!("{head}{fields}"));
        let (status, out, error) = project.says(&["validate"]);
        assert!(status == 1 && format!("{out}{error}").contains(said), "{fields}: {status} {out}{error}");
        assert_eq!(project.says(&["gate", "--allow-empty"]).0, 2);
    }
    project.folder.write("acks/one.yaml", format!("{head}  until: \"2026-02-01\"\n  benchmark: train\n"));
    assert_eq!(project.says(&["validate"]).0, 0);
}

#[test]
fn a_file_may_be_about_a_part() {
    let mut project = Project::with(SPEC);
    project.sessions(&[&QUIET[..], &QUIET[..3], &scaled(&QUIET, 0.8)].concat(), &Special::default());
    let head = "apiVersion: kubebench.dev/v1\nkind: Ack\nspec:\n  by: ada\n  reason: known\n  until: \"2026-02-02\"\n";
    for (fields, status, said) in [
        ("", 0, "accepts every regression so far"),
        ("  benchmark: train\n", 0, "accepts every regression so far"),
        ("  metric: speed\n", 0, "accepts every regression so far"),
        ("  case: def*\n", 0, "accepts every regression so far"),
        ("  benchmark: other\n", 1, "no result is from the benchmark `other`"),
        ("  metric: spead\n", 1, "no result has the metric `spead`"),
        ("  target: mars\n", 1, "no result is from the case `*` on `mars`"),
    ] {
        project.folder.write("acks/one.yaml", format!("{head}{fields}"));
        let (found, answer) = project.json(&["gate"]);
        assert!(found == status && texts(&answer["notes"]).contains(said), "{fields}: {answer:#}");
    }
}
