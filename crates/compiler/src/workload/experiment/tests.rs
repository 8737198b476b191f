use serde_json::json;

use super::super::status::{Outcome, count, outcome, pod_sets};

#[test]
fn the_pods_are_those_of_a_trial() {
    let object = json!({
        "apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment",
        "spec": {"parallelTrialCount": 3, "trialTemplate": {"trialSpec": {
            "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
            "spec": {"pytorchReplicaSpecs": {"Master": {"template": {}}, "Worker": {"replicas": 2, "template": {}}}},
        }}},
    });
    let sets = pod_sets(&object);
    let found: Vec<(&str, u32, u32)> =
        sets.iter().map(|set| (set.role.as_str(), set.replicas, set.completions)).collect();
    assert_eq!(found, [("master", 1, 0), ("worker", 2, 0)]);
    assert_eq!(sets[1].template, "/spec/trialTemplate/trialSpec/spec/pytorchReplicaSpecs/Worker/template");
    assert_eq!(count(&sets), 3, "it runs as soon as one trial does");
}

#[test]
fn trials_of_an_unknown_kind_have_no_pods_that_are_known() {
    let object = json!({
        "apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment",
        "spec": {"trialTemplate": {"trialSpec": {"apiVersion": "example.com/v1", "kind": "Gadget", "spec": {}}}},
    });
    assert_eq!(pod_sets(&object), []);
    assert_eq!(count(&[]), 0);
}

#[test]
fn the_conditions_say_how_it_ended() {
    let of = |conditions: serde_json::Value| {
        outcome(
            &json!({"apiVersion": "kubeflow.org/v1beta1", "kind": "Experiment", "status": {"conditions": conditions}}),
        )
    };
    let is = |word: &str, status: &str| json!({"type": word, "status": status, "reason": "R", "message": "M"});
    assert_eq!(of(json!([])), Outcome::Pending);
    assert_eq!(of(json!([is("Created", "True")])), Outcome::Pending);
    assert_eq!(of(json!([is("Created", "True"), is("Running", "True")])), Outcome::Running);
    assert_eq!(of(json!([is("Running", "False"), is("Succeeded", "True")])), Outcome::Succeeded);
    assert_eq!(
        of(json!([is("Running", "False"), is("Failed", "True")])),
        Outcome::Failed { reason: "R".to_owned(), message: "M".to_owned() }
    );
}
