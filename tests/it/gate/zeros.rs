//! What ought to be 0: allocations, errors, lost packets.

use serde_json::{Value as Json, json};

use super::{Project, SPEC, Special, verdict};

/// The project of these tests: `loss` is gated, without a limit.
fn project() -> Project {
    Project::with(&SPEC.replace("{metric: speed, maxRegression: 3%}", "{metric: loss, maxRegression: 5%}"))
}

fn sessions(project: &mut Project, values: &[f64]) {
    for value in values {
        project.session(100.0, &Special { loss: Some(*value), ..Special::default() });
    }
}

#[test]
fn a_rise_from_zeros_is_a_regression_with_values_and_no_share() {
    let mut project = project();
    sessions(&mut project, &[0.0; 30]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
    sessions(&mut project, &[12.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    let known = ["change", "interval", "detectable"].map(|key| line.get(key).cloned().unwrap_or(Json::Null));
    assert_eq!(known, [Json::Null, Json::Null, Json::Null], "nothing is a share of 0: {line:#}");
    assert_eq!((line["method"].as_str(), &line["reason"]), (Some("exactFromZero"), &json!("open")));
    assert_eq!([&line["baseline"]["median"], &line["candidate"]["median"]], [0.0, 12.0]);
    for _ in 1..12 {
        sessions(&mut project, &[12.0]);
        let (status, line) = project.gate(&[]);
        assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
    }
    let (_, line) = project.gate(&[]);
    assert_eq!((&line["open"]["sessions"], &line["open"]["levels"]), (&json!(12), &json!([0.0, 12.0])), "{line:#}");
    let (_, text, _) = project.says(&["gate", "-v"]);
    assert!(text.contains("from 0 to 12") && text.contains("--max-change any"), "{text}");
    let (_, text, _) = project.says(&["history", "train", "--metric", "loss"]);
    assert!(text.contains("worse, open: from 0 to 12 since session"), "{text}");
    let (status, _, error) = project.says(&["report", "--out", "site"]);
    assert_eq!(status, 0, "{error}");
    let page = |path: &str| std::fs::read_to_string(project.folder.path().join("site").join(path)).unwrap();
    assert!(page("index.html").contains("from 0 to 12"), "the first page names it");
    assert!(page("changes.html").contains("from 0 to 12"), "as does the list of changes");
    // Where people accept that, it is the level.
    let first = line["open"]["session"].as_str().unwrap().to_owned();
    let ack = ["ack", "train", "--metric", "loss", "--from", &first, "--by", "Ada", "--reason", "a pool"];
    let (status, _, error) = project.says(&ack);
    assert!(status != 0 && error.contains("--max-change any"), "{error}");
    let (status, _, error) = project.says(&[&ack[..], &["--max-change", "any"]].concat());
    assert_eq!(status, 0, "{error}");
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "unchanged"), "{line:#}");
}

#[test]
fn few_zeros_cannot_decide_and_a_limit_can() {
    let mut project = project();
    sessions(&mut project, &[0.0; 8]);
    sessions(&mut project, &[12.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), &line["moreSessions"]), (0, "inconclusive", &json!(1)), "{line:#}");
    let message = line["message"].as_str().unwrap();
    assert!(
        message.ends_with("; add {metric: loss, max: 0} to the gates of train, which decides at once"),
        "{message}"
    );
    sessions(&mut project, &[11.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
}

/// A metric that is above and below 0 has no share, however many sessions there are.
#[test]
fn what_can_never_be_decided_says_so_and_what_to_write() {
    let mut project = project();
    let values: Vec<f64> = (0..30).map(|at| f64::from(at % 3) - 1.0).collect();
    sessions(&mut project, &values);
    sessions(&mut project, &[12.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line), line["reason"].as_str()), (0, "inconclusive", Some("noScale")), "{line:#}");
    assert_eq!(line.get("moreSessions"), None, "no number of them would decide");
    let (_, text, _) = project.says(&["gate"]);
    assert!(text.contains("cannot be evaluated") && text.contains("{metric: loss, max: 0}"), "{text}");
    assert!(!text.contains(" yet") && !text.contains("passed"), "{text}");
    let (_, _, error) = project.says(&["gate", "--markdown", "comment.md"]);
    let comment = std::fs::read_to_string(project.folder.path().join("comment.md")).unwrap();
    assert!(
        comment.contains("### ⚪ ") && comment.contains("add {metric: loss, max: 0} to the gates of train"),
        "{error}{comment}"
    );
}

#[test]
fn what_rose_from_zeros_is_compared_without_a_share() {
    let mut project = project();
    let [first, second] = [0.0, 12.0].map(|value| {
        let commit = project.commit(&format!("loss {value}"));
        for _ in 0..6 {
            project.session(100.0, &Special { loss: Some(value), commit: Some(commit.clone()), ..Special::default() });
        }
        commit
    });
    for (sides, verdict) in [([&first, &second], "regressed"), ([&second, &first], "improved")] {
        let (_, answer) = project.json(&["compare", sides[0], sides[1], "--metric", "loss"]);
        let line = &answer["lines"][0];
        assert_eq!(line["verdict"], verdict, "{answer:#}");
        let change = line.get("change").and_then(Json::as_f64);
        assert_eq!(change, (verdict == "improved").then_some(-1.0), "a share of 12, and none of 0: {answer:#}");
    }
}

#[test]
fn a_rise_from_zeros_is_one_whatever_else_is_gated_and_waits_where_the_gate_does() {
    let gates = "{metric: speed, maxRegression: 3%}";
    let mut project = Project::with(&SPEC.replace(gates, &format!("{gates}, {{metric: loss, maxRegression: 5%}}")));
    sessions(&mut project, &[0.0; 24]);
    sessions(&mut project, &[12.0]);
    let (status, text, _) = project.says(&["gate"]);
    assert!(status == 1 && text.contains("loss of train: from 0 to 12"), "{text}");
    // In history and on the site the same is open, with its first session.
    let (_, text, _) = project.says(&["history", "train", "--metric", "loss"]);
    assert!(text.contains("worse, open: from 0 to 12 since session"), "{text}");
    sessions(&mut project, &[0.0; 2]);
    let (status, text, _) = project.says(&["gate"]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(status == 0 && text.contains("the newest 2 are within the threshold again"), "{text}");
    let (_, text, _) = project.says(&["history", "train", "--metric", "loss"]);
    assert!(text.contains("  pending: from 0 to 12 since") && text.contains("after 3 more such sessions"), "{text}");
    let confirmed = SPEC.replace(gates, "{metric: loss, maxRegression: 5%, confirm: required}");
    let mut project = Project::with(&confirmed);
    sessions(&mut project, &[0.0; 24]);
    sessions(&mut project, &[12.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (0, "pending"), "{line:#}");
    sessions(&mut project, &[11.0]);
    let (status, line) = project.gate(&[]);
    assert_eq!((status, verdict(&line)), (1, "regressed"), "{line:#}");
}
