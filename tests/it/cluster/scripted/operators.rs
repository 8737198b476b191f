//! Volcano, KubeRay, the Spark operator, KServe's controller of language models, and Seldon Core, as far as one run needs them: the
//! pods that they make, with the names and labels that they give, and the states that they write.

use serde_json::{Value, json};

use super::Hands;

/// What they look at, for one question to the API server.
pub(in crate::cluster) const OBJECTS: &str = "jobs.batch.volcano.sh,rayjobs.ray.io,sparkapplications.sparkoperator.k8s.io,\
     llminferenceservices.serving.kserve.io,seldondeployments.machinelearning.seldon.io,models.mlops.seldon.io";

/// Takes one step with an object.
pub(in crate::cluster) fn act(hands: &Hands<'_>, object: &Value) {
    if object["metadata"].get("deletionTimestamp").is_some() {
        return;
    }
    match object["kind"].as_str().unwrap() {
        "Job" => volcano(hands, object),
        "RayJob" => ray(hands, object),
        "SparkApplication" => spark(hands, object),
        "LLMInferenceService" => language_model(hands, object),
        "SeldonDeployment" => seldon_deployment(hands, object),
        "Model" => seldon_model(hands, object),
        kind => panic!("the script does not know {kind}"),
    }
}

/// All pods of all tasks at once, and the end of the job with the last of them.
fn volcano(hands: &Hands<'_>, job: &Value) {
    const JOBS: &str = "jobs.batch.volcano.sh";
    let name = name(job);
    let state = |phase: &str, message: &str| {
        let state = json!({"state": {"phase": phase, "message": message}});
        hands.set_status(JOBS, name, &state);
    };
    match job["status"]["state"]["phase"].as_str() {
        None => {
            for task in job["spec"]["tasks"].as_array().unwrap() {
                let role = task["name"].as_str().unwrap();
                for index in 0..task["replicas"].as_u64().unwrap_or(1) {
                    let labels = json!({"volcano.sh/job-name": name, "volcano.sh/task-spec": role, "volcano.sh/task-index": index.to_string()});
                    hands.create(&pod(job, &format!("{name}-{role}-{index}"), &task["template"], &labels, None));
                }
            }
            state("Pending", "");
        }
        Some("Pending") if pods(hands, job).iter().all(|pod| phase(pod) != "Pending") => state("Running", ""),
        Some("Running") => match pods(hands, job) {
            pods if pods.iter().any(|pod| phase(pod) == "Failed") => state("Aborted", "a pod failed"),
            pods if pods.iter().all(|pod| phase(pod) == "Succeeded") => state("Completed", ""),
            _ => {}
        },
        Some(_) => {}
    }
}

/// A head and workers that wait, and what submits the entrypoint, whose end is that of the job.
fn ray(hands: &Hands<'_>, job: &Value) {
    const JOBS: &str = "rayjobs.ray.io";
    let name = name(job);
    let state = |deployment: &str, status: &str| {
        hands.set_status(JOBS, name, &json!({"jobDeploymentStatus": deployment, "jobStatus": status}));
    };
    let waits = Some(json!(["sleep", "600"]));
    match job["status"]["jobDeploymentStatus"].as_str() {
        None => {
            let cluster = &job["spec"]["rayClusterSpec"];
            let labels = json!({"ray.io/node-type": "head", "ray.io/group": "headgroup"});
            let head = &cluster["headGroupSpec"]["template"];
            hands.create(&pod(job, &format!("{name}-x7k2p-head-q8r2w"), head, &labels, waits.clone()));
            for group in cluster["workerGroupSpecs"].as_array().into_iter().flatten() {
                let of = group["groupName"].as_str().unwrap();
                for index in 0..group["replicas"].as_u64().unwrap_or(0) {
                    let labels = json!({"ray.io/node-type": "worker", "ray.io/group": of});
                    let worker = format!("{name}-x7k2p-{of}-worker-{index:05}");
                    hands.create(&pod(job, &worker, &group["template"], &labels, waits.clone()));
                }
            }
            state("Initializing", "");
        }
        Some("Initializing") if pods(hands, job).iter().all(|pod| phase(pod) == "Running") => {
            let program = Some(json!(["sh", "-c", job["spec"]["entrypoint"]]));
            let submitter = &job["spec"]["submitterPodTemplate"];
            hands.create(&pod(job, &format!("{name}-k4m9t"), submitter, &json!({}), program));
            state("Running", "RUNNING");
        }
        Some("Running") => {
            let pods = pods(hands, job);
            let submitter = pods.iter().find(|pod| pod["metadata"]["name"] == format!("{name}-k4m9t"));
            match submitter.map_or("", phase) {
                "Succeeded" => state("Complete", "SUCCEEDED"),
                "Failed" => state("Failed", "FAILED"),
                _ => {}
            }
        }
        Some(_) => {}
    }
}

