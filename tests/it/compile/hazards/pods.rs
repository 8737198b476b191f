//! What pods may do, and whom they may talk to.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{jobs, no_key, of_git, of_kind, text};
use crate::support::project::{Emitted, mixed, pod_specs, rendered, walk};

#[test]
fn no_executor_account_and_no_hidden_token() {
    for template in of_kind("WorkflowTemplate") {
        no_key(&template, &["executor", "automountServiceAccountToken"]);
    }
}

#[test]
fn every_step_has_an_account_that_may_report_its_result() {
    for target in ["gpu-eu", "old"] {
        let of_target = || of_git().into_iter().filter(|emitted| emitted.path.starts_with(target));
        let template = of_target().find(|emitted| text(emitted, "/kind") == "WorkflowTemplate").unwrap();
        let mut accounts: BTreeSet<String> = BTreeSet::new();
        walk(&template.object, "", &mut |pointer, value| {
            if pointer.ends_with("/serviceAccountName") {
                accounts.insert(value.as_str().unwrap().to_owned());
            }
        });
        assert_eq!(accounts.len(), 3);
        for account in accounts {
            let rules: Vec<Value> = of_target()
                .filter(|emitted| text(emitted, "/kind") == "RoleBinding")
                .filter(|binding| {
                    binding.object["subjects"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|subject| subject["name"] == account.as_str())
                })
                .flat_map(|binding| {
                    let role = text(&binding, "/roleRef/name");
                    let role = of_target()
                        .find(|emitted| text(emitted, "/kind") == "Role" && text(emitted, "/metadata/name") == role);
                    role.unwrap().object["rules"].as_array().unwrap().clone()
                })
                .collect();
            let results = json!({"apiGroups": ["argoproj.io"], "resources": ["workflowtaskresults"], "verbs": ["create", "patch"]});
            assert!(rules.contains(&results), "{account}: {rules:?}");
            if account.ends_with("recorder") || account.ends_with("workflow") {
                assert_eq!(rules, [results], "{account} has no other verb");
            }
            assert!(
                !rules.iter().any(|rule| rule.to_string().contains('*') || rule.to_string().contains("secrets")),
                "{rules:?}"
            );
        }
    }
}

/// MPIJob v1's launcher reaches its workers by `kubectl exec`, and Spark's driver makes its executors: both need a token,
/// the latter that of an account which the spec names. Nobody else has one.
#[test]
fn training_pods_mount_no_token() {
    let mut with_token = BTreeSet::new();
    for emitted in jobs() {
        for (pointer, pod) in pod_specs(&emitted.object) {
            let account =
                (pointer == "/spec/driver/template/spec").then(|| &emitted.object["spec"]["driver"]["serviceAccount"]);
            assert_eq!(pod.get("serviceAccountName"), account, "{} {pointer}", emitted.path);
            if pod.get("automountServiceAccountToken") != Some(&json!(false)) {
                with_token.insert(format!("{} {} {pointer}", text(&emitted, "/apiVersion"), text(&emitted, "/kind")));
            }
        }
    }
    let launcher = "kubeflow.org/v1 MPIJob /spec/mpiReplicaSpecs/Launcher/template/spec";
    let driver = "sparkoperator.k8s.io/v1beta2 SparkApplication /spec/driver/template/spec";
    assert_eq!(with_token.into_iter().collect::<Vec<_>>(), [launcher, driver]);
}

#[test]
fn every_pod_passes_restricted() {
    let mut judged = 0;
    for emitted in jobs() {
        for (pointer, pod) in pod_specs(&emitted.object) {
            assert_eq!(restricted(pod), Vec::<String>::new(), "{} {pointer}", emitted.path);
            judged += 1;
        }
    }
    for template in of_kind("WorkflowTemplate") {
        let spec = &template.object["spec"];
        for step in spec["templates"].as_array().unwrap().iter().filter(|step| step.get("container").is_some()) {
            let pod = json!({"securityContext": spec["securityContext"], "volumes": spec["volumes"], "containers": [step["container"]]});
            assert_eq!(restricted(&pod), Vec::<String>::new(), "{} {}", template.path, step["name"]);
            assert_eq!(step["container"]["securityContext"]["readOnlyRootFilesystem"], true);
            judged += 1;
        }
    }
    assert!(judged > 50);
    let privileged = json!({"hostNetwork": true, "containers": [{"securityContext": {"privileged": true}}], "volumes": [{"hostPath": {}}]});
    assert!(restricted(&privileged).len() >= 6, "the judge can say no");
}

