use serde_json::{Value as Json, json};

use super::{experiment, workflow};
use kubebench_format::result::v1::TrialStatus;
use kubebench_testing::snapshot::{assert_text, str};

fn of_workflow() -> Json {
    let node = |name: &str, kind: &str, from: &str, to: &str| {
        json!({"displayName": name, "type": kind, "templateName": "t", "phase": "Succeeded",
            "startedAt": format!("2026-11-22T10:00:{from}Z"), "finishedAt": format!("2026-11-22T10:00:{to}Z")})
    };
    json!({"status": {"phase": "Succeeded", "nodes": {
        "a": node("x", "DAG", "00", "40"),
        "e": node("train(1:b)", "Pod", "05", "25"),
        "d": node("train(0:a)", "Retry", "04", "14"),
        "c": node("train", "TaskGroup", "04", "25"),
        "f": node("train(0:a)(0)", "Pod", "04", "06"),
        "g": node("train(0:a)(1)", "Pod", "07", "14"),
        "h": node("trainer", "Pod", "26", "27"),
        "i": {"displayName": "skipped", "type": "Skipped", "phase": "Skipped",
            "startedAt": "2026-11-22T10:00:27Z", "finishedAt": "2026-11-22T10:00:27Z"},
        "j": {"displayName": "late", "type": "Pod", "phase": "Running", "startedAt": "2026-11-22T10:00:28Z"},
    }}})
}

#[test]
fn turns_and_attempts_of_a_node_are_values_and_what_holds_them_is_none() {
    let found = workflow(&of_workflow());
    assert_eq!(found.nodes.len(), 9);
    assert_eq!(found.seconds("train").unwrap(), [2.0, 20.0, 7.0], "by their starts");
    assert_eq!(found.seconds("train(0:a)").unwrap(), [2.0, 7.0]);
    assert_eq!(found.seconds("x").unwrap(), [40.0]);
    assert_text(
        found.seconds("skipped").unwrap_err(),
        str! {"the node `skipped` did not run to its end: it is Skipped"},
    );
    assert_text(found.seconds("late").unwrap_err(), str! {"the node `late` did not run to its end: it is Running"});
    assert_text(
        found.seconds("fit").unwrap_err(),
        str! {"the Workflow had no node `fit`; its nodes: x, train, trainer, late"},
    );
}

#[test]
fn nodes_that_argo_keeps_elsewhere_are_not_taken_for_none() {
    let found = workflow(&json!({"status": {"phase": "Succeeded", "compressedNodes": "H4sI"}}));
    assert!(found.seconds("a").unwrap_err().contains("compressed"), "{found:?}");
}

#[expect(clippy::needless_pass_by_value, reason = "metrics are written where they are used")]
fn of_trial(name: &str, created: &str, condition: &str, metrics: Json) -> Json {
    json!({
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": {"parameterAssignments": [{"name": "lr", "value": "0.02"}]},
        "status": {
            "startTime": "2026-11-22T10:00:00Z", "completionTime": "2026-11-22T10:01:30Z",
            "conditions": [{"type": "Created", "status": "True"}, {"type": "Running", "status": "False"},
                {"type": condition, "status": "True", "message": "so it is"}],
            "observation": {"metrics": metrics},
        },
    })
}

#[test]
fn trials_are_distinguished_and_the_best_is_marked() {
    let object = json!({
        "spec": {"objective": {"type": "minimize", "goal": 0.001, "objectiveMetricName": "loss",
            "metricStrategies": [{"name": "accuracy", "value": "latest"}]}},
        "status": {"currentOptimalTrial": {"bestTrialName": "s-b"}},
    });
    let loss = json!([{"name": "loss", "latest": "0.4", "min": "0.3", "max": "0.9"},
        {"name": "accuracy", "latest": "0.7", "min": "0.1", "max": "0.8"}]);
    let none = json!([{"name": "loss", "latest": "unavailable", "min": "unavailable", "max": "unavailable"}]);
    let trials = [
        of_trial(
            "s-c",
            "2026-11-22T10:00:02Z",
            "EarlyStopped",
            json!([{"name": "loss", "latest": "2", "min": "1.5", "max": "3"}]),
        ),
        of_trial("s-b", "2026-11-22T10:00:01Z", "Succeeded", loss),
        of_trial("s-d", "2026-11-22T10:00:03Z", "MetricsUnavailable", none),
        of_trial("s-e", "2026-11-22T10:00:04Z", "Failed", json!([])),
        of_trial("s-f", "2026-11-22T10:00:05Z", "Killed", json!([])),
        json!({"metadata": {"name": "s-g", "creationTimestamp": "2026-11-22T10:00:06Z"}}),
    ];
    let found = experiment(&object, &trials, &[]);
    let words: Vec<(&str, TrialStatus, bool)> =
        found.trials.iter().map(|trial| (trial.name.as_str(), trial.status, trial.best)).collect();
    assert_eq!(
        words,
        [
            ("s-b", TrialStatus::Succeeded, true),
            ("s-c", TrialStatus::EarlyStopped, false),
            ("s-d", TrialStatus::MetricsUnavailable, false),
            ("s-e", TrialStatus::Failed, false),
            ("s-f", TrialStatus::Killed, false),
            ("s-g", TrialStatus::Unfinished, false),
        ]
    );
    assert!(found.counts.values().all(|count| *count == 1) && found.counts.len() == 6, "{:?}", found.counts);
    assert_eq!(found.objective.goal, Some(0.001));
    let best = &found.trials[0];
    assert_eq!((best.parameters["lr"].as_str(), best.seconds, best.message.as_deref()), ("0.02", Some(90.0), None));
    assert_eq!(found.trials[3].message.as_deref(), Some("so it is"));
    assert_eq!(found.best("loss"), Ok(0.3), "the least, which Katib compares by");
    assert_eq!(found.best("accuracy"), Ok(0.7), "the last, as the Experiment says");
    assert_eq!(found.all("loss"), Ok(vec![0.3, 1.5]));
    assert_text(found.best("f1").unwrap_err(), str! {"`f1` was not observed of the best trial, `s-b`"});
    assert_text(
        found.all("f1").unwrap_err(),
        str! {"`f1` was observed of no trial: 1 succeeded, 1 failed, 1 earlyStopped, 1 killed, 1 metricsUnavailable, 1 unfinished"},
    );
}

#[test]
fn without_an_end_there_is_no_best() {
    let object = json!({"spec": {"objective": {"type": "maximize", "objectiveMetricName": "a"}}});
    let found = experiment(&object, &[], &[]);
    assert_text(found.best("a").unwrap_err(), str! {"no trial was found to be the best: there were no trials"});
}
