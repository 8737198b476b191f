use serde_json::{Value as Json, json};

use super::*;
use crate::workload::{kind_of, pod_sets};

fn application(state: &str) -> Json {
    json!({
        "apiVersion": "sparkoperator.k8s.io/v1beta2", "kind": "SparkApplication",
        "spec": {"driver": {}, "executor": {"instances": 3}},
        "status": {"applicationState": {"state": state, "errorMessage": "some"}}
    })
}

fn said(object: &Json) -> Outcome {
    (kind_of(object).unwrap().outcome)(object)
}

/// The states of Spark operator 2.5 (api/v1beta2/sparkapplication_types.go).
#[test]
fn an_application_is_over_when_the_operator_says_so() {
    for state in ["", "SUBMITTED", "SUBMISSION_FAILED", "RESUMING", "a state of a later version"] {
        assert_eq!(said(&application(state)), Outcome::Pending, "{state}");
    }
    for state in ["RUNNING", "SUCCEEDING", "FAILING", "UNKNOWN"] {
        assert_eq!(said(&application(state)), Outcome::Running, "{state}");
    }
    for state in ["SUSPENDING", "SUSPENDED"] {
        assert_eq!(said(&application(state)), Outcome::Suspended, "{state}");
    }
    assert_eq!(said(&application("COMPLETED")), Outcome::Succeeded);
    for state in ["FAILED", "PENDING_RERUN", "INVALIDATING"] {
        let failed = Outcome::Failed { reason: state.to_owned(), message: "some".to_owned() };
        assert_eq!(said(&application(state)), failed);
    }
    let mut queued = application("");
    queued["spec"]["suspend"] = json!(true);
    assert_eq!(said(&queued), Outcome::Suspended);
}

#[test]
fn the_driver_decides() {
    let sets = pod_sets(&application(""));
    let sets: Vec<_> = sets.iter().map(|set| (set.role.as_str(), set.replicas, set.template.as_str())).collect();
    assert_eq!(sets, [("driver", 1, "/spec/driver/template"), ("executor", 3, "/spec/executor/template")]);
    let deciders = (KIND.deciders)(&application(""));
    assert!(deciders.hold("driver", 0) && !deciders.hold("executor", 0));
}