#[test]
fn pods_reach_only_what_is_declared() {
    for target in ["gpu-eu", "old"] {
        let policies: Vec<Emitted> =
            of_kind("NetworkPolicy").into_iter().filter(|policy| policy.path.starts_with(target)).collect();
        let selects = |labels: &Value| {
            policies.iter().filter(|policy| policy.object["spec"]["policyTypes"] == json!(["Egress", "Ingress"])).any(
                |policy| {
                    let expressions = policy.object["spec"]["podSelector"]["matchExpressions"].as_array().unwrap();
                    expressions
                        .iter()
                        .all(|each| each["operator"] == "Exists" && labels.get(each["key"].as_str().unwrap()).is_some())
                },
            )
        };
        for emitted in jobs().into_iter().filter(|emitted| emitted.path.starts_with(target)) {
            walk(&emitted.object, "", &mut |pointer, value| {
                if value.get("spec").is_some_and(|spec| spec.get("containers").is_some()) {
                    assert!(selects(&value["metadata"]["labels"]), "{} {pointer}", emitted.path);
                }
            });
        }
        let template = of_kind("WorkflowTemplate").into_iter().find(|found| found.path.starts_with(target)).unwrap();
        for step in template.object["spec"]["templates"].as_array().unwrap() {
            assert!(step.get("container").is_none() || selects(&step["metadata"]["labels"]), "{}", step["name"]);
        }
        for policy in &policies {
            for rule in policy.object["spec"]["egress"].as_array().into_iter().flatten() {
                assert!(
                    rule.get("to").is_some() || rule.get("ports").is_some(),
                    "{} opens everything: {rule}",
                    policy.path
                );
            }
        }
    }
    let declared = json!({"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}]});
    let workloads = |target: &str| {
        let mut policies = of_kind("NetworkPolicy").into_iter();
        policies.find(|policy| policy.path == format!("{target}/pipeline/network-policy-workloads.yaml")).unwrap()
    };
    assert!(workloads("gpu-eu").object["spec"]["egress"].as_array().unwrap().contains(&declared));
    assert!(!workloads("old").object["spec"]["egress"].as_array().unwrap().contains(&declared));
}

#[test]
fn jobs_end_by_themselves_and_leave_their_logs() {
    for emitted in rendered(mixed()) {
        let spec = &emitted.object["spec"];
        match text(&emitted, "/kind").as_str() {
            // It is in the TrainJob. Of a Workflow nothing is said but by whoever wrote it: the step ends it. What serves
            // has no end; the step that starts it stops it.
            "Service"
            | "TrainingRuntime"
            | "Workflow"
            | "WorkflowTemplate"
            | "Deployment"
            | "InferenceService"
            | "LLMInferenceService"
            | "SeldonDeployment"
            | "Model" => {}
            // Its trials are jobs.
            "Experiment" => {
                assert_eq!(spec["resumePolicy"], "Never", "{}", emitted.path);
                let policy = &spec["trialTemplate"]["trialSpec"]["spec"]["runPolicy"];
                assert!(policy["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                assert_eq!(policy["backoffLimit"], 0, "{}", emitted.path);
            }
            "TrainJob" => assert!(spec["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path),
            "JobSet" => {
                assert_eq!(spec["failurePolicy"], json!({"maxRestarts": 0}), "{}", emitted.path);
                for job in spec["replicatedJobs"].as_array().unwrap() {
                    let job = &job["template"]["spec"];
                    assert!(job["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                    assert_eq!(job["backoffLimit"], 0, "{}", emitted.path);
                    assert_eq!(job["template"]["spec"]["restartPolicy"], "Never", "{}", emitted.path);
                }
            }
            // Their objects have no deadline; their pods do.
            "Job" if text(&emitted, "/apiVersion").starts_with("batch.volcano.sh/") => {
                assert_eq!(spec["maxRetry"], 1, "{}", emitted.path);
                let aborts = ["PodFailed", "PodEvicted"].map(|event| json!({"action": "AbortJob", "event": event}));
                assert_eq!(spec["policies"], json!(aborts), "{}", emitted.path);
                ends_by_its_pods(&emitted);
            }
            "SparkApplication" => {
                assert_eq!(spec["restartPolicy"], json!({"type": "Never"}), "{}", emitted.path);
                assert_eq!(spec["executor"]["deleteOnTermination"], false, "{}", emitted.path);
                ends_by_its_pods(&emitted);
            }
            "RayJob" => {
                assert!(spec["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                let again = [&spec["backoffLimit"], &spec["submitterConfig"]["backoffLimit"]];
                assert_eq!(again, [&json!(0), &json!(0)], "{}", emitted.path);
            }
            "Job" => {
                assert!(spec["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                assert_eq!(spec["backoffLimit"], 0, "{}", emitted.path);
                assert_eq!(spec["template"]["spec"]["restartPolicy"], "Never", "{}", emitted.path);
            }
            _ => {
                let policy = &spec["runPolicy"];
                assert!(policy["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{}", emitted.path);
                assert_eq!(
                    (&policy["backoffLimit"], &policy["cleanPodPolicy"]),
                    (&json!(0), &json!("None")),
                    "{}",
                    emitted.path
                );
                walk(spec, "", &mut |pointer, value| {
                    if pointer.ends_with("/restartPolicy") {
                        assert_eq!(value, "Never", "{} {pointer}", emitted.path);
                    }
                });
            }
        }
    }
}

fn ends_by_its_pods(emitted: &Emitted) {
    for (pointer, pod) in pod_specs(&emitted.object) {
        assert!(pod["activeDeadlineSeconds"].as_u64().unwrap() > 0, "{} {pointer}", emitted.path);
        assert_eq!(pod["restartPolicy"], "Never", "{} {pointer}", emitted.path);
    }
}

/// What `restricted` of Kubernetes' Pod Security Standards refuses in a pod spec.
fn restricted(pod: &Value) -> Vec<String> {
    const VOLUMES: [&str; 8] =
        ["configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"];
    let mut faults = Vec::new();
    for field in ["hostNetwork", "hostPID", "hostIPC"] {
        if pod.get(field).is_some_and(|value| value != false) {
            faults.push(field.to_owned());
        }
    }
    for volume in pod["volumes"].as_array().into_iter().flatten() {
        let kinds = volume.as_object().unwrap().keys().filter(|key| *key != "name");
        faults.extend(kinds.filter(|kind| !VOLUMES.contains(&kind.as_str())).map(|kind| format!("volume {kind}")));
    }
    let of_pod = &pod["securityContext"];
    let containers =
        ["containers", "initContainers"].iter().flat_map(|list| pod[*list].as_array().into_iter().flatten());
    for container in containers {
        let own = &container["securityContext"];
        let either = |field: &str| if own[field].is_null() { &of_pod[field] } else { &own[field] };
        let mut demand = |holds: bool, what: &str| {
            if !holds {
                faults.push(format!("{} {what}", container["name"]));
            }
        };
        demand(own["privileged"] != true, "is privileged");
        demand(own["allowPrivilegeEscalation"] == false, "may escalate");
        demand(
            own["capabilities"]["drop"].as_array().is_some_and(|drop| drop.contains(&json!("ALL"))),
            "keeps capabilities",
        );
        let adds = own["capabilities"]["add"].as_array().cloned().unwrap_or_default();
        demand(adds.iter().all(|capability| capability == "NET_BIND_SERVICE"), "adds capabilities");
        demand(either("runAsNonRoot") == true, "may run as root");
        demand(either("runAsUser") != 0, "runs as root");
        demand(
            matches!(either("seccompProfile")["type"].as_str(), Some("RuntimeDefault" | "Localhost")),
            "has no seccomp profile",
        );
        demand(
            container["ports"].as_array().is_none_or(|ports| ports.iter().all(|port| port.get("hostPort").is_none())),
            "has a host port",
        );
        demand(own["procMount"].is_null() || own["procMount"] == "Default", "unmasks /proc");
    }
    faults
}