/// A driver that starts executors, which wait; its end is that of the application.
fn spark(hands: &Hands<'_>, application: &Value) {
    const APPLICATIONS: &str = "sparkapplications.sparkoperator.k8s.io";
    let (name, spec) = (name(application), &application["spec"]);
    let state = |word: &str| {
        let status = json!({"applicationState": {"state": word}, "driverInfo": {"podName": format!("{name}-driver")}});
        hands.set_status(APPLICATIONS, name, &status);
    };
    match application["status"]["applicationState"]["state"].as_str() {
        None => {
            let program = Some(json!(["sh", "-c", spec["arguments"][0]]));
            let labels = json!({"spark-role": "driver", "sparkoperator.k8s.io/app-name": name});
            let template = with_image(&spec["driver"]);
            hands.create(&pod(application, &format!("{name}-driver"), &template, &labels, program));
            state("SUBMITTED");
        }
        Some("SUBMITTED") if pods(hands, application).iter().all(|pod| phase(pod) != "Pending") => {
            for index in 1..=spec["executor"]["instances"].as_u64().unwrap_or(1) {
                let labels = json!({"spark-role": "executor", "spark-exec-id": index.to_string()});
                let template = with_image(&spec["executor"]);
                let executor = format!("{name}-c2a814a2026b2d31-exec-{index}");
                hands.create(&pod(application, &executor, &template, &labels, Some(json!(["sleep", "600"]))));
            }
            state("RUNNING");
        }
        Some("RUNNING") => {
            let pods = pods(hands, application);
            let driver = pods.iter().find(|pod| pod["metadata"]["name"] == format!("{name}-driver"));
            match driver.map_or("", phase) {
                "Succeeded" => state("COMPLETED"),
                "Failed" => state("FAILED"),
                _ => {}
            }
        }
        Some(_) => {}
    }
}

/// A Deployment of the template, and the Service of its pods.
fn language_model(hands: &Hands<'_>, service: &Value) {
    let (name, spec) = (name(service), &service["spec"]);
    let template = json!({"metadata": {"labels": spec["labels"]}, "spec": spec["template"]});
    let is_there = serves(hands, service, &format!("{name}-kserve"), &template, &spec["replicas"]);
    if !is_there {
        hands.create(&leads_to(service, &format!("{name}-kserve-workload-svc"), &format!("{name}-kserve"), 8000, 8000));
        return;
    }
    let ready = |word: &str| json!({"type": word, "status": "True", "reason": "Scripted"});
    let conditions = [ready("WorkloadsReady"), ready("Ready")];
    let status = json!({"observedGeneration": service["metadata"]["generation"], "conditions": conditions});
    hands.set_status("llminferenceservices.serving.kserve.io", name, &status);
}

/// For each predictor a Deployment, and a Service instead of the orchestrator.
fn seldon_deployment(hands: &Hands<'_>, deployment: &Value) {
    const DEPLOYMENTS: &str = "seldondeployments.machinelearning.seldon.io";
    let name = name(deployment);
    let mut are_there = true;
    for predictor in deployment["spec"]["predictors"].as_array().unwrap() {
        let own = format!("{name}-{}", predictor["name"].as_str().unwrap());
        let pods = format!("{own}-0-model");
        are_there &= serves(hands, deployment, &pods, &predictor["componentSpecs"][0], &predictor["replicas"]);
        hands.create(&leads_to(deployment, &own, &pods, 8000, 8000));
    }
    let state = if are_there { "Available" } else { "Creating" };
    hands.set_status(DEPLOYMENTS, name, &json!({"state": state}));
}

