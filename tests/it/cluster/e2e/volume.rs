//! A look into the volume of results, as a person would take it: with a pod.

use serde_json::json;

use super::Loop;

impl Loop {
    /// What a shell prints that sees a benchmark's volume, read-only, in its working directory.
    pub(super) fn look(&self, target: &str, benchmark: &str, script: &str) -> String {
        let namespace = self.namespace(target);
        let name = format!("look-{benchmark}");
        let pod = json!({
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {
                "restartPolicy": "Never",
                "automountServiceAccountToken": false,
                "securityContext": {
                    "runAsUser": 65531, "runAsGroup": 65532, "fsGroup": 65532, "runAsNonRoot": true,
                    "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"},
                },
                "containers": [{
                    "name": "look",
                    "image": "busybox:1",
                    "workingDir": "/kubebench/experiments",
                    "command": ["sh", "-ec", script],
                    "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
                    "volumeMounts": [{"name": "results", "mountPath": "/kubebench/experiments", "readOnly": true}],
                }],
                "volumes": [{"name": "results", "persistentVolumeClaim": {"claimName": format!("{benchmark}-results")}}],
            },
        });
        self.project.folder.write("look.json", pod.to_string());
        self.cluster().say(["create", "-f", &self.project.place("look.json")]);
        let pod = format!("pod/{name}");
        self.cluster().say([
            "-n",
            namespace,
            "wait",
            "--for=jsonpath={.status.phase}=Succeeded",
            &pod,
            "--timeout=120s",
        ]);
        let said = self.cluster().say(["-n", namespace, "logs", &pod]);
        self.cluster().say(["-n", namespace, "delete", &pod, "--now"]);
        said
    }
}
