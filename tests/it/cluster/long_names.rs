//! Which names Kubernetes cuts, so that no check has to.

use std::time::Instant;

use serde_json::json;

use super::namespaces::Project;
use super::{PATIENCE, cluster};

/// As long as the Deployments that KServe makes for a benchmark with the longest name.
const NAME: &str = "a-benchmark-with-a-name-of-31-let-00000000-predictor";

#[test]
fn pods_of_a_deployment_run_however_long_its_name_is() {
    let Some(cluster) = cluster("pods_of_a_deployment_run_however_long_its_name_is") else { return };
    let project = Project::mixed(cluster);
    let namespace = project.namespaces.values().next().unwrap().clone();
    let labels = json!({"app": NAME});
    let container = json!({"name": "main", "image": "busybox:1", "imagePullPolicy": "IfNotPresent", "command": ["sleep", "600"], "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}}, "resources": {"limits": {"cpu": "10m", "memory": "16Mi"}}});
    let deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"terminationGracePeriodSeconds": 1, "securityContext": {"runAsNonRoot": true, "runAsUser": 65532, "seccompProfile": {"type": "RuntimeDefault"}}, "containers": [container]}},
        },
    });
    let file = project.folder.path().join("deployment.json");
    std::fs::write(&file, deployment.to_string()).unwrap();
    cluster.say(["create", "-f", file.to_str().unwrap()]);
    let began = Instant::now();
    loop {
        let pods = cluster.json(["-n", &namespace, "get", "pods", "-l", &format!("app={NAME}"), "-o", "json"]);
        let pod = &pods["items"][0];
        if pod["status"]["phase"] == "Running" {
            assert_eq!(pod["metadata"]["name"].as_str().unwrap().len(), 63, "{pod:#}");
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{pods:#}");
        std::thread::sleep(std::time::Duration::from_secs(1));
    }
}