/// A mesh that answers for this model.
fn seldon_model(hands: &Hands<'_>, model: &Value) {
    let name = name(model);
    let program = format!(
        "mkdir -p /tmp/www/v2/models/{name}; touch /tmp/www/v2/models/{name}/ready; echo yes > /tmp/www/up; exec busybox httpd -f -p 9000 -h /tmp/www"
    );
    let container = json!({
        "name": "envoy", "image": "busybox:1", "command": ["sh", "-ec", program],
        "securityContext": {"allowPrivilegeEscalation": false, "capabilities": {"drop": ["ALL"]}},
    });
    let security = json!({"runAsUser": 65532, "runAsNonRoot": true, "seccompProfile": {"type": "RuntimeDefault"}});
    let template = json!({"spec": {"containers": [container], "securityContext": security}});
    let is_there = serves(hands, model, &format!("{name}-mesh"), &template, &json!(1));
    hands.create(&leads_to(model, "seldon-mesh", &format!("{name}-mesh"), 80, 9000));
    let (status, reason) = if is_there { ("True", "ModelAvailable") } else { ("Unknown", "ModelProgressing") };
    let condition = json!({"type": "ModelReady", "status": status, "reason": reason});
    hands.set_status("models.mlops.seldon.io", name, &json!({"conditions": [condition]}));
}

/// Sees that there is a Deployment called `deployment`; returns whether all of its pods are available.
fn serves(hands: &Hands<'_>, owner: &Value, deployment: &str, template: &Value, replicas: &Value) -> bool {
    let mut template = template.clone();
    template["metadata"]["labels"]["app"] = json!(deployment);
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": deployment, "labels": {"app": deployment}, "ownerReferences": owned_by(owner)},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": deployment}}, "template": template},
    });
    hands.create(&object);
    let found = hands.list("deployments", &format!("app={deployment}"));
    found.first().is_some_and(|found| found["status"]["availableReplicas"] == *replicas)
}

fn leads_to(owner: &Value, name: &str, app: &str, port: u16, target: u16) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"name": name, "ownerReferences": owned_by(owner)},
        "spec": {"selector": {"app": app}, "ports": [{"name": "http", "port": port, "targetPort": target}]},
    })
}

/// A pod of `owner` by a template; `command` takes the place of what the template runs.
fn pod(owner: &Value, name: &str, template: &Value, labels: &Value, command: Option<Value>) -> Value {
    let mut metadata =
        json!({"name": name, "labels": template["metadata"]["labels"], "ownerReferences": owned_by(owner)});
    for (label, value) in labels.as_object().unwrap() {
        metadata["labels"][label] = value.clone();
    }
    let mut spec = template["spec"].clone();
    spec["restartPolicy"] = json!("Never");
    spec.as_object_mut().unwrap().remove("schedulerName");
    if let Some(command) = command {
        spec["containers"][0]["command"] = command;
        spec["containers"][0].as_object_mut().unwrap().remove("args");
    }
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec})
}

/// The template of a driver or of executors, with the image that is next to it.
fn with_image(part: &Value) -> Value {
    let mut template = part["template"].clone();
    template["spec"]["containers"][0]["image"] = part["image"].clone();
    template
}

/// The pods that an object owns.
fn pods(hands: &Hands<'_>, owner: &Value) -> Vec<Value> {
    let mut pods = hands.list("pods", "kubebench.dev/run");
    pods.retain(|pod| pod["metadata"]["ownerReferences"][0]["uid"] == owner["metadata"]["uid"]);
    pods
}

fn phase(pod: &Value) -> &str {
    pod["status"]["phase"].as_str().unwrap_or_default()
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

fn owned_by(owner: &Value) -> Value {
    json!([{
        "apiVersion": owner["apiVersion"], "kind": owner["kind"], "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true,
    }])
}
